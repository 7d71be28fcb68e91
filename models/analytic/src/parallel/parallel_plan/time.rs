//! How long a step takes: computing, talking, waiting.

use super::plan::{Plan, Setting};
use super::traffic::{self, Data, Traffic};

/// One step of a plan, in modelled seconds.
#[derive(Clone, Copy, Debug)]
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
    /// Waiting for other stages.
    pub(super) bubble: f64,
    /// FLOPs of the model alone, of all devices.
    pub(super) model_flops: f64,
    /// FLOPs with what is recomputed.
    pub(super) hardware_flops: f64,
}

impl Step {
    /// Counts a plan's step.
    ///
    /// Named conventions: tensor parallelism's sums wait for nothing and hide behind nothing. Ring attention hides
    /// behind the attention of the same microbatch. A boundary's message is waited for while the pipeline fills and
    /// drains, and hides behind computing in between. What data parallelism sends once a step hides behind one
    /// microbatch, what it sends for each behind all of them.
    pub(super) fn of(setting: &Setting, plan: &Plan) -> Self {
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
        let tensor = traffic::tensor(setting, plan);
        let context = traffic::context(setting, plan);
        let pipeline = traffic::pipeline(setting, plan);
        let data = traffic::data(setting, plan);
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

    /// Sending that nothing hides.
    pub(super) fn exposed(&self) -> f64 {
        self.tensor.seconds + self.context_exposed + self.pipeline_exposed + self.data_exposed
    }

    /// The whole step.
    pub(super) fn seconds(&self) -> f64 {
        self.compute + self.bubble + self.exposed()
    }
}
