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
        match self {
            Self::Tensor => false,
            Self::TensorSequence | Self::Context => true,
        }
    }

    pub(super) fn cuts_matrices(self) -> bool {
        match self {
            Self::Tensor | Self::TensorSequence => true,
            Self::Context => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) ranks: usize,
    pub(super) mode: Mode,
    pub(super) config: TransformerConfig,
    /// Sequences of a step.
    pub(super) batch: usize,
    pub(super) rule: Rule,
    /// Whether a single worker runs the same steps.
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
    /// Floating-point operations of one worker in a second, modelled.
    #[serde(rename = "worker_flops_per_second")]
    pub(super) rate: f64,
}

/// Whether partial results of the row-split matrices are summed.
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
    /// From the parameters.
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let config = model::transformer(params)?;
        let Fields { ranks, mode, global_batch, optimizer, compare, seed, .. } = params.read()?;
        check(&config, mode, ranks)?;
        Ok(Self { ranks, mode, config, batch: global_batch, rule: optimizer, compare, seed })
    }
}

fn check(config: &TransformerConfig, mode: Mode, ranks: usize) -> Result<(), LabError> {
    let refuse = |params: [&str; 2], reason: String| Err(LabError::contradiction(params, reason));
    let even = |count: usize| (1..=16).filter(|ranks| count.is_multiple_of(*ranks)).collect();
    let choose = |counts: Vec<usize>| {
        let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
        format!("take one of {} ranks", counts.join(", "))
    };
    if mode.cuts_matrices() {
        let (heads, kv_heads) = (config.heads, config.kv_heads);
        if !heads.is_multiple_of(ranks) {
            let width = config.width;
            return refuse(
                ["ranks", "hidden"],
                format!(
                    "{ranks} ranks cannot share {heads} heads evenly (a width of {width} has {heads} heads of 16 \
                     numbers); {}, or another width",
                    choose(even(heads))
                ),
            );
        }
        if !kv_heads.is_multiple_of(ranks) {
            return refuse(
                ["ranks", "kv_heads"],
                format!(
                    "{ranks} ranks cannot share {kv_heads} key/value heads evenly, and a head cannot be halved (large \
                     models copy heads then, which this lab does not); {}",
                    choose(even(kv_heads))
                ),
            );
        }
        if !config.ffn.is_multiple_of(ranks) {
            return refuse(
                ["ranks", "hidden"],
                format!(
                    "{ranks} ranks cannot share the {} columns of the gated layer evenly; {}, or another width",
                    config.ffn,
                    choose(even(config.ffn))
                ),
            );
        }
    }
    if mode.cuts_tokens() && !config.context.is_multiple_of(ranks) {
        return refuse(
            ["ranks", "context"],
            format!(
                "{ranks} ranks cannot share a sequence of {} tokens evenly; set context to a multiple of {ranks}, such as {}",
                config.context,
                config.context.next_multiple_of(ranks)
            ),
        );
    }
    Ok(())
}

impl Knobs {
    /// From the parameters as they stand.
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self { network: Network::read(params)?, ..params.read()? })
    }
}
