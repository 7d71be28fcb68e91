//! Boxes on a grid, before their size is known: ranks in a ring or a line, in trees, or in a row with lanes below.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::message_trace::{Action, Layout, Round};

use crate::panel::picture::message_trace::wires::lanes;

/// Columns between two boxes of a tree or a mesh at least.
pub(super) const GAP: u16 = 2;

#[derive(Default)]
pub(super) struct Grid {
    /// The rank, the column and the row of each box; a parent stands between two columns.
    pub(super) boxes: Vec<(usize, f64, u16)>,
    pub(super) columns: u16,
    pub(super) rows: u16,
    /// Columns between two boxes: at least, at most.
    pub(super) gap: (u16, u16),
    pub(super) below: u16,
    /// Columns that a box must have at least.
    pub(super) ports: usize,
    pub(super) chunks: Vec<usize>,
    /// The parent of each rank in a tree.
    pub(super) parents: Vec<Option<usize>>,
}

type Links = BTreeSet<(usize, usize)>;

/// Ranks from left to right, and in a ring back below.
pub(super) fn ring(trace: &MessageTrace) -> Option<Grid> {
    const MOST: usize = 12;
    let (ranks, is_closed) = (trace.ranks, trace.layout == Layout::Ring);
    if !(2..=MOST).contains(&ranks) {
        return None;
    }
    let across = if is_closed { ranks.div_ceil(2) } else { ranks };
    let place = |rank: usize| match rank < across {
        true => (rank, rank as f64, 0),
        false => (rank, (2 * across - 1 - rank) as f64, 1),
    };
    Some(Grid {
        boxes: (0..ranks).map(place).collect(),
        columns: u16::try_from(across).ok()?,
        rows: if is_closed { 2 } else { 1 },
        // The shortest link has a stroke, a chunk's name, a stroke and the head of an arrow.
        gap: (7, 14),
        chunks: (0..trace.chunks.len()).collect(),
        ..Grid::default()
    })
}

/// Ranks in a row, with as many lanes below as the fullest of the first rounds needs.
pub(super) fn mesh(trace: &MessageTrace) -> Option<Grid> {
    /// Lanes below each other; more could not be told apart.
    const LANES: usize = 10;
    /// Rounds that are looked through.
    const ROUNDS: usize = 64;
    const RANKS: usize = 32;
    if !(2..=RANKS).contains(&trace.ranks) {
        return None;
    }
    let (mut below, mut ports) = (None, 0);
    for pairs in trace.rounds.iter().take(ROUNDS).map(pairs) {
        below = below.max(Some(lanes(&pairs).1));
        let ends = || pairs.iter().flat_map(|(a, b)| [a, b]);
        ports =
            ports.max(ends().map(|end| ends().filter(|e| *e == end).count()).max().unwrap_or(0));
    }
    let below = below.filter(|lanes| *lanes <= LANES)?;
    Some(Grid {
        boxes: (0..trace.ranks).map(|rank| (rank, rank as f64, 0)).collect(),
        columns: u16::try_from(trace.ranks).ok()?,
        rows: 1,
        gap: (GAP, 10),
        below: 1 + u16::try_from(below).ok()?,
        ports,
        chunks: (0..trace.chunks.len()).collect(),
        ..Grid::default()
    })
}

/// The pairs of ranks between which something passes in a round, the lower rank first and near ones before far ones.
pub(super) fn pairs(round: &Round) -> Vec<(u32, u32)> {
    let messages = round.messages.iter().filter(|m| m.from != m.to);
    let ends = messages.filter_map(|m| {
        let (low, high) = (m.from.min(m.to), m.from.max(m.to));
        Some((high - low, u32::try_from(low).ok()?, u32::try_from(high).ok()?))
    });
    let pairs: BTreeSet<(usize, u32, u32)> = ends.collect();
    pairs.into_iter().map(|(_, low, high)| (low, high)).collect()
}

/// The trees of a trace, told apart by which chunks go along which links; absent where these are no trees, or too many.
pub(super) fn trees(trace: &MessageTrace) -> Option<Vec<Grid>> {
    /// Chunks and ranks beyond which boxes cannot be told apart.
    const MOST: usize = 64;
    if trace.ranks > MOST || trace.chunks.len() > MOST || trace.ranks < 2 {
        return None;
    }
    // The links from a rank to its parent: a sum goes to the parent, and what comes back from it replaces.
    let mut links: BTreeMap<usize, Links> = BTreeMap::new();
    for message in trace.rounds.iter().flat_map(|round| &round.messages) {
        let link = match message.action {
            Action::Add => (message.from, message.to),
            Action::Replace => (message.to, message.from),
        };
        for chunk in message.chunks(trace.chunks.len()) {
            links.entry(chunk).or_default().insert(link);
        }
    }
    let mut groups: Vec<(Links, Vec<usize>)> = Vec::new();
    for (chunk, links) in links {
        match groups.iter_mut().find(|(other, _)| *other == links) {
            Some((_, chunks)) => chunks.push(chunk),
            None => groups.push((links, vec![chunk])),
        }
    }
    if groups.is_empty() || groups.len() > 2 {
        return None;
    }
    groups.into_iter().map(|(links, chunks)| tree(trace.ranks, &links, chunks)).collect()
}

fn tree(ranks: usize, links: &Links, chunks: Vec<usize>) -> Option<Grid> {
    let mut parents = vec![None; ranks];
    for &(child, parent) in links {
        if parents.get(child)?.is_some() || parent >= ranks || child == parent {
            return None;
        }
        parents[child] = Some(parent);
    }
    let is_root = |rank: &usize| parents[*rank].is_none() && links.iter().any(|l| l.1 == *rank);
    let mut roots = (0..ranks).filter(is_root);
    let (root, None) = (roots.next()?, roots.next()) else { return None };
    let mut grid = Grid { gap: (GAP, 12), chunks, parents, ..Grid::default() };
    grid.grow(root, 0);
    // Ranks that send in a circle were not reached.
    (grid.boxes.len() == links.len() + 1).then_some(grid)
}

impl Grid {
    /// Puts a rank over the middle of its children, and these side by side in the order of their numbers; returns its column.
    fn grow(&mut self, rank: usize, row: u16) -> f64 {
        self.rows = self.rows.max(row + 1);
        let is_child = |child: &usize| self.parents[*child] == Some(rank);
        let children: Vec<usize> = (0..self.parents.len()).filter(is_child).collect();
        let columns: Vec<f64> = children.into_iter().map(|c| self.grow(c, row + 1)).collect();
        let column = match (columns.first(), columns.last()) {
            (Some(first), Some(last)) => f64::midpoint(*first, *last),
            _ => {
                self.columns += 1;
                f64::from(self.columns - 1)
            }
        };
        self.boxes.push((rank, column, row));
        column
    }
}
