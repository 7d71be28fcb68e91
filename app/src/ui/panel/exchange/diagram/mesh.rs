//! Ranks in a row, with lines from any to any below them: one line for two ranks, whichever way something passes.

use std::collections::BTreeMap;

use mlsys_lab::frame::Exchange;
use mlsys_lab::frame::exchange::{After, Message, Round};
use ratatui::layout::Rect;

use super::boxes::{Form, Shape, carried};
use super::wires::Wires;
use crate::ui::panel::pen::{self, Pen};
use crate::ui::theme::Look;

/// Lines below each other; of more nobody can tell which is which.
const LANES: usize = 10;
/// Rounds that are looked through for the room they need.
const ROUNDS: usize = 64;
/// Ranks that are drawn as boxes.
const RANKS: usize = 32;
/// Columns between two boxes.
const GAP: u16 = 2;

/// Where the boxes are.
pub(in crate::ui::panel::exchange) struct Mesh {
    lefts: Vec<u16>,
    y: u16,
    shape: Shape,
    /// Rows of all.
    pub(super) rows: u16,
}

/// A line between two ranks in a round.
struct Line<'a> {
    /// The ranks, the left one first.
    ranks: (usize, usize),
    /// What arrives at the left one.
    left: Option<&'a Message>,
    /// What arrives at the right one.
    right: Option<&'a Message>,
}

impl Mesh {
    /// The most telling form that has room, with as many lanes below as the fullest round needs.
    pub(super) fn of(exchange: &Exchange, area: Rect, most: u16) -> Option<Self> {
        if !(2..=RANKS).contains(&exchange.ranks) {
            return None;
        }
        let rounds = || exchange.rounds.iter().take(ROUNDS);
        let all = rounds().map(|round| lanes(&lines(round)).1);
        let needed = all.max().filter(|lanes| *lanes <= LANES)?;
        let ports = rounds().map(|round| busiest(&lines(round))).max()?;
        let ranks = u16::try_from(exchange.ranks).ok()?;
        Form::ALL.into_iter().find_map(|form| {
            let shape = Shape::of(exchange, exchange.chunks.len(), form);
            let rows = shape.high + 1 + u16::try_from(needed).ok()?;
            let free = area.width.checked_sub(shape.wide.checked_mul(ranks)?)?;
            let gap = free / (ranks - 1);
            let fits = gap >= GAP && rows < most && ports <= usize::from(shape.wide);
            let step = shape.wide + gap.min(10);
            fits.then(|| Self {
                lefts: (0..ranks).map(|rank| area.x + rank * step).collect(),
                y: area.y,
                shape,
                rows,
            })
        })
    }

    pub(super) fn draw(
        &self,
        pen: &mut Pen<'_>,
        exchange: &Exchange,
        after: &After,
        round: Option<&Round>,
        look: &Look,
    ) {
        let chunks: Vec<usize> = (0..exchange.chunks.len()).collect();
        for (rank, x) in self.lefts.iter().enumerate() {
            let corner = (rank, (*x, self.y));
            self.shape.draw(pen, exchange, after, corner, &chunks, look);
        }
        let Some(round) = round else { return };
        let lines = lines(round);
        let (lanes, _) = lanes(&lines);
        let ports = self.ports(&lines);
        let under = self.y + self.shape.high;
        let mut wires = Wires::default();
        let row = |lane: usize| under + 1 + u16::try_from(lane).unwrap_or(0);
        for (place, lane) in lanes.iter().enumerate() {
            let (left, right) = ports[place];
            let y = row(*lane);
            wires.pass(&[(left, under - 1), (left, y), (right, y), (right, under - 1)]);
        }
        wires.draw(pen, look);
        for ((place, lane), line) in lanes.iter().enumerate().zip(&lines) {
            let (left, right) = ports[place];
            let (y, style) = (row(*lane), look.theme.selection);
            // What arrives stands near where it arrives, and under its head.
            let room = right.saturating_sub(left).saturating_sub(2) / 2;
            let short = |message: &Message| {
                let name = carried(exchange, message);
                match pen::width(&name) <= room {
                    true => name,
                    false => name.trim().chars().take(usize::from(room)).collect(),
                }
            };
            if let Some(message) = line.left {
                pen.text(left + 1, y, &short(message), style);
                pen.glyph(left, under, look.glyphs.ascending, look.theme.accent);
            }
            if let Some(message) = line.right {
                let name = short(message);
                pen.text(right.saturating_sub(pen::width(&name)), y, &name, style);
                pen.glyph(right, under, look.glyphs.ascending, look.theme.accent);
            }
        }
    }

    /// The columns at which each line leaves its two boxes: side by side, those that lead to the left on the left.
    fn ports(&self, lines: &[Line<'_>]) -> Vec<(u16, u16)> {
        let mut at: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, line) in lines.iter().enumerate() {
            let (left, right) = line.ranks;
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
        let ends = lines.iter().enumerate().map(|(place, line)| {
            let (left, right) = line.ranks;
            (port(left, place), port(right, place))
        });
        ends.collect()
    }
}

/// The lines of a round, the shortest first.
fn lines(round: &Round) -> Vec<Line<'_>> {
    let mut all: BTreeMap<(usize, usize), Line<'_>> = BTreeMap::new();
    for message in round.messages.iter().filter(|m| m.from != m.to) {
        let ranks = (message.from.min(message.to), message.from.max(message.to));
        let line = all.entry(ranks).or_insert(Line {
            ranks,
            left: None,
            right: None,
        });
        let end = if message.to == ranks.0 {
            &mut line.left
        } else {
            &mut line.right
        };
        end.get_or_insert(message);
    }
    let mut all: Vec<Line<'_>> = all.into_values().collect();
    all.sort_by_key(|line| (line.ranks.1 - line.ranks.0, line.ranks.0));
    all
}

/// The lane of each line, such that none lies over another, and how many lanes there are.
fn lanes(lines: &[Line<'_>]) -> (Vec<usize>, usize) {
    let mut taken: Vec<Vec<(usize, usize)>> = Vec::new();
    let of_line = |line: &Line<'_>| {
        let (low, high) = line.ranks;
        let is_free = |lane: &Vec<(usize, usize)>| lane.iter().all(|(l, h)| high < *l || low > *h);
        let lane = taken.iter().position(is_free).unwrap_or(taken.len());
        if lane == taken.len() {
            taken.push(Vec::new());
        }
        taken[lane].push((low, high));
        lane
    };
    let lanes = lines.iter().map(of_line).collect();
    (lanes, taken.len())
}

/// How many lines end at the busiest rank.
fn busiest(lines: &[Line<'_>]) -> usize {
    let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
    for line in lines {
        *ends.entry(line.ranks.0).or_default() += 1;
        *ends.entry(line.ranks.1).or_default() += 1;
    }
    ends.into_values().max().unwrap_or(0)
}
