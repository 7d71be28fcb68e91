//! What a plan sends, counted by walking it, and the closed formulas of the all-reduce algorithms.

use crate::collective::{Message, Plan, Run, Split};
use crate::network::Network;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub messages: u64,
    pub elements: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub rounds: u64,
    pub messages: u64,
    pub elements: u64,
    pub sent: Vec<Load>,
    pub received: Vec<Load>,
    /// The most messages that one endpoint received in one round.
    pub fan_in: u64,
    /// Over the rounds, the sum of what passed through the round's busiest port in its busier direction: what follows
    /// one another on the critical path.
    pub serial_elements: u64,
}

impl Tally {
    /// Walks a plan and counts every message. Messages of neighbours that go on by one place each, as all of a ring do,
    /// are counted by the stretch, so that half a billion of them take no longer than their rounds.
    pub fn from_plan(plan: &Plan) -> Self {
        let split = plan.split();
        let mut tally = Self::default();
        let new = || Ends::new(plan.endpoints());
        let mut ports = Ports { split, sent: new(), received: new() };
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
        tally.sent = ports.sent.loads();
        tally.received = ports.received.loads();
        tally.messages = tally.sent.iter().map(|load| load.messages).sum();
        tally.elements = tally.sent.iter().map(|load| load.elements).sum();
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

/// One direction of all ports: what each endpoint passed, kept as the differences from one to the next, so that adding to
/// a stretch of neighbours costs as much as adding to one. Differences wrap, so that the sums are right.
struct Ends(Vec<Load>);

impl Ends {
    fn new(endpoints: usize) -> Self {
        Self(vec![Load::default(); endpoints + 1])
    }

    /// Adds a load to `count` endpoints from `first` on.
    fn add(&mut self, first: usize, count: usize, messages: u64, elements: u64) {
        let before = Load { messages: messages.wrapping_neg(), elements: elements.wrapping_neg() };
        for (at, change) in [(first, Load { messages, elements }), (first + count, before)] {
            if let Some(load) = self.0.get_mut(at) {
                *load = load.plus(change);
            }
        }
    }

    fn loads(self) -> Vec<Load> {
        let endpoints = self.0.len() - 1;
        let sum = |sum: &mut Load, change| {
            *sum = sum.plus(change);
            Some(*sum)
        };
        self.0.into_iter().scan(Load::default(), sum).take(endpoints).collect()
    }
}

impl Load {
    fn plus(self, other: Self) -> Self {
        Self {
            messages: self.messages.wrapping_add(other.messages),
            elements: self.elements.wrapping_add(other.elements),
        }
    }
}

struct Ports {
    split: Split,
    sent: Ends,
    received: Ends,
}

impl Ports {
    /// Counts messages of which no two share a port's direction, run by run; gives the longest.
    fn slide(&mut self, runs: &[Run]) -> Load {
        let mut longest = Load::default();
        let (least, longer) = (self.split.shortest(), self.split.longer());
        for run in runs {
            // The longer pieces are the first ones.
            let more = longer.saturating_sub(run.piece.0).min(run.count);
            for (ends, first) in [(&mut self.sent, run.from.0), (&mut self.received, run.to.0)] {
                ends.add(first, run.count, 1, least as u64);
                ends.add(first, more, 0, 1);
            }
            let elements = (least + usize::from(more > 0)) as u64;
            longest.elements = longest.elements.max(elements);
            longest.messages = 1;
        }
        longest
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
        let fan_in = into.values().map(|load| load.messages).max();
        let loads = out.values().chain(into.values());
        let busiest = Load {
            messages: fan_in.unwrap_or(0),
            elements: loads.map(|load| load.elements).max().unwrap_or(0),
        };
        for (ends, round) in [(&mut self.sent, out), (&mut self.received, into)] {
            for (end, load) in round {
                ends.add(end, 1, load.messages, load.elements);
            }
        }
        busiest
    }
}

mlsys_lab::named_enum! {
    /// How ranks sum their buffers, by the values of the parameter `algorithm`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Algorithm {
        /// Reduce-scatter round a ring, then all-gather round it (Patarasuk & Yuan 2009).
        Ring = "ring",
        /// Partners at half the distance and with half the buffer in every round, and back (Thakur et al. 2005).
        RecursiveHalvingDoubling = "recursive-halving-doubling",
        /// A binomial tree up, then down, with the whole buffer in every message.
        Tree = "tree",
        /// Two binary trees at once, each with half the buffer, pipelined by chunks (Sanders, Speck & Träff 2009).
        DoubleTree = "double-tree",
        ParameterServer = "parameter-server",
        /// Everybody serves its piece of the buffer to all others.
        ShardedParameterServer = "sharded-parameter-server",
    }
}

/// What an all-reduce costs by its closed formula, with `p` ranks, a buffer of `n` bytes and `L = ceil(log2 p)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closed {
    /// Messages that follow one another.
    pub steps: u64,
    /// Bytes that pass one after another on the critical path.
    pub serial_bytes: f64,
    /// Most ranks that send to one receiver at the same time.
    pub fan_in: u64,
}

impl Algorithm {
    /// Whether the algorithm supports this number of ranks.
    pub fn takes(self, ranks: usize) -> bool {
        if self == Self::RecursiveHalvingDoubling { ranks.is_power_of_two() } else { ranks > 0 }
    }

    /// Messages that follow one another; none for a rank alone.
    pub fn steps(self, ranks: usize) -> u64 {
        if ranks < 2 {
            return 0;
        }
        let levels = u64::from(ranks.next_power_of_two().ilog2());
        match self {
            Self::Ring => 2 * (ranks as u64 - 1),
            Self::RecursiveHalvingDoubling | Self::Tree | Self::DoubleTree => 2 * levels,
            Self::ParameterServer | Self::ShardedParameterServer => 2,
        }
    }

    /// The closed formula, in seconds. The double tree is taken to be pipelined ideally: enough chunks
    /// that filling and draining the pipeline costs latency alone.
    pub fn closed(self, ranks: usize, bytes: f64) -> Closed {
        let p = ranks as f64;
        let steps = self.steps(ranks);
        let (factor, fan_in) = match self {
            // Alone nothing is sent, not even to a server.
            _ if ranks < 2 => (0.0, 0),
            Self::Ring | Self::RecursiveHalvingDoubling => (2.0 * (p - 1.0) / p, 1),
            Self::Tree => (steps as f64, 1),
            Self::DoubleTree => (2.0, 2),
            Self::ParameterServer => (2.0 * p, ranks as u64),
            Self::ShardedParameterServer => (2.0 * (p - 1.0) / p, ranks as u64 - 1),
        };
        Closed { steps, serial_bytes: factor * bytes, fan_in }
    }
}
