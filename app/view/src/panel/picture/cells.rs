//! Cells in rows, each of one of a few kinds, told apart by colour and by glyph.

mod plan;
mod words;

use mlsys_lab::frame::{Cell, Cells, Kind, Tone};
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::Lines;
use crate::glyphs::Glyphs;
use crate::panel::legend::{self, Item};
pub(in crate::panel) use crate::panel::picture::cells::plan::{Limits, text_width};
use crate::panel::picture::cells::plan::{Plan, Written, label_width, plan, wide};
use crate::panel::picture::cells::words::{cell_words, told_rows};
use crate::panel::picture::{At, LEAST, Picture, READ_LINES, RowNeed, page_rows};
use crate::panel::view::{FrameView, Mark};
use crate::text;
use crate::theme::Look;

/// The place of the legend: pictures next to others with the same one share it below all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Legend {
    Own,
    Shared,
}

/// Columns of which each is numbered.
const FEW: usize = 8;

/// Draws the rows that fit, the marked cell among them, a legend and the sentence.
pub(crate) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    cells: &Cells,
    mark: Option<Mark>,
    legend: Legend,
    look: &Look,
) {
    draw_within(area, canvas, cells, mark, (legend, Limits::NONE), look);
}

/// Draws one of several pictures that share a legend, with cells no larger than the limits.
pub(in crate::panel) fn draw_alike(
    area: Rect,
    canvas: &mut Canvas,
    cells: &Cells,
    limits: Limits,
    look: &Look,
) {
    draw_within(area, canvas, cells, None, (Legend::Shared, limits), look);
}

fn draw_within(
    area: Rect,
    canvas: &mut Canvas,
    cells: &Cells,
    mark: Option<Mark>,
    (legend, limits): (Legend, Limits),
    look: &Look,
) {
    let columns = cells.columns();
    if columns == 0 || area.is_empty() {
        canvas.say(area, "no cells", look);
        return;
    }
    let mark = mark.map(|mark| mark.within(columns, cells.rows.len()));
    let items = if legend == Legend::Own { kinds(cells, look) } else { Vec::new() };
    // Few rows leave room for it where there are few cells.
    let left = area.height.saturating_sub(pen::cells(cells.rows.len()) + head(cells));
    let legend = legend::rows(&items, area.width, if area.height >= 5 { 2 } else { left.min(2) });
    // The sentence gives way to the cells, but for a third of the height.
    let head = head(cells).min(area.height / 4);
    // A row says which columns are seen where these are not all.
    let paged = u16::from(plan(area, cells, columns, mark, limits).columns.1 < columns);
    let wanted = pen::cells(cells.rows.len()).min(area.height / 2);
    let spare = area.height.saturating_sub(wanted + legend + head + paged).max(area.height / 3);
    let note = text::whole(&cells.note, area.width, spare);
    let text = pen::cells(note.len());
    let body = Rect { y: area.y + head, height: area.height - head - legend - text, ..area };
    let plan = plan(body, cells, columns, mark, limits);
    if head > 0 {
        numbers(area, canvas, cells, &plan, look);
    }
    let end = rows(body, canvas, cells, &plan, mark, look);
    // Close below the last row, so that legend and cells are seen together.
    let mut y = end.min(area.bottom() - legend - text);
    let left = area.bottom() - text - y;
    let legend = if legend == 0 { 0 } else { legend::rows(&items, area.width, left) };
    let below = Rect { y, height: legend, ..area };
    legend::draw(below, canvas, &items, look);
    y += legend;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    for line in &note {
        pen.text(area.x, y, line, look.theme.text);
        y += 1;
    }
}

fn tone(tone: Tone, look: &Look) -> (&'static str, Style) {
    let (glyphs, theme) = (&look.glyphs, &look.theme);
    match tone {
        Tone::First => (glyphs.fills[0], theme.curves[0]),
        Tone::Second => (glyphs.fills[1], theme.curves[1]),
        Tone::Third => (glyphs.fills[2], theme.curves[2]),
        Tone::Faint => (glyphs.faint_point, theme.dim),
        Tone::Empty => (glyphs.open, theme.dim),
        Tone::Text => (" ", theme.text),
        Tone::Warn => ("!", theme.warn),
        Tone::Bad => (glyphs.wrong, theme.bad),
        Tone::Ghost => (glyphs.fills[3], theme.dim),
        Tone::Now => (glyphs.reading, theme.accent),
    }
}

fn cell_look(cells: &Cells, cell: &Cell, look: &Look) -> (&'static str, Style) {
    let kind = cells.kinds.get(cell.kind);
    tone(kind.map_or(Tone::Faint, |kind| kind.tone), look)
}

/// Rows for the numbers of the columns.
fn head(cells: &Cells) -> u16 {
    u16::from(!cells.across.is_empty())
}

pub(in crate::panel) fn kinds(cells: &Cells, look: &Look) -> Vec<Item> {
    let item = |kind: &Kind| {
        let (glyph, style) = tone(kind.tone, look);
        Item::new(glyph, style, &kind.name, look.theme.dim)
    };
    cells.kinds.iter().filter(|kind| kind.tone != Tone::Text).map(item).collect()
}

/// The rows of the legend, at most two.
pub(crate) fn legend_rows(kinds: &[Kind], width: u16) -> u16 {
    let shown = kinds.iter().filter(|kind| kind.tone != Tone::Text);
    // Every glyph takes one column.
    let items = shown.map(|kind| Item::new("x", Style::new(), &kind.name, Style::new()));
    legend::rows(&items.collect::<Vec<_>>(), width, 2)
}

pub(crate) fn row_need(cells: &Cells, width: u16, legend: Legend, look: &Look) -> RowNeed {
    let columns = cells.columns();
    let area = Rect::new(0, 0, width, u16::MAX / width.max(1));
    let plan = plan(area, cells, columns, None, Limits::NONE);
    let is_paged = plan.lines == 1 && plan.columns.1 < columns;
    let rows = cells.rows.len().saturating_mul(plan.lines);
    let need = RowNeed::listed(rows, head(cells) + u16::from(is_paged));
    let legend = match legend {
        Legend::Own => legend::rows(&kinds(cells, look), width, 2),
        Legend::Shared => 0,
    };
    need.and(legend + text::rows(&cells.note, width))
}

/// The numbers above: where groups begin, or every fourth column, or all where they have room.
fn numbers(area: Rect, canvas: &mut Canvas, cells: &Cells, plan: &Plan, look: &Look) {
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    pen.ending(area.x + plan.labels, area.y, &cells.across, look.theme.dim);
    let (first, shown) = plan.columns;
    let last = (first + shown).min(cells.columns());
    let digits = pen::width(&cells.first.saturating_add(last.saturating_sub(1)).to_string());
    // Of few columns each is numbered, and where they have no gap their numbers have none.
    let gap = u16::from(shown > FEW || digits < plan.cell);
    let step = match cells.group {
        _ if shown <= 2 * FEW && plan.cell >= digits + gap => 1,
        0 if plan.cell >= 4 => 1,
        0 => 4,
        group => group,
    };
    let mut free = 0;
    for column in (first..last).filter(|column| column.is_multiple_of(step)) {
        let number = cells.first.saturating_add(column).to_string();
        let x = plan.x(area, cells, column);
        if x >= free && x.saturating_add(pen::width(&number)) <= area.right() {
            free = pen.text(x, area.y, &number, look.theme.dim) + gap;
        }
    }
}

/// Draws the rows in sight; returns the first screen row below them.
fn rows(
    area: Rect,
    canvas: &mut Canvas,
    cells: &Cells,
    plan: &Plan,
    mark: Option<Mark>,
    look: &Look,
) -> u16 {
    let (glyphs, theme) = (&look.glyphs, &look.theme);
    let mut pen = Pen::new(area, canvas, glyphs);
    let (first, shown) = plan.columns;
    let mut y = area.y;
    let seen = cells.rows.iter().enumerate().skip(plan.rows.0).take(plan.rows.1);
    let last = (first + shown).min(cells.columns()).saturating_sub(1);
    let end = plan.x(area, cells, last) + plan.cell;
    let room = area.right().saturating_sub(end + 1);
    let are_whole = seen.clone().all(|(_, row)| pen::width(&row.remark) <= room);
    for (place, row) in seen {
        if row.is_rule() {
            let start = area.x + plan.labels + 1;
            pen.run(start, y, end.saturating_sub(start), glyphs.horizontal, theme.border);
            for column in (first + 1..=last).filter(|column| cells.is_group(column - first)) {
                pen.glyph(plan.x(area, cells, column) - 1, y, glyphs.mark, theme.border);
            }
            y = y.saturating_add(plan.pitch);
            continue;
        }
        let marked = mark.filter(|mark| mark.row == place);
        let style = if marked.is_some() { theme.accent } else { theme.dim };
        let mut end = area.x + plan.labels + 1;
        for line in 0..plan.lines {
            let begin = first + line * shown;
            let label = match line {
                0 => row.label.clone(),
                _ => cells.first.saturating_add(begin).to_string(),
            };
            let label = pen::cut(&label, plan.labels, glyphs.ellipsis);
            pen.ending(area.x + plan.labels, y, &label, style);
            for (column, cell) in row.cells.iter().enumerate().skip(begin).take(shown) {
                let x = plan.x(area, cells, column);
                if column > begin && cells.is_group(column - begin) {
                    pen.glyph(x - 1, y, glyphs.vertical, theme.border);
                }
                end = x + plan.cell;
                let Some(cell) = cell else { continue };
                let (glyph, style) = cell_look(cells, cell, look);
                let is_marked = marked.is_some_and(|mark| mark.column == column);
                // A full block in the colours of the selection would be a hole.
                let (glyph, style) = match (is_marked, glyph == glyphs.fills[0]) {
                    (true, true) => (glyphs.bullet, theme.selection),
                    (true, false) => (glyph, theme.selection),
                    (false, _) => (glyph, style),
                };
                match plan.written {
                    Written::Yes => {
                        pen.glyph(x, y, glyph, style);
                        pen.within(x + 1, y, plan.cell - 2, &cell.text, style);
                    }
                    Written::Close => {
                        pen.glyph(x, y, glyph, style);
                        pen.within(x + 1, y, plan.cell - 1, &cell.text, style);
                    }
                    Written::Alone if !cell.text.is_empty() => {
                        pen.within(x, y, plan.cell - 1, &cell.text, style);
                    }
                    Written::Alone => {
                        pen.glyph(x, y, glyph, style);
                    }
                    // The widest leave a gap, so that neighbours are told apart.
                    Written::No => pen.run(x, y, (plan.cell - 1).max(1), glyph, style),
                }
            }
            if line + 1 < plan.lines {
                y = y.saturating_add(1);
            }
        }
        // The whole remark, or of all rows the first part.
        let room = area.right().saturating_sub(end + 1);
        let first = row.remark.split(", ").next().unwrap_or_default();
        let remarks = if are_whole { [row.remark.as_str(), first] } else { [first; 2] };
        let remark = remarks.into_iter().find(|text| pen::width(text) <= room);
        if let Some(remark) = remark {
            pen.text(end + 1, y, remark, theme.text);
        }
        y = y.saturating_add(plan.pitch);
    }
    let all = (cells.rows.len(), cells.columns());
    if plan.pitch == 2 {
        y = y.saturating_sub(1);
    }
    let paged = plan.lines == 1 && shown < all.1;
    if plan.rows.1 < all.0 || paged {
        let place = |to: &str, of: &str| {
            let part = |name: &str, first: usize, count: usize, all: usize| {
                format!("{name} {}{to}{}{of}{all}", first + 1, (first + count).min(all))
            };
            let rows = (plan.rows.1 < all.0).then(|| part("rows", plan.rows.0, plan.rows.1, all.0));
            let columns = paged.then(|| part("columns", first, shown, all.1));
            rows.into_iter().chain(columns).collect::<Vec<_>>().join(", ")
        };
        let texts = [place(" to ", " of "), place("-", "/")];
        let fits = texts.iter().find(|text| pen::width(text) <= area.width);
        pen.text(area.x, y, fits.unwrap_or(&texts[1]), theme.dim);
        y += 1;
    }
    y
}

impl Picture for Cells {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        draw(area, canvas, self, at.view.mark, Legend::Own, look);
    }

    fn words(&self, _: &FrameView, _: &Glyphs) -> String {
        let mut lines: Vec<String> = Vec::new();
        if !self.note.is_empty() {
            lines.push(self.note.clone());
        }
        let rows = self.rows.iter().filter(|row| !row.is_rule());
        let more = rows.clone().count().saturating_sub(READ_LINES);
        lines.extend(told_rows(self, rows.take(READ_LINES)));
        lines.extend((more > 0).then(|| format!("and {more} more rows")));
        lines.join("\n")
    }

    fn values(&self, lines: &mut Lines) {
        lines.line(["row", text::or(&self.across, "column"), "kind", "text", "remark"]);
        for row in &self.rows {
            for (place, cell) in row.cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                let place = self.first.saturating_add(place).to_string();
                let kind = self.name(cell);
                lines.line([&row.label, &place, kind, &cell.text, &row.remark]);
            }
        }
    }

    fn marked(&self, view: &FrameView, _: &Glyphs) -> Option<String> {
        let Mark { column, row } = view.mark?.within(self.columns(), self.rows.len());
        cell_words(self, row, column)
    }

    fn places(&self, _: &FrameView) -> (usize, usize) {
        (self.columns(), self.rows.len())
    }

    /// A column a cell, and a few rows for what they mean.
    fn least(&self) -> (u16, u16) {
        /// Title, numbers, legend and a line of the sentence.
        const AROUND: u16 = 4;
        let wide = pen::cells(wide(self.columns(), 1, self.group));
        let wide = wide.saturating_add(label_width(self)).saturating_add(1);
        (wide.max(LEAST.0), pen::cells(self.rows.len()).saturating_add(AROUND))
    }

    fn row_need(&self, _: At<'_>, width: u16, look: &Look) -> Option<RowNeed> {
        Some(row_need(self, width, Legend::Own, look))
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        let room = columns.saturating_sub(20).max(1);
        let across = pen::cells(self.columns()).div_ceil(room).max(1);
        let rows = page_rows(self.rows.len()).saturating_mul(across).saturating_add(6);
        (columns, rows.saturating_add(text::rows(&self.note, columns)))
    }
}
