//! What a step comes to by formula: messages, bytes, memory, and modelled seconds.

use mlsys_sim::network::Network;

use super::params::{Mode, Setup, Sums};

/// Bytes of a number.
const NUMBER: f64 = 4.0;

/// One thing that every rank does, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ModelledPhase {
    Forward(f64, What),
    Backward(f64, What),
    /// Messages of a rank, and their bytes.
    Send(Operation, f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Attention(usize),
    Mlp(usize),
    Head,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    AllReduce,
    AllGather,
    ReduceScatter,
    /// Keys and values, or what goes back with them, one step round the ring.
    Ring,
    /// The sum of gradients of weights that all have.
    Gradients,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::Ring => "keys and values on",
            Self::Gradients => "sum of gradients",
        }
    }
}

/// Messages and bytes that one rank sends in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sent {
    pub(super) messages: f64,
    pub(super) bytes: f64,
}

/// What a rank does in a step, in order.
pub(super) fn parts(setup: &Setup, sums: Sums) -> Vec<ModelledPhase> {
    let ranks = setup.ranks as f64;
    let (width, context) = (setup.config.width as f64, setup.config.context as f64);
    let tokens = setup.batch as f64 * context;
    let activation = tokens * width;
    // A pass of a ring sends (t-1)/t of the buffer in t-1 messages.
    let pass = |operation, passes: f64, elements: f64| {
        let messages = passes * (ranks - 1.0);
        let bytes = passes * NUMBER * elements * (ranks - 1.0) / ranks;
        ModelledPhase::Send(operation, messages, bytes)
    };
    let (enter, leave, sum) = (
        pass(Operation::AllGather, 1.0, activation),
        pass(Operation::ReduceScatter, 1.0, activation),
        pass(Operation::AllReduce, 2.0, activation),
    );
    let keys = 2.0 * NUMBER * tokens / ranks * setup.config.keys() as f64;
    let send_on = |bytes: f64| ModelledPhase::Send(Operation::Ring, 1.0, bytes);
    type Compute = fn(f64, What) -> ModelledPhase;
    let add_half = |parts: &mut Vec<_>, compute: Compute, what: What, flops: f64| {
        let is_forward = matches!(compute(flops, what), ModelledPhase::Forward(..));
        let is_summed = !is_forward || sums == Sums::Done;
        match (setup.mode, what) {
            (Mode::Tensor, _) => {
                parts.push(compute(flops, what));
                parts.extend(is_summed.then_some(sum));
            }
            (Mode::TensorSequence, _) => {
                parts.extend([enter, compute(flops, what)]);
                parts.extend(is_summed.then_some(leave));
            }
            (Mode::Context, What::Attention(_)) => {
                for round in 1..=setup.ranks {
                    parts.push(compute(flops / ranks, what));
                    // Backward the keys and values go with their slopes, and in the last round the slopes alone.
                    match (is_forward, round == setup.ranks) {
                        (true, true) => {}
                        (true, false) | (false, true) => parts.push(send_on(keys)),
                        (false, false) => parts.push(send_on(2.0 * keys)),
                    }
                }
            }
            (Mode::Context, What::Mlp(_) | What::Head) => parts.push(compute(flops, what)),
        }
    };
    let flops = Flops::new(setup);
    let halves = |block| [(What::Attention(block), flops.attention), (What::Mlp(block), flops.mlp)];
    let halves: Vec<(What, f64)> = (0..setup.config.depth).flat_map(halves).collect();
    let mut parts = Vec::new();
    for &(what, flops) in &halves {
        add_half(&mut parts, ModelledPhase::Forward, what, flops);
    }
    parts.push(ModelledPhase::Forward(flops.head, What::Head));
    parts.push(ModelledPhase::Backward(2.0 * flops.head, What::Head));
    for &(what, flops) in halves.iter().rev() {
        add_half(&mut parts, ModelledPhase::Backward, what, 2.0 * flops);
    }
    match setup.mode {
        Mode::Tensor => {}
        Mode::TensorSequence | Mode::Context => {
            parts.push(pass(Operation::Gradients, 2.0, shared(setup)));
        }
    }
    if setup.ranks == 1 {
        parts.retain(|part| !matches!(part, ModelledPhase::Send(..)));
    }
    parts
}

/// Numbers of the weights that all ranks have and of which each finds its tokens' part of the gradient.
fn shared(setup: &Setup) -> f64 {
    let config = &setup.config;
    let (width, vocab) = (config.width as f64, config.vocab as f64);
    let around = width * (2.0 * vocab + 2.0 * config.depth as f64 + 1.0);
    match setup.mode {
        Mode::Tensor => 0.0,
        Mode::TensorSequence => around,
        Mode::Context => around + config.depth as f64 * block_weights(setup),
    }
}

/// Numbers of the matrices of a block.
fn block_weights(setup: &Setup) -> f64 {
    let config = &setup.config;
    let (width, keys, ffn) = (config.width, config.keys(), config.ffn);
    (width * (2 * width + 2 * keys + 3 * ffn)) as f64
}

pub(super) fn weight_bytes(setup: &Setup) -> f64 {
    let config = &setup.config;
    let around = config.width * (2 * config.vocab + 2 * config.depth + 1);
    let divided = if setup.mode.cuts_matrices() { setup.ranks as f64 } else { 1.0 };
    NUMBER * (around as f64 + config.depth as f64 * block_weights(setup) / divided)
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
    let (matrices, tokens) = match setup.mode {
        Mode::Tensor => (ranks, 1.0),
        Mode::TensorSequence => (ranks, ranks),
        Mode::Context => (1.0, ranks),
    };
    let shares = match setup.mode {
        Mode::Tensor | Mode::TensorSequence => heads * context,
        Mode::Context if setup.ranks == 1 => heads * context,
        Mode::Context => heads,
    };
    let attention = (width + 2.0 * keys + shares + width) / matrices;
    let mlp = 4.0 * ffn / matrices;
    let entering = 2.0 * width;
    let inside = attention + mlp + entering;
    let around = 2.0 * norm;
    let after = norm + width + vocab;
    let layers = config.depth as f64;
    let (inside, around) = match setup.mode {
        Mode::Tensor | Mode::TensorSequence => (inside, (layers * around + after) / tokens),
        Mode::Context => (inside / tokens, (layers * around + after) / tokens),
    };
    NUMBER * setup.batch as f64 * context * (layers * inside + around)
}

/// Bytes of all that a rank keeps at the end of its forward pass: weights, gradients, what the optimizer keeps, and
/// activations.
pub(super) fn state_bytes(setup: &Setup) -> f64 {
    (2.0 + setup.rule.moments() as f64) * weight_bytes(setup) + activation_bytes(setup)
}

/// Floating-point operations of a forward pass, by part; a backward pass takes twice as many.
struct Flops {
    attention: f64,
    mlp: f64,
    head: f64,
}

impl Flops {
    fn new(setup: &Setup) -> Self {
        let config = &setup.config;
        let (width, keys, context) =
            (config.width as f64, config.keys() as f64, config.context as f64);
        let tokens = setup.batch as f64 * context;
        Self {
            attention: tokens * (2.0 * width * (2.0 * width + 2.0 * keys) + 4.0 * context * width),
            mlp: tokens * 6.0 * width * config.ffn as f64,
            head: tokens * 2.0 * width * config.vocab as f64,
        }
    }
}

/// Seconds of a part on a rank, modelled.
pub(super) fn seconds(part: ModelledPhase, ranks: usize, rate: f64, network: &Network) -> f64 {
    match part {
        ModelledPhase::Forward(flops, _) | ModelledPhase::Backward(flops, _) => {
            flops / (ranks as f64 * rate)
        }
        ModelledPhase::Send(_, messages, bytes) => network.seconds(messages, bytes),
    }
}

/// What a rank sends in a step, by formula.
pub(super) fn sent(parts: &[ModelledPhase]) -> Sent {
    parts.iter().fold(Sent::default(), |sum, part| match part {
        ModelledPhase::Send(_, messages, bytes) => {
            Sent { messages: sum.messages + messages, bytes: sum.bytes + bytes }
        }
        ModelledPhase::Forward(..) | ModelledPhase::Backward(..) => sum,
    })
}
