//! The operators and how tightly they bind.

/// An operator of two operands that are both always evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    And,
    Or,
    Xor,
    Left,
    Right,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Binary {
    pub(crate) fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessEqual
                | Self::Greater
                | Self::GreaterEqual
        )
    }

    pub(crate) fn is_shift(self) -> bool {
        matches!(self, Self::Left | Self::Right)
    }

    pub(crate) fn is_bitwise(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Xor)
    }

    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::Left => "<<",
            Self::Right => ">>",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
        }
    }
}

/// An operator of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Plus,
    Minus,
    /// `!`
    Not,
    /// `~`
    Complement,
    /// `*p`
    Dereference,
    /// `&x`
    Address,
}

/// A mark between two operands, and its rank: the higher binds tighter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Binary(Binary),
    AndAlso,
    OrElse,
}

pub(super) fn infix(mark: &str) -> Option<(Infix, u8)> {
    let (binary, rank) = match mark {
        "||" => return Some((Infix::OrElse, 1)),
        "&&" => return Some((Infix::AndAlso, 2)),
        "|" => (Binary::Or, 3),
        "^" => (Binary::Xor, 4),
        "&" => (Binary::And, 5),
        "==" => (Binary::Equal, 6),
        "!=" => (Binary::NotEqual, 6),
        "<" => (Binary::Less, 7),
        "<=" => (Binary::LessEqual, 7),
        ">" => (Binary::Greater, 7),
        ">=" => (Binary::GreaterEqual, 7),
        "<<" => (Binary::Left, 8),
        ">>" => (Binary::Right, 8),
        "+" => (Binary::Add, 9),
        "-" => (Binary::Subtract, 9),
        "*" => (Binary::Multiply, 10),
        "/" => (Binary::Divide, 10),
        "%" => (Binary::Remainder, 10),
        _ => return None,
    };
    Some((Infix::Binary(binary), rank))
}

/// The operator of a compound assignment; none inside for a plain one.
pub(super) fn assignment(mark: &str) -> Option<Option<Binary>> {
    Some(match mark {
        "=" => None,
        "+=" => Some(Binary::Add),
        "-=" => Some(Binary::Subtract),
        "*=" => Some(Binary::Multiply),
        "/=" => Some(Binary::Divide),
        "%=" => Some(Binary::Remainder),
        "&=" => Some(Binary::And),
        "|=" => Some(Binary::Or),
        "^=" => Some(Binary::Xor),
        "<<=" => Some(Binary::Left),
        ">>=" => Some(Binary::Right),
        _ => return None,
    })
}
