//! Exchanges as plans of collectives have them: messages about ranges of one buffer.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Action, Chunk, Layout, Message, MessageTrace, Round};

/// Messages beyond which later rounds are left out of a picture, so that reports stay small.
const MAX_MESSAGES: usize = 20_000;

/// A message about a range of elements, as plans of collectives have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranged {
    /// Who sends it.
    pub from: usize,
    /// Who gets it.
    pub to: usize,
    /// The elements it carries.
    pub elements: Range<usize>,
    /// What becomes of it.
    pub action: Action,
    /// Its bytes.
    pub bytes: u64,
}

impl MessageTrace {
    /// An exchange of `elements` numbers by messages about ranges of them: each round is a phase and its messages.
    ///
    /// Chunks are cut wherever a message begins or ends, so that every message carries whole ones. Rounds beyond the first 20,000
    /// messages are counted, by what the iterator says is left, not listed; the first is always listed.
    pub fn ranged(
        what: &str,
        layout: Layout,
        ranks: usize,
        elements: usize,
        rounds: impl IntoIterator<Item = (String, Vec<Ranged>)>,
    ) -> Self {
        let mut rounds = rounds.into_iter();
        let (mut listed, mut count, mut all) = (Vec::new(), 0, 0);
        while let Some((phase, messages)) = rounds.next() {
            all += 1;
            count += messages.len();
            if !listed.is_empty() && count > MAX_MESSAGES {
                // The others are not made only to be counted: of many ranks each is long.
                all += rounds.size_hint().0;
                break;
            }
            listed.push((phase, messages));
        }
        let within = |range: &Range<usize>| range.start.min(elements)..range.end.min(elements);
        let ranges = listed.iter().flat_map(|(_, messages)| messages);
        let ends = ranges.flat_map(|message| {
            let range = within(&message.elements);
            [range.start, range.end]
        });
        let edges: BTreeSet<usize> = ends.chain([0, elements]).collect();
        let edges: Vec<usize> = edges.into_iter().collect();
        let place = |edge: usize| edges.partition_point(|other| *other < edge);
        let message = |ranged: &Ranged| {
            let range = within(&ranged.elements);
            let chunk = place(range.start);
            Message {
                from: ranged.from,
                to: ranged.to,
                chunk,
                count: place(range.end).saturating_sub(chunk),
                bytes: ranged.bytes,
                action: ranged.action,
            }
        };
        let chunks = edges.windows(2).enumerate().map(|(index, ends)| Chunk {
            name: index.to_string(),
            elements: (ends[1] - ends[0]) as u64,
        });
        let rounds = listed.iter().map(|(phase, messages)| Round {
            phase: phase.clone(),
            messages: messages.iter().map(message).collect(),
        });
        Self {
            what: what.to_owned(),
            layout,
            ranks,
            chunks: chunks.collect(),
            all_rounds: if all > listed.len() { all } else { 0 },
            rounds: rounds.collect(),
            ..Self::default()
        }
    }
}
