//! The nodes of a graph in the order of evaluation, with their values.

use std::ops::Range;

use mlsys_lab::LabError;
use mlsys_lab::value::number;

use super::operation::Operation;

/// One node.
pub struct Node {
    /// Its name; for a node without one its number, `#1`, or the constant.
    pub label: String,
    /// Why it is there.
    pub role: Role,
    /// What it computes.
    pub operation: Operation,
    /// What it computed.
    pub value: f64,
    /// Whether any input has a say in it.
    pub depends_on_input: bool,
    /// Whether it belongs to the node that uses it: a constant that nobody named.
    pub folded: bool,
    /// Where it stands in the expression, in characters from 1; 0 for an input.
    pub column: usize,
}

/// Why a node is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Input,
    Assigned,
    /// A step on the way, without a name.
    Inner,
}

/// The use of one node's value by another; a constant without a name belongs to the node that uses it and has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node whose value is used.
    pub from: usize,
    /// The node that uses it.
    pub to: usize,
    /// Which of the user's arguments it is: 0 or 1.
    pub argument: usize,
}

/// Nodes such that every argument stands before its use.
pub struct Nodes {
    nodes: Vec<Node>,
    /// Ordered by the node they end in, then by argument.
    edges: Vec<Edge>,
    /// By node: its first edge; one more entry ends the last.
    first_edge: Vec<usize>,
    output: usize,
}

impl Nodes {
    /// `nodes` in topological order, of which `output` gives the result.
    pub fn new(mut nodes: Vec<Node>, output: usize) -> Self {
        let unnamed = nodes
            .iter_mut()
            .filter(|node| node.role == Role::Inner && !node.operation.is_constant());
        for (index, node) in unnamed.enumerate() {
            node.label = format!("#{}", index + 1);
        }
        for (index, node) in nodes.iter_mut().enumerate() {
            let unnamed = node.role == Role::Inner && node.operation.is_constant();
            node.folded = unnamed && index != output;
        }
        let mut edges = Vec::new();
        let mut first_edge = vec![0];
        for (to, node) in nodes.iter().enumerate() {
            let arguments = node.operation.arguments().enumerate();
            let drawn = arguments.filter(|(_, from)| !nodes[*from].folded);
            edges.extend(drawn.map(|(argument, from)| Edge { from, to, argument }));
            first_edge.push(edges.len());
        }
        Self { nodes, edges, first_edge, output }
    }

    /// Computed nodes: neither inputs nor constants.
    pub fn operations(&self) -> usize {
        let computed = |node: &&Node| node.operation.arguments().next().is_some();
        self.iter().filter(computed).count()
    }

    /// Every use of a value, ordered by the node that uses it.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The places in [`Nodes::edges`] of those that end in a node.
    pub fn edges_into(&self, node: usize) -> Range<usize> {
        self.first_edge[node]..self.first_edge[node + 1]
    }

    /// Nodes that are drawn, with their places: all but the constants that belong to another node.
    pub fn drawn(&self) -> impl Iterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate().filter(|(_, node)| !node.folded)
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Node> + ExactSizeIterator {
        self.nodes.iter()
    }

    pub fn at(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    pub fn output(&self) -> usize {
        self.output
    }

    /// The operation over its arguments' labels.
    pub fn describe(&self, node: &Node) -> String {
        node.operation.describe(|argument| self.at(argument).label.clone())
    }

    /// The operation, its place, and its arguments' values, for messages.
    pub fn explain(&self, node: &Node) -> String {
        let arguments: Vec<String> = node
            .operation
            .arguments()
            .map(|argument| self.at(argument))
            .filter(|argument| !argument.folded)
            .map(|argument| format!("{} = {}", argument.label, number(argument.value)))
            .collect();
        let at = if arguments.is_empty() { "" } else { " with " };
        let operation = self.describe(node);
        format!("{operation} at column {}{at}{}", node.column, arguments.join(", "))
    }

    /// Fails if a value that would be reported is NaN or infinite, and names the node where that began.
    pub fn check_finite(&self) -> Result<(), LabError> {
        let reported =
            |(index, node): &(usize, &Node)| node.role != Role::Inner || *index == self.output;
        let broken =
            self.iter().enumerate().filter(reported).find(|(_, node)| !node.value.is_finite());
        let Some((_, node)) = broken else {
            return Ok(());
        };
        let birth = self.birth(node);
        Err(LabError::NotFinite {
            metric: match node.role {
                Role::Input | Role::Assigned => format!("node.{}", node.label),
                Role::Inner => "value".to_owned(),
            },
            reason: format!("{} is {}", self.explain(birth), number(birth.value)),
        })
    }

    /// The first node on the way to `node` whose value is not finite although its arguments' are.
    fn birth<'a>(&'a self, node: &'a Node) -> &'a Node {
        let mut birth = node;
        // Arguments stand before their uses, so this walks down and ends.
        while let Some(earlier) = birth
            .operation
            .arguments()
            .map(|argument| self.at(argument))
            .find(|argument| !argument.value.is_finite())
        {
            birth = earlier;
        }
        birth
    }
}
