//! The syntax tree of a kernel: what was written, before anything is known of types.
//!
//! The operators and how tightly they bind.

use crate::diagnostic::Place;
use crate::lexer::Suffix;
use crate::types::{Access, Scalar};

/// A whole text: one kernel, its helpers and constants.
#[derive(Debug, Default)]
pub(super) struct Unit {
    pub(super) functions: Vec<Function>,
    pub(super) constants: Vec<Declaration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// `__global__`: what is launched.
    Kernel,
    /// `__device__`: what a kernel calls.
    Helper,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(super) role: Role,
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) result: TypeName,
    pub(super) params: Vec<Param>,
    pub(super) body: Vec<Statement>,
}

#[derive(Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) ty: TypeName,
}

/// A type as it is written, with at most one star.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeName {
    /// None for void.
    pub(super) scalar: Option<Scalar>,
    /// Of the number, or of what is pointed to.
    pub(super) access: Access,
    /// Of the pointer itself, if it is one.
    pub(super) pointer: Option<Access>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Local,
    /// `__shared__`.
    Shared,
    /// `extern __shared__`.
    Dynamic,
}

#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) storage: Storage,
    pub(super) names: Vec<Declarator>,
}

#[derive(Debug)]
pub(super) struct Declarator {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) ty: TypeName,
    /// Extents of an array; none stands for `[]`.
    pub(super) extents: Vec<Option<Expr>>,
    pub(super) initial: Option<Initial>,
}

#[derive(Debug)]
pub(super) enum Initial {
    Value(Expr),
    List(Vec<Expr>),
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) place: Place,
    pub(super) kind: StatementKind,
}

#[derive(Debug)]
pub(super) enum StatementKind {
    Declare(Declaration),
    Expr(Expr),
    If(Expr, Box<Statement>, Option<Box<Statement>>),
    While(Expr, Box<Statement>),
    DoWhile(Box<Statement>, Expr),
    For {
        first: Option<Box<Statement>>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Statement>,
    },
    Block(Vec<Statement>),
    Break,
    Continue,
    Return(Option<Expr>),
    Empty,
}

#[derive(Debug)]
pub(super) struct Expr {
    pub(super) place: Place,
    pub(super) kind: ExprKind,
    /// Expressions on the way down to the deepest; bounded by the parser, so that walking down never exhausts the stack.
    pub(super) height: u32,
}

#[derive(Debug)]
pub(super) enum ExprKind {
    Integer {
        value: u64,
        suffix: Suffix,
        base: u32,
    },
    Float(f32),
    Double(f64),
    Bool(bool),
    Null,
    Name(String),
    Member(Box<Expr>, String),
    Call(String, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// With the operator of a compound assignment.
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    /// `++` and `--`.
    Step {
        up: Increment,
        when: Fixity,
        target: Box<Expr>,
    },
    Cast(TypeName, Box<Expr>),
    SizeOf(TypeName),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Increment {
    Up,
    Down,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fixity {
    /// `++i`: the value is the new one.
    Before,
    /// `i++`: the value is the old one.
    After,
}

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
