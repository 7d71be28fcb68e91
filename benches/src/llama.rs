//! `mlsys bench llama`: the time of each part of a training step of the tiny llama, forward and backward.

use std::time::Instant;

use burn::module::Param;
use burn::optim::GradientsParams;
use burn::tensor::{DType, Device, Gradients, Int, Tensor, TensorData};
use clap::Args;
use mlsys_device::{self as device, Adam};
use mlsys_lab::device::DeviceInfo;
use mlsys_lab::{DeviceId, LabError};
use mlsys_nn::networks::{
    Initialization, Initializer, Positions, Transformer, TransformerConfig, cross_entropy,
};
use mlsys_nn::random::Stream;
use mlsys_run::process::Failure;

use crate::bare::{LLAMA_BATCH, LLAMA_CONTEXT, llama};
use crate::bench::{Sample, failed};

/// Measures the parts of a training step.
#[derive(Debug, Args)]
pub struct Options {
    /// How often step and parts are run; they take turns
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rounds: u32,
}

/// Milliseconds a step: the whole step by phases, then every part's share of it, then its matrix products alone.
///
/// A part's result is summed, and the sum's gradient taken: that is one pass over the result more than in the step.
pub fn run(options: &Options, device: DeviceInfo) -> Result<Vec<Sample>, Failure> {
    let mut inputs = Inputs::new(device.id).map_err(failed)?;
    let names: Vec<(&str, usize)> =
        inputs.parts().iter().map(|(name, times, _)| (*name, *times)).collect();
    let mut rounds = Vec::new();
    for _ in 0..=options.rounds {
        let round;
        (inputs, round) = inputs.round().map_err(failed)?;
        rounds.push(round);
    }
    // The first round warms caches and clocks up.
    rounds.remove(0);
    let sample = |name: &str, times: usize, seconds: &dyn Fn(&Round) -> f64| {
        let each = rounds.iter().map(|round| 1e3 * seconds(round) * times as f64);
        Sample::new(name, "ms a step", each.collect())
    };
    let mut samples = vec![
        sample("step", 1, &Round::whole_step),
        sample("step: forward", 1, &|round| round.step.forward),
        sample("step: backward", 1, &|round| round.step.backward),
        sample("step: update", 1, &|round| round.update),
    ];
    let rates = rounds.iter().map(|round| 1.0 / round.whole_step());
    samples.push(Sample::new("steps", "1/s", rates.collect()));
    for (at, (name, times)) in names.into_iter().enumerate() {
        let label = if times == 1 { name.to_owned() } else { format!("{name}, {times} times") };
        let forward = |round: &Round| round.parts[at].forward;
        let backward = |round: &Round| round.parts[at].backward;
        samples.push(sample(&format!("{label}: forward"), times, &forward));
        samples.push(sample(&format!("{label}: backward"), times, &backward));
    }
    samples.push(sample("all matrix products: forward", 1, &|round| round.products.forward));
    samples.push(sample("all matrix products: backward", 1, &|round| round.products.backward));
    Ok(samples)
}

/// Characters of the project's tales.
pub const VOCAB: usize = 52;

/// Seconds of a computation: from the inputs to the result, and from its gradient to those of inputs and weights.
struct Timed {
    forward: f64,
    backward: f64,
}

/// One measurement of everything, the parts in the order of the forward pass.
struct Round {
    step: Timed,
    update: f64,
    parts: Vec<Timed>,
    products: Timed,
}

impl Round {
    fn whole_step(&self) -> f64 {
        self.step.forward + self.step.backward + self.update
    }
}

type Work<'a> = Box<dyn Fn() -> Tensor<1> + 'a>;

struct Inputs {
    id: DeviceId,
    /// With autodiff.
    device: Device,
    config: TransformerConfig,
    llama: Transformer,
    adam: Adam,
    at: Positions,
    tokens: Tensor<2, Int>,
    /// `[rows, width]`.
    x: Tensor<2>,
    /// `[rows, vocab]`.
    logits: Tensor<2>,
    /// `[rows, ffn]`.
    wide: Tensor<2>,
    /// Queries `[batch, heads, time, head]`.
    q: Tensor<4>,
    /// Keys or values `[batch, kv_heads, time, head]`.
    k: Tensor<4>,
    /// Attention `[batch, heads, time, time]`.
    weights: Tensor<4>,
}

impl Inputs {
    fn new(id: DeviceId) -> Result<Self, LabError> {
        let device = device::open(id)?.autodiff();
        let config = llama(VOCAB);
        let llama = config.init(&mut Initializer::new(Initialization::He, 1, &device));
        let (batch, time, rows) = (LLAMA_BATCH, LLAMA_CONTEXT, LLAMA_BATCH * LLAMA_CONTEXT);
        let (heads, head) = (config.heads, config.head());
        let tokens: Vec<i32> = (0..rows).map(|i| (i * 37 % VOCAB) as i32).collect();
        let mut stream = Stream::new(1, "parts");
        Ok(Self {
            at: Positions::new(time, head, DType::F32, &device),
            tokens: Tensor::from_data(TensorData::new(tokens, [batch, time]), &device),
            x: random([rows, config.width], &mut stream, &device),
            logits: random([rows, VOCAB], &mut stream, &device),
            wide: random([rows, config.ffn], &mut stream, &device),
            q: random([batch, heads, time, head], &mut stream, &device),
            k: random([batch, config.kv_heads, time, head], &mut stream, &device),
            weights: random([batch, heads, time, time], &mut stream, &device),
            adam: Adam::new(id),
            id,
            device,
            config,
            llama,
        })
    }

    fn labels(&self) -> Tensor<1, Int> {
        self.tokens.clone().flatten(0, 1)
    }

    fn loss(&self) -> Tensor<1> {
        let logits = self.llama.forward(self.tokens.clone());
        cross_entropy(logits.flatten(0, 1), self.labels())
    }

    /// Every part: its name, how often it runs in a step, and its work.
    fn parts(&self) -> Vec<(&'static str, usize, Work<'_>)> {
        let (depth, batch) = (self.config.depth, LLAMA_BATCH);
        let Some(block) = self.llama.blocks.first() else { return Vec::new() };
        let attention = &block.attention;
        let parts: [(&str, usize, Work<'_>); 7] = [
            (
                "embedding",
                1,
                Box::new(|| self.llama.embedding.val().select(0, self.labels()).sum()),
            ),
            (
                "RMS norm",
                2 * depth + 1,
                Box::new(|| block.attention_norm.forward(self.x.clone()).sum()),
            ),
            (
                "attention",
                depth,
                Box::new(move || attention.forward(self.x.clone(), batch, &self.at).sum()),
            ),
            ("gated layer", depth, Box::new(|| block.mlp.forward(self.x.clone()).sum())),
            ("residual sum", 2 * depth, Box::new(|| (self.x.clone() + self.x.clone()).sum())),
            ("output head", 1, Box::new(|| self.x.clone().matmul(self.llama.head.val()).sum())),
            ("loss", 1, Box::new(|| cross_entropy(self.logits.clone(), self.labels()))),
        ];
        parts.into()
    }

    fn products(&self) -> Tensor<1> {
        let product = |x: &Tensor<2>, w: &Param<Tensor<2>>| x.clone().matmul(w.val()).sum();
        let mut total = product(&self.x, &self.llama.head);
        let [batch, heads, time, head] = self.q.dims();
        let kv_heads = self.config.kv_heads;
        let rows = heads / kv_heads * time;
        for block in &self.llama.blocks {
            let (attention, mlp) = (&block.attention, &block.mlp);
            for weight in [&attention.query, &attention.key, &attention.value] {
                total = total + product(&self.x, weight);
            }
            total = total + product(&self.x, &attention.output);
            let q = self.q.clone().reshape([batch, kv_heads, rows, head]);
            let weights = self.weights.clone().reshape([batch, kv_heads, rows, time]);
            total = total + q.matmul(self.k.clone().swap_dims(2, 3)).sum();
            total = total + weights.matmul(self.k.clone()).sum();
            total = total + product(&self.x, &mlp.gate) + product(&self.x, &mlp.up);
            total = total + product(&self.wide, &mlp.down);
        }
        total
    }

    /// Measures everything once.
    fn round(mut self) -> Result<(Self, Round), LabError> {
        let (step, gradients) = self.time(|| self.loss())?;
        let gradients = GradientsParams::from_grads(gradients, &self.llama);
        let start = Instant::now();
        self.llama = self.adam.step(0.001, self.llama, gradients);
        device::sync(&self.device, self.id)?;
        let update = start.elapsed().as_secs_f64();
        let parts = self.parts().into_iter().map(|(_, _, work)| Ok(self.time(work)?.0));
        let parts = parts.collect::<Result<_, LabError>>()?;
        let (products, _) = self.time(|| self.products())?;
        Ok((self, Round { step, update, parts, products }))
    }

    fn time(&self, work: impl Fn() -> Tensor<1>) -> Result<(Timed, Gradients), LabError> {
        let start = Instant::now();
        let result = work();
        device::sync(&self.device, self.id)?;
        let forward = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let gradients = result.backward();
        device::sync(&self.device, self.id)?;
        let backward = start.elapsed().as_secs_f64();
        Ok((Timed { forward, backward }, gradients))
    }
}

/// Normal numbers that want a gradient.
fn random<const D: usize>(shape: [usize; D], stream: &mut Stream, device: &Device) -> Tensor<D> {
    let count = shape.iter().product();
    let numbers: Vec<f32> = (0..count).map(|_| stream.normal() as f32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), device).require_grad()
}
