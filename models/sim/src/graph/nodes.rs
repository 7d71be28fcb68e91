//! The nodes of a graph in the order of evaluation, read from the text of an expression and evaluated.

use crate::graph::operation::{Binary, Operation, Reads, Unary};
use mlsys_expr::{
    BinaryOp, Expr, ExprError, Function, Node as Syntax, Program, Span, UnaryOp, parse_program,
    program_errors,
};
use mlsys_lab::LabError;
use mlsys_lab::error::MOST_EXPRESSION_ERRORS;
use mlsys_lab::nearest::nearest;
use mlsys_lab::value::number;
use std::collections::BTreeMap;
use std::ops::Range;

pub struct Node {
    /// Its name; for a node without one its number, `#1`, or the constant.
    pub label: String,
    pub role: Role,
    pub operation: Operation,
    pub value: f64,
    /// Whether any input has a say in it.
    pub depends_on_input: bool,
    pub folded: bool,
    /// Where it stands in the expression, in characters from 1; 0 for an input.
    pub column: usize,
}

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
    pub from: usize,
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
            .filter(|node| node.role == Role::Inner && node.operation != Operation::Constant);
        for (index, node) in unnamed.enumerate() {
            node.label = format!("#{}", index + 1);
        }
        for (index, node) in nodes.iter_mut().enumerate() {
            let unnamed = node.role == Role::Inner && node.operation == Operation::Constant;
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
        let Some((_, node)) = broken else { return Ok(()) };
        let birth = self.birth(node);
        Err(LabError::NotFinite {
            metric: match node.role {
                Role::Input | Role::Assigned => format!("node.{}", node.label),
                Role::Inner => "value".to_owned(),
            },
            reason: format!("{} is {}", self.explain(birth), number(birth.value)),
        })
    }

    /// The first node on the way to `node` that is not finite although its arguments are.
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

// The forward values that a backward pass reads.
impl Nodes {
    /// Nodes that one edge's backward step reads; inline constants are not saved.
    pub fn read_by_edge(&self, edge: usize) -> Vec<usize> {
        let edge = self.edges[edge];
        let operation = self.at(edge.to).operation;
        let mut arguments = operation.arguments();
        let (first, second) = (arguments.next(), arguments.next());
        let nodes = operation.backward_reads(edge.argument).iter().filter_map(|read| match read {
            Reads::First => first,
            Reads::Second => second,
            Reads::Result => Some(edge.to),
        });
        let mut read: Vec<usize> = nodes.filter(|&node| !self.at(node).folded).collect();
        read.dedup();
        read
    }

    /// Nodes that a node's backward step reads to pass a gradient to arguments that depend on an input.
    pub fn read_by_node(&self, node: usize) -> Vec<usize> {
        let edges = self.edges_into(node);
        let edges = edges.filter(|&edge| self.at(self.edges[edge].from).depends_on_input);
        let mut read: Vec<usize> = edges.flat_map(|edge| self.read_by_edge(edge)).collect();
        read.sort_unstable();
        read.dedup();
        read
    }

    /// What a node keeps for its backward step, in words: its inputs, its output, both, or nothing.
    pub fn kept_in_words(&self, node: usize) -> String {
        let read = self.read_by_node(node);
        let named = |&index: &usize| {
            let side = if index == node { "output" } else { "input" };
            format!("its {side} {}", self.at(index).label)
        };
        if read.is_empty() {
            return "nothing".to_owned();
        }
        read.iter().map(named).collect::<Vec<_>>().join(", ")
    }
}

const PARAM: &str = "expression";

/// Reads the statements of `source` and evaluates them in order; inputs come first, each a node of its own.
///
/// # Errors
/// What the expression language refuses; an assignment to an input; every name that is neither assigned nor an input.
pub fn nodes(source: &str, inputs: &BTreeMap<String, f64>) -> Result<Nodes, LabError> {
    let program = parse_program(source)
        .map_err(|_| LabError::expressions(PARAM, source, &program_errors(source)))?;
    let problems = name_problems(&program, inputs);
    if !problems.is_empty() {
        return Err(LabError::expressions(PARAM, source, &problems));
    }
    let mut builder = Builder {
        starts: source.char_indices().map(|(start, _)| start).collect(),
        nodes: Vec::new(),
        by_name: BTreeMap::new(),
    };
    for (name, &value) in inputs {
        let index = builder.push(Operation::Input, value, 0);
        builder.name(index, name, Role::Input);
    }
    let mut output = 0;
    for statement in &program.statements {
        output = builder
            .expression(&statement.expr)
            .map_err(|problem| LabError::expression(PARAM, source, &problem))?;
        if let Some(name) = &statement.name {
            // A second name for a node has an adjoint of its own.
            if let Syntax::Name(_) = statement.expr.node {
                output = builder.computed(Operation::Copy(output), statement.expr.span);
            }
            builder.name(output, name.as_str(), Role::Assigned);
        }
    }
    Ok(Nodes::new(builder.nodes, output))
}

/// Names that clash with an input or stand for nothing.
fn name_problems(program: &Program, inputs: &BTreeMap<String, f64>) -> Vec<ExprError> {
    let mut problems = Vec::new();
    let assigned = || program.statements.iter().filter_map(|s| Some((s.name.as_ref()?, s.span)));
    for (name, span) in assigned() {
        if inputs.contains_key(name.as_str()) {
            problems.push(ExprError {
                message: format!("`{name}` is an input and cannot be assigned"),
                span,
                help: Some(format!("choose another name, or give inputs without {name}")),
            });
        }
    }
    for (name, span) in program.inputs() {
        if !inputs.contains_key(name.as_str()) {
            let known =
                assigned().map(|(name, _)| name.as_str()).chain(inputs.keys().map(String::as_str));
            let value = format!("give it a value with inputs.{name}");
            // What is not told is not searched for: thousands of names against thousands take minutes.
            let told = problems.len() < MOST_EXPRESSION_ERRORS;
            let help = match told.then(|| nearest(name.as_str(), known)).flatten() {
                Some(meant) => format!("did you mean `{meant}`? Else {value}"),
                None => value,
            };
            problems.push(ExprError {
                message: format!("`{name}` is neither assigned nor an input"),
                span,
                help: Some(help),
            });
        }
    }
    problems
}

struct Builder {
    /// The byte at which each character of the source begins.
    starts: Vec<usize>,
    nodes: Vec<Node>,
    by_name: BTreeMap<String, usize>,
}

impl Builder {
    /// The node that an expression stands for, with the nodes on the way to it.
    fn expression(&mut self, expr: &Expr) -> Result<usize, ExprError> {
        let operation = match &expr.node {
            Syntax::Number(value) => {
                let column = self.column(expr.span);
                let index = self.push(Operation::Constant, *value, column);
                self.nodes[index].label = expr.to_string();
                return Ok(index);
            }
            Syntax::Name(name) => {
                let known = self.by_name.get(name.as_str()).copied();
                return known.ok_or_else(|| underivable(expr));
            }
            Syntax::Unary(UnaryOp::Negate, operand) => {
                Operation::Unary(Unary::Negate, self.expression(operand)?)
            }
            Syntax::Binary(op, left, right) => {
                let operator = OPERATORS.iter().find(|(known, _)| known == op);
                let (_, operator) = operator.ok_or_else(|| underivable(expr))?;
                Operation::Binary(*operator, self.expression(left)?, self.expression(right)?)
            }
            Syntax::Call(function, arguments) => {
                let unary = FUNCTIONS.iter().find(|(known, _)| known == function);
                match (unary, arguments.as_slice()) {
                    (Some((_, unary)), [argument]) => {
                        Operation::Unary(*unary, self.expression(argument)?)
                    }
                    (None, [left, right]) if *function == Function::Max => Operation::Binary(
                        Binary::Max,
                        self.expression(left)?,
                        self.expression(right)?,
                    ),
                    _ => return Err(underivable(expr)),
                }
            }
            Syntax::Unary(UnaryOp::Not, _) | Syntax::Text(_) | Syntax::Bool(_) => {
                return Err(underivable(expr));
            }
        };
        Ok(self.computed(operation, expr.span))
    }

    fn computed(&mut self, operation: Operation, span: Span) -> usize {
        let value = |index: usize| self.nodes[index].value;
        let value = match operation {
            // The value of a leaf is given, not computed.
            Operation::Input | Operation::Constant => 0.0,
            Operation::Copy(a) => value(a),
            Operation::Unary(function, a) => function.value(value(a)),
            Operation::Binary(operator, a, b) => operator.value(value(a), value(b)),
        };
        let column = self.column(span);
        self.push(operation, value, column)
    }

    /// Counting characters from the beginning for each node would cost the square of a long source.
    fn column(&self, span: Span) -> usize {
        self.starts.partition_point(|start| *start < span.start) + 1
    }

    fn push(&mut self, operation: Operation, value: f64, column: usize) -> usize {
        let depends_on_input = operation == Operation::Input
            || operation.arguments().any(|argument| self.nodes[argument].depends_on_input);
        self.nodes.push(Node {
            label: String::new(),
            role: Role::Inner,
            operation,
            value,
            depends_on_input,
            folded: false,
            column,
        });
        self.nodes.len() - 1
    }

    fn name(&mut self, index: usize, name: &str, role: Role) {
        self.nodes[index].label = name.to_owned();
        self.nodes[index].role = role;
        self.by_name.insert(name.to_owned(), index);
    }
}

/// What the parser's graph dialect already refuses; said here too so that no text can make this panic.
fn underivable(expr: &Expr) -> ExprError {
    let message = format!("`{expr}` has no place in a computation graph");
    ExprError { message, span: expr.span, help: None }
}

const OPERATORS: [(BinaryOp, Binary); 5] = [
    (BinaryOp::Add, Binary::Add),
    (BinaryOp::Subtract, Binary::Subtract),
    (BinaryOp::Multiply, Binary::Multiply),
    (BinaryOp::Divide, Binary::Divide),
    (BinaryOp::Power, Binary::Power),
];

const FUNCTIONS: [(Function, Unary); 9] = [
    (Function::Sqrt, Unary::Sqrt),
    (Function::Exp, Unary::Exp),
    (Function::Log, Unary::Log),
    (Function::Ln, Unary::Log),
    (Function::Sin, Unary::Sin),
    (Function::Cos, Unary::Cos),
    (Function::Tanh, Unary::Tanh),
    (Function::Sigmoid, Unary::Sigmoid),
    (Function::Relu, Unary::Relu),
];
