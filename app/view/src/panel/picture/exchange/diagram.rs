//! Ranks as boxes along a ring or a line, in trees, about a server or in a row, with the messages of a round between them.
//!
//! Boxes are drawn where they leave room for the rows below them, in the most telling form that has room; else there are the
//! rows with their arrows alone.

mod boxes;
mod lines;
mod mesh;
mod ring;
mod tree;
mod wires;

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::TraceState;
use mlsys_lab::frame::message_trace::{Layout, Round};
use ratatui::layout::Rect;

use crate::canvas::Pen;
use crate::theme::Look;
use boxes::Shape;
use lines::{Line, Place};
use mesh::Mesh;
use ring::Ring;
use tree::Trees;

/// Boxes with the lines between them.
pub(super) struct Diagram {
    picture: Picture,
    layout: Laid,
}

/// What stands where, whatever passes.
struct Picture {
    boxes: Vec<Boxed>,
    shape: Shape,
    /// Rows of all.
    rows: u16,
}

/// A rank's box.
struct Boxed {
    rank: usize,
    /// Its upper left corner.
    corner: Place,
    /// The chunks that it shows.
    chunks: Vec<usize>,
}

/// How boxes are linked.
enum Laid {
    /// Each to the next.
    Ring(Ring),
    /// In one tree or two, or under a server, which is a tree of one level.
    Trees(Trees),
    /// Any to any.
    Mesh(Mesh),
}

impl Diagram {
    /// The boxes of an exchange in an area and fewer than `most` rows; nothing where they have no room.
    pub(super) fn of(exchange: &MessageTrace, area: Rect, most: u16) -> Option<Self> {
        let (picture, layout) = match exchange.layout {
            Layout::Ring | Layout::Line => {
                let (picture, ring) = Ring::of(exchange, area)?;
                (picture, Laid::Ring(ring))
            }
            Layout::Tree | Layout::Star => {
                let (picture, trees) = Trees::of(exchange, area, most)?;
                (picture, Laid::Trees(trees))
            }
            Layout::Mesh => {
                let (picture, mesh) = Mesh::of(exchange, area, most)?;
                (picture, Laid::Mesh(mesh))
            }
        };
        (picture.rows < most).then_some(Self { picture, layout })
    }

    /// Rows of all.
    pub(super) fn rows(&self) -> u16 {
        self.picture.rows
    }

    /// Draws boxes and messages.
    pub(super) fn draw(
        &self,
        pen: &mut Pen<'_>,
        exchange: &MessageTrace,
        after: &TraceState,
        round: Option<&Round>,
        look: &Look,
    ) {
        let lines: Vec<Line<'_>> = match &self.layout {
            Laid::Ring(ring) => ring.lines(round),
            Laid::Trees(trees) => trees.lines(exchange, round),
            Laid::Mesh(mesh) => mesh.lines(round),
        };
        lines::draw(pen, exchange, &lines, look);
        for boxed in &self.picture.boxes {
            let place = (boxed.rank, boxed.corner);
            let shape = &self.picture.shape;
            shape.draw(pen, exchange, after, place, &boxed.chunks, look);
        }
    }
}
