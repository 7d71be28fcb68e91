//! Atomics, shuffles, votes and barriers of one warp.

use crate::bytecode::{Address, Reg, WARP};
use crate::machine::atomics::changed;
use crate::machine::cell::CellAccess;
use crate::machine::execute::Executor;
use crate::machine::fault::Fault;
use crate::machine::memory::{POISON, Target};
use crate::machine::warp::{AccessKind, Narrow, lanes};
use crate::typed_ast::{Atomic, Shuffle, Vote};
use crate::types::Scalar;

impl Executor<'_> {
    /// One lane after the other, in ascending order; each gets what was there before.
    pub(super) fn atomic(
        &mut self,
        atomic: Atomic,
        ty: Scalar,
        into: Reg,
        at: Address,
        operands: [Reg; 2],
        pc: usize,
    ) {
        let targets = self.reach(at, ty, AccessKind::Atomic, pc);
        let mut values = [u64::from(POISON); WARP];
        for lane in lanes(self.warp.mask) {
            let Some(target) = targets[lane] else { continue };
            match target {
                Target::Global { buffer, .. } => self.buffers[buffer].store.note(atomic, ty),
                Target::Shared { .. } => self.shared.note(atomic, ty),
                Target::Local { .. } => {}
            }
            self.touch(target, ty.bytes(), CellAccess::Atomic, lane);
            let old = self.read(target, ty, lane);
            let (a, b) = (self.value(operands[0], ty, lane), self.value(operands[1], ty, lane));
            if let Some(new) = changed(atomic, ty, old, a, b) {
                self.write(target, ty, lane, new);
            }
            values[lane] = old;
        }
        self.put_values(into, ty, &values);
    }

    /// The lanes that each running lane acts together with, by the mask that it gave: a mask names the lane itself, and
    /// lanes that come here with the same mask. One that does not is a fault.
    fn groups(&mut self, mask: Option<Reg>) -> Narrow {
        let (here, live) = (self.warp.mask, self.warp.live);
        let masks = mask.map_or([u32::MAX; WARP], |mask| self.narrow(mask));
        // A mask may name lanes that do not exist or have ended: the barrier does not wait for them.
        let named = masks.map(|mask| mask & live);
        if lanes(here).all(|lane| named[lane] == here) {
            return [here; WARP];
        }
        // Mask by mask, of which there are few.
        let mut groups = [0; WARP];
        let mut rest = here;
        while rest != 0 {
            let mask = named[rest.trailing_zeros() as usize];
            let same = |lane: &usize| named[*lane] == mask;
            let equal = lanes(rest).filter(same).fold(0, |equal, lane| equal | 1 << lane);
            lanes(equal).for_each(|lane| groups[lane] = equal & mask);
            rest &= !equal;
        }
        let wrong = |lane: &usize| named[*lane] >> lane & 1 == 0 || groups[*lane] != named[*lane];
        if let Some(lane) = lanes(here).find(wrong) {
            let mask = masks[lane];
            self.find(Fault::LostLane, lane, || {
                let missing = named[lane] & !groups[lane];
                if named[lane] >> lane & 1 == 0 {
                    format!("lane {lane} comes here, and its mask {mask:#010x} does not name it")
                } else if missing & here == 0 {
                    format!("the mask {mask:#010x} names lanes {missing:#010x}, which live and do not come here")
                } else {
                    format!("the mask {mask:#010x} names lanes {missing:#010x} with other masks")
                }
            });
        }
        groups
    }

    pub(super) fn shuffle(
        &mut self,
        shuffle: Shuffle,
        ty: Scalar,
        into: Reg,
        [mask, value, lane]: [Reg; 3],
        width: Option<Reg>,
    ) {
        let groups = self.groups(Some(mask));
        let here = self.warp.mask;
        let which = self.narrow(lane);
        let widths = width.map_or([32; WARP], |width| self.narrow(width));
        let mut from = [0_usize; WARP];
        for own in lanes(here) {
            let width = match widths[own] as usize {
                width if width.is_power_of_two() && width <= WARP => width,
                width => {
                    self.find(Fault::LostLane, own, || {
                        format!("a width of {} is no power of two up to 32", width as i32)
                    });
                    WARP
                }
            };
            let first = own / width * width;
            let by = which[own];
            let asked = match shuffle {
                Shuffle::Index => first + by as usize % width,
                Shuffle::Up => (own as i64 - i64::from(by as i32)).max(-1) as usize,
                Shuffle::Down => own.saturating_add(by as usize),
                Shuffle::Xor => own ^ by as usize,
            };
            // A source lane outside the group gives the lane's own value.
            let inside = match shuffle {
                Shuffle::Xor => asked < first + width,
                Shuffle::Index | Shuffle::Up | Shuffle::Down => {
                    (first..first + width).contains(&asked)
                }
            };
            let asked = if inside { asked } else { own };
            if asked != own && groups[own] >> asked & 1 == 0 {
                let is_here = here >> asked & 1 != 0;
                let why = if is_here { "not named with it in one mask" } else { "not here" };
                self.find(Fault::LostLane, own, || {
                    format!("takes its value from lane {asked}, which is {why}")
                });
            }
            from[own] = asked;
        }
        let result = from.map(|lane| self.value(value, ty, lane));
        self.put_values(into, ty, &result);
    }

    pub(super) fn vote(&mut self, vote: Vote, into: Reg, mask: Reg, value: Reg) {
        let here = [self.warp.mask; WARP];
        let groups = if vote == Vote::Active { here } else { self.groups(Some(mask)) };
        let yes = self.truth(value) & self.warp.mask;
        let values = self.narrow(value);
        let reduced = |group: u32, operation, of| {
            let values = lanes(group).map(|lane| u64::from(values[lane]));
            values.reduce(|old, value| changed(operation, of, old, value, 0).unwrap_or(old))
        };
        let result = groups.map(|group| match vote {
            Vote::Active => group,
            Vote::Ballot => yes & group,
            Vote::Any => u32::from(yes & group != 0),
            Vote::All => u32::from(yes & group == group),
            Vote::Reduce(operation, of) => reduced(group, operation, of).unwrap_or(0) as u32,
        });
        self.put(into, &result);
    }

    pub(super) fn warp_barrier(&mut self, mask: Option<Reg>) {
        let groups = self.groups(mask);
        self.warp.synchronize(&groups);
        self.who.warp_epoch = self.warp.warp_epoch;
    }
}
