//! Elements that a buffer does not have and that lanes reach for, drawn where they would lie.

use std::collections::BTreeMap;
use std::ops::Range;

use mlsys_kernel::{Machine, Reach};
use mlsys_lab::frame::Cell;

use super::before::Before;
use super::buffers::Buffer;
use super::cell_kinds::{EARLIER, OUTSIDE, Written, behind};
use super::state::LaneAccess;

/// Rows of such elements beyond the rows of a matrix: a warp spans as many of a block of 8 columns.
const FAR: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reached {
    /// By these lanes, in the step that was done last.
    Now(Vec<usize>),
    /// In an earlier step of this run; of each kind of fault a run lists the first 64.
    Before,
    /// In an earlier run.
    Earlier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ghost {
    Now,
    Before,
    Earlier,
}

/// The elements outside of one buffer, by their number.
pub(super) struct Ghosts(BTreeMap<i64, Reached>);

impl Ghosts {
    pub(super) fn new(
        machine: &Machine,
        accesses: &[Option<LaneAccess>],
        before: Option<&Before<'_>>,
        buffer: &Buffer,
    ) -> Self {
        let mut found = BTreeMap::new();
        if buffer.shared.is_some() {
            return Self(found);
        }
        let is_outside = |at: &i64| !(0..buffer.elements as i64).contains(at);
        let earlier = before.into_iter().flat_map(|before| before.outside(&buffer.name));
        found.extend(earlier.filter(is_outside).map(|at| (at, Reached::Earlier)));
        let listed = machine.findings().listed().iter();
        let own = listed.filter_map(|finding| finding.outside.as_ref());
        let own = own.filter(|outside| outside.buffer == buffer.name);
        found.extend(own.map(|outside| (outside.at, Reached::Before)));
        for (lane, access) in accesses.iter().enumerate() {
            let Some(LaneAccess { is_now: true, reach, .. }) = access else { continue };
            let Reach::Global { buffer: of, element, .. } = reach else { continue };
            if *of != buffer.name || !is_outside(element) {
                continue;
            }
            match found.get_mut(element) {
                Some(Reached::Now(lanes)) => lanes.push(lane),
                Some(Reached::Before | Reached::Earlier) | None => {
                    found.insert(*element, Reached::Now(vec![lane]));
                }
            }
        }
        Self(found)
    }

    pub(super) fn has(&self, ghost: Ghost) -> bool {
        self.0.values().any(|reached| match reached {
            Reached::Now(_) => ghost == Ghost::Now,
            Reached::Before => ghost == Ghost::Before,
            Reached::Earlier => ghost == Ghost::Earlier,
        })
    }

    /// The cells of a stretch up to the last that is reached for; those that are not are left out.
    pub(super) fn cells(&self, range: Range<i64>, written: Written) -> Vec<Option<Cell>> {
        let last = self.0.range(range.clone()).next_back().map_or(range.start, |(at, _)| at + 1);
        let cell = |at: i64| match self.0.get(&at)? {
            Reached::Now(lanes) => {
                let text = if written == Written::Values { behind(lanes) } else { String::new() };
                Some(Cell { kind: OUTSIDE, text })
            }
            Reached::Before | Reached::Earlier => Some(Cell::new(EARLIER)),
        };
        (range.start..last).map(cell).collect()
    }

    /// The lanes that reach for elements of a stretch now.
    pub(super) fn lanes(&self, range: Range<i64>) -> Vec<usize> {
        let lanes = self.0.range(range).filter_map(|(_, reached)| match reached {
            Reached::Now(lanes) => Some(lanes.iter().copied()),
            Reached::Before | Reached::Earlier => None,
        });
        lanes.flatten().collect()
    }

    /// Stretches of a row each that lie beyond the buffer's own rows, those that lanes reach for now first: one, or of a
    /// matrix a few, at their places among its rows.
    pub(super) fn far(&self, buffer: &Buffer, across: usize, most: usize) -> Vec<Range<i64>> {
        let across = across.max(1) as i64;
        let behind = (buffer.elements as i64 + across - 1) / across * across;
        let is_far = |at: i64| at < 0 || at >= behind;
        let now = |reached: &Reached| matches!(reached, Reached::Now(_));
        let far = || self.0.iter().filter(|(at, _)| is_far(**at));
        let ordered = far().filter(|(_, it)| now(it)).chain(far().filter(|(_, it)| !now(it)));
        let mut starts: Vec<i64> = Vec::new();
        for (at, _) in ordered {
            let (start, most) = match buffer.columns {
                Some(_) => (at.div_euclid(across) * across, most.clamp(1, FAR)),
                None => (*at, 1),
            };
            if starts.len() == most {
                break;
            }
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
        starts.sort_unstable();
        starts.into_iter().map(|start| start..start + across).collect()
    }
}
