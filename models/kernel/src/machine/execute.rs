//! One warp running: from instruction to instruction until it waits, ends, or its turn is over.

use crate::bytecode::{BranchKind, Code, Instr, MaskOp, Reg};
use crate::machine::cell::Accessor;
use crate::machine::counters::Counts;
use crate::machine::fault::{Fault, Finding, Findings};
use crate::machine::memory::Store;
use crate::machine::warp::{Frame, FrameKind, Warp, WarpState, lanes, position};
use crate::typed_ast::Operation;
use mlsys_lab::frame::kernel::Outside;

pub(crate) struct Executor<'a> {
    pub(crate) code: &'a Code,
    pub(crate) buffers: &'a mut [crate::machine::Buffer],
    pub(crate) shared: &'a mut Store,
    pub(crate) warp: &'a mut Warp,
    pub(crate) counts: &'a mut [Counts],
    pub(crate) findings: &'a mut Findings,
    pub(crate) block: [u32; 3],
    pub(crate) block_dim: [u32; 3],
    pub(crate) grid_dim: [u32; 3],
    pub(crate) who: Accessor,
    pub(crate) nan: NanWatch,
    /// Warp instructions of the run before this turn.
    pub(crate) step: u64,
}

/// Whether a NaN computed from numbers is a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NanWatch {
    #[default]
    Off,
    On,
}

impl Executor<'_> {
    /// Runs at most `budget` instructions and returns how many it ran. Mask bookkeeping does not count.
    pub(crate) fn run(&mut self, most: u64) -> u64 {
        let mut done = 0;
        loop {
            let pc = self.warp.pc as usize;
            let instr = self.code.instrs[pc];
            self.warp.pc += 1;
            if let Instr::Mask(op, empty) = instr {
                self.change_mask(op);
                if self.warp.state == WarpState::Done {
                    return done;
                }
                if self.warp.mask == 0 {
                    self.warp.pc = empty;
                }
                continue;
            }
            if done == most {
                self.warp.pc = pc as u32;
                return done;
            }
            let mask = self.warp.mask;
            let counts = &mut self.counts[pc];
            counts.issues += 1;
            counts.lanes += u64::from(mask.count_ones());
            self.execute(instr, pc);
            done += 1;
            self.step += 1;
            if self.warp.state != WarpState::Ready {
                return done;
            }
        }
    }

    #[inline(always)]
    fn change_mask(&mut self, op: MaskOp) {
        let warp = &mut *self.warp;
        match op {
            MaskOp::Else => {
                if let Some(frame) = warp.frames.last() {
                    warp.mask = frame.away & !warp.gone;
                }
            }
            MaskOp::EndIf => {
                if let Some(frame) = warp.frames.pop() {
                    warp.mask = frame.entry & !warp.gone;
                }
            }
            MaskOp::LoopEnter => warp.frames.push(Frame::new(FrameKind::Loop, warp.mask, 0)),
            MaskOp::CallEnter => warp.frames.push(Frame::new(FrameKind::Call, warp.mask, 0)),
            MaskOp::LoopNext => {
                if let Some(frame) = warp.frames.last_mut() {
                    warp.gone &= !frame.continued;
                    frame.continued = 0;
                    warp.mask = frame.entry & !warp.gone;
                }
            }
            MaskOp::LoopEnd | MaskOp::CallEnd => {
                if let Some(frame) = warp.frames.pop() {
                    warp.gone &= !frame.away;
                    warp.mask = frame.entry & !warp.gone;
                }
            }
            MaskOp::Break | MaskOp::Continue | MaskOp::Return => {
                let left = if op == MaskOp::Return { FrameKind::Call } else { FrameKind::Loop };
                if let Some(frame) = warp.frames.iter_mut().rev().find(|frame| frame.kind == left) {
                    let lanes =
                        if op == MaskOp::Continue { &mut frame.continued } else { &mut frame.away };
                    *lanes |= warp.mask;
                }
                warp.gone |= warp.mask;
                warp.mask = 0;
            }
            MaskOp::Exit => {
                warp.live &= !warp.mask;
                warp.gone |= warp.mask;
                warp.mask = 0;
            }
            MaskOp::End => {
                warp.live = 0;
                warp.mask = 0;
                warp.state = WarpState::Done;
            }
            MaskOp::Forget(slot) => warp.set[usize::from(slot)] &= !warp.mask,
            MaskOp::Learn(slot) => warp.set[usize::from(slot)] |= warp.mask,
            MaskOp::Expect(slot) => self.expect(slot),
        }
    }

    #[inline(always)]
    fn execute(&mut self, instr: Instr, pc: usize) {
        match instr {
            Instr::Arithmetic(operation, scalar, into, a, b) => {
                self.arithmetic(operation, scalar, into, a, b)
            }
            Instr::Row { ty, into, begin, index, row } => {
                self.require_in_row(ty, begin, index, row);
                self.arithmetic(Operation::Add, ty, into, begin, index);
            }
            Instr::Compare(comparison, scalar, into, a, b) => {
                self.compare(comparison, scalar, into, a, b)
            }
            Instr::Negate(scalar, into, a) => self.negate(scalar, into, a),
            Instr::Complement(scalar, into, a) => self.complement(scalar, into, a),
            Instr::Not(into, a) => self.narrow2(into, a, a, |x, _| x ^ 1),
            Instr::Both(into, a, b) => self.narrow2(into, a, b, |x, y| x & y),
            Instr::Either(into, a, b) => self.narrow2(into, a, b, |x, y| x | y),
            Instr::Convert { from, to, into, of } => self.convert(from, to, into, of),
            Instr::Move(into, of) => self.narrow2(into, of, of, |x, _| x),
            Instr::MoveWide(into, of) => self.wide2(into, of, of, |x, _| x),
            Instr::Select(into, c, a, b) => self.select(into, c, a, b),
            Instr::SelectWide(into, c, a, b) => self.select_wide(into, c, a, b),
            Instr::Math(math, scalar, into, of) => self.math(math, scalar, into, of),
            Instr::Offset { into, at, bytes } => {
                let addresses = self.addresses(at, bytes);
                self.put_wide(into, &addresses);
            }
            Instr::Distance { into, left, right, bytes } => {
                self.wide2(into, left, right, |x, y| {
                    ((x as i64).wrapping_sub(y as i64) / i64::from(bytes)) as u64
                })
            }
            Instr::Load { ty, into, at } => self.load(ty, into, at, pc),
            Instr::Store { ty, from, at } => self.store(ty, from, at, pc),
            Instr::Atomic { atomic, ty, into, at, operands } => {
                self.atomic(atomic, ty, into, at, operands, pc)
            }
            Instr::Shuffle { shuffle, ty, into, operands, width } => {
                self.shuffle(shuffle, ty, into, operands, width);
            }
            Instr::Vote { vote, into, mask, value } => self.vote(vote, into, mask, value),
            Instr::Barrier => self.warp.state = WarpState::Waiting,
            Instr::WarpBarrier(mask) => self.warp_barrier(mask),
            Instr::If { condition, otherwise, how } => {
                let truth = self.truth(condition);
                let warp = &mut *self.warp;
                let (yes, no) = (warp.mask & truth, warp.mask & !truth);
                if yes != 0 && no != 0 && how == BranchKind::Branch {
                    self.counts[pc].divergent += 1;
                }
                warp.frames.push(Frame::new(FrameKind::Branch, warp.mask, no));
                if yes == 0 {
                    warp.mask = no;
                    warp.pc = otherwise;
                } else {
                    warp.mask = yes;
                }
            }
            Instr::LoopTest { condition, end } => {
                let truth = self.truth(condition);
                let warp = &mut *self.warp;
                let (stay, leave) = (warp.mask & truth, warp.mask & !truth);
                if stay != 0 && leave != 0 {
                    self.counts[pc].divergent += 1;
                }
                if leave != 0
                    && let Some(frame) = warp.frames.last_mut()
                {
                    frame.away |= leave;
                    warp.gone |= leave;
                }
                warp.mask = stay;
                if stay == 0 {
                    warp.pc = end;
                }
            }
            Instr::LoopBack { top } => self.warp.pc = top,
            Instr::Mask(..) => {}
        }
    }

    #[inline(always)]
    pub(super) fn truth(&self, condition: Reg) -> u32 {
        let lanes = &self.warp.narrow[usize::from(condition)];
        lanes.iter().enumerate().fold(0, |mask, (lane, value)| mask | (value & 1) << lane)
    }

    fn expect(&mut self, slot: Reg) {
        let missing = self.warp.mask & !self.warp.set[usize::from(slot)];
        if missing == 0 {
            return;
        }
        let shown = self.code.shown.iter().find(|shown| shown.slot == Some(slot));
        let name = shown.map_or("a variable", |shown| shown.name.as_str());
        // The check stands before the instruction that reads.
        let pc = self.warp.pc as usize;
        for lane in lanes(missing) {
            self.find_at(pc, Fault::Uninitialized, lane, || {
                (format!("reads '{name}', which has no value yet"), None)
            });
        }
    }

    pub(super) fn thread(&self, lane: usize) -> [u32; 3] {
        position(self.warp.first + lane as u32, self.block_dim)
    }

    /// Reports a fault of a lane at the instruction that runs.
    pub(super) fn find(&mut self, fault: Fault, lane: usize, sentence: impl FnOnce() -> String) {
        self.find_at(self.warp.pc as usize - 1, fault, lane, || (sentence(), None));
    }

    /// Reports that a lane reaches for an element which its buffer does not have.
    pub(super) fn find_outside(&mut self, lane: usize, told: impl FnOnce() -> (String, Outside)) {
        self.find_at(self.warp.pc as usize - 1, Fault::OutOfBounds, lane, || {
            let (sentence, outside) = told();
            (sentence, Some(outside))
        });
    }

    fn find_at(
        &mut self,
        pc: usize,
        fault: Fault,
        lane: usize,
        told: impl FnOnce() -> (String, Option<Outside>),
    ) {
        let (place, block, thread, step) =
            (self.code.place(pc), self.block, self.thread(lane), self.step);
        self.findings.add(fault, || {
            let (sentence, outside) = told();
            Finding { fault, place, block, thread, step, sentence, outside }
        });
    }
}
