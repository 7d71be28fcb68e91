//! The state of a message exchange after a number of rounds: chunks held, messages in flight, bytes sent. For screen and files.

mod said;
mod traffic;

use std::ops::Range;

use mlsys_lab::frame::message_trace::MessageTrace;
use mlsys_lab::frame::{Cell, CellRow, Cells, Frame, Kind, Pane, Tone};
use mlsys_lab::frame::{ChunkState, TraceState};

pub use said::{kind, line, outline, phase, sum, widest_sum};
pub use traffic::links;

use super::glyphs;

/// Ranks that have a letter each.
const LETTERS: usize = 26;

/// How far a chunk has come at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Nothing is there.
    Nothing,
    /// The rank's own version, or another's alone.
    One,
    /// Some versions, not all.
    Some,
    /// All there are.
    Whole,
}

impl Stage {
    const ALL: [Self; 4] = [Self::Nothing, Self::One, Self::Some, Self::Whole];

    /// What it is called in the legend.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::One => "one rank's",
            Self::Some => "partial sum",
            Self::Whole => "complete",
        }
    }

    /// How it stands out.
    pub fn tone(self) -> Tone {
        match self {
            Self::Nothing => Tone::Empty,
            Self::One => Tone::Faint,
            Self::Some => Tone::Second,
            Self::Whole => Tone::First,
        }
    }
}

/// The letter of a rank, or its number where there are more ranks than letters.
pub fn letter(exchange: &MessageTrace, rank: usize) -> String {
    if exchange.ranks > LETTERS {
        return rank.to_string();
    }
    let letter = u8::try_from(rank).ok().and_then(|rank| b'A'.checked_add(rank));
    letter.map_or_else(|| rank.to_string(), |letter| char::from(letter).to_string())
}

/// A rank with its letter: "B rank 1".
pub fn label(exchange: &MessageTrace, rank: usize) -> String {
    let name = exchange.name(rank);
    if exchange.ranks > LETTERS {
        return name;
    }
    format!("{} {name}", letter(exchange, rank))
}

/// How far a chunk has come, of a total of `versions`.
pub fn stage(versions: usize, held: &ChunkState) -> Stage {
    match held.from.count() {
        0 => Stage::Nothing,
        count if count >= versions => Stage::Whole,
        1 => Stage::One,
        _ => Stage::Some,
    }
}

/// The ranks with versions in it: their letters, or their number where letters end.
pub fn whose(exchange: &MessageTrace, held: &ChunkState) -> String {
    /// Letters that are read at a glance.
    const READ: usize = 8;
    let count = held.from.count();
    if count == 0 {
        return String::new();
    }
    if exchange.ranks > READ {
        return count.to_string();
    }
    let ranks = held.from.stretches().iter();
    let ranks = ranks.flat_map(|(from, to)| *from..*to);
    ranks.map(|rank| letter(exchange, rank)).collect()
}

/// How many versions are in it.
pub fn count(held: &ChunkState) -> String {
    held.from.count().to_string()
}

/// The rounds stepped through, of those listed.
pub fn done(exchange: &MessageTrace, at: usize) -> usize {
    at.min(exchange.rounds.len())
}

/// What some ranks hold of some chunks.
pub fn cells(
    exchange: &MessageTrace,
    after: &TraceState,
    ranks: Range<usize>,
    chunks: Range<usize>,
) -> Cells {
    let cell = |rank: usize, chunk: usize| {
        let held = after.held(rank, chunk)?;
        let stage = stage(after.versions(chunk), held);
        Some(Cell {
            kind: Stage::ALL.iter().position(|other| *other == stage)?,
            text: whose(exchange, held),
        })
    };
    let row = |rank: usize| CellRow {
        label: label(exchange, rank),
        cells: chunks.clone().map(|chunk| cell(rank, chunk)).collect(),
        remark: String::new(),
    };
    Cells {
        across: "chunk".to_owned(),
        first: chunks.start,
        group: 0,
        kinds: Stage::ALL
            .map(|stage| Kind { name: stage.word().to_owned(), tone: stage.tone() })
            .to_vec(),
        rows: ranks.map(row).collect(),
        ..Cells::default()
    }
}

/// What is held where an exchange stands, as cells.
fn picture(exchange: &MessageTrace, at: usize) -> Cells {
    /// Ranks and chunks of one picture.
    const MOST: usize = 32;
    let chunks = 0..exchange.chunks.len().min(MOST);
    let after = exchange.after(at, chunks.clone());
    let ranks = 0..exchange.ranks.min(MOST);
    let left_out = |what: &str, shown: usize, all: usize| {
        let last = shown.checked_sub(1).filter(|_| shown < all)?;
        Some(format!("{what} 0 to {last} of {all}"))
    };
    let shown = [
        left_out("ranks", ranks.len(), exchange.ranks),
        left_out("chunks", chunks.len(), exchange.chunks.len()),
    ];
    let shown = shown.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let shown = (!shown.is_empty()).then(|| format!("Shown: {shown}."));
    let said = [shown, links(exchange, &after, &glyphs())];
    Cells {
        note: said.into_iter().flatten().collect::<Vec<_>>().join(" "),
        ..cells(exchange, &after, ranks, chunks)
    }
}

/// The exchange before the first round and after each, for paper: as many as there is patience for.
pub fn storyboard(exchange: &MessageTrace) -> Frame {
    /// Pictures; of more rounds some are left out, evenly.
    const MOST: usize = 16;
    let rounds = exchange.rounds.len();
    let count = (rounds + 1).min(MOST);
    let shown = (0..count).map(|place| match count.checked_sub(1) {
        None | Some(0) => 0,
        Some(last) => place * rounds / last,
    });
    let pane =
        |at: usize| Pane { title: phase(exchange, at), frame: Frame::Cells(picture(exchange, at)) };
    Frame::Panes(shown.map(pane).collect())
}
