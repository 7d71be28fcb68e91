//! What a model takes: memory, FLOPs and cache, and its entry of the table `model`.

use std::collections::BTreeMap;

use mlsys_lab::Value;

use super::{Attention, AttentionBias, Model, ModelConfig, Part, Tensor};
use crate::transformer::Architecture;

/// Bytes a parameter in training with Adam in mixed precision: weights and gradients in 16 bits, and in 32 bits master
/// weights, momentum and variance (Rajbhandari et al. 2020, section 3.1).
pub const ADAM_BYTES: u64 = 2 + 2 + 4 + 4 + 4;

/// Bytes a parameter in training: with what, how many, and what they are. The 8-bit moments are those of Dettmers et al.
/// 2022, without their constants for each block.
pub const TRAINING: [(&str, u64, &str); 5] = [
    ("SGD, 32 bits", 4 + 4, "4 weight + 4 gradient"),
    ("momentum, 32 bits", 4 + 4 + 4, "4 weight + 4 gradient + 4 momentum"),
    ("Adam, 32 bits", 4 + 4 + 4 + 4, "4 weight + 4 gradient + 4 + 4 moments"),
    (
        "Adam, mixed precision",
        ADAM_BYTES,
        "2 weight + 2 gradient + 4 master weight + 4 + 4 moments",
    ),
    (
        "8-bit Adam, mixed precision",
        2 + 2 + 4 + 1 + 1,
        "2 weight + 2 gradient + 4 master weight + 1 + 1 moments",
    ),
];

impl Model {
    /// Parameters of one part; a part of a sum that fits in 63 bits.
    pub fn parameters_of(&self, part: Part) -> u64 {
        let parts = self.tensors.iter().filter(|tensor| tensor.part == part);
        parts.map(|tensor| tensor.parameters() as u64).sum()
    }

    /// Parameters by which a token's numbers are multiplied: active matrices with the output head, without the word
    /// embedding and the positions, which are looked up.
    pub fn multiplied(&self) -> u64 {
        let experts = self.config.experts.as_ref();
        let matrices =
            self.tensors.iter().filter(|one| one.is_matrix && one.part != Part::Embedding);
        let sum: u64 = matrices.map(|one| one.active_parameters(experts) as u64).sum();
        let head = if self.config.tied { self.config.vocab * self.config.embedding } else { 0 };
        sum.saturating_add(head)
    }

    /// FLOPs of a token in forward for each token it attends to in one layer: its score and its share of the value.
    pub fn score_flops(&self) -> u64 {
        let widths = match self.config.attention {
            Attention::Heads { head_dim, .. } => 2 * head_dim,
            Attention::Latent { rope, nope, value, .. } => rope + nope + value,
        };
        2 * self.config.heads * widths
    }

    /// Tokens that one attends to, summed over the layers, when there are `tokens` with itself.
    pub fn attended(&self, tokens: u64) -> u128 {
        let limited = self.config.window.map_or((0, tokens), |window| {
            (window.layers.min(self.config.layers), window.tokens.min(tokens))
        });
        let full = self.config.layers - limited.0;
        u128::from(full) * u128::from(tokens) + u128::from(limited.0) * u128::from(limited.1)
    }

    /// FLOPs of one token in forward, the last of `tokens`.
    pub fn forward_flops(&self, tokens: u64) -> u128 {
        2 * u128::from(self.multiplied()) + u128::from(self.score_flops()) * self.attended(tokens)
    }

    /// FLOPs of a token in training, on average over a sequence: backward takes twice the FLOPs of forward.
    pub fn training_flops(&self, tokens: u64) -> f64 {
        // A token attends to those before it: over all layers the mean of n positions is that of 1 to n, and in a
        // window of w that of 1 to w and then w.
        let mean = |window: u64| {
            let (n, w) = (tokens as f64, window.min(tokens) as f64);
            (w * (w + 1.0) / 2.0 + (n - w) * w) / n
        };
        let (layers, window) =
            self.config.window.map_or((0, tokens), |window| (window.layers, window.tokens));
        let full = (self.config.layers - layers.min(self.config.layers)) as f64;
        let attended = full * mean(tokens) + layers as f64 * mean(window);
        3.0 * (2.0 * self.multiplied() as f64 + self.score_flops() as f64 * attended)
    }

    /// Numbers that a layer keeps for a token.
    pub fn cached(&self) -> u64 {
        match self.config.attention {
            Attention::Heads { kv_heads, head_dim } => 2 * kv_heads * head_dim,
            Attention::Latent { rank, rope, .. } => rank + rope,
        }
    }

    /// Bytes of the cache in 16 bits when `tokens` are in the context.
    pub fn cache_bytes(&self, tokens: u64) -> u128 {
        2 * u128::from(self.cached()) * self.attended(tokens)
    }

    /// The model as an entry of the table `model`. A field that has no meaning for it is left out, and a lab that needs
    /// that field says so.
    pub fn entry(&self, name: &str) -> BTreeMap<String, Value> {
        let config = &self.config;
        let mut entry: BTreeMap<String, Value> = BTreeMap::new();
        let mut text = |field: &str, value: String| entry.insert(field.to_owned(), value.into());
        text("name", name.to_owned());
        text("title", format!("{} ({})", name, config.family));
        text("source", format!("the configuration {name}"));
        if let Some(architecture) = self.architecture() {
            text("architecture", architecture.name().to_owned());
        }
        entry.insert("tied_embeddings".to_owned(), Value::Bool(config.tied));
        let mut count = |field: &str, value: u64| {
            entry.insert(field.to_owned(), Value::Int(i64::try_from(value).unwrap_or(i64::MAX)))
        };
        count("layers", config.layers);
        count("hidden", config.hidden);
        count("heads", config.heads);
        count("vocab", config.vocab);
        count("parameters", self.parameters);
        count("largest_module_parameters", self.largest_module());
        match config.attention {
            Attention::Heads { kv_heads, head_dim } => {
                count("kv_heads", kv_heads);
                count("head_dim", head_dim);
            }
            Attention::Latent { query_rank, rank, rope, nope, value } => {
                query_rank.and_then(|rank| count("query_rank", rank));
                count("latent_rank", rank);
                count("rope_dim", rope);
                count("nope_dim", nope);
                count("value_dim", value);
            }
        }
        if config.dense_layers() > 0 {
            count("ffn", config.ffn);
        }
        if let Some(experts) = config.experts {
            count("experts", experts.count);
            count("active_experts", experts.active);
            count("expert_ffn", experts.width);
            count("expert_layers", experts.layers);
            count("shared_ffn", experts.shared);
            count("expert_bias_parameters", self.vectors_of(Part::Experts) / experts.count);
            count("router_bias_parameters", self.vectors_of(Part::Router));
            count("active_parameters", self.active);
        }
        if let Some(window) = config.window {
            count("window", window.tokens);
            count("window_layers", window.layers);
        }
        match self.architecture() {
            // For labs the context of a GPT is the rows of its learned positions.
            Some(Architecture::Gpt) => count("context", config.positions.unwrap_or(0)),
            Some(Architecture::Llama) => {
                count("vector_parameters_per_layer", self.vectors_per_layer());
                config.context.and_then(|context| count("context", context))
            }
            None => config.context.and_then(|context| count("context", context)),
        };
        entry
    }

    /// The formulas of labs that count this model exactly.
    fn architecture(&self) -> Option<Architecture> {
        let config = &self.config;
        let has_biases = config.attention_bias == AttentionBias::All && config.ffn_bias;
        match config.family.is_gpt() {
            false => Some(Architecture::Llama),
            true if config.embedding == config.hidden && has_biases && config.final_norm => {
                Some(Architecture::Gpt)
            }
            true => None,
        }
    }

    /// Biases and norms that every layer has.
    fn vectors_per_layer(&self) -> u64 {
        let own =
            Part::ALL.into_iter().filter(|part| !matches!(part, Part::Experts | Part::Router));
        own.map(|part| self.vectors_of(part)).sum()
    }

    /// Biases and norms of one part in a layer that has them.
    fn vectors_of(&self, part: Part) -> u64 {
        let inside = |one: &&Tensor| one.part == part && one.name.contains("{layer}");
        let vectors = self.tensors.iter().filter(inside).filter(|one| !one.is_matrix);
        vectors.map(|one| one.experts * one.shape.iter().product::<u64>()).sum()
    }

    /// Parameters of the largest module without modules in it, as DeepSpeed's estimator looks for it.
    fn largest_module(&self) -> u64 {
        let mut modules: BTreeMap<&str, u64> = BTreeMap::new();
        for tensor in &self.tensors {
            let module = tensor.name.rsplit_once('.').map_or("", |(module, _)| module);
            *modules.entry(module).or_default() += tensor.shape.iter().product::<u64>();
        }
        modules.into_values().max().unwrap_or(0)
    }
}

impl ModelConfig {
    /// Layers with one MLP.
    fn dense_layers(&self) -> u64 {
        self.layers - self.experts.map_or(0, |experts| experts.layers.min(self.layers))
    }
}
