//! From the typed tree to instructions. Helpers are written out where they are called.

mod choice;
mod expression;
mod memory;
mod statement;

use std::collections::BTreeMap;

use super::code::{Code, Home, Instr, Pc, Preset, Reg, Shown};
use super::source::{Complaint, Place};
use super::typed::{Born, Fate, Function, Memory, Program, Variable};
use super::types::Type;

/// Instructions a kernel may have once its helpers are written out.
const MOST: usize = 60_000;

/// Registers of a kind; far more than a device has, and within reach of a register's number.
const MOST_REGISTERS: usize = 16_000;

/// Where a variable of the function at hand lives.
#[derive(Clone, Copy)]
struct Residence {
    home: Home,
    /// The slot that reads are checked against; none where a value cannot be missing.
    slot: Option<Reg>,
    /// The slot that tells people who look whether there is a value yet; the same where there are both.
    mark: Option<Reg>,
    /// Whether a pointer variable is the same in all lanes for good.
    uniform: bool,
}

/// Jumps that are to go to where lanes come together next.
#[derive(Default)]
struct Meeting {
    skips: Vec<Pc>,
}

struct Lowering<'a> {
    program: &'a Program,
    instrs: Vec<Instr>,
    places: Vec<Place>,
    presets: BTreeMap<Preset, Reg>,
    order: Vec<(Reg, Preset)>,
    narrow: Bump,
    wide: Bump,
    slots: usize,
    local: u32,
    shown: Vec<Shown>,
    homes: Vec<Residence>,
    meetings: Vec<Meeting>,
    /// Calls that are being written out, and where each leaves its value.
    calls: Vec<Option<Reg>>,
    function: usize,
    at: Place,
}

/// Registers of one kind: those with presets first, then a stack.
#[derive(Default)]
struct Bump {
    preset: usize,
    next: usize,
    most: usize,
}

impl Bump {
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
pub(super) fn lower(program: &Program) -> Result<Code, Vec<Complaint>> {
    // How many registers have presets is known only at the end, and they come first: the second pass knows.
    let first = Lowering::run(program, 0, 0)?;
    let (narrow, wide) = (first.narrow.preset, first.wide.preset);
    let done = Lowering::run(program, narrow, wide)?;
    Ok(done.code())
}

impl<'a> Lowering<'a> {
    fn run(program: &'a Program, narrow: usize, wide: usize) -> Result<Self, Vec<Complaint>> {
        let bump = |presets: usize| Bump { preset: 0, next: presets, most: presets };
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
            meetings: vec![Meeting::default()],
            calls: Vec::new(),
            function: program.kernel,
            at: Place::default(),
        };
        let kernel = &program.functions[program.kernel];
        lowering.kernel(kernel);
        let registers = lowering.narrow.most.max(lowering.wide.most);
        if lowering.instrs.len() > MOST
            || registers > MOST_REGISTERS
            || lowering.local > 4 * super::check::MOST_LOCAL
        {
            let place = Place { line: 1, column: 1 };
            return Err(vec![Complaint::new(
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
                Preset::WideParam(index)
            } else {
                Preset::Param(index)
            });
            // An argument that nothing changes is read where it was given.
            if variable.in_memory == Memory::Register && variable.fate == Fate::Kept {
                let uniform = true;
                self.homes[index] =
                    Residence { home: Home::Register(given), slot: None, mark: None, uniform };
                self.shown[index].home = Home::Register(given);
            } else {
                self.write_home(index, variable.ty, given);
            }
        }
        self.statements(&kernel.body);
        let end = self.here();
        self.meet(end);
        self.emit(Instr::End);
        self.leave(0);
    }

    /// Gives the variables of a function their homes.
    fn enter(&mut self, function: &Function) {
        let from = self.here();
        self.homes = Vec::new();
        for (index, variable) in function.variables.iter().enumerate() {
            let home = self.home(variable);
            // What lies in memory has its own marks of what was written, and an argument has a value from the start.
            let marked = variable.in_memory == Memory::Register && index >= function.params;
            let mark = marked.then(|| self.mark());
            self.homes.push(Residence {
                home,
                slot: mark.filter(|_| variable.born == Born::Unset),
                mark,
                uniform: false,
            });
            self.shown.push(Shown {
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

    fn home(&mut self, variable: &Variable) -> Home {
        match (variable.in_memory, variable.ty) {
            (Memory::Local, Type::Array { of, extents, .. }) => self.local(
                extents.elements().min(u64::from(u32::MAX / 16)) as u32 * of.bytes(),
                of.bytes(),
            ),
            (Memory::Local, ty) => {
                let bytes = ty.scalar().map_or(8, |scalar| scalar.bytes());
                self.local(bytes, bytes)
            }
            (Memory::Register, ty) if ty.is_wide() => Home::Register(self.wide.take()),
            (Memory::Register, _) => Home::Register(self.narrow.take()),
        }
    }

    /// A new slot.
    fn mark(&mut self) -> Reg {
        self.slots += 1;
        (self.slots - 1).min(usize::from(Reg::MAX)) as Reg
    }

    fn local(&mut self, bytes: u32, align: u32) -> Home {
        let offset = self.local.next_multiple_of(align.max(1));
        self.local = offset.saturating_add(bytes).min(u32::MAX / 2);
        Home::Local(offset)
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

    /// Emits a jump to wherever lanes come together next.
    fn emit_skip(&mut self, instr: Instr) {
        let pc = self.emit(instr);
        if let Some(meeting) = self.meetings.last_mut() {
            meeting.skips.push(pc);
        }
    }

    /// Lanes come together here.
    fn meet(&mut self, at: Pc) {
        let skips = self.meetings.last_mut().map(|meeting| std::mem::take(&mut meeting.skips));
        for pc in skips.unwrap_or_default() {
            self.patch(pc, at);
        }
    }

    fn patch(&mut self, pc: Pc, to: Pc) {
        if let Some(
            Instr::If { otherwise: target, .. }
            | Instr::Else { end: target }
            | Instr::EndIf { skip: target }
            | Instr::LoopTest { end: target, .. }
            | Instr::LoopNext { end: target }
            | Instr::LoopEnd { skip: target }
            | Instr::Break { skip: target }
            | Instr::Continue { skip: target }
            | Instr::CallEnd { skip: target }
            | Instr::Return { skip: target }
            | Instr::Exit { skip: target },
        ) = self.instrs.get_mut(pc as usize)
        {
            *target = to;
        }
    }

    fn preset(&mut self, preset: Preset) -> Reg {
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
        let shared = program
            .shared
            .iter()
            .map(|shared| super::typed::Shared { name: shared.name.clone(), ..*shared });
        let shared: Vec<_> = shared.collect();
        let end = |shared: &super::typed::Shared| shared.offset + shared.bytes;
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
            static_shared: shared
                .iter()
                .filter(|shared| shared.bytes > 0)
                .map(end)
                .max()
                .unwrap_or(0),
            shared,
            shown: self.shown,
        }
    }
}
