//! The parameters of the lab, checked against each other.

use std::collections::VecDeque;

use mlsys_distributed::model::{self, Model};
use mlsys_lab::{DeviceId, LabError, Params};
use mlsys_nn::data::Batches;
use mlsys_nn::flat_params::Rule;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::TransformerConfig;
use mlsys_sim::network::Network;
use mlsys_sim::pipeline::{Operation, Plan, Schedule, stream};
use serde::Deserialize;

/// The parameters, without the sizes of the model and the link.
#[derive(Deserialize)]
pub(super) struct Fields {
    #[serde(with = "ScheduleName")]
    schedule: Schedule,
    stages: usize,
    microbatches: usize,
    chunks_per_stage: usize,
    global_batch: usize,
    recompute: bool,
    stash_weights: bool,
    optimizer: Rule,
    compare: bool,
    seed: u64,
}

#[derive(Deserialize)]
#[serde(remote = "Schedule")]
enum ScheduleName {
    #[serde(rename = "gpipe")]
    GPipe,
    #[serde(rename = "1f1b")]
    OneForwardOneBackward,
    #[serde(rename = "interleaved-1f1b")]
    Interleaved,
    #[serde(rename = "zb-h1")]
    ZeroBubbleH1,
    #[serde(rename = "zb-h2")]
    ZeroBubbleH2,
    #[serde(rename = "asynchronous")]
    Asynchronous,
}

#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) config: TransformerConfig,
    pub(super) schedule: Schedule,
    pub(super) stages: usize,
    pub(super) microbatches: usize,
    /// 1 unless the schedule interleaves.
    pub(super) chunks: usize,
    pub(super) sequences: usize,
    /// Whether only inputs are kept for the backward pass, which runs forward again.
    pub(super) recompute: bool,
    /// Whether a backward pass of an asynchronous pipeline uses its forward pass's weights, not the newest.
    pub(super) stash_weights: bool,
    pub(super) rule: Rule,
    pub(super) compare: bool,
    pub(super) seed: u64,
    /// The order of a step; of an asynchronous pipeline that of its first microbatches.
    pub(super) plan: Plan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Clock {
    Measured,
    Modelled,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) struct Knobs {
    pub(super) learning_rate: f64,
    pub(super) steps: u64,
    pub(super) worker_flops_per_second: f64,
    #[serde(skip, default = "crate::parallel::free_network")]
    pub(super) network: Network,
    pub(super) clock: Clock,
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self { network: Network::read(params)?, ..params.read()? })
    }
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let config = model::transformer(params)?;
        let fields: Fields = params.read()?;
        let Fields { schedule, stages, microbatches, global_batch: batch, .. } = fields;
        let chunks = if schedule == Schedule::Interleaved { fields.chunks_per_stage } else { 1 };
        divides_layers(config.depth, stages, chunks)?;
        if !batch.is_multiple_of(microbatches) {
            let near = divisors(batch, microbatches);
            return Err(LabError::contradiction(
                ["microbatches", "global_batch"],
                format!(
                    "{batch} sequences cannot be dealt to {microbatches} microbatches of one size; take {near} microbatches"
                ),
            ));
        }
        Ok(Self {
            plan: Plan::new(schedule, stages, microbatches, chunks)?,
            config,
            schedule,
            stages,
            microbatches,
            chunks,
            sequences: batch / microbatches,
            recompute: fields.recompute,
            stash_weights: fields.stash_weights,
            rule: fields.optimizer,
            compare: fields.compare,
            seed: fields.seed,
        })
    }

    /// Whether every microbatch is followed by an update.
    pub(super) fn is_asynchronous(&self) -> bool {
        self.schedule == Schedule::Asynchronous
    }

    pub(super) fn batch(&self) -> usize {
        self.sequences * self.microbatches
    }

    /// Whether the backward pass is by our own formulas instead of burn's autodiff: where it runs in two halves, and
    /// where it uses other weights than the forward pass.
    pub(super) fn splits_backward(&self) -> bool {
        self.schedule.splits_backward() || (self.is_asynchronous() && !self.stash_weights)
    }

    /// What a stage does in a step, counted from 0. Microbatches of an asynchronous pipeline are counted through all
    /// steps, those of the others anew in each.
    pub(super) fn operations(&self, stage: usize, step: u64) -> Vec<Operation> {
        if self.is_asynchronous() {
            let step = usize::try_from(step).unwrap_or(usize::MAX);
            stream(self.stages, stage, self.microbatches, step).collect()
        } else {
            self.plan.stage(stage).to_vec()
        }
    }

    /// Numbers that travel between two stages for a microbatch: vectors of the model's width for each token.
    pub(super) fn numbers(&self) -> usize {
        self.sequences * self.config.context * self.config.width
    }

    pub(super) fn share(&self) -> f64 {
        if self.is_asynchronous() { 1.0 } else { 1.0 / self.microbatches as f64 }
    }
}

fn divides_layers(layers: usize, stages: usize, chunks: usize) -> Result<(), LabError> {
    let parts = stages * chunks;
    if layers.is_multiple_of(parts) {
        return Ok(());
    }
    if chunks == 1 {
        let near = divisors(layers, stages);
        let message = format!(
            "{layers} layers cannot be cut into {stages} stages of equally many; take {near} stages"
        );
        return Err(LabError::contradiction(["stages", "layers"], message));
    }
    let near = layers.next_multiple_of(parts);
    let message = format!(
        "{stages} stages of {chunks} chunks each are {parts} parts, into which {layers} layers cannot be cut evenly; take {near} layers, or fewer chunks"
    );
    Err(LabError::contradiction(["layers", "stages", "chunks_per_stage"], message))
}

/// The divisors of `count` next to `near`, in words.
fn divisors(count: usize, near: usize) -> String {
    let below = (1..near).rev().find(|&d| count.is_multiple_of(d));
    let above = (near + 1..=count).find(|&d| count.is_multiple_of(d));
    match (below, above) {
        (Some(below), Some(above)) => format!("{below} or {above}"),
        (one, other) => one.or(other).unwrap_or(1).to_string(),
    }
}

/// Refuses what the memory that all workers share cannot hold, before the system ends the program for it.
pub(super) fn must_fit(id: DeviceId, setup: &Setup, model: &Model) -> Result<(), LabError> {
    // Weights and gradients, on the host and on the device, and the next weights.
    let stashed = if setup.is_asynchronous() { setup.stages as u64 - 1 } else { 0 };
    let own = 5 + setup.rule.moments();
    // One worker has a model of its own, and keeps the activations of the whole batch, after the stages have used theirs.
    let (copies, alone) =
        if setup.compare { (2 * own + stashed, setup.batch()) } else { (own + stashed, 0) };
    // The stages keep the activations of all microbatches in flight, or each computes one microbatch anew.
    let chunks = (0..setup.stages).map(|stage| setup.plan.peak_chunks(stage));
    let flying = chunks.max().unwrap_or(0).div_ceil(setup.chunks);
    let split = setup.sequences * if setup.recompute { 1 } else { flying };
    let activations = model.activation_bytes(alone.max(split) as u64);
    let bytes = 4 * copies * model.parameters() + activations;
    let who = format!("{} workers with this model", setup.stages);
    let smaller = "global_batch, context, hidden or layers";
    MemoryBudget::for_device(id).require(bytes, &who, smaller)
}

pub(super) struct Microbatches {
    batches: Batches,
    sequences: usize,
    each: usize,
    /// How many a stage runs ahead into the next step.
    ahead: usize,
    /// Whether they are counted through all steps, and not anew in each.
    is_endless: bool,
    drawn: VecDeque<Vec<usize>>,
}

impl Microbatches {
    pub(super) fn new(setup: &Setup, examples: usize) -> Self {
        let is_endless = setup.is_asynchronous();
        Self {
            batches: Batches::new(setup.seed, examples),
            sequences: setup.sequences,
            each: setup.microbatches,
            ahead: if is_endless { setup.stages - 1 } else { 0 },
            is_endless,
            drawn: VecDeque::new(),
        }
    }

    /// The number of the first microbatch of a step, counted from 0, and the examples of that and all others which the
    /// step touches. Steps are asked for one after the other.
    pub(super) fn of_step(&mut self, step: u64) -> (usize, Vec<Vec<usize>>) {
        while self.drawn.len() < self.each + self.ahead {
            let next = self.batches.next(self.sequences).to_vec();
            self.drawn.push_back(next);
        }
        let all: Vec<Vec<usize>> = self.drawn.iter().cloned().collect();
        self.drawn.drain(..self.each);
        let first = usize::try_from(step).unwrap_or(usize::MAX).saturating_mul(self.each);
        (if self.is_endless { first } else { 0 }, all)
    }
}
