//! How a picture that is no chart is looked at: what of it is marked, how its rows are sorted, which are left out.

use mlsys_lab::frame::Frame;
use mlsys_lab::frame::table::{Filter, Sort};

use crate::glyphs::Glyphs;
use crate::panel::picture;
use crate::panel::picture::graph::GraphView;
use crate::panel::picture::kernel::Play;
use crate::panel::view::{HeldAxes, Inspect, Stretch, Tint};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameView {
    /// The marked cell, bar, range, point or image.
    pub mark: Option<Mark>,
    pub sort: Option<Sort>,
    pub filter: Option<Filter>,
    /// Whether the rows of a table have become more while it was looked at.
    pub grows: bool,
    /// The first line of a text, or pane, that is shown.
    pub scroll: usize,
    pub graph: GraphView,
    pub stretch: Stretch,
    /// What the colours of a timeline tell.
    pub tint: Tint,
    pub held: HeldAxes,
    /// How many rounds of a message trace have been done, or frames of a sequence left behind.
    pub round: usize,
    /// Whether the steps of a picture follow each other by themselves.
    pub play: Play,
}

/// A place in a picture; what has one row only is counted by columns, what has one column only by rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    pub column: usize,
    pub row: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Left,
    Right,
    Up(usize),
    Down(usize),
    First,
    Last,
}

impl FrameView {
    /// Moves the mark through a picture; the first move shows it.
    ///
    /// In a picture with steps, left and right, first and last go along these.
    pub fn go(&mut self, frame: &Frame, way: Way) {
        self.play = Play::Still;
        let picture = picture::drawn(frame);
        let has_steps = picture.step_count() > 0;
        match way {
            Way::Left if has_steps => picture.step(self, -1),
            Way::Right if has_steps => picture.step(self, 1),
            Way::First if has_steps => picture.step(self, isize::MIN),
            Way::Last if has_steps => picture.step(self, isize::MAX),
            Way::Left | Way::Right | Way::First | Way::Last | Way::Up(_) | Way::Down(_) => {
                picture.go(self, way);
            }
        }
    }

    /// Looks at a picture closer, from further away, or at another part of it.
    pub fn inspect(&mut self, frame: &Frame, inspect: Inspect) {
        self.play = Play::Still;
        let picture = picture::drawn(frame);
        let has_steps = picture.step_count() > 0;
        if has_steps && matches!(inspect, Inspect::NextPoint | Inspect::Right) {
            picture.step(self, 1);
        } else if has_steps && matches!(inspect, Inspect::PreviousPoint | Inspect::Left) {
            picture.step(self, -1);
        } else {
            picture.inspect(self, inspect);
        }
    }

    /// How many steps have been done, and how many there are; nothing without steps.
    pub fn steps(&self, frame: &Frame) -> Option<(usize, usize)> {
        let picture = picture::drawn(frame);
        let count = picture.step_count();
        (count > 0).then(|| (picture.steps_done(self), count))
    }

    /// Moves by a number of steps of a picture that has steps.
    pub fn step(&mut self, frame: &Frame, by: isize) {
        picture::drawn(frame).step(self, by);
    }

    /// The sentence of the step that the view has reached.
    pub fn step_text(&self, frame: &Frame, glyphs: &Glyphs) -> Option<String> {
        picture::drawn(frame).step_text(self, glyphs)
    }

    /// Lets the steps of a picture follow each other, or no longer; at the end they begin anew.
    pub fn change_play(&mut self, frame: &Frame) {
        let Some((done, of)) = self.steps(frame) else { return };
        self.play = match self.play {
            Play::Going => Play::Still,
            Play::Still => Play::Going,
        };
        if done == of {
            self.step(frame, isize::MIN);
        }
    }

    /// Takes what the axes showed on to the picture that follows.
    pub fn hold(&mut self, before: &Frame, now: &Frame) {
        self.held.follow(before, now);
    }

    /// Takes note of whether a table grows within its run: whether rows are added below those that it had. A table that
    /// gets a row above the others is read from its first row.
    pub fn watch(&mut self, before: &Frame, now: &Frame) {
        if let (Frame::Table(before), Frame::Table(now)) = (before, now) {
            let mut rows = before.rows.iter().zip(&now.rows);
            let mut are_kept = || rows.all(|(before, now)| before.first() == now.first());
            let (had, has) = (before.rows.len(), now.rows.len());
            self.grows = has > had && had > 0 && are_kept() || self.grows && has == had;
        }
    }

    /// The next step of a picture that plays; playing ends with the last.
    pub fn beat(&mut self, frame: &Frame) {
        if self.play == Play::Going {
            self.step(frame, 1);
        }
        if self.steps(frame).is_none_or(|(done, of)| done == of) {
            self.play = Play::Still;
        }
    }

    /// Sorts by the marked column upwards, then downwards, then not at all; returns what is to be said.
    pub fn sort_marked(&mut self, columns: &[String]) -> String {
        let column = self.mark.map_or(0, |mark| mark.column);
        self.sort = Sort::next(self.sort, column);
        let name = columns.get(column).map_or("", String::as_str);
        match self.sort {
            Some(sort) => format!("sorted by {name}, {}", sort.order),
            None => "rows stand as the lab sent them".to_owned(),
        }
    }
}

impl Mark {
    /// The nearest place in a picture of this size.
    pub fn within(self, columns: usize, rows: usize) -> Self {
        Self {
            column: self.column.min(columns.saturating_sub(1)),
            row: self.row.min(rows.saturating_sub(1)),
        }
    }

    /// The place that a direction leads to among columns and rows; in a single row, up and down lead along it, too.
    pub(crate) fn moved(self, (columns, rows): (usize, usize), way: Way) -> Self {
        let last = (columns.saturating_sub(1), rows.saturating_sub(1));
        match way {
            Way::Left => Self { column: self.column.saturating_sub(1), ..self },
            Way::Right => Self { column: (self.column + 1).min(last.0), ..self },
            Way::Up(_) | Way::Down(_) | Way::First | Way::Last if rows == 1 => {
                Self { column: way.along(self.column, last.0), ..self }
            }
            Way::Up(_) | Way::Down(_) | Way::First | Way::Last => {
                Self { row: way.along(self.row, last.1), ..self }
            }
        }
    }
}

impl Way {
    /// The place among `0..=last` that it leads to.
    pub(crate) fn along(self, at: usize, last: usize) -> usize {
        match self {
            Self::Left | Self::Right => at,
            Self::Up(by) => at.saturating_sub(by),
            Self::Down(by) => at.saturating_add(by),
            Self::First => 0,
            Self::Last => last,
        }
        .min(last)
    }
}

#[cfg(test)]
mod tests {
    use mlsys_lab::Value;
    use mlsys_lab::frame::Table;

    use super::*;
    use crate::panel::tests::fixtures::boundary;
    use crate::panel::tests::fixtures::compression;
    use crate::panel::tests::odd::odd_frames;

    #[test]
    fn the_mark_stays_in_the_picture() {
        let ways = [
            Way::Right,
            Way::Down(1),
            Way::Last,
            Way::Left,
            Way::Up(9),
            Way::Down(usize::MAX),
            Way::First,
            Way::Right,
        ];
        let mut view = FrameView::default();
        // One view for all pictures: the next may be smaller than the one before.
        for frame in odd_frames() {
            for way in ways {
                view.go(&frame, way);
            }
        }
    }

    #[test]
    fn the_cursor_visits_points_with_a_place() {
        let frame = Frame::Scatter(compression());
        let mut view = FrameView::default();
        let mut names = Vec::new();
        for way in
            [Way::Right, Way::Right, Way::Right, Way::Right, Way::Up(1), Way::Last, Way::Right]
        {
            view.go(&frame, way);
            let index = view.mark.unwrap().column;
            names.push(compression().points[index].label.clone());
        }
        let expected = ["int2", "student", "int4", "90% pruned", "student", "fp32", "fp32"];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_field_is_entered_in_its_middle() {
        let frame = Frame::HeatMap(boundary());
        let mut view = FrameView::default();
        view.go(&frame, Way::Up(1));
        assert_eq!(view.mark, Some(Mark { column: 23, row: 23 }));
        view.go(&frame, Way::Up(1));
        view.go(&frame, Way::Right);
        assert_eq!(view.mark, Some(Mark { column: 24, row: 22 }));
    }

    #[test]
    fn a_table_grows_while_rows_are_added() {
        let table = |rows: i64| {
            let rows = (0..rows).map(|row| vec![Value::Int(row)]).collect();
            Frame::Table(Table::new(vec!["row".to_owned()], rows))
        };
        let mut view = FrameView::default();
        let mut grows = |before: i64, now: i64| {
            view.watch(&table(before), &table(now));
            view.grows
        };
        assert_eq!(
            [grows(3, 3), grows(3, 4), grows(4, 4), grows(4, 1)],
            [false, true, true, false]
        );
    }

    #[test]
    fn a_row_above_the_others_leaves_the_first_in_sight() {
        let table = |rows: &[i64]| {
            let rows = rows.iter().map(|row| vec![Value::Int(*row)]).collect();
            Frame::Table(Table::new(vec!["row".to_owned()], rows))
        };
        let mut view = FrameView::default();
        view.watch(&table(&[2, 3]), &table(&[1, 2, 3]));
        assert!(!view.grows);
        view.watch(&table(&[]), &table(&[1, 2, 3]));
        assert!(!view.grows);
    }
}
