//! The rows that the pictures of a launch take. They are the same at every position, so that no picture moves during steps.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_kernel::LANES;
use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::{Kernel, View};
use ratatui::layout::Rect;

use super::{divergence, grid, lanes, memory, problems, source};
use crate::canvas as pen;
use crate::panel::picture::{self, At, RowNeed};
use crate::theme::Look;

/// Enough for every line or lane; rectangles have at most 65,535 cells.
const HIGH: u16 = 200;

pub(super) fn row_need(kernel: &Kernel, at: At<'_>, width: u16, look: &Look) -> Option<RowNeed> {
    let debugger = at.walk?;
    let area = Rect::new(0, 0, width, HIGH);
    match kernel.view {
        View::Source => Some(source::row_need(area, debugger)),
        View::Lanes => Some(lanes::row_need(area, debugger)),
        View::Grid => Some(grid::row_need(width, debugger)),
        View::Memory => Some(memory::row_need(kernel, debugger, width)),
        View::Divergence => Some(divergence_need(kernel, at, width)),
        View::Sectors => Some(sectors_need(kernel)),
        View::Banks => {
            let is_none = debugger.machine().is_ok_and(|machine| machine.shared_bytes() == 0);
            is_none.then(|| RowNeed::exactly(1))
        }
        View::Timeline => {
            let order = Frame::Timeline(super::order(kernel, debugger, None));
            picture::drawn(&order).row_need(at, width, look)
        }
        View::Problems => {
            let table = Frame::Table(problems(kernel));
            let need = picture::drawn(&table).row_need(at, width, look)?;
            Some(need.and(super::told_rows(kernel)))
        }
    }
}

/// One access of a warp to global memory: as many sectors as accesses in a line move at most on average.
fn sectors_need(kernel: &Kernel) -> RowNeed {
    /// Legend, and the sentence in two rows.
    const AROUND: u16 = 4;
    let lines = kernel.whole.lines.iter();
    let each = lines.map(|line| line.sectors.div_ceil(line.accesses.max(1))).max().unwrap_or(0);
    RowNeed::listed((each as usize).clamp(1, LANES), AROUND)
}

fn divergence_need(kernel: &Kernel, at: At<'_>, width: u16) -> RowNeed {
    let launch = |kernel: &Kernel| {
        // The numbers of lines, instructions and rounds.
        let rows = 3 + lane_groups(kernel);
        RowNeed::listed(rows, 1 + divergence::note_rows(width))
    };
    let then = at.past.and_then(|past| past.frame.kernel());
    let earlier = then.filter(|then| then.recipe != kernel.recipe);
    let then = earlier.map_or(0, |then| 4 + pen::cells(lane_groups(then)));
    launch(kernel).and(then)
}

/// The most groups of lanes that go together in a warp.
fn lane_groups(kernel: &Kernel) -> usize {
    // Of each lane a number that says in which stretches it is active.
    let mut warps: BTreeMap<(u32, u32), [u64; LANES]> = BTreeMap::new();
    for issue in &kernel.whole.issues {
        let lanes = warps.entry((issue.block, issue.warp)).or_insert([0; LANES]);
        for (lane, number) in lanes.iter_mut().enumerate() {
            let active = u64::from(issue.mask >> lane & 1);
            *number = number.wrapping_mul(0x0000_0100_0000_01b3) ^ (active + 1);
        }
    }
    let groups = warps.values().map(|lanes| lanes.iter().collect::<BTreeSet<_>>().len());
    groups.max().unwrap_or(1)
}
