//! What a run shows.

use mlsys_lab::Frame;
use mlsys_lab::frame::message_trace::{
    Action, Begins, Chunk, Layout, Message, MessageTrace, Round,
};
use mlsys_lab::frame::{Cell, CellRow, Cells, Kind, Pane, Span, Timeline, Tone};
use mlsys_lab::picture::stacks;
use mlsys_sim::collective::{Algorithm, Plan};
use mlsys_sim::slices::{self, Cut, Region, Weight};

use super::collectives::SAMPLED;
use super::params::{Mode, Setup};
use super::ring::holder;
use super::{LastStep, Session, clock};
use crate::parallel;

type Picture = fn(&Session) -> Option<Frame>;

pub(super) const ALL: [(&str, Picture); 6] = [
    ("matrices", |of| Some(of.matrices())),
    ("block", |of| Some(of.block())),
    ("timeline", |of| Some(of.timeline())),
    ("ring", Session::ring),
    ("traffic", Session::traffic),
    ("memory", |of| Some(of.memory())),
];

impl Session {
    /// The weights of a block with their slices.
    fn matrices(&self) -> Frame {
        // Neighbours that are cut alike share a picture.
        let mut drawn: Vec<(Vec<&str>, String, Cut)> = Vec::new();
        for weight in self.layout.matrices() {
            let [rows, columns] = weight.shape;
            let shape = format!("{rows} x {columns}");
            match drawn.last_mut() {
                Some((names, known, cut))
                    if *known == shape && *cut == weight.cut && *cut != Cut::Rows =>
                {
                    names.push(weight.name);
                }
                Some(_) | None => drawn.push((vec![weight.name], shape, weight.cut)),
            }
        }
        let names: Vec<String> = drawn.iter().map(|(names, ..)| names.join(", ")).collect();
        let drawn: Vec<Weight<'_>> = drawn
            .iter()
            .zip(&names)
            .map(|((_, shape, cut), name)| Weight { name, shape, cut: *cut })
            .collect();
        Frame::Panes(slices::weights(&drawn, self.setup.ranks))
    }

    /// What each rank holds of activations and gradients; in context mode, the keys it holds in each round.
    fn block(&self) -> Frame {
        let ranks = self.setup.ranks;
        Frame::Panes(match self.setup.mode {
            Mode::Tensor => slices::walks(Region::Whole, "gate, up", ranks).into(),
            Mode::TensorSequence => slices::walks(Region::Tokens, "gate, up", ranks).into(),
            Mode::Context => vec![rounds(ranks)],
        })
    }

    fn timeline(&self) -> Frame {
        // The first ones have the fills that they have in the timelines of the other strategies.
        let (mut classes, mut spans) = (vec![clock::FORWARD, clock::BACKWARD], Vec::new());
        let ranks = self.setup.ranks;
        let mut at = 0.0;
        for phase in clock::phases(&self.setup, self.knobs.sums) {
            let end =
                at + phase.seconds(ranks, self.knobs.worker_flops_per_second, &self.knobs.network);
            let (class, label) = (phase.class, phase.label);
            let known = classes.iter().position(|known| *known == class);
            let class = known.unwrap_or_else(|| {
                classes.push(class);
                classes.len() - 1
            });
            spans.extend((0..ranks).map(|lane| Span {
                lane,
                start: at,
                end,
                class,
                label: label.clone(),
                amount: None,
            }));
            at = end;
        }
        Frame::Timeline(Timeline {
            unit: "seconds".to_owned(),
            lanes: (0..ranks).map(|rank| format!("worker {rank}")).collect(),
            classes: classes.into_iter().map(str::to_owned).collect(),
            spans,
            marks: Vec::new(),
            ..Timeline::default()
        })
    }

    fn traffic(&self) -> Option<Frame> {
        let last = self.last.as_ref()?;
        let names = (0..self.setup.ranks).map(|rank| format!("worker {rank}")).collect();
        let legend = "bytes of the last step from a row to a column";
        Some(parallel::traffic(&last.traffic, names, legend))
    }

    fn memory(&self) -> Frame {
        let alone = Setup { ranks: 1, ..self.setup.clone() };
        let moments = self.setup.rule.moments() as f64;
        let stack = |label: String, setup: &Setup| {
            let weights = clock::weight_bytes(setup);
            let bytes = [weights, weights, moments * weights, clock::activation_bytes(setup)];
            (label, bytes.to_vec(), String::new())
        };
        let mut rows = vec![stack("one worker".to_owned(), &alone)];
        let ranks = 0..self.setup.ranks;
        rows.extend(ranks.map(|rank| stack(format!("worker {rank}"), &self.setup)));
        let note = match self.setup.mode {
            Mode::Tensor => {
                "Matrices and what lies inside them are divided among the workers; norms and residuals are whole on each."
            }
            Mode::TensorSequence => {
                "Norms and residuals are divided as well; what enters the matrices is gathered, and kept whole."
            }
            Mode::Context => {
                "All activations are divided by tokens; every worker has all weights, gradients and optimizer state."
            }
        };
        let parts = ["weights", "gradients", "optimizer state", "activations"];
        stacks("bytes", parts, rows, None, note)
    }

    /// The first messages of a step, round by round: the sum of the first block's attention, or its keys on their way.
    pub(super) fn ring(&self) -> Option<Frame> {
        let ranks = self.setup.ranks;
        if ranks == 1 {
            return None;
        }
        let elements = self.setup.batch * self.setup.config.context * self.setup.config.width;
        let plan = match self.setup.mode {
            Mode::Tensor => Plan::all_reduce(Algorithm::Ring, ranks, elements),
            Mode::TensorSequence => Plan::reduce_scatter(ranks, elements),
            Mode::Context => return Some(Frame::MessageTrace(Box::new(self.keys()))),
        };
        let what = match self.steps.done {
            0 => "terms of attention, block 1".to_owned(),
            step => format!("terms of attention, block 1, step {step}"),
        };
        let mut exchange = plan.ok()?.exchange(&what, Layout::Ring, 4);
        let own = SAMPLED * exchange.chunks.len();
        let of_all = |last: &&LastStep| last.samples.iter().all(|samples| samples.len() == own);
        if let Some(last) = self.last.as_ref().filter(of_all) {
            exchange.sampled = SAMPLED;
            exchange.samples = last.samples.concat();
        }
        Some(Frame::MessageTrace(Box::new(exchange)))
    }

    /// Keys and values of every rank, passed on until each has been with all.
    fn keys(&self) -> MessageTrace {
        let (ranks, config) = (self.setup.ranks, &self.setup.config);
        let elements = 2 * self.setup.batch * config.context / ranks * config.keys();
        let message = |from: usize, round: usize| Message {
            from,
            to: (from + 1) % ranks,
            chunk: holder(from, round, ranks),
            count: 1,
            bytes: 4 * elements as u64,
            action: Action::Replace,
        };
        let round = |round: usize| Round {
            phase: "keys and values on".to_owned(),
            messages: (0..ranks).map(|from| message(from, round)).collect(),
        };
        let chunk = |rank: usize| Chunk { name: slices::letter(rank), elements: elements as u64 };
        MessageTrace {
            what: "keys and values, block 1".to_owned(),
            layout: Layout::Ring,
            ranks,
            chunks: (0..ranks).map(chunk).collect(),
            begins: Begins::Shards,
            rounds: (0..ranks - 1).map(round).collect(),
            note: "A worker looks through what comes and passes it on; it need not keep it."
                .to_owned(),
            ..MessageTrace::default()
        }
    }
}

/// Which rank's keys and values each rank holds in each round of the ring, and whether its queries attend to them.
pub(super) fn rounds(ranks: usize) -> Pane {
    let kind = |name: &str, tone: Tone| Kind { name: name.to_owned(), tone };
    let row = |rank: usize| CellRow {
        label: slices::letter(rank),
        cells: (0..ranks)
            .map(|round| {
                let holder = holder(rank, round, ranks);
                let kind = match holder.cmp(&rank) {
                    std::cmp::Ordering::Less => 0,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Greater => 2,
                };
                let text = slices::letter(holder);
                Some(Cell { kind, text })
            })
            .collect(),
        remark: String::new(),
    };
    Pane {
        title: "keys and values held by each rank, by round".to_owned(),
        frame: Frame::Cells(Cells {
            across: "round".to_owned(),
            kinds: vec![
                kind("earlier tokens: used", Tone::First),
                kind("own tokens", Tone::Second),
                kind("later tokens: passed on, not used", Tone::Empty),
            ],
            rows: (0..ranks).map(row).collect(),
            note: "A token attends to earlier tokens only: the first rank has the least work, the last one the most."
                .to_owned(),
            ..Cells::default()
        }),
    }
}
