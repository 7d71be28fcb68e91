//! Ranks in a row, with lines from any to any below them: one line for two ranks, whichever way something passes.

use std::collections::BTreeMap;

use mlsys_lab::frame::MessageTrace;
use mlsys_lab::frame::message_trace::{Message, Round};
use ratatui::layout::Rect;

use super::boxes::{Form, Shape};
use super::lines::{Line, Named};
use super::{Boxed, Picture};

/// Lines below each other; more could not be told apart.
const LANES: usize = 10;
/// Rounds that are looked through for the room they need.
const ROUNDS: usize = 64;
/// Ranks that are drawn as boxes.
const RANKS: usize = 32;
/// Columns between two boxes at least.
const GAP: u16 = 2;
/// Columns between two boxes at most.
const WIDEST: u16 = 10;

/// The row of boxes.
pub(super) struct Mesh {
    /// The left edge of each rank's box.
    lefts: Vec<u16>,
    /// The row below the boxes.
    under: u16,
    shape: Shape,
}

/// Two ranks with what passes between them in a round.
struct Pair<'a> {
    /// The ranks, the left one first.
    ranks: (usize, usize),
    /// What arrives at the left one.
    left: Option<&'a Message>,
    /// What arrives at the right one.
    right: Option<&'a Message>,
}

impl Mesh {
    /// The most telling form that has room, with as many lanes below as the fullest round needs.
    pub(super) fn of(exchange: &MessageTrace, area: Rect, most: u16) -> Option<(Picture, Self)> {
        if !(2..=RANKS).contains(&exchange.ranks) {
            return None;
        }
        let rounds = || exchange.rounds.iter().take(ROUNDS);
        let all = rounds().map(|round| lanes(&pairs(round)).1);
        let needed = all.max().filter(|lanes| *lanes <= LANES)?;
        let ports = rounds().map(|round| busiest(&pairs(round))).max()?;
        let ranks = u16::try_from(exchange.ranks).ok()?;
        Form::ALL.into_iter().find_map(|form| {
            let shape = Shape::of(exchange, exchange.chunks.len(), form);
            let rows = shape.high + 1 + u16::try_from(needed).ok()?;
            let free = area.width.checked_sub(shape.wide.checked_mul(ranks)?)?;
            let gap = free / (ranks - 1);
            if gap < GAP || rows >= most || ports > usize::from(shape.wide) {
                return None;
            }
            let step = shape.wide + gap.min(WIDEST);
            let lefts: Vec<u16> = (0..ranks).map(|rank| area.x + rank * step).collect();
            let boxed = |(rank, x): (usize, &u16)| Boxed {
                rank,
                corner: (*x, area.y),
                chunks: (0..exchange.chunks.len()).collect(),
            };
            let picture =
                Picture { boxes: lefts.iter().enumerate().map(boxed).collect(), shape, rows };
            let mesh = Self { lefts, under: area.y + shape.high, shape };
            Some((picture, mesh))
        })
    }

    /// The lines of a round; none before the first.
    pub(super) fn lines<'a>(&self, round: Option<&'a Round>) -> Vec<Line<'a>> {
        let pairs = round.map_or_else(Vec::new, pairs);
        let (lanes, _) = lanes(&pairs);
        let ports = self.ports(&pairs);
        let all = pairs.into_iter().zip(ports).zip(lanes);
        let line = |((pair, (left, right)), lane): ((Pair<'a>, (u16, u16)), usize)| {
            let y = self.under + 1 + u16::try_from(lane).unwrap_or(0);
            let top = self.under - 1;
            Line {
                path: vec![(left, top), (left, y), (right, y), (right, top)],
                start: pair.left,
                end: pair.right,
                named: Named::AtEnds,
            }
        };
        all.map(line).collect()
    }

    /// The columns at which each line leaves its two boxes: side by side, those that lead to the left on the left.
    fn ports(&self, pairs: &[Pair<'_>]) -> Vec<(u16, u16)> {
        let mut at: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, pair) in pairs.iter().enumerate() {
            let (left, right) = pair.ranks;
            at.entry(left).or_default().push((right, place));
            at.entry(right).or_default().push((left, place));
        }
        let port = |rank: usize, place: usize| {
            let mut ends = at.get(&rank).cloned().unwrap_or_default();
            ends.sort_unstable();
            let count = u16::try_from(ends.len()).unwrap_or(u16::MAX);
            let index = ends.iter().position(|(_, other)| *other == place);
            let index = u16::try_from(index.unwrap_or(0)).unwrap_or(0);
            let x = self.lefts.get(rank).copied().unwrap_or(0);
            x + (index + 1) * self.shape.wide / (count + 1)
        };
        let ends = pairs.iter().enumerate().map(|(place, pair)| {
            let (left, right) = pair.ranks;
            (port(left, place), port(right, place))
        });
        ends.collect()
    }
}

/// Who has to do with whom in a round, the nearest first.
fn pairs(round: &Round) -> Vec<Pair<'_>> {
    let mut all: BTreeMap<(usize, usize), Pair<'_>> = BTreeMap::new();
    for message in round.messages.iter().filter(|m| m.from != m.to) {
        let ranks = (message.from.min(message.to), message.from.max(message.to));
        let pair = all.entry(ranks).or_insert(Pair { ranks, left: None, right: None });
        let end = if message.to == ranks.0 { &mut pair.left } else { &mut pair.right };
        end.get_or_insert(message);
    }
    let mut all: Vec<Pair<'_>> = all.into_values().collect();
    all.sort_by_key(|pair| (pair.ranks.1 - pair.ranks.0, pair.ranks.0));
    all
}

/// The lane of each pair's line, such that none lies over another, and how many lanes there are. Two that meet at a rank may
/// share one: the one to the left leaves it further left.
fn lanes(pairs: &[Pair<'_>]) -> (Vec<usize>, usize) {
    let mut taken: Vec<Vec<(usize, usize)>> = Vec::new();
    let of_pair = |pair: &Pair<'_>| {
        let (low, high) = pair.ranks;
        let is_free =
            |lane: &Vec<(usize, usize)>| lane.iter().all(|(l, h)| high <= *l || low >= *h);
        let lane = taken.iter().position(is_free).unwrap_or(taken.len());
        if lane == taken.len() {
            taken.push(Vec::new());
        }
        taken[lane].push((low, high));
        lane
    };
    let lanes = pairs.iter().map(of_pair).collect();
    (lanes, taken.len())
}

/// How many lines end at the busiest rank.
fn busiest(pairs: &[Pair<'_>]) -> usize {
    let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
    for pair in pairs {
        *ends.entry(pair.ranks.0).or_default() += 1;
        *ends.entry(pair.ranks.1).or_default() += 1;
    }
    ends.into_values().max().unwrap_or(0)
}
