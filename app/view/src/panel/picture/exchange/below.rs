//! What is said below an exchange: the sum in one cell, what has been sent, and the lab's own sentence.

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::TraceState;
use ratatui::style::Style;

use crate::figure::exchange as figure;
use crate::panel::picture::text;
use crate::panel::view::Mark;
use crate::theme::Look;

/// Messages over all rounds up to which the widest sentence on what was sent is looked for in each round.
const LOOKED: usize = 1 << 14;
/// Rows of a sum, however wide its numbers could be.
const SUM: u16 = 3;

/// Rows that the sum, what has been sent, and the note need in whatever round: nothing above them may jump while one steps.
pub(super) fn kept(width: u16, exchange: &MessageTrace, look: &Look) -> [u16; 3] {
    let rounds = exchange.rounds.len();
    let rows = |line: &str| u16::try_from(text::wrap(line, width).len()).unwrap_or(u16::MAX);
    let messages = exchange.rounds.iter().map(|round| round.messages.len());
    let work = messages.sum::<usize>().saturating_mul(rounds);
    let looked: Vec<usize> = match work {
        0..=LOOKED => (1..=rounds).collect(),
        _ => vec![1, rounds / 2, rounds],
    };
    let sent = looked.into_iter().filter_map(|round| {
        let said = figure::links(exchange, &exchange.after(round, 0..0), &look.glyphs)?;
        Some(rows(&said))
    });
    [
        match rounds {
            0 => 0,
            _ => rows(&figure::widest_sum(exchange)).min(SUM),
        },
        sent.max().unwrap_or(0),
        match exchange.note.is_empty() {
            true => 0,
            false => rows(&exchange.note),
        },
    ]
}

/// The three, wrapped, each in the rows that are kept for it.
pub(super) fn lines(
    width: u16,
    kept: &[u16; 3],
    exchange: &MessageTrace,
    after: &TraceState,
    mark: Option<Mark>,
    look: &Look,
) -> Vec<(String, Style)> {
    let cell = mark.map(|mark| (mark.row, mark.column)).or_else(|| {
        // Without a mark, the first thing that arrived.
        let round = exchange.rounds.get(after.rounds.checked_sub(1)?)?;
        let first = round.messages.iter().find(|message| message.count > 0)?;
        Some((first.to, first.chunk))
    });
    let sum = cell.and_then(|(rank, chunk)| figure::sum(exchange, after.rounds, rank, chunk));
    let sent = figure::links(exchange, after, &look.glyphs);
    let said = [
        (sum.unwrap_or_default(), look.theme.accent),
        (sent.unwrap_or_default(), look.theme.text),
        (exchange.note.clone(), look.theme.dim),
    ];
    let rows = said.into_iter().zip(kept).flat_map(|((line, style), rows)| {
        let mut parts: Vec<String> = match line.is_empty() {
            true => Vec::new(),
            false => text::wrap(&line, width),
        };
        parts.resize(usize::from(*rows), String::new());
        parts.into_iter().map(move |part| (part.trim_end().to_owned(), style))
    });
    rows.collect()
}
