//! The tree that a source parses to.
use std::fmt::{self, Write};

use crate::function::Function;
use crate::named_enum;
use crate::source::Span;

/// An expression and where it stands. Two are equal when their trees are: places do not count.
#[derive(Debug, Clone)]
pub struct Expr {
    pub node: Node,
    /// Where it stands in the source, with the parentheses around it.
    pub span: Span,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        self.node == other.node
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// Finite and not negative: a minus sign is an operator.
    Number(f64),
    Text(String),
    Bool(bool),
    Name(Name),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A function of its arguments, as many as the dialect allows.
    Call(Function, Vec<Expr>),
}

/// A name of one or more identifiers joined by dots, as in `run.grad.x`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    pub(super) fn new(text: String) -> Name {
        Name(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The identifiers between the dots, at least one.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('.')
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    Not,
    Negate,
}

named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BinaryOp {
        Or = "or",
        And = "and",
        Equal = "==",
        NotEqual = "!=",
        Less = "<",
        LessOrEqual = "<=",
        Greater = ">",
        GreaterOrEqual = ">=",
        Add = "+",
        Subtract = "-",
        Multiply = "*",
        Divide = "/",
        Remainder = "%",
        Power = "^",
    }
}

/// How tightly an operator holds its operands, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Negation,
    Power,
    Atom,
}

impl Binding {
    pub(super) const fn tighter(self) -> Binding {
        match self {
            Binding::Or => Binding::And,
            Binding::And => Binding::Not,
            Binding::Not => Binding::Comparison,
            Binding::Comparison => Binding::Sum,
            Binding::Sum => Binding::Product,
            Binding::Product => Binding::Negation,
            Binding::Negation => Binding::Power,
            Binding::Power | Binding::Atom => Binding::Atom,
        }
    }
}

impl UnaryOp {
    pub(super) const fn binding(self) -> Binding {
        match self {
            Self::Not => Binding::Not,
            Self::Negate => Binding::Negation,
        }
    }
}

impl BinaryOp {
    pub fn is_comparison(self) -> bool {
        self.binding() == Binding::Comparison
    }

    pub(super) const fn binding(self) -> Binding {
        match self {
            BinaryOp::Or => Binding::Or,
            BinaryOp::And => Binding::And,
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual => Binding::Comparison,
            BinaryOp::Add | BinaryOp::Subtract => Binding::Sum,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => Binding::Product,
            BinaryOp::Power => Binding::Power,
        }
    }
}

impl Expr {
    /// Every use of a name with its place, in the order of the source.
    pub fn names(&self) -> Vec<(&Name, Span)> {
        let mut found = Vec::new();
        self.collect_names(&mut found);
        found
    }

    fn collect_names<'a>(&'a self, found: &mut Vec<(&'a Name, Span)>) {
        match &self.node {
            Node::Number(_) | Node::Text(_) | Node::Bool(_) => {}
            Node::Name(name) => found.push((name, self.span)),
            Node::Unary(_, operand) => operand.collect_names(found),
            Node::Binary(_, left, right) => {
                left.collect_names(found);
                right.collect_names(found);
            }
            Node::Call(_, arguments) => {
                for argument in arguments {
                    argument.collect_names(found);
                }
            }
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Node::Number(value) => number(f, *value),
            Node::Text(value) => text(f, value),
            Node::Bool(value) => write!(f, "{value}"),
            Node::Name(name) => write!(f, "{name}"),
            Node::Unary(op, operand) => {
                f.write_str(match op {
                    UnaryOp::Not => "not ",
                    UnaryOp::Negate => "-",
                })?;
                at_least(f, op.binding(), operand)
            }
            Node::Binary(op, left, right) => binary(f, *op, left, right),
            Node::Call(function, arguments) => {
                write!(f, "{function}(")?;
                for (index, argument) in arguments.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    write!(f, "{argument}")?;
                }
                f.write_char(')')
            }
        }
    }
}

fn binary(f: &mut fmt::Formatter<'_>, op: BinaryOp, left: &Expr, right: &Expr) -> fmt::Result {
    let binding = op.binding();
    // A power is right-associative and its exponent may carry a minus; comparisons do not chain.
    let (least_left, least_right) = if op == BinaryOp::Power {
        (Binding::Atom, Binding::Negation)
    } else if binding == Binding::Comparison {
        (binding.tighter(), binding.tighter())
    } else {
        (binding, binding.tighter())
    };
    at_least(f, least_left, left)?;
    if binding >= Binding::Product {
        write!(f, "{op}")?;
    } else {
        write!(f, " {op} ")?;
    }
    at_least(f, least_right, right)
}

/// Prints an operand, in parentheses if it holds together less tightly than `least`.
fn at_least(f: &mut fmt::Formatter<'_>, least: Binding, operand: &Expr) -> fmt::Result {
    let binding = match &operand.node {
        Node::Unary(op, _) => op.binding(),
        Node::Binary(op, ..) => op.binding(),
        Node::Number(_) | Node::Text(_) | Node::Bool(_) | Node::Name(_) | Node::Call(..) => {
            Binding::Atom
        }
    };
    if binding < least { write!(f, "({operand})") } else { write!(f, "{operand}") }
}

/// Shortest digits that read back as the same number; whole numbers without a point.
fn number(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    let digits = format!("{value:?}");
    f.write_str(digits.strip_suffix(".0").unwrap_or(&digits))
}

fn text(f: &mut fmt::Formatter<'_>, value: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use crate::properties::table;
    use crate::{Dialect, ExprError, parse};

    #[test]
    fn names_come_in_order_with_their_places() -> Result<(), ExprError> {
        let source = "close(run.grad.x, 7, 1e-9) and not b == -a.c";
        let expr = parse(source, Dialect::Lesson)?;
        let names: Vec<_> = expr
            .names()
            .into_iter()
            .map(|(name, span)| (name.as_str(), source.get(span.start..span.end)))
            .collect();
        assert_eq!(
            names,
            [("run.grad.x", Some("run.grad.x")), ("b", Some("b")), ("a.c", Some("a.c"))]
        );
        let parts: Vec<_> = expr.names().iter().flat_map(|(name, _)| name.parts()).collect();
        assert_eq!(parts, ["run", "grad", "x", "b", "a", "c"]);
        Ok(())
    }

    #[test]
    fn prints_only_the_parentheses_it_needs() -> Result<(), ExprError> {
        for [source, printed] in table(include_str!("tests/printed.txt")) {
            assert_eq!(parse(source, Dialect::Lesson)?.to_string(), printed, "{source}");
        }
        Ok(())
    }
}
