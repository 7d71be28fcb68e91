//! What a session draws.

use mlsys_lab::Frame;
use mlsys_lab::frame::message_trace::{Begins, Layout, MessageTrace};
use mlsys_lab::frame::{Milestone, Span, Timeline};
use mlsys_lab::picture::stacks;
use mlsys_sim::collective::Message;

use super::compression::Compression;
use super::params::{Answer, HeldBytes, SAMPLED};
use super::timing::{CollectivePosition, CollectiveSend, sends};
use super::{Session, Zero};
use crate::parallel;

type Picture = fn(&Session) -> Frame;

pub(super) const ALL: [(&str, Picture); 4] = [
    ("timeline", Session::timeline),
    ("ring", Session::ring),
    ("traffic", Session::matrix),
    ("memory", Session::memory),
];

impl Session {
    fn ring(&self) -> Frame {
        let workers = self.setup.workers;
        if workers == 1 {
            let words = "One worker has the whole sum already: nothing is sent.";
            return Frame::Text(words.to_owned());
        }
        let all = sends(&self.setup, &self.knobs, &self.scheme);
        let Some(send) = all.iter().find(|send| send.position == CollectivePosition::Sum) else {
            return Frame::Text("Nothing is summed.".to_owned());
        };
        let exchange = self.exchange(send);
        Frame::MessageTrace(Box::new(MessageTrace { note: self.note().to_owned(), ..exchange }))
    }

    fn exchange(&self, send: &CollectiveSend<'_>) -> MessageTrace {
        let workers = self.setup.workers;
        let compressed =
            self.knobs.compression != Compression::None && self.knobs.synchronize_every <= 1;
        let layout = if self.setup.zero == Zero::Nothing && !compressed {
            self.knobs.algorithm.layout()
        } else {
            Layout::Ring
        };
        let what = match self.steps.done {
            0 => format!("{} of the first step", send.what),
            step => format!("{} of step {step}", send.what),
        };
        let mut exchange = send.plan.exchange(&what, layout, send.width as u64);
        let chunks = exchange.chunks.len();
        let samples = |rank: usize| self.samples.get(rank).filter(|own| !own.is_empty());
        if compressed {
            exchange.begins = Begins::Shards;
            for (rank, chunk) in exchange.chunks.iter_mut().enumerate() {
                chunk.name = format!("gradient of {rank}");
                chunk.elements = self.setup.model.parameters();
            }
        }
        if (0..workers).all(|rank| samples(rank).is_some()) {
            exchange.sampled = SAMPLED;
            let ranks = 0..send.plan.endpoints();
            let of = |rank: usize| {
                let own = samples(rank);
                (0..chunks * SAMPLED).map(move |place| {
                    // A compressed gradient is one chunk, that of its worker.
                    let own = own.filter(|_| !compressed || place / SAMPLED == rank);
                    let place = if compressed { place % SAMPLED } else { place };
                    own.and_then(|own| own.get(place)).copied().unwrap_or(f32::NAN)
                })
            };
            exchange.samples = ranks.flat_map(of).collect();
        }
        exchange
    }

    /// What the picture of messages leaves out.
    fn note(&self) -> &'static str {
        match (self.setup.zero, self.knobs.compression, self.knobs.synchronize_every) {
            (_, _, 2..) => "Weights are summed here, and divided by the number of workers.",
            (_, Compression::Int8 | Compression::Sign | Compression::TopK, _) => {
                "Each adds up all compressed gradients that it got, in the order of ranks."
            }
            (Zero::Nothing, Compression::None, _) => {
                "Every worker divides the sum by the number of workers, and updates its weights in the same way."
            }
            (Zero::Optimizer | Zero::Gradients, Compression::None, _) => {
                "Each then updates its own shard, and the shards of weights go round in as many rounds."
            }
            (Zero::Weights, Compression::None, _) => {
                "Before it the shards of weights went round twice, for the forward and the backward pass."
            }
        }
    }

    fn matrix(&self) -> Frame {
        let Some((traffic, _)) = &self.sent else {
            let words = "No step has sent anything yet.";
            return Frame::Text(words.to_owned());
        };
        let workers = self.setup.workers;
        let all = match self.scheme.all_reduce.server() {
            Some(server) if traffic.sent_by(server).messages > 0 => workers + 1,
            Some(_) | None => workers,
        };
        let names: Vec<String> = (0..all).map(|rank| self.name(rank)).collect();
        parallel::traffic(traffic, names, "bytes sent by a row to a column in a step")
    }

    fn memory(&self) -> Frame {
        let stack = |label: String, held: HeldBytes, activations: u64| {
            let HeldBytes { weights, gradient, optimizer, left_out, late } = held;
            let bytes = [weights, gradient, optimizer, activations, left_out, late];
            (label, bytes.map(|bytes| bytes as f64).to_vec(), String::new())
        };
        let (alone, activations) = self.alone();
        let mut rows = vec![stack("one worker".to_owned(), alone, activations)];
        let workers = self.answers.iter().take(self.setup.workers).enumerate();
        let own = |(rank, answer): (usize, &Answer)| {
            stack(self.name(rank), answer.held, self.activation_bytes())
        };
        rows.extend(workers.map(own));
        let parts = [
            "weights",
            "gradients",
            "optimizer state",
            "activations",
            "left out by compression",
            "late gradients",
        ];
        let note = "Weights, gradients and state as they are held; activations counted by what each operation keeps.";
        stacks("bytes", parts, rows, None, note)
    }

    /// What one worker with the whole batch holds, and its activations.
    pub(super) fn alone(&self) -> (HeldBytes, u64) {
        let model = &self.setup.model;
        let bytes = 4 * model.parameters();
        let held = HeldBytes {
            weights: bytes,
            gradient: bytes,
            optimizer: bytes * self.setup.rule.moments(),
            ..HeldBytes::default()
        };
        (held, model.activation_bytes(self.knobs.batch as u64))
    }

    pub(super) fn name(&self, rank: usize) -> String {
        if rank < self.setup.workers { format!("worker {rank}") } else { "server".to_owned() }
    }

    pub(super) fn timeline(&self) -> Frame {
        let all = sends(&self.setup, &self.knobs, &self.scheme);
        let mut clock = Clock {
            session: self,
            at: 0.0,
            done: vec![0.0; self.setup.workers],
            spans: Vec::new(),
            marks: Vec::new(),
        };
        // Weights that are sharded are gathered before each pass.
        let (before, after): (Vec<_>, Vec<_>) =
            all.iter().partition(|send| send.position == CollectivePosition::Before);
        let mut before = before.into_iter();
        if let Some(send) = before.next() {
            clock.send(send);
        }
        clock.compute("forward", FORWARD, 1.0 / 3.0);
        if let Some(send) = before.next() {
            clock.meet();
            clock.send(send);
        }
        let forward_ends = clock.latest();
        clock.compute("backward", BACKWARD, 2.0 / 3.0);
        clock.meet();
        let backward_ends = clock.at;
        if self.knobs.overlap {
            clock.at = forward_ends;
        }
        for send in after {
            clock.send(send);
        }
        let end = clock.at.max(backward_ends);
        clock.marks.push(Milestone { at: end, label: "step ends".to_owned() });
        let server = all.iter().any(|send| send.plan.server().is_some());
        let workers = self.setup.workers;
        let names = (0..workers + usize::from(server)).map(|rank| self.name(rank));
        // Who sends while it computes has a lane for each.
        let lanes = if self.knobs.overlap {
            let computing = (0..workers).map(|rank| self.name(rank));
            computing.chain(names.map(|name| format!("{name} sends"))).collect()
        } else {
            names.collect()
        };
        Frame::Timeline(Timeline {
            unit: "seconds".to_owned(),
            lanes,
            classes: CLASSES.map(str::to_owned).to_vec(),
            spans: clock.spans,
            marks: clock.marks,
            ..Timeline::default()
        })
    }
}

// The step by the modelled clock: what each worker does when.

const CLASSES: [&str; 4] = ["forward", "backward", "sending, numbered by chunk", "waiting"];
const FORWARD: usize = 0;
const BACKWARD: usize = 1;
const SENDING: usize = 2;
const WAITING: usize = 3;

const ROUNDS: usize = 64;

struct Clock<'a> {
    session: &'a Session,
    /// When the next message leaves.
    at: f64,
    /// When each worker has done what it had to do so far.
    done: Vec<f64>,
    spans: Vec<Span>,
    marks: Vec<Milestone>,
}

impl Clock<'_> {
    /// A share of all workers' compute, each as soon as it can.
    fn compute(&mut self, label: &str, class: usize, share: f64) {
        let modelled = &self.session.modelled;
        for worker in 0..self.done.len() {
            let whole = if worker == 0 { modelled.compute } else { modelled.compute_of_others };
            let (begin, end) = (self.done[worker], self.done[worker] + whole * share);
            self.span(worker, begin, end, class, label.to_owned());
            self.done[worker] = end;
        }
    }

    fn latest(&self) -> f64 {
        self.done.iter().copied().fold(0.0, f64::max)
    }

    fn meet(&mut self) {
        self.at = self.latest();
        for (worker, done) in self.done.clone().into_iter().enumerate() {
            if done < self.at {
                self.span(worker, done, self.at, WAITING, String::new());
            }
        }
        self.done.fill(self.at);
    }

    /// One collective, round by round. Between two averages of weights it takes its share of a step only.
    fn send(&mut self, send: &CollectiveSend<'_>) {
        let session = self.session;
        let (network, every) =
            (&session.knobs.network, session.knobs.synchronize_every.max(1) as f64);
        let rounds = send.plan.rounds();
        let lane = if session.knobs.overlap { session.setup.workers } else { 0 };
        for round in 0..rounds {
            let end = self.at + send.round(round, network) / every;
            if rounds <= ROUNDS {
                // A worker that sends has the number of what it sends, another one of what it receives.
                let messages: Vec<Message> = send.plan.round(round).collect();
                let senders = messages.iter().map(|message| (message.from, message));
                let receivers = messages.iter().map(|message| (message.to, message));
                let mut busy: Vec<(usize, String)> = Vec::new();
                for (endpoint, message) in senders.chain(receivers) {
                    if !busy.iter().any(|(other, _)| *other == endpoint) {
                        busy.push((endpoint, message.pieces.start.to_string()));
                    }
                }
                for (endpoint, label) in busy {
                    self.span(lane + endpoint, self.at, end, SENDING, label);
                }
            }
            self.at = end;
        }
        if rounds > ROUNDS {
            let begin = self.at - send.seconds(network) / every;
            for endpoint in 0..send.plan.endpoints() {
                let label = format!("{rounds} rounds");
                self.span(lane + endpoint, begin, self.at, SENDING, label);
            }
        }
        self.done.fill(self.at);
    }

    fn span(&mut self, lane: usize, start: f64, end: f64, class: usize, label: String) {
        self.spans.push(Span { lane, start, end, class, label, amount: None });
    }
}
