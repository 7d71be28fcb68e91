//! Messages between ranks, round by round: an all-reduce, a broadcast, the activations of a pipeline.
//!
//! The frame holds the messages; what each rank holds after them follows from these ([`MessageTrace::after`]), so that
//! stepping forward and back runs nothing.

mod ranged;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::value::gaps_as_nan;

pub use ranged::Ranged;

/// Messages between ranks, round by round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MessageTrace {
    /// What passes, such as "gradient of step 10".
    pub what: String,
    /// How the ranks are connected.
    pub layout: Layout,
    /// How many take part.
    pub ranks: usize,
    /// Their names, such as "server"; empty where they are told apart by their number alone.
    pub names: Vec<String>,
    /// The pieces that the whole is cut into.
    pub chunks: Vec<Chunk>,
    /// Who holds what before the first round.
    pub begins: Begins,
    /// What is sent: the messages of one round leave together, and arrive together.
    pub rounds: Vec<Round>,
    /// The rounds there are in all, where not all are listed; 0 where they are.
    pub all_rounds: usize,
    /// Numbers given of each chunk of each rank; 0 for none.
    pub sampled: usize,
    /// What each rank holds of its own: `sampled` numbers of each chunk, rank after rank. Empty for none.
    #[serde(deserialize_with = "gaps_as_nan")]
    pub samples: Vec<f32>,
    /// A sentence on what is seen; may be empty.
    pub note: String,
}

/// How ranks are connected, and so how they are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Each to the next, the last to the first.
    #[default]
    Ring,
    /// Each to its neighbours.
    Line,
    /// Each to its parent and its children, which differ from tree to tree: the messages say who they are.
    Tree,
    /// All to one.
    Star,
    /// Anyone to anyone.
    Mesh,
}

/// A piece of what is exchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// What it is called, such as "0", "microbatch 3" or "keys".
    pub name: String,
    /// How many numbers it has.
    #[serde(default)]
    pub elements: u64,
}

/// Who holds what before the first round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begins {
    /// Every rank its own version of every chunk, as before an all-reduce.
    #[default]
    Everyone,
    /// Every rank the chunk of its own number, as before an all-gather.
    Shards,
    /// One rank all chunks, as before a broadcast.
    Only(usize),
    /// For each rank its chunks, as places in [`MessageTrace::chunks`].
    Listed(Vec<Vec<usize>>),
}

/// Messages that leave together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// What is done, such as "reduce-scatter"; rounds of one phase follow each other.
    #[serde(default)]
    pub phase: String,
    /// Who sends what to whom.
    pub messages: Vec<Message>,
}

/// One message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who sends it.
    pub from: usize,
    /// Who gets it.
    pub to: usize,
    /// The first chunk in it, as a place in [`MessageTrace::chunks`].
    pub chunk: usize,
    /// How many chunks it takes along, this one and those after it.
    #[serde(default = "one")]
    pub count: usize,
    /// Its bytes.
    pub bytes: u64,
    /// What becomes of it.
    pub action: Action,
}

fn one() -> usize {
    1
}

/// What becomes of a message where it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// It is added to what is there.
    #[default]
    Add,
    /// It is put in the place of what is there.
    Replace,
}

impl MessageTrace {
    /// What a rank is called: its name, else "rank 3".
    pub fn name(&self, rank: usize) -> String {
        match self.names.get(rank) {
            Some(name) => name.clone(),
            None => format!("rank {rank}"),
        }
    }

    /// Rounds in all, listed or not.
    pub fn rounds_in_all(&self) -> usize {
        self.all_rounds.max(self.rounds.len())
    }

    /// Bytes of all messages that are listed.
    pub fn bytes(&self) -> u64 {
        let messages = self.rounds.iter().flat_map(|round| &round.messages);
        messages.fold(0, |sum, message| sum.saturating_add(message.bytes))
    }

    /// The place of a round, from 0, among those of its phase, and how many these are.
    pub fn place_in_phase(&self, round: usize) -> Option<(usize, usize)> {
        let phase = &self.rounds.get(round)?.phase;
        let same = |other: &&Round| other.phase == *phase;
        let before = self.rounds[..round].iter().rev().take_while(same).count();
        let from = self.rounds[round..].iter().take_while(same).count();
        Some((before, before + from))
    }

    /// The numbers of a rank's own version of a chunk; empty if none are given.
    pub fn sample(&self, rank: usize, chunk: usize) -> &[f32] {
        let first = rank
            .checked_mul(self.chunks.len())
            .and_then(|first| first.checked_add(chunk)?.checked_mul(self.sampled));
        let own = first.and_then(|first| self.samples.get(first..first.checked_add(self.sampled)?));
        own.unwrap_or(&[])
    }

    /// Takes the first numbers of every chunk from what each rank holds, `count` of each; ranks come in their order.
    ///
    /// Chunks lie in the vectors one after the other. A chunk with fewer numbers, or a vector that ends early, is filled up with gaps.
    pub fn sample_from<'a>(&mut self, ranks: impl IntoIterator<Item = &'a [f32]>, count: usize) {
        self.sampled = count;
        self.samples.clear();
        for numbers in ranks.into_iter().take(self.ranks) {
            let mut first = 0_usize;
            for chunk in &self.chunks {
                let elements = usize::try_from(chunk.elements).unwrap_or(usize::MAX);
                let own = (0..count).map(|k| {
                    let at = first.saturating_add(k);
                    let known = (k < elements).then(|| numbers.get(at)).flatten();
                    known.copied().unwrap_or(f32::NAN)
                });
                self.samples.extend(own);
                first = first.saturating_add(elements);
            }
        }
    }
}

impl Message {
    /// The chunks it carries, of `chunks` there are.
    pub fn chunks(&self, chunks: usize) -> Range<usize> {
        let first = self.chunk.min(chunks);
        first..first.saturating_add(self.count).min(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::message_state::{Arrived, Contributions, TraceState};

    /// A ring all-reduce of `ranks` ranks and as many chunks of one number each.
    pub(super) fn ring(ranks: usize) -> MessageTrace {
        let message = |from: usize, chunk: usize, action| Ranged {
            from,
            to: (from + 1) % ranks,
            elements: chunk % ranks..chunk % ranks + 1,
            action,
            bytes: 4,
        };
        let rounds = (0..2 * ranks.saturating_sub(1)).map(|round| {
            let (phase, action) = if round + 1 < ranks {
                ("reduce-scatter", Action::Add)
            } else {
                ("all-gather", Action::Replace)
            };
            let messages = (0..ranks).map(|from| message(from, from + 2 * ranks - round, action));
            (phase.to_owned(), messages.collect())
        });
        MessageTrace::ranged("gradient", Layout::Ring, ranks, ranks, rounds)
    }

    /// A message from one of two ranks to the other.
    fn added(from: usize, elements: Range<usize>) -> Ranged {
        let bytes = 4 * elements.len() as u64;
        Ranged { from, to: 1 - from, bytes, elements, action: Action::Add }
    }

    #[test]
    fn a_ring_all_reduce_leaves_every_rank_with_the_sum() {
        for ranks in 1..=9 {
            let mut trace = ring(ranks);
            let own: Vec<Vec<f32>> = (0..ranks)
                .map(|rank| (0..ranks).map(|chunk| (10 * rank + chunk) as f32).collect())
                .collect();
            trace.sample_from(own.iter().map(Vec::as_slice), 1);
            let after = trace.after(usize::MAX, 0..ranks);
            for rank in 0..ranks {
                for chunk in 0..ranks {
                    let held = after.held(rank, chunk).unwrap();
                    assert_eq!(held.from.count(), ranks, "{ranks} ranks");
                    let sum: f32 = own.iter().map(|numbers| numbers[chunk]).sum();
                    assert_eq!(held.sample, [sum]);
                }
            }
            let each = 4 * 2 * (ranks as u64 - 1);
            assert!(after.sent.values().all(|bytes| *bytes == each));
            assert_eq!(after.bytes(), trace.bytes());
        }
    }

    #[test]
    fn half_way_a_ring_has_one_whole_chunk_a_rank() {
        let trace = ring(4);
        let after = trace.after(3, 0..4);
        for rank in 0..4 {
            let counts: Vec<usize> =
                (0..4).map(|chunk| after.held(rank, chunk).unwrap().from.count()).collect();
            assert_eq!(counts.iter().filter(|count| **count == 4).count(), 1);
            assert_eq!(counts[(rank + 1) % 4], 4, "{counts:?}");
            // What arrived is marked for one round only.
            let arrived = (0..4).map(|chunk| after.held(rank, chunk).unwrap().arrived);
            let arrived: Vec<Arrived> = arrived.filter(|how| *how != Arrived::Nothing).collect();
            assert_eq!(arrived, [Arrived::Added]);
        }
        assert_eq!(trace.place_in_phase(2), Some((2, 3)));
        assert_eq!(trace.place_in_phase(3), Some((0, 3)));
        assert_eq!(trace.place_in_phase(6), None);
    }

    #[test]
    fn messages_carry_the_state_before_their_round() {
        let rounds = [(String::new(), vec![added(0, 0..1), added(1, 0..1)])];
        let mut trace = MessageTrace::ranged("x", Layout::Mesh, 2, 1, rounds);
        trace.sample_from([&[1.0][..], &[2.0][..]], 1);
        let after = trace.after(1, 0..1);
        assert_eq!(after.held(0, 0).unwrap().sample, [3.0]);
        assert_eq!(after.held(1, 0).unwrap().sample, [3.0]);
    }

    #[test]
    fn messages_carry_whole_chunks_wherever_they_were_cut() {
        let rounds = [
            (String::new(), vec![added(0, 0..6), added(1, 6..10)]),
            (String::new(), vec![added(0, 8..10), added(1, 0..0)]),
        ];
        let trace = MessageTrace::ranged("x", Layout::Mesh, 2, 10, rounds);
        let sizes: Vec<u64> = trace.chunks.iter().map(|chunk| chunk.elements).collect();
        assert_eq!(sizes, [6, 2, 2]);
        let messages = trace.rounds.iter().flat_map(|round| &round.messages);
        assert!(messages.map(|m| (m.chunk, m.count)).eq([(0, 1), (1, 2), (2, 1), (0, 0)]));
    }

    #[test]
    fn the_first_holders_are_those_that_begins_lists() {
        let mut trace = ring(3);
        let holders = |trace: &MessageTrace| -> Vec<(usize, usize)> {
            let after = trace.after(0, 0..3);
            let cells = (0..3).flat_map(|rank| (0..3).map(move |chunk| (rank, chunk)));
            cells
                .filter(|(rank, chunk)| !after.held(*rank, *chunk).unwrap().from.is_empty())
                .collect()
        };
        trace.begins = Begins::Shards;
        assert_eq!(holders(&trace), [(0, 0), (1, 1), (2, 2)]);
        trace.begins = Begins::Only(1);
        assert_eq!(holders(&trace), [(1, 0), (1, 1), (1, 2)]);
        trace.begins = Begins::Listed(vec![vec![2], vec![], vec![0, 9]]);
        assert_eq!(holders(&trace), [(0, 2), (2, 0)]);
    }

    #[test]
    fn messages_of_unknown_ranks_or_chunks_are_ignored() {
        let mut trace = ring(3);
        let (count, bytes) = (usize::MAX, u64::MAX);
        let known = Message { to: 1, chunk: 2, count, bytes, ..Message::default() };
        let unknown = Message { from: 7, chunk: usize::MAX, ..known };
        trace.rounds[0].messages.extend([unknown, known]);
        let after = trace.after(usize::MAX, 1..usize::MAX);
        assert_eq!(after.held(0, 0), None);
        assert!(after.held(0, 1).is_some());
        assert_eq!(after.bytes(), u64::MAX);
        assert_eq!(MessageTrace::default().after(3, 0..9), TraceState::default());
    }

    #[test]
    fn ten_thousand_ranks_are_sampled() {
        let trace = ring(10_000);
        assert_eq!(trace.rounds.len(), 2);
        assert_eq!(trace.rounds_in_all(), 19_998);
        let after = trace.after(2, 0..16);
        assert_eq!(after.held(1, 0).unwrap().from.count(), 2);
        assert_eq!(after.held(2, 0).unwrap().from.count(), 3);
        assert!(!trace.after(2, 0..10_000).is_followed());
    }

    #[test]
    fn long_traces_only_count_bytes() {
        let all = Message { from: 0, to: 1, count: usize::MAX, bytes: 1, ..Message::default() };
        let mut trace = MessageTrace {
            ranks: 2,
            chunks: vec![Chunk::default(); 2_000],
            rounds: vec![Round { messages: vec![all; 100], ..Round::default() }; 100],
            ..MessageTrace::default()
        };
        let after = trace.after(100, 0..2_000);
        assert!(!after.is_followed());
        assert_eq!(after.bytes(), 10_000);
        // Of a few chunks it is no work, however many go along.
        assert!(trace.after(100, 7..9).held(1, 8).is_some());
        assert_eq!(trace.after(1, 0..2_000).versions(3), 2);
        // What one rank lists many times is its own once.
        trace.begins = Begins::Listed(vec![vec![3; 50], vec![3, 4, 5_000], vec![3]]);
        let after = trace.after(0, 3..6);
        let versions: Vec<usize> = (2..7).map(|chunk| after.versions(chunk)).collect();
        assert_eq!(versions, [0, 3, 1, 0, 0]);
        assert_eq!(after.held(0, 3).unwrap().from, Contributions::only(0));
        assert!(after.held(0, 4).unwrap().from.is_empty());
    }

    #[test]
    fn sets_of_ranks_join_into_stretches() {
        let set = |ranks: &[usize]| {
            let mut all = Contributions::default();
            for rank in ranks {
                all.join(&Contributions::only(*rank));
            }
            all
        };
        let all = set(&[3, 1, 7, 2, 2]);
        assert_eq!(all.stretches(), [(1, 4), (7, 8)]);
        assert_eq!(all.count(), 4);
        assert!(all.contains(3) && !all.contains(4) && all.contains(7) && !all.contains(8));
    }

    #[test]
    fn json_round_trip_keeps_gaps() {
        let mut trace = ring(3);
        trace.sample_from([&[1.0, 2.0][..], &[3.0, 4.0, 5.0][..]], 2);
        assert_eq!(trace.sample(1, 2)[0], 5.0);
        assert!(trace.sample(1, 2)[1].is_nan());
        assert!(trace.sample(2, 0).is_empty());
        let text = serde_json::to_string(&trace).unwrap();
        let read: MessageTrace = serde_json::from_str(&text).unwrap();
        assert_eq!(read.rounds, trace.rounds);
        assert_eq!(read.sample(0, 0)[0], 1.0);
    }
}
