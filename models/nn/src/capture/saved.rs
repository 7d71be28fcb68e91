//! What the backward pass needs: which tensors need a gradient, and which numbers of the forward pass are kept for it.

use super::record::RecordError;
use super::table::{Node, Table};
use std::collections::{BTreeMap, BTreeSet};

/// The rules of differentiation, applied to a table.
pub struct GradientNeeds {
    /// Of every tensor, whether a gradient of it is wanted: it is a parameter or computed from one.
    pub gradient: Vec<bool>,
    pub kept: BTreeMap<usize, Vec<Saved>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Saved {
    /// The memory of this tensor, counted once however many need it.
    Tensor(usize),
    /// Numbers that are no tensor of the table, such as one per row.
    Numbers(u64),
}

/// A function that is recorded as several operations and kept for as one.
pub(super) struct FusedFunction {
    pub(super) last: usize,
    pub(super) nodes: Vec<usize>,
    kept: Vec<Saved>,
}

impl GradientNeeds {
    /// By rule, from the forward pass alone.
    pub fn new(table: &Table) -> Result<Self, RecordError> {
        let mut gradient = vec![false; table.tensors.len()];
        for &weight in &table.weights {
            gradient[weight] = true;
        }
        for (_, node) in table.forward() {
            let wanted = node.inputs.iter().any(|&input| gradient[input]);
            gradient[node.output] = wanted && table.tensors[node.output].real;
        }
        let fused = fused_functions(table);
        let inside: BTreeSet<usize> = fused.iter().flat_map(|whole| whole.nodes.clone()).collect();
        let wanted = |index: usize| gradient[table.nodes[index].output];
        let alone = table.forward().filter(|(index, _)| !inside.contains(index) && wanted(*index));
        let alone = alone.map(|(index, node)| Ok((index, kept_by(node, &gradient)?)));
        let alone: Vec<(usize, Vec<Saved>)> = alone.collect::<Result<_, RecordError>>()?;
        let fused = fused.into_iter().filter(|whole| wanted(whole.last));
        let fused = fused.map(|whole| (whole.last, whole.kept));
        let mut kept = BTreeMap::new();
        for (index, saved) in alone.into_iter().chain(fused) {
            let saved = saved.into_iter().filter_map(|saved| match saved {
                Saved::Tensor(tensor) if !table.is_activation(tensor) => None,
                Saved::Tensor(tensor) => Some(Saved::Tensor(table.storage(tensor))),
                Saved::Numbers(_) => Some(saved),
            });
            kept.insert(index, saved.collect());
        }
        Ok(Self { gradient, kept })
    }

    /// How many operands of a product need a gradient: each costs as many operations again.
    pub fn wanted(&self, node: &Node) -> u64 {
        let operands = node.inputs.iter().take(2);
        operands.filter(|&&input| self.gradient[input]).count() as u64
    }
}

/// What a node that is in no fused function keeps. Every operation that [`super::execute`] knows has its arm.
fn kept_by(node: &Node, gradient: &[bool]) -> Result<Vec<Saved>, RecordError> {
    let input = |index: usize| node.inputs.get(index).copied();
    let needs = |index: usize| input(index).is_some_and(|tensor| gradient[tensor]);
    let kept = match node.name.as_str() {
        // Each operand's gradient takes the other operand.
        "matmul" | "conv2d" | "mul" => {
            [input(0).filter(|_| needs(1)), input(1).filter(|_| needs(0))]
        }
        // The derivatives of these can be had from their results.
        "relu" | "sigmoid" | "tanh" | "sqrt" | "softmax" | "log_softmax" => {
            [Some(node.output), None]
        }
        "gelu" => [input(0), None],
        // a / b: the gradient of a takes b, that of b takes both.
        "div" => [input(0).filter(|_| needs(1)), input(1)],
        "add" | "neg" | "add_scalar" | "div_scalar" | "mean" | "mean_dim" | "mask_fill"
        | "gather" | "select" | "flip" | "reshape" | "swap_dims" => [None, None],
        other => return Err(RecordError::Gradient(other.to_owned())),
    };
    Ok(kept.into_iter().flatten().map(Saved::Tensor).collect())
}

/// The functions that are recorded as several operations and kept for as one: silu and RMS norm.
pub(super) fn fused_functions(table: &Table) -> Vec<FusedFunction> {
    let producer = |tensor| table.producer(tensor).map(|node| (node, &table.nodes[node]));
    let named = |tensor, name: &str| producer(tensor).filter(|(_, node)| node.name == name);
    // x * sigmoid(x)
    let silu = |index: usize, first: usize, second: usize| {
        let (sigmoid, _) = named(second, "sigmoid").filter(|(_, inner)| inner.inputs == [first])?;
        let kept = vec![Saved::Tensor(first)];
        Some(FusedFunction { last: index, nodes: vec![sigmoid, index], kept })
    };
    // x / sqrt(mean(x^2) + e), and the scale that follows
    let rms_norm = |index: usize, first: usize, second: usize| {
        let root = named(second, "sqrt")?;
        let shifted = named(root.1.inputs[0], "add_scalar")?;
        let mean = named(shifted.1.inputs[0], "mean_dim")?;
        let square = producer(mean.1.inputs[0])
            .filter(|(_, square)| square.inputs.iter().all(|&input| input == first))?;
        let output = &table.nodes[index].output;
        let scale = table
            .operations()
            .find(|(_, node)| node.name == "mul" && node.inputs.first() == Some(output));
        let last = scale.map_or(index, |(scale, _)| scale);
        let rows = table.tensors[mean.1.output].numbers();
        let nodes = vec![square.0, mean.0, shifted.0, root.0, index, last];
        Some(FusedFunction { last, nodes, kept: vec![Saved::Tensor(first), Saved::Numbers(rows)] })
    };
    let fused = table.operations().filter_map(|(index, node)| {
        match (node.name.as_str(), node.inputs.as_slice()) {
            ("mul", &[first, second]) => silu(index, first, second),
            ("div", &[first, second]) => rms_norm(index, first, second),
            _ => None,
        }
    });
    fused.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::table::{Class, StepPhase};

    #[test]
    fn operations_without_a_rule_are_refused_by_name() {
        let kept = |name: &str| {
            let (class, pass, name) = (Class::from_name(name), StepPhase::Forward, name.to_owned());
            let (inputs, output, inside) = (vec![0], 1, Vec::new());
            let [matmul_flops, other_flops] = [0; 2];
            let node =
                Node { name, class, pass, inputs, output, matmul_flops, other_flops, inside };
            kept_by(&node, &[true; 2]).map_err(|error| error.to_string())
        };
        assert_eq!(kept("gelu"), Ok(vec![Saved::Tensor(0)]));
        assert!(kept("erf").unwrap_err().contains("the record holds erf,"));
        assert!(kept("max_dim").is_err());
    }
}
