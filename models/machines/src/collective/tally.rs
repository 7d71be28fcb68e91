//! What a plan sends, counted by walking it.

use std::collections::BTreeMap;

use super::{Message, Plan, Run};
use crate::network::Network;

/// Messages and elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Messages.
    pub messages: u64,
    /// Elements in them.
    pub elements: u64,
}

/// The counts of a whole plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rounds that follow one another.
    pub rounds: u64,
    /// All messages.
    pub messages: u64,
    /// All elements sent.
    pub elements: u64,
    /// What each endpoint sent.
    pub sent: Vec<Load>,
    /// What each endpoint received.
    pub received: Vec<Load>,
    /// The most messages that one endpoint received in one round.
    pub fan_in: u64,
    /// Over the rounds, the sum of what passed through the round's busiest port in its busier direction: what follows
    /// one another on the critical path.
    pub serial_elements: u64,
}

impl Tally {
    /// Walks a plan and counts every message.
    pub fn of(plan: &Plan) -> Self {
        let endpoints = plan.endpoints();
        let split = plan.split();
        let mut tally = Self {
            sent: vec![Load::default(); endpoints],
            received: vec![Load::default(); endpoints],
            ..Self::default()
        };
        let mut ports = Ports::new(plan);
        for round in 0..plan.rounds() {
            let runs = plan.runs(round);
            let busiest = if one_each(&runs) {
                ports.slide(&runs)
            } else {
                ports.walk(runs.iter().flat_map(|run| {
                    let messages = 0..run.count;
                    messages.map(|index| run.message(index, split))
                }))
            };
            tally.rounds += 1;
            tally.fan_in = tally.fan_in.max(busiest.messages);
            tally.serial_elements += busiest.elements;
        }
        ports.settle(&mut tally);
        tally
    }

    /// Seconds of the whole plan: in each round a latency and the bytes of its busiest port, one round after the other.
    pub fn seconds(&self, network: &Network, bytes_per_element: f64) -> f64 {
        let bytes = self.serial_elements as f64 * bytes_per_element;
        network.seconds(self.rounds as f64, bytes)
    }

    /// What the busiest endpoint sends or receives in all.
    pub fn busiest(&self) -> Load {
        let both = self.sent.iter().chain(&self.received).copied();
        let most = |a: Load, b: Load| Load {
            messages: a.messages.max(b.messages),
            elements: a.elements.max(b.elements),
        };
        both.fold(Load::default(), most)
    }

    /// What goes over each link, from one endpoint to another, that carries anything.
    pub fn links(plan: &Plan) -> BTreeMap<(usize, usize), Load> {
        let mut links: BTreeMap<(usize, usize), Load> = BTreeMap::new();
        for message in (0..plan.rounds()).flat_map(|round| plan.round(round)) {
            let load = links.entry((message.from, message.to)).or_default();
            load.messages += 1;
            load.elements += message.elements.len() as u64;
        }
        links
    }
}

/// Whether in these runs every endpoint sends at most one message and receives at most one, of one piece each, and
/// places go on one by one: then whole runs are counted at once.
fn one_each(runs: &[Run]) -> bool {
    let even = |run: &Run| {
        let single = run.count == 1;
        run.width == 1 && (single || (run.from.1 == 1 && run.to.1 == 1 && run.piece.1 == 1))
    };
    // A ring's round has three runs; of many it is cheaper to count than to compare.
    runs.len() <= 4
        && runs.iter().all(even)
        && runs.iter().enumerate().all(|(place, run)| {
            runs.iter().skip(place + 1).all(|other| {
                apart(run.from.0, run, other.from.0, other)
                    && apart(run.to.0, run, other.to.0, other)
            })
        })
}

fn apart(a: usize, run: &Run, b: usize, other: &Run) -> bool {
    a + run.count <= b || b + other.count <= a
}

/// Both directions of every endpoint's port.
struct Ports {
    /// Elements of each piece.
    sizes: Vec<u64>,
    sent: Vec<Load>,
    received: Vec<Load>,
    /// Elements that went out and came in by runs counted at once, and the rounds in which that was one message each.
    out: Vec<u64>,
    into: Vec<u64>,
    out_messages: Vec<u64>,
    into_messages: Vec<u64>,
}

impl Ports {
    fn new(plan: &Plan) -> Self {
        let split = plan.split();
        let sizes = (0..split.pieces()).map(|piece| split.piece(piece).len() as u64);
        let endpoints = plan.endpoints();
        Self {
            sizes: sizes.collect(),
            sent: vec![Load::default(); endpoints],
            received: vec![Load::default(); endpoints],
            out: vec![0; endpoints],
            into: vec![0; endpoints],
            out_messages: vec![0; endpoints],
            into_messages: vec![0; endpoints],
        }
    }

    /// Counts messages of which no two share a port's direction; gives the longest.
    fn slide(&mut self, runs: &[Run]) -> Load {
        let mut longest = 0;
        let mut messages = 0;
        for run in runs {
            let sizes = range(run.piece.0, run).and_then(|range| self.sizes.get(range));
            let Some(sizes) = sizes else { continue };
            longest = sizes.iter().copied().fold(longest, u64::max);
            messages = 1;
            add(&mut self.out, run.from.0, run, sizes);
            add(&mut self.into, run.to.0, run, sizes);
            count(&mut self.out_messages, run.from.0, run);
            count(&mut self.into_messages, run.to.0, run);
        }
        Load {
            messages,
            elements: longest,
        }
    }

    /// Counts any messages of one round; gives the busiest port's elements and the most messages into one.
    fn walk(&mut self, messages: impl Iterator<Item = Message>) -> Load {
        let mut out: BTreeMap<usize, Load> = BTreeMap::new();
        let mut into: BTreeMap<usize, Load> = BTreeMap::new();
        for message in messages {
            let elements = message.elements.len() as u64;
            for (ports, end) in [(&mut out, message.from), (&mut into, message.to)] {
                let load = ports.entry(end).or_default();
                load.messages += 1;
                load.elements += elements;
            }
        }
        let mut busiest = Load::default();
        for load in into.values() {
            busiest.messages = busiest.messages.max(load.messages);
        }
        for load in out.values().chain(into.values()) {
            busiest.elements = busiest.elements.max(load.elements);
        }
        for (totals, round) in [(&mut self.sent, out), (&mut self.received, into)] {
            for (end, load) in round {
                if let Some(total) = totals.get_mut(end) {
                    total.messages += load.messages;
                    total.elements += load.elements;
                }
            }
        }
        busiest
    }

    /// Hands over the totals.
    fn settle(self, tally: &mut Tally) {
        let both = |loads: Vec<Load>, elements: Vec<u64>, messages: Vec<u64>| {
            let slid = elements.into_iter().zip(messages);
            let total = |(load, (elements, messages)): (Load, (u64, u64))| Load {
                messages: load.messages + messages,
                elements: load.elements + elements,
            };
            loads
                .into_iter()
                .zip(slid)
                .map(total)
                .collect::<Vec<Load>>()
        };
        tally.sent = both(self.sent, self.out, self.out_messages);
        tally.received = both(self.received, self.into, self.into_messages);
        tally.messages = tally.sent.iter().map(|load| load.messages).sum();
        tally.elements = tally.sent.iter().map(|load| load.elements).sum();
    }
}

fn range(first: usize, run: &Run) -> Option<std::ops::Range<usize>> {
    Some(first..first.checked_add(run.count)?)
}

fn add(totals: &mut [u64], first: usize, run: &Run, sizes: &[u64]) {
    let totals = range(first, run).and_then(|range| totals.get_mut(range));
    for (total, size) in totals.unwrap_or_default().iter_mut().zip(sizes) {
        *total += size;
    }
}

fn count(totals: &mut [u64], first: usize, run: &Run) {
    let totals = range(first, run).and_then(|range| totals.get_mut(range));
    for total in totals.unwrap_or_default() {
        *total += 1;
    }
}
