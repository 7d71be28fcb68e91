//! The stages of plans, each with the messages of its rounds: rings, halving and doubling, binomial trees, the two
//! complementary binary trees of an all-reduce, parameter servers; and how a buffer is cut into pieces.

use crate::collective::{Action, Message};
use std::ops::Range;

mlsys_lab::named_enum! {
    /// What a round of a plan is part of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Phase {
        /// Pieces are summed, each to one owner.
        ReduceScatter = "reduce-scatter",
        /// Finished pieces go from their owners to all.
        AllGather = "all-gather",
        /// Whole buffers are summed at a root or server.
        Reduce = "reduce",
        /// The sum goes from there to all.
        Broadcast = "broadcast",
        /// Chunks are summed and handed out at the same time.
        Pipelined = "reduce and broadcast, pipelined",
    }
}

/// Messages of one round in arithmetic progression: senders, receivers and pieces each advance by a constant step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub count: usize,
    /// The first sender, and the step to the next.
    pub from: (usize, usize),
    /// The first receiver, and the step to the next.
    pub to: (usize, usize),
    /// The first piece of the first message, and the step to the next message's.
    pub piece: (usize, usize),
    pub width: usize,
    pub action: Action,
}

impl Run {
    fn single(from: usize, to: usize, pieces: Range<usize>, action: Action) -> Self {
        Self {
            count: 1,
            from: (from, 0),
            to: (to, 0),
            piece: (pieces.start, 0),
            width: pieces.len(),
            action,
        }
    }

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
    BinomialBroadcast { root: usize },
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
            Self::ToServer => {
                let first = Run::single(0, ranks, 0..1, Action::Add);
                vec![Run { count: ranks, from: (0, 1), ..first }]
            }
            Self::FromServer => {
                let first = Run::single(ranks, 0, 0..1, Action::Replace);
                vec![Run { count: ranks, to: (0, 1), ..first }]
            }
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

/// From ranks with lowest set bit `step` to those without it.
fn binomial(ranks: usize, step: usize) -> Run {
    let count = (ranks - step).div_ceil(2 * step);
    let first = Run::single(step, 0, 0..1, Action::Add);
    Run { count, from: (step, 2 * step), to: (0, 2 * step), ..first }
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
            let (Some(parent), Some(level)) = (*parent, tree.level.get(rank)) else { continue };
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The parent of each rank; none for the root.
    pub parent: Vec<Option<usize>>,
    /// Edges from each rank up to the root.
    pub level: Vec<usize>,
    /// Most edges from a rank to the root.
    pub depth: usize,
}

impl Tree {
    /// The first tree: rank 0 is the root, odd ranks are leaves (NCCL, `src/graph/trees.cc`).
    pub fn first(ranks: usize) -> Self {
        Self::from_parents((0..ranks).map(|rank| parent(ranks, rank)).collect())
    }

    /// The second: the first mirrored for an even number of ranks (its leaves are the even ranks), else shifted by one.
    pub fn second(ranks: usize) -> Self {
        let of = |rank: usize| {
            if ranks.is_multiple_of(2) {
                parent(ranks, ranks - 1 - rank).map(|up| ranks - 1 - up)
            } else {
                parent(ranks, (rank + ranks - 1) % ranks).map(|up| (up + 1) % ranks)
            }
        };
        Self::from_parents((0..ranks).map(of).collect())
    }

    fn from_parents(parent: Vec<Option<usize>>) -> Self {
        let up = |rank: &usize| parent.get(*rank).copied().flatten();
        let level = |rank: usize| std::iter::successors(Some(rank), up).count() - 1;
        let level: Vec<usize> = (0..parent.len()).map(level).collect();
        let depth = level.iter().copied().max().unwrap_or(0);
        Self { parent, level, depth }
    }

    /// The children of each rank, ascending.
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.parent.len()];
        for (rank, up) in self.parent.iter().enumerate() {
            up.iter().for_each(|up| children[*up].push(rank));
        }
        children
    }
}

/// With the lowest set bit b of the rank: up = (rank xor b) or 2b, or rank xor b where that is no rank; none for rank 0.
fn parent(ranks: usize, rank: usize) -> Option<usize> {
    if rank == 0 {
        return None;
    }
    let bit = 1 << rank.trailing_zeros();
    let up = (rank ^ bit) | (bit << 1);
    Some(if up < ranks { up } else { rank ^ bit })
}

/// Both trees, and in how many chunks each takes its half of the buffer.
#[derive(Clone, Debug)]
pub struct Trees {
    pub trees: [Tree; 2],
    pub chunks: usize,
}

impl Trees {
    pub fn new(ranks: usize, chunks: usize) -> Self {
        Self { trees: [Tree::first(ranks), Tree::second(ranks)], chunks }
    }

    pub fn depth(&self) -> usize {
        self.trees.iter().map(|tree| tree.depth).max().unwrap_or(0)
    }
}

/// A buffer cut into pieces of even length; where they do not divide it, the first ones are one element longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    elements: usize,
    pieces: usize,
}

impl Split {
    /// Splits `elements` into `pieces`; 0 pieces count as 1.
    pub fn new(elements: usize, pieces: usize) -> Self {
        Self { elements, pieces: pieces.max(1) }
    }

    pub fn elements(self) -> usize {
        self.elements
    }

    pub fn pieces(self) -> usize {
        self.pieces
    }

    pub fn piece(self, piece: usize) -> Range<usize> {
        self.start(piece)..self.start(piece + 1)
    }

    pub fn span(self, pieces: &Range<usize>) -> Range<usize> {
        self.start(pieces.start)..self.start(pieces.end)
    }

    pub fn longest(self) -> usize {
        self.elements.div_ceil(self.pieces)
    }

    pub fn shortest(self) -> usize {
        self.elements / self.pieces
    }

    /// How many pieces, the first ones, are an element longer than the shortest.
    pub fn longer(self) -> usize {
        self.elements % self.pieces
    }

    /// Where a piece begins; beyond the last, the end.
    fn start(self, piece: usize) -> usize {
        let piece = piece.min(self.pieces);
        piece * self.shortest() + piece.min(self.longer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_one_another_and_differ_by_at_most_one() {
        for elements in 0..70 {
            for pieces in 1..35 {
                let split = Split::new(elements, pieces);
                let mut end = 0;
                let mut lengths = Vec::new();
                for piece in 0..pieces {
                    let range = split.piece(piece);
                    assert_eq!(range.start, end);
                    end = range.end;
                    lengths.push(range.len());
                }
                assert_eq!(end, elements);
                assert_eq!(split.span(&(0..pieces)), 0..elements);
                assert_eq!(lengths.first(), Some(&split.longest()));
                let longer = lengths.iter().filter(|l| **l > split.shortest()).count();
                assert_eq!(longer, split.longer());
                assert!(lengths.iter().all(|l| *l >= split.shortest()));
            }
        }
    }
}
