//! What steps, nodes and marks are called: that depends on what a graph is of.

use mlsys_lab::frame::{Direction, NodeKind, Slot, Subject};

use crate::glyphs::Glyphs;

pub(super) fn pass(of: Subject, pass: Direction) -> &'static str {
    match (of, pass) {
        (Subject::Computation, Direction::Forward) => "forward",
        (Subject::Computation, Direction::Backward) => "backward",
        (Subject::Reduction, Direction::Forward) => "sums go up",
        (Subject::Reduction, Direction::Backward) => "the sum comes down",
        (_, Direction::Update) => "update",
    }
}

pub(super) fn kind(of: Subject, kind: NodeKind) -> &'static str {
    match (of, kind) {
        (Subject::Reduction, NodeKind::Input) => "leaf",
        (Subject::Reduction, NodeKind::Operation) => "inner rank",
        (Subject::Reduction, NodeKind::Output) => "root",
        (Subject::Computation, NodeKind::Input) => "input",
        (Subject::Computation, NodeKind::Operation) => "operation",
        (Subject::Computation, NodeKind::Output) => "output",
        (_, NodeKind::Parameter) => "parameter",
        (_, NodeKind::Constant) => "constant",
        (_, NodeKind::View) => "view",
        (_, NodeKind::Backward) => "backward",
        (_, NodeKind::Update) => "update",
    }
}

pub(super) fn slot(of: Subject, slot: Slot) -> &'static str {
    match (of, slot) {
        (Subject::Computation, Slot::Value) => "value",
        (Subject::Computation, Slot::Adjoint) => "adjoint",
        (Subject::Reduction, Slot::Value) => "sum so far",
        (Subject::Reduction, Slot::Adjoint) => "received",
    }
}

/// What stands before a value that came back.
pub(super) fn sign(of: Subject, glyphs: &Glyphs) -> &'static str {
    match of {
        Subject::Computation => glyphs.partial,
        Subject::Reduction => glyphs.arrival,
    }
}
