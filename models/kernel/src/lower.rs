//! From the typed tree to instructions. Helpers are written out where they are called.
//!
//! Statements: masks go down and up again at the places that the text nests.

mod expression;
mod memory;
mod size;

use crate::bytecode::{
    Array, BranchKind, Code, DebugVariable, InitialValue, Instr, MaskOp, Pc, Reg, VariableHome,
};
use crate::diagnostic::{Diagnostic, Place};
use crate::typed_ast::{Expr, Function, Program, Shared, Stmt, StmtKind, Test};
use crate::types::Type;
use std::collections::BTreeMap;

/// Instructions a kernel may have once its helpers are written out.
const MOST: usize = 60_000;

/// Registers of a kind; far more than a device has, and within reach of a register's number.
const MOST_REGISTERS: usize = 16_000;

/// Where a variable of the function at hand lives.
#[derive(Clone, Copy)]
struct Residence {
    home: VariableHome,
    /// The slot that reads are checked against; none where a value cannot be missing.
    slot: Option<Reg>,
    /// The slot that tells people who look whether there is a value yet; the same where there are both.
    mark: Option<Reg>,
    /// Whether a pointer variable is the same in all lanes for good.
    uniform: bool,
    /// Of an array in the thread's own memory, its number in [`Code::arrays`].
    array: Option<u16>,
}

struct Lowering<'a> {
    program: &'a Program,
    code: Code,
    /// The registers of `code.presets`.
    presets: BTreeMap<InitialValue, Reg>,
    narrow: RegisterStack,
    wide: RegisterStack,
    homes: Vec<Residence>,
    /// Of each nested construct, jumps to its next reconvergence point.
    reconvergences: Vec<Vec<Pc>>,
    /// Calls that are being written out, and where each leaves its value.
    calls: Vec<Option<Reg>>,
    function: usize,
    at: Place,
}

/// Registers of one kind: those with presets first, then a stack.
#[derive(Default)]
struct RegisterStack {
    preset: usize,
    next: usize,
    most: usize,
}

impl RegisterStack {
    fn take(&mut self) -> Reg {
        let reg = self.next;
        self.next += 1;
        self.most = self.most.max(self.next);
        number(reg)
    }
}

/// A register or slot by its number; what does not fit is refused at the end.
fn number(of: usize) -> Reg {
    of.min(usize::from(Reg::MAX)) as Reg
}

/// Writes a program out.
///
/// # Errors
/// It becomes too long.
pub(super) fn lower(program: &Program) -> Result<Code, Vec<Diagnostic>> {
    size::require_bounded(program).map_err(|complaint| vec![complaint])?;
    // How many registers have presets is known only at the end, and they come first: the second pass knows.
    let presets = Lowering::run(program, [0, 0]).map(|first| [first.narrow, first.wide])?;
    Ok(Lowering::run(program, presets.map(|registers| registers.preset))?.code)
}

impl<'a> Lowering<'a> {
    fn run(program: &'a Program, presets: [usize; 2]) -> Result<Self, Vec<Diagnostic>> {
        let [narrow, wide] = presets.map(|next| RegisterStack { preset: 0, next, most: next });
        let ends = program.shared.iter().filter(|shared| shared.bytes > 0);
        let ends = ends.map(|shared| shared.offset + shared.bytes);
        // An `extern` array ends where shared memory does.
        let end = |shared: &Shared| match shared.bytes {
            0 => u32::MAX,
            bytes => shared.offset + bytes,
        };
        let arrays = program
            .shared
            .iter()
            .map(|shared| Array { name: shared.name.clone(), bytes: shared.offset..end(shared) });
        let code = Code {
            name: program.name.clone(),
            params: program.params.clone(),
            globals: program.globals.clone(),
            shared: program.shared.clone(),
            arrays: arrays.collect(),
            is_fenced: program.fence.is_some(),
            has_numbered_addresses: program.has_numbered_addresses,
            static_shared: ends.max().unwrap_or(0),
            ..Code::default()
        };
        let mut lowering = Self {
            program,
            code,
            presets: BTreeMap::new(),
            narrow,
            wide,
            homes: Vec::new(),
            reconvergences: Vec::new(),
            calls: Vec::new(),
            function: program.kernel,
            at: Place::default(),
        };
        lowering.kernel(&program.functions[program.kernel]);
        let Self { code, narrow, wide, .. } = &mut lowering;
        (code.narrow, code.wide) = (narrow.most, wide.most);
        if code.instrs.len() > MOST
            || code.narrow.max(code.wide) > MOST_REGISTERS
            || code.local > 4 * crate::check::MOST_LOCAL as usize
        {
            let place = Place { line: 1, column: 1 };
            return Err(vec![Diagnostic::new(
                place,
                "with its helpers inlined, this kernel has too many instructions, registers or bytes of arrays",
                "call helpers less often, in a loop, and give them fewer arrays of their own",
            )]);
        }
        Ok(lowering)
    }

    fn kernel(&mut self, kernel: &Function) {
        self.enter(kernel);
        for (index, variable) in kernel.variables.iter().take(kernel.params).enumerate() {
            self.at = variable.place;
            let given = self.preset(if variable.ty.is_wide() {
                InitialValue::WideParam(index)
            } else {
                InitialValue::Param(index)
            });
            // An argument that nothing changes is read where it was given.
            if !variable.in_memory && !variable.is_changed {
                let home = VariableHome::Register(given);
                let none = Residence { home, slot: None, mark: None, uniform: true, array: None };
                self.homes[index] = none;
                self.code.shown[index].home = home;
            } else {
                self.write_home(index, variable.ty, given);
            }
        }
        self.nested(|lowering| lowering.statements(&kernel.body));
        self.emit_mask(MaskOp::End);
        self.leave(0);
    }

    /// Gives the variables of a function their homes.
    fn enter(&mut self, function: &Function) {
        let from = self.here();
        self.homes = Vec::new();
        for (index, variable) in function.variables.iter().enumerate() {
            let home = self.home(variable);
            // What lies in memory has its own marks of what was written, and an argument has a value from the start.
            let marked = !variable.in_memory && index >= function.params;
            let mark = marked.then(|| number(self.code.slots));
            self.code.slots += usize::from(marked);
            let slot = mark.filter(|_| !variable.has_value);
            let array = self.array(variable, home);
            self.homes.push(Residence { home, slot, mark, uniform: false, array });
            let (name, ty) = (variable.name.clone(), variable.ty);
            let shown = DebugVariable { name, ty, home, from, to: from, slot: mark };
            self.code.shown.push(shown);
        }
    }

    fn leave(&mut self, first: usize) {
        let (to, count) = (self.here(), self.homes.len());
        self.code.shown[first..][..count].iter_mut().for_each(|shown| shown.to = to);
    }

    fn here(&self) -> Pc {
        self.code.instrs.len() as Pc
    }

    fn emit(&mut self, instr: Instr) -> Pc {
        let pc = self.here();
        if self.code.instrs.len() <= MOST {
            self.code.instrs.push(instr);
            self.code.places.push(self.at);
        }
        pc
    }

    fn emit_mask(&mut self, op: MaskOp) -> Pc {
        self.emit(Instr::Mask(op, 0))
    }

    /// Emits a jump to the next reconvergence point.
    fn emit_skip(&mut self, op: MaskOp) {
        let pc = self.emit_mask(op);
        if let Some(skips) = self.reconvergences.last_mut() {
            skips.push(pc);
        }
    }

    /// A reconvergence point: pending jumps come here.
    fn reconverge(&mut self) {
        let skips = self.reconvergences.last_mut().map_or_else(Vec::new, std::mem::take);
        skips.into_iter().for_each(|pc| self.patch(pc));
    }

    /// Runs with a reconvergence point of its own at the end.
    fn nested(&mut self, run: impl FnOnce(&mut Self)) {
        self.reconvergences.push(Vec::new());
        run(self);
        self.reconverge();
        self.reconvergences.pop();
    }

    /// Runs with registers of intermediate results that end with it.
    fn scratch<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let (narrow, wide) = (self.narrow.next, self.wide.next);
        let result = run(self);
        (self.narrow.next, self.wide.next) = (narrow, wide);
        result
    }

    /// Lets a jump go to the next instruction.
    fn patch(&mut self, pc: Pc) {
        let here = self.here();
        if let Some(
            Instr::If { otherwise: target, .. }
            | Instr::LoopTest { end: target, .. }
            | Instr::Mask(_, target),
        ) = self.code.instrs.get_mut(pc as usize)
        {
            *target = here;
        }
    }

    fn preset(&mut self, preset: InitialValue) -> Reg {
        if let Some(reg) = self.presets.get(&preset) {
            return *reg;
        }
        let bump = if preset.is_wide() { &mut self.wide } else { &mut self.narrow };
        let reg = number(bump.preset);
        bump.preset += 1;
        self.presets.insert(preset, reg);
        self.code.presets.push((reg, preset));
        reg
    }

    fn register(&mut self, ty: Type) -> Reg {
        if ty.is_wide() { self.wide.take() } else { self.narrow.take() }
    }

    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.scratch(|lowering| lowering.statement(statement));
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        self.at = statement.place;
        match &statement.kind {
            StmtKind::Declare(index, value) => self.declare(*index, value.as_ref()),
            StmtKind::Fill(index, values) => self.fill(*index, values),
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::Block(statements) => self.statements(statements),
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.value(condition);
                self.at = statement.place;
                self.branch(
                    condition,
                    BranchKind::Branch,
                    |lowering| lowering.statements(then),
                    (!otherwise.is_empty())
                        .then_some(|lowering: &mut Self| lowering.statements(otherwise)),
                );
            }
            StmtKind::Loop { test, step, body } => {
                self.loop_statement(statement, test.as_ref(), step.as_ref(), body)
            }
            StmtKind::Break => self.emit_skip(MaskOp::Break),
            StmtKind::Continue => self.emit_skip(MaskOp::Continue),
            StmtKind::Return(value) => self.return_statement(statement, value.as_ref()),
        }
    }

    /// `if`, `&&`, `||` and `?:` alike: lanes go two ways and come together.
    pub(super) fn branch(
        &mut self,
        condition: Reg,
        how: BranchKind,
        then: impl FnOnce(&mut Self),
        otherwise: Option<impl FnOnce(&mut Self)>,
    ) {
        let at = self.at;
        let mut jump = self.emit(Instr::If { condition, otherwise: 0, how });
        self.nested(|lowering| {
            then(lowering);
            lowering.at = at;
            if let Some(otherwise) = otherwise {
                lowering.reconverge();
                let skip = lowering.emit_mask(MaskOp::Else);
                lowering.patch(jump);
                jump = skip;
                otherwise(lowering);
                lowering.at = at;
            }
        });
        self.patch(jump);
        self.emit_skip(MaskOp::EndIf);
    }

    fn loop_statement(
        &mut self,
        statement: &Stmt,
        test: Option<&(Expr, Test)>,
        step: Option<&Expr>,
        body: &[Stmt],
    ) {
        self.emit_mask(MaskOp::LoopEnter);
        let top = self.here();
        let check = |lowering: &mut Self, when: Test| {
            let (condition, _) = test.filter(|(_, known)| *known == when)?;
            lowering.at = condition.place;
            Some(lowering.scratch(|lowering| {
                let condition = lowering.value(condition);
                lowering.emit(Instr::LoopTest { condition, end: 0 })
            }))
        };
        let before = check(self, Test::Before);
        self.nested(|lowering| lowering.statements(body));
        self.at = statement.place;
        let next = self.emit_mask(MaskOp::LoopNext);
        let after = check(self, Test::After);
        if let Some(step) = step {
            self.at = step.place;
            self.scratch(|lowering| lowering.effect(step));
        }
        self.at = statement.place;
        self.emit(Instr::LoopBack { top });
        [before, Some(next), after].into_iter().flatten().for_each(|leave| self.patch(leave));
        self.emit_skip(MaskOp::LoopEnd);
    }

    fn return_statement(&mut self, statement: &Stmt, value: Option<&Expr>) {
        let into = self.calls.last().copied();
        if let Some(value) = value {
            let into = into.flatten();
            let given = self.value_into(value, into);
            if let Some(into) = into.filter(|into| *into != given) {
                self.move_to(value.ty, into, given);
            }
        }
        self.at = statement.place;
        self.emit_skip(if into.is_some() { MaskOp::Return } else { MaskOp::Exit });
    }

    fn declare(&mut self, index: usize, value: Option<&Expr>) {
        let variable = &self.program.functions[self.function].variables[index];
        let Residence { home, slot, mark, .. } = self.homes[index];
        let Some(value) = value else { return self.note(slot, MaskOp::Forget) };
        let into = home.register();
        let given = self.value_into(value, into);
        self.at = variable.place;
        if into != Some(given) {
            self.write_home(index, variable.ty, given);
        }
        // From here on there is a value to show; later assignments change only which.
        self.note(mark, MaskOp::Learn);
    }

    fn fill(&mut self, index: usize, values: &[Expr]) {
        let ty = self.program.functions[self.function].variables[index].ty;
        let Type::Array { of, extents, .. } = ty else { return };
        for element in 0..extents.elements() {
            self.scratch(|lowering| {
                let from = match values.get(element as usize) {
                    Some(value) => lowering.value(value),
                    None => lowering.zero(of),
                };
                if let VariableHome::Local(offset) = lowering.homes[index].home {
                    let at = lowering.local_at(offset + element as u32 * of.bytes());
                    lowering.emit(Instr::Store { ty: of, from, at });
                }
            });
        }
    }
}
