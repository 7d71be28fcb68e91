//! The names of lines between two axes, next to them.

use std::collections::HashSet;

use mlsys_lab::frame::Scatter;
use ratatui::layout::Rect;

use super::key::{Naming, style_of};
use super::names::{CLOSE, gap, is_line};
use super::places::{Cells, Place};
use super::ways::Way;
use crate::canvas::{self as pen, Canvas, Pen};
use crate::panel::line::letter;
use crate::panel::plane::Plane;
use crate::theme::Look;

/// Writes the name of each line where no other line is as near: as far as possible from everything else, of these places the one
/// most to the right. A letter on the line takes its place where there is none, or where the legend has it.
pub(super) fn write_names(
    plane: &Plane<'_>,
    canvas: &mut Canvas,
    scatter: &Scatter,
    (named_points, cells): (&HashSet<usize>, &Cells),
    in_legend: &[Naming],
    look: &Look,
) -> Vec<Naming> {
    let drawn = cells.all();
    let ways: Vec<Way> = scatter.lines.iter().map(|line| Way::new(plane, scatter, line)).collect();
    let lines = scatter.lines.iter().zip(in_legend).enumerate();
    let named = lines.map(|(index, (line, in_legend))| {
        let mut points = scatter.points.iter().enumerate();
        let is_point =
            points.any(|(index, point)| point.label == line.name && named_points.contains(&index));
        if line.name.is_empty() || is_point || scatter.joined(line).is_some() {
            return Naming::Told;
        }
        // What lies on the line everywhere is the same line, with two names.
        let is_other = |(at, way): &(usize, &Way)| *at != index && !way.is_under(&ways[index]);
        let others = ways.iter().enumerate().filter(is_other).map(|(_, way)| way).collect();
        let way = Among { way: &ways[index], others, marks: &drawn };
        let wide = pen::width(&line.name);
        // What once had no room gets none, so that the legend comes to rest.
        let (place, text, name) = match in_legend {
            Naming::Told => match way.next_to(plane.plot, canvas, wide) {
                Some(place) => (Some(place), line.name.as_str(), Naming::Told),
                None => (way.alone(plane.plot, canvas), letter(index), Naming::Letter),
            },
            Naming::Letter => (way.alone(plane.plot, canvas), letter(index), Naming::Letter),
            Naming::Missing => (None, "", Naming::Missing),
        };
        let Some((x, y)) = place else { return Naming::Missing };
        let style = style_of(scatter, index, look);
        Pen::new(plane.plot, canvas, &look.glyphs).text(x, y, text, style);
        name
    });
    named.collect()
}

/// A line among the others and the marks.
struct Among<'a> {
    way: &'a Way,
    others: Vec<&'a Way>,
    marks: &'a HashSet<Place>,
}

impl Among<'_> {
    /// Where a letter stands on the line itself: where no other line goes, with the fewest of them around it.
    fn alone(&self, plot: Rect, canvas: &Canvas) -> Option<Place> {
        let is_other = |place: Place| self.others.iter().any(|other| other.holds(place));
        let crowd = |(x, y): Place| {
            let around = (x.saturating_sub(1)..=x + 1)
                .flat_map(|x| (y.saturating_sub(1)..=y + 1).map(move |y| (x, y)));
            around.filter(|place| is_other(*place)).count()
        };
        let symbol = |x: u16, y: u16| match plot.contains((x, y).into()) {
            true => canvas.cells[(x, y)].symbol(),
            false => " ",
        };
        let is_word = |x: u16, y: u16| symbol(x, y).starts_with(char::is_alphanumeric);
        let shows_line = |&(x, y): &Place| {
            let own = symbol(x, y);
            own != " " && is_line(own) && !(x.saturating_sub(2)..=x + 2).any(|x| is_word(x, y))
        };
        let places = self.way.cells().filter(shows_line).filter(|place| !is_other(*place));
        places.min_by_key(|place| crowd(*place))
    }

    /// Where a text of this width is read as the name of the line: the free place with the least of other things around it.
    fn next_to(&self, plot: Rect, canvas: &Canvas, wide: u16) -> Option<Place> {
        /// Rows of a field in which two rows are near each other.
        const HIGH: u16 = 6;
        // A name next to a mark would be read as the name of the mark.
        let is_apart = |&(start, y): &Place| {
            let is_near = |(x, row): &Place| match row.abs_diff(y) {
                0 => gap(*x, (start, wide)) <= CLOSE + 1,
                1 => gap(*x, (start, wide)) == 0,
                _ => false,
            };
            !self.marks.iter().any(is_near)
        };
        let is_free = |&(start, y): &Place| {
            let inside = start > plot.x && start.saturating_add(wide) <= plot.right();
            let symbol =
                |x: u16| if x < plot.right() { canvas.cells[(x, y)].symbol() } else { " " };
            // A letter one blank before a name would be read as part of it.
            let is_word = |x: u16| symbol(x).starts_with(char::is_alphanumeric);
            inside
                && (plot.y..plot.bottom()).contains(&y)
                && (start - 1..=start + wide).all(|x| symbol(x) == " ")
                && ![start.saturating_sub(2), start + wide + 1].into_iter().any(is_word)
        };
        let is_own =
            |place: &Place| is_free(place) && is_apart(place) && self.is_nearest(*place, wide);
        let over = |(x, y): Place, rows: u16| {
            let (ending, above) = ((x + 1).saturating_sub(wide), y.wrapping_sub(rows));
            [(ending, above), (ending, y + rows), (x, above), (x, y + rows)]
        };
        let around = self.way.cells().flat_map(|(x, y)| {
            let next_to = [(x + 2, y), ((x.saturating_sub(1)).saturating_sub(wide), y)];
            over((x, y), 1).into_iter().chain(next_to)
        });
        let mut best: Option<(usize, Place)> = None;
        for place in around.filter(is_own) {
            let crowd = self.crowd(plot, canvas, place, wide);
            if best.is_none_or(|(least, _)| crowd < least) {
                best = Some((crowd, place));
            }
            if crowd == 0 {
                break;
            }
        }
        if best.is_some() || plot.height < HIGH {
            return best.map(|(_, place)| place);
        }
        // A name is read over a blank row as well, where nothing else is near.
        let mut further = self.way.cells().flat_map(|place| over(place, 2));
        further.find(|place| is_own(place) && self.crowd(plot, canvas, *place, wide) == 0)
    }

    /// Whether of all lines this one is the nearest to a text, by more than the eye overlooks, or lies between it and the nearest.
    fn is_nearest(&self, (start, y): Place, wide: u16) -> bool {
        /// Rows by which another line is further away.
        const FURTHER: f64 = 0.5;
        let text = (start, y, wide);
        let own = self.way.distance(text);
        self.others
            .iter()
            .all(|other| other.distance(text) >= own + FURTHER || self.way.hides(other, text))
    }

    /// The cells around a text that something other than the line itself is in.
    fn crowd(&self, plot: Rect, canvas: &Canvas, (start, y): Place, wide: u16) -> usize {
        let around = Rect::new(start.saturating_sub(2), y.saturating_sub(1), wide + 4, 3);
        let is_own = |x: u16, y: u16| {
            (x.saturating_sub(1)..=x + 1)
                .any(|x| (y.saturating_sub(1)..=y + 1).any(|y| self.way.holds((x, y))))
        };
        let taken =
            around.intersection(plot).positions().filter(|at| canvas.cells[*at].symbol() != " ");
        // Where another line lies upon it, a name would be that one's as well.
        let is_other = |at: Place| self.others.iter().any(|other| other.holds(at));
        taken.filter(|at| !is_own(at.x, at.y) || is_other((at.x, at.y))).count()
    }
}
