//! A tree as a source, with no more parentheses than it needs.

use super::ast::Binding;
use super::{BinaryOp, Expr, Node, UnaryOp};
use std::fmt::{self, Write};

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
                write!(f, "{}(", function.name())?;
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
        f.write_str(op.symbol())?;
    } else {
        write!(f, " {} ", op.symbol())?;
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
    use crate::{Dialect, ExprError, parse};

    #[test]
    fn prints_only_the_parentheses_it_needs() -> Result<(), ExprError> {
        for (source, printed) in [
            ("((a + b)) * (c)", "(a + b)*c"),
            ("a + (b * c)", "a + b*c"),
            ("(a - b) - c", "a - b - c"),
            ("a - (b - c)", "a - (b - c)"),
            ("a / (b / c)", "a/(b/c)"),
            ("(a ^ b) ^ c", "(a^b)^c"),
            ("a ^ (b ^ c)", "a^b^c"),
            ("-(x^2)", "-x^2"),
            ("(-x)^2", "(-x)^2"),
            ("x^(-2)", "x^-2"),
            ("x^(-y^2)", "x^-y^2"),
            ("x^(a*b)", "x^(a*b)"),
            ("-(a*b)", "-(a*b)"),
            ("-(-a)", "--a"),
            ("a*(-b)", "a*-b"),
            ("(a < b) == (c < d)", "(a < b) == (c < d)"),
            ("not (a and b) or (c and d)", "not (a and b) or c and d"),
            ("not (a == b)", "not a == b"),
            ("(not a) == b", "(not a) == b"),
            ("a and (b and c)", "a and (b and c)"),
            ("1e9 + 1.50 + 3e-7 + 1e300 + 0.1", "1000000000 + 1.5 + 3e-7 + 1e300 + 0.1"),
            ("d.name == \"a \\\"b\\\" \\\\\"", "d.name == \"a \\\"b\\\" \\\\\""),
            ("close( a.b ,2 , 1e-2)", "close(a.b, 2, 0.01)"),
        ] {
            assert_eq!(parse(source, Dialect::Lesson)?.to_string(), printed, "{source}");
        }
        Ok(())
    }
}
