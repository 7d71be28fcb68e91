//! What happened to cells of memory, and how cells and lanes are written.

use mlsys_kernel::{AccessKind, CellState};
use mlsys_lab::Value;
use mlsys_lab::frame::{Kind, Tone};
use mlsys_lab::picture::index_ranges;
use mlsys_lab::value::number;

/// What happened to a cell, in the order of the legend.
pub(super) const KINDS: [(&str, Tone); 6] = [
    ("untouched", Tone::Faint),
    ("read", Tone::First),
    ("written", Tone::Second),
    ("written more than once", Tone::Warn),
    ("poison: never written", Tone::Empty),
    ("racing", Tone::Bad),
];

pub(super) const UNTOUCHED: usize = 0;
pub(super) const READ: usize = 1;
pub(super) const WRITTEN: usize = 2;
pub(super) const UNWRITTEN: usize = 4;
/// Cells that no buffer has, which lanes reach for now, or did before.
pub(super) const OUTSIDE: usize = 6;
pub(super) const EARLIER: usize = 7;
/// A cell of an image that a lane reaches now.
pub(super) const NOW: usize = 8;

/// What is drawn of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Their values, and behind these the lanes that reach them now.
    Values,
    /// What happened to them, or that a lane reaches them now: the pixels of an image.
    States,
}

/// What happened to cells that exist.
pub(super) fn kinds() -> Vec<Kind> {
    KINDS.map(|(name, tone)| Kind { name: name.to_owned(), tone }).to_vec()
}

pub(super) fn kind(state: CellState) -> usize {
    match state {
        CellState { raced: true, .. } => 5,
        CellState { rewritten: true, .. } => 3,
        CellState { written: true, .. } => WRITTEN,
        CellState { defined: false, .. } => UNWRITTEN,
        CellState { read: true, .. } => READ,
        CellState { .. } => UNTOUCHED,
    }
}

/// Why the shared memory of a block is no longer there.
pub(super) fn taken(block: u32) -> String {
    format!("block {block} has ended; another block has its place")
}

pub(super) fn short(value: &Value) -> String {
    match value {
        Value::Float(x) if x.is_finite() => {
            let whole = number(*x);
            let rounded = number((x * 100.0).round() / 100.0);
            match (whole.len(), rounded.len()) {
                (..=5, _) => whole,
                (_, ..=6) if x.abs() >= 0.01 => rounded,
                _ => format!("{x:.0e}"),
            }
        }
        Value::Bool(yes) => u8::from(*yes).to_string(),
        Value::Float(_) | Value::Int(_) | Value::Text(_) | Value::Array(_) | Value::Table(_) => {
            value.to_string()
        }
    }
}

/// The lanes that reach a cell, behind its value.
pub(super) fn behind(lanes: &[usize]) -> String {
    match lanes {
        [lane] => format!("<{lane}"),
        [lane, ..] => format!("<{lane}+"),
        [] => String::new(),
    }
}

pub(super) fn verb(kind: Option<AccessKind>, lanes: usize) -> &'static str {
    match (kind, lanes) {
        (Some(AccessKind::Store), 1) => "writes",
        (Some(AccessKind::Store), _) => "write",
        (Some(AccessKind::Atomic), 1) => "changes",
        (Some(AccessKind::Atomic), _) => "change",
        (Some(AccessKind::Load) | None, 1) => "reads",
        (Some(AccessKind::Load) | None, _) => "read",
    }
}

/// Lanes as ranges: `lanes 0 to 7, 16`.
pub(super) fn lane_ranges(lanes: &[usize]) -> String {
    let mut lanes = lanes.to_vec();
    lanes.sort_unstable();
    lanes.dedup();
    index_ranges("lane", &lanes)
}
