//! Messages between ranks, round by round: an all-reduce, a broadcast, the activations of a pipeline.
//!
//! The frame holds what is sent, not what anybody holds after it: that follows from the messages ([`Exchange::after`]), so that
//! stepping forward and back runs nothing.

mod after;
mod cut;

use serde::{Deserialize, Serialize};

use super::gaps_as_nan;

pub use after::{After, Arrived, Contributions, Held};
pub use cut::Ranged;

/// Messages between ranks, round by round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// What passes, such as "gradient of step 10".
    pub what: String,
    /// How the ranks are connected.
    pub layout: Layout,
    /// How many take part.
    pub ranks: usize,
    /// Their names, such as "server"; empty where they are told apart by their number alone.
    #[serde(default)]
    pub names: Vec<String>,
    /// The pieces that the whole is cut into.
    pub chunks: Vec<Chunk>,
    /// Who holds what before the first round.
    #[serde(default)]
    pub begins: Begins,
    /// What is sent: the messages of one round leave together, and arrive together.
    pub rounds: Vec<Round>,
    /// The rounds there are in all, where not all are listed; 0 where they are.
    #[serde(default)]
    pub all_rounds: usize,
    /// Numbers given of each chunk of each rank; 0 for none.
    #[serde(default)]
    pub sampled: usize,
    /// What each rank holds of its own: `sampled` numbers of each chunk, rank after rank. Empty for none.
    #[serde(default, deserialize_with = "gaps_as_nan")]
    pub samples: Vec<f32>,
    /// A sentence on what is seen; may be empty.
    #[serde(default)]
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
    /// For each rank its chunks, as places in [`Exchange::chunks`].
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
    /// The first chunk in it, as a place in [`Exchange::chunks`].
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

impl Exchange {
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
        let found =
            first.and_then(|first| self.samples.get(first..first.checked_add(self.sampled)?));
        found.unwrap_or_default()
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
    pub fn chunks(&self, chunks: usize) -> std::ops::Range<usize> {
        let first = self.chunk.min(chunks);
        first..first.saturating_add(self.count).min(chunks)
    }
}

#[cfg(test)]
mod tests;
