//! Which pictures of a lab are seen at once, and where.

use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::View as KernelView;
use mlsys_view::kernel;
use ratatui::prelude::*;

use crate::state::{LabState, Page};

const PANEL_ROWS: u16 = 9;
const PANEL_COLUMNS: u16 = 60;

/// Where pictures are, as places after the chosen one: as many as there is room for, the chosen one first.
pub fn cells(lab: &LabState, area: Rect) -> Vec<(usize, Rect)> {
    let count = lab.pictures.panels.len();
    if count == 0 {
        return Vec::new();
    }
    let across = usize::from((area.width / PANEL_COLUMNS).max(1));
    // A picture of many parts needs the height of two, where pictures stand below each other.
    let spared = u16::from(across == 1 && has_parts(lab)) * PANEL_ROWS;
    let down = usize::from((area.height.saturating_sub(spared) / PANEL_ROWS).max(1));
    let mut shown = count.min(across * down).min(6);
    let columns = across.min(shown);
    let width = area.width / columns as u16;
    let wants = |shown: usize| -> Vec<Option<u16>> {
        let of_row = |row: usize| {
            let here = row * columns..shown.min((row + 1) * columns);
            here.filter_map(|place| rows_wanted(lab, lab.pictures.after(place)?, width)).max()
        };
        (0..shown.div_ceil(columns)).map(of_row).collect()
    };
    // The chosen picture is seen whole before a third row of others is.
    while shown > 2 * columns {
        let heights = heights(area.height, &wants(shown), columns);
        if wants(shown)[0].is_none_or(|wanted| wanted <= heights[0]) {
            break;
        }
        shown = (shown - 1) / columns * columns;
    }
    let heights = heights(area.height, &wants(shown), columns);
    let bands = Layout::vertical(heights.into_iter().map(Constraint::Length)).split(area);
    let mut places = Vec::new();
    for (row, band) in bands.iter().enumerate() {
        let first = row * columns;
        let here = columns.min(shown - first);
        let cells = Layout::horizontal(vec![Constraint::Fill(1); here]).spacing(1).split(*band);
        places.extend(cells.iter().enumerate().map(|(column, cell)| (first + column, *cell)));
    }
    places
}

/// The rows that a picture of a kernel fills, its title included; none for pictures that take any number.
fn rows_wanted(lab: &LabState, index: usize, width: u16) -> Option<u16> {
    let kernel = lab.frame(index)?.kernel()?;
    Some(kernel::rows_wanted(kernel, lab.debugger.as_ref()?, width)? + 1)
}

/// The heights of rows of pictures: equal, but that the first has twice as much where there is one column; what a row
/// does not fill goes to the others.
fn heights(height: u16, wants: &[Option<u16>], columns: usize) -> Vec<u16> {
    let weight = |row: usize| if row == 0 && columns == 1 { 2 } else { 1 };
    let mut heights: Vec<Option<u16>> = vec![None; wants.len()];
    loop {
        let open = || (0..wants.len()).filter(|row| heights[*row].is_none());
        let left = height.saturating_sub(heights.iter().flatten().sum());
        let weights = open().map(weight).sum::<u16>();
        let share = |row: usize| (left * weight(row) + weights / 2) / weights.max(1);
        match open().find_map(|row| Some((row, wants[row].filter(|want| *want < share(row))?))) {
            Some((row, want)) => heights[row] = Some(want),
            None => {
                let mut shares: Vec<u16> = (0..wants.len())
                    .map(|row| heights[row].unwrap_or_else(|| share(row)))
                    .collect();
                // The remainder, or what no row fills, is the last row's.
                if let Some((last, others)) = shares.split_last_mut() {
                    *last = height.saturating_sub(others.iter().sum());
                }
                return shares;
            }
        }
    }
}

/// The chosen picture, and beneath one of a kernel the one it is read with: the source, and with the source the memory.
pub fn chosen_cells(page: &Page, lab: &LabState, area: Rect) -> Vec<(usize, Rect)> {
    /// Rows in which a second picture says something.
    const SECOND: u16 = 8;
    let kernel = |place: usize| lab.frame(lab.pictures.after(place)?)?.kernel();
    let view = |place: usize| kernel(place).map(|kernel| kernel.view);
    let partner = match view(0) {
        Some(KernelView::Source) => KernelView::Memory,
        Some(_) => KernelView::Source,
        None => return vec![(0, area)],
    };
    let wanted = lab.pictures.after(0).and_then(|index| rows_wanted(lab, index, area.width));
    // A long source is read in parts; of any other picture nothing is given away.
    let room = area.height.saturating_sub(SECOND);
    let is_source = partner == KernelView::Memory;
    let has_room = room >= SECOND && (is_source || wanted.is_none_or(|wanted| wanted <= room));
    let second = (1..lab.pictures.panels.len()).find(|place| view(*place) == Some(partner));
    let Some(second) = second.filter(|_| page.full_screen.is_none() && has_room) else {
        return vec![(0, area)];
    };
    let below = area.height.saturating_sub(wanted.unwrap_or(area.height)).max(SECOND);
    let bands = Layout::vertical([Constraint::Min(1), Constraint::Length(below)]).split(area);
    vec![(0, bands[0]), (second, bands[1])]
}

fn has_parts(lab: &LabState) -> bool {
    lab.chosen().and_then(|index| lab.frame(index)).is_some_and(|frame| {
        let is_sequence = matches!(frame, Frame::MessageTrace(_) | Frame::FrameSequence(_));
        is_sequence || matches!(frame, Frame::Graph(_) | Frame::Timeline(_) | Frame::Kernel(_))
    })
}
