//! Loops of a symbolic thread.
//!
//! A loop with variables that advance by the same amount in every iteration is walked through once, for iteration `k`: a
//! variable that began at `v` and advances by `c` is `v + c * k`. If there are barriers in it, all threads of a block
//! must make the same iterations, and the barriers passed before a place of iteration `k` are `e + m * k + s`, with `m`
//! of them in an iteration. Other loops are unrolled while their condition can hold (a size halved ten times is 0 for
//! every block). What is left is a loop without barriers, with variables that are taken for unknown from the first iteration
//! on.

use crate::proof::executor::{Executor, LoopParts};
use crate::proof::polynomial::{Formula, Polynomial};
use crate::proof::state::{Checked, Flow, State, Value, undecided};
use crate::proof::symbols::Scope;
use crate::typed_ast::{
    CompoundOp, Expr, Index, Kind, Operation, Stmt, StmtKind, Target, Test, each,
};
use std::collections::{BTreeMap, BTreeSet};

/// Iterations that a loop is unrolled into.
const MOST_ITERATIONS: usize = 40;

/// A variable that every iteration moves by the same amount.
struct Advance {
    by: Polynomial,
}

impl Executor<'_> {
    pub(super) fn repeat(&mut self, state: State, parts: &LoopParts<'_>) -> Checked<Flow> {
        let barrier = self.has_barrier(parts.body)
            || parts.step.is_some_and(|step| self.has_barrier_in(step))
            || parts.test.is_some_and(|(test, _)| self.has_barrier_in(test));
        let changed = changed(parts);
        let advances = self.advances(&state, parts, &changed)?;
        let declared = declared(parts.body);
        let whole = |index: &Index| {
            let ty = self.variable(*index).ty;
            ty.scalar().is_none_or(|scalar| !scalar.is_real())
        };
        let regular = changed
            .iter()
            .filter(|index| whole(index) && !declared.contains(index))
            .all(|index| advances.contains_key(index));
        let tested = parts.test.is_some_and(|(test, _)| {
            test.any(&|expr| {
                matches!(&expr.kind, Kind::Variable(index)
                if changed.contains(index) && !advances.contains_key(index))
            })
        });
        if barrier && regular {
            return self.iterations_with_barriers(state, parts, &changed, &advances);
        }
        if barrier || (tested && !regular) {
            let kept = (self.sites.len(), self.recording);
            match self.unroll(state.clone(), parts, barrier) {
                Err(_) if !barrier => {
                    self.sites.truncate(kept.0);
                    self.recording = kept.1;
                }
                flow => return flow,
            }
        }
        self.iterations(state, parts, &changed, &advances)
    }

    /// The states at the head of iteration `k`.
    fn head(
        &mut self,
        state: &State,
        iteration: &Polynomial,
        changed: &BTreeSet<Index>,
        advances: &BTreeMap<Index, Advance>,
    ) -> State {
        let mut head = state.clone();
        for index in changed {
            let ty = self.variable(*index).ty;
            let moved = advances.get(index).and_then(|advance| {
                let by = advance.by.times(iteration);
                let moved = match &state.variables[*index] {
                    Value::Whole(first) => Value::Whole(first.plus(&by)),
                    Value::Address(array, first) => Value::Address(*array, first.plus(&by)),
                    Value::Truth(_) | Value::Other => return None,
                };
                by.is_moderate().then_some(moved)
            });
            head.variables[*index] = match moved {
                Some(moved) => moved,
                None => self.unknown(ty),
            };
        }
        head
    }

    fn iterations(
        &mut self,
        state: State,
        parts: &LoopParts<'_>,
        changed: &BTreeSet<Index>,
        advances: &BTreeMap<Index, Advance>,
    ) -> Checked<Flow> {
        let iteration = Polynomial::symbol(self.symbols.natural(Scope::Thread));
        let mut head = self.head(&state, &iteration, changed, advances);
        if let Some((test, Test::Before)) = parts.test {
            let holds = self.condition(&mut head, test)?;
            head.path.push(holds);
        }
        let mut returns = Vec::new();
        let mut left = parts.test.is_none();
        if !self.symbols.contradict(head.path.clone(), Scope::Thread) {
            let base = head.path.len();
            let flow = self.statements(head, parts.body)?;
            returns = flow.returns;
            left |= !flow.breaks.is_empty();
            let ends = flow.next.into_iter().chain(flow.continues).collect();
            if let Some(mut end) = self.symbols.merge(base, ends) {
                if let Some(step) = parts.step {
                    self.evaluate(&mut end, step)?;
                }
                if let Some((test, Test::After)) = parts.test {
                    self.condition(&mut end, test)?;
                }
            }
        }
        // Behind it: some number of iterations later, at which the condition no longer holds unless a break left it.
        let iterations = Polynomial::symbol(self.symbols.natural(Scope::Thread));
        // A break may leave an iteration half done, so that not all variables have advanced as often.
        let none = BTreeMap::new();
        let advances = if left { &none } else { advances };
        let mut after = self.head(&state, &iterations, changed, advances);
        if let Some((test, Test::Before)) = parts.test
            && !left
        {
            let recording = std::mem::replace(&mut self.recording, false);
            let holds = self.condition(&mut after, test);
            self.recording = recording;
            after.path.push(holds?.negated());
        }
        Ok(Flow { next: Some(after), returns, ..Flow::default() })
    }

    fn iterations_with_barriers(
        &mut self,
        state: State,
        parts: &LoopParts<'_>,
        changed: &BTreeSet<Index>,
        advances: &BTreeMap<Index, Advance>,
    ) -> Checked<Flow> {
        let Some((test, Test::Before)) = parts.test else {
            return undecided(parts.place, "a loop with a barrier that tests at its end, or never");
        };
        if test.any(&|expr| matches!(expr.kind, Kind::Load(_) | Kind::Atomic(..))) {
            let sentence = "a loop with a barrier whose condition reads memory";
            return undecided(test.place, sentence);
        }
        let iteration = Polynomial::symbol(self.symbols.natural(Scope::Iteration));
        let mut head = self.head(&state, &iteration, changed, advances);
        let holds = self.condition(&mut head, test)?;
        if !self.is_uniform(&head, &holds) {
            let sentence = "not all threads of a block need make the same iterations of this loop, and a barrier is in it";
            return undecided(test.place, sentence);
        }
        let iterations = Polynomial::symbol(self.symbols.natural(Scope::Block));
        head.path.extend([holds, Formula::less(&iteration, &iterations)]);
        let once = |executor: &mut Self, head: State| -> Checked<State> {
            let (base, place) = (head.path.len(), parts.place);
            let flow = executor.statements(head, parts.body)?;
            if !flow.breaks.is_empty() || !flow.returns.is_empty() {
                return undecided(place, "a loop with a barrier that a thread may leave early");
            }
            let ends = flow.next.into_iter().chain(flow.continues).collect();
            let Some(mut end) = executor.symbols.merge(base, ends) else {
                return undecided(place, "a loop with a barrier that does not come round");
            };
            if let Some(step) = parts.step {
                executor.evaluate(&mut end, step)?;
            }
            Ok(end)
        };
        // Once to count the barriers of an iteration, and once with the count.
        let recording = std::mem::replace(&mut self.recording, false);
        let counted = once(self, head.clone());
        self.recording = recording;
        let Some(barriers) = counted?.epoch.minus(&head.epoch).known() else {
            return undecided(
                parts.place,
                "a loop with different numbers of barriers in its iterations",
            );
        };
        head.epoch = head.epoch.plus(&iteration.times_number(barriers));
        once(self, head)?;
        let mut after = self.head(&state, &iterations, changed, advances);
        after.epoch = state.epoch.plus(&iterations.times_number(barriers));
        let recording = std::mem::replace(&mut self.recording, false);
        let holds = self.condition(&mut after, test);
        self.recording = recording;
        after.path.push(holds?.negated());
        Ok(Flow { next: Some(after), ..Flow::default() })
    }

    /// Iteration after iteration, as long as the condition can hold.
    fn unroll(&mut self, state: State, parts: &LoopParts<'_>, barrier: bool) -> Checked<Flow> {
        let base = state.path.len();
        let mut at = Some(state);
        let mut ends = Vec::new();
        let mut returns = Vec::new();
        for iteration in 0..=MOST_ITERATIONS {
            let Some(mut head) = at.take() else { break };
            let tests = match parts.test {
                Some((test, Test::Before)) => Some(test),
                Some((test, Test::After)) if iteration > 0 => Some(test),
                Some((_, Test::After)) | None => None,
            };
            if let Some(test) = tests {
                let holds = self.condition(&mut head, test)?;
                if barrier && !self.is_uniform(&head, &holds) {
                    let sentence = "not all threads of a block need make the same iterations of this loop, and a barrier is in it";
                    return undecided(test.place, sentence);
                }
                let leaves = head.under(holds.negated());
                if !self.symbols.contradict(leaves.path.clone(), Scope::Thread) {
                    ends.push(leaves);
                }
                head.path.push(holds);
                if self.symbols.contradict(head.path.clone(), Scope::Thread) {
                    break;
                }
            }
            if iteration == MOST_ITERATIONS {
                return undecided(parts.place, "a loop that is neither regular nor short");
            }
            let length = head.path.len();
            let flow = self.statements(head, parts.body)?;
            if barrier && !(flow.breaks.is_empty() && flow.continues.is_empty()) {
                return undecided(
                    parts.place,
                    "a loop with a barrier that a thread may leave early",
                );
            }
            ends.extend(flow.breaks);
            returns.extend(flow.returns);
            let next = flow.next.into_iter().chain(flow.continues).collect();
            at = self.symbols.merge(length, next);
            if let (Some(end), Some(step)) = (&mut at, parts.step) {
                self.evaluate(end, step)?;
            }
        }
        Ok(Flow { next: self.symbols.merge(base, ends), returns, ..Flow::default() })
    }

    /// Changed variables of which one statement of each iteration, and nothing else, adds what does not change.
    fn advances(
        &mut self,
        state: &State,
        parts: &LoopParts<'_>,
        changed: &BTreeSet<Index>,
    ) -> Checked<BTreeMap<Index, Advance>> {
        let mut counts: BTreeMap<Index, usize> = BTreeMap::new();
        for_each(parts, &mut |expr| {
            if let Kind::Assign(Target::Variable(index), _)
            | Kind::Update(Target::Variable(index), ..) = &expr.kind
            {
                *counts.entry(*index).or_default() += 1;
            }
        });
        let mut continues = false;
        any_statement(parts.body, &mut |kind| continues |= matches!(kind, StmtKind::Continue));
        let mut found = BTreeMap::new();
        let top = parts.body.iter().filter(|_| !continues).filter_map(|statement| {
            if let StmtKind::Expr(expr) = &statement.kind { Some(expr) } else { None }
        });
        let mut open: Vec<&Expr> = top.chain(parts.step).collect();
        while let Some(expr) = open.pop() {
            if let Kind::Comma(left, right) = &expr.kind {
                open.extend([&**left, &**right]);
                continue;
            }
            let Some((index, by, backward)) = addition(expr) else { continue };
            let moves = |expr: &Expr| {
                matches!(&expr.kind, Kind::Variable(index) if changed.contains(index))
                    || matches!(expr.kind, Kind::Load(_))
            };
            let fixed = !by.has_effect() && !by.any(&moves);
            if !fixed || counts.get(&index) != Some(&1) || self.variable(index).in_memory {
                continue;
            }
            let Value::Whole(by) = self.evaluate(&mut state.clone(), by)? else { continue };
            let by = if backward { by.times_number(-1) } else { by };
            found.insert(index, Advance { by });
        }
        Ok(found)
    }
}

/// The variable and the amount of `i += c`, `i++`, `i = i + c`, and whether it is taken away.
fn addition(expr: &Expr) -> Option<(Index, &Expr, bool)> {
    if let Kind::Update(Target::Variable(index), operation, by, _) = &expr.kind {
        return match operation {
            CompoundOp::Advance | CompoundOp::Arithmetic(Operation::Add, _) => {
                Some((*index, by, false))
            }
            CompoundOp::Arithmetic(Operation::Subtract, _) => Some((*index, by, true)),
            CompoundOp::Arithmetic(..) => None,
        };
    }
    let Kind::Assign(Target::Variable(index), value) = &expr.kind else { return None };
    let own = |expr: &Expr| matches!(&bare(expr).kind, Kind::Variable(own) if own == index);
    let value = bare(value);
    if let Kind::Offset(left, right) = &value.kind {
        return own(left).then_some((*index, right, false));
    }
    let Kind::Arithmetic(operation, left, right) = &value.kind else { return None };
    if *operation == Operation::Add {
        let by = if own(left) { Some(right) } else { own(right).then_some(left) };
        return by.map(|by| (*index, &**by, false));
    }
    (*operation == Operation::Subtract && own(left)).then_some((*index, right, true))
}

fn bare(mut expr: &Expr) -> &Expr {
    while let Kind::Convert(of) = &expr.kind {
        expr = of;
    }
    expr
}

fn for_each<'p>(parts: &LoopParts<'p>, visit: &mut dyn FnMut(&'p Expr)) {
    each(parts.body, visit);
    for expr in parts.test.iter().map(|(test, _)| *test).chain(parts.step) {
        // An expression has no statements, so that it is walked through by itself.
        walk(expr, visit);
    }
}

fn walk<'p>(expr: &'p Expr, visit: &mut dyn FnMut(&'p Expr)) {
    visit(expr);
    expr.children().into_iter().for_each(|child| walk(child, visit));
}

fn any_statement(statements: &[Stmt], visit: &mut dyn FnMut(&StmtKind)) {
    for statement in statements {
        visit(&statement.kind);
        statement.bodies().into_iter().for_each(|body| any_statement(body, visit));
    }
}

fn declared(body: &[Stmt]) -> BTreeSet<Index> {
    let mut found = BTreeSet::new();
    any_statement(body, &mut |kind| {
        if let StmtKind::Declare(index, _) | StmtKind::Fill(index, _) = kind {
            found.insert(*index);
        }
    });
    found
}

/// Variables that an iteration may change, those declared in it included.
fn changed(parts: &LoopParts<'_>) -> BTreeSet<Index> {
    let mut found = declared(parts.body);
    for_each(parts, &mut |expr| {
        if let Kind::Assign(Target::Variable(index), _)
        | Kind::Update(Target::Variable(index), ..) = &expr.kind
        {
            found.insert(*index);
        }
    });
    found
}
