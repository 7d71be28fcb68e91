//! Collectives as plans of messages: in each round the sender, receiver and elements of every message, and whether the
//! receiver adds or replaces them.
//!
//! A [`Plan`] is pure and lazy: it holds no buffer and no list of messages, and is walked a round at a time. The same
//! plan is executed with real numbers by workers on threads or on buffers in one place ([`execute`]), counted
//! ([`Tally`]), timed under a [`Network`](crate::network::Network) and drawn, so that none of these can disagree.
//!
//! All messages of a round carry what their senders held when the round began; a receiver applies those that it gets
//! in the order of the plan. Elements are counted, not bytes: a plan does not know the width of an element.

mod picture;
mod stage;
mod tally;
#[cfg(test)]
mod tests;

use crate::collective::stage::Stage;
use mlsys_lab::LabError;
use std::ops::{AddAssign, Range};

pub use crate::collective::stage::{Phase, Run, Split, Tree, Trees};
pub use crate::collective::tally::{Algorithm, Closed, Load, Tally};

/// The most ranks that a plan is made for.
pub const MOST_RANKS: usize = 65_536;

/// Chunks in which each half of the buffer goes through its tree unless a plan says otherwise.
pub const CHUNKS: usize = 8;

/// What the receiver does with the elements of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Add,
    /// Puts them in the place of its own.
    Replace,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    pub from: usize,
    pub to: usize,
    /// The pieces of the buffer that it carries, as [`Plan::split`] cuts it.
    pub pieces: Range<usize>,
    /// The same as elements of the buffer; empty where there are fewer elements than pieces.
    pub elements: Range<usize>,
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
        let (pieces, stages) = match algorithm {
            Algorithm::Ring => (ranks, vec![Stage::RingReduceScatter, Stage::RingAllGather]),
            Algorithm::RecursiveHalvingDoubling if !ranks.is_power_of_two() => {
                return Err(PlanError::NotPowerOfTwo { ranks });
            }
            Algorithm::RecursiveHalvingDoubling => (ranks, vec![Stage::Halving, Stage::Doubling]),
            Algorithm::Tree => {
                (1, vec![Stage::BinomialReduce, Stage::BinomialBroadcast { root: 0 }])
            }
            Algorithm::DoubleTree => return Self::double_tree(ranks, elements, CHUNKS),
            Algorithm::ParameterServer => (1, vec![Stage::ToServer, Stage::FromServer]),
            Algorithm::ShardedParameterServer => (ranks, vec![Stage::ToOwners, Stage::FromOwners]),
        };
        Self::new(ranks, elements, pieces, stages)
    }

    /// An all-reduce over two binary trees, each with half the buffer, pipelined in chunks.
    ///
    /// # Errors
    /// No ranks, more than [`MOST_RANKS`], or no chunk.
    pub fn double_tree(ranks: usize, elements: usize, chunks: usize) -> Result<Self, PlanError> {
        if chunks == 0 {
            return Err(PlanError::NoChunks);
        }
        check(ranks)?;
        let trees = Trees::new(ranks, chunks);
        Self::new(ranks, elements, 2 * chunks, vec![Stage::DoubleTree(trees)])
    }

    /// Every rank begins with its own piece and ends with all, round a ring: rank `r` owns piece `r`.
    ///
    /// # Errors
    /// No ranks, or more than [`MOST_RANKS`].
    pub fn all_gather(ranks: usize, elements: usize) -> Result<Self, PlanError> {
        Self::new(ranks, elements, ranks, vec![Stage::RingAllGather])
    }

    /// Rank `r` ends with the sum of all ranks' piece `r` of [`Plan::split`], round a ring; its other pieces are stale.
    ///
    /// # Errors
    /// No ranks, or more than [`MOST_RANKS`].
    pub fn reduce_scatter(ranks: usize, elements: usize) -> Result<Self, PlanError> {
        Self::new(ranks, elements, ranks, vec![Stage::RingReduceScatter])
    }

    /// Every rank ends with the root's buffer, down a binomial tree.
    ///
    /// # Errors
    /// No ranks, more than [`MOST_RANKS`], or a root that is none of them.
    pub fn broadcast(ranks: usize, elements: usize, root: usize) -> Result<Self, PlanError> {
        if root >= ranks && ranks > 0 {
            return Err(PlanError::NoSuchRoot { root, ranks });
        }
        Self::new(ranks, elements, 1, vec![Stage::BinomialBroadcast { root }])
    }

    fn new(
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

    pub fn elements(&self) -> usize {
        self.split.elements()
    }

    /// How the buffer is cut into the pieces that messages carry.
    pub fn split(&self) -> Split {
        self.split
    }

    pub fn rounds(&self) -> usize {
        self.stages.iter().map(|stage| stage.rounds(self.ranks)).sum()
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
        self.place(round).map_or_else(Vec::new, |(stage, round)| stage.runs(self.ranks, round))
    }

    /// What one endpoint does in a round: it sends the first list, then receives the second in order.
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

/// Why there is no such plan, or why it cannot be executed on these buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    #[error("a collective needs at least one rank")]
    NoRanks,
    #[error("{ranks} ranks; choose at most {MOST_RANKS}")]
    TooManyRanks { ranks: usize },
    #[error(
        "recursive halving pairs all ranks off in every round, so their number must be a power of two; {ranks} is none, choose {} or {}",
        (.ranks / 2 + 1).next_power_of_two(),
        .ranks.next_power_of_two()
    )]
    NotPowerOfTwo { ranks: usize },
    #[error("rank {root} is none of the ranks 0 to {}", .ranks - 1)]
    NoSuchRoot { root: usize, ranks: usize },
    #[error("a buffer travels in at least one chunk")]
    NoChunks,
    #[error("the plan has {endpoints} endpoints, but {buffers} buffers were given")]
    WrongBuffers { endpoints: usize, buffers: usize },
    #[error(
        "the buffer of endpoint {endpoint} has {given} elements, but the plan is for {elements}"
    )]
    WrongLength { endpoint: usize, elements: usize, given: usize },
}

impl PlanError {
    /// As the error of a lab, naming its parameters.
    pub fn contradiction<'a>(self, params: impl IntoIterator<Item = &'a str>) -> LabError {
        LabError::contradiction(params, self.to_string())
    }
}

/// Executes a plan; `buffers` has [`Plan::elements`] for each of [`Plan::endpoints`], a parameter server included.
///
/// # Errors
/// Another number of buffers, or a buffer of another length; nothing is changed then.
pub fn execute<T: Copy + AddAssign>(plan: &Plan, buffers: &mut [Vec<T>]) -> Result<(), PlanError> {
    execute_shuffled(plan, buffers, |_, _| ())
}

/// The same with the messages of each round in an order that `order` makes, as if some were longer under way.
///
/// # Errors
/// As for [`execute`].
pub fn execute_shuffled<T: Copy + AddAssign>(
    plan: &Plan,
    buffers: &mut [Vec<T>],
    mut order: impl FnMut(usize, &mut Vec<Message>),
) -> Result<(), PlanError> {
    let (endpoints, elements) = (plan.endpoints(), plan.elements());
    if buffers.len() != endpoints {
        return Err(PlanError::WrongBuffers { endpoints, buffers: buffers.len() });
    }
    let wrong = |(_, buffer): &(usize, &Vec<T>)| buffer.len() != elements;
    if let Some((endpoint, buffer)) = buffers.iter().enumerate().find(wrong) {
        return Err(PlanError::WrongLength { endpoint, elements, given: buffer.len() });
    }
    for round in 0..plan.rounds() {
        let mut messages: Vec<Message> = plan.round(round).collect();
        order(round, &mut messages);
        // All are sent before any is taken: with what the senders held when the round began.
        let sent: Vec<(Message, Vec<T>)> = messages
            .into_iter()
            .map(|message| {
                // A plan's messages lie within its endpoints and elements, and so do the buffers.
                let held = buffers[message.from][message.elements.clone()].to_vec();
                (message, held)
            })
            .collect();
        for (message, held) in sent {
            take(&mut buffers[message.to][message.elements], &held, message.action);
        }
    }
    Ok(())
}

/// What a receiver does with a message: its own elements at that place, and those that came.
pub fn take<T: Copy + AddAssign>(own: &mut [T], came: &[T], action: Action) {
    for (own, came) in own.iter_mut().zip(came) {
        match action {
            Action::Add => *own += *came,
            Action::Replace => *own = *came,
        }
    }
}
