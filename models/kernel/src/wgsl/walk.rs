//! Walking through a typed tree.

use super::super::typed::{Expr, Kind, Program, Stmt, StmtKind, Target};

/// The expressions right below one.
pub(super) fn children(expr: &Expr) -> Vec<&Expr> {
    fn target(target: &Target) -> Vec<&Expr> {
        match target {
            Target::Variable(_) => Vec::new(),
            Target::Memory(address) => vec![address],
        }
    }
    match &expr.kind {
        Kind::Whole(_)
        | Kind::Real(_)
        | Kind::Variable(_)
        | Kind::Special(..)
        | Kind::WarpSize
        | Kind::Shared(_)
        | Kind::Local(_)
        | Kind::Barrier => Vec::new(),
        Kind::Load(a) | Kind::Convert(a) | Kind::Negate(a) | Kind::Complement(a) | Kind::Not(a) => {
            vec![a]
        }
        Kind::Offset(a, b)
        | Kind::Distance(a, b)
        | Kind::Arithmetic(_, a, b)
        | Kind::Compare(_, a, b)
        | Kind::And(a, b)
        | Kind::Or(a, b)
        | Kind::Comma(a, b) => vec![a, b],
        Kind::Conditional(a, b, c) => vec![a, b, c],
        Kind::Assign(to, value) => [target(to), vec![value]].concat(),
        Kind::Update(to, _, value, _) => [target(to), vec![value]].concat(),
        Kind::Call(_, list)
        | Kind::Math(_, list)
        | Kind::Shuffle(_, list)
        | Kind::Vote(_, list) => list.iter().collect(),
        Kind::Atomic(_, address, list) => std::iter::once(address.as_ref()).chain(list).collect(),
        Kind::WarpBarrier(mask) => mask.as_deref().into_iter().collect(),
    }
}

/// Whether an expression, or any below it, is such.
pub(super) fn any(expr: &Expr, is: &dyn Fn(&Expr) -> bool) -> bool {
    is(expr) || children(expr).into_iter().any(|child| any(child, is))
}

/// Whether evaluating it changes anything, or happens together with other threads.
pub(super) fn has_effect(expr: &Expr) -> bool {
    any(expr, &|expr| {
        matches!(
            expr.kind,
            Kind::Assign(..)
                | Kind::Update(..)
                | Kind::Call(..)
                | Kind::Atomic(..)
                | Kind::Shuffle(..)
                | Kind::Vote(..)
                | Kind::Barrier
                | Kind::WarpBarrier(_)
        )
    })
}

/// Hands on every expression of some statements, those below others included.
pub(super) fn each<'t>(statements: &'t [Stmt], visit: &mut dyn FnMut(&'t Expr)) {
    fn expr<'t>(one: &'t Expr, visit: &mut dyn FnMut(&'t Expr)) {
        visit(one);
        children(one).into_iter().for_each(|child| expr(child, visit));
    }
    for statement in statements {
        match &statement.kind {
            StmtKind::Declare(_, value) | StmtKind::Return(value) => {
                value.iter().for_each(|one| expr(one, visit))
            }
            StmtKind::Fill(_, values) => values.iter().for_each(|one| expr(one, visit)),
            StmtKind::Expr(value) => expr(value, visit),
            StmtKind::If(condition, then, otherwise) => {
                expr(condition, visit);
                each(then, visit);
                each(otherwise, visit);
            }
            StmtKind::Loop { test, step, body } => {
                let tests = test.iter().map(|(test, _)| test);
                tests.chain(step).for_each(|one| expr(one, visit));
                each(body, visit);
            }
            StmtKind::Block(inner) => {
                each(inner, visit);
            }
            StmtKind::Break | StmtKind::Continue => {}
        }
    }
}

/// Whether a function, or one it calls, asks for its place in the grid.
pub(super) fn knows_place(program: &Program, function: usize) -> bool {
    let mut knows = false;
    each(&program.functions[function].body, &mut |expr| {
        // Calls go to functions that are defined before, so that this ends.
        knows |= if let Kind::Call(called, _) = expr.kind {
            called < function && knows_place(program, called)
        } else {
            matches!(expr.kind, Kind::Special(..))
        };
    });
    knows
}
