//! From the typed tree to instructions. Helpers are written out where they are called.
//!
//! Statements: masks go down and up again at the places that the text nests.

mod expression;
mod memory;

use crate::bytecode::{
    BranchKind, Code, DebugVariable, InitialValue, Instr, MaskOp, Pc, Reg, VariableHome,
};
use crate::diagnostic::{Diagnostic, Place};
use crate::typed_ast::{Expr, Function, Program, Shared, Stmt, StmtKind, Test, Variable};
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
}

struct Lowering<'a> {
    program: &'a Program,
    instrs: Vec<Instr>,
    places: Vec<Place>,
    presets: BTreeMap<InitialValue, Reg>,
    order: Vec<(Reg, InitialValue)>,
    narrow: RegisterStack,
    wide: RegisterStack,
    slots: usize,
    local: u32,
    shown: Vec<DebugVariable>,
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
        // What does not fit is refused at the end; until then numbers need only be numbers.
        reg.min(usize::from(Reg::MAX)) as Reg
    }
}

/// Writes a program out.
///
/// # Errors
/// It becomes too long, which only helpers that call helpers can do.
pub(super) fn lower(program: &Program) -> Result<Code, Vec<Diagnostic>> {
    // How many registers have presets is known only at the end, and they come first: the second pass knows.
    let first = Lowering::run(program, 0, 0)?;
    let (narrow, wide) = (first.narrow.preset, first.wide.preset);
    let done = Lowering::run(program, narrow, wide)?;
    Ok(done.code())
}

impl<'a> Lowering<'a> {
    fn run(program: &'a Program, narrow: usize, wide: usize) -> Result<Self, Vec<Diagnostic>> {
        let bump = |presets: usize| RegisterStack { preset: 0, next: presets, most: presets };
        let mut lowering = Self {
            program,
            instrs: Vec::new(),
            places: Vec::new(),
            presets: BTreeMap::new(),
            order: Vec::new(),
            narrow: bump(narrow),
            wide: bump(wide),
            slots: 0,
            local: 0,
            shown: Vec::new(),
            homes: Vec::new(),
            reconvergences: vec![Vec::new()],
            calls: Vec::new(),
            function: program.kernel,
            at: Place::default(),
        };
        let kernel = &program.functions[program.kernel];
        lowering.kernel(kernel);
        let registers = lowering.narrow.most.max(lowering.wide.most);
        if lowering.instrs.len() > MOST
            || registers > MOST_REGISTERS
            || lowering.local > 4 * crate::check::MOST_LOCAL
        {
            let place = Place { line: 1, column: 1 };
            return Err(vec![Diagnostic::new(
                place,
                "with its helpers written out, this kernel is too long",
                "call fewer helpers from helpers",
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
                self.homes[index] = Residence { home, slot: None, mark: None, uniform: true };
                self.shown[index].home = home;
            } else {
                self.write_home(index, variable.ty, given);
            }
        }
        self.statements(&kernel.body);
        self.reconverge();
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
            let mark = marked.then(|| self.mark());
            self.homes.push(Residence {
                home,
                slot: mark.filter(|_| !variable.has_value),
                mark,
                uniform: false,
            });
            self.shown.push(DebugVariable {
                name: variable.name.clone(),
                ty: variable.ty,
                home,
                from,
                to: from,
                slot: mark,
            });
        }
    }

    fn leave(&mut self, first: usize) {
        let to = self.here();
        let count = self.homes.len();
        for shown in &mut self.shown[first..first + count] {
            shown.to = to;
        }
    }

    fn home(&mut self, variable: &Variable) -> VariableHome {
        match (variable.in_memory, variable.ty) {
            (true, Type::Array { of, extents, .. }) => self.local(
                extents.elements().min(u64::from(u32::MAX / 16)) as u32 * of.bytes(),
                of.bytes(),
            ),
            (true, ty) => {
                let bytes = ty.scalar().map_or(8, |scalar| scalar.bytes());
                self.local(bytes, bytes)
            }
            (false, ty) if ty.is_wide() => VariableHome::Register(self.wide.take()),
            (false, _) => VariableHome::Register(self.narrow.take()),
        }
    }

    fn mark(&mut self) -> Reg {
        self.slots += 1;
        (self.slots - 1).min(usize::from(Reg::MAX)) as Reg
    }

    fn local(&mut self, bytes: u32, align: u32) -> VariableHome {
        let offset = self.local.next_multiple_of(align.max(1));
        self.local = offset.saturating_add(bytes).min(u32::MAX / 2);
        VariableHome::Local(offset)
    }

    fn here(&self) -> Pc {
        self.instrs.len() as Pc
    }

    fn emit(&mut self, instr: Instr) -> Pc {
        let pc = self.here();
        if self.instrs.len() <= MOST {
            self.instrs.push(instr);
            self.places.push(self.at);
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
    fn reconverge(&mut self) -> Pc {
        let at = self.here();
        let skips = self.reconvergences.last_mut().map_or_else(Vec::new, std::mem::take);
        skips.into_iter().for_each(|pc| self.patch(pc, at));
        at
    }

    /// Runs with registers of intermediate results that end with it.
    fn scratch<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let (narrow, wide) = (self.narrow.next, self.wide.next);
        let result = run(self);
        (self.narrow.next, self.wide.next) = (narrow, wide);
        result
    }

    fn patch(&mut self, pc: Pc, to: Pc) {
        if let Some(
            Instr::If { otherwise: target, .. }
            | Instr::LoopTest { end: target, .. }
            | Instr::Mask(_, target),
        ) = self.instrs.get_mut(pc as usize)
        {
            *target = to;
        }
    }

    fn preset(&mut self, preset: InitialValue) -> Reg {
        if let Some(reg) = self.presets.get(&preset) {
            return *reg;
        }
        let bump = if preset.is_wide() { &mut self.wide } else { &mut self.narrow };
        let reg = bump.preset.min(usize::from(Reg::MAX)) as Reg;
        bump.preset += 1;
        self.presets.insert(preset, reg);
        self.order.push((reg, preset));
        reg
    }

    fn register(&mut self, ty: Type) -> Reg {
        if ty.is_wide() { self.wide.take() } else { self.narrow.take() }
    }

    fn code(self) -> Code {
        let program = self.program;
        let shared = program.shared.clone();
        let end = |shared: &Shared| shared.offset + shared.bytes;
        Code {
            name: program.name.clone(),
            params: program.params.clone(),
            instrs: self.instrs,
            places: self.places,
            presets: self.order,
            narrow: self.narrow.most,
            wide: self.wide.most,
            slots: self.slots,
            local: self.local as usize,
            static_shared: shared.iter().filter(|one| one.bytes > 0).map(end).max().unwrap_or(0),
            shared,
            shown: self.shown,
        }
    }
}

impl Lowering<'_> {
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
        let branch = self.emit(Instr::If { condition, otherwise: 0, how });
        self.reconvergences.push(Vec::new());
        then(self);
        self.at = at;
        if let Some(otherwise) = otherwise {
            self.reconverge();
            let skip = self.emit_mask(MaskOp::Else);
            let begin = self.here();
            self.patch(branch, begin);
            otherwise(self);
            self.at = at;
            let end = self.reconverge();
            self.patch(skip, end);
        } else {
            let end = self.reconverge();
            self.patch(branch, end);
        }
        self.reconvergences.pop();
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
        let mut leaves = Vec::new();
        let check = |lowering: &mut Self, condition: &Expr, leaves: &mut Vec<Pc>| {
            lowering.at = condition.place;
            lowering.scratch(|lowering| {
                let condition = lowering.value(condition);
                leaves.push(lowering.emit(Instr::LoopTest { condition, end: 0 }));
            });
        };
        if let Some((condition, Test::Before)) = test {
            check(self, condition, &mut leaves);
        }
        self.reconvergences.push(Vec::new());
        self.statements(body);
        self.reconverge();
        self.reconvergences.pop();
        self.at = statement.place;
        leaves.push(self.emit_mask(MaskOp::LoopNext));
        if let Some((condition, Test::After)) = test {
            check(self, condition, &mut leaves);
        }
        if let Some(step) = step {
            self.at = step.place;
            self.scratch(|lowering| lowering.effect(step));
        }
        self.at = statement.place;
        self.emit(Instr::LoopBack { top });
        let end = self.here();
        for leave in leaves {
            self.patch(leave, end);
        }
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
        let Some(value) = value else {
            if let Some(slot) = slot {
                self.emit_mask(MaskOp::Forget(slot));
            }
            return;
        };
        let into = home.register();
        let given = self.value_into(value, into);
        self.at = variable.place;
        if into != Some(given) {
            self.write_home(index, variable.ty, given);
        }
        // From here on there is a value to show; later assignments change only which.
        if let Some(mark) = mark {
            self.emit_mask(MaskOp::Learn(mark));
        }
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
