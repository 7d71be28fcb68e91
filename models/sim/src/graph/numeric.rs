//! Central finite differences: nudge a node both ways and see how far the output moves.

use std::collections::BTreeSet;

use super::nodes::Nodes;
use super::operation::{Binary, Operation, Unary};

/// Node evaluations that a run may spend here; beyond it, only inputs are nudged, and beyond that nothing is.
const MOST_EVALUATIONS: usize = 20_000_000;

/// A slope measured by nudging.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// (z(x + h) - z(x - h)) / 2h
    pub value: f64,
    /// The nudge.
    pub step: f64,
    /// A node whose branch the nudge changed: the slopes on its two sides differ, and the quotient is neither.
    pub kink: Option<usize>,
}

/// The step where the two errors balance: cutting off the series costs about h^2, rounding about eps/h, and the sum is
/// least near the cube root of eps, in proportion to the size of x (Press et al., Numerical Recipes, section 5.7;
/// Nocedal and Wright, Numerical Optimization, section 8.1).
pub fn balanced_step(x: f64) -> f64 {
    f64::EPSILON.cbrt() * x.abs().max(1.0)
}

/// By node, the slope of the output; `None` where there was no room to measure it.
pub fn slopes(nodes: &Nodes, nudge: Option<f64>) -> Vec<Option<Slope>> {
    let count = nodes.iter().len();
    let is_input = |index: usize| nodes.at(index).operation == Operation::Input;
    let inputs = (0..count).filter(|&index| is_input(index)).count();
    let affordable = |targets: usize| 2 * targets * count <= MOST_EVALUATIONS;
    let mut scratch = Scratch::new(nodes);
    (0..count)
        .map(|index| {
            let wanted = (affordable(count) && !nodes.at(index).folded)
                || (affordable(inputs) && is_input(index));
            wanted.then(|| {
                let step = nudge.unwrap_or_else(|| balanced_step(nodes.at(index).value));
                scratch.slope(nodes, index, step)
            })
        })
        .collect()
}

/// Values of one evaluation, kept between evaluations.
pub struct Scratch {
    values: Vec<f64>,
    /// Places where a function has a corner: relu and max.
    corners: Vec<usize>,
}

impl Scratch {
    pub fn new(nodes: &Nodes) -> Self {
        let corner = |index: &usize| {
            matches!(
                nodes.at(*index).operation,
                Operation::Unary(Unary::Relu, _) | Operation::Binary(Binary::Max, ..)
            )
        };
        Self {
            values: nodes.iter().map(|node| node.value).collect(),
            corners: (0..nodes.iter().len()).filter(corner).collect(),
        }
    }

    /// (z(x + h) - z(x - h)) / 2h, where x is the value of a node.
    pub fn slope(&mut self, nodes: &Nodes, node: usize, step: f64) -> Slope {
        let x = nodes.at(node).value;
        let above = self.output(nodes, node, x + step);
        let branches = self.branches(nodes);
        let below = self.output(nodes, node, x - step);
        let other = self.branches(nodes);
        let kink = branches.symmetric_difference(&other).next().copied();
        for (value, known) in self.values.iter_mut().zip(nodes.iter()).skip(node) {
            *value = known.value;
        }
        Slope { value: (above - below) / (2.0 * step), step, kink }
    }

    /// The output if a node has another value; what stands before it is as it was.
    fn output(&mut self, nodes: &Nodes, nudged: usize, value: f64) -> f64 {
        for index in nudged..self.values.len() {
            self.values[index] = if index == nudged {
                value
            } else {
                let at = |argument: usize| self.values[argument];
                match nodes.at(index).operation {
                    Operation::Input | Operation::Constant => nodes.at(index).value,
                    Operation::Copy(a) => at(a),
                    Operation::Unary(function, a) => function.value(at(a)),
                    Operation::Binary(operator, a, b) => operator.value(at(a), at(b)),
                }
            };
        }
        self.values[nodes.output()]
    }

    /// The corners whose first branch was taken.
    fn branches(&self, nodes: &Nodes) -> BTreeSet<usize> {
        let first = |index: &&usize| match nodes.at(**index).operation {
            Operation::Unary(_, a) => self.values[a] > 0.0,
            Operation::Binary(_, a, b) => self.values[a] >= self.values[b],
            Operation::Input | Operation::Constant | Operation::Copy(_) => false,
        };
        self.corners.iter().filter(first).copied().collect()
    }
}
