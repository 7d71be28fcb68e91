//! Which pictures of a lab are seen at once, and where.

use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::View as KernelView;
use mlsys_view::panel::{self, RowNeed};
use mlsys_view::theme::Look;
use ratatui::prelude::*;

use crate::state::{LabState, Page};

const PANEL_ROWS: u16 = 9;
const PANEL_COLUMNS: u16 = 60;

/// The rows in which a picture that fills what it gets can be read, and in which the chosen one can be read well.
const READABLE: [u16; 2] = [PANEL_ROWS, 13];
/// The rows from which on a part of a list is worth seeing.
const LISTED: u16 = 8;
/// The part of the height in which a picture that fills what it gets is well read next to one that is cut.
const GOOD: u16 = 3;
/// What the first picture weighs where pictures stand below each other.
const TWICE: u16 = 2;
/// Pictures that are seen at once.
const MOST: usize = 6;

/// Where pictures are, as places after the chosen one: as many as there is room for, the chosen one first.
pub fn cells(lab: &LabState, look: &Look, area: Rect) -> Vec<(usize, Rect)> {
    let count = lab.pictures.panels.len().min(MOST);
    if count == 0 {
        return Vec::new();
    }
    let across = usize::from((area.width / PANEL_COLUMNS).max(1));
    let width = area.width / across.min(count) as u16;
    let order = order(lab, count);
    let own_needs: Vec<Option<RowNeed>> = (0..count)
        .map(|place| row_need(lab, look, lab.pictures.after(order[place])?, width))
        .collect();
    let need = |(place, own): (usize, &Option<RowNeed>)| {
        let filled = RowNeed { least: READABLE[usize::from(place == 0)], most: u16::MAX };
        match *own {
            Some(RowNeed { least, most: u16::MAX }) => {
                RowNeed { least: least.max(filled.least), ..filled }
            }
            Some(need) => need,
            None => filled,
        }
    };
    let mut needs: Vec<RowNeed> = own_needs.iter().enumerate().map(need).collect();
    // The chosen one has half of the height, where it is not whole with less.
    let half = area.height / 2;
    let is_filled = needs[0].most == u16::MAX;
    let takes_half = lab.pictures.chosen > 0 && (is_filled || needs[0].least > half);
    if takes_half {
        needs[0].least = needs[0].least.max(half);
    }
    // The needs of rows of pictures, for a number of pictures.
    let rows = |needs: &[RowNeed], shown: usize| -> Vec<RowNeed> {
        let larger = |a: RowNeed, b: &RowNeed| RowNeed {
            least: a.least.max(b.least),
            most: a.most.max(b.most),
        };
        let bands = needs[..shown].chunks(across);
        bands.map(|band| band.iter().fold(RowNeed { least: 0, most: 0 }, larger)).collect()
    };
    let is_whole =
        |needs: &[RowNeed], shown: usize| least(&rows(needs, shown)) <= u32::from(area.height);
    // A picture of many parts needs the height of two, where pictures stand below each other.
    let spared = u16::from(across == 1 && has_parts(lab)) * PANEL_ROWS;
    let down = match takes_half && across == 1 {
        true => 1 + half / PANEL_ROWS,
        false => area.height.saturating_sub(spared) / PANEL_ROWS,
    };
    let down = usize::from(down.max(1));
    let shown = count.min(across * down);
    // Small ones are seen all, and of many none is cut that would be whole without the last.
    let mut shown =
        (3.min(shown)..=count).rev().find(|many| is_whole(&needs, *many)).unwrap_or(shown);
    let is_kernel = lab.pictures.after(0).and_then(|index| lab.frame(index)?.kernel()).is_some();
    // One that was chosen is seen whole before others are, and the first one rather than with another that cuts it; those of
    // a kernel belong together.
    let is_bounded = across == 1 && needs[0].most < u16::MAX && !is_kernel;
    if is_bounded && lab.pictures.chosen > 0 {
        needs[0].least = needs[0].most.min(area.height);
        shown = (1..=shown).rev().find(|many| is_whole(&needs, *many)).unwrap_or(1);
    } else if is_bounded && needs[0].least <= area.height {
        let has_all =
            |many: usize| heights(area.height, &rows(&needs, many), TWICE)[0] >= needs[0].least;
        shown = (1..=shown).rev().find(|many| has_all(*many)).unwrap_or(1);
    }
    let columns = across.min(shown);
    // The rows that whole pictures leave are the next one's, which scrolls in them. A single one takes what it needs.
    let spared = if shown == 1 && needs[0].most < u16::MAX { 0 } else { spared };
    let taken = least(&rows(&needs, shown)) + u32::from(spared);
    let left = u32::from(area.height).saturating_sub(taken) as u16;
    if across == 1 && shown < count && left >= PANEL_ROWS {
        if needs[shown].least > left {
            // No air between the bars of others while it is cut.
            let others = needs[1..shown].iter_mut().filter(|need| need.most < u16::MAX);
            others.for_each(|need| need.most = need.least);
            needs[shown].least = left;
        }
        shown += 1;
    }
    // The first one is smaller where that makes the others whole, which have a need.
    let are_bounded = needs[1..shown].iter().all(|need| need.most < u16::MAX);
    if needs[0].most == u16::MAX && are_bounded && lab.pictures.chosen == 0 {
        let others = least(&rows(&needs, shown)) - u32::from(rows(&needs, shown)[0].least);
        let left = u32::from(area.height).saturating_sub(others) as u16;
        // Not so small that it leaves out what it is there for.
        if left >= own_needs[0].map_or(PANEL_ROWS, |need| need.least) {
            needs[0].least = needs[0].least.min(left);
        }
    }
    let weight = |shown: usize| match (columns, lab.pictures.chosen) {
        (1, 0) => TWICE,
        (1, _) => TWICE.max(shown.saturating_sub(1) as u16),
        (_, _) => 1,
    };
    // A chosen picture of a kernel is seen whole before a third row of others is.
    while is_kernel && shown > 2 * columns && needs[0].most < u16::MAX {
        if needs[0].least <= heights(area.height, &rows(&needs, shown), weight(shown))[0] {
            break;
        }
        shown = (shown - 1) / columns * columns;
    }
    let heights = |shown: usize| heights(area.height, &rows(&needs, shown), weight(shown));
    // A list of which few entries would be seen leaves its rows to the others.
    let tells = |shown: usize| {
        let need = needs[shown - 1];
        let given = heights(shown).last().copied().unwrap_or(0);
        need.most == u16::MAX || given >= need.least.min(LISTED)
    };
    while columns == 1 && !is_kernel && shown > 1 && !tells(shown) {
        shown -= 1;
    }
    let heights = heights(shown);
    let bands = Layout::vertical(heights.into_iter().map(Constraint::Length)).split(area);
    let mut places = Vec::new();
    for (row, band) in bands.iter().enumerate() {
        let first = row * columns;
        let here = columns.min(shown - first);
        let cells = Layout::horizontal(vec![Constraint::Fill(1); here]).spacing(1).split(*band);
        let cells = cells.iter().enumerate();
        places.extend(cells.map(|(column, cell)| (order[first + column], *cell)));
    }
    places
}

/// The places of pictures in the order in which they are seen: next to one of a kernel stands the one that it is read with.
fn order(lab: &LabState, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lab.pictures.panels.len()).collect();
    if let Some(partner) = partner(lab) {
        let at = order.remove(partner);
        order.insert(1, at);
    }
    order.truncate(count);
    order
}

/// The place of the picture that a chosen one of a kernel is read with: the source, and with the source the memory.
fn partner(lab: &LabState) -> Option<usize> {
    let view = |place: usize| Some(lab.frame(lab.pictures.after(place)?)?.kernel()?.view);
    let partner = match view(0)? {
        KernelView::Source => KernelView::Memory,
        KernelView::Grid
        | KernelView::Lanes
        | KernelView::Memory
        | KernelView::Sectors
        | KernelView::Banks
        | KernelView::Timeline
        | KernelView::Divergence
        | KernelView::Problems => KernelView::Source,
    };
    (1..lab.pictures.panels.len()).find(|place| view(*place) == Some(partner))
}

fn row_need(lab: &LabState, look: &Look, index: usize, width: u16) -> Option<RowNeed> {
    panel::row_need(&lab.scene(index)?, width, look)
}

fn least(needs: &[RowNeed]) -> u32 {
    needs.iter().map(|need| u32::from(need.least)).sum()
}

/// The heights of rows of pictures: equal, but that the first weighs more. Where all can be whole, none gets less than it
/// needs; what a row does not fill goes to the others. Where one is cut in any case, none gets more than it needs, and a
/// picture that fills what it gets at most a good part of the height, the first one half of it.
fn heights(height: u16, needs: &[RowNeed], first: u16) -> Vec<u16> {
    let weight = |row: usize| if row == 0 { first } else { 1 };
    let are_whole = least(needs) <= u32::from(height);
    let bounds = |row: usize| match (are_whole, needs[row]) {
        (true, RowNeed { least, most }) => (least, most),
        (false, RowNeed { least, most: u16::MAX }) => {
            (0, least.max(if weight(row) > 1 { height / 2 } else { height / GOOD }))
        }
        (false, RowNeed { least, .. }) => (0, least),
    };
    let mut heights: Vec<Option<u16>> = vec![None; needs.len()];
    loop {
        let open: Vec<usize> = (0..needs.len()).filter(|row| heights[*row].is_none()).collect();
        let left = height.saturating_sub(heights.iter().flatten().sum());
        let weights = open.iter().map(|row| weight(*row)).sum::<u16>().max(1);
        // Rounded so that together they are what is left.
        let edge = |part: u16| (left * part + weights / 2) / weights;
        let share = |row: usize| {
            let above = open.iter().filter(|open| **open < row).map(|open| weight(*open)).sum();
            edge(above + weight(row)) - edge(above)
        };
        let bounded = |row: usize| share(row).clamp(bounds(row).0, bounds(row).1);
        // Shares are more or less than their rows can have: those that weigh more are settled first.
        let over: i32 =
            open.iter().map(|row| i32::from(bounded(*row)) - i32::from(share(*row))).sum();
        let is_settled = |row: &usize| match over.signum() {
            1 => bounded(*row) > share(*row),
            -1 => bounded(*row) < share(*row),
            _ => true,
        };
        let settled: Vec<(usize, u16)> =
            open.iter().filter(|row| is_settled(row)).map(|row| (*row, bounded(*row))).collect();
        for (row, rows) in &settled {
            heights[*row] = Some(*rows);
        }
        if over == 0 || settled.is_empty() {
            break;
        }
    }
    let mut heights: Vec<u16> = heights.into_iter().flatten().collect();
    // The remainder, or what no row fills, is the last row's.
    if let Some((last, others)) = heights.split_last_mut() {
        *last = height.saturating_sub(others.iter().sum());
    }
    heights
}

/// The chosen picture, and beneath one of a kernel the one that it is read with.
pub fn chosen_cells(page: &Page, lab: &LabState, look: &Look, area: Rect) -> Vec<(usize, Rect)> {
    /// Rows in which a second picture says something.
    const SECOND: u16 = 7;
    let Some(second) = partner(lab).filter(|_| page.full_screen.is_none()) else {
        return vec![(0, area)];
    };
    let need = |place: usize| {
        let need =
            lab.pictures.after(place).and_then(|index| row_need(lab, look, index, area.width));
        need.unwrap_or(RowNeed { least: PANEL_ROWS, most: u16::MAX })
    };
    let needs = [need(0), need(second)];
    let shared = heights(area.height, &needs, TWICE);
    // A long source is read in parts; of any other picture nothing is given away.
    let chosen = lab.chosen().and_then(|index| lab.frame(index)?.kernel());
    let is_source = chosen.is_some_and(|kernel| kernel.view == KernelView::Source);
    let kept = if is_source { SECOND } else { needs[0].least };
    let below = shared[1].min(area.height.saturating_sub(kept));
    if below < SECOND.min(needs[1].least) {
        return vec![(0, area)];
    }
    let bands = Layout::vertical([Constraint::Min(1), Constraint::Length(below)]).split(area);
    vec![(0, bands[0]), (second, bands[1])]
}

fn has_parts(lab: &LabState) -> bool {
    lab.chosen().and_then(|index| lab.frame(index)).is_some_and(|frame| {
        let is_sequence = matches!(frame, Frame::MessageTrace(_) | Frame::FrameSequence(_));
        is_sequence || matches!(frame, Frame::Graph(_) | Frame::Timeline(_) | Frame::Kernel(_))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHART: RowNeed = RowNeed { least: 9, most: u16::MAX };

    fn rows(least: u16, most: u16) -> RowNeed {
        RowNeed { least, most }
    }

    #[test]
    fn rows_go_to_pictures_that_are_cut_and_then_to_charts() {
        let text = rows(8, 8);
        for (needs, expected) in [
            // All can be whole: what a table does not use is the chart's.
            (vec![rows(13, u16::MAX), rows(20, 20)], [36, 20].as_slice()),
            (vec![rows(20, 20), CHART], &[20, 36]),
            (vec![rows(13, u16::MAX), rows(40, 40)], &[16, 40]),
            // A table without end leaves a chart more than its least.
            (vec![rows(13, u16::MAX), rows(62, 62), CHART], &[28, 14, 14]),
            (vec![rows(62, 62), CHART], &[38, 18]),
            (vec![rows(62, 62), text, text], &[40, 8, 8]),
            // No picture has more than it can use while another is cut.
            (vec![text, rows(62, 62)], &[8, 48]),
        ] {
            assert_eq!(heights(56, &needs, TWICE), expected, "{needs:?}");
        }
    }
}
