//! The table of operators between two operands.

use crate::typed_ast::{Comparison, Operation};

/// An operator of two operands that are both always evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Arithmetic(Operation),
    Compare(Comparison, Sides),
}

/// Which side of a comparison stands where: `a > b` is `b < a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    AsWritten,
    Swapped,
}

impl Binary {
    pub(crate) fn mark(self) -> &'static str {
        let own = INFIX.iter().find(|(_, _, infix)| *infix == Infix::Binary(self));
        own.map_or("", |(mark, ..)| mark)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Binary(Binary),
    AndAlso,
    OrElse,
}

const fn arithmetic(operation: Operation) -> Infix {
    Infix::Binary(Binary::Arithmetic(operation))
}

const fn compare(comparison: Comparison, sides: Sides) -> Infix {
    Infix::Binary(Binary::Compare(comparison, sides))
}

/// The operators by their marks, with their ranks: the higher binds tighter.
const INFIX: [(&str, u8, Infix); 18] = [
    ("||", 1, Infix::OrElse),
    ("&&", 2, Infix::AndAlso),
    ("|", 3, arithmetic(Operation::Or)),
    ("^", 4, arithmetic(Operation::Xor)),
    ("&", 5, arithmetic(Operation::And)),
    ("==", 6, compare(Comparison::Equal, Sides::AsWritten)),
    ("!=", 6, compare(Comparison::NotEqual, Sides::AsWritten)),
    ("<", 7, compare(Comparison::Less, Sides::AsWritten)),
    ("<=", 7, compare(Comparison::LessEqual, Sides::AsWritten)),
    (">", 7, compare(Comparison::Less, Sides::Swapped)),
    (">=", 7, compare(Comparison::LessEqual, Sides::Swapped)),
    ("<<", 8, arithmetic(Operation::Left)),
    (">>", 8, arithmetic(Operation::Right)),
    ("+", 9, arithmetic(Operation::Add)),
    ("-", 9, arithmetic(Operation::Subtract)),
    ("*", 10, arithmetic(Operation::Multiply)),
    ("/", 10, arithmetic(Operation::Divide)),
    ("%", 10, arithmetic(Operation::Remainder)),
];

pub(super) fn infix(mark: &str) -> Option<(Infix, u8)> {
    INFIX.iter().find(|(own, ..)| *own == mark).map(|(_, rank, infix)| (*infix, *rank))
}

/// The operation of a compound assignment; none inside for a plain one.
pub(super) fn assignment(mark: &str) -> Option<Option<Operation>> {
    match infix(mark.strip_suffix('=')?) {
        Some((Infix::Binary(Binary::Arithmetic(operation)), _)) => Some(Some(operation)),
        _ => (mark == "=").then_some(None),
    }
}
