//! Which rows and columns of cells are seen in an area, and how wide they are drawn.

use mlsys_lab::frame::{CellRow, Cells, Tone};
use ratatui::layout::Rect;

use crate::canvas as pen;
use crate::panel::view::Mark;

/// The widest that a cell without text is drawn.
const WIDEST: u16 = 3;

/// The longest text that is told from its neighbours without a gap.
const SHORT: u16 = 2;

pub(super) struct Plan {
    pub(super) labels: u16,
    /// The columns of a cell, with the gap behind it.
    pub(super) cell: u16,
    pub(super) written: Written,
    pub(super) rows: (usize, usize),
    pub(super) columns: (usize, usize),
    /// Rows from one row of cells to the next.
    pub(super) pitch: u16,
    /// The lines that a row of cells goes over: more than one where it is too long and there is room below.
    pub(super) lines: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// Behind the glyph.
    Yes,
    /// In its place.
    Alone,
    /// Behind the glyph, without a gap to the next cell: its glyph separates the texts.
    Close,
    No,
}

/// How large cells are at most, so that those of pictures next to each other can be compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::panel) struct Limits {
    cell: u16,
    pitch: u16,
}

impl Limits {
    pub(in crate::panel) const NONE: Self = Self { cell: u16::MAX, pitch: 2 };

    /// The smallest cells and rows of pictures that share a legend, where all keep their texts with these.
    pub(in crate::panel) fn among(of: &[(Rect, &Cells)]) -> Self {
        let planned = |limits: Self| {
            of.iter().map(move |(area, cells)| plan(*area, cells, cells.columns(), None, limits))
        };
        let smallest = planned(Self::NONE).fold(Self::NONE, |limits, plan| Self {
            cell: limits.cell.min(plan.cell),
            pitch: limits.pitch.min(plan.pitch),
        });
        let has_text = |plan: Plan| plan.written != Written::No;
        let mut both = planned(Self::NONE).map(has_text).zip(planned(smallest).map(has_text));
        match both.all(|(own, common)| own == common) {
            true => smallest,
            false => Self { cell: u16::MAX, ..smallest },
        }
    }
}

pub(super) fn label_width(cells: &Cells) -> u16 {
    pen::widest(cells.rows.iter().map(|row| &row.label).chain([&cells.across]))
}

/// The width of the longest text in a cell.
pub(in crate::panel) fn text_width(cells: &Cells) -> u16 {
    let texts = cells.rows.iter().flat_map(|row| row.cells.iter().flatten());
    pen::widest(texts.map(|cell| &cell.text))
}

/// The columns that a number of cells take with the lines between groups.
pub(super) fn wide(cells: usize, cell: u16, group: usize) -> usize {
    let lines = cells.saturating_sub(1).checked_div(group).unwrap_or(0);
    cells.saturating_mul(usize::from(cell)).saturating_add(lines)
}

pub(super) fn plan(
    area: Rect,
    cells: &Cells,
    columns: usize,
    mark: Option<Mark>,
    limits: Limits,
) -> Plan {
    let labels = label_width(cells).min(area.width / 2);
    let room = usize::from(area.width.saturating_sub(labels + 1));
    let texts = || cells.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let text = text_width(cells);
    // What stands behind the rows comes before wide cells.
    let behind = match pen::widest(cells.rows.iter().map(|row| &row.remark)) {
        0 => 0,
        remarks => usize::from(remarks.min(area.width / 3)) + 2,
    };
    let fits = |cell: u16, behind: usize| {
        cell <= limits.cell && wide(columns, cell, cells.group) + behind <= room
    };
    // Glyph, text, gap.
    let with_text = text.saturating_add(2);
    // No glyph stands before texts that are cells by themselves.
    let are_alone = texts()
        .filter(|cell| !cell.text.is_empty())
        .all(|cell| cells.kinds.get(cell.kind).is_some_and(|kind| kind.tone == Tone::Text));
    let (cell, written) = if text > 0 && fits(with_text, 0) {
        (with_text, Written::Yes)
    } else if text > 0 && are_alone && fits(with_text - 1, behind) {
        (with_text - 1, Written::Alone)
    } else if (1..=SHORT).contains(&text) && fits(with_text - 1, behind) {
        (with_text - 1, Written::Close)
    } else {
        let widest = |behind: usize| (1..=WIDEST).rev().find(|cell| fits(*cell, behind));
        let cell = widest(behind).or_else(|| widest(0));
        (cell.unwrap_or(1), Written::No)
    };
    let shown = (1..=columns).rev().find(|count| wide(*count, cell, cells.group) <= room);
    let shown = match (shown.unwrap_or(1), cells.group) {
        // Whole groups, so that a line stands where one ends.
        (shown, group) if group > 0 && shown < columns && shown > group => shown - shown % group,
        (shown, _) => shown,
    };
    let down = usize::from(area.height);
    // With lines across, rows stand as close as columns do.
    let is_ruled = cells.rows.iter().any(CellRow::is_rule);
    let pitch = if cells.rows.len() * 2 <= down && !is_ruled { 2 } else { 1 };
    let pitch = pitch.min(limits.pitch);
    // A row is kept to say that there are more.
    let kept = match cells.rows.len() {
        all if all <= down => all,
        _ => down.saturating_sub(1).max(1),
    };
    let window = |at: usize, shown: usize, all: usize| {
        (at + 1 + shown / 4).saturating_sub(shown).min(all.saturating_sub(shown))
    };
    let (row, column) = match mark {
        Some(mark) => (mark.row, mark.column),
        None => cells.focus.unwrap_or((0, 0)),
    };
    // Long rows go on below, if all of them have the room.
    let lines = match columns.div_ceil(shown) {
        lines if behind == 0 && cells.rows.len().saturating_mul(lines) <= down => lines,
        _ => 1,
    };
    let pitch = if lines > 1 { 1 } else { pitch };
    // Pages, so that the cells stand still while the mark moves among them; the last one ends with the last column.
    let page = column.min(columns.saturating_sub(1)) / shown * shown;
    let last = columns.saturating_sub(shown).next_multiple_of(cells.group.max(1));
    let page = page.min(last);
    Plan {
        labels,
        cell,
        written,
        rows: (window(row, kept, cells.rows.len()), kept),
        columns: (if lines > 1 { 0 } else { page }, shown),
        pitch,
        lines,
    }
}

impl Plan {
    pub(super) fn x(&self, area: Rect, cells: &Cells, column: usize) -> u16 {
        let along = (column - self.columns.0) % self.columns.1.max(1);
        let with_it = wide(along + 1, self.cell, cells.group);
        let offset = with_it.saturating_sub(usize::from(self.cell));
        area.x + self.labels + 1 + pen::cells(offset)
    }
}
