//! The syntax tree of a kernel: what was written, before anything is known of types.

use crate::diagnostic::Place;
use crate::lexer::{Suffix, Written};
use crate::operators::Binary;
use crate::typed_ast::{Operation, YieldedValue};
use crate::types::{Access, Record, Scalar};
use std::collections::BTreeSet;
use std::rc::Rc;

#[derive(Debug, Default)]
pub(super) struct Unit {
    pub(super) functions: Vec<Function>,
    pub(super) records: Vec<RecordDeclaration>,
    /// Constants, variables and arrays in shared memory, outside of functions.
    pub(super) constants: Vec<Declaration>,
    /// Variables of the host, which are named in complaints alone.
    pub(super) host_variables: BTreeSet<String>,
    pub(super) written: Written,
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
    pub(super) body: Body,
    /// What is put in at each use; empty where it is no template.
    pub(super) template: Vec<TemplateParam>,
    /// `template <> f<int>`: the arguments for which it stands in place of the template of its name.
    pub(super) special: Option<Vec<TemplateArgument>>,
    /// How many functions stand before its first declaration: those behind may call it.
    pub(super) declared: usize,
}

/// What a function does.
#[derive(Debug)]
pub(super) enum Body {
    Read(Vec<Statement>),
    /// It has mistakes, and is not checked.
    Broken,
    /// Only the declaration of a template stands in the text; `template <>` gives bodies for some arguments.
    Missing,
}

impl Function {
    pub(super) fn is_missing(&self) -> bool {
        matches!(self.body, Body::Missing)
    }

    /// Whether two functions cannot be told apart where they are called.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let types = |function: &Self| function.params.iter().map(|one| one.ty).collect::<Vec<_>>();
        self.name == other.name
            && self.special.is_none()
            && other.special.is_none()
            && self.template.len() == other.template.len()
            && types(self) == types(other)
    }
}

#[derive(Debug)]
pub(super) struct TemplateParam {
    pub(super) name: String,
    pub(super) kind: TemplateKind,
    pub(super) default: Option<TemplateArgument>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateKind {
    Type,
    /// A number, a truth value, or a function of the type [`Base::Function`].
    Value(TypeName),
}

#[derive(Debug)]
pub(super) enum TemplateArgument {
    Type(TypeName),
    Value(Expr),
}

#[derive(Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) ty: TypeName,
    /// Of `float a[][8]` the extents of what the first index chooses.
    pub(super) row: Vec<Expr>,
    /// What it is where a call does not say.
    pub(super) default: Option<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Void,
    Scalar(Scalar),
    Record(Record),
    /// The type of its first value.
    Auto,
    /// An argument of the template at hand, by its number.
    Param(usize),
    /// `float (*)(float)`: only an argument of a template has it.
    Function,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passing {
    Value,
    /// `float &x`
    Reference,
}

/// `struct P { .. };`
#[derive(Debug)]
pub(super) struct RecordDeclaration {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) fields: Vec<Declarator>,
    /// Of the whole, in bytes, if `__align__` gives one.
    pub(super) alignment: Option<Expr>,
    /// How many constants stand before it: extents of its arrays name these.
    pub(super) constants: usize,
}

/// A type as it is written, with at most one star.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeName {
    pub(super) base: Base,
    /// Of the number, or of what is pointed to.
    pub(super) access: Access,
    /// Of the pointer itself, if it is one.
    pub(super) pointer: Option<Access>,
    pub(super) passing: Passing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Local,
    Shared,
    /// `extern __shared__`.
    Dynamic,
    /// `__constant__` and `__device__` outside of functions, and whether kernels may write there.
    Global(Access),
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
    /// In bytes, if `__align__` gives it; the same for all names of a declaration.
    pub(super) alignment: Option<Rc<Expr>>,
    pub(super) initial: Option<Initial>,
}

#[derive(Debug)]
pub(super) enum Initial {
    Value(Expr),
    List(Vec<Expr>),
    /// `T x(value)` and `T x{value}`, where the type tells which it is.
    Construct(Vec<Expr>),
}

impl Initial {
    pub(super) fn values(&self) -> &[Expr] {
        match self {
            Self::Value(value) => std::slice::from_ref(value),
            Self::List(list) | Self::Construct(list) => list,
        }
    }
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
    /// With arguments of its template, if some are written.
    Call(String, Vec<TemplateArgument>, Vec<Expr>),
    /// A value of a type from some values: `float4(v)`, `T{}`.
    Make(TypeName, Vec<Expr>),
    /// `{a, b}`, of the type that is wanted where it stands.
    List(Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    // With the operation of a compound assignment.
    Assign(Option<Operation>, Box<Expr>, Box<Expr>),
    // `++` and `--`.
    Step {
        operation: Operation,
        yields: YieldedValue,
        target: Box<Expr>,
    },
    Cast(TypeName, Box<Expr>),
    SizeOf(TypeName),
    AlignOf(TypeName),
    SizeOfValue(Box<Expr>),
    /// `printf` and `assert`: their arguments are evaluated.
    Ignored(Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Plus,
    Minus,
    Not,
    Complement,
    Dereference,
    Address,
}
