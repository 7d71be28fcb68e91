//! `mlsys bench scaling`: how the time of a training step grows with the width and the context of the tiny llama, and how its
//! operations do.

use clap::Args;
use mlsys_lab::Registry;
use mlsys_lab::device::DeviceInfo;
use mlsys_nn::networks::{Architecture, TransformerConfig};
use mlsys_run::console::Console;
use mlsys_run::process::Failure;

use crate::bare::{LLAMA_BATCH, LLAMA_CONTEXT, llama};
use crate::bench::{Sample, Scratch, in_turn};
use crate::llama::VOCAB;
use crate::timed::{Timed, headless};

/// Measures training steps of several sizes.
#[derive(Debug, Args)]
pub struct Options {
    /// How often each size is trained; the sizes take turns
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
}

/// Width and context; a step has as many tokens in all of them.
const SIZES: [[usize; 2]; 8] = [
    [32, LLAMA_CONTEXT],
    [64, LLAMA_CONTEXT],
    [128, LLAMA_CONTEXT],
    [256, LLAMA_CONTEXT],
    [64, 32],
    [64, 128],
    [64, 256],
    [64, 512],
];

const STEPS: usize = 20;

/// Milliseconds of every step of each size, its operations, and what that is a second where it is fastest.
pub fn run(
    options: &Options,
    device: DeviceInfo,
    registry: &'static Registry,
    console: &mut Console,
) -> Result<Vec<Sample>, Failure> {
    let folder = Scratch::new("scaling")?;
    let (registry, clocks) = Timed::registry(registry, "train", "loss")?;
    let times = in_turn(&SIZES, options.rounds, console, |&[width, context]| {
        let settings = format!(
            "dataset=text model=transformer width={width} context={context} batch_size={} learning_rate=0.001 \
             steps={STEPS} evaluate_every={STEPS}",
            batch(context)
        );
        headless(registry, "train", &settings, device.clone(), folder.path())?;
        let losses = clocks.take().points;
        // The network is evaluated after the first loss.
        let steps = losses.windows(2).skip(1);
        Ok(steps.map(|pair| 1e3 * (pair[1] - pair[0]).as_secs_f64()).collect::<Vec<_>>())
    })?;
    let mut samples = Vec::new();
    for ([width, context], rounds) in SIZES.into_iter().zip(times) {
        let ffn = TransformerConfig::gated(width);
        let sizes = TransformerConfig { width, ffn, context, ..llama(VOCAB) };
        let (llama, batch) = (Architecture::Transformer(sizes), batch(context) as u64);
        let operations = (llama.forward_flops(batch) + llama.backward_flops(batch)) as f64;
        let name = format!("width {width}, context {context}");
        let steps = Sample::new(name.clone(), "ms a step", rounds.concat());
        let rate = 1e-6 * operations / steps.quantile(0.0);
        samples.push(steps);
        samples.push(Sample::new(name.clone(), "MFLOP a step", vec![1e-6 * operations]));
        samples.push(Sample::new(name, "GFLOP/s", vec![rate]));
    }
    Ok(samples)
}

/// Sequences of a step.
fn batch(context: usize) -> usize {
    LLAMA_BATCH * LLAMA_CONTEXT / context
}
