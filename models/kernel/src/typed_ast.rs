//! The typed tree: every expression has its type, every conversion is explicit.

mod walk;

use crate::diagnostic::Place;
use crate::math::Math;
pub(crate) use crate::typed_ast::walk::each;
use crate::types::{Scalar, Type};
use std::collections::BTreeSet;

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
    /// `__constant__` and `__device__` variables: buffers that follow the kernel's own arguments.
    pub(crate) globals: Vec<Global>,
    /// Where a `__threadfence` stands, which orders what blocks do.
    pub(crate) fence: Option<Place>,
    /// Whether an address is cast to a number or back.
    pub(crate) has_numbered_addresses: bool,
    /// Calls of CUDA functions by names that the text declares as well.
    pub(crate) builtins: BTreeSet<Place>,
    /// Where a structure is called like a function.
    pub(crate) objects: BTreeSet<Place>,
}

impl Program {
    /// Arguments that the kernel declares itself.
    pub(crate) fn own_params(&self) -> usize {
        self.functions[self.kernel].params
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) ty: Type,
}

#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// Its first byte; dynamic arrays begin where the static ones end.
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Global {
    /// With the type of a pointer to its first element.
    pub(crate) param: Param,
    pub(crate) elements: u64,
    /// Its first values; the others are 0.
    pub(crate) initial: Vec<f64>,
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
    /// In bytes, a power of two.
    pub(crate) alignment: u32,
    /// Its address is taken, or it is an array: it lives in local memory.
    pub(crate) in_memory: bool,
    /// Whether it has a value from its declaration on.
    pub(crate) has_value: bool,
    /// Whether anything assigns to it after its declaration.
    pub(crate) is_changed: bool,
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
    Whole(i64),
    Real(f64),
    Variable(Index),
    Special(Special, Axis),
    WarpSize,
    Shared(Index),
    /// The address of a variable outside of functions.
    Global(Index),
    /// The address of a number of a vector that is moved as a whole.
    Together(Part, Box<Expr>),
    /// The address of a local array or of a variable in local memory.
    Local(Index),
    Load(Box<Expr>),
    Offset(Box<Expr>, Box<Expr>),
    Distance(Box<Expr>, Box<Expr>),
    Convert(Box<Expr>),
    Negate(Box<Expr>),
    Complement(Box<Expr>),
    Not(Box<Expr>),
    Arithmetic(Operation, Box<Expr>, Box<Expr>),
    /// The sum of where a row begins and an index into it, which stays in the row.
    Row(Box<Expr>, Box<Expr>, RowBound),
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

/// A row of an array of arrays, or an array in a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowBound {
    pub(crate) elements: u32,
    /// Numbers that an element has.
    pub(crate) stride: u32,
    /// Numbers of the variable that the row belongs to, where that is known: past its end an access is out of bounds by
    /// itself.
    pub(crate) whole: Option<u32>,
}

impl RowBound {
    /// Numbers of the row.
    pub(crate) fn numbers(self) -> u64 {
        u64::from(self.elements) * u64::from(self.stride)
    }
}

/// What an access moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// The first number of a vector of this many bytes, all of which it moves.
    First(u32),
    /// A later one, which has been moved with the first.
    Rest,
}

#[derive(Debug)]
pub(crate) enum Target {
    Variable(Index),
    /// The address of what is assigned to.
    Memory(Box<Expr>),
}

/// How a compound assignment changes its target.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CompoundOp {
    Arithmetic(Operation, Scalar),
    /// A pointer offset by a number of elements, negative to go back.
    Advance,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YieldedValue {
    /// As `++i` and `i += 1` do.
    New,
    /// As `i++` does.
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

impl Operation {
    pub(crate) fn is_shift(self) -> bool {
        matches!(self, Self::Left | Self::Right)
    }

    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Self::Remainder | Self::And | Self::Or | Self::Xor) || self.is_shift()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
}

mlsys_lab::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Special {
        ThreadIdx = "threadIdx",
        BlockIdx = "blockIdx",
        BlockDim = "blockDim",
        GridDim = "gridDim",
    }
}

mlsys_lab::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Axis {
        X = "x",
        Y = "y",
        Z = "z",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    Add,
    Subtract,
    Min,
    Max,
    Exchange,
    /// One more, or 0 after the bound; one less, or the bound after 0.
    Increment,
    Decrement,
    CompareAndSwap,
    And,
    Or,
    Xor,
}

impl Atomic {
    /// Whether several of it on whole numbers leave the same in any order.
    pub(crate) fn commutes(self) -> bool {
        match self {
            Self::Add
            | Self::Subtract
            | Self::Min
            | Self::Max
            | Self::And
            | Self::Or
            | Self::Xor => true,
            Self::Exchange | Self::Increment | Self::Decrement | Self::CompareAndSwap => false,
        }
    }
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
    /// The lanes that are here, without a mask.
    Active,
    Ballot,
    Any,
    All,
    /// What the atomic of that name would leave of all values.
    Reduce(Atomic, Scalar),
}
