//! Who holds what after so many rounds.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Action, Begins, Exchange};

/// Cells that are followed at once, ranks times chunks: a picture shows far fewer.
const MOST: usize = 1 << 20;

/// What ranks hold of some chunks after so many rounds, and what has been sent by then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct After {
    /// Rounds done.
    pub rounds: usize,
    /// The chunks that were followed.
    chunks: Range<usize>,
    /// Rank by rank, of each the followed chunks; empty if there would be too many.
    cells: Vec<Held>,
    /// Bytes by sender and receiver, over all chunks.
    pub sent: BTreeMap<(usize, usize), u64>,
}

/// What a rank holds of a chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    /// Whose versions are in it.
    pub from: Contributions,
    /// Some of its numbers; gaps where a number is not known.
    pub sample: Vec<f32>,
    /// What came in the last round.
    pub arrived: Arrived,
}

/// What came to a chunk in the last round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrived {
    /// Nothing.
    #[default]
    Nothing,
    /// Something was added.
    Added,
    /// It was replaced.
    Replaced,
}

/// A set of ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contributions {
    /// Stretches from a rank to before another, ascending, with gaps between them.
    stretches: Vec<(usize, usize)>,
}

impl Contributions {
    /// One rank alone.
    pub fn only(rank: usize) -> Self {
        Self {
            stretches: vec![(rank, rank.saturating_add(1))],
        }
    }

    /// How many ranks are in it.
    pub fn count(&self) -> usize {
        self.stretches.iter().map(|(from, to)| to - from).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }

    /// Whether a rank is in it.
    pub fn contains(&self, rank: usize) -> bool {
        self.stretches
            .iter()
            .any(|(from, to)| (*from..*to).contains(&rank))
    }

    /// The stretches of neighbouring ranks, each from a rank to before another.
    pub fn stretches(&self) -> &[(usize, usize)] {
        &self.stretches
    }

    /// Takes those of another set in as well.
    pub fn join(&mut self, other: &Self) {
        let mut all = std::mem::take(&mut self.stretches);
        all.extend_from_slice(&other.stretches);
        all.sort_unstable();
        for (from, to) in all {
            match self.stretches.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                Some(_) | None => self.stretches.push((from, to)),
            }
        }
    }
}

impl Exchange {
    /// What ranks hold of some chunks after so many rounds, at most those that are listed.
    ///
    /// All messages of a round carry what was held before it. Messages of ranks or chunks that do not exist are passed over.
    pub fn after(&self, rounds: usize, chunks: Range<usize>) -> After {
        let rounds = rounds.min(self.rounds.len());
        let chunks = chunks.start.min(self.chunks.len())..chunks.end.min(self.chunks.len());
        let mut after = After {
            rounds,
            cells: self.beginning(&chunks),
            chunks,
            sent: BTreeMap::new(),
        };
        for round in &self.rounds[..rounds] {
            after.take(self, round);
        }
        after
    }

    fn beginning(&self, chunks: &Range<usize>) -> Vec<Held> {
        let there = self.ranks.checked_mul(chunks.len());
        if there.is_none_or(|there| there == 0 || there > MOST) {
            return Vec::new();
        }
        let has = |rank: usize, chunk: usize| match &self.begins {
            Begins::Everyone => true,
            Begins::Shards => rank == chunk,
            Begins::Only(root) => rank == *root,
            Begins::Listed(all) => all.get(rank).is_some_and(|own| own.contains(&chunk)),
        };
        let cells = (0..self.ranks).flat_map(|rank| chunks.clone().map(move |chunk| (rank, chunk)));
        let held = cells.map(|(rank, chunk)| match has(rank, chunk) {
            true => Held {
                from: Contributions::only(rank),
                sample: self.sample(rank, chunk).to_vec(),
                arrived: Arrived::Nothing,
            },
            false => Held::default(),
        });
        held.collect()
    }
}

impl After {
    /// What a rank holds of a chunk; nothing if it is not followed.
    pub fn held(&self, rank: usize, chunk: usize) -> Option<&Held> {
        self.cells.get(self.place(rank, chunk)?)
    }

    /// Whether cells are followed at all: not where there are too many.
    pub fn is_followed(&self) -> bool {
        !self.cells.is_empty()
    }

    /// Bytes sent over all links.
    pub fn bytes(&self) -> u64 {
        self.sent
            .values()
            .fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    fn place(&self, rank: usize, chunk: usize) -> Option<usize> {
        let column = chunk.checked_sub(self.chunks.start)?;
        let known = column < self.chunks.len();
        known.then(|| rank.checked_mul(self.chunks.len())?.checked_add(column))?
    }

    fn take(&mut self, exchange: &Exchange, round: &super::Round) {
        for cell in &mut self.cells {
            cell.arrived = Arrived::Nothing;
        }
        // What is under way was held before the round, whatever arrives in it.
        let mut arriving = Vec::new();
        for message in &round.messages {
            let real = message.from < exchange.ranks && message.to < exchange.ranks;
            if !real {
                continue;
            }
            let sent = self.sent.entry((message.from, message.to)).or_default();
            *sent = sent.saturating_add(message.bytes);
            for chunk in message.chunks(exchange.chunks.len()) {
                let from = self
                    .place(message.from, chunk)
                    .and_then(|at| self.cells.get(at));
                if let (Some(from), Some(to)) = (from, self.place(message.to, chunk)) {
                    arriving.push((to, message.action, from.clone()));
                }
            }
        }
        for (to, action, what) in arriving {
            if let Some(cell) = self.cells.get_mut(to) {
                cell.receive(action, what);
            }
        }
    }
}

impl Held {
    fn receive(&mut self, action: Action, what: Self) {
        match action {
            Action::Add if !self.from.is_empty() => {
                self.from.join(&what.from);
                for (own, other) in self.sample.iter_mut().zip(&what.sample) {
                    *own += other;
                }
                self.arrived = Arrived::Added;
            }
            Action::Add => {
                *self = Self {
                    arrived: Arrived::Added,
                    ..what
                };
            }
            Action::Replace => {
                *self = Self {
                    arrived: Arrived::Replaced,
                    ..what
                };
            }
        }
    }
}
