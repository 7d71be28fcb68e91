//! A symbolic thread on its way through a kernel: [`super::execute`] walks statements, [`super::evaluate`] expressions,
//! [`super::iterations`] loops.

use crate::diagnostic::Place;
use crate::proof::model::Model;
use crate::proof::state::Site;
use crate::proof::symbols::Symbols;
use crate::typed_ast::{Expr, Index, Program, Stmt, Test};

pub(super) const MOST_SITES: usize = 400;

pub(super) struct Executor<'p> {
    pub(super) program: &'p Program,
    pub(super) model: &'p Model,
    pub(super) symbols: Symbols,
    pub(super) sites: Vec<Site>,
    /// Whether accesses are kept: not while a loop is looked at for the first time.
    pub(super) recording: bool,
    pub(super) function: Index,
    pub(super) depth: u32,
    pub(super) statements: u32,
}

/// What a loop consists of.
pub(super) struct LoopParts<'p> {
    pub(super) test: Option<(&'p Expr, Test)>,
    pub(super) step: Option<&'p Expr>,
    pub(super) body: &'p [Stmt],
    pub(super) place: Place,
}
