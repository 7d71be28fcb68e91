//! Names next to points, wherever they touch nothing and are read as those of no other point.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use mlsys_lab::frame::{Dimension, Scatter, ScatterPoint};
use ratatui::layout::Rect;

use super::key::{Key, Naming};
use super::places::{Cells, Place};
use crate::canvas::{self as pen, Canvas, Pen, is_dots};
use crate::panel::plane::Plane;
use crate::quantity::{quantity, unit};
use crate::theme::Look;

/// The points that keep their names where there are too many points for all names.
#[derive(Clone, Copy)]
pub(super) struct Important<'a> {
    pub(super) front: &'a [usize],
    pub(super) chosen: Option<usize>,
}

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
fn is_on_axis(scatter: &Scatter, point: &ScatterPoint, look: &Look) -> bool {
    let Some((across, up)) = point.place() else { return false };
    let sides = [(&scatter.x, across), (&scatter.y, up)];
    sides.into_iter().any(|(dimension, value)| match dimension.category(value) {
        Some(name) => name == point.label,
        None => {
            // `4 bits` is read on an axis of `bits a weight`.
            let read = quantity(value, unit(&dimension.unit), &look.glyphs);
            let rest = read.strip_prefix(point.label.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        }
    })
}

/// The points that a mark stands for, as groups of those that share a cell, the most important first; only those with a
/// name that is not read on an axis, or that are the only one of their group.
fn marks(
    scatter: &Scatter,
    (order, cells): (&[usize], &Cells),
    is_told: impl Fn(usize, &ScatterPoint) -> bool,
    look: &Look,
) -> Vec<(Place, Vec<usize>)> {
    let mut marks: Vec<(Place, Vec<usize>)> = Vec::new();
    let mut found: HashMap<Place, usize> = HashMap::new();
    for &index in order.iter().rev() {
        let Some(point) = scatter.points.get(index) else { continue };
        let Some(place) = cells.of(index) else { continue };
        let is_nameless = point.label.is_empty() && group(scatter, point).is_none();
        if is_nameless || is_on_axis(scatter, point, look) || !is_told(index, point) {
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
    // The shortest where all are variants of it, `dense` of `dense` and `dense: links 2`; else the one that is seen.
    let is_root = |short: &&&str| told.iter().all(|name| name.starts_with(**short));
    let shortest = told.iter().min_by_key(|name| pen::width(name)).filter(is_root).or(told.first());
    let more = told.len().saturating_sub(1);
    let short = shortest.filter(|_| more > 0).map(|name| (format!("{name} +{more}"), 1));
    let own = told.first().filter(|_| more == 0).map(|name| ((*name).to_owned(), 1));
    [Some(all), short, own].into_iter().flatten().collect()
}

/// Finds the place of a text of a width for the mark at a place, among the cells of all marks.
type Placing = fn(Rect, &Canvas, (Place, &HashSet<Place>), u16, &Look) -> Option<Place>;

/// Columns from a mark to a text in another row or its own, 0 above and below it, 1 next to it.
pub(super) fn gap(mark: u16, (from, wide): (u16, u16)) -> u16 {
    from.saturating_sub(mark).max((mark + 1).saturating_sub(from + wide))
}

/// The columns between a mark and a text in its row.
fn between(mark: u16, (from, wide): (u16, u16)) -> Range<u16> {
    if from > mark { mark + 1..from } else { from + wide..mark }
}

/// Whether a text at a place is read as the name of the mark at `own` and of no other: none is near in its row, and where the
/// text is not in the row of its mark, none is right above or below it.
fn is_read_at(marks: &HashSet<Place>, own: Place, (from, y): Place, wide: u16) -> bool {
    /// A mark this near in the row of a text seems to be the one that it names.
    const NEAR: u16 = 20;
    let gap = |x: u16| gap(x, (from, wide));
    let is_next_to = y == own.1 && gap(own.0) <= CLOSE + 1;
    marks.iter().filter(|mark| **mark != own).all(|mark| match mark.1.abs_diff(y) {
        0 => y == own.1 || gap(mark.0) > NEAR,
        1 => is_next_to || gap(mark.0) > 0,
        _ => true,
    })
}

/// Letters that are told apart in one picture.
const LETTERS: usize = 6;

/// Writes the names that fit next to their points without touching anything, the most important first, and the letters that
/// the key has; returns the points that have their names, and the key with letters for the others.
pub(super) fn of_points(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    (scatter, order, cells): (&Scatter, &[usize], &Cells),
    important: Important<'_>,
    key: &Key,
    look: &Look,
) -> (HashSet<usize>, Key) {
    let mut told = key.clone();
    for (index, letter) in key.lettered() {
        // A mark that another one covers is not seen.
        let is_seen = |mark: &Place| symbol(plane.plot, canvas, *mark) != look.glyphs.front;
        let mark = cells.of(index).filter(is_seen);
        let place = mark.and_then(|mark| letter_place(plane.plot, canvas, mark));
        let Some((x, y)) = place else {
            told.points[index] = Naming::Missing;
            continue;
        };
        let style = look.theme.curve(scatter.points[index].series);
        Pen::new(plane.plot, canvas, &look.glyphs).text(x, y, letter, style);
    }
    let mut nameless = Vec::new();
    let plot = plane.plot;
    let mut named = HashSet::new();
    let drawn = cells.all();
    // With more points than this, names would be all there is.
    let most = usize::from(plot.height) * 2;
    let is_crowd = scatter.has_front() && drawn.len() > most;
    let is_told = |index: usize, point: &ScatterPoint| {
        let is_important = important.front.contains(&index) || important.chosen == Some(index);
        !is_crowd || is_important || group(scatter, point).is_some()
    };
    for (at, points) in marks(scatter, (order, cells), is_told, look).into_iter().take(most) {
        let texts = texts(scatter, &points, look);
        let whole = texts.first().map_or_else(String::new, |(text, _)| text.clone());
        if key.points[points[0]] == Naming::Letter {
            told.texts[points[0]] = whole;
            continue;
        }
        let find = |place: Placing| {
            let found = |(text, count): &(String, usize)| {
                let wide = pen::width(text);
                Some((place(plot, canvas, (at, &drawn), wide, look)?, text.clone(), *count))
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
        let Some(((start, y), text, count)) = find(close).or_else(far) else {
            // A group of one has its mark in the legend.
            let group_of = |index: &usize| group(scatter, &scatter.points[*index]);
            match points.iter().find_map(|index| Some((*index, group_of(index)?))) {
                Some((index, group)) if whole != group && !points.iter().any(is_line) => {
                    (told.points[index], told.texts[index]) = (Naming::Missing, whole);
                }
                Some(_) => {}
                None if is_crowd || points.iter().any(is_line) => {}
                None => nameless.push((points[0], whole)),
            }
            continue;
        };
        let way = between(at.0, (start, pen::width(&text)));
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
    let naming = match nameless.len() + key.lettered().count() <= LETTERS {
        true => Naming::Letter,
        false => Naming::Missing,
    };
    for (point, text) in nameless {
        (told.points[point], told.texts[point]) = (naming, text);
    }
    (named, told)
}

/// The cell next to a mark, blank or on a line, for a letter that is read as the mark's and no other's.
fn letter_place(plot: Rect, canvas: &Canvas, (x, y): Place) -> Option<Place> {
    let is_own = |at: u16, beyond: u16| {
        let is_inside = (plot.x..plot.right()).contains(&at);
        is_inside && [at, beyond].into_iter().all(|x| is_line(symbol(plot, canvas, (x, y))))
    };
    let left = || x.checked_sub(2).filter(|beyond| is_own(x - 1, *beyond)).map(|_| (x - 1, y));
    if is_own(x + 1, x + 2) { Some((x + 1, y)) } else { left() }
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
fn close(
    plot: Rect,
    canvas: &Canvas,
    ((x, y), marks): (Place, &HashSet<Place>),
    wide: u16,
    look: &Look,
) -> Option<Place> {
    let is_near = |from: u16| {
        is_free(plot, canvas, (from, y), wide)
            && is_nearest(plot, canvas, (x, y), (from, wide), look)
    };
    let (right, left) = (x.saturating_add(2), x.saturating_sub(wide.saturating_add(1)));
    let over = [x.saturating_sub(wide / 2), x, (x + 1).saturating_sub(wide), right, left];
    let mut over =
        [y.wrapping_sub(1), y + 1].into_iter().flat_map(|row| over.map(|from| (from, row)));
    let next_to = [right + 1, left].into_iter().find(|from| is_near(*from)).map(|from| (from, y));
    let is_over = |place: &Place| {
        is_apart(plot, canvas, *place, wide) && is_read_at(marks, (x, y), *place, wide)
    };
    next_to.or_else(|| over.find(is_over))
}

/// Columns between a mark and a name next to it, at most.
pub(super) const CLOSE: u16 = 2;

/// Where a name of this width stands in the row of its mark behind the lines next to it.
fn far(
    plot: Rect,
    canvas: &Canvas,
    ((x, y), marks): (Place, &HashSet<Place>),
    wide: u16,
    look: &Look,
) -> Option<Place> {
    /// Columns that the eye follows to a name.
    const FAR: u16 = 16;
    let sides = |gap: u16| [Some(x + 1 + gap), x.checked_sub(wide + gap)];
    let mut places = (CLOSE + 1..=FAR.min(plot.width / 4)).flat_map(sides).flatten();
    // Dots lead to it where the way is blank: through lines the eye does not find it.
    let can_lead = |from: u16| {
        let way = between(x, (from, wide));
        let blank = way.clone().filter(|x| symbol(plot, canvas, (*x, y)) == " ").count();
        2 * blank >= way.len()
    };
    let found = places.find(|from| {
        can_lead(*from)
            && is_apart(plot, canvas, (*from, y), wide)
            && is_read_at(marks, (x, y), (*from, y), wide)
            && is_nearest(plot, canvas, (x, y), (*from, wide), look)
    });
    found.map(|from| (from, y))
}

/// Whether no more than a line goes through a cell.
pub(super) fn is_line(symbol: &str) -> bool {
    symbol == " " || symbol.chars().all(is_dots)
}
