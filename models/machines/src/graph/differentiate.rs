//! Reverse mode: the derivative of the output with respect to every node.

use mlsys_lab::LabError;
use mlsys_lab::value::number;

use super::nodes::{Node, Nodes, Role};
use super::operation::{Exponent, Operation};

/// The derivatives of the output, one per node.
pub(super) struct Adjoints {
    /// By node; 0 for a node that the output does not use.
    pub(super) values: Vec<f64>,
    /// By node whose adjoint is not finite: where on the way from the output that began.
    births: Vec<Option<Birth>>,
}

/// Where an adjoint stopped being finite.
#[derive(Clone, Copy)]
enum Birth {
    /// At this node's local derivative.
    Derivative { node: usize, local: f64 },
    /// In the sum of the paths that meet in this node.
    Sum { node: usize },
}

/// adjoint(output) = 1; visiting nodes in reverse topological order,
/// adjoint(argument) += adjoint(node) * local derivative.
pub(super) fn adjoints(nodes: &Nodes) -> Adjoints {
    let count = nodes.iter().len();
    let mut values = vec![0.0; count];
    let mut births: Vec<Option<Birth>> = vec![None; count];
    // Nothing flows through a node that the output does not use, not even 0 times an infinite derivative.
    let mut used = vec![false; count];
    values[nodes.output()] = 1.0;
    used[nodes.output()] = true;
    for (index, node) in nodes.iter().enumerate().rev() {
        if !used[index] {
            continue;
        }
        for (argument, local) in edges(nodes, node) {
            used[argument] = true;
            let contribution = values[index] * local;
            values[argument] += contribution;
            if births[argument].is_none() && !values[argument].is_finite() {
                births[argument] = Some(if contribution.is_finite() {
                    Birth::Sum { node: argument }
                } else {
                    births[index].unwrap_or(Birth::Derivative { node: index, local })
                });
            }
        }
    }
    Adjoints { values, births }
}

/// The arguments of a node with the local derivative for each that has one.
fn edges(nodes: &Nodes, node: &Node) -> impl Iterator<Item = (usize, f64)> + use<> {
    let (first, second) = match node.operation {
        Operation::Input | Operation::Constant => (None, None),
        Operation::Copy(a) => (Some((a, 1.0)), None),
        Operation::Unary(function, a) => (
            Some((a, function.derivative(nodes.at(a).value, node.value))),
            None,
        ),
        Operation::Binary(operator, a, b) => {
            let (left, right) = (nodes.at(a), nodes.at(b));
            let exponent = if right.depends_on_input {
                Exponent::Varies
            } else {
                Exponent::Fixed
            };
            let [da, db] = operator.derivatives(left.value, right.value, node.value, exponent);
            (da.map(|d| (a, d)), db.map(|d| (b, d)))
        }
    };
    first.into_iter().chain(second)
}

impl Adjoints {
    /// Fails if a derivative that would be reported is NaN or infinite, and says where that began.
    pub(super) fn check_finite(&self, nodes: &Nodes) -> Result<(), LabError> {
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
