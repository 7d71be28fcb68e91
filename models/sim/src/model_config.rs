//! A language model from its Hugging Face `config.json`: every weight by name and shape, and what follows from them,
//! the exact count of parameters, memory, FLOPs and cache.
//!
//! `read` turns the file into a [`ModelConfig`] by the conventions of its family, `tensors` lists the weights as
//! transformers names them, and [`Model::entry`] makes the model an entry of the table `model`, from which labs take
//! their dimensions.

mod cost;
mod dimensions;
mod family;
mod fields;
mod numerics;
mod read;
mod rotary;
mod tensors;

pub use cost::{ADAM_BYTES, TRAINING};
pub use family::Family;
pub use fields::ConfigProblem;
pub use numerics::Numerics;
pub use read::MAX_BYTES;
pub use rotary::{RotaryScaling, ScalingError};
pub use tensors::{Part, Tensor};

/// The dimensions of a decoder-only transformer.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    pub family: Family,
    pub layers: u64,
    pub hidden: u64,
    pub vocab: u64,
    /// Width of the word embedding: `hidden`, but for the OPT that projects from 512 to it.
    pub embedding: u64,
    /// Rows of learned positions; rotary positions have no weights.
    pub positions: Option<u64>,
    /// Longest sequence, where the file has it.
    pub context: Option<u64>,
    /// Whether the output head is the word embedding.
    pub tied: bool,
    pub final_norm: bool,
    pub heads: u64,
    pub attention: Attention,
    pub attention_bias: AttentionBias,
    pub window: Option<Window>,
    /// Width of the MLP of a layer without experts.
    pub ffn: u64,
    pub ffn_bias: bool,
    pub experts: Option<Experts>,
    /// Of a Llama, which can be run and not only counted.
    pub numerics: Option<Numerics>,
}

/// How keys and values are made, and so what the cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// Keys and values by head, shared by groups of query heads where there are fewer of them.
    Heads { kv_heads: u64, head_dim: u64 },
    /// Multi-head latent attention: one latent of `rank` numbers and one rotary key for all heads.
    Latent { query_rank: Option<u64>, rank: u64, rope: u64, nope: u64, value: u64 },
}

/// The attention projections that have a bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttentionBias {
    None,
    /// Queries, keys and values.
    Inputs,
    /// These and the output; with a latent, the two projections into it and the output.
    All,
}

/// Layers that attend to the last tokens only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub tokens: u64,
    pub layers: u64,
}

/// The experts of a layer that has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Experts {
    pub count: u64,
    /// Experts that the router chooses for a token.
    pub active: u64,
    pub width: u64,
    /// Width of the MLP that takes every token; 0 without one.
    pub shared: u64,
    /// Layers that have experts instead of one MLP.
    pub layers: u64,
}

/// A configuration with its weights; their count fits in 63 bits.
#[derive(Clone, Debug)]
pub struct Model {
    pub config: ModelConfig,
    pub tensors: Vec<Tensor>,
    pub parameters: u64,
    /// Parameters that take part for one token: all but those of the experts that were not chosen.
    pub active: u64,
}

impl Model {
    /// Reads the bytes of a `config.json`; all problems at once.
    pub fn read(bytes: &[u8]) -> Result<Self, Vec<ConfigProblem>> {
        let config = read::config(bytes)?;
        let tensors = tensors::list(&config);
        let total = |count: &dyn Fn(&Tensor) -> u128| {
            let sum = tensors.iter().map(count).sum::<u128>();
            u64::try_from(sum).ok().filter(|sum| i64::try_from(*sum).is_ok())
        };
        let parameters = total(&Tensor::parameters);
        let active = total(&|tensor| tensor.active_parameters(config.experts.as_ref()));
        match (parameters, active) {
            (Some(parameters), Some(active)) => Ok(Self { config, tensors, parameters, active }),
            (None, _) | (_, None) => Err(vec![ConfigProblem::too_many_parameters()]),
        }
    }
}
