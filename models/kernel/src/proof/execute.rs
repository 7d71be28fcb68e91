//! Statements of a symbolic thread: branches, loops and calls, and the barriers between them.

use crate::diagnostic::Place;
use crate::proof::executor::{Executor, LoopParts, MOST_SITES};
use crate::proof::model::Model;
use crate::proof::polynomial::{Formula, Polynomial};
use crate::proof::state::{Checked, Flow, Site, State, Value, undecided};
use crate::proof::symbols::{Scope, Symbols, Thread};
use crate::typed_ast::{Expr, Index, Kind, Program, Stmt, StmtKind, Variable};
use crate::types::Type;

/// Statements that are walked through, loops that are unrolled included.
const MOST_STATEMENTS: u32 = 20_000;

impl<'p> Executor<'p> {
    /// All accesses of any thread of the kernel, and what is known of the symbols in them.
    pub(super) fn run(
        program: &'p Program,
        model: &'p Model,
        symbols: Symbols,
    ) -> Checked<(Vec<Site>, Symbols)> {
        let function = program.kernel;
        let mut executor = Self {
            program,
            model,
            symbols,
            sites: Vec::new(),
            recording: true,
            function,
            depth: 0,
            statements: 0,
        };
        let kernel = &program.functions[function];
        let mut variables = model.parameters.clone();
        variables.resize(kernel.variables.len().max(variables.len()), Value::Other);
        let state = State { variables, path: Vec::new(), epoch: Polynomial::default() };
        executor.statements(state, &kernel.body)?;
        Ok((executor.sites, executor.symbols))
    }

    pub(super) fn variable(&self, index: Index) -> &Variable {
        &self.program.functions[self.function].variables[index]
    }

    /// Whether threads in this state are sure that it holds.
    pub(super) fn holds(&self, state: &State, formula: Formula) -> bool {
        let mut all = state.path.clone();
        all.push(formula.negated());
        formula.is_tracked() && self.symbols.contradict(all, Scope::Thread)
    }

    fn never(&self, state: &State) -> bool {
        self.symbols.contradict(state.path.clone(), Scope::Thread)
    }

    /// Whether all threads of a block that come here agree.
    pub(super) fn is_uniform(&self, state: &State, condition: &Formula) -> bool {
        if self.symbols.scope_of_formula(condition) <= Scope::Iteration {
            return true;
        }
        if !condition.is_tracked() {
            return false;
        }
        let shared = Scope::Iteration;
        let of = |thread, formula: &Formula| self.symbols.rename_formula(formula, thread, shared);
        let paths = [Thread::First, Thread::Second]
            .into_iter()
            .flat_map(|thread| state.path.iter().map(move |formula| of(thread, formula)));
        let mut all: Vec<Formula> = paths.collect();
        all.push(of(Thread::First, condition));
        all.push(of(Thread::Second, &condition.negated()));
        self.symbols.contradict(all, shared)
    }

    pub(super) fn has_barrier(&self, statements: &[Stmt]) -> bool {
        let mut found = false;
        crate::typed_ast::each(statements, &mut |expr| found |= self.is_barrier(expr));
        found
    }

    pub(super) fn has_barrier_in(&self, expr: &Expr) -> bool {
        expr.any(&|expr| self.is_barrier(expr))
    }

    fn is_barrier(&self, expr: &Expr) -> bool {
        if let Kind::Call(index, _) = &expr.kind {
            return self.has_barrier(&self.program.functions[*index].body);
        }
        matches!(expr.kind, Kind::Barrier)
    }

    pub(super) fn statements(&mut self, state: State, statements: &[Stmt]) -> Checked<Flow> {
        let mut flow = Flow { next: Some(state), ..Flow::default() };
        for statement in statements {
            let Some(state) = flow.next.take() else { break };
            let Flow { next, breaks, continues, returns } = self.statement(state, statement)?;
            flow.next = next;
            flow.breaks.extend(breaks);
            flow.continues.extend(continues);
            flow.returns.extend(returns);
        }
        Ok(flow)
    }

    fn statement(&mut self, mut state: State, statement: &Stmt) -> Checked<Flow> {
        self.statements += 1;
        let place = statement.place;
        if self.statements > MOST_STATEMENTS || self.sites.len() > MOST_SITES {
            return undecided(place, "its loops are unrolled into too many statements");
        }
        let mut flow = Flow::default();
        match &statement.kind {
            StmtKind::Declare(index, value) => {
                let value = match value {
                    Some(value) => self.evaluate(&mut state, value)?,
                    None => Value::Other,
                };
                state.variables[*index] = value;
                flow.next = Some(state);
            }
            StmtKind::Fill(_, values) => {
                for value in values {
                    self.evaluate(&mut state, value)?;
                }
                flow.next = Some(state);
            }
            StmtKind::Expr(expr) => {
                self.evaluate(&mut state, expr)?;
                flow.next = Some(state);
            }
            StmtKind::If(condition, then, otherwise) => {
                let holds = self.condition(&mut state, condition)?;
                let barrier = self.has_barrier(then) || self.has_barrier(otherwise);
                if barrier && !self.is_uniform(&state, &holds) {
                    let sentence = "not all threads of a block need agree on this condition, and a barrier depends on it";
                    return undecided(condition.place, sentence);
                }
                return self.branch(&state, &holds, then, otherwise);
            }
            StmtKind::Loop { test, step, body } => {
                let parts = LoopParts {
                    test: test.as_ref().map(|(test, when)| (test, *when)),
                    step: step.as_ref(),
                    body,
                    place,
                };
                return self.repeat(state, &parts);
            }
            StmtKind::Block(statements) => return self.statements(state, statements),
            StmtKind::Break => flow.breaks.push(state),
            StmtKind::Continue => flow.continues.push(state),
            StmtKind::Return(value) => {
                let value = match value {
                    Some(value) => self.evaluate(&mut state, value)?,
                    None => Value::Other,
                };
                flow.returns.push((state, value));
            }
        }
        Ok(flow)
    }

    fn branch(
        &mut self,
        state: &State,
        holds: &Formula,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Checked<Flow> {
        let mut flow = Flow::default();
        let mut ends = Vec::new();
        for (condition, statements) in [(holds.clone(), then), (holds.negated(), otherwise)] {
            let inside = state.under(condition);
            // A way that no thread takes is left out; to look costs more than to go there if nothing is on it.
            if !statements.is_empty() && self.never(&inside) {
                continue;
            }
            let Flow { next, breaks, continues, returns } = self.statements(inside, statements)?;
            ends.extend(next);
            flow.breaks.extend(breaks);
            flow.continues.extend(continues);
            flow.returns.extend(returns);
        }
        flow.next = self.symbols.merge(state.path.len(), ends);
        Ok(flow)
    }

    /// A helper's body in place of its call.
    pub(super) fn call(
        &mut self,
        state: &mut State,
        index: Index,
        arguments: Vec<Value>,
        place: Place,
    ) -> Checked<Value> {
        let function = &self.program.functions[index];
        if self.depth > 16 {
            return undecided(place, "helpers call each other too deeply");
        }
        let (caller, base) = (self.function, state.path.len());
        let mut variables = arguments;
        variables.resize(function.variables.len().max(variables.len()), Value::Other);
        let kept = std::mem::replace(&mut state.variables, variables);
        self.function = index;
        self.depth += 1;
        let flow = self.statements(state.clone(), &function.body);
        self.depth -= 1;
        self.function = caller;
        let Flow { next, returns, .. } = flow?;
        let mut ends = returns;
        ends.extend(next.map(|state| (state, Value::Other)));
        if ends.len() > 1 && self.has_barrier(&function.body) {
            return undecided(place, "a helper with a barrier returns from several places");
        }
        // What it returned goes through the merge as a last variable.
        let ends = ends.into_iter().map(|(mut state, value)| {
            state.variables = vec![value];
            state
        });
        let Some(mut merged) = self.symbols.merge(base, ends.collect()) else {
            return undecided(place, "a helper that does not return");
        };
        let value = merged.variables.pop().unwrap_or(Value::Other);
        *state = State { variables: kept, ..merged };
        Ok(if function.result == Type::Void { Value::Other } else { value })
    }
}
