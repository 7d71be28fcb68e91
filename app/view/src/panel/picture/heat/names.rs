//! Names of rows and columns of a matrix drawn as a field.

use mlsys_lab::frame::HeatMap;
use ratatui::layout::Rect;

use crate::axis::cell_at;
use crate::canvas::{self as pen, Canvas, Pen};
use crate::panel::picture::heat::proportioned;
use crate::panel::picture::matrix;
use crate::theme::Look;

/// The columns for the names of the rows, and the field right of them and below those of the columns. The higher the field
/// is, the fewer names share a place, and the fewer columns they take.
pub(super) fn field(area: Rect, map: &HeatMap) -> (u16, Rect) {
    let right_of = |names: u16| {
        let (x, y) = (area.x + names, area.y + names.min(1));
        let height = area.height.saturating_sub(names.min(1));
        proportioned(Rect { x, y, width: area.width - names, height }, map)
    };
    let mut names = width(area, map, area.height);
    let mut field = right_of(names);
    while names < width(area, map, field.height) {
        names = width(area, map, field.height);
        field = right_of(names);
    }
    (names, field)
}

/// Columns for the names of a matrix's rows over a number of places; 0 if it has none, or there is no room for them.
fn width(area: Rect, map: &HeatMap, places: u16) -> u16 {
    if !matrix::is_matrix(map) || area.width < 6 || area.height < 4 {
        return 0;
    }
    let widest = pen::widest(at_places(map, places).iter().map(|(_, name)| name));
    widest.clamp(1, area.width / 4)
}

/// The names of the rows, each with its place of this many. Of those that share a place the first is named, but names of
/// one letter all have room next to each other.
fn at_places(map: &HeatMap, places: u16) -> Vec<(u16, String)> {
    let mut found: Vec<(u16, String)> = Vec::new();
    let are_letters = map.row_labels.iter().all(|name| pen::width(name) == 1);
    for (row, name) in map.row_labels.iter().enumerate().take(map.rows) {
        let at = place(row, map.rows, places);
        match found.last_mut() {
            Some((last, names)) if *last == at => {
                if are_letters {
                    names.push_str(name);
                }
            }
            Some(_) | None => found.push((at, name.clone())),
        }
    }
    found
}

fn place(at: usize, of: usize, size: u16) -> u16 {
    cell_at((at as f64 + 0.5) / of as f64, size)
}

/// The names of rows and columns that are too many for a place each: of those that share a place, the first.
pub(super) fn draw(canvas: &mut Canvas, plot: Rect, map: &HeatMap, wide: u16, look: &Look) {
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
    for (row, names) in at_places(map, plot.height) {
        pen.ending(plot.x, plot.y + row, &pen::cut(&names, wide, ""), look.theme.dim);
    }
}
