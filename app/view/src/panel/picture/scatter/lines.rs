//! Lines between two axes: their colours and dashes, and their names next to them.

use std::collections::HashSet;

use mlsys_lab::frame::{LineRole, Scatter, ScatterLine};
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::names::{CLOSE, gap, is_line, symbol};
use super::places::{Cells, Place};
use crate::canvas::{self as pen, Canvas, Pen, Stroke};
use crate::panel::line::letter;
use crate::panel::plane::Plane;
use crate::theme::Look;

/// Whether a line has the same height everywhere.
pub(super) fn is_level(line: &ScatterLine) -> bool {
    line.points.windows(2).all(|pair| pair[0].1 == pair[1].1)
}

/// Lines have the colours that follow those of the groups, but one that joins a group has the group's, and one to compare with
/// has none.
pub(super) fn style_of(scatter: &Scatter, line: usize, look: &Look) -> Style {
    if is_reference(scatter, line) {
        return look.theme.dim;
    }
    look.theme.curve(place_of(scatter, line))
}

fn is_reference(scatter: &Scatter, line: usize) -> bool {
    scatter.lines.get(line).is_some_and(|line| line.role == LineRole::Reference)
}

/// The second line of a colour is dashed, and one to compare with is dotted.
pub(super) fn stroke_of(scatter: &Scatter, line: usize, look: &Look) -> Stroke {
    if is_reference(scatter, line) {
        return Stroke::Dashed(2, 3);
    }
    let is_repeated = place_of(scatter, line) >= look.theme.curves.len();
    if is_repeated { Stroke::Dashed(4, 2) } else { Stroke::Solid }
}

fn place_of(scatter: &Scatter, line: usize) -> usize {
    let joined = scatter.lines.get(line).and_then(|line| scatter.joined(line));
    joined.unwrap_or(scatter.series.len().max(1) + line)
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
pub(super) fn write_names(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    scatter: &Scatter,
    (named_points, cells): (&HashSet<usize>, &Cells),
    (in_legend, legend_rows): (&[LineName], u16),
    look: &Look,
) -> Vec<LineName> {
    let drawn = cells.all();
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
        let style = style_of(scatter, index, look);
        let texts = [(line.name.as_str(), LineName::Told), (letter(index), LineName::Letter)];
        // A letter that no legend explains says nothing.
        let is_explained = |name: LineName| name == LineName::Told || legend_rows > 0;
        let is_told = |name: LineName| name >= *in_legend && is_explained(name);
        for (text, name) in texts.into_iter().filter(|(_, name)| is_told(*name)) {
            if let Some((x, y)) = best(plane.plot, canvas, (way, &others, &drawn), pen::width(text))
            {
                Pen::new(plane.plot, canvas, &look.glyphs).text(x, y, text, style);
                return name;
            }
        }
        // What once had no room gets none, so that the legend comes to rest.
        let may_be_told = *in_legend < LineName::Missing && is_explained(LineName::Letter);
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
    (way, others, marks): (&[Place], &HashSet<Place>, &HashSet<Place>),
    wide: u16,
) -> Option<(u16, u16)> {
    // A name next to a mark would be read as the name of the mark.
    let is_apart = |&(start, y): &Place| {
        let is_near = |(x, row): &Place| match row.abs_diff(y) {
            0 => gap(*x, (start, wide)) <= CLOSE + 1,
            1 => gap(*x, (start, wide)) == 0,
            _ => false,
        };
        !marks.iter().any(is_near)
    };
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
    let over = |(x, y): Place, rows: u16| {
        let (ending, above) = ((x + 1).saturating_sub(wide), y.wrapping_sub(rows));
        [(ending, above), (ending, y + rows), (x, above), (x, y + rows)]
    };
    let around = way.iter().flat_map(|&(x, y)| {
        let next_to = [(x + 2, y), ((x.saturating_sub(1)).saturating_sub(wide), y)];
        over((x, y), 1).into_iter().chain(next_to)
    });
    let own: HashSet<(u16, u16)> = way.iter().copied().collect();
    let is_own = |place: &Place| !is_led_to(plot, canvas, (&own, others), *place, wide);
    let mut best: Option<(usize, (u16, u16))> = None;
    for place in around.filter(|place| is_free(*place)).filter(is_own).filter(is_apart) {
        let crowd = crowd(plot, canvas, (&own, others), place, wide);
        if best.is_none_or(|(least, _)| crowd < least) {
            best = Some((crowd, place));
        }
        if crowd == 0 {
            break;
        }
    }
    // A name is read over a blank row as well, where nothing else is near.
    let mut further = way.iter().flat_map(|place| over(*place, 2));
    let is_alone = |place: &Place| {
        is_free(*place)
            && is_own(place)
            && is_apart(place)
            && crowd(plot, canvas, (&own, others), *place, wide) == 0
    };
    best.map(|(_, place)| place).or_else(|| further.find(is_alone))
}

/// Whether another line lies in the row of a text so near to it that it seems to lead there.
fn is_led_to(
    plot: Rect,
    canvas: &Canvas,
    (own, others): (&HashSet<Place>, &HashSet<Place>),
    (start, y): Place,
    wide: u16,
) -> bool {
    /// A line that ends this near in the row of a text seems to lead to it.
    const NEAR: u16 = 6;
    let is_drawn = |x: &u16| symbol(plot, canvas, (*x, y)) != " ";
    let left = (start.saturating_sub(NEAR).max(plot.x)..start).rev().find(is_drawn);
    let right = (start + wide..(start + wide + NEAR).min(plot.right())).find(is_drawn);
    // A cell that both lines cross tells nothing.
    let is_own = |x: u16| own.contains(&(x, y)) && !others.contains(&(x, y));
    let ends = [left, right].into_iter().flatten();
    ends.filter(|x| is_line(symbol(plot, canvas, (*x, y)))).any(|x| !is_own(x))
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
