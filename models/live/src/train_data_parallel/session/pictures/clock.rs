//! The step by the modelled clock: what each worker does when.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Milestone, Span, Timeline};

use crate::train_data_parallel::modelled::{Send, sends};
use crate::train_data_parallel::session::Session;
use crate::train_data_parallel::setup::Overlap;

const CLASSES: [&str; 4] = ["forward", "backward", "sending", "waiting"];
const FORWARD: usize = 0;
const BACKWARD: usize = 1;
const SENDING: usize = 2;
const WAITING: usize = 3;

/// Rounds that are drawn one by one.
const ROUNDS: usize = 64;

impl Session {
    /// Forward, backward, sending and waiting of every worker.
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
        let (before, after): (Vec<_>, Vec<_>) = all.iter().partition(|send| send.precedes());
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
        if self.knobs.overlap == Overlap::Together {
            clock.at = forward_ends;
        }
        for send in after {
            clock.send(send);
        }
        clock
            .marks
            .push(Milestone { at: clock.at.max(backward_ends), label: "step ends".to_owned() });
        let lanes = (0..self.lanes()).map(|lane| self.lane(lane));
        Frame::Timeline(Timeline {
            unit: "seconds".to_owned(),
            lanes: lanes.collect(),
            classes: CLASSES.map(str::to_owned).to_vec(),
            spans: clock.spans,
            marks: clock.marks,
            total: None,
        })
    }

    /// Workers, a server if there is one, and once more where they send while they compute.
    fn lanes(&self) -> usize {
        self.endpoints() + self.first_sender()
    }

    fn endpoints(&self) -> usize {
        let server = self.scheme.all_reduce.server();
        let serves = sends(&self.setup, &self.knobs, &self.scheme)
            .iter()
            .any(|send| server.is_some() && send.plan.server() == server);
        self.setup.workers + usize::from(serves)
    }

    /// The lane in which worker 0 sends.
    fn first_sender(&self) -> usize {
        match self.knobs.overlap {
            Overlap::Apart => 0,
            Overlap::Together => self.setup.workers,
        }
    }

    fn lane(&self, lane: usize) -> String {
        match lane.checked_sub(self.first_sender()) {
            Some(rank) if self.first_sender() > 0 => format!("{} sends", self.name(rank)),
            Some(rank) => self.name(rank),
            None => self.name(lane),
        }
    }
}

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
    /// A share of everybody's compute, each as soon as it can.
    fn compute(&mut self, label: &str, class: usize, share: f64) {
        let modelled = &self.session.modelled;
        for (worker, begin) in self.done.clone().into_iter().enumerate() {
            let whole = match worker {
                0 => modelled.compute,
                _ => modelled.compute_of_others,
            };
            let end = begin + whole * share;
            self.span(worker, begin, end, class, label.to_owned());
            if let Some(done) = self.done.get_mut(worker) {
                *done = end;
            }
        }
    }

    /// When the slowest worker is done.
    fn latest(&self) -> f64 {
        self.done.iter().copied().fold(0.0, f64::max)
    }

    /// All wait for the slowest.
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
    fn send(&mut self, send: &Send<'_>) {
        let session = self.session;
        let (network, every) = (&session.knobs.network, session.knobs.every.max(1) as f64);
        let rounds = send.plan.rounds();
        let lane = session.first_sender();
        for round in 0..rounds {
            let end = self.at + send.round(round, network) / every;
            if rounds <= ROUNDS {
                let mut busy: Vec<(usize, String)> = Vec::new();
                for message in send.plan.round(round) {
                    for endpoint in [message.from, message.to] {
                        if !busy.iter().any(|(other, _)| *other == endpoint) {
                            busy.push((endpoint, message.pieces.start.to_string()));
                        }
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
