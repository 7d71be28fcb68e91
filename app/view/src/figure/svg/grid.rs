//! Cells in rows, each of one of a few kinds.

use mlsys_lab::frame::{Cells, Tone};

use super::page::{Anchor, LINE, MARGIN, Page, WIDTH, cut, width, wrapped};
use crate::figure::ink;

/// Rows of one figure; the file of values has them all.
const MOST_ROWS: usize = 128;
/// Columns of one figure.
const MOST_COLUMNS: usize = 256;
/// The widest and the highest that a cell is drawn.
const CELL: (f64, f64) = (34.0, 20.0);

/// Draws a legend, the rows of cells with what stands behind them, and the sentence.
pub(super) fn draw(page: &mut Page, cells: &Cells) {
    let mut x = MARGIN;
    for kind in &cells.kinds {
        let (fill, edge) = tone(kind.tone);
        page.shape(&rectangle((x, page.y - 9.0), (12.0, 12.0)), fill, edge);
        page.text((x + 17.0, page.y + 1.0), Anchor::Start, &kind.name, ink::DIM);
        x += width(&kind.name) + 38.0;
    }
    page.y += LINE + 4.0;
    let columns = cells.columns().clamp(1, MOST_COLUMNS);
    let rows = || cells.rows.iter().take(MOST_ROWS);
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(width).fold(0.0, f64::max);
    let labels = widest(&mut rows().map(|row| row.label.as_str())).max(width(&cells.across));
    let remarks = widest(&mut rows().map(|row| row.remark.as_str())).min(WIDTH / 3.0);
    let left = MARGIN + labels + 8.0;
    let room = WIDTH - MARGIN - left - remarks - 8.0;
    let wide = (room / columns as f64).clamp(2.0, CELL.0);
    let high = wide.clamp(10.0, CELL.1);
    if !cells.across.is_empty() {
        page.text((MARGIN, page.y), Anchor::Start, &cells.across, ink::DIM);
        let step = if cells.group > 0 { cells.group } else { 4 };
        for column in (0..columns).step_by(step) {
            let at = (left + column as f64 * wide, page.y);
            page.text(at, Anchor::Start, &cells.first.saturating_add(column).to_string(), ink::DIM);
        }
        page.y += 6.0;
    }
    for row in rows() {
        let base = page.y + high * 0.75;
        page.text((left - 8.0, base), Anchor::End, &row.label, ink::DIM);
        for (column, cell) in row.cells.iter().take(columns).enumerate() {
            let Some(cell) = cell else {
                continue;
            };
            let kind = cells.kinds.get(cell.kind);
            let (fill, edge) = tone(kind.map_or(Tone::Faint, |kind| kind.tone));
            let x = left + column as f64 * wide;
            page.shape(&rectangle((x, page.y), (wide - 1.0, high - 1.0)), fill, edge);
            if !cell.text.is_empty() && width(&cell.text) < wide {
                let at = (x + wide / 2.0, base);
                page.text(at, Anchor::Middle, &cell.text, ink::INK);
            }
        }
        let end = left + columns as f64 * wide + 8.0;
        page.text((end, base), Anchor::Start, &cut(&row.remark, 60), ink::DIM);
        page.y += high;
    }
    if cells.group > 0 && cells.group < columns {
        let top = page.y - high * rows().count() as f64;
        for column in (cells.group..columns).step_by(cells.group) {
            let x = left + column as f64 * wide - 0.5;
            page.line((x, top), (x, page.y), ink::INK, "none");
        }
    }
    page.y += LINE;
    if cells.rows.len() > MOST_ROWS || cells.columns() > MOST_COLUMNS {
        let all = format!("of {} rows and {} columns the first", cells.rows.len(), cells.columns());
        page.text((MARGIN, page.y), Anchor::Start, &all, ink::DIM);
        page.y += LINE;
    }
    for line in wrapped(&cells.note, WIDTH - 2.0 * MARGIN) {
        page.text((MARGIN, page.y), Anchor::Start, &line, ink::INK);
        page.y += LINE;
    }
}

/// The fill and the edge of a tone.
fn tone(tone: Tone) -> (&'static str, &'static str) {
    match tone {
        Tone::First => (ink::soft(0), ink::color(0)),
        Tone::Second => (ink::soft(1), ink::color(1)),
        Tone::Third => (ink::soft(2), ink::color(2)),
        Tone::Faint => (ink::PAPER, ink::GRID),
        Tone::Empty => (ink::GRID, ink::DIM),
        Tone::Warn => (ink::soft(3), ink::color(4)),
        Tone::Bad => (ink::soft(4), ink::BAD),
    }
}

fn rectangle((x, y): (f64, f64), (wide, high): (f64, f64)) -> String {
    format!("M{x:.1} {y:.1}h{wide:.1}v{high:.1}h-{wide:.1}z")
}
