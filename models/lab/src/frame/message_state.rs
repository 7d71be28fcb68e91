//! What each rank holds after a number of rounds.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::frame::message_trace::{Action, Begins, Message, MessageTrace, Round};

/// Most cells that are followed at once, ranks times chunks: a picture shows far fewer.
const MAX_CELLS: usize = 1 << 20;
/// Most work for following cells, in versions and numbers that arrive, so that the picture answers at once.
const WORK_LIMIT: usize = 1 << 22;

/// What ranks hold of some chunks after a number of rounds, and what has been sent by then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceState {
    /// Rounds done.
    pub rounds: usize,
    /// The chunks that were followed.
    chunks: Range<usize>,
    /// Rank by rank, of each the followed chunks; empty if there would be too many.
    cells: Vec<ChunkState>,
    /// Of the followed chunks, how many versions there are before the first round.
    versions: Vec<usize>,
    /// Bytes by sender and receiver, over all chunks.
    pub sent: BTreeMap<(usize, usize), u64>,
}

/// What a rank holds of a chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChunkState {
    /// The ranks that contributed to it.
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
        Self { stretches: vec![(rank, rank.saturating_add(1))] }
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
        self.stretches.iter().any(|(from, to)| (*from..*to).contains(&rank))
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

impl MessageTrace {
    /// What ranks hold of some chunks after `rounds` rounds, at most those that are listed.
    ///
    /// All messages of a round carry what was held before it. Messages of ranks or chunks that do not exist are passed over.
    pub fn after(&self, rounds: usize, chunks: Range<usize>) -> TraceState {
        let rounds = rounds.min(self.rounds.len());
        let chunks = chunks.start.min(self.chunks.len())..chunks.end.min(self.chunks.len());
        let cells = self.beginning(&chunks);
        let mut after = TraceState {
            rounds,
            versions: if cells.is_empty() { Vec::new() } else { self.versions(&chunks) },
            cells,
            chunks,
            sent: BTreeMap::new(),
        };
        let mut work_left = WORK_LIMIT;
        let mut arrived = Vec::new();
        for round in &self.rounds[..rounds] {
            after.count(self, round);
            match after.deliver(self, round, arrived, work_left) {
                Some((now, left)) => (arrived, work_left) = (now, left),
                None => {
                    after.cells = Vec::new();
                    arrived = Vec::new();
                }
            }
        }
        after
    }

    /// How many versions there are of some chunks.
    fn versions(&self, chunks: &Range<usize>) -> Vec<usize> {
        match &self.begins {
            Begins::Everyone => vec![self.ranks; chunks.len()],
            Begins::Shards => chunks.clone().map(|c| usize::from(c < self.ranks)).collect(),
            Begins::Only(_) => vec![1; chunks.len()],
            Begins::Listed(all) => {
                let mut versions = vec![0; chunks.len()];
                // A chunk that a rank lists twice is there once.
                let mut seen = vec![usize::MAX; chunks.len()];
                for (rank, own) in all.iter().enumerate() {
                    for place in own.iter().filter_map(|chunk| chunk.checked_sub(chunks.start)) {
                        if let (Some(count), Some(seen)) =
                            (versions.get_mut(place), seen.get_mut(place))
                            && *seen != rank
                        {
                            *seen = rank;
                            *count += 1;
                        }
                    }
                }
                versions
            }
        }
    }

    fn beginning(&self, chunks: &Range<usize>) -> Vec<ChunkState> {
        let count = self.ranks.saturating_mul(chunks.len());
        if count == 0 || count > MAX_CELLS {
            return Vec::new();
        }
        let mut cells = vec![ChunkState::default(); count];
        let mut begin = |rank: usize, chunk: usize| {
            let place = chunk.checked_sub(chunks.start);
            let place = place.filter(|place| *place < chunks.len() && rank < self.ranks);
            if let Some(cell) = place.and_then(|place| cells.get_mut(rank * chunks.len() + place)) {
                cell.from = Contributions::only(rank);
                cell.sample = self.sample(rank, chunk).to_vec();
            }
        };
        match &self.begins {
            Begins::Everyone => {
                for rank in 0..self.ranks {
                    chunks.clone().for_each(|chunk| begin(rank, chunk));
                }
            }
            Begins::Shards => chunks.clone().for_each(|chunk| begin(chunk, chunk)),
            Begins::Only(root) => chunks.clone().for_each(|chunk| begin(*root, chunk)),
            Begins::Listed(all) => {
                for (rank, own) in all.iter().enumerate().take(self.ranks) {
                    own.iter().for_each(|chunk| begin(rank, *chunk));
                }
            }
        }
        cells
    }
}

impl TraceState {
    /// What a rank holds of a chunk; nothing if it is not followed.
    pub fn held(&self, rank: usize, chunk: usize) -> Option<&ChunkState> {
        self.cells.get(self.place(rank, chunk)?)
    }

    /// How many versions of a chunk there are before the first round; 0 if it is not followed.
    pub fn versions(&self, chunk: usize) -> usize {
        let place = chunk.checked_sub(self.chunks.start);
        let versions = place.and_then(|place| self.versions.get(place));
        versions.copied().unwrap_or(0)
    }

    /// Whether cells are followed at all: not where there are too many, or too much comes to them.
    pub fn is_followed(&self) -> bool {
        !self.cells.is_empty()
    }

    pub fn bytes(&self) -> u64 {
        self.sent.values().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    fn place(&self, rank: usize, chunk: usize) -> Option<usize> {
        let column = chunk.checked_sub(self.chunks.start)?;
        let known = column < self.chunks.len();
        known.then(|| rank.checked_mul(self.chunks.len())?.checked_add(column))?
    }

    /// Counts the bytes of a round.
    fn count(&mut self, trace: &MessageTrace, round: &Round) {
        for message in round.messages.iter().filter(|m| is_real(trace, m)) {
            let sent = self.sent.entry((message.from, message.to)).or_default();
            *sent = sent.saturating_add(message.bytes);
        }
    }

    /// Delivers the messages of a round: the cells that they came to, and the work that is left; nothing if that is used
    /// up. `before` are the cells that those of the round before came to.
    fn deliver(
        &mut self,
        trace: &MessageTrace,
        round: &Round,
        before: Vec<usize>,
        mut work_left: usize,
    ) -> Option<(Vec<usize>, usize)> {
        if self.cells.is_empty() {
            return Some((before, work_left));
        }
        for at in before {
            if let Some(cell) = self.cells.get_mut(at) {
                cell.arrived = Arrived::Nothing;
            }
        }
        // What is under way was held before the round, whatever arrives in it.
        let mut arriving = Vec::new();
        for message in round.messages.iter().filter(|m| is_real(trace, m)) {
            let carried = message.chunks(trace.chunks.len());
            let seen = carried.start.max(self.chunks.start)..carried.end.min(self.chunks.end);
            for chunk in seen {
                let from = self.place(message.from, chunk).and_then(|at| self.cells.get(at));
                if let (Some(from), Some(to)) = (from, self.place(message.to, chunk)) {
                    let work = 1 + from.from.stretches.len() + from.sample.len();
                    work_left = work_left.checked_sub(work)?;
                    arriving.push((to, message.action, from.clone()));
                }
            }
        }
        let came = arriving.iter().map(|(to, ..)| *to).collect();
        for (to, action, what) in arriving {
            if let Some(cell) = self.cells.get_mut(to) {
                // What is there is walked through as well.
                work_left = work_left.checked_sub(cell.from.stretches.len())?;
                cell.receive(action, what);
            }
        }
        Some((came, work_left))
    }
}

/// Whether a message goes from one rank that there is to another.
fn is_real(trace: &MessageTrace, message: &Message) -> bool {
    message.from < trace.ranks && message.to < trace.ranks
}

impl ChunkState {
    fn receive(&mut self, action: Action, what: Self) {
        match action {
            Action::Add if !self.from.is_empty() => {
                self.from.join(&what.from);
                for (own, other) in self.sample.iter_mut().zip(&what.sample) {
                    *own += other;
                }
                self.arrived = Arrived::Added;
            }
            Action::Add => *self = Self { arrived: Arrived::Added, ..what },
            Action::Replace => *self = Self { arrived: Arrived::Replaced, ..what },
        }
    }
}
