//! What a step comes to by formula: messages, bytes, memory, and modelled seconds.

use mlsys_lab::value::number;
use mlsys_sim::network::Network;

use super::params::{Mode, Setup, Sums};

const NUMBER: f64 = 4.0;

pub(super) const FORWARD: &str = "forward";
pub(super) const BACKWARD: &str = "backward";

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelledPhase {
    /// Such as `forward` or `all-reduce`.
    pub(super) class: &'static str,
    pub(super) label: String,
    /// Floating-point operations of all ranks together.
    flops: f64,
    messages: f64,
    bytes: f64,
}

impl ModelledPhase {
    fn compute(class: &'static str, label: &str, flops: f64) -> Self {
        Self { class, label: label.to_owned(), flops, messages: 0.0, bytes: 0.0 }
    }

    fn send(class: &'static str, messages: f64, bytes: f64) -> Self {
        Self { class, label: format!("{} bytes", number(bytes)), flops: 0.0, messages, bytes }
    }

    pub(super) fn seconds(&self, ranks: usize, rate: f64, network: &Network) -> f64 {
        self.flops / (ranks as f64 * rate) + network.seconds(self.messages, self.bytes)
    }
}

pub(super) fn phases(setup: &Setup, sums: Sums) -> Vec<ModelledPhase> {
    let (config, ranks) = (&setup.config, setup.ranks as f64);
    let (width, keys) = (config.width as f64, config.keys() as f64);
    let (context, ffn) = (config.context as f64, config.ffn as f64);
    let tokens = setup.batch as f64 * context;
    // A pass of a ring sends (t-1)/t of the buffer in t-1 messages.
    let pass = |class, passes: f64, elements: f64| {
        let bytes = passes * NUMBER * elements * (ranks - 1.0) / ranks;
        ModelledPhase::send(class, passes * (ranks - 1.0), bytes)
    };
    let keys_bytes = 2.0 * NUMBER * tokens / ranks * keys;
    // Operations of a forward pass; a backward pass takes twice as many.
    let attention = tokens * (2.0 * width * (2.0 * width + 2.0 * keys) + 4.0 * context * width);
    let mlp = tokens * 6.0 * width * ffn;
    let head = tokens * 2.0 * width * config.vocab as f64;
    let half = |half: usize, class: &'static str| -> Vec<ModelledPhase> {
        let is_attention = half.is_multiple_of(2);
        let (name, flops) = if is_attention { ("attention", attention) } else { ("mlp", mlp) };
        let flops = if class == FORWARD { flops } else { 2.0 * flops };
        let compute =
            |flops| ModelledPhase::compute(class, &format!("block {} {name}", half / 2 + 1), flops);
        let is_summed = class == BACKWARD || sums == Sums::Done;
        let sum = |class, passes| is_summed.then(|| pass(class, passes, tokens * width));
        match setup.mode {
            Mode::Tensor => std::iter::once(compute(flops)).chain(sum("all-reduce", 2.0)).collect(),
            Mode::TensorSequence => {
                let enter = pass("all-gather", 1.0, tokens * width);
                [enter, compute(flops)].into_iter().chain(sum("reduce-scatter", 1.0)).collect()
            }
            Mode::Context if is_attention => {
                let round = |round| {
                    // Backward the keys and values go with their slopes, and in the last round the slopes alone.
                    let bytes = match (class == FORWARD, round == setup.ranks) {
                        (true, true) => None,
                        (true, false) | (false, true) => Some(keys_bytes),
                        (false, false) => Some(2.0 * keys_bytes),
                    };
                    let sent =
                        bytes.map(|bytes| ModelledPhase::send("keys and values on", 1.0, bytes));
                    std::iter::once(compute(flops / ranks)).chain(sent)
                };
                (1..=setup.ranks).flat_map(round).collect()
            }
            Mode::Context => vec![compute(flops)],
        }
    };
    let halves = 0..2 * config.depth;
    let mut phases: Vec<_> = halves.clone().flat_map(|place| half(place, FORWARD)).collect();
    phases.push(ModelledPhase::compute(FORWARD, "head", head));
    phases.push(ModelledPhase::compute(BACKWARD, "head", 2.0 * head));
    phases.extend(halves.rev().flat_map(|place| half(place, BACKWARD)));
    if setup.mode.cuts_tokens() {
        // The gradients of the weights that all have, of which each finds its tokens' part.
        let blocks = match setup.mode {
            Mode::Tensor | Mode::TensorSequence => 0.0,
            Mode::Context => config.depth as f64 * block_weights(setup),
        };
        phases.push(pass("sum of gradients", 2.0, weights_around(setup) + blocks));
    }
    if setup.ranks == 1 {
        phases.retain(|phase| phase.flops > 0.0);
    }
    phases
}

fn weights_around(setup: &Setup) -> f64 {
    let config = &setup.config;
    (config.width * (2 * config.vocab + 2 * config.depth + 1)) as f64
}

fn block_weights(setup: &Setup) -> f64 {
    let config = &setup.config;
    let (width, keys, ffn) = (config.width, config.keys(), config.ffn);
    (width * (2 * width + 2 * keys + 3 * ffn)) as f64
}

pub(super) fn weight_bytes(setup: &Setup) -> f64 {
    let divided = if setup.mode.cuts_matrices() { setup.ranks as f64 } else { 1.0 };
    let blocks = setup.config.depth as f64 * block_weights(setup) / divided;
    NUMBER * (weights_around(setup) + blocks)
}

/// Bytes that a rank keeps from its forward pass, by the rules of lab `capture`: a product its inputs, a norm its input and
/// a number a row, softmax its output, silu and the gates' product their inputs.
///
/// What enters cut matrices is kept whole, also where it was gathered. Attention round a ring keeps queries, keys, values,
/// what it found, and a number for each head of a token.
pub(super) fn activation_bytes(setup: &Setup) -> f64 {
    let config = &setup.config;
    let (width, keys, ffn) = (config.width as f64, config.keys() as f64, config.ffn as f64);
    let (heads, context, vocab) = (config.heads as f64, config.context as f64, config.vocab as f64);
    let ranks = setup.ranks as f64;
    let norm = width + 1.0;
    let matrices = if setup.mode.cuts_matrices() { ranks } else { 1.0 };
    let tokens = if setup.mode.cuts_tokens() { ranks } else { 1.0 };
    let is_ring = setup.mode == Mode::Context && setup.ranks > 1;
    let shares = if is_ring { heads } else { heads * context };
    let attention = (width + 2.0 * keys + shares + width) / matrices;
    let inside = attention + 4.0 * ffn / matrices + 2.0 * width;
    let inside = if is_ring { inside / tokens } else { inside };
    let layers = config.depth as f64;
    let around = (layers * 2.0 * norm + norm + width + vocab) / tokens;
    NUMBER * setup.batch as f64 * context * (layers * inside + around)
}

/// Bytes of a rank at the end of its forward pass: weights, gradients, optimizer state and activations.
pub(super) fn state_bytes(setup: &Setup) -> f64 {
    (2.0 + setup.rule.moments() as f64) * weight_bytes(setup) + activation_bytes(setup)
}

pub(super) fn sent(phases: &[ModelledPhase]) -> (f64, f64) {
    phases.iter().fold((0.0, 0.0), |(messages, bytes), phase| {
        (messages + phase.messages, bytes + phase.bytes)
    })
}
