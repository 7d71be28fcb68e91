//! Bytes of one device by part: weights, gradients, optimizer states, activations.

use mlsys_sim::memory::{Held, Stage, States};

use super::activations;
use super::plan::{Plan, Setting};

/// What the devices of one pipeline stage hold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    pub(super) states: Held,
    pub(super) activations: f64,
}

impl Memory {
    pub(super) fn bytes(&self) -> f64 {
        self.states.bytes() + self.activations
    }
}

/// What each device of a pipeline stage holds.
///
/// States are those of kind `zero-memory`, sharded over the ranks that hold the same weights (data and context).
/// Stage 3 gathers one layer at a time, weights and gradients, as DeepSpeed's estimator counts it. Activations are
/// those of the microbatches in flight.
pub(super) fn of_stage(setting: &Setting, plan: &Plan, stage: i64) -> Memory {
    let Setting { model, cluster } = setting;
    let stages = plan.layout.pipeline;
    let tensor = plan.layout.tensor as f64;
    let mut states = States {
        parameters: model.parameters_of(stage, stages) / tensor,
        ranks: plan.layout.replicas(),
        weight: cluster.weight,
        gradient: cluster.gradient,
        optimizer: cluster.optimizer,
    }
    .held(plan.stage);
    // One rank keeps its layers whole: nothing is gathered.
    if plan.stage == Stage::Weights && plan.layout.replicas() > 1.0 {
        states.weights += model.layer * cluster.weight / tensor;
        states.gradients += model.layer * cluster.gradient / tensor;
    }
    let layers = model.layers_of(stage, stages) as f64;
    let kept = activations::of_layer(model, plan);
    let mut activations = plan.in_flight(stage) * layers * kept;
    if stage == stages - 1 {
        activations += activations::of_head(model, plan);
    }
    Memory { states, activations }
}

/// The fullest stage and what its devices hold.
///
/// Only stages that can be it are counted: the ends, and the first with the most layers, for what is in flight falls
/// from stage to stage.
pub(super) fn fullest(setting: &Setting, plan: &Plan) -> (i64, Memory) {
    let stages = plan.layout.pipeline;
    let full = setting.model.first_full_stage(stages);
    let mut found = (0, of_stage(setting, plan, 0));
    for stage in [full, stages - 1] {
        let memory = of_stage(setting, plan, stage);
        if memory.bytes() > found.1.bytes() {
            found = (stage, memory);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::published::{llama_405b, llama_cluster, llama_row};
    use super::*;

    /// Llama 3 herd, section 3.3.2: 8,192-token sequences are trained without recomputing activations, on 80 GB.
    #[test]
    fn llamas_plans_fit_without_recomputation_as_published() {
        for (row, sequence) in [(0, 8192.0), (1, 8192.0), (2, 131_072.0)] {
            let (plan, _) = llama_row(row);
            let setting = Setting { model: llama_405b(sequence), cluster: llama_cluster() };
            let (stage, memory) = fullest(&setting, &plan);
            let gigabytes = memory.bytes() / 1e9;
            assert!((70.0..80.0).contains(&gigabytes), "row {row}: {gigabytes} GB");
            assert_eq!(stage, 1, "the ends have a layer less");
        }
    }

    #[test]
    fn no_stage_holds_more_than_the_fullest() {
        let setting = Setting { model: llama_405b(8192.0), cluster: llama_cluster() };
        for row in 0..3 {
            for pipeline in [1, 2, 3, 5, 16, 63, 100, 126] {
                let (mut plan, _) = llama_row(row);
                plan.layout.pipeline = pipeline;
                let (_, fullest) = fullest(&setting, &plan);
                for stage in 0..pipeline {
                    let memory = of_stage(&setting, &plan, stage).bytes();
                    assert!(memory <= fullest.bytes() * (1.0 + 1e-12), "{pipeline} {stage}");
                }
            }
        }
    }
}
