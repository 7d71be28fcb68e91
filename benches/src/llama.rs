//! `mlsys bench llama`: where the time of a training step of the tiny llama goes: each of its parts on its own, forward
//! and backward.

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

/// Measures the step and its parts and prints milliseconds a step.
pub fn run(options: &Options, device: DeviceInfo) -> Result<Vec<Sample>, Failure> {
    Ok(figures(&measure(device.id, options.rounds).map_err(failed)?))
}

/// The whole step by phases, then every part's share of it, then its matrix products alone.
fn figures(parts: &Parts) -> Vec<Sample> {
    let whole = sums([&parts.step.forward, &parts.step.backward, &parts.update]);
    let rate = whole.iter().map(|seconds| 1.0 / seconds).collect();
    let mut samples = vec![
        milliseconds("step", 1, &whole),
        milliseconds("step: forward", 1, &parts.step.forward),
        milliseconds("step: backward", 1, &parts.step.backward),
        milliseconds("step: update", 1, &parts.update),
        Sample::new("steps", "1/s", rate),
    ];
    for Part { name, times, timed } in &parts.parts {
        let name = match times {
            1 => (*name).to_owned(),
            times => format!("{name}, {times} times"),
        };
        samples.push(milliseconds(&format!("{name}: forward"), *times, &timed.forward));
        samples.push(milliseconds(&format!("{name}: backward"), *times, &timed.backward));
    }
    let products = &parts.products;
    samples.push(milliseconds("all matrix products: forward", 1, &products.forward));
    samples.push(milliseconds("all matrix products: backward", 1, &products.backward));
    samples
}

fn milliseconds(name: &str, times: usize, seconds: &[f64]) -> Sample {
    let each = seconds.iter().map(|one| 1e3 * one * times as f64);
    Sample::new(name, "ms a step", each.collect())
}

/// The sum of every round.
fn sums(phases: [&Vec<f64>; 3]) -> Vec<f64> {
    let [forward, backward, update] = phases;
    let rounds = forward.iter().zip(backward).zip(update);
    rounds.map(|((a, b), c)| a + b + c).collect()
}

/// Characters of the project's tales.
const VOCAB: usize = 52;

/// Seconds of every round.
#[derive(Clone, Debug, Default)]
struct Timed {
    /// From the inputs to the result.
    forward: Vec<f64>,
    /// From the result's gradient to those of inputs and weights.
    backward: Vec<f64>,
}

/// A part of a step.
#[derive(Clone, Debug)]
struct Part {
    name: &'static str,
    /// How often it runs in a step.
    times: usize,
    timed: Timed,
}

/// The whole step and its parts.
#[derive(Clone, Debug)]
struct Parts {
    step: Timed,
    update: Vec<f64>,
    /// In the order of the forward pass.
    parts: Vec<Part>,
    /// All matrix products of the step and nothing else.
    products: Timed,
}

impl Parts {
    /// The first round warms caches and clocks up.
    fn forget_the_first(&mut self) {
        let parts = self.parts.iter_mut().map(|part| &mut part.timed);
        for timed in parts.chain([&mut self.step, &mut self.products]) {
            timed.forward.drain(..1);
            timed.backward.drain(..1);
        }
        self.update.drain(..1);
    }
}

/// Measures everything in turn, `rounds` times after one that does not count.
///
/// A part's result is summed, and the sum's gradient taken: that is one pass over the result more than in the step.
///
/// # Errors
/// If the device cannot be opened or is lost.
fn measure(id: DeviceId, rounds: u32) -> Result<Parts, LabError> {
    let mut inputs = Inputs::new(id)?;
    let mut measured = Parts {
        step: Timed::default(),
        update: Vec::new(),
        parts: inputs.parts().into_iter().map(|(part, _)| part).collect(),
        products: Timed::default(),
    };
    for _ in 0..=rounds {
        let gradients = inputs.time(&mut measured.step, || inputs.loss())?;
        let gradients = GradientsParams::from_grads(gradients, &inputs.llama);
        let start = Instant::now();
        inputs.llama = inputs.adam.step(0.001, inputs.llama, gradients);
        device::sync(&inputs.device, id)?;
        measured.update.push(start.elapsed().as_secs_f64());
        for (part, (_, work)) in measured.parts.iter_mut().zip(inputs.parts()) {
            inputs.time(&mut part.timed, work)?;
        }
        inputs.time(&mut measured.products, || inputs.products())?;
    }
    measured.forget_the_first();
    Ok(measured)
}

/// A part's work, as a sum of what it makes.
type Work<'a> = Box<dyn Fn() -> Tensor<1> + 'a>;

/// The inputs of the parts.
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

    /// Every part with its work.
    fn parts(&self) -> Vec<(Part, Work<'_>)> {
        let (depth, batch) = (self.config.depth, LLAMA_BATCH);
        let Some(block) = self.llama.blocks.first() else {
            return Vec::new();
        };
        let attention = &block.attention;
        let work: [(&str, usize, Work<'_>); 9] = [
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
                "queries, keys, values",
                depth,
                Box::new(move || {
                    let (q, k, v) = attention.project(self.x.clone(), batch, &self.at);
                    q.sum() + k.sum() + v.sum()
                }),
            ),
            (
                "scores, mask, softmax",
                depth,
                Box::new(|| attention.weigh(self.q.clone(), self.k.clone(), &self.at).sum()),
            ),
            (
                "mixed values, output",
                depth,
                Box::new(|| attention.mix(self.weights.clone(), self.k.clone()).sum()),
            ),
            ("gated layer", depth, Box::new(|| block.mlp.forward(self.x.clone()).sum())),
            ("residual sum", 2 * depth, Box::new(|| (self.x.clone() + self.x.clone()).sum())),
            ("output head", 1, Box::new(|| self.x.clone().matmul(self.llama.head.val()).sum())),
            ("loss", 1, Box::new(|| cross_entropy(self.logits.clone(), self.labels()))),
        ];
        let part = |(name, times, work)| {
            let timed = Timed::default();
            (Part { name, times, timed }, work)
        };
        work.into_iter().map(part).collect()
    }

    /// Every matrix product of a step.
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

    fn time(&self, timed: &mut Timed, work: impl Fn() -> Tensor<1>) -> Result<Gradients, LabError> {
        let start = Instant::now();
        let result = work();
        device::sync(&self.device, self.id)?;
        timed.forward.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        let gradients = result.backward();
        device::sync(&self.device, self.id)?;
        timed.backward.push(start.elapsed().as_secs_f64());
        Ok(gradients)
    }
}

/// Normal numbers that want a gradient.
fn random<const D: usize>(shape: [usize; D], stream: &mut Stream, device: &Device) -> Tensor<D> {
    let count = shape.iter().product();
    let numbers: Vec<f32> = (0..count).map(|_| stream.normal() as f32).collect();
    Tensor::from_data(TensorData::new(numbers, shape), device).require_grad()
}
