//! Names next to points and along lines, wherever they touch nothing.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};

use super::{cell, line_style};
use crate::canvas::{self as pen, Canvas, Pen};
use crate::panel::plane::Plane;
use crate::quantity::{quantity, unit};
use crate::theme::Look;

/// The text next to a point; where it is, if that is not where it is drawn, comes first.
fn name(scatter: &Scatter, point: &ScatterPoint, look: &Look) -> String {
    // What stands in parentheses is for who looks at the point alone.
    let name = point.label.split(" (").next().unwrap_or("");
    let far = |dimension: &Dimension, value: Option<f64>| {
        let value = value.filter(|value| dimension.shown(*value) != *value)?;
        let value = quantity(value, unit(&dimension.unit), &look.glyphs);
        Some(format!("{} {value}, {name}", dimension.name))
    };
    far(&scatter.y, point.y).or_else(|| far(&scatter.x, point.x)).unwrap_or_else(|| name.to_owned())
}

/// Writes the names that fit next to their points without touching anything, the most important first.
pub(super) fn of_points(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    scatter: &Scatter,
    order: &[usize],
    look: &Look,
) {
    let plot = plane.plot;
    // With more points than this, names would be all there is.
    let most = usize::from(plot.height) * 2;
    for &index in order.iter().rev().take(most) {
        let Some(point) = scatter.points.get(index).filter(|p| !p.label.is_empty()) else {
            continue;
        };
        let Some((x, y)) = cell(plane, scatter, point) else { continue };
        // A name that stands on an axis, too, is read there.
        let (on_x, on_y) = point.place().map_or((None, None), |(across, up)| {
            (scatter.x.category(across), scatter.y.category(up))
        });
        if [on_x, on_y].contains(&Some(point.label.as_str())) {
            continue;
        }
        let name = name(scatter, point, look);
        let wide = pen::width(&name);
        let free = |from: u16| {
            from >= plot.x
                && from.saturating_add(wide) <= plot.right()
                && (from..from + wide).all(|x| is_free(canvas.cells[(x, y)].symbol()))
        };
        let sides = [x.saturating_add(3), x.saturating_sub(wide.saturating_add(1))];
        if let Some(start) = sides.into_iter().find(|from| free(*from)) {
            Pen::new(plot, canvas, &look.glyphs).text(start, y, &name, look.theme.text);
        }
    }
}

/// Whether nothing stands in a cell but perhaps the line of the front.
fn is_free(symbol: &str) -> bool {
    symbol == " " || symbol.chars().all(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
}

/// Writes the name of each line above or below it, as far to the right as it touches nothing: lines are then told apart
/// without their colours.
pub(super) fn of_lines(plane: &Plane<'_>, canvas: &mut Canvas, scatter: &Scatter, look: &Look) {
    let plot = plane.plot;
    for (index, line) in scatter.lines.iter().enumerate() {
        let is_point = scatter.points.iter().any(|point| point.label == line.name);
        if line.name.is_empty() || is_point || scatter.joined(line).is_some() {
            continue;
        }
        let wide = pen::width(&line.name);
        let is_free = |canvas: &Canvas, start: u16, y: u16| {
            let inside = start > plot.x && start.saturating_add(wide) <= plot.right();
            let blank = |x: u16| x >= plot.right() || canvas.cells[(x, y)].symbol() == " ";
            inside && (plot.y..plot.bottom()).contains(&y) && (start - 1..=start + wide).all(blank)
        };
        let places = places(plane, scatter, line);
        let around = places.iter().flat_map(|(x, y)| {
            let start = (x + 1).saturating_sub(wide);
            [y.wrapping_sub(1), y + 1].map(|row| (start, row))
        });
        if let Some((x, y)) = around.into_iter().find(|(x, y)| is_free(canvas, *x, *y)) {
            let style = line_style(scatter, index, look);
            Pen::new(plot, canvas, &look.glyphs).text(x, y, &line.name, style);
        }
    }
}

/// The cells that a line goes through, one a column, from the right.
fn places(plane: &Plane<'_>, scatter: &Scatter, line: &ScatterLine) -> Vec<(u16, u16)> {
    let cells = line.points.iter().filter_map(|place| plane.cell(super::shown(scatter, *place)));
    let mut cells: Vec<(u16, u16)> = cells.collect();
    cells.sort_unstable();
    let between = cells.windows(2).rev().flat_map(|pair| {
        let [(left, from), (right, to)] = [pair[0], pair[1]];
        let slope = (f64::from(to) - f64::from(from)) / f64::from(right - left).max(1.0);
        let at = move |x: u16| (f64::from(from) + slope * f64::from(x - left)).round() as u16;
        (left..=right).rev().map(move |x| (x, at(x)))
    });
    between.collect()
}
