//! What a session draws.

mod clock;

use mlsys_lab::Frame;
use mlsys_lab::frame::exchange::{Begins, Exchange, Layout};
use mlsys_lab::frame::{HeatMap, Stack, Stacks};

use super::{Sent, Session, Zero};
use crate::train_data_parallel::compress::Compression;
use crate::train_data_parallel::modelled::{Send, sends};
use crate::train_data_parallel::task::{Held, SAMPLED};

type Picture = fn(&Session) -> Frame;

/// Every panel that is no curve.
pub(super) const ALL: [(&str, Picture); 4] = [
    ("timeline", Session::timeline),
    ("ring", Session::ring),
    ("traffic", Session::matrix),
    ("memory", Session::memory),
];

impl Session {
    /// The messages of a step, with real numbers of every worker's own gradient.
    fn ring(&self) -> Frame {
        let workers = self.setup.workers;
        if workers == 1 {
            let said = "One worker has the whole sum already: nothing is sent.";
            return Frame::Text(said.to_owned());
        }
        let all = sends(&self.setup, &self.knobs, &self.scheme);
        let Some(send) = all.iter().find(|send| send.sums()) else {
            return Frame::Text("Nothing is summed.".to_owned());
        };
        let mut exchange = self.exchange(send);
        exchange.note = self.note();
        Frame::Exchange(Box::new(exchange))
    }

    fn exchange(&self, send: &Send<'_>) -> Exchange {
        let workers = self.setup.workers;
        let compressed = self.knobs.compression != Compression::None && self.knobs.every <= 1;
        let layout = if self.setup.zero == Zero::Nothing && !compressed {
            self.knobs.algorithm.layout()
        } else {
            Layout::Ring
        };
        let what = match self.step {
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
                    let place = match compressed {
                        true => (place / SAMPLED == rank).then_some(place % SAMPLED),
                        false => Some(place),
                    };
                    let known = place.and_then(|place| own?.get(place));
                    known.copied().unwrap_or(f32::NAN)
                })
            };
            exchange.samples = ranks.flat_map(of).collect();
        }
        exchange
    }

    /// What the picture of messages leaves out.
    fn note(&self) -> String {
        let said = match (self.setup.zero, self.knobs.compression, self.knobs.every) {
            (_, _, 2..) => "Weights are summed here, and divided by the number of workers.",
            (_, Compression::Int8 | Compression::Sign | Compression::TopK { .. }, _) => {
                "Each adds up all compressed gradients that it got, in the order of ranks."
            }
            (Zero::Nothing, Compression::None, _) => {
                "Every worker divides the sum by the number of workers, and updates its weights alike."
            }
            (Zero::Optimizer | Zero::Gradients, Compression::None, _) => {
                "Each then updates its own shard, and the shards of weights go round in as many rounds."
            }
            (Zero::Weights, Compression::None, _) => {
                "Before it the shards of weights went round twice, for the forward and the backward pass."
            }
        };
        said.to_owned()
    }

    /// Who sent how many bytes to whom in a step.
    fn matrix(&self) -> Frame {
        let Some(Sent { traffic, .. }) = &self.sent else {
            let said = "No step has sent anything yet.";
            return Frame::Text(said.to_owned());
        };
        let workers = self.setup.workers;
        let all = match self.scheme.all_reduce.server() {
            Some(server) if traffic.sent_by(server).messages > 0 => workers + 1,
            Some(_) | None => workers,
        };
        let names: Vec<String> = (0..all).map(|rank| self.name(rank)).collect();
        let bytes = |(from, to)| traffic.flow(from, to).bytes as f32;
        let pairs = (0..all).flat_map(|from| (0..all).map(move |to| (from, to)));
        let cells: Vec<f32> = pairs.map(bytes).collect();
        Frame::HeatMap(HeatMap {
            columns: all,
            rows: all,
            low: 0.0,
            high: cells.iter().copied().fold(1.0, f32::max),
            cells,
            x: (0.0, all as f32),
            y: (0.0, all as f32),
            column_labels: names.clone(),
            row_labels: names,
            points: Vec::new(),
            legend: "bytes sent by a row to a column in a step".to_owned(),
        })
    }

    /// What each worker holds, beside one that has all.
    fn memory(&self) -> Frame {
        let stack = |label: String, held: Held, activations: u64| {
            let all = [
                held.weights,
                held.gradient,
                held.optimizer,
                activations,
                held.left_out,
                held.late,
            ];
            Stack {
                label,
                values: all.iter().map(|&bytes| Some(bytes as f64)).collect(),
                remark: String::new(),
            }
        };
        let (alone, activations) = self.alone();
        let mut stacks = vec![stack("one worker".to_owned(), alone, activations)];
        let workers = self.answers.iter().take(self.setup.workers);
        stacks.extend(
            workers
                .enumerate()
                .map(|(rank, answer)| stack(self.name(rank), answer.held, self.activation_bytes())),
        );
        let parts = [
            "weights",
            "gradients",
            "optimizer state",
            "activations",
            "left out by compression",
            "late gradients",
        ];
        Frame::Stacks(Stacks {
            unit: "bytes".to_owned(),
            parts: parts.map(str::to_owned).to_vec(),
            stacks,
            limit: None,
            note: "Weights, gradients and state as they are held; activations by the rules of lab capture.".to_owned(),
        })
    }

    /// What one worker with the whole batch holds, and its activations.
    pub(super) fn alone(&self) -> (Held, u64) {
        let model = &self.setup.model;
        let bytes = 4 * model.parameters();
        let held = Held {
            weights: bytes,
            gradient: bytes,
            optimizer: bytes * self.setup.rule.moments(),
            ..Held::default()
        };
        (held, model.activation_bytes(self.knobs.batch as u64))
    }

    /// What a thread of the run is called.
    pub(super) fn name(&self, rank: usize) -> String {
        if rank < self.setup.workers { format!("worker {rank}") } else { "server".to_owned() }
    }
}
