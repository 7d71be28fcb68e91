//! What goes round the ring: the terms of a sum, or keys and values.

use mlsys_lab::Frame;
use mlsys_lab::frame::exchange::{Action, Begins, Chunk, Exchange, Layout, Message, Round};
use mlsys_lab::frame::{Cell, CellRow, Cells, Kind, Pane, Tone};
use mlsys_sim::collective::{Algorithm, Plan};
use mlsys_sim::slices;

use crate::train_tensor_parallel::link::SAMPLED;
use crate::train_tensor_parallel::ring::holder;
use crate::train_tensor_parallel::session::{Last, Session};
use crate::train_tensor_parallel::setup::Mode;

impl Session {
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
            Mode::Context => return Some(Frame::Exchange(Box::new(self.keys()))),
        };
        let what = match self.step {
            0 => "terms of attention, block 1".to_owned(),
            step => format!("terms of attention, block 1, step {step}"),
        };
        let mut exchange = plan.ok()?.exchange(&what, Layout::Ring, 4);
        let own = SAMPLED * exchange.chunks.len();
        let of_all = |last: &&Last| last.samples.iter().all(|samples| samples.len() == own);
        if let Some(last) = self.last.as_ref().filter(of_all) {
            exchange.sampled = SAMPLED;
            exchange.samples = last.samples.concat();
        }
        Some(Frame::Exchange(Box::new(exchange)))
    }

    /// Keys and values of every rank, passed on until each has been with all.
    fn keys(&self) -> Exchange {
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
        Exchange {
            what: "keys and values, block 1".to_owned(),
            layout: Layout::Ring,
            ranks,
            chunks: (0..ranks).map(chunk).collect(),
            begins: Begins::Shards,
            rounds: (0..ranks - 1).map(round).collect(),
            note: "A worker looks through what comes and passes it on; it need not keep it."
                .to_owned(),
            ..Exchange::default()
        }
    }
}

/// Whose keys and values are with each rank in each round of the ring, and whether they tell it anything.
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
        title: "whose keys, by round".to_owned(),
        frame: Frame::Cells(Cells {
            across: "round".to_owned(),
            kinds: vec![
                kind("all seen", Tone::First),
                kind("own: up to itself", Tone::Second),
                kind("ahead: passed on unseen", Tone::Empty),
            ],
            rows: (0..ranks).map(row).collect(),
            note: "A token looks back only, so that the first worker has little to do and the last one the most."
                .to_owned(),
            ..Cells::default()
        }),
    }
}
