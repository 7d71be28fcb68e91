//! Names of rows and columns of a matrix drawn as a field.

use mlsys_lab::frame::HeatMap;
use ratatui::layout::Rect;

use crate::axis::cell_at;
use crate::canvas::{self as pen, Canvas, Pen};
use crate::panel::picture::matrix;
use crate::theme::Look;

/// Columns for the names of a matrix's rows; 0 if it has none, or there is no room for them.
pub(super) fn width(area: Rect, map: &HeatMap) -> u16 {
    if !matrix::is_matrix(map) || area.width < 6 || area.height < 4 {
        return 0;
    }
    let visible = map.row_labels.iter().take(map.rows.min(usize::from(area.height) * 2));
    pen::widest(visible).clamp(1, area.width / 4)
}

/// The names of rows and columns that are too many for a place each: of those that share a place, the first.
pub(super) fn draw(canvas: &mut Canvas, plot: Rect, map: &HeatMap, wide: u16, look: &Look) {
    let place = |at: usize, of: usize, size: u16| cell_at((at as f64 + 0.5) / of as f64, size);
    let area =
        Rect { x: plot.x - wide, y: plot.y - 1, width: plot.width + wide, height: plot.height + 1 };
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let mut free = plot.x;
    for (column, name) in map.column_labels.iter().enumerate().take(map.columns) {
        let x = plot.x + place(column, map.columns, plot.width);
        if x >= free && x < plot.right() {
            let each = (usize::from(plot.width) / map.columns).max(1);
            let name = pen::cut(name, pen::cells(each), "");
            free = pen.text(x, plot.y - 1, &name, look.theme.dim).max(x + 1);
        }
    }
    let mut free = plot.y;
    for (row, name) in map.row_labels.iter().enumerate().take(map.rows) {
        let y = plot.y + place(row, map.rows, plot.height);
        if y >= free && y < plot.bottom() {
            pen.ending(plot.x, y, &pen::cut(name, wide, ""), look.theme.dim);
            free = y + 1;
        }
    }
}
