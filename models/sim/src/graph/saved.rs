//! Which forward values the backward pass reads, and so must still be there when it comes by.

use super::nodes::Nodes;
use super::operation::{Binary, Operation, Unary};

/// A forward value that a local derivative is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    First,
    Second,
    Result,
}

impl Operation {
    /// What the derivative by one of its arguments reads.
    fn backward_reads(self, argument: usize) -> &'static [Reads] {
        use Reads::{First, Result, Second};
        match self {
            // d(a)/da, d(-a)/da, d(a + b)/da and d(a - b)/db are 1 or -1, whatever the values are.
            Self::Input
            | Self::Constant
            | Self::Copy(_)
            | Self::Unary(Unary::Negate, _)
            | Self::Binary(Binary::Add | Binary::Subtract, ..) => &[],
            // 1/(2r), e, 1 - t^2, s(1 - s), and whether r > 0: all from the result.
            Self::Unary(
                Unary::Sqrt | Unary::Exp | Unary::Tanh | Unary::Sigmoid | Unary::Relu,
                _,
            ) => &[Result],
            // 1/a, cos a, -sin a
            Self::Unary(Unary::Log | Unary::Sin | Unary::Cos, _) => &[First],
            Self::Binary(operator, ..) => match (operator, argument) {
                (Binary::Multiply | Binary::Divide, 0) => &[Second],
                (Binary::Multiply, _) => &[First],
                // -(a/b)/b
                (Binary::Divide, _) => &[Second, Result],
                // b a^(b-1), and which of the two is larger
                (Binary::Power, 0) | (Binary::Max, _) => &[First, Second],
                // a^b ln(a)
                (Binary::Power, _) => &[First, Result],
                (Binary::Add | Binary::Subtract, _) => &[],
            },
        }
    }
}

/// The nodes whose values one edge reads on the way back; a constant that belongs to a node is always at hand.
pub fn read_by_edge(nodes: &Nodes, edge: usize) -> Vec<usize> {
    let edge = nodes.edges()[edge];
    let operation = nodes.at(edge.to).operation;
    let mut arguments = operation.arguments();
    let (first, second) = (arguments.next(), arguments.next());
    let reads = operation.backward_reads(edge.argument).iter();
    let nodes_read = reads.filter_map(|read| match read {
        Reads::First => first,
        Reads::Second => second,
        Reads::Result => Some(edge.to),
    });
    let mut read: Vec<usize> = nodes_read.filter(|&node| !nodes.at(node).folded).collect();
    read.dedup();
    read
}

/// The nodes whose values a node's backward step reads to pass a gradient to what depends on an input.
pub fn read_by_node(nodes: &Nodes, node: usize) -> Vec<usize> {
    let edges = nodes.edges_into(node);
    let edges = edges.filter(|&edge| nodes.at(nodes.edges()[edge].from).depends_on_input);
    let mut read: Vec<usize> = edges.flat_map(|edge| read_by_edge(nodes, edge)).collect();
    read.sort_unstable();
    read.dedup();
    read
}

/// What a node keeps for its backward step, in words: its inputs, its output, both, or nothing.
pub fn words(nodes: &Nodes, node: usize) -> String {
    let read = read_by_node(nodes, node);
    let named = |&index: &usize| {
        let label = &nodes.at(index).label;
        if index == node { format!("its output {label}") } else { format!("its input {label}") }
    };
    if read.is_empty() {
        "nothing".to_owned()
    } else {
        read.iter().map(named).collect::<Vec<_>>().join(", ")
    }
}
