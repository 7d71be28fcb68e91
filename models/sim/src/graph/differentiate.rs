//! Derivatives of the output with respect to every node: reverse mode, and central finite differences.

use crate::graph::nodes::{Nodes, Role};
use crate::graph::operation::{Binary, Exponent, Operation, Unary};
use mlsys_lab::LabError;
use mlsys_lab::value::number;
use std::collections::BTreeSet;

/// The derivatives of the output, one per node, and how they came about.
pub struct Adjoints {
    /// By node; 0 for a node that the output does not use.
    pub values: Vec<f64>,
    /// One per edge that the backward pass walks, in its order.
    pub deposits: Vec<Deposit>,
    /// For nodes with a non-finite adjoint: where on the way from the output it began.
    births: Vec<Option<Birth>>,
}

/// What one edge adds to the adjoint of the node that it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deposit {
    /// The edge, by its place among the graph's.
    pub edge: usize,
    /// The derivative of the edge's end by its beginning; `None` where nothing flows back, as to a smaller maximand.
    pub local: Option<f64>,
    /// What was there before; `None` for the first to arrive.
    pub before: Option<f64>,
    /// adjoint(node) * local.
    pub amount: f64,
    pub sum: f64,
}

/// Where an adjoint stopped being finite.
#[derive(Clone, Copy)]
enum Birth {
    Derivative {
        node: usize,
        local: f64,
    },
    /// In the sum of the paths that meet in this node.
    Sum {
        node: usize,
    },
}

/// adjoint(output) = 1; visiting nodes in reverse topological order,
/// adjoint(argument) += adjoint(node) * local derivative.
pub fn adjoints(nodes: &Nodes) -> Adjoints {
    let count = nodes.iter().len();
    let mut values = vec![0.0; count];
    let mut births: Vec<Option<Birth>> = vec![None; count];
    let mut deposits = Vec::with_capacity(nodes.edges().len());
    // Nothing flows through a node that the output does not use, not even 0 times an infinite derivative.
    let mut used = vec![false; count];
    let mut reached = vec![false; count];
    values[nodes.output()] = 1.0;
    used[nodes.output()] = true;
    for index in (0..count).rev().filter(|&index| !nodes.edges_into(index).is_empty()) {
        if !used[index] {
            continue;
        }
        let locals = locals(nodes, index);
        for edge in nodes.edges_into(index) {
            let argument = nodes.edges()[edge].from;
            let local = locals[nodes.edges()[edge].argument];
            let before = reached[argument].then_some(values[argument]);
            let amount = local.map_or(0.0, |local| values[index] * local);
            if let Some(local) = local {
                used[argument] = true;
                reached[argument] = true;
                values[argument] += amount;
                if births[argument].is_none() && !values[argument].is_finite() {
                    births[argument] = Some(if amount.is_finite() {
                        Birth::Sum { node: argument }
                    } else {
                        births[index].unwrap_or(Birth::Derivative { node: index, local })
                    });
                }
            }
            let sum = values[argument];
            deposits.push(Deposit { edge, local, before, amount, sum });
        }
    }
    Adjoints { values, deposits, births }
}

/// The derivatives of a node by its arguments; `None` for what is not there and for what nothing flows back to.
fn locals(nodes: &Nodes, index: usize) -> [Option<f64>; 2] {
    let node = nodes.at(index);
    match node.operation {
        Operation::Input | Operation::Constant => [None, None],
        Operation::Copy(_) => [Some(1.0), None],
        Operation::Unary(function, a) => {
            [Some(function.derivative(nodes.at(a).value, node.value)), None]
        }
        Operation::Binary(operator, a, b) => {
            let (left, right) = (nodes.at(a), nodes.at(b));
            let exponent = if right.depends_on_input { Exponent::Varies } else { Exponent::Fixed };
            operator.derivatives(left.value, right.value, node.value, exponent)
        }
    }
}

impl Adjoints {
    /// Fails if a derivative that would be reported is NaN or infinite, and says where that began.
    pub fn check_finite(&self, nodes: &Nodes) -> Result<(), LabError> {
        // From the output backwards, so that the first to fail is the one nearest to the cause.
        let reported = nodes.iter().zip(&self.values).zip(&self.births).rev();
        for ((node, value), birth) in reported {
            let metric = match node.role {
                Role::Input => format!("grad.{}", node.label),
                Role::Assigned => format!("adjoint.{}", node.label),
                Role::Inner => continue,
            };
            if !value.is_finite() {
                let reason = birth.map_or_else(|| number(*value), |birth| birth.explain(nodes));
                return Err(LabError::NotFinite { metric, reason });
            }
        }
        Ok(())
    }
}

impl Birth {
    fn explain(self, nodes: &Nodes) -> String {
        match self {
            Self::Derivative { node, local } => format!(
                "the local derivative of {} is {}",
                nodes.explain(nodes.at(node)),
                number(local)
            ),
            Self::Sum { node } => {
                let label = &nodes.at(node).label;
                format!("the paths that meet in {label} add up to more than a number can hold")
            }
        }
    }
}

/// Node evaluations that a run may spend here; beyond it, only inputs are nudged, and beyond that nothing is.
const MOST_EVALUATIONS: usize = 20_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// (z(x + h) - z(x - h)) / 2h
    pub value: f64,
    pub step: f64,
    /// A node where the nudge changed the branch: one-sided slopes differ, and the quotient is neither.
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

    /// Corners where the first branch was taken.
    fn branches(&self, nodes: &Nodes) -> BTreeSet<usize> {
        let first = |index: &&usize| match nodes.at(**index).operation {
            Operation::Unary(_, a) => self.values[a] > 0.0,
            Operation::Binary(_, a, b) => self.values[a] >= self.values[b],
            Operation::Input | Operation::Constant | Operation::Copy(_) => false,
        };
        self.corners.iter().filter(first).copied().collect()
    }
}
