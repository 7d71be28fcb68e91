//! The transformer that is split: its parameters and layers by stage, its work, and the bytes that a device holds.

use mlsys_lab::{LabError, Params, Value};
use mlsys_sim::memory::{Layer, Outside, Recompute as Kept, Stage, States};
use mlsys_sim::transformer::{Architecture, Count, Flops, Heads, Iteration, Transformer};
use serde::Serialize;

use super::plan::{Cluster, Plan, Recompute};

/// The model on the machines: everything that a plan is judged against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) model: Model,
    pub(super) cluster: Cluster,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    pub(super) architecture: Architecture,
    pub(super) layers: i64,
    pub(super) hidden: f64,
    pub(super) heads: Heads,
    pub(super) ffn: f64,
    pub(super) vocab: f64,
    pub(super) sequence: f64,
    pub(super) layer: f64,
    /// Parameters of the word table, with learned positions.
    pub(super) table: f64,
    /// Parameters of the output head; it is a copy of the word table where the model shares it.
    pub(super) head: f64,
    pub(super) parameters: f64,
}

impl Model {
    /// The dimensions among a lab's parameters.
    ///
    /// # Errors
    /// A dimension that is unset, heads that do not divide, a count beyond 64 bits.
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let architecture = Architecture::from_params(params)?;
        let tied = match (params.get("tied_embeddings"), architecture) {
            (Some(Value::Bool(tied)), _) => *tied,
            (_, Architecture::Gpt) => true,
            (_, Architecture::Llama) => false,
        };
        let hidden = params.int("hidden")?;
        Self::new(
            &Transformer {
                architecture,
                layers: params.int("layers")?,
                hidden,
                heads: Heads::from_params(params, hidden)?,
                ffn: params.int("ffn")?,
                vocab: params.int("vocab")?,
                context: match architecture {
                    Architecture::Gpt => params.optional_int("positions").unwrap_or(0),
                    Architecture::Llama => 0,
                },
                tied,
            },
            params.float("sequence")?,
        )
    }

    /// A transformer on sequences of this length.
    ///
    /// # Errors
    /// A count beyond 64 bits.
    pub(super) fn new(transformer: &Transformer, sequence: f64) -> Result<Self, LabError> {
        let count = Count::new(transformer)?;
        let (hidden, vocab) = (transformer.hidden as f64, transformer.vocab as f64);
        let head = hidden * vocab;
        let embedding = count.embedding as f64;
        Ok(Self {
            architecture: transformer.architecture,
            layers: transformer.layers,
            hidden,
            heads: transformer.heads,
            ffn: transformer.ffn as f64,
            vocab,
            sequence,
            layer: count.layer as f64,
            table: if transformer.tied { embedding } else { embedding - head },
            head,
            parameters: count.total as f64,
        })
    }

    /// Layers of a stage. Where they do not divide, the ends have one less, since the word table and the output head
    /// stand there (Llama 3 herd, section 3.3.2: one layer less on the first and on the last stage).
    pub(super) fn layers_of(&self, stage: i64, stages: i64) -> i64 {
        let short = self.short_stages(stages);
        // Stages from the ends inwards: the last, the first, the last but one, ...
        let from_end = stages - 1 - stage;
        let place = if from_end <= stage {
            from_end.saturating_mul(2)
        } else {
            stage.saturating_mul(2).saturating_add(1)
        };
        let most = self.most_layers(stages);
        if place < short { most - 1 } else { most }
    }

    /// Stages with one layer less than the fullest.
    fn short_stages(&self, stages: i64) -> i64 {
        match self.layers % stages {
            0 => 0,
            over => stages - over,
        }
    }

    /// The first stage with the most layers: of the stages in front, stage s is the (2s + 1)th to be short.
    pub(super) fn first_full_stage(&self, stages: i64) -> i64 {
        self.short_stages(stages) / 2
    }

    pub(super) fn most_layers(&self, stages: i64) -> i64 {
        mlsys_sim::integer::div_up(self.layers, stages)
    }

    /// Parameters of a stage, before tensor parallelism splits them.
    pub(super) fn parameters_of(&self, stage: i64, stages: i64) -> f64 {
        if stages == 1 {
            return self.parameters;
        }
        let mut parameters = self.layer * self.layers_of(stage, stages) as f64;
        if stage == 0 {
            parameters += self.table;
        }
        if stage == stages - 1 {
            parameters += self.head;
        }
        parameters
    }

    /// Recomputations that differ for this model: a Llama with FlashAttention keeps no scores that a selective one drops.
    pub(super) fn recomputations(&self) -> &'static [Recompute] {
        match self.architecture {
            Architecture::Gpt => &[Recompute::None, Recompute::Selective, Recompute::Full],
            Architecture::Llama => &[Recompute::None, Recompute::Full],
        }
    }

    /// FLOPs of one step on this number of tokens.
    pub(super) fn flops(&self, tokens: f64, recompute: Recompute) -> Flops {
        Flops::new(&Iteration {
            layers: self.layers as f64,
            hidden: self.hidden,
            heads: self.heads,
            ffn: self.ffn,
            ffn_matrices: match self.architecture {
                Architecture::Gpt => 2.0,
                Architecture::Llama => 3.0,
            },
            vocab: self.vocab,
            sequence: self.sequence,
            tokens,
            recompute: match (self.architecture, recompute) {
                (_, Recompute::None) => Kept::None,
                (Architecture::Gpt, Recompute::Selective) => Kept::Selective,
                // Nothing is dropped that was kept: FlashAttention computes scores again in any case.
                (Architecture::Llama, Recompute::Selective) => Kept::None,
                (_, Recompute::Full) => Kept::Full,
            },
        })
    }
}

/// A tensor that a layer keeps: its name and its bytes for each token of one device, before tensor parallelism.
type KeptTensor = (&'static str, fn(&Model) -> f64);

/// What a Llama's layer keeps with 2-byte activations, FlashAttention (no scores), no dropout, and a gated MLP whose
/// activation is fused with the product after it.
pub(super) const LLAMA: [KeptTensor; 9] = [
    ("input of norm 1", |m| 2.0 * m.hidden),
    ("input of Q, K, V", |m| 2.0 * m.hidden),
    ("Q", |m| 2.0 * m.heads.queries as f64),
    ("K and V", |m| 4.0 * m.heads.keys as f64),
    ("output of attention", |m| 2.0 * m.heads.queries as f64),
    ("input of norm 2", |m| 2.0 * m.hidden),
    ("input of MLP", |m| 2.0 * m.hidden),
    ("gate and up", |m| 4.0 * m.ffn),
    ("input of down", |m| 2.0 * m.ffn),
];

/// Bytes that one device keeps of a layer for one microbatch, with sequence parallelism.
///
/// A GPT's layer keeps what Korthikanti et al. 2022 count (kind `activation-memory`), a Llama's the tensors of
/// [`LLAMA`]; full recomputation keeps a layer's input, 2sbh, whole on each tensor-parallel rank.
pub(super) fn layer_activations(model: &Model, plan: &Plan) -> f64 {
    let context = plan.layout.context as f64;
    let (sequence, batch) = (model.sequence / context, plan.microbatch as f64);
    let tensor_ranks = plan.layout.tensor as f64;
    let recompute = match plan.recompute {
        Recompute::None => Kept::None,
        Recompute::Selective => Kept::Selective,
        Recompute::Full => Kept::Full,
    };
    match (model.architecture, plan.recompute) {
        (Architecture::Gpt, _) | (Architecture::Llama, Recompute::Full) => Layer {
            sequence,
            batch,
            hidden: model.hidden,
            // A rank's tokens attend to those of all context ranks, which counts as that many times the heads.
            heads: model.heads.heads as f64 * context,
            tensor_ranks,
            outside: Outside::Sharded,
        }
        .bytes(recompute),
        (Architecture::Llama, Recompute::None | Recompute::Selective) => {
            let token: f64 = LLAMA.iter().map(|(_, bytes)| bytes(model)).sum();
            sequence * batch * token / tensor_ranks
        }
    }
}

/// Bytes that the last stage keeps for the loss, one microbatch: input of the last norm and of the head, and the
/// logits in FP32, 4sbh(1 + V/h)/t (Korthikanti et al. 2022, section 4.3).
pub(super) fn head_activations(model: &Model, plan: &Plan) -> f64 {
    let tokens = model.sequence / plan.layout.context as f64 * plan.microbatch as f64;
    4.0 * tokens * (model.hidden + model.vocab) / plan.layout.tensor as f64
}

/// What each device of a pipeline stage holds, in bytes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct StageMemory {
    pub(super) stage: i64,
    layers: i64,
    parameters: f64,
    /// Microbatches with kept activations, in whole stages.
    in_flight: f64,
    weights: f64,
    gradients: f64,
    optimizer: f64,
    activations: f64,
}

impl StageMemory {
    pub(super) fn bytes(&self) -> f64 {
        self.weights + self.gradients + self.optimizer + self.activations
    }
}

/// What each device of a pipeline stage holds.
///
/// States are those of kind `zero-memory`, sharded over the ranks that hold the same weights (data and context).
/// Stage 3 gathers one layer at a time, weights and gradients, as DeepSpeed's estimator counts it. Activations are
/// those of the microbatches in flight.
pub(super) fn stage_memory(setting: &Setting, plan: &Plan, stage: i64) -> StageMemory {
    let Setting { model, cluster } = setting;
    let stages = plan.layout.pipeline;
    let tensor = plan.layout.tensor as f64;
    let parameters = model.parameters_of(stage, stages) / tensor;
    let mut states = States {
        parameters,
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
    let layers = model.layers_of(stage, stages);
    let in_flight = plan.in_flight(stage);
    let mut activations = in_flight * layers as f64 * layer_activations(model, plan);
    if stage == stages - 1 {
        activations += head_activations(model, plan);
    }
    StageMemory {
        stage,
        layers,
        parameters,
        in_flight,
        weights: states.weights,
        gradients: states.gradients,
        optimizer: states.optimizer,
        activations,
    }
}

/// The fullest stage; of equally full ones the first.
///
/// Only candidates are counted: the ends, and the first with most layers, since fewer are in flight further on.
pub(super) fn fullest_stage(setting: &Setting, plan: &Plan) -> StageMemory {
    let stages = plan.layout.pipeline;
    let full = setting.model.first_full_stage(stages);
    let first = stage_memory(setting, plan, 0);
    [full, stages - 1].into_iter().fold(first, |fullest, stage| {
        let memory = stage_memory(setting, plan, stage);
        if memory.bytes() > fullest.bytes() { memory } else { fullest }
    })
}

#[cfg(test)]
mod tests {
    use super::super::published::{h100, llama_405b, llama_row};
    use super::*;

    /// Llama 3 herd, section 3.3.2: 16 stages, one layer less on the first and on the last.
    #[test]
    fn llama_405b_stages_are_as_published() {
        let model = llama_405b(8192.0);
        let layers: Vec<i64> = (0..16).map(|stage| model.layers_of(stage, 16)).collect();
        assert_eq!(layers[0], 7);
        assert_eq!(layers[15], 7);
        assert!(layers[1..15].iter().all(|&layers| layers == 8));
    }

    #[test]
    fn stages_share_all_layers_and_all_parameters() {
        let model = llama_405b(8192.0);
        for stages in 1..=126 {
            let of = |stage| model.layers_of(stage, stages);
            assert_eq!((0..stages).map(of).sum::<i64>(), 126, "{stages}");
            let most = (0..stages).map(of).max();
            assert_eq!(most, Some(model.most_layers(stages)), "{stages}");
            let full = (0..stages).find(|&s| of(s) == model.most_layers(stages));
            assert_eq!(full, Some(model.first_full_stage(stages)), "{stages}");
            let parameters: f64 = (0..stages).map(|s| model.parameters_of(s, stages)).sum();
            // The last norm, 16,384 numbers, is not counted to any stage.
            assert!((parameters - model.parameters).abs() <= model.hidden, "{stages}");
        }
    }

    #[test]
    fn llama_activation_memory_is_near_the_formula() {
        let model = llama_405b(8192.0);
        let plan = llama_row(1);
        let bytes = layer_activations(&model, &plan);
        let sbh = 8192.0 * 16_384.0;
        let in_sbh = bytes * 8.0 / sbh;
        // 2 + 2 + 2 + 0.25 + 2 + 2 + 2 + 13 + 6.5
        assert!((in_sbh - 31.75).abs() < 1e-9, "{in_sbh}");
    }

    #[test]
    fn context_ranks_divide_activations() {
        let (short, long) = (llama_405b(8192.0), llama_405b(131_072.0));
        let (one, sixteen) = (llama_row(1), llama_row(2));
        assert_eq!(layer_activations(&short, &one), layer_activations(&long, &sixteen));
    }

    /// Llama 3 herd, section 3.3.2: 8,192-token sequences are trained without recomputing activations, on 80 GB.
    #[test]
    fn llamas_plans_fit_without_recomputation_as_published() {
        for (row, sequence) in [(0, 8192.0), (1, 8192.0), (2, 131_072.0)] {
            let plan = llama_row(row);
            let setting = Setting { model: llama_405b(sequence), cluster: h100() };
            let fullest = fullest_stage(&setting, &plan);
            let gigabytes = fullest.bytes() / 1e9;
            assert!((70.0..80.0).contains(&gigabytes), "row {row}: {gigabytes} GB");
            assert_eq!(fullest.stage, 1, "the ends have a layer less");
        }
    }

    #[test]
    fn no_stage_holds_more_than_the_fullest() {
        let setting = Setting { model: llama_405b(8192.0), cluster: h100() };
        for row in 0..3 {
            for pipeline in [1, 2, 3, 5, 16, 63, 100, 126] {
                let mut plan = llama_row(row);
                plan.layout.pipeline = pipeline;
                let fullest = fullest_stage(&setting, &plan);
                for stage in 0..pipeline {
                    let memory = stage_memory(&setting, &plan, stage).bytes();
                    assert!(memory <= fullest.bytes() * (1.0 + 1e-12), "{pipeline} {stage}");
                }
            }
        }
    }
}
