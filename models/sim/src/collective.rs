//! Collectives as plans of messages: who sends which elements to whom in which round, and what becomes of them there.
//!
//! A [`Plan`] is pure and lazy: it holds no buffer and no list of messages, and is walked a round at a time. The same
//! plan is executed with real numbers by workers on threads, counted ([`Tally`]), timed under a
//! [`Network`](crate::network::Network) and drawn, so that none of these can disagree.
//!
//! All messages of a round are sent with what their senders held when the round began; a receiver takes those that come
//! to it in the order of the plan. Elements are counted, not bytes: a plan does not know how wide an element is.

mod algorithm;
mod error;
mod execute;
mod picture;
mod split;
mod stage;
mod tally;
mod trees;

use std::ops::Range;

pub use algorithm::{Algorithm, Closed};
pub use error::PlanError;
pub use execute::{execute, execute_shuffled, take};
pub use split::Split;
pub use stage::{Phase, Run};
pub use tally::{Load, Tally};
pub use trees::{Tree, Trees};

use stage::Stage;

/// The most ranks that a plan is made for.
pub const MOST_RANKS: usize = 65_536;

/// Chunks in which each half of the buffer goes through its tree unless a plan says otherwise.
pub const CHUNKS: usize = 8;

/// What the receiver does with the elements of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Adds them to its own.
    Add,
    /// Puts them in the place of its own.
    Replace,
}

/// One message of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// The endpoint that sends it.
    pub from: usize,
    /// The endpoint that receives it.
    pub to: usize,
    /// The pieces of the buffer that it carries, as [`Plan::split`] cuts it.
    pub pieces: Range<usize>,
    /// The same as elements of the buffer; empty where there are fewer elements than pieces.
    pub elements: Range<usize>,
    /// What the receiver does with them.
    pub action: Action,
}

/// The messages of one collective over a buffer that every endpoint has in the same length.
///
/// Endpoints are the ranks `0..ranks`, and one more where a parameter server of its own takes part: its number is
/// `ranks`, and its buffer begins as zeros.
#[derive(Clone, Debug)]
pub struct Plan {
    ranks: usize,
    split: Split,
    stages: Vec<Stage>,
}

impl Plan {
    /// Every rank ends with the sum of all ranks' buffers.
    ///
    /// The double tree goes in [`CHUNKS`] chunks; choose another number with [`Plan::double_tree`].
    ///
    /// # Errors
    /// No ranks, more than [`MOST_RANKS`], or recursive halving and doubling of ranks that are no power of two.
    pub fn all_reduce(
        algorithm: Algorithm,
        ranks: usize,
        elements: usize,
    ) -> Result<Self, PlanError> {
        check(ranks)?;
        let stages = match algorithm {
            Algorithm::Ring => vec![Stage::RingReduceScatter, Stage::RingAllGather],
            Algorithm::RecursiveHalvingDoubling => {
                if !ranks.is_power_of_two() {
                    return Err(PlanError::NotPowerOfTwo { ranks });
                }
                vec![Stage::Halving, Stage::Doubling]
            }
            Algorithm::Tree => vec![Stage::BinomialReduce, Stage::BinomialBroadcast { root: 0 }],
            Algorithm::DoubleTree => return Self::double_tree(ranks, elements, CHUNKS),
            Algorithm::ParameterServer => vec![Stage::ToServer, Stage::FromServer],
            Algorithm::ShardedParameterServer => vec![Stage::ToOwners, Stage::FromOwners],
        };
        let pieces = match algorithm {
            Algorithm::Tree | Algorithm::DoubleTree | Algorithm::ParameterServer => 1,
            Algorithm::Ring
            | Algorithm::RecursiveHalvingDoubling
            | Algorithm::ShardedParameterServer => ranks,
        };
        Self::of(ranks, elements, pieces, stages)
    }

    /// An all-reduce over two binary trees, each with half the buffer in so many chunks that follow one another.
    ///
    /// # Errors
    /// No ranks, more than [`MOST_RANKS`], or no chunk.
    pub fn double_tree(ranks: usize, elements: usize, chunks: usize) -> Result<Self, PlanError> {
        if chunks == 0 {
            return Err(PlanError::NoChunks);
        }
        check(ranks)?;
        let trees = Trees::new(ranks, chunks);
        Self::of(ranks, elements, 2 * chunks, vec![Stage::DoubleTree(trees)])
    }

    /// Every rank begins with its own piece and ends with all, round a ring: rank `r` owns piece `r` of
    /// [`Plan::split`].
    ///
    /// # Errors
    /// No ranks, or more than [`MOST_RANKS`].
    pub fn all_gather(ranks: usize, elements: usize) -> Result<Self, PlanError> {
        Self::of(ranks, elements, ranks, vec![Stage::RingAllGather])
    }

    /// Rank `r` ends with the sum of all ranks' piece `r` of [`Plan::split`], round a ring; what it holds of other
    /// pieces is then of no use.
    ///
    /// # Errors
    /// No ranks, or more than [`MOST_RANKS`].
    pub fn reduce_scatter(ranks: usize, elements: usize) -> Result<Self, PlanError> {
        Self::of(ranks, elements, ranks, vec![Stage::RingReduceScatter])
    }

    /// Every rank ends with the root's buffer, down a binomial tree.
    ///
    /// # Errors
    /// No ranks, more than [`MOST_RANKS`], or a root that is none of them.
    pub fn broadcast(ranks: usize, elements: usize, root: usize) -> Result<Self, PlanError> {
        if root >= ranks && ranks > 0 {
            return Err(PlanError::NoSuchRoot { root, ranks });
        }
        Self::of(ranks, elements, 1, vec![Stage::BinomialBroadcast { root }])
    }

    fn of(
        ranks: usize,
        elements: usize,
        pieces: usize,
        stages: Vec<Stage>,
    ) -> Result<Self, PlanError> {
        check(ranks)?;
        Ok(Self {
            ranks,
            split: Split::new(elements, pieces),
            // A rank alone has the sum already.
            stages: if ranks == 1 { Vec::new() } else { stages },
        })
    }

    /// Ranks that take part.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Ranks, and the parameter server if there is one of its own: buffers that an execution needs.
    pub fn endpoints(&self) -> usize {
        self.ranks + usize::from(self.server().is_some())
    }

    /// The endpoint that is a parameter server and no rank.
    pub fn server(&self) -> Option<usize> {
        let serves = |stage: &Stage| matches!(stage, Stage::ToServer | Stage::FromServer);
        self.stages.iter().any(serves).then_some(self.ranks)
    }

    /// Elements of every endpoint's buffer.
    pub fn elements(&self) -> usize {
        self.split.elements()
    }

    /// How the buffer is cut into the pieces that messages carry.
    pub fn split(&self) -> Split {
        self.split
    }

    /// Rounds that follow one another.
    pub fn rounds(&self) -> usize {
        let rounds = self.stages.iter().map(|stage| stage.rounds(self.ranks));
        rounds.sum()
    }

    /// What a round is part of; nothing beyond the last.
    pub fn phase(&self, round: usize) -> Option<Phase> {
        self.place(round).map(|(stage, _)| stage.phase())
    }

    /// The messages of a round, lazily and in a fixed order; none beyond the last.
    pub fn round(&self, round: usize) -> impl Iterator<Item = Message> + '_ {
        let runs = self.runs(round).into_iter();
        runs.flat_map(move |run| (0..run.count).map(move |index| run.message(index, self.split)))
    }

    /// The messages of a round as runs of evenly spaced ones: what can be counted without looking at each.
    pub fn runs(&self, round: usize) -> Vec<Run> {
        self.place(round).map(|(stage, round)| stage.runs(self.ranks, round)).unwrap_or_default()
    }

    /// What one endpoint does in a round: it sends the first list, then receives the second and takes them in their
    /// order.
    pub fn part(&self, round: usize, endpoint: usize) -> (Vec<Message>, Vec<Message>) {
        let of = |message: &Message| message.from == endpoint || message.to == endpoint;
        self.round(round).filter(of).partition(|message| message.from == endpoint)
    }

    /// The stage that a round falls into, and which round of it that is.
    fn place(&self, mut round: usize) -> Option<(&Stage, usize)> {
        for stage in &self.stages {
            let rounds = stage.rounds(self.ranks);
            if round < rounds {
                return Some((stage, round));
            }
            round -= rounds;
        }
        None
    }
}

fn check(ranks: usize) -> Result<(), PlanError> {
    match ranks {
        0 => Err(PlanError::NoRanks),
        1..=MOST_RANKS => Ok(()),
        _ => Err(PlanError::TooManyRanks { ranks }),
    }
}

#[cfg(test)]
mod tests;
