//! Stacked bars with a limit line: the parts of several wholes side by side.

use serde::{Deserialize, Serialize, Serializer};

/// Stacked lengths on one linear axis from zero, such as memory by part and rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stacks {
    /// The unit of all values.
    pub unit: String,
    /// What the stacks are made of, for the legend.
    pub parts: Vec<String>,
    /// The stacks, from the top.
    pub stacks: Vec<Stack>,
    /// A length that no stack should pass, such as the memory there is; one that is not finite is none, and is not written.
    #[serde(default, serialize_with = "finite")]
    pub limit: Option<Limit>,
    /// A sentence on what is seen; may be empty.
    #[serde(default)]
    pub note: String,
}

/// One stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// What it is of, such as "worker 0".
    pub label: String,
    /// One value a part, in the order of [`Stacks::parts`]; what is missing, negative or not finite has no length.
    pub values: Vec<Option<f64>>,
    /// A label, such as "one worker"; may be empty.
    #[serde(default)]
    pub remark: String,
}

/// A length that no stack should pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Where it lies.
    pub at: f64,
    /// What it is, such as "80 GB".
    pub label: String,
}

/// A number that is not finite has no way into a file.
fn finite<S: Serializer>(limit: &Option<Limit>, to: S) -> Result<S::Ok, S::Error> {
    let limit = limit.as_ref().filter(|limit| limit.at.is_finite());
    limit.serialize(to)
}

impl Stack {
    /// The lengths of its parts, 0 where there is none.
    pub fn lengths(&self) -> impl Iterator<Item = f64> {
        let known = self.values.iter().copied();
        known.map(|value| value.filter(|x| x.is_finite()).unwrap_or(0.0).max(0.0))
    }

    /// Its whole length.
    pub fn total(&self) -> f64 {
        self.lengths().sum()
    }
}

impl Stacks {
    /// The end of the axis: the longest stack or the limit, whichever is longer; nothing if all is zero.
    pub fn extent(&self) -> Option<f64> {
        let limit = self.limit.as_ref().map(|limit| limit.at);
        let limit = limit.filter(|at| at.is_finite()).unwrap_or(0.0);
        let longest = self.stacks.iter().map(Stack::total).fold(limit, f64::max);
        (longest > 0.0 && longest.is_finite()).then_some(longest)
    }

    /// Whether a stack passes the limit.
    pub fn is_over(&self, stack: &Stack) -> bool {
        let limit = self.limit.as_ref().map(|limit| limit.at);
        limit.is_some_and(|at| at.is_finite() && stack.total() > at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(values: &[Option<f64>]) -> Stack {
        Stack { values: values.to_vec(), ..Stack::default() }
    }

    #[test]
    fn what_is_not_a_length_adds_nothing() {
        let odd = stack(&[Some(2.0), None, Some(f64::NAN), Some(-3.0), Some(1.0)]);
        assert_eq!(odd.total(), 3.0);
        assert_eq!(stack(&[Some(f64::INFINITY)]).total(), 0.0);
    }

    #[test]
    fn a_limit_that_is_no_number_does_not_spoil_the_file() {
        for at in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 4.0] {
            let stacks = Stacks {
                limit: Some(Limit { at, label: "memory".to_owned() }),
                ..Stacks::default()
            };
            let text = serde_json::to_string(&stacks).unwrap();
            let back: Stacks = serde_json::from_str(&text).unwrap();
            assert_eq!(back.limit.map(|limit| limit.at), at.is_finite().then_some(at));
        }
    }

    #[test]
    fn the_axis_reaches_the_limit_even_where_no_stack_does() {
        let mut stacks = Stacks {
            stacks: vec![stack(&[Some(2.0), Some(3.0)]), stack(&[Some(1.0)])],
            ..Stacks::default()
        };
        assert_eq!(stacks.extent(), Some(5.0));
        stacks.limit = Some(Limit { at: 4.0, label: String::new() });
        assert_eq!(stacks.extent(), Some(5.0));
        assert!(stacks.is_over(&stacks.stacks[0]) && !stacks.is_over(&stacks.stacks[1]));
        stacks.stacks.clear();
        assert_eq!(stacks.extent(), Some(4.0));
        assert_eq!(Stacks::default().extent(), None);
    }
}
