//! Where lines go, and how far from a text they are.

use mlsys_lab::frame::{Scatter, ScatterLine};

use super::names::gap;
use super::places::Place;
use super::shown;
use crate::panel::plane::Plane;

/// A text: the column where it begins, its row, and its width.
type Text = (u16, u16, u16);

/// Part of a row by which lines differ.
const SEEN: f64 = 0.02;

/// The rows that a line goes through, exactly, in each column of a field.
pub(super) struct Way {
    left: u16,
    columns: Vec<Option<(f64, f64)>>,
}

impl Way {
    pub(super) fn new(plane: &Plane<'_>, scatter: &Scatter, line: &ScatterLine) -> Self {
        let plot = plane.plot;
        let mut way = Self { left: plot.x, columns: vec![None; usize::from(plot.width)] };
        // The last row ends where the field does.
        let inside = |(x, y): (f64, f64)| {
            let end = |end: u16| f64::from(end) - 1e-6;
            (x.min(end(plot.right())), y.min(end(plot.bottom())))
        };
        let places = line.points.iter().filter_map(|place| plane.exact(shown(scatter, *place)));
        let places: Vec<(f64, f64)> = places.map(inside).collect();
        for pair in places.windows(2) {
            way.go(pair[0], pair[1]);
        }
        way
    }

    fn go(&mut self, from: (f64, f64), to: (f64, f64)) {
        let ((left, start), (right, end)) = if from.0 <= to.0 { (from, to) } else { (to, from) };
        let at = |x: f64| match right - left {
            across if across > 0.0 => start + (x - left) / across * (end - start),
            _ => end,
        };
        for column in left.floor() as u16..=right.floor() as u16 {
            let x = f64::from(column);
            let (one, other) = match right - left {
                across if across > 0.0 => (at(x.max(left)), at((x + 1.0).min(right))),
                _ => (start, end),
            };
            let (top, bottom) = (one.min(other), one.max(other));
            let place = usize::from(column.saturating_sub(self.left));
            let Some(rows) = self.columns.get_mut(place) else { continue };
            *rows = Some(rows.map_or((top, bottom), |(t, b)| (t.min(top), b.max(bottom))));
        }
    }

    fn rows(&self, column: u16) -> Option<(f64, f64)> {
        *self.columns.get(usize::from(column.checked_sub(self.left)?))?
    }

    fn each(&self) -> impl DoubleEndedIterator<Item = (u16, (f64, f64))> {
        let columns = (self.left..).zip(&self.columns).map(|(x, rows)| Some((x, (*rows)?)));
        columns.flatten().collect::<Vec<_>>().into_iter()
    }

    /// Its cells, from the right; of a steep line all rows of a column.
    pub(super) fn cells(&self) -> impl Iterator<Item = Place> {
        let rows = |(top, bottom): (f64, f64)| top as u16..=bottom as u16;
        self.each().rev().flat_map(move |(x, extent)| rows(extent).map(move |y| (x, y)))
    }

    pub(super) fn holds(&self, (x, y): Place) -> bool {
        self.rows(x).is_some_and(|(top, bottom)| (top as u16..=bottom as u16).contains(&y))
    }

    /// How far a text is from the line, in rows.
    pub(super) fn distance(&self, (start, y, wide): Text) -> f64 {
        /// Columns that count as much as a row: along a row the eye goes further than down.
        const ROW: f64 = 4.0;
        let far = |(x, rows): (u16, (f64, f64))| {
            let across = f64::from(gap(x, (start, wide))) / ROW;
            across.hypot(above(rows, y).abs())
        };
        self.each().map(far).fold(f64::INFINITY, f64::min)
    }

    /// Whether another line lies on this one everywhere.
    pub(super) fn is_under(&self, other: &Self) -> bool {
        let is_near = |((top, bottom), (above, below)): ((f64, f64), (f64, f64))| {
            (top - above).abs().max((bottom - below).abs()) < SEEN
        };
        self.columns.iter().zip(&other.columns).all(|(one, other)| match (one, other) {
            (Some(one), Some(other)) => is_near((*one, *other)),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        })
    }

    /// Whether another line is seen behind this one from a text: on the same side, further away all along it.
    pub(super) fn hides(&self, other: &Self, (start, y, wide): Text) -> bool {
        /// Columns left and right of the text that are seen with it.
        const AROUND: u16 = 4;
        (start.saturating_sub(AROUND)..start + wide + AROUND).all(|x| {
            let Some(theirs) = other.rows(x).map(|rows| above(rows, y)) else { return true };
            self.rows(x)
                .map(|rows| above(rows, y))
                .is_some_and(|own| own * theirs > 0.0 && theirs.abs() >= own.abs() + SEEN)
        })
    }
}

/// How far above the middle of a row a line goes, below it less than 0.
fn above((top, bottom): (f64, f64), row: u16) -> f64 {
    let middle = f64::from(row) + 0.5;
    if bottom < middle { middle - bottom } else { (middle - top).min(0.0) }
}
