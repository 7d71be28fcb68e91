//! What the lines of a graph carried of the adjoint.

use mlsys_lab::Value;
use mlsys_lab::frame::{Graph, Place, Slot};

use super::{Shown, Sight};

/// What a line carried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Carried {
    /// The size of the largest adjoint that came along it, as a share of the largest of all lines.
    pub share: f64,
    /// Whether NaN or infinity came along it.
    pub is_broken: bool,
}

/// What each line carried, in the order of the links.
pub fn carried(graph: &Graph, sight: &Sight, shown: &Shown) -> Vec<Carried> {
    let marked = graph.marked(sight.done(graph));
    let mut lines: Vec<Carried> = Vec::with_capacity(shown.links.len());
    for link in &shown.links {
        let mut line = Carried::default();
        for &edge in &link.edges {
            match marked.at(Place::Edge(edge), Slot::Adjoint) {
                // A mark that is not finite is a word.
                Some(Value::Text(_)) => line.is_broken = true,
                Some(value) => line.share = value.as_f64().map_or(0.0, f64::abs).max(line.share),
                None => {}
            }
        }
        lines.push(line);
    }
    let most = lines.iter().map(|line| line.share).fold(0.0, f64::max);
    if most > 0.0 {
        for line in &mut lines {
            line.share /= most;
        }
    }
    lines
}

/// Whether the text of a number in a box says that it is none.
pub fn not_finite(text: &str) -> bool {
    matches!(text, "NaN" | "inf" | "-inf")
}

#[cfg(test)]
mod tests {
    use mlsys_lab::frame::{Mark, Step};

    use super::*;
    use crate::panel::tests::graphs;

    #[test]
    fn lines_carry_shares_of_the_largest_and_nan_is_no_size() {
        let mut graph = graphs::expression();
        let mark = |edge: usize, x: f64| Mark::new(Place::Edge(edge), Slot::Adjoint, x);
        graph.walk = vec![Step {
            marks: vec![mark(0, -8.0), mark(1, 2.0), mark(2, f64::NAN)],
            ..Step::default()
        }];
        let sight = Sight { steps: 1, ..Sight::default() };
        let lines = carried(&graph, &sight, &Shown::of(&graph, &sight));
        let shares: Vec<f64> = lines.iter().take(3).map(|line| line.share).collect();
        assert_eq!(shares, [1.0, 0.25, 0.0]);
        let broken = lines.iter().filter(|line| line.is_broken);
        assert_eq!((broken.count(), lines[2].is_broken), (1, true));
    }
}
