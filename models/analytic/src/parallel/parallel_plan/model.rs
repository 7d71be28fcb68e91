//! The transformer that is split: its parameters, its layers by stage, its work.

use mlsys_lab::{LabError, Params, Value};

use mlsys_sim::transformer::{Architecture, Heads};
use mlsys_sim::transformer::{Count, Transformer};
use mlsys_sim::transformer::{Flops, Iteration, Recompute as Again};

use super::plan::Recompute;

/// The transformer, counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    pub(super) architecture: Architecture,
    pub(super) layers: i64,
    pub(super) hidden: f64,
    pub(super) heads: Heads,
    pub(super) ffn: f64,
    pub(super) vocab: f64,
    pub(super) sequence: f64,
    /// Parameters of one layer.
    pub(super) layer: f64,
    /// Parameters of the word table, with learned positions.
    pub(super) table: f64,
    /// Parameters of the output head; it is a copy of the word table where the model shares it.
    pub(super) head: f64,
    /// All of the model's.
    pub(super) parameters: f64,
}

impl Model {
    /// The dimensions among a lab's parameters.
    ///
    /// # Errors
    /// A dimension that is unset, heads that do not divide, a count beyond 64 bits.
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let architecture = Architecture::of(params)?;
        let tied = match (params.get("tied_embeddings"), architecture) {
            (Some(Value::Bool(tied)), _) => *tied,
            (_, Architecture::Gpt) => true,
            (_, Architecture::Llama) => false,
        };
        let hidden = params.int("hidden")?;
        Self::of(
            &Transformer {
                architecture,
                layers: params.int("layers")?,
                hidden,
                heads: Heads::of(params, hidden)?,
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
    pub(super) fn of(transformer: &Transformer, sequence: f64) -> Result<Self, LabError> {
        let count = Count::of(transformer)?;
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

    /// Layers of the fullest stage.
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

    /// FLOPs of one step on this number of tokens.
    pub(super) fn flops(&self, tokens: f64, recompute: Recompute) -> Flops {
        Flops::of(&Iteration {
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
                (_, Recompute::None) => Again::None,
                (Architecture::Gpt, Recompute::Selective) => Again::Selective,
                // Nothing is dropped that was kept: FlashAttention computes scores again in any case.
                (Architecture::Llama, Recompute::Selective) => Again::None,
                (_, Recompute::Full) => Again::Full,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::published::llama_405b;

    /// Llama 3 herd, section 3.3.2: 16 stages, one layer less on the first and on the last.
    #[test]
    fn a_hundred_and_twenty_six_layers_lie_on_sixteen_stages_as_published() {
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
}
