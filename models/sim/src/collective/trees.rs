//! The two complementary binary trees of an all-reduce.

/// One tree over all ranks.
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
    /// The first tree over so many ranks: rank 0 is the root, odd ranks are leaves (NCCL, `src/graph/trees.cc`).
    pub fn first(ranks: usize) -> Self {
        Self::of((0..ranks).map(|rank| parent(ranks, rank)).collect())
    }

    /// The second: the first one mirrored for an even number of ranks, so that its leaves are the even ranks; else
    /// shifted by one.
    pub fn second(ranks: usize) -> Self {
        let of = |rank: usize| {
            if ranks.is_multiple_of(2) {
                parent(ranks, ranks - 1 - rank).map(|up| ranks - 1 - up)
            } else {
                parent(ranks, (rank + ranks - 1) % ranks).map(|up| (up + 1) % ranks)
            }
        };
        Self::of((0..ranks).map(of).collect())
    }

    fn of(parent: Vec<Option<usize>>) -> Self {
        let up = |rank: &usize| parent.get(*rank).copied().flatten();
        let level = |rank: usize| std::iter::successors(Some(rank), up).count() - 1;
        let level: Vec<usize> = (0..parent.len()).map(level).collect();
        let depth = level.iter().copied().max().unwrap_or(0);
        Self { parent, level, depth }
    }

    /// Whether each rank is some rank's parent.
    pub fn inner(&self) -> Vec<bool> {
        let mut inner = vec![false; self.parent.len()];
        for up in self.parent.iter().flatten() {
            if let Some(inner) = inner.get_mut(*up) {
                *inner = true;
            }
        }
        inner
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
    /// The first and the second tree.
    pub trees: [Tree; 2],
    /// Chunks that go through a tree one behind the other.
    pub chunks: usize,
}

impl Trees {
    /// Both trees over so many ranks.
    pub fn new(ranks: usize, chunks: usize) -> Self {
        Self { trees: [Tree::first(ranks), Tree::second(ranks)], chunks }
    }

    /// Levels of the deeper tree.
    pub fn depth(&self) -> usize {
        self.trees.iter().map(|tree| tree.depth).max().unwrap_or(0)
    }
}
