//! The typed tree: every expression has its type, every conversion is explicit.

use crate::diagnostic::Place;
use crate::math::Math;
use crate::types::{Scalar, Type};

/// Of a list in [`Program`].
pub(crate) type Index = usize;

/// A kernel that is right as far as its text can tell.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
    /// The kernel first, then what it may call.
    pub(crate) functions: Vec<Function>,
    pub(crate) kernel: Index,
    /// Arrays and numbers in shared memory, of the kernel and its helpers.
    pub(crate) shared: Vec<Shared>,
}

#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// Its first byte; dynamic arrays begin where the static ones end.
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) result: Type,
    /// The first `params` variables are its arguments.
    pub(crate) params: usize,
    pub(crate) variables: Vec<Variable>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) height: u32,
}

#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) ty: Type,
    /// Its address is taken, or it is an array: it lives in local memory.
    pub(crate) in_memory: Memory,
    /// Whether it has a value from its declaration on.
    pub(crate) born: Initialization,
    /// Whether anything assigns to it after its declaration.
    pub(crate) fate: Mutability,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Register,
    Local,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initialization {
    WithValue,
    Unset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutability {
    Kept,
    Changed,
}

#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) place: Place,
    pub(crate) kind: StmtKind,
}

#[derive(Debug)]
pub(crate) enum StmtKind {
    /// A declaration that is reached: what it held in an earlier turn of a loop is gone.
    Declare(Index, Option<Expr>),
    /// An array's first values; what is not listed becomes zero.
    Fill(Index, Vec<Expr>),
    Expr(Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    Loop {
        /// While before the body, do after it; none for `for (;;)`.
        test: Option<(Expr, Test)>,
        step: Option<Expr>,
        body: Vec<Stmt>,
    },
    Block(Vec<Stmt>),
    Break,
    Continue,
    Return(Option<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Before,
    After,
}

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) place: Place,
    pub(crate) ty: Type,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    /// Whole numbers and truth values.
    Whole(i64),
    Real(f64),
    Variable(Index),
    Special(Special, Axis),
    WarpSize,
    /// The address of shared memory.
    Shared(Index),
    /// The address of a local array or of a variable in local memory.
    Local(Index),
    /// What lies at an address.
    Load(Box<Expr>),
    /// An address offset by a number of elements.
    Offset(Box<Expr>, Box<Expr>),
    /// Elements between two addresses.
    Distance(Box<Expr>, Box<Expr>),
    Convert(Box<Expr>),
    Negate(Box<Expr>),
    Complement(Box<Expr>),
    Not(Box<Expr>),
    Arithmetic(Operation, Box<Expr>, Box<Expr>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Assign(Target, Box<Expr>),
    /// `target = convert(convert(target) operation value)`, the meeting in the given type; pointers take `Offset`.
    Update(Target, CompoundOp, Box<Expr>, YieldedValue),
    Call(Index, Vec<Expr>),
    Math(Math, Vec<Expr>),
    Atomic(Atomic, Box<Expr>, Vec<Expr>),
    Shuffle(Shuffle, Vec<Expr>),
    Vote(Vote, Vec<Expr>),
    /// `__syncthreads()`
    Barrier,
    /// `__syncwarp(mask)`
    WarpBarrier(Option<Box<Expr>>),
}

/// What is assigned to.
#[derive(Debug)]
pub(crate) enum Target {
    Variable(Index),
    /// The address of what is assigned to.
    Memory(Box<Expr>),
}

/// How a compound assignment changes its target.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CompoundOp {
    /// An operation in a type.
    Arithmetic(Operation, Scalar),
    /// A pointer offset by a number of elements, negative to go back.
    Advance,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YieldedValue {
    New,
    Old,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    ThreadIdx,
    BlockIdx,
    BlockDim,
    GridDim,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    pub(crate) fn index(self) -> usize {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Add,
    Subtract,
    Min,
    Max,
    Exchange,
    CompareAndSwap,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Index,
    Up,
    Down,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    Ballot,
    Any,
    All,
}
