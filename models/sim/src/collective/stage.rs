//! The stages that plans are put together from, each with the messages of its rounds.

use super::{Action, Message, Split, Trees};

/// What a round of a plan is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Pieces are summed, each to one owner.
    ReduceScatter,
    /// Finished pieces go from their owners to all.
    AllGather,
    /// Whole buffers are summed at a root or server.
    Reduce,
    /// The sum goes from there to all.
    Broadcast,
    /// Chunks are summed and handed out at the same time.
    Pipelined,
}

impl Phase {
    /// Its name as the field says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReduceScatter => "reduce-scatter",
            Self::AllGather => "all-gather",
            Self::Reduce => "reduce",
            Self::Broadcast => "broadcast",
            Self::Pipelined => "reduce and broadcast, pipelined",
        }
    }
}

/// Messages of one round whose senders, receivers and pieces each go on by a constant step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Messages.
    pub count: usize,
    /// The first sender, and the step to the next.
    pub from: (usize, usize),
    /// The first receiver, and the step to the next.
    pub to: (usize, usize),
    /// The first piece of the first message, and the step to the next message's.
    pub piece: (usize, usize),
    /// Pieces in each message.
    pub width: usize,
    /// What receivers do with them.
    pub action: Action,
}

impl Run {
    /// One message.
    fn single(from: usize, to: usize, pieces: std::ops::Range<usize>, action: Action) -> Self {
        Self {
            count: 1,
            from: (from, 0),
            to: (to, 0),
            piece: (pieces.start, 0),
            width: pieces.len(),
            action,
        }
    }

    /// Its message of that place.
    pub fn message(&self, index: usize, split: Split) -> Message {
        let at = |(first, step): (usize, usize)| first + index * step;
        let pieces = at(self.piece)..at(self.piece) + self.width;
        Message {
            from: at(self.from),
            to: at(self.to),
            elements: split.span(&pieces),
            pieces,
            action: self.action,
        }
    }
}

/// A part of a collective, of one or more rounds. Ranks are at least two.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// Rank r sends piece r - 1 - round to rank r + 1, which adds it: after p - 1 rounds rank r has the sum of piece r.
    RingReduceScatter,
    /// Rank r sends piece r - round to rank r + 1.
    RingAllGather,
    /// Partners at distance p/2, p/4, ... 1 send each other the half of their common pieces that the other keeps.
    Halving,
    /// The same backwards: partners at distance 1, 2, ... p/2 send each other all they have finished.
    Doubling,
    /// Rank r sends to rank r - 2^round if that is r's lowest set bit.
    BinomialReduce,
    /// The same backwards, counted from a root.
    BinomialBroadcast {
        /// Who has the buffer.
        root: usize,
    },
    /// All send to the server at once.
    ToServer,
    /// The server sends to all at once.
    FromServer,
    /// All send each piece to its owner at once.
    ToOwners,
    /// Owners send their piece to all at once.
    FromOwners,
    /// Chunk after chunk up and down both trees.
    DoubleTree(Trees),
}

impl Stage {
    pub(super) fn rounds(&self, ranks: usize) -> usize {
        match self {
            Self::RingReduceScatter | Self::RingAllGather => ranks - 1,
            Self::Halving
            | Self::Doubling
            | Self::BinomialReduce
            | Self::BinomialBroadcast { .. } => levels(ranks),
            Self::ToServer | Self::FromServer | Self::ToOwners | Self::FromOwners => 1,
            // The last chunk enters chunks - 1 rounds after the first, which takes the way up and down.
            Self::DoubleTree(trees) => 2 * trees.depth() + trees.chunks - 1,
        }
    }

    pub(super) fn phase(&self) -> Phase {
        match self {
            Self::RingReduceScatter | Self::Halving | Self::ToOwners => Phase::ReduceScatter,
            Self::RingAllGather | Self::Doubling | Self::FromOwners => Phase::AllGather,
            Self::BinomialReduce | Self::ToServer => Phase::Reduce,
            Self::BinomialBroadcast { .. } | Self::FromServer => Phase::Broadcast,
            Self::DoubleTree(_) => Phase::Pipelined,
        }
    }

    /// The messages of one of its rounds.
    pub(super) fn runs(&self, ranks: usize, round: usize) -> Vec<Run> {
        match self {
            Self::RingReduceScatter => ring(ranks, (2 * ranks - 1 - round) % ranks, Action::Add),
            Self::RingAllGather => ring(ranks, (ranks - round) % ranks, Action::Replace),
            Self::Halving => {
                let half = ranks >> (round + 1);
                // The other's half of what both still share.
                pairs(ranks, half, |rank| (rank & !(half - 1)) ^ half, Action::Add)
            }
            Self::Doubling => {
                let half = 1 << round;
                pairs(ranks, half, |rank| rank & !(half - 1), Action::Replace)
            }
            Self::BinomialReduce => vec![binomial(ranks, 1 << round)],
            Self::BinomialBroadcast { root } => {
                let down = binomial(ranks, 1 << (levels(ranks) - 1 - round));
                // From the parent to the child, and everybody moved on by the root.
                let moved = |index: usize, (first, step): (usize, usize)| {
                    (first + index * step + root) % ranks
                };
                let message = |index| {
                    let (from, to) = (moved(index, down.to), moved(index, down.from));
                    Run::single(from, to, 0..1, Action::Replace)
                };
                (0..down.count).map(message).collect()
            }
            Self::ToServer => vec![Run {
                count: ranks,
                from: (0, 1),
                to: (ranks, 0),
                piece: (0, 0),
                width: 1,
                action: Action::Add,
            }],
            Self::FromServer => vec![Run {
                count: ranks,
                from: (ranks, 0),
                to: (0, 1),
                piece: (0, 0),
                width: 1,
                action: Action::Replace,
            }],
            Self::ToOwners => to_others(ranks, (0, 1), Action::Add),
            Self::FromOwners => to_others(ranks, (1, 0), Action::Replace),
            Self::DoubleTree(trees) => chunks(trees, round),
        }
    }
}

/// ceil(log2 ranks)
fn levels(ranks: usize) -> usize {
    ranks.next_power_of_two().ilog2() as usize
}

/// Everybody to the next one round the ring, rank 0 with piece `first` and the others with those that follow.
fn ring(ranks: usize, first: usize, action: Action) -> Vec<Run> {
    // Pieces wrap after rank `ranks - 1 - first`, receivers after the last but one.
    let mut runs = Vec::with_capacity(3);
    let mut from = 0;
    for end in [(ranks - first).min(ranks - 1), ranks - 1, ranks] {
        if end > from {
            runs.push(Run {
                count: end - from,
                from: (from, 1),
                to: ((from + 1) % ranks, 1),
                piece: ((from + first) % ranks, 1),
                width: 1,
                action,
            });
            from = end;
        }
    }
    runs
}

/// Everybody to the partner at a distance, with as many pieces as they are apart.
fn pairs(ranks: usize, apart: usize, first: impl Fn(usize) -> usize, action: Action) -> Vec<Run> {
    let run = |from: usize| Run {
        count: apart,
        from: (from, 1),
        to: (from ^ apart, 1),
        piece: (first(from), 0),
        width: apart,
        action,
    };
    (0..ranks).step_by(apart).map(run).collect()
}

/// Those whose lowest set bit is `step` to those that lack it.
fn binomial(ranks: usize, step: usize) -> Run {
    Run {
        count: (ranks - step).div_ceil(2 * step),
        from: (step, 2 * step),
        to: (0, 2 * step),
        piece: (0, 0),
        width: 1,
        action: Action::Add,
    }
}

/// Everybody to everybody else: with the pieces of the receivers (`(0, 1)`) or of the senders (`(1, 0)`).
fn to_others(ranks: usize, (senders, receivers): (usize, usize), action: Action) -> Vec<Run> {
    let run = |from: usize, first: usize, end: usize| Run {
        count: end - first,
        from: (from, 0),
        to: (first, 1),
        piece: (senders * from + receivers * first, receivers),
        width: 1,
        action,
    };
    let around = (0..ranks).flat_map(|from| [run(from, 0, from), run(from, from + 1, ranks)]);
    around.filter(|run| run.count > 0).collect()
}

/// What moves in a round: a rank at a level sends a chunk up when it has those of its children, which are a level below
/// and sent theirs a round before; the root sends it down in the round after.
fn chunks(trees: &Trees, round: usize) -> Vec<Run> {
    let depth = trees.depth();
    let mut runs = Vec::new();
    for (place, tree) in trees.trees.iter().enumerate() {
        let piece = |start: usize| {
            let chunk = round.checked_sub(start)?;
            (chunk < trees.chunks).then(|| place * trees.chunks + chunk)
        };
        for (rank, parent) in tree.parent.iter().enumerate() {
            let (Some(parent), Some(level)) = (*parent, tree.level.get(rank)) else {
                continue;
            };
            if let Some(piece) = piece(depth - level) {
                runs.push(Run::single(rank, parent, piece..piece + 1, Action::Add));
            }
            if let Some(piece) = piece(depth + level - 1) {
                runs.push(Run::single(parent, rank, piece..piece + 1, Action::Replace));
            }
        }
    }
    runs
}
