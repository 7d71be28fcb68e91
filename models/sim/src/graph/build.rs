//! From the text of an expression to evaluated nodes.

use std::collections::BTreeMap;

use mlsys_lab::LabError;
use mlsys_lab::expr::{
    BinaryOp, Expr, ExprError, Function, Node as Syntax, Program, Span, UnaryOp, parse_program,
    program_errors,
};
use mlsys_lab::nearest::nearest;

use super::nodes::{Node, Nodes, Role};
use super::operation::{Binary, Operation, Unary};
use crate::expression;

const PARAM: &str = "expression";

/// Reads the statements of `source` and evaluates them in order; inputs come first, each a node of its own.
///
/// # Errors
/// What the expression language refuses; an assignment to an input; every name that is neither assigned nor an input.
pub fn nodes(source: &str, inputs: &BTreeMap<String, f64>) -> Result<Nodes, LabError> {
    let program = parse_program(source)
        .map_err(|_| expression::errors(PARAM, source, &program_errors(source)))?;
    let problems = name_problems(&program, inputs);
    if !problems.is_empty() {
        return Err(expression::errors(PARAM, source, &problems));
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
            .map_err(|problem| expression::error(PARAM, source, &problem))?;
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
            let told = problems.len() < expression::MOST_PROBLEMS;
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
                let operator = operator(*op).ok_or_else(|| underivable(expr))?;
                Operation::Binary(operator, self.expression(left)?, self.expression(right)?)
            }
            Syntax::Call(function, arguments) => {
                match (self::function(*function), arguments.as_slice()) {
                    (Some(function), [argument]) => {
                        Operation::Unary(function, self.expression(argument)?)
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
    ExprError {
        message: format!("`{expr}` has no place in a computation graph"),
        span: expr.span,
        help: None,
    }
}

fn operator(op: BinaryOp) -> Option<Binary> {
    match op {
        BinaryOp::Add => Some(Binary::Add),
        BinaryOp::Subtract => Some(Binary::Subtract),
        BinaryOp::Multiply => Some(Binary::Multiply),
        BinaryOp::Divide => Some(Binary::Divide),
        BinaryOp::Power => Some(Binary::Power),
        BinaryOp::Or
        | BinaryOp::And
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessOrEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterOrEqual
        | BinaryOp::Remainder => None,
    }
}

fn function(function: Function) -> Option<Unary> {
    match function {
        Function::Sqrt => Some(Unary::Sqrt),
        Function::Exp => Some(Unary::Exp),
        Function::Log | Function::Ln => Some(Unary::Log),
        Function::Sin => Some(Unary::Sin),
        Function::Cos => Some(Unary::Cos),
        Function::Tanh => Some(Unary::Tanh),
        Function::Sigmoid => Some(Unary::Sigmoid),
        Function::Relu => Some(Unary::Relu),
        Function::First
        | Function::Last
        | Function::Min
        | Function::Max
        | Function::Mean
        | Function::Median
        | Function::Len
        | Function::At
        | Function::Close
        | Function::Abs
        | Function::Log2
        | Function::Log10
        | Function::Floor
        | Function::Ceil
        | Function::Round
        | Function::Xor
        | Function::If => None,
    }
}
