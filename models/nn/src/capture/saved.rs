//! What the backward pass needs: which tensors need a gradient, and which numbers of the forward pass are kept for it.

use super::table::{Class, Node, Table};
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
    pub fn new(table: &Table) -> Self {
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
        let alone = table.forward().filter(|(index, _)| !inside.contains(index));
        let alone = alone.map(|(index, node)| (index, kept_by(node, &gradient)));
        let mut kept = BTreeMap::new();
        for (index, saved) in alone.chain(fused.into_iter().map(|whole| (whole.last, whole.kept))) {
            if !gradient[table.nodes[index].output] {
                continue;
            }
            let saved = saved.into_iter().filter_map(|saved| match saved {
                Saved::Tensor(tensor) if !table.is_activation(tensor) => None,
                Saved::Tensor(tensor) => Some(Saved::Tensor(table.storage(tensor))),
                Saved::Numbers(_) => Some(saved),
            });
            kept.insert(index, saved.collect());
        }
        Self { gradient, kept }
    }

    /// How many operands of a product need a gradient: each costs as many operations again.
    pub fn wanted(&self, node: &Node) -> u64 {
        let operands = node.inputs.iter().take(2);
        operands.filter(|&&input| self.gradient[input]).count() as u64
    }
}

fn kept_by(node: &Node, gradient: &[bool]) -> Vec<Saved> {
    let input = |index: usize| node.inputs.get(index).copied();
    let needs = |index: usize| input(index).is_some_and(|tensor| gradient[tensor]);
    let kept = match (node.name.as_str(), node.class) {
        // Each operand's gradient takes the other operand.
        ("matmul" | "linear" | "conv2d" | "mul", _) => {
            [input(0).filter(|_| needs(1)), input(1).filter(|_| needs(0))]
        }
        // The derivatives of these can be had from their results.
        ("relu" | "sigmoid" | "tanh" | "exp" | "sqrt" | "softmax" | "log_softmax" | "recip", _) => {
            [Some(node.output), None]
        }
        // a / b: the gradient of a takes b, that of b takes both.
        ("div", _) => [input(0).filter(|_| needs(1)), input(1)],
        ("add" | "sub" | "neg" | "add_scalar" | "sub_scalar" | "mul_scalar" | "div_scalar", _)
        | ("mask_fill" | "mask_where", _) => [None, None],
        (_, Class::Product | Class::Elementwise) => [input(0), None],
        (_, Class::Reduction | Class::Rows | Class::Move | Class::View | Class::Creation) => {
            [None, None]
        }
    };
    kept.into_iter().flatten().map(Saved::Tensor).collect()
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
