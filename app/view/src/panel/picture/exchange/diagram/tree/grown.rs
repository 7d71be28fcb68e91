//! Which trees an exchange goes along, as its messages tell, and where their ranks stand.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::message_trace::{Action, Message};

/// Chunks and ranks beyond which boxes cannot be told apart.
const MOST: usize = 64;
/// Trees that are drawn.
const TREES: usize = 2;

/// Links from a rank to its parent.
type Links = BTreeSet<(usize, usize)>;

/// A tree over ranks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grown {
    /// The chunks that go along it.
    pub(super) chunks: Vec<usize>,
    /// The parent of each rank, for all but the root and ranks outside the tree.
    pub(super) parents: Vec<Option<usize>>,
    /// The level of each rank from the root, and its place across, counted in boxes.
    pub(super) places: Vec<Option<(usize, f64)>>,
    /// Levels, the root's included.
    pub(super) levels: usize,
    /// Boxes side by side.
    pub(super) columns: usize,
}

impl Grown {
    /// The trees of an exchange, told apart by which chunks go along which links; nothing where these are no trees, or too
    /// many.
    pub(super) fn all(exchange: &MessageTrace) -> Option<Vec<Self>> {
        if exchange.ranks > MOST || exchange.chunks.len() > MOST || exchange.ranks < 2 {
            return None;
        }
        let mut links: BTreeMap<usize, Links> = BTreeMap::new();
        for message in exchange.rounds.iter().flat_map(|round| &round.messages) {
            // A sum goes to the parent, and what comes back from it replaces.
            let link = match message.action {
                Action::Add => (message.from, message.to),
                Action::Replace => (message.to, message.from),
            };
            for chunk in message.chunks(exchange.chunks.len()) {
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
        if groups.is_empty() || groups.len() > TREES {
            return None;
        }
        let grown =
            groups.into_iter().map(|(links, chunks)| Self::of(exchange.ranks, &links, chunks));
        grown.collect()
    }

    fn of(ranks: usize, links: &Links, chunks: Vec<usize>) -> Option<Self> {
        let mut parents = vec![None; ranks];
        for &(child, parent) in links {
            if parents.get(child)?.is_some() || parent >= ranks || child == parent {
                return None;
            }
            parents[child] = Some(parent);
        }
        let is_root = |rank: usize| parents[rank].is_none() && links.iter().any(|l| l.1 == rank);
        let mut roots = (0..ranks).filter(|rank| is_root(*rank));
        let (root, None) = (roots.next()?, roots.next()) else {
            return None;
        };
        let mut grown = Self { chunks, parents, places: vec![None; ranks], levels: 0, columns: 0 };
        grown.place(root, 0);
        // Ranks that send in a circle were not reached.
        let reached = grown.places.iter().flatten().count();
        (reached == links.len() + 1).then_some(grown)
    }

    /// Puts a rank over the middle of its children, and these side by side in the order of their numbers.
    fn place(&mut self, rank: usize, level: usize) -> f64 {
        self.levels = self.levels.max(level + 1);
        let is_child = |child: &usize| self.parents[*child] == Some(rank);
        let children: Vec<usize> = (0..self.parents.len()).filter(is_child).collect();
        let places: Vec<f64> =
            children.into_iter().map(|child| self.place(child, level + 1)).collect();
        let across = match (places.first(), places.last()) {
            (Some(first), Some(last)) => f64::midpoint(*first, *last),
            _ => {
                self.columns += 1;
                (self.columns - 1) as f64
            }
        };
        self.places[rank] = Some((level, across));
        across
    }

    /// Whether a message goes along this tree.
    pub(super) fn carries(&self, message: &Message, chunks: usize) -> bool {
        message.chunks(chunks).any(|chunk| self.chunks.contains(&chunk))
    }
}
