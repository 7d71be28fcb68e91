//! Lengths over one axis: bars, stacked bars with a limit, and spans in lanes with a curve of their total.

use serde::{Deserialize, Serialize, Serializer};

use crate::frame::scatter::Scale;
use crate::label::Label;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    /// What the lengths measure, such as "gradient norm"; may be empty where a title says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quantity: String,
    /// The unit of all values.
    pub unit: String,
    /// How the axis divides.
    pub scale: Scale,
    pub bars: Vec<Bar>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    pub label: String,
    /// Its length; absent if it is not finite or not known.
    pub value: Option<f64>,
    /// A label, such as "limits"; may be empty.
    pub remark: String,
}

/// Stacked lengths on one linear axis from zero, such as memory by part and rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stacks {
    /// The unit of all values.
    pub unit: String,
    /// What the stacks are made of, for the legend.
    pub parts: Vec<String>,
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

/// Bars over one axis, in lanes, with a curve of their total.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timeline {
    /// The unit of the axis, such as "operation" or "seconds".
    pub unit: String,
    /// The lanes, from the top.
    pub lanes: Vec<String>,
    /// What the bars are, for the legend.
    pub classes: Vec<String>,
    /// The bars.
    pub spans: Vec<Span>,
    /// Marked places on the axis.
    pub marks: Vec<Milestone>,
    /// What all bars come to, over the same axis.
    pub total: Option<Total>,
    /// Where its numbers come from, if that differs from run to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
}

/// One bar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Span {
    /// Its lane, as a place in [`Timeline::lanes`].
    pub lane: usize,
    /// Where it begins.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// What it is, as a place in [`Timeline::classes`].
    pub class: usize,
    /// What stands on it; may be empty.
    pub label: String,
    /// What it adds to the total, in the total's unit.
    pub amount: Option<f64>,
}

/// A marked place on the axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Milestone {
    /// Where it is.
    pub at: f64,
    /// What happens there, such as "backward begins".
    pub label: String,
}

/// A step function over the axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Total {
    pub name: String,
    /// Its unit; empty if it has none.
    #[serde(default)]
    pub unit: String,
    /// From each place on, the value until the next; ascending places.
    pub points: Vec<(f64, f64)>,
}

impl Total {
    /// The place from which the largest value holds, and that value; the first of equals.
    pub fn peak(&self) -> Option<(f64, f64)> {
        let finite = self.points.iter().copied();
        let finite = finite.filter(|(at, value)| at.is_finite() && value.is_finite());
        finite.reduce(|most, point| if point.1 > most.1 { point } else { most })
    }
}

impl Timeline {
    /// Where the axis begins and ends; nothing if there is nothing finite on it.
    pub fn extent(&self) -> Option<(f64, f64)> {
        let spans = self.spans.iter().flat_map(|span| [span.start, span.end]);
        let marks = self.marks.iter().map(|mark| mark.at);
        let points = self.total.iter().flat_map(|total| &total.points);
        let all = spans.chain(marks).chain(points.map(|point| point.0));
        let ends = all.filter(|at| at.is_finite()).map(|at| (at, at));
        ends.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(values: &[Option<f64>]) -> Stack {
        Stack { values: values.to_vec(), ..Stack::default() }
    }

    #[test]
    fn invalid_lengths_count_as_zero() {
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

    #[test]
    fn the_peak_is_the_first_of_the_largest_values() {
        let total = |points: &[(f64, f64)]| Total { points: points.to_vec(), ..Total::default() };
        let steps = [(0.0, 1.0), (1.0, 5.0), (2.0, f64::NAN), (3.0, 5.0), (4.0, 0.0)];
        assert_eq!(total(&steps).peak(), Some((1.0, 5.0)));
        assert_eq!(total(&[]).peak(), None);
        assert_eq!(total(&[(0.0, f64::NAN)]).peak(), None);
    }

    #[test]
    fn the_axis_spans_bars_marks_and_total() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.extent(), None);
        timeline.spans.push(Span { start: 2.0, end: 5.0, ..Span::default() });
        assert_eq!(timeline.extent(), Some((2.0, 5.0)));
        timeline.marks.push(Milestone { at: 7.0, label: String::new() });
        timeline.total =
            Some(Total { points: vec![(f64::NAN, 0.0), (-1.0, 0.0)], ..Total::default() });
        assert_eq!(timeline.extent(), Some((-1.0, 7.0)));
    }
}
