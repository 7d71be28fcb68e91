//! Ranks as boxes along a ring or a line, in trees, about a server or in a row, with the messages of a round between them.
//!
//! Boxes are drawn where they leave room for the rows below them, in the most telling form that has room; else there are the
//! rows with their arrows alone.

mod boxes;
mod mesh;
mod ring;
mod tree;
mod wires;

use mlsys_lab::frame::Exchange;
use mlsys_lab::frame::exchange::{After, Layout, Round};
use ratatui::layout::Rect;

use crate::ui::panel::pen::Pen;
use crate::ui::theme::Look;
use mesh::Mesh;
use ring::Ring;
use tree::Trees;

/// Where the boxes are.
pub(super) enum Diagram {
    /// Along a ring or a line.
    Ring(Ring),
    /// In one tree or two, or under a server, which is a tree of one level.
    Trees(Trees),
    /// In a row, with lines from any to any below it.
    Mesh(Mesh),
}

impl Diagram {
    /// The boxes of an exchange in so many columns and fewer than `most` rows; nothing where they have no room.
    pub(super) fn of(exchange: &Exchange, area: Rect, most: u16) -> Option<Self> {
        let found = match exchange.layout {
            Layout::Ring | Layout::Line => Ring::of(exchange, area).map(Self::Ring),
            Layout::Tree | Layout::Star => Trees::of(exchange, area, most).map(Self::Trees),
            Layout::Mesh => Mesh::of(exchange, area, most).map(Self::Mesh),
        };
        found.filter(|diagram| diagram.rows() < most)
    }

    /// Rows of all.
    pub(super) fn rows(&self) -> u16 {
        match self {
            Self::Ring(ring) => ring.rows,
            Self::Trees(trees) => trees.rows,
            Self::Mesh(mesh) => mesh.rows,
        }
    }

    /// Draws boxes and messages.
    pub(super) fn draw(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        after: &After,
        round: Option<&Round>,
        look: &Look,
    ) {
        match self {
            Self::Ring(ring) => ring.draw(pen, exchange, after, round, look),
            Self::Trees(trees) => trees.draw(pen, exchange, after, round, look),
            Self::Mesh(mesh) => mesh.draw(pen, exchange, after, round, look),
        }
    }
}
