//! What is asked of a run, read and checked.

use mlsys_distributed::model;
use mlsys_lab::{LabError, Params};
use mlsys_nn::flat_params::Rule;
use mlsys_nn::networks::TransformerConfig;
use mlsys_sim::network::Network;
use serde::Deserialize;

/// The parameters, without the sizes of the model and the link.
#[derive(Deserialize)]
pub(super) struct Fields {
    ranks: usize,
    mode: Mode,
    global_batch: usize,
    optimizer: Rule,
    compare: bool,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    /// Matrices are cut, what lies between them is the same on every rank.
    Tensor,
    /// Matrices are cut, norms and residuals are cut along the sequence.
    TensorSequence,
    /// No matrix is cut: each rank has its part of the sequence, and keys and values go round.
    Context,
}

impl Mode {
    /// Whether each rank computes some of the tokens only, outside the cut matrices.
    pub(super) fn cuts_tokens(self) -> bool {
        self != Self::Tensor
    }

    pub(super) fn cuts_matrices(self) -> bool {
        self != Self::Context
    }
}

#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) ranks: usize,
    pub(super) mode: Mode,
    pub(super) config: TransformerConfig,
    pub(super) batch: usize,
    pub(super) rule: Rule,
    pub(super) compare: bool,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) struct Knobs {
    pub(super) learning_rate: f64,
    pub(super) steps: u64,
    #[serde(rename = "skip_all_reduce")]
    pub(super) sums: Sums,
    #[serde(skip, default = "crate::parallel::free_network")]
    pub(super) network: Network,
    pub(super) worker_flops_per_second: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "bool")]
pub(super) enum Sums {
    Done,
    LeftOut,
}

impl From<bool> for Sums {
    fn from(skip: bool) -> Self {
        if skip { Self::LeftOut } else { Self::Done }
    }
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let config = model::transformer(params)?;
        let Fields { ranks, mode, global_batch, optimizer, compare, seed, .. } = params.read()?;
        check(&config, mode, ranks)?;
        Ok(Self { ranks, mode, config, batch: global_batch, rule: optimizer, compare, seed })
    }
}

fn check(config: &TransformerConfig, mode: Mode, ranks: usize) -> Result<(), LabError> {
    let TransformerConfig { heads, kv_heads, width, ffn, context, .. } = *config;
    let choose = |count: usize| {
        let even = (1..=16_usize).filter(|ranks| count.is_multiple_of(*ranks));
        let even: Vec<String> = even.map(|ranks| ranks.to_string()).collect();
        format!("take one of {} ranks", even.join(", "))
    };
    let even_context = context.next_multiple_of(ranks);
    let all_heads = format!(
        "{heads} heads evenly (a width of {width} has {heads} heads of 16 numbers); {}, or another width",
        choose(heads)
    );
    let key_heads = format!(
        "{kv_heads} key/value heads evenly, and a head cannot be halved (large models copy heads then, which this lab \
         does not); {}",
        choose(kv_heads)
    );
    let columns =
        format!("the {ffn} columns of the gated layer evenly; {}, or another width", choose(ffn));
    let tokens = format!(
        "a sequence of {context} tokens evenly; set context to a multiple of {ranks}, such as {even_context}"
    );
    let (cuts_matrices, cuts_tokens) = (mode.cuts_matrices(), mode.cuts_tokens());
    let shared = [
        (heads, cuts_matrices, ["ranks", "hidden"], all_heads),
        (kv_heads, cuts_matrices, ["ranks", "kv_heads"], key_heads),
        (ffn, cuts_matrices, ["ranks", "hidden"], columns),
        (context, cuts_tokens, ["ranks", "context"], tokens),
    ];
    for (count, is_shared, params, what) in shared {
        if is_shared && !count.is_multiple_of(ranks) {
            let reason = format!("{ranks} ranks cannot share {what}");
            return Err(LabError::contradiction(params, reason));
        }
    }
    Ok(())
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self { network: Network::read(params)?, ..params.read()? })
    }
}
