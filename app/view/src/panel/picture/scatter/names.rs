//! Names next to points and along lines, wherever they touch nothing.

use std::collections::HashSet;

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use ratatui::layout::Rect;

use super::{cell, line_style};
use crate::canvas::{self as pen, Canvas, Pen, is_dots};
use crate::panel::line::letter;
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

/// Writes the names that fit next to their points without touching anything, the most important first; returns the points
/// that have one.
pub(super) fn of_points(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    scatter: &Scatter,
    order: &[usize],
    look: &Look,
) -> HashSet<usize> {
    let plot = plane.plot;
    let mut named = HashSet::new();
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
        let free = |(from, y): (u16, u16)| {
            from >= plot.x
                && from.saturating_add(wide) <= plot.right()
                && (plot.y..plot.bottom()).contains(&y)
                && (from..from + wide).all(|x| canvas.cells[(x, y)].symbol() == " ")
        };
        let symbol = |x: u16, y: u16| {
            let inside = (plot.x..plot.right()).contains(&x);
            if inside { canvas.cells[(x, y)].symbol() } else { " " }
        };
        // A name above or below needs a gap to its neighbours, so that it is not read as theirs.
        let apart = |(from, y): (u16, u16)| {
            let mut around = from.saturating_sub(1)..=from + wide;
            free((from, y)) && around.all(|x| symbol(x, y) == " ")
        };
        // Next to its point no other one is as near to a name, on either side.
        let near = |(from, y): (u16, u16)| {
            let mut on_way = match from > x {
                true => x + 1..from + wide + (from - x),
                false => from.saturating_sub(2)..x,
            };
            let is_own = |at: u16| at == x + 1 && symbol(at, y) == look.glyphs.front;
            free((from, y)) && on_way.all(|at| is_line(symbol(at, y)) || is_own(at))
        };
        let sides = [(x.saturating_add(3), y), (x.saturating_sub(wide.saturating_add(1)), y)];
        let (above, middle) = (y.wrapping_sub(1), x.saturating_sub(wide / 2));
        let (right, left) = (x.saturating_add(2), x.saturating_sub(wide.saturating_add(1)));
        let over = [middle, x, (x + 1).saturating_sub(wide), right, left];
        let mut over = [above, y + 1].into_iter().flat_map(|row| over.map(|from| (from, row)));
        let next_to = sides.into_iter().find(|place| near(*place));
        if let Some((start, y)) = next_to.or_else(|| over.find(|place| apart(*place))) {
            Pen::new(plot, canvas, &look.glyphs).text(start, y, &name, look.theme.text);
            named.insert(index);
        }
    }
    named
}

/// Whether no more than a line goes through a cell.
fn is_line(symbol: &str) -> bool {
    symbol == " " || symbol.chars().all(is_dots)
}

/// Column and row of a cell.
type Place = (u16, u16);

/// How a line can be told apart without its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineName {
    /// Its name is next to it, or at a point, or in the legend of the group that it joins.
    Told,
    /// A letter is next to it, which the legend explains.
    Letter,
    /// There was room for neither.
    Missing,
}

/// Writes the name of each line next to it, where it touches nothing and as far as possible from all other lines; of these
/// places the one most to the right. A letter takes its place where the name does not fit, or where the legend has it, in
/// the end on the line itself.
pub(super) fn of_lines(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    scatter: &Scatter,
    named_points: &HashSet<usize>,
    in_legend: &[LineName],
    look: &Look,
) -> Vec<LineName> {
    let ways: Vec<Vec<(u16, u16)>> =
        scatter.lines.iter().map(|line| places(plane, scatter, line)).collect();
    let lines = scatter.lines.iter().zip(in_legend).enumerate();
    let named = lines.map(|(index, (line, in_legend))| {
        let mut points = scatter.points.iter().enumerate();
        let is_point =
            points.any(|(index, point)| point.label == line.name && named_points.contains(&index));
        if line.name.is_empty() || is_point || scatter.joined(line).is_some() {
            return LineName::Told;
        }
        let others = ways.iter().enumerate().filter(|(other, _)| *other != index);
        let others: HashSet<(u16, u16)> = others.flat_map(|(_, way)| way).copied().collect();
        let way = &ways[index];
        let style = line_style(scatter, index, look);
        let texts = [(line.name.as_str(), LineName::Told), (letter(index), LineName::Letter)];
        for (text, name) in texts.into_iter().filter(|(_, name)| name >= in_legend) {
            if let Some((x, y)) = best(plane.plot, canvas, (way, &others), pen::width(text)) {
                Pen::new(plane.plot, canvas, &look.glyphs).text(x, y, text, style);
                return name;
            }
        }
        // What once had no room gets none, so that the legend comes to rest.
        let may_be_told = *in_legend < LineName::Missing;
        match alone(canvas, way, &others).filter(|_| may_be_told) {
            Some((x, y)) => {
                Pen::new(plane.plot, canvas, &look.glyphs).text(x, y, letter(index), style);
                LineName::Letter
            }
            None => LineName::Missing,
        }
    });
    named.collect()
}

/// The cell of a line with the fewest cells of others around it, for a letter on the line itself.
fn alone(canvas: &Canvas, way: &[(u16, u16)], others: &HashSet<(u16, u16)>) -> Option<(u16, u16)> {
    let crowd = |(x, y): (u16, u16)| {
        let around = (x.saturating_sub(1)..=x + 1)
            .flat_map(|x| (y.saturating_sub(1)..=y + 1).map(move |y| (x, y)));
        around.filter(|place| others.contains(place)).count()
    };
    let shows_line = |place: &(u16, u16)| {
        let symbol = canvas.cells[*place].symbol();
        symbol != " " && is_line(symbol)
    };
    way.iter().copied().filter(shows_line).min_by_key(|place| crowd(*place))
}

/// Where a text of this width lies next to a line: the free place with the least of other things around it.
fn best(
    plot: Rect,
    canvas: &Canvas,
    (way, others): (&[Place], &HashSet<Place>),
    wide: u16,
) -> Option<(u16, u16)> {
    let is_free = |(start, y): (u16, u16)| {
        let inside = start > plot.x && start.saturating_add(wide) <= plot.right();
        let symbol = |x: u16| if x < plot.right() { canvas.cells[(x, y)].symbol() } else { " " };
        // A letter one blank before a name would be read as part of it.
        let is_word = |x: u16| symbol(x).starts_with(char::is_alphanumeric);
        inside
            && (plot.y..plot.bottom()).contains(&y)
            && (start - 1..=start + wide).all(|x| symbol(x) == " ")
            && ![start.saturating_sub(2), start + wide + 1].into_iter().any(is_word)
    };
    let around = way.iter().flat_map(|&(x, y)| {
        let (ending, above) = ((x + 1).saturating_sub(wide), y.wrapping_sub(1));
        let next_to = [(x + 2, y), ((x.saturating_sub(1)).saturating_sub(wide), y)];
        let over = [(ending, above), (ending, y + 1), (x, above), (x, y + 1)];
        over.into_iter().chain(next_to)
    });
    let own: HashSet<(u16, u16)> = way.iter().copied().collect();
    let mut best: Option<(usize, (u16, u16))> = None;
    for place in around.filter(|place| is_free(*place)) {
        let crowd = crowd(plot, canvas, (&own, others), place, wide);
        if best.is_none_or(|(least, _)| crowd < least) {
            best = Some((crowd, place));
        }
        if crowd == 0 {
            break;
        }
    }
    best.map(|(_, place)| place)
}

/// The cells around a text that something other than the line itself is in.
fn crowd(
    plot: Rect,
    canvas: &Canvas,
    (own, others): (&HashSet<Place>, &HashSet<Place>),
    (start, y): (u16, u16),
    wide: u16,
) -> usize {
    let around = Rect::new(start.saturating_sub(2), y.saturating_sub(1), wide + 4, 3);
    let is_own = |x: u16, y: u16| {
        (x.saturating_sub(1)..=x + 1)
            .any(|x| (y.saturating_sub(1)..=y + 1).any(|y| own.contains(&(x, y))))
    };
    let taken =
        around.intersection(plot).positions().filter(|at| canvas.cells[*at].symbol() != " ");
    // Where another line lies upon it, a name would be that one's as well.
    taken.filter(|at| !is_own(at.x, at.y) || others.contains(&(at.x, at.y))).count()
}

/// The cells that a line goes through, from the right; of a steep line all rows of a column.
fn places(plane: &Plane<'_>, scatter: &Scatter, line: &ScatterLine) -> Vec<(u16, u16)> {
    let cells = line.points.iter().filter_map(|place| plane.cell(super::shown(scatter, *place)));
    let mut cells: Vec<(u16, u16)> = cells.collect();
    cells.sort_unstable();
    let between = cells.windows(2).rev().flat_map(|pair| {
        let [(left, from), (right, to)] =
            [pair[0], pair[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
        let steps = (right - left).max((to - from).abs()) as u16;
        (0..=steps).rev().map(move |step| {
            let share = f64::from(step) / f64::from(steps.max(1));
            let at = |from: f64, to: f64| (from + share * (to - from)).round() as u16;
            (at(left, right), at(from, to))
        })
    });
    between.collect()
}
