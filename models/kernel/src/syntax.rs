//! The syntax tree of a kernel: what was written, before anything is known of types.

mod expression;
mod function;
mod operator;
mod parser;
mod statement;

use super::source::{Place, Suffix};
use super::types::{Access, Scalar};

pub(super) use operator::{Binary, Unary};
pub(super) use parser::parse;

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
        up: Direction,
        when: When,
        target: Box<Expr>,
    },
    Cast(TypeName, Box<Expr>),
    SizeOf(TypeName),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// `++i`: the value is the new one.
    Before,
    /// `i++`: the value is the old one.
    After,
}
