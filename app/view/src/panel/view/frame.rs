//! How a picture that is no chart is looked at: what of it is marked, how its rows are sorted, which are left out.

use mlsys_lab::frame::table::{Filter, Sort};
use mlsys_lab::frame::{Frame, Graph, HeatMap, Scatter};

use super::rounds;
use super::timeline::{self, Stretch, Tint};
use crate::figure::graph::{self, Closer, Sight};
use crate::figure::kernel::Play;
use crate::panel::Inspect;
use crate::panel::table::order::rows;

/// How a picture that is no chart is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameView {
    /// The marked cell, bar, range, point or image.
    pub mark: Option<Mark>,
    /// By which column a table is sorted.
    pub sort: Option<Sort>,
    /// Which rows of a table are shown.
    pub filter: Option<Filter>,
    /// The first line of a text, or pane, that is shown.
    pub scroll: usize,
    /// How a graph is looked at.
    pub graph: Sight,
    /// The part of a timeline that is shown.
    pub stretch: Stretch,
    /// What the colours of a timeline tell.
    pub tint: Tint,
    /// How many rounds of an exchange have been done, or pictures of a film left behind.
    pub round: usize,
    /// Whether the steps of a picture follow each other by themselves.
    pub play: Play,
}

/// A place in a picture; what has one row only is counted by columns, what has one column only by rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// From the left.
    pub column: usize,
    /// From the top.
    pub row: usize,
}

/// A way through a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One to the left.
    Left,
    /// One to the right.
    Right,
    /// One up, or so many at once.
    Up(usize),
    /// One down, or so many at once.
    Down(usize),
    /// To the first.
    First,
    /// To the last.
    Last,
}

impl FrameView {
    /// Moves the mark through a picture; the first move shows it.
    pub fn go(&mut self, frame: &Frame, way: Way) {
        self.play = Play::Still;
        let (columns, rows) = match frame {
            Frame::HeatMap(map) => (map.columns, map.rows.min(map.cells.len())),
            Frame::Bars(bars) => (1, bars.bars.len()),
            Frame::Stacks(stacks) => (1, stacks.stacks.len()),
            Frame::Exchange(exchange) => {
                rounds::go(self, exchange, way);
                return;
            }
            Frame::Film(film) => {
                rounds::go_along(self, film, way);
                return;
            }
            Frame::Histogram(histogram) => (histogram.edges.len().saturating_sub(1), 1),
            Frame::Scatter(scatter) => return self.go_to_point(scatter, way),
            Frame::Table(table) => (table.columns.len(), rows(table, self).len()),
            Frame::Cells(cells) => (cells.columns(), cells.rows.len()),
            Frame::Images(images) => (images.images.len(), 1),
            Frame::Graph(graph) => {
                go_through(&mut self.graph, graph, way);
                return;
            }
            Frame::Timeline(timeline) => {
                self.mark = timeline::go(timeline, self.mark, way);
                let marked = self.mark.and_then(|mark| timeline.spans.get(mark.column));
                if let Some(span) = marked {
                    self.stretch = self.stretch.around(timeline, span.start);
                }
                return;
            }
            // Its place is the walk's, which all pictures of a lab share.
            Frame::Kernel(_) => return,
            Frame::Panes(panes) => (panes.len(), 1),
            Frame::Passage(_) => return,
            Frame::Text(text) => {
                let last = text.lines().count().saturating_sub(1);
                self.scroll = along(self.scroll, way, last);
                return;
            }
        };
        let (Some(last_column), Some(last_row)) = (columns.checked_sub(1), rows.checked_sub(1))
        else {
            self.mark = None;
            return;
        };
        let Some(mark) = self.mark else {
            self.mark = Some(first(frame, last_column, last_row));
            return;
        };
        let mark = mark.within(columns, rows);
        // Where there is one row, up and down lead along it, too.
        let sideways = rows == 1;
        self.mark = Some(match way {
            Way::Left => Mark { column: mark.column.saturating_sub(1), ..mark },
            Way::Right => Mark { column: (mark.column + 1).min(last_column), ..mark },
            Way::Up(_) | Way::Down(_) | Way::First | Way::Last if sideways => {
                Mark { column: along(mark.column, way, last_column), ..mark }
            }
            Way::Up(_) | Way::Down(_) | Way::First | Way::Last => {
                Mark { row: along(mark.row, way, last_row), ..mark }
            }
        });
    }

    /// Looks at a picture closer, from further away, or at another part of it.
    pub fn inspect(&mut self, frame: &Frame, inspect: Inspect) {
        self.play = Play::Still;
        match frame {
            Frame::Graph(graph) => inspect_graph(&mut self.graph, graph, inspect),
            Frame::Exchange(exchange) => rounds::inspect(self, exchange, inspect),
            Frame::Film(film) => rounds::inspect_film(self, film, inspect),
            Frame::Timeline(_) if inspect == Inspect::Smooth => self.tint = self.tint.next(),
            Frame::Timeline(timeline) => {
                let marked = self.mark.and_then(|mark| timeline.spans.get(mark.column));
                let about = marked.map(|span| f64::midpoint(span.start, span.end));
                self.stretch = self.stretch.inspect(timeline, about, inspect);
            }
            Frame::HeatMap(_)
            | Frame::Bars(_)
            | Frame::Stacks(_)
            | Frame::Histogram(_)
            | Frame::Scatter(_)
            | Frame::Table(_)
            | Frame::Cells(_)
            | Frame::Images(_)
            | Frame::Kernel(_)
            | Frame::Panes(_)
            | Frame::Passage(_)
            | Frame::Text(_) => {}
        }
    }

    /// Left and right go from point to point across, up and down upwards; what has no place is left out.
    fn go_to_point(&mut self, scatter: &Scatter, way: Way) {
        let placed = scatter.points.iter().enumerate();
        let mut placed: Vec<(usize, (f64, f64))> =
            placed.filter_map(|(index, point)| Some((index, point.place()?))).collect();
        match way {
            Way::Left | Way::Right | Way::First | Way::Last => {
                placed.sort_by(|a, b| a.1.0.total_cmp(&b.1.0));
            }
            // From the top, as the eye counts rows.
            Way::Up(_) | Way::Down(_) => placed.sort_by(|a, b| b.1.1.total_cmp(&a.1.1)),
        }
        let at =
            self.mark.and_then(|mark| placed.iter().position(|(index, _)| *index == mark.column));
        let last = placed.len().saturating_sub(1);
        let to = match (at, way) {
            (None, _) => {
                // The front is what the picture is about.
                let front = scatter.front();
                let on_front = placed.iter().position(|(index, _)| front.contains(index));
                on_front.unwrap_or(0)
            }
            (Some(at), Way::Left) => at.saturating_sub(1),
            (Some(at), Way::Right) => (at + 1).min(last),
            (Some(at), Way::Up(_) | Way::Down(_) | Way::First | Way::Last) => along(at, way, last),
        };
        self.mark = placed.get(to).map(|(index, _)| Mark { column: *index, row: 0 });
    }

    /// Sorts by the marked column upwards, then downwards, then not at all; returns what is to be said.
    pub fn sort_marked(&mut self, columns: &[String]) -> String {
        let column = self.mark.map_or(0, |mark| mark.column);
        self.sort = Sort::next(self.sort, column);
        let name = columns.get(column).map_or("", String::as_str);
        match self.sort {
            Some(sort) => format!("sorted by {name}, {}", sort.order.said()),
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
}

/// Where a mark begins: in the middle of a field, at the first of everything else.
fn first(frame: &Frame, last_column: usize, last_row: usize) -> Mark {
    let is_field = |map: &HeatMap| map.column_labels.is_empty() || map.row_labels.is_empty();
    if frame.heat_map().is_some_and(is_field) {
        Mark { column: last_column / 2, row: last_row / 2 }
    } else {
        Mark::default()
    }
}

/// Steps, sizes of the boxes, and the way to the left and right that the arrows do not take: a layer, where they go
/// along a walk, else several.
fn inspect_graph(sight: &mut Sight, graph: &Graph, inspect: Inspect) {
    /// Layers at once: about half of what a screen shows.
    const FAR: usize = 4;
    let layers = if graph.walk.is_empty() { FAR } else { 1 };
    match inspect {
        Inspect::NextPoint | Inspect::Right => sight.step(graph, 1),
        Inspect::PreviousPoint | Inspect::Left => sight.step(graph, -1),
        Inspect::Closer => sight.zoom(Closer::Yes),
        Inspect::Wider => sight.zoom(Closer::No),
        Inspect::Earlier => sight.select(graph, graph::Way::Left(layers)),
        Inspect::Later => sight.select(graph, graph::Way::Right(layers)),
        Inspect::Fit => {
            sight.form = None;
            sight.selected = None;
        }
        Inspect::LogAxis | Inspect::Smooth => {}
    }
}

/// Left and right go along the walk; up and down, and all ways where there is no walk, select a box.
fn go_through(sight: &mut Sight, graph: &Graph, way: Way) {
    let walk = !graph.walk.is_empty();
    match way {
        Way::Left if walk => sight.step(graph, -1),
        Way::Right if walk => sight.step(graph, 1),
        Way::First if walk => sight.step(graph, isize::MIN),
        Way::Last if walk => sight.step(graph, isize::MAX),
        Way::Left => sight.select(graph, graph::Way::Left(1)),
        Way::Right => sight.select(graph, graph::Way::Right(1)),
        Way::First => sight.select(graph, graph::Way::Left(usize::MAX)),
        Way::Last => sight.select(graph, graph::Way::Right(usize::MAX)),
        Way::Up(by) => sight.select(graph, graph::Way::Up(by)),
        Way::Down(by) => sight.select(graph, graph::Way::Down(by)),
    }
}

/// The place among `0..=last` that a way leads to.
fn along(at: usize, way: Way, last: usize) -> usize {
    match way {
        Way::Left | Way::Right => at,
        Way::Up(by) => at.saturating_sub(by),
        Way::Down(by) => at.saturating_add(by),
        Way::First => 0,
        Way::Last => last,
    }
    .min(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::counted::compression;
    use crate::panel::tests::fixtures::boundary;
    use crate::panel::tests::odd::odd_frames;

    #[test]
    fn the_mark_stays_in_the_picture_whatever_the_picture_is() {
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
    fn points_are_gone_through_across_and_upwards_and_those_without_a_place_are_left_out() {
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
}
