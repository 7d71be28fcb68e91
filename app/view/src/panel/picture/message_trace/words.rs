//! A message trace in words: the round, its messages, what each rank holds and the bytes sent.

use mlsys_lab::frame::message_trace::{Action, Layout, Message, MessageTrace};
use mlsys_lab::frame::{Arrived, ChunkState, Tone, TraceState};
use mlsys_lab::value::{number, significant};

use crate::glyphs::Glyphs;
use crate::quantity::quantity;

/// Ranks, messages and rounds that are written out; the others are counted.
const MOST: usize = 16;
const LETTERS: usize = 26;
/// Ranks of which all letters are shown in a cell.
pub(super) const READABLE: usize = 8;

/// How many versions of a chunk a rank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Nothing,
    /// The rank's own version, or another's alone.
    One,
    Some,
    Whole,
}

impl Stage {
    pub(super) const ALL: [Self; 4] = [Self::Nothing, Self::One, Self::Some, Self::Whole];

    /// The stage of a chunk with `versions` versions in all.
    pub(super) fn new(versions: usize, held: &ChunkState) -> Self {
        match held.from.count() {
            0 => Self::Nothing,
            count if count >= versions => Self::Whole,
            1 => Self::One,
            _ => Self::Some,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::One => "one rank's",
            Self::Some => "partial sum",
            Self::Whole => "complete",
        }
    }

    pub(super) fn tone(self) -> Tone {
        match self {
            Self::Nothing => Tone::Empty,
            Self::One => Tone::Faint,
            Self::Some => Tone::Second,
            Self::Whole => Tone::First,
        }
    }
}

/// The letter of a rank, or its number where there are more ranks than letters.
pub(super) fn letter(trace: &MessageTrace, rank: usize) -> String {
    match u8::try_from(rank) {
        Ok(rank) if trace.ranks <= LETTERS && usize::from(rank) < LETTERS => {
            char::from(b'A' + rank).to_string()
        }
        Ok(_) | Err(_) => rank.to_string(),
    }
}

/// A rank with its letter: "B rank 1".
pub(super) fn label(trace: &MessageTrace, rank: usize) -> String {
    let name = trace.name(rank);
    if trace.ranks > LETTERS { name } else { format!("{} {name}", letter(trace, rank)) }
}

/// The letters of the ranks whose versions a chunk holds, or their number where there are many ranks.
pub(super) fn contributors(trace: &MessageTrace, held: &ChunkState) -> String {
    match held.from.count() {
        0 => String::new(),
        count if trace.ranks > READABLE => count.to_string(),
        _ => {
            let ranks = held.from.stretches().iter().flat_map(|(from, to)| *from..*to);
            ranks.map(|rank| letter(trace, rank)).collect()
        }
    }
}

/// The position: "round 3 of 6: reduce-scatter 3 of 3".
pub(super) fn position(trace: &MessageTrace, at: usize) -> String {
    let at = at.min(trace.rounds.len());
    let all = trace.rounds_in_all();
    if all == 0 {
        return "nothing is sent".to_owned();
    }
    let Some(last) = at.checked_sub(1) else { return format!("before the first of {all} rounds") };
    let phase = trace.rounds.get(last).map_or("", |round| &round.phase);
    match (phase, trace.place_in_phase(last)) {
        ("", _) | (_, None) => format!("round {at} of {all}"),
        (phase, Some((place, count))) if trace.all_rounds <= trace.rounds.len() => {
            format!("round {at} of {all}: {phase} {} of {count}", place + 1)
        }
        (phase, Some(_)) => format!("round {at} of {all}: {phase}"),
    }
}

pub(super) fn line(trace: &MessageTrace, at: usize, glyphs: &Glyphs) -> String {
    let position = position(trace, at);
    let last = at.min(trace.rounds.len()).checked_sub(1);
    let Some(round) = last.and_then(|last| trace.rounds.get(last)) else { return position };
    let messages = round.messages.iter().take(MOST);
    let messages: Vec<String> = messages.map(|m| message(trace, m, glyphs)).collect();
    match round.messages.len().saturating_sub(MOST) {
        0 => format!("{position}. {}.", messages.join("; ")),
        more => format!("{position}. {}; and {more} more messages.", messages.join("; ")),
    }
}

/// A message: "A sends chunk 3 to B, added, 209 kB".
fn message(trace: &MessageTrace, message: &Message, glyphs: &Glyphs) -> String {
    let action = match message.action {
        Action::Add => "added",
        Action::Replace => "put in place",
    };
    format!(
        "{} sends {} to {}, {action}, {}",
        letter(trace, message.from),
        chunks(trace, message),
        letter(trace, message.to),
        quantity(message.bytes as f64, Some("bytes"), glyphs)
    )
}

/// The chunks of a message: "chunk 3", "chunks 0 to 3".
fn chunks(trace: &MessageTrace, message: &Message) -> String {
    let chunks = message.chunks(trace.chunks.len());
    let name = |chunk: usize| trace.chunks.get(chunk).map_or("?", |chunk| chunk.name.as_str());
    let first = name(chunks.start);
    match chunks.len() {
        0 => "nothing".to_owned(),
        all if all == trace.chunks.len() => "everything".to_owned(),
        1 if first.parse::<u64>().is_ok() => format!("chunk {first}"),
        1 => first.to_owned(),
        _ => format!("chunks {first} to {}", name(chunks.end - 1)),
    }
}

/// What came to a chunk of a rank in the last round, with its numbers: "B chunk 3: (0.01) + (0.4) from A = (0.41)".
pub(super) fn sum(trace: &MessageTrace, at: usize, rank: usize, chunk: usize) -> Option<String> {
    let state = |at: usize| trace.after(at, chunk..chunk.saturating_add(1));
    let after = state(at);
    let held = after.held(rank, chunk)?;
    let numbers = |sample: &[f32]| {
        let numbers = sample.iter().map(|x| match x.is_finite() {
            true => number(significant(f64::from(*x), 3)),
            false => "?".to_owned(),
        });
        numbers.collect::<Vec<_>>().join(", ")
    };
    let name = trace.chunks.get(chunk).map_or("?", |chunk| &chunk.name);
    let place = format!("{} chunk {name}", letter(trace, rank));
    if held.sample.is_empty() {
        let contributors = contributors(trace, held);
        return Some(match (contributors.as_str(), contributors.parse::<usize>()) {
            ("", _) => format!("{place}: nothing"),
            (_, Ok(1)) => format!("{place} holds 1 version"),
            (_, Ok(count)) => format!("{place} holds {count} versions"),
            (letters, Err(_)) => format!("{place} holds {letters}"),
        });
    }
    let before = state(at.saturating_sub(1));
    let own = before.held(rank, chunk).map(|held| numbers(&held.sample));
    let last = trace.rounds.get(at.saturating_sub(1))?;
    let mut senders = last.messages.iter().filter(|message| {
        message.to == rank && message.chunks(trace.chunks.len()).contains(&chunk)
    });
    let received = senders.next().and_then(|message| {
        let held = before.held(message.from, chunk)?;
        Some((letter(trace, message.from), numbers(&held.sample)))
    });
    let all = numbers(&held.sample);
    Some(match (held.arrived, own, received) {
        (Arrived::Added, Some(own), Some((from, added))) if senders.next().is_none() => {
            format!("{place}: ({own}) + ({added}) from {from} = ({all})")
        }
        (Arrived::Replaced, _, Some((from, _))) => format!("{place}: ({all}) from {from}"),
        (Arrived::Nothing | Arrived::Added | Arrived::Replaced, _, _) => {
            format!("{place}: ({all})")
        }
    })
}

/// A sum as wide as any of the trace could be, so that room for it can be kept.
pub(super) fn widest_sum(trace: &MessageTrace) -> String {
    /// A number with three digits, a sign, a point and the zeros before them.
    const NUMBER: &str = "-0.00000";
    let names = trace.chunks.iter().map(|chunk| chunk.name.as_str());
    let chunk = names.max_by_key(|name| name.chars().count()).unwrap_or("");
    let rank = letter(trace, trace.ranks.saturating_sub(1));
    if trace.sampled == 0 {
        let ranks = trace.ranks.to_string();
        let count = if ranks.len() > 7 { ranks.as_str() } else { "nothing" };
        return format!("{rank} chunk {chunk} holds {count} versions");
    }
    let numbers = vec![NUMBER; trace.sampled.min(16)].join(", ");
    format!("{rank} chunk {chunk}: ({numbers}) + ({numbers}) from {rank} = ({numbers})")
}

/// Bytes sent so far: one number where all links carry the same, else the busiest links; absent before the first message.
pub(super) fn traffic(trace: &MessageTrace, after: &TraceState, glyphs: &Glyphs) -> Option<String> {
    const MOST: usize = 8;
    let bytes = |bytes: u64| quantity(bytes as f64, Some("bytes"), glyphs);
    let mut links: Vec<((usize, usize), u64)> = after.sent.iter().map(|(k, v)| (*k, *v)).collect();
    let (_, first) = *links.first()?;
    let count = links.len();
    let all = bytes(after.bytes());
    // Equal as they are written.
    if links.iter().all(|(_, sent)| bytes(*sent) == bytes(first)) {
        let links = match count {
            1 => "one link".to_owned(),
            _ => format!("each of {count} links"),
        };
        return Some(format!("Sent so far: {} over {links}, {all} in all.", bytes(first)));
    }
    links.sort_by_key(|(ends, sent)| (std::cmp::Reverse(*sent), *ends));
    links.truncate(MOST);
    links.sort_by_key(|(ends, _)| *ends);
    let busiest = links.iter().map(|((from, to), sent)| {
        format!("{} to {} {}", letter(trace, *from), letter(trace, *to), bytes(*sent))
    });
    let busiest = busiest.collect::<Vec<_>>().join(", ");
    Some(match count.saturating_sub(MOST) {
        0 => format!("Sent so far: {busiest}; {all} in all."),
        more => format!("Sent so far: {busiest} and {more} links more; {all} in all."),
    })
}

fn layout(trace: &MessageTrace) -> &'static str {
    match trace.layout {
        Layout::Ring => "a ring",
        Layout::Line => "a line",
        Layout::Tree => "a tree",
        Layout::Star => "a star",
        Layout::Mesh => "a mesh",
    }
}

/// What is exchanged, and how: "gradient of step 10 over a ring".
pub(super) fn subject(trace: &MessageTrace) -> String {
    let what = if trace.what.is_empty() { "all-reduce" } else { &trace.what };
    format!("{what} over {}", layout(trace))
}

/// The kind of exchange: "gradient over a ring of 4 ranks in 4 chunks and 6 rounds".
pub(super) fn kind(trace: &MessageTrace) -> String {
    format!(
        "{} over {} of {} ranks in {} chunks and {} rounds",
        trace.what,
        layout(trace),
        trace.ranks,
        trace.chunks.len(),
        trace.rounds_in_all()
    )
}

/// The chunks held after a number of rounds, a line a rank; adjacent chunks with the same contents are joined.
fn held(trace: &MessageTrace, at: usize) -> Vec<String> {
    let shown = 0..trace.chunks.len().min(MOST);
    let after = trace.after(at, shown.clone());
    let rank_line = |rank: usize| {
        let mut stretches: Vec<(Message, String)> = Vec::new();
        for chunk in shown.clone() {
            let Some(held) = after.held(rank, chunk) else { continue };
            let contents = match contributors(trace, held).as_str() {
                "" => "nothing".to_owned(),
                letters => {
                    format!("{letters} ({})", Stage::new(after.versions(chunk), held).word())
                }
            };
            match stretches.last_mut() {
                Some((stretch, last)) if *last == contents => {
                    stretch.count = chunk + 1 - stretch.chunk;
                }
                Some(_) | None => {
                    stretches.push((Message { chunk, count: 1, ..Message::default() }, contents));
                }
            }
        }
        let parts = stretches
            .iter()
            .map(|(stretch, contents)| format!("{} {contents}", chunks(trace, stretch)));
        format!("{}: {}", label(trace, rank), parts.collect::<Vec<_>>().join(", "))
    };
    let mut lines: Vec<String> = (0..trace.ranks.min(MOST)).map(rank_line).collect();
    for (what, all) in [("ranks", trace.ranks), ("chunks of each", trace.chunks.len())] {
        if all > MOST {
            lines.push(format!("and {} more {what}", all - MOST));
        }
    }
    lines
}

/// The whole trace in lines of text, with what each rank holds at the position.
pub(super) fn outline(trace: &MessageTrace, at: usize, glyphs: &Glyphs) -> Vec<String> {
    let at = at.min(trace.rounds.len());
    let mut lines = vec![kind(trace)];
    if !trace.note.is_empty() {
        lines.push(trace.note.clone());
    }
    lines.extend((1..=at.min(MOST)).map(|round| line(trace, round, glyphs)));
    if at > MOST {
        lines.push(format!("and so on to {}", line(trace, at, glyphs)));
    }
    let after = if at == 0 { "" } else { "after " };
    lines.push(format!("Held {after}{}:", position(trace, at)));
    lines.extend(held(trace, at));
    let last = at.checked_sub(1).and_then(|last| trace.rounds.get(last));
    let first = last.and_then(|round| round.messages.iter().find(|message| message.count > 0));
    lines.extend(first.and_then(|message| sum(trace, at, message.to, message.chunk)));
    lines.extend(traffic(trace, &trace.after(at, 0..0), glyphs));
    lines
}
