//! The metrics of a run.

use mlsys_lab::{Run, Value};

use super::Session;
use crate::train_pipeline_parallel::pictures::Memory;
use crate::train_pipeline_parallel::setup::Kept;
use mlsys_nn::nets::{Activation, Architecture, TransformerConfig};

/// Bytes of an f32 number, and of a token's number.
const BYTES: u64 = 4;

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Session {
    /// What the parameters alone say.
    pub(super) fn report_sizes(&self, run: &mut Run<'_>) {
        run.scalar("f32_rounding", f64::from(f32::EPSILON) / 2.0);
        run.scalar("parameters", whole(self.model.parameters()));
        let flops = self.model.flops(self.setup.batch() as u64);
        run.scalar("model_flops", whole(flops));
    }

    /// What the modelled clock says.
    pub(super) fn report_model(&self, run: &mut Run<'_>) {
        let modelled = &self.modelled;
        run.scalar("bubble_fraction", modelled.bubble_fraction);
        run.scalar("step_seconds", modelled.step_seconds);
        run.scalar("compute_seconds", modelled.compute_seconds);
        let alone = self.setup.stages as f64 * modelled.compute_seconds;
        run.scalar("speedup", alone / modelled.step_seconds);
    }

    /// Whether so many microbatches have gone through that the last one was as late on every stage as all that follow.
    fn is_steady(&self) -> bool {
        let done = self.step * self.setup.microbatches as u64;
        !self.setup.is_asynchronous() || done >= self.setup.stages as u64
    }

    /// What was counted in the last step.
    pub(super) fn report_counts(&self, run: &mut Run<'_>) {
        if self.is_steady() {
            let staleness = self.answers.iter();
            let staleness = staleness.map(|answer| Value::Int(whole(answer.staleness)));
            run.scalar("staleness", Value::Array(staleness.collect()));
        }
        let peaks = (0..self.answers.len()).map(|stage| Value::Float(self.peak(stage)));
        run.scalar("peak_activations", Value::Array(peaks.collect()));
        // A pipeline that never drains is filled within its first step, which no later one has to do.
        let fills = self.setup.is_asynchronous() && self.step == 1 && self.setup.stages > 1;
        if let Some(traffic) = self.traffic.as_ref().filter(|_| !fills) {
            let most = traffic.most_sent();
            run.scalar("bytes_sent_per_worker", whole(most.bytes));
            run.scalar("messages_per_worker", whole(most.messages));
            let stages = traffic.workers();
            let pairs = (0..stages).flat_map(|a| (a + 1..stages).map(move |b| (a, b)));
            let bytes = pairs.map(|(a, b)| traffic.flow(a, b).bytes + traffic.flow(b, a).bytes);
            run.scalar("bytes_per_boundary", whole(bytes.max().unwrap_or(0)));
        }
        let (stages, alone) = self.memory();
        run.scalar("reference_activation_bytes", whole(alone.activations));
        let weights = stages.iter().map(|of| of.weights + of.stashed).max();
        run.scalar("weight_bytes_per_worker", whole(weights.unwrap_or(0)));
        let activations = stages.iter().map(|of| of.activations).max();
        run.scalar("activation_bytes_per_worker", whole(activations.unwrap_or(0)));
        if self.setup.schedule.splits_backward() {
            let waiting = stages.iter().map(|of| of.waiting).max();
            run.scalar("waiting_weight_bytes", whole(waiting.unwrap_or(0)));
        }
    }

    /// Most microbatches in flight on a stage.
    fn peak(&self, stage: usize) -> f64 {
        let peak = self.answers.get(stage).map_or(0, |answer| answer.peak);
        peak as f64 / self.setup.chunks as f64
    }

    /// What each stage keeps, and what one worker would.
    pub(super) fn memory(&self) -> (Vec<Memory>, Memory) {
        let setup = &self.setup;
        let parts = setup.stages * setup.chunks;
        let depth = setup.config.depth / parts;
        let sequences = setup.sequences as u64;
        let kept = |depth| {
            let config = TransformerConfig { depth, ..setup.config.clone() };
            let part = Architecture::Transformer(config);
            BYTES * part.kept_numbers(Activation::Relu, sequences)
        };
        // What follows the blocks is kept on the last stage alone.
        let end = kept(0);
        let blocks = kept(depth) - end;
        let of = |stage: usize| {
            let answer = self.answers.get(stage);
            let weights = BYTES * self.weights_of(stage);
            let versions = answer.map_or(1, |answer| answer.versions).max(1) as u64;
            let end = if stage + 1 == setup.stages { end } else { 0 };
            let whole = setup.chunks as u64 * blocks + end;
            let peak = self.peak(stage);
            let activations = match setup.kept {
                Kept::Everything => (peak * whole as f64).round() as u64,
                Kept::Inputs => {
                    let input = if stage == 0 {
                        BYTES * sequences * setup.config.context as u64
                    } else {
                        BYTES * setup.numbers() as u64
                    };
                    let chunks = setup.chunks as f64;
                    (peak * chunks * input as f64).round() as u64 + blocks + end
                }
            };
            Memory {
                weights,
                stashed: weights * (versions - 1),
                activations,
                waiting: BYTES * answer.map_or(0, |answer| answer.waiting) as u64,
                peak,
            }
        };
        let stages = (0..setup.stages).map(of).collect();
        let alone = Memory {
            weights: BYTES * self.model.parameters(),
            stashed: 0,
            activations: self.model.activation_bytes(setup.batch() as u64),
            waiting: 0,
            peak: setup.microbatches as f64,
        };
        (stages, alone)
    }

    /// Weights that lie on a stage.
    fn weights_of(&self, stage: usize) -> u64 {
        let config = &self.setup.config;
        let with = |depth| {
            let config = TransformerConfig { depth, ..config.clone() };
            Architecture::Transformer(config).parameters()
        };
        let (table, norm) = ((config.vocab * config.width) as u64, config.width as u64);
        let blocks = with(config.depth) - with(0);
        let mut own = blocks / self.setup.stages as u64;
        if stage == 0 {
            own += table;
        }
        if stage + 1 == self.setup.stages {
            own += table + norm;
        }
        own
    }
}
