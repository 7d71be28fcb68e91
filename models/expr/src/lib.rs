//! The one expression language: answers, checks, access patterns and computation graphs.
//!
//! Loosest to tightest: `or`; `and`; `not`; `== != < <= > >=` (not chained); `+ -`; `* / %`; unary `-`; `^`, which is
//! right-associative, binds tighter than a minus on its left and takes a minus on its right (`-x^2` is `-(x^2)`,
//! `x^-2` is one over a square). A [`Dialect`] narrows this to what a place can make sense of.
//!
//! The language is total: no I/O, no loops, no recursion, and a source is refused beyond [`MAX_BYTES`], [`MAX_NODES`]
//! or [`MAX_DEPTH`], so that text from an untrusted lesson can be parsed, walked and dropped on any stack.

mod ast;
mod error;
mod eval;
mod function;
mod names;
pub mod nearest;
mod parse;
mod pattern;
mod program;
#[cfg(test)]
mod properties;
pub mod random;
mod source;
mod token;

pub use ast::{BinaryOp, Expr, Name, Node, UnaryOp};
pub use error::{EvalError, EvalErrorKind, ExprError};
pub use eval::{Env, LookupError, Point, Value, evaluate, median};
pub use function::Function;
pub use names::UnknownName;
pub use parse::parse;
pub use pattern::evaluate_pattern;
pub use program::{Program, Statement, parse_program, program_errors};
pub use source::{
    Dialect, Excerpt, MAX_BYTES, MAX_DEPTH, MAX_NODES, MAX_PROGRAM_BYTES, MAX_PROGRAM_NODES, Span,
    reorders, steers_terminal,
};
