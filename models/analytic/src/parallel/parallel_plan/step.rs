//! How long a step takes: what a device sends by dimension, computing, and waiting.

use mlsys_sim::memory::Stage;
use mlsys_sim::network::Network;
use serde::Serialize;

use super::model::Setting;
use super::plan::{ACTIVATION, Dimension, Plan, Reach, Recompute};

/// What one device of the fullest stage sends for one dimension in one step.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Traffic {
    pub(super) messages: f64,
    pub(super) bytes: f64,
    pub(super) seconds: f64,
}

impl Traffic {
    fn over(network: Option<&Network>, messages: f64, bytes: f64) -> Self {
        // A dimension of one rank has no network and sends nothing.
        network.map_or_else(Self::default, |network| Self {
            messages,
            bytes,
            seconds: network.seconds(messages, bytes),
        })
    }
}

fn network<'a>(setting: &'a Setting, plan: &Plan, dimension: Dimension) -> Option<&'a Network> {
    match plan.layout.reach(dimension, setting.cluster.server) {
        Reach::Alone => None,
        Reach::Server => Some(&setting.cluster.inside),
        Reach::Network => Some(&setting.cluster.between),
    }
}

/// bs/c, tokens of a microbatch on one device.
fn tokens(setting: &Setting, plan: &Plan) -> f64 {
    plan.microbatch as f64 * setting.model.sequence / plan.layout.context as f64
}

/// Layers and microbatches that pass through a device of the fullest stage.
fn passes(setting: &Setting, plan: &Plan) -> f64 {
    let layers = setting.model.most_layers(plan.layout.pipeline);
    layers as f64 * plan.microbatches as f64
}

/// Every layer sums twice forward and twice back (Shoeybi et al. 2019): 8*b*s*h*(t - 1)/t elements by ring, whether as
/// all-reduces or, with sequence parallelism, as all-gathers and reduce-scatters. Full recomputation sums forward once
/// more.
pub(super) fn tensor(setting: &Setting, plan: &Plan) -> Traffic {
    let t = plan.layout.tensor as f64;
    let sums = match plan.recompute {
        Recompute::None | Recompute::Selective => 4.0,
        Recompute::Full => 6.0,
    };
    let passes = passes(setting, plan);
    let elements = 2.0 * tokens(setting, plan) * setting.model.hidden * (t - 1.0) / t;
    Traffic::over(
        network(setting, plan, Dimension::Tensor),
        sums * 2.0 * (t - 1.0) * passes,
        sums * elements * ACTIVATION * passes,
    )
}

/// Ring attention (Liu et al. 2023): keys and values go round c - 1 times forward, and back once more with their
/// gradients. A tensor-parallel rank has its share of the key and value heads, and at least one.
pub(super) fn context(setting: &Setting, plan: &Plan) -> Traffic {
    let (t, c) = (plan.layout.tensor, plan.layout.context as f64);
    let heads = &setting.model.heads;
    let width = (heads.keys as f64 / t as f64).max(heads.head_dim as f64);
    let rounds = match plan.recompute {
        // K and V; K and V; their gradients.
        Recompute::None | Recompute::Selective => 3.0,
        Recompute::Full => 4.0,
    };
    let passes = passes(setting, plan);
    let each = 2.0 * tokens(setting, plan) * width * ACTIVATION;
    Traffic::over(
        network(setting, plan, Dimension::Context),
        rounds * (c - 1.0) * passes,
        rounds * (c - 1.0) * each * passes,
    )
}

/// A microbatch crosses a boundary forward and its gradient crosses back, once for each chunk; with sequence
/// parallelism each tensor-parallel rank sends its share of the b*s*h elements (Narayanan et al. 2021, section 4.1).
pub(super) fn pipeline(setting: &Setting, plan: &Plan) -> Traffic {
    let crossings = 2.0 * plan.microbatches as f64 * plan.chunks as f64;
    let elements = tokens(setting, plan) * setting.model.hidden / plan.layout.tensor as f64;
    Traffic::over(
        network(setting, plan, Dimension::Pipeline),
        crossings,
        crossings * elements * ACTIVATION,
    )
}

/// What data parallelism sends: at once at the end of a step, and for each microbatch.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Data {
    pub(super) once: Traffic,
    pub(super) each: Traffic,
}

/// Gradients are reduce-scattered and weights gathered by ring over the N ranks that hold the same weights, so that
/// each byte travels (N - 1)/N times. What a stage does not keep it must send for each microbatch again: stage 2
/// reduce-scatters every time, stage 3 gathers weights twice as well (with one microbatch the paper's 2 and 3).
pub(super) fn data(setting: &Setting, plan: &Plan) -> Data {
    let ranks = plan.layout.replicas();
    let stages = plan.layout.pipeline;
    // The ends carry the word table and the output head, and may have a layer less.
    let candidates = [0, setting.model.first_full_stage(stages), stages - 1];
    let parameters = candidates.map(|stage| setting.model.parameters_of(stage, stages));
    let parameters = parameters.into_iter().fold(0.0, f64::max) / plan.layout.tensor as f64;
    let weights = parameters * setting.cluster.weight * (ranks - 1.0) / ranks;
    let gradients = parameters * setting.cluster.gradient * (ranks - 1.0) / ranks;
    let m = plan.microbatches as f64;
    let network = network(setting, plan, Dimension::Data);
    // A layer at a time, so that what is sent can be hidden, and what is gathered can be dropped.
    let rounds = (ranks - 1.0) * setting.model.most_layers(stages) as f64;
    let (once, each) = match plan.stage {
        // An all-reduce is both halves, of gradients.
        Stage::Whole => ((2.0 * rounds, 2.0 * gradients), (0.0, 0.0)),
        Stage::Optimizer => ((2.0 * rounds, gradients + weights), (0.0, 0.0)),
        Stage::Gradients => ((rounds, weights), (m * rounds, m * gradients)),
        Stage::Weights => ((0.0, 0.0), (3.0 * m * rounds, m * (gradients + 2.0 * weights))),
    };
    Data {
        once: Traffic::over(network, once.0, once.1),
        each: Traffic::over(network, each.0, each.1),
    }
}

/// One step of a plan, in modelled seconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Step {
    /// Matrix products, at the share of peak that a device reaches, on the fullest stage.
    pub(super) compute: f64,
    pub(super) tensor: Traffic,
    pub(super) context: Traffic,
    pub(super) pipeline: Traffic,
    pub(super) data: Data,
    /// Of the context's seconds, those that attention does not hide.
    pub(super) context_exposed: f64,
    pub(super) pipeline_exposed: f64,
    pub(super) data_exposed: f64,
    pub(super) bubble: f64,
    pub(super) model_flops: f64,
    pub(super) hardware_flops: f64,
}

impl Step {
    /// Counts a plan's step.
    ///
    /// Named conventions: tensor parallelism's sums wait for nothing and hide behind nothing. Ring attention hides
    /// behind the attention of the same microbatch. A boundary's message is waited for while the pipeline fills and
    /// drains, and hides behind computing in between. What data parallelism sends once a step hides behind one
    /// microbatch, what it sends for each behind all of them.
    pub(super) fn new(setting: &Setting, plan: &Plan) -> Self {
        let Setting { model, cluster } = setting;
        let layout = plan.layout;
        let devices = layout.model_ranks().unwrap_or(i64::MAX) as f64 * layout.data as f64;
        let tokens = plan.batch() * model.sequence;
        let flops = model.flops(tokens, plan.recompute);
        let rate = cluster.efficiency * cluster.peak;
        // Stages that have a layer less wait for those that do not.
        let most = model.most_layers(layout.pipeline) as f64;
        let uneven = most * layout.pipeline as f64 / model.layers as f64;
        let compute = flops.hardware / (devices * rate) * uneven;
        let attention = 3.0 * flops.attention * model.layers as f64 / (devices * rate) * uneven;
        let tensor = tensor(setting, plan);
        let context = context(setting, plan);
        let pipeline = pipeline(setting, plan);
        let data = data(setting, plan);
        let context_exposed = (context.seconds - attention).max(0.0);
        let busy = compute + tensor.seconds + context_exposed;
        let m = plan.microbatches as f64;
        let crossing = pipeline.seconds / (2.0 * m * plan.chunks as f64);
        let pipeline_exposed =
            2.0 * (layout.pipeline - 1) as f64 * crossing + (pipeline.seconds - busy).max(0.0);
        let data_exposed =
            (data.once.seconds - busy / m).max(0.0) + (data.each.seconds - busy).max(0.0);
        Self {
            compute,
            tensor,
            context,
            pipeline,
            data,
            context_exposed,
            pipeline_exposed,
            data_exposed,
            bubble: busy * plan.bubble(),
            model_flops: flops.model,
            hardware_flops: flops.hardware,
        }
    }

    pub(super) fn exposed(&self) -> f64 {
        self.tensor.seconds + self.context_exposed + self.pipeline_exposed + self.data_exposed
    }

    pub(super) fn seconds(&self) -> f64 {
        self.compute + self.bubble + self.exposed()
    }
}

#[cfg(test)]
mod tests {
    use super::super::published::{h100, llama_405b, llama_row};
    use super::*;

    fn setting() -> Setting {
        Setting { model: llama_405b(8192.0), cluster: h100() }
    }

    #[test]
    fn a_layer_sends_what_kind_tensor_parallel_says() {
        let plan = llama_row(1);
        // 8*b*s*h*(t - 1)/t elements of 2 bytes, 8 layers, 16 microbatches
        let expected = 8.0 * 8192.0 * 16_384.0 * 7.0 / 8.0 * 2.0 * 8.0 * 16.0;
        assert_eq!(tensor(&setting(), &plan).bytes, expected);
    }

    #[test]
    fn one_rank_of_a_dimension_sends_nothing() {
        let mut plan = llama_row(1);
        assert_eq!(context(&setting(), &plan).bytes, 0.0);
        plan.layout.tensor = 1;
        plan.layout.pipeline = 1;
        plan.layout.data = 1;
        let setting = setting();
        let Data { once, each } = data(&setting, &plan);
        let none = [tensor(&setting, &plan), pipeline(&setting, &plan), once, each];
        for traffic in none {
            assert_eq!((traffic.bytes, traffic.messages, traffic.seconds), (0.0, 0.0, 0.0));
        }
    }

    /// Rajbhandari et al. 2020, section 7: 2 elements a parameter for stages 0 to 2, 3 for stage 3.
    #[test]
    fn one_microbatch_gives_the_papers_factors() {
        let setting = setting();
        for stage in Stage::ALL {
            let mut plan = llama_row(1);
            plan.layout.pipeline = 1;
            plan.layout.data = 1000;
            plan.microbatches = 1;
            plan.stage = stage;
            let Data { once, each } = data(&setting, &plan);
            let sent = once.bytes + each.bytes;
            let share = setting.model.parameters / 8.0 * 2.0 * 999.0 / 1000.0;
            let factor = sent / share;
            assert!((factor - stage.communication()).abs() < 1e-12, "{stage:?}: {factor}");
        }
    }
}
