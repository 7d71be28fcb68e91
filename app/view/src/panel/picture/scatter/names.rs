//! Names next to points and along lines, wherever they touch nothing.

use std::collections::{HashMap, HashSet};

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use ratatui::layout::Rect;

use super::{cell, line_style};
use crate::canvas::{self as pen, Canvas, Pen, is_dots};
use crate::panel::line::letter;
use crate::panel::plane::Plane;
use crate::quantity::{quantity, unit};
use crate::theme::Look;

/// Column and row of a cell.
type Place = (u16, u16);

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

/// Whether the name of a point stands on an axis, where it is read.
fn is_on_axis(scatter: &Scatter, point: &ScatterPoint) -> bool {
    let Some((across, up)) = point.place() else { return false };
    let names = [scatter.x.category(across), scatter.y.category(up)];
    names.contains(&Some(point.label.as_str()))
}

/// The points that a mark stands for, as groups of those that share a cell, the most important first; only those with a
/// name that is not read on an axis, or that are the only one of their group.
fn marks(plane: &Plane<'_>, scatter: &Scatter, order: &[usize]) -> Vec<(Place, Vec<usize>)> {
    let mut marks: Vec<(Place, Vec<usize>)> = Vec::new();
    let mut found: HashMap<Place, usize> = HashMap::new();
    for &index in order.iter().rev() {
        let Some(point) = scatter.points.get(index) else { continue };
        let Some(place) = cell(plane, scatter, point) else { continue };
        if point.label.is_empty() && group(scatter, point).is_none() || is_on_axis(scatter, point) {
            continue;
        }
        let at = *found.entry(place).or_insert(marks.len());
        match marks.get_mut(at) {
            Some((_, points)) => points.push(index),
            None => marks.push((place, vec![index])),
        }
    }
    // By itself such a point is in the legend.
    let has_label = |index: &usize| !scatter.points[*index].label.is_empty();
    marks.retain(|(_, points)| points.iter().any(has_label));
    marks
}

/// The name of a group that has this point alone.
fn group<'a>(scatter: &'a Scatter, point: &ScatterPoint) -> Option<&'a str> {
    let in_group = scatter.points.iter().filter(|other| other.series == point.series);
    let name = scatter.series.get(point.series).filter(|_| in_group.count() == 1);
    name.map(String::as_str)
}

/// What may be written next to a mark, the best first: the names of all its points, or the name of the one that is seen.
fn texts(scatter: &Scatter, points: &[usize], look: &Look) -> Vec<(String, usize)> {
    /// Names that are read at one mark.
    const MOST: usize = 3;
    let points = points.iter().filter_map(|index| scatter.points.get(*index));
    let names = points.map(|point| match group(scatter, point) {
        Some(group) if point.label.is_empty() => group.to_owned(),
        Some(_) | None => name(scatter, point, look),
    });
    let names: Vec<String> = names.collect();
    let mut told: Vec<&str> = Vec::new();
    for name in &names {
        if !told.contains(&name.as_str()) {
            told.push(name);
        }
    }
    let all = match told.as_slice() {
        [first, second, .., _] if told.len() > MOST => {
            (format!("{first}, {second} +{}", told.len() - 2), names.len())
        }
        told => (told.join(", "), names.len()),
    };
    let own = told.first().map(|name| ((*name).to_owned(), 1));
    [Some(all), own].into_iter().flatten().collect()
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
    for (at, points) in marks(plane, scatter, order).into_iter().take(most) {
        let texts = texts(scatter, &points, look);
        let find = |place: fn(Rect, &Canvas, Place, u16, &Look) -> Option<Place>| {
            let found = |(text, count): &(String, usize)| {
                Some((place(plot, canvas, at, pen::width(text), look)?, text.clone(), *count))
            };
            texts.iter().find_map(found)
        };
        // The name of a line is found along it.
        let is_line = |index: &usize| {
            scatter
                .points
                .get(*index)
                .is_some_and(|point| scatter.lines.iter().any(|line| line.name == point.label))
        };
        let far = || if points.iter().any(is_line) { None } else { find(far) };
        let Some(((start, y), text, count)) = find(close).or_else(far) else { continue };
        let end = start + pen::width(&text);
        let way = if start > at.0 { at.0 + 1..start } else { end..at.0 };
        // A name further away is led to where the way to it is blank.
        let is_led = y == at.1 && way.len() > usize::from(CLOSE);
        for x in way {
            if is_led && canvas.cells[(x, y)].symbol() == " " {
                let (dot, style) = (look.glyphs.faint_point, look.theme.dim);
                Pen::new(plot, canvas, &look.glyphs).glyph(x, y, dot, style);
            }
        }
        Pen::new(plot, canvas, &look.glyphs).text(start, y, &text, look.theme.text);
        named.extend(points.into_iter().take(count));
    }
    named
}

fn symbol(plot: Rect, canvas: &Canvas, (x, y): Place) -> &str {
    let is_inside = (plot.x..plot.right()).contains(&x);
    if is_inside { canvas.cells[(x, y)].symbol() } else { " " }
}

/// Whether a text of this width touches nothing at a place.
fn is_free(plot: Rect, canvas: &Canvas, (from, y): Place, wide: u16) -> bool {
    from >= plot.x
        && from.saturating_add(wide) <= plot.right()
        && (plot.y..plot.bottom()).contains(&y)
        && (from..from + wide).all(|x| canvas.cells[(x, y)].symbol() == " ")
}

/// Whether a free place has a gap to its neighbours, so that a name there is not read as theirs.
fn is_apart(plot: Rect, canvas: &Canvas, (from, y): Place, wide: u16) -> bool {
    let mut ends = [from.saturating_sub(1), from + wide].into_iter();
    is_free(plot, canvas, (from, y), wide) && ends.all(|x| symbol(plot, canvas, (x, y)) == " ")
}

/// Whether a name in the row of its mark has no other one as near to it, on either side.
fn is_nearest(
    plot: Rect,
    canvas: &Canvas,
    (x, y): Place,
    (from, wide): (u16, u16),
    look: &Look,
) -> bool {
    let (end, symbol) = (from + wide, |at: u16| symbol(plot, canvas, (at, y)));
    let mut on_way = match from > x {
        true => x + 1..end + (from - x),
        false => from.saturating_sub(x.saturating_sub(end).max(2))..x,
    };
    on_way.all(|at| is_line(symbol(at)) || (at == x + 1 && symbol(at) == look.glyphs.front))
}

/// Where a name of this width stands next to the mark at a cell.
fn close(plot: Rect, canvas: &Canvas, (x, y): Place, wide: u16, look: &Look) -> Option<Place> {
    let is_near = |from: u16| {
        is_free(plot, canvas, (from, y), wide)
            && is_nearest(plot, canvas, (x, y), (from, wide), look)
    };
    let (right, left) = (x.saturating_add(2), x.saturating_sub(wide.saturating_add(1)));
    let over = [x.saturating_sub(wide / 2), x, (x + 1).saturating_sub(wide), right, left];
    let mut over =
        [y.wrapping_sub(1), y + 1].into_iter().flat_map(|row| over.map(|from| (from, row)));
    let next_to = [right + 1, left].into_iter().find(|from| is_near(*from)).map(|from| (from, y));
    next_to.or_else(|| over.find(|place| is_apart(plot, canvas, *place, wide)))
}

/// Columns between a mark and a name next to it, at most.
const CLOSE: u16 = 2;

/// Where a name of this width stands in the row of its mark behind the lines next to it.
fn far(plot: Rect, canvas: &Canvas, (x, y): Place, wide: u16, look: &Look) -> Option<Place> {
    /// Columns that the eye follows to a name.
    const FAR: u16 = 24;
    let sides = |gap: u16| [Some(x + 1 + gap), x.checked_sub(wide + gap)];
    let mut places = (CLOSE + 1..=FAR.min(plot.width / 4)).flat_map(sides).flatten();
    let found = places.find(|from| {
        is_apart(plot, canvas, (*from, y), wide)
            && is_nearest(plot, canvas, (x, y), (*from, wide), look)
    });
    found.map(|from| (from, y))
}

/// Whether no more than a line goes through a cell.
fn is_line(symbol: &str) -> bool {
    symbol == " " || symbol.chars().all(is_dots)
}

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
    let is_own = |place: &Place| !is_led_to(plot, canvas, (&own, others), *place, wide);
    let mut best: Option<(usize, (u16, u16))> = None;
    for place in around.filter(|place| is_free(*place)).filter(is_own) {
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

/// Whether another line lies in the row of a text so near to it that it seems to lead there.
fn is_led_to(
    plot: Rect,
    canvas: &Canvas,
    (own, others): (&HashSet<Place>, &HashSet<Place>),
    (start, y): Place,
    wide: u16,
) -> bool {
    /// Columns over which an eye goes on from a line's end.
    const NEAR: u16 = 6;
    let is_others = |x: &u16| symbol(plot, canvas, (*x, y)) != " ";
    let left = (start.saturating_sub(NEAR).max(plot.x)..start).rev().find(is_others);
    let right = (start + wide..(start + wide + NEAR).min(plot.right())).find(is_others);
    let is_only_others = |x: u16| others.contains(&(x, y)) && !own.contains(&(x, y));
    [left, right].into_iter().flatten().any(is_only_others)
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
