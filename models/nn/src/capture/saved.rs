//! What the backward pass needs: which tensors need a gradient, and which numbers of the forward pass are kept for it.

use std::collections::{BTreeMap, BTreeSet};

use super::table::{Class, Node, Source, Table};

/// The rules of differentiation, applied to a table.
pub struct GradientNeeds {
    /// Of every tensor, whether a gradient of it is wanted: it is a parameter or computed from one.
    pub gradient: Vec<bool>,
    /// Of every forward node, what it keeps.
    pub kept: BTreeMap<usize, Vec<Saved>>,
}

/// Something kept from the forward pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Saved {
    /// The memory of this tensor, counted once however many need it.
    Tensor(usize),
    /// Numbers that are no tensor of the table, such as one per row.
    Numbers(u64),
}

/// Several nodes that are kept for as one.
struct FusedFunction {
    /// The node that has the result.
    last: usize,
    /// All of them.
    nodes: Vec<usize>,
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
        let fused_functions = fused_functions(table);
        let inside: BTreeSet<usize> =
            fused_functions.iter().flat_map(|whole| whole.nodes.clone()).collect();
        let mut kept: BTreeMap<usize, Vec<Saved>> = BTreeMap::new();
        for (index, node) in table.forward() {
            if gradient[node.output] && !inside.contains(&index) {
                kept.insert(index, kept_by(node, &gradient));
            }
        }
        for whole in fused_functions {
            if gradient[table.nodes[whole.last].output] {
                kept.insert(whole.last, whole.kept);
            }
        }
        for list in kept.values_mut() {
            let activations = |kept: &Saved| match kept {
                Saved::Tensor(tensor) => table.is_activation(*tensor),
                Saved::Numbers(_) => true,
            };
            list.retain(activations);
            for kept in list.iter_mut() {
                if let Saved::Tensor(tensor) = kept {
                    *tensor = table.storage(*tensor);
                }
            }
        }
        Self { gradient, kept }
    }

    /// The operands of a product that need a gradient: each costs as many operations again.
    pub fn wanted(&self, node: &Node) -> u64 {
        let operands = node.inputs.iter().take(2);
        operands.filter(|&&input| self.gradient[input]).count() as u64
    }
}

/// What one node keeps, by what its derivative is made of.
fn kept_by(node: &Node, gradient: &[bool]) -> Vec<Saved> {
    let input = |index: usize| node.inputs.get(index).copied();
    let needs = |index: usize| input(index).is_some_and(|tensor| gradient[tensor]);
    let keep = |wanted: bool, tensor: Option<usize>| tensor.filter(|_| wanted).map(Saved::Tensor);
    let output = Some(Saved::Tensor(node.output));
    let list = match node.name.as_str() {
        // Each operand's gradient takes the other operand.
        "matmul" | "linear" | "conv2d" | "mul" => {
            [keep(needs(1), input(0)), keep(needs(0), input(1))]
        }
        // The derivatives of these can be had from their results.
        "relu" | "sigmoid" | "tanh" | "exp" | "sqrt" | "softmax" | "log_softmax" | "recip" => {
            [output, None]
        }
        // a / b: the gradient of a takes b, that of b takes both.
        "div" => [keep(needs(1), input(0)), keep(true, input(1))],
        "add" | "sub" | "neg" | "add_scalar" | "sub_scalar" | "mul_scalar" | "div_scalar" => {
            [None, None]
        }
        _ => match node.class {
            Class::Product | Class::Elementwise => match node.name.as_str() {
                "mask_fill" | "mask_where" => [None, None],
                _ => [keep(true, input(0)), None],
            },
            Class::Reduction | Class::Rows => [None, None],
            Class::Move | Class::View | Class::Creation => [None, None],
        },
    };
    list.into_iter().flatten().collect()
}

/// The functions that are recorded as several operations and kept for as one: silu and RMS norm.
fn fused_functions(table: &Table) -> Vec<FusedFunction> {
    let producer = |tensor: usize| match table.tensors[table.storage(tensor)].source {
        Source::Node(node) => Some((node, &table.nodes[node])),
        Source::Input
        | Source::Labels
        | Source::Parameter(_)
        | Source::Constant
        | Source::Moment
        | Source::Inside(_) => None,
    };
    let named = |tensor: usize, name: &str| producer(tensor).filter(|(_, node)| node.name == name);
    let mut fused_functions = Vec::new();
    for (index, node) in table.operations() {
        let &[first, second] = node.inputs.as_slice() else {
            continue;
        };
        match node.name.as_str() {
            // x * sigmoid(x)
            "mul" => {
                if let Some((sigmoid, inner)) = named(second, "sigmoid")
                    && inner.inputs == [first]
                {
                    fused_functions.push(FusedFunction {
                        last: index,
                        nodes: vec![sigmoid, index],
                        kept: vec![Saved::Tensor(first)],
                    });
                }
            }
            // x / sqrt(mean(x^2) + e), and the scale that follows
            "div" => {
                let root = named(second, "sqrt");
                let shifted = root.and_then(|(_, node)| named(node.inputs[0], "add_scalar"));
                let mean = shifted.and_then(|(_, node)| named(node.inputs[0], "mean_dim"));
                let square = mean.and_then(|(_, node)| producer(node.inputs[0]));
                if let (Some(root), Some(shifted), Some(mean), Some(square)) =
                    (root, shifted, mean, square)
                    && square.1.inputs.iter().all(|&input| input == first)
                {
                    let scale = table.operations().find(|(_, node)| {
                        node.name == "mul"
                            && node.inputs.first() == Some(&table.nodes[index].output)
                    });
                    let last = scale.map_or(index, |(scale, _)| scale);
                    let rows = table.tensors[table.nodes[mean.0].output].numbers();
                    fused_functions.push(FusedFunction {
                        last,
                        nodes: vec![square.0, mean.0, shifted.0, root.0, index, last],
                        kept: vec![Saved::Tensor(first), Saved::Numbers(rows)],
                    });
                }
            }
            _ => {}
        }
    }
    fused_functions
}

/// The functions that are recorded as several operations: the last node of each, and all of them.
pub fn parts(table: &Table) -> Vec<(usize, Vec<usize>)> {
    let fused_functions = fused_functions(table).into_iter();
    fused_functions.map(|whole| (whole.last, whole.nodes)).collect()
}
