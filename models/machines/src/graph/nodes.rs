//! The nodes of a graph in the order of evaluation, with their values.

use mlsys_lab::LabError;
use mlsys_lab::value::number;

use super::operation::Operation;

/// One node.
pub(super) struct Node {
    /// Its name; for a node without one its number, `#1`, or the constant.
    pub(super) label: String,
    /// Why it is there.
    pub(super) role: Role,
    /// What it computes.
    pub(super) operation: Operation,
    /// What it computed.
    pub(super) value: f64,
    /// Whether any input has a say in it.
    pub(super) depends_on_input: bool,
    /// Where it stands in the expression, in characters from 1; 0 for an input.
    pub(super) column: usize,
}

/// Why a node is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Input,
    Assigned,
    /// A step on the way, without a name.
    Inner,
}

/// Nodes such that every argument stands before its use.
pub(super) struct Nodes {
    nodes: Vec<Node>,
    output: usize,
}

impl Nodes {
    /// `nodes` in topological order, of which `output` gives the result.
    pub(super) fn new(mut nodes: Vec<Node>, output: usize) -> Self {
        let unnamed = nodes
            .iter_mut()
            .filter(|node| node.role == Role::Inner && !node.operation.is_constant());
        for (index, node) in unnamed.enumerate() {
            node.label = format!("#{}", index + 1);
        }
        Self { nodes, output }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Node> + ExactSizeIterator {
        self.nodes.iter()
    }

    pub(super) fn at(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    pub(super) fn output(&self) -> usize {
        self.output
    }

    /// The operation over its arguments' labels.
    pub(super) fn describe(&self, node: &Node) -> String {
        node.operation
            .describe(|argument| self.at(argument).label.as_str())
    }

    /// The operation, its place, and its arguments' values, for messages.
    pub(super) fn explain(&self, node: &Node) -> String {
        let arguments: Vec<String> = node
            .operation
            .arguments()
            .map(|argument| self.at(argument))
            .filter(|argument| !(argument.role == Role::Inner && argument.operation.is_constant()))
            .map(|argument| format!("{} = {}", argument.label, number(argument.value)))
            .collect();
        let at = if arguments.is_empty() { "" } else { " with " };
        let operation = self.describe(node);
        format!(
            "{operation} at column {}{at}{}",
            node.column,
            arguments.join(", ")
        )
    }

    /// Fails if a value that would be reported is NaN or infinite, and names the node where that began.
    pub(super) fn check_finite(&self) -> Result<(), LabError> {
        let reported =
            |(index, node): &(usize, &Node)| node.role != Role::Inner || *index == self.output;
        let broken = self
            .iter()
            .enumerate()
            .filter(reported)
            .find(|(_, node)| !node.value.is_finite());
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
