//! Pictures with steps: where one stands among them, whether they play, and how an exchange is looked at.

use mlsys_lab::frame::{Exchange, Film, Frame, Graph};

use super::frame::{FrameView, Mark, Way};
use crate::figure::kernel::Play;
use crate::panel::Inspect;

/// A picture that has steps; a kernel has its own, which are the lab's and not the view's.
#[derive(Clone, Copy)]
pub enum Stepped<'a> {
    /// The walk of a graph.
    Graph(&'a Graph),
    /// Rounds of messages.
    Exchange(&'a Exchange),
    /// Pictures one after the other.
    Film(&'a Film),
}

impl<'a> Stepped<'a> {
    /// The picture, if it has steps.
    pub fn of(frame: &'a Frame) -> Option<Self> {
        match frame {
            Frame::Graph(graph) => Some(Self::Graph(graph)),
            Frame::Exchange(exchange) => Some(Self::Exchange(exchange)),
            Frame::Film(film) => Some(Self::Film(film)),
            Frame::HeatMap(_)
            | Frame::Bars(_)
            | Frame::Stacks(_)
            | Frame::Histogram(_)
            | Frame::Scatter(_)
            | Frame::Table(_)
            | Frame::Cells(_)
            | Frame::Images(_)
            | Frame::Timeline(_)
            | Frame::Kernel(_)
            | Frame::Panes(_)
            | Frame::Passage(_)
            | Frame::Text(_) => None,
        }
    }
}

impl FrameView {
    /// How many steps of a picture that has steps have been done, and how many there are.
    pub fn steps(&self, frame: &Frame) -> Option<(usize, usize)> {
        let (done, of) = match Stepped::of(frame)? {
            Stepped::Graph(graph) => (self.graph.done(graph), graph.walk.len()),
            Stepped::Exchange(exchange) => {
                let of = exchange.rounds.len();
                (self.round.min(of), of)
            }
            Stepped::Film(film) => (self.round.min(film.last()), film.last()),
        };
        (of > 0).then_some((done, of))
    }

    /// Lets the steps of a picture follow each other, or no longer; at the end they begin anew.
    pub fn change_play(&mut self, frame: &Frame) {
        let Some((done, of)) = self.steps(frame) else {
            return;
        };
        self.play = match self.play {
            Play::Going => Play::Still,
            Play::Still => Play::Going,
        };
        if done == of {
            self.step(frame, isize::MIN);
        }
    }

    /// The next step of a picture whose steps follow each other, which ends with the last.
    pub fn beat(&mut self, frame: &Frame) {
        if self.play == Play::Going {
            self.step(frame, 1);
        }
        if self.steps(frame).is_none_or(|(done, of)| done == of) {
            self.play = Play::Still;
        }
    }

    /// Goes so many steps along a picture that has steps.
    pub fn step(&mut self, frame: &Frame, by: isize) {
        match Stepped::of(frame) {
            Some(Stepped::Graph(graph)) => self.graph.step(graph, by),
            Some(Stepped::Exchange(exchange)) => step(self, exchange.rounds.len(), by),
            Some(Stepped::Film(film)) => step(self, film.last(), by),
            None => {}
        }
    }
}

/// Left and right go from round to round, up and down from rank to rank.
pub(super) fn go(view: &mut FrameView, exchange: &Exchange, way: Way) {
    match way {
        Way::Left => step(view, exchange.rounds.len(), -1),
        Way::Right => step(view, exchange.rounds.len(), 1),
        Way::First => step(view, exchange.rounds.len(), isize::MIN),
        Way::Last => step(view, exchange.rounds.len(), isize::MAX),
        Way::Up(by) => {
            mark(view, exchange, |mark| Mark { row: mark.row.saturating_sub(by), ..mark })
        }
        Way::Down(by) => {
            mark(view, exchange, |mark| Mark { row: mark.row.saturating_add(by), ..mark })
        }
    }
}

/// A round, or another chunk of the rank that is looked at.
pub(super) fn inspect(view: &mut FrameView, exchange: &Exchange, inspect: Inspect) {
    match inspect {
        Inspect::NextPoint | Inspect::Right => step(view, exchange.rounds.len(), 1),
        Inspect::PreviousPoint | Inspect::Left => step(view, exchange.rounds.len(), -1),
        Inspect::Earlier => {
            mark(view, exchange, |mark| Mark { column: mark.column.saturating_sub(1), ..mark })
        }
        Inspect::Later => {
            mark(view, exchange, |mark| Mark { column: mark.column.saturating_add(1), ..mark })
        }
        Inspect::Fit => view.mark = None,
        Inspect::Closer | Inspect::Wider | Inspect::LogAxis | Inspect::Smooth => {}
    }
}

/// Left and right go from picture to picture; up and down move the mark in the one that is seen.
pub(super) fn go_along(view: &mut FrameView, film: &Film, way: Way) {
    match way {
        Way::Left => step(view, film.last(), -1),
        Way::Right => step(view, film.last(), 1),
        Way::First => step(view, film.last(), isize::MIN),
        Way::Last => step(view, film.last(), isize::MAX),
        Way::Up(_) | Way::Down(_) => within(view, film, way),
    }
}

/// Another picture, or another place in the one that is seen.
pub(super) fn inspect_film(view: &mut FrameView, film: &Film, inspect: Inspect) {
    match inspect {
        Inspect::NextPoint | Inspect::Right => step(view, film.last(), 1),
        Inspect::PreviousPoint | Inspect::Left => step(view, film.last(), -1),
        Inspect::Earlier => within(view, film, Way::Left),
        Inspect::Later => within(view, film, Way::Right),
        Inspect::Fit => view.mark = None,
        Inspect::Closer | Inspect::Wider | Inspect::LogAxis | Inspect::Smooth => {}
    }
}

/// Moves the mark in the picture that is seen.
fn within(view: &mut FrameView, film: &Film, way: Way) {
    match film.at(view.round).map(|still| &still.frame) {
        // Films have no films in them.
        Some(Frame::Film(_)) | None => {}
        Some(frame) => view.go(frame, way),
    }
}

/// Goes so many steps on, or back.
fn step(view: &mut FrameView, steps: usize, by: isize) {
    let at = view.round.min(steps);
    view.round = at.saturating_add_signed(by).min(steps);
}

/// Marks another cell; the first time the first.
fn mark(view: &mut FrameView, exchange: &Exchange, to: impl FnOnce(Mark) -> Mark) {
    let all = (exchange.chunks.len(), exchange.ranks);
    let mark = view.mark.map_or_else(Mark::default, to);
    view.mark = (all.0 > 0 && all.1 > 0).then(|| mark.within(all.0, all.1));
}
