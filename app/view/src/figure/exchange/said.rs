//! An exchange in words.

use mlsys_lab::frame::Arrived;
use mlsys_lab::frame::message_trace::{Action, Layout, Message, MessageTrace};
use mlsys_lab::value::{number, significant};

use super::{done, label, letter, links, stage, whose};
use crate::figure::quantity;
use crate::glyphs::Glyphs;

/// Ranks, messages and links that are told; of more it is said how many there are.
const MOST: usize = 16;

/// Where one stands: "after round 3 of 6, reduce-scatter 3 of 3".
pub fn phase(exchange: &MessageTrace, at: usize) -> String {
    let at = done(exchange, at);
    let all = exchange.rounds_in_all();
    if all == 0 {
        return "nothing is sent".to_owned();
    }
    let Some(last) = at.checked_sub(1) else {
        return format!("before the first of {all} rounds");
    };
    let phase = exchange.rounds.get(last).map_or("", |round| &round.phase);
    match (phase, exchange.place_in_phase(last)) {
        ("", _) | (_, None) => format!("round {at} of {all}"),
        (phase, Some((place, of))) if exchange.all_rounds <= exchange.rounds.len() => {
            format!("round {at} of {all}: {phase} {} of {of}", place + 1)
        }
        (phase, Some(_)) => format!("round {at} of {all}: {phase}"),
    }
}

/// Where one stands and what has just been sent, in a line.
pub fn line(exchange: &MessageTrace, at: usize, glyphs: &Glyphs) -> String {
    let at = done(exchange, at);
    let said = phase(exchange, at);
    let Some(round) = at.checked_sub(1).and_then(|last| exchange.rounds.get(last)) else {
        return said;
    };
    let told = round.messages.iter().take(MOST);
    let told: Vec<String> = told.map(|m| message(exchange, m, glyphs)).collect();
    match round.messages.len().saturating_sub(MOST) {
        0 => format!("{said}. {}.", told.join("; ")),
        more => format!("{said}. {}; and {more} more messages.", told.join("; ")),
    }
}

/// Who sends what to whom, and what becomes of it: "A sends chunk 3 to B, added, 209 kB".
fn message(exchange: &MessageTrace, message: &Message, glyphs: &Glyphs) -> String {
    let action = match message.action {
        Action::Add => "added",
        Action::Replace => "put in place",
    };
    format!(
        "{} sends {} to {}, {action}, {}",
        letter(exchange, message.from),
        carried(exchange, message),
        letter(exchange, message.to),
        quantity(message.bytes as f64, Some("bytes"), glyphs)
    )
}

/// The chunks of a message: "chunk 3", "chunks 0 to 3".
fn carried(exchange: &MessageTrace, message: &Message) -> String {
    let chunks = message.chunks(exchange.chunks.len());
    let name = |chunk: usize| {
        let chunk = exchange.chunks.get(chunk);
        chunk.map_or_else(|| "?".to_owned(), |chunk| chunk.name.clone())
    };
    let numbered = |chunk: usize| name(chunk).parse::<u64>().is_ok();
    match chunks.len() {
        0 => "nothing".to_owned(),
        _ if chunks.len() == exchange.chunks.len() => "everything".to_owned(),
        1 if numbered(chunks.start) => format!("chunk {}", name(chunks.start)),
        1 => name(chunks.start),
        _ => format!("chunks {} to {}", name(chunks.start), name(chunks.end - 1)),
    }
}

/// What came to a chunk of a rank in the last round, with its numbers: "B chunk 3: 0.01, -0.2 + 0.4, 1 = 0.41, 0.8".
pub fn sum(exchange: &MessageTrace, at: usize, rank: usize, chunk: usize) -> Option<String> {
    let after = exchange.after(at, chunk..chunk.saturating_add(1));
    let held = after.held(rank, chunk)?;
    let numbers = |sample: &[f32]| {
        let told = sample.iter().map(|x| match x.is_finite() {
            true => number(significant(f64::from(*x), 3)),
            false => "?".to_owned(),
        });
        told.collect::<Vec<_>>().join(", ")
    };
    let name = exchange.chunks.get(chunk).map_or("?", |chunk| &chunk.name);
    let mut said = format!("{} chunk {name}", letter(exchange, rank));
    let whose = whose(exchange, held);
    if held.sample.is_empty() {
        said.push_str(&match whose.as_str() {
            "" => ": nothing".to_owned(),
            // Where letters end it is a number, which is not a rank's.
            whose if whose.parse::<usize>() == Ok(1) => " holds 1 version".to_owned(),
            whose if whose.parse::<usize>().is_ok() => format!(" holds {whose} versions"),
            whose => format!(" holds {whose}"),
        });
        return Some(said);
    }
    let before = exchange.after(at.saturating_sub(1), chunk..chunk.saturating_add(1));
    let own = before.held(rank, chunk).map(|held| numbers(&held.sample));
    let last = exchange.rounds.get(at.saturating_sub(1))?;
    let mut senders = last.messages.iter().filter(|message| {
        message.to == rank && message.chunks(exchange.chunks.len()).contains(&chunk)
    });
    let come = senders.next().and_then(|message| {
        let held = before.held(message.from, chunk)?;
        Some((message.from, numbers(&held.sample)))
    });
    let all = numbers(&held.sample);
    let told = match (held.arrived, own, come) {
        (Arrived::Added, Some(own), Some((from, come))) if senders.next().is_none() => {
            let from = letter(exchange, from);
            format!(": ({own}) + ({come}) from {from} = ({all})")
        }
        (Arrived::Replaced, _, Some((from, _))) => {
            format!(": ({all}) from {}", letter(exchange, from))
        }
        (Arrived::Nothing | Arrived::Added | Arrived::Replaced, _, _) => format!(": ({all})"),
    };
    said.push_str(&told);
    Some(said)
}

/// A sum as wide as any of the exchange could be: room for it is kept.
pub fn widest_sum(exchange: &MessageTrace) -> String {
    /// A number with three digits, a sign, a point and what stands before them.
    const NUMBER: &str = "-0.00000";
    let longest = |of: &mut dyn Iterator<Item = String>| {
        of.max_by_key(|name| name.chars().count()).unwrap_or_default()
    };
    let chunk = longest(&mut exchange.chunks.iter().map(|chunk| chunk.name.clone()));
    let rank = letter(exchange, exchange.ranks.saturating_sub(1));
    if exchange.sampled == 0 {
        let whose = longest(&mut [exchange.ranks.to_string(), "nothing".to_owned()].into_iter());
        return format!("{rank} chunk {chunk} holds {whose} versions");
    }
    let numbers = vec![NUMBER; exchange.sampled.min(16)].join(", ");
    format!("{rank} chunk {chunk}: ({numbers}) + ({numbers}) from {rank} = ({numbers})")
}

/// What kind of exchange it is: "ring of 4 ranks, 4 chunks, 6 rounds".
pub fn kind(exchange: &MessageTrace) -> String {
    let layout = match exchange.layout {
        Layout::Ring => "a ring",
        Layout::Line => "a line",
        Layout::Tree => "a tree",
        Layout::Star => "a star",
        Layout::Mesh => "a mesh",
    };
    format!(
        "{} over {layout} of {} ranks in {} chunks and {} rounds",
        exchange.what,
        exchange.ranks,
        exchange.chunks.len(),
        exchange.rounds_in_all()
    )
}

/// The chunks held after a number of rounds, a line a rank.
fn lines(exchange: &MessageTrace, at: usize) -> Vec<String> {
    let chunks = 0..exchange.chunks.len().min(MOST);
    let after = exchange.after(at, chunks.clone());
    let ranks = 0..exchange.ranks.min(MOST);
    let mut lines: Vec<String> = ranks
        .map(|rank| {
            // Neighbours that are alike are told once.
            let mut alike: Vec<(usize, usize, String)> = Vec::new();
            for chunk in chunks.clone() {
                let Some(held) = after.held(rank, chunk) else {
                    continue;
                };
                let stage = stage(after.versions(chunk), held);
                let said = match whose(exchange, held).as_str() {
                    "" => "nothing".to_owned(),
                    whose => format!("{whose} ({})", stage.word()),
                };
                match alike.last_mut() {
                    Some(last) if last.2 == said => last.1 = chunk,
                    Some(_) | None => alike.push((chunk, chunk, said)),
                }
            }
            let told = alike.iter().map(|(first, last, said)| {
                let message =
                    Message { chunk: *first, count: last - first + 1, ..Message::default() };
                format!("{} {said}", carried(exchange, &message))
            });
            let told: Vec<String> = told.collect();
            format!("{}: {}", label(exchange, rank), told.join(", "))
        })
        .collect();
    let left_out = exchange.ranks.saturating_sub(MOST);
    if left_out > 0 {
        lines.push(format!("and {left_out} more ranks"));
    }
    let left_out = exchange.chunks.len().saturating_sub(MOST);
    if left_out > 0 {
        lines.push(format!("and {left_out} more chunks of each"));
    }
    lines
}

/// The whole exchange in lines of text, with what is held where one stands.
pub fn outline(exchange: &MessageTrace, at: usize, glyphs: &Glyphs) -> Vec<String> {
    let at = done(exchange, at);
    let mut lines = vec![kind(exchange)];
    if !exchange.note.is_empty() {
        lines.push(exchange.note.clone());
    }
    for round in 1..=at.min(MOST) {
        lines.push(line(exchange, round, glyphs));
    }
    if at > MOST {
        lines.push(format!("and so on to {}", line(exchange, at, glyphs)));
    }
    lines.push(format!(
        "Held {}:",
        match at {
            0 => phase(exchange, at),
            _ => format!("after {}", phase(exchange, at)),
        }
    ));
    lines.extend(self::lines(exchange, at));
    let last = at.checked_sub(1).and_then(|last| exchange.rounds.get(last));
    let came = last.and_then(|round| round.messages.iter().find(|message| message.count > 0));
    lines.extend(came.and_then(|message| sum(exchange, at, message.to, message.chunk)));
    lines.extend(links(exchange, &exchange.after(at, 0..0), glyphs));
    lines
}
