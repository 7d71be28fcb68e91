//! What lanes do together: atomics, shuffles, votes and barriers of one warp.

use crate::bytecode::{Address, Reg, WARP};
use crate::machine::atomics::changed;
use crate::machine::execute::Executor;
use crate::machine::fault::Fault;
use crate::machine::memory::{CellAccess, POISON, Target};
use crate::machine::warp::{AccessKind, lanes};
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

    /// The mask that lanes gave, which must name exactly the lanes that are here.
    fn check_mask(&mut self, mask: Reg) {
        let here = self.warp.mask;
        let masks = self.narrow(mask);
        for lane in lanes(here) {
            // A mask may name lanes that do not exist or have ended: the barrier does not wait for them.
            let named = masks[lane] & self.warp.live;
            if named != here {
                self.find(Fault::LostLane, lane, || {
                    format!("the mask names lanes {named:#010x} of those that live, and {here:#010x} are here")
                });
                return;
            }
        }
    }

    pub(super) fn shuffle(
        &mut self,
        shuffle: Shuffle,
        ty: Scalar,
        into: Reg,
        [mask, value, lane]: [Reg; 3],
        width: Option<Reg>,
    ) {
        self.check_mask(mask);
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
            if here >> asked & 1 == 0 {
                self.find(Fault::LostLane, own, || {
                    format!("takes its value from lane {asked}, which is not here")
                });
            }
            from[own] = asked;
        }
        let result = from.map(|lane| self.value(value, ty, lane));
        self.put_values(into, ty, &result);
    }

    pub(super) fn vote(&mut self, vote: Vote, into: Reg, mask: Reg, value: Reg) {
        self.check_mask(mask);
        let here = self.warp.mask;
        let yes = self.truth(value) & here;
        let result = match vote {
            Vote::Ballot => yes,
            Vote::Any => u32::from(yes != 0),
            Vote::All => u32::from(yes == here),
        };
        self.put(into, &[result; WARP]);
    }

    pub(super) fn warp_barrier(&mut self, mask: Option<Reg>) {
        match mask {
            Some(mask) => self.check_mask(mask),
            None if self.warp.mask != self.warp.live => {
                let (here, live) = (self.warp.mask.count_ones(), self.warp.live.count_ones());
                let lane = self.warp.mask.trailing_zeros() as usize;
                self.find(Fault::LostLane, lane, || {
                    format!("{here} of {live} live lanes reach this __syncwarp")
                });
            }
            None => {}
        }
        self.warp.warp_epoch += 1;
        self.who.warp_epoch = self.warp.warp_epoch;
    }
}
