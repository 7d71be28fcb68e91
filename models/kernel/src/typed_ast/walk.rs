//! The parts of expressions and statements, and what they do.

use crate::typed_ast::*;

impl Target {
    fn address(&self) -> Option<&Expr> {
        match self {
            Self::Variable(_) => None,
            Self::Memory(address) => Some(address),
        }
    }
}

impl Expr {
    /// The expressions right below, in the order of the text.
    pub(crate) fn children(&self) -> Vec<&Self> {
        match &self.kind {
            Kind::Whole(_)
            | Kind::Real(_)
            | Kind::Variable(_)
            | Kind::Special(..)
            | Kind::WarpSize
            | Kind::Shared(_)
            | Kind::Global(_)
            | Kind::Local(_)
            | Kind::Barrier => Vec::new(),
            Kind::Load(a)
            | Kind::Together(_, a)
            | Kind::Convert(a)
            | Kind::Negate(a)
            | Kind::Complement(a)
            | Kind::Not(a) => vec![a],
            Kind::Offset(a, b)
            | Kind::Distance(a, b)
            | Kind::Arithmetic(_, a, b)
            | Kind::Row(a, b, _)
            | Kind::Compare(_, a, b)
            | Kind::And(a, b)
            | Kind::Or(a, b)
            | Kind::Comma(a, b) => vec![a, b],
            Kind::Conditional(a, b, c) => vec![a, b, c],
            Kind::Assign(to, value) | Kind::Update(to, _, value, _) => {
                to.address().into_iter().chain([&**value]).collect()
            }
            Kind::Call(_, list)
            | Kind::Math(_, list)
            | Kind::Shuffle(_, list)
            | Kind::Vote(_, list) => list.iter().collect(),
            Kind::Atomic(_, address, list) => [&**address].into_iter().chain(list).collect(),
            Kind::WarpBarrier(mask) => mask.as_deref().into_iter().collect(),
        }
    }

    /// Whether this expression, or any below it, is such.
    pub(crate) fn any(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        is(self) || self.children().into_iter().any(|child| child.any(is))
    }

    /// Whether evaluating it may change a variable or memory.
    pub(crate) fn changes_values(&self) -> bool {
        self.any(&|expr| {
            matches!(
                expr.kind,
                Kind::Assign(..) | Kind::Update(..) | Kind::Call(..) | Kind::Atomic(..)
            )
        })
    }

    /// Whether evaluating it changes anything, or happens together with other threads.
    pub(crate) fn has_effect(&self) -> bool {
        let is_shared = |expr: &Self| {
            matches!(
                expr.kind,
                Kind::Shuffle(..) | Kind::Vote(..) | Kind::Barrier | Kind::WarpBarrier(_)
            )
        };
        self.changes_values() || self.any(&is_shared)
    }
}

impl Stmt {
    pub(crate) fn bodies(&self) -> [&[Self]; 2] {
        if let StmtKind::If(_, then, otherwise) = &self.kind {
            [then, otherwise]
        } else if let StmtKind::Loop { body, .. } | StmtKind::Block(body) = &self.kind {
            [body, &[]]
        } else {
            [&[], &[]]
        }
    }

    fn expressions(&self) -> Vec<&Expr> {
        match &self.kind {
            StmtKind::Declare(_, value) | StmtKind::Return(value) => value.iter().collect(),
            StmtKind::Fill(_, values) => values.iter().collect(),
            StmtKind::Expr(value) | StmtKind::If(value, ..) => vec![value],
            StmtKind::Loop { test, step, .. } => {
                test.iter().map(|(test, _)| test).chain(step).collect()
            }
            StmtKind::Block(_) | StmtKind::Break | StmtKind::Continue => Vec::new(),
        }
    }
}

/// Hands on every expression of some statements, those below others included.
pub(crate) fn each<'t>(statements: &'t [Stmt], visit: &mut dyn FnMut(&'t Expr)) {
    fn descend<'t>(one: &'t Expr, visit: &mut dyn FnMut(&'t Expr)) {
        visit(one);
        one.children().into_iter().for_each(|child| descend(child, visit));
    }
    for statement in statements {
        statement.expressions().into_iter().for_each(|one| descend(one, visit));
        statement.bodies().into_iter().for_each(|body| each(body, visit));
    }
}
