//! `mlsys bench generate`: tokens of the tiny llama one after the other, with cached keys and values.

use std::time::Instant;

use burn::tensor::{Int, Tensor, TensorData};
use clap::Args;
use mlsys_device as device;
use mlsys_lab::device::DeviceInfo;
use mlsys_lab::{LabError, Registry};
use mlsys_nn::networks::{
    Initialization, Initializer, TokenPositions, Transformer, TransformerConfig,
};
use mlsys_run::console::Console;
use mlsys_run::process::Failure;

use crate::bare::llama;
use crate::bench::{Sample, Scratch, failed, in_turn};
use crate::llama::VOCAB;
use crate::timed::{Timed, headless};

/// Measures generation.
#[derive(Debug, Args)]
pub struct Options {
    /// How often each side is run; the sides take turns
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
}

const PROMPT: usize = 16;
const GENERATED: usize = 240;

/// Sequences at once.
const BATCHES: [usize; 2] = [1, 8];

/// Microseconds of every decoding step: a token of each sequence.
pub fn run(
    options: &Options,
    device: DeviceInfo,
    registry: &'static Registry,
    console: &mut Console,
) -> Result<Vec<Sample>, Failure> {
    let folder = Scratch::new("generate")?;
    let (registry, clocks) = Timed::registry(registry, "generate", "forward_flops")?;
    let plain = device::open(device.id).map_err(failed)?;
    let config = TransformerConfig { context: PROMPT + GENERATED, ..llama(VOCAB) };
    let network = config.init(&mut Initializer::new(Initialization::He, 1, &plain));
    let names = ["by hand", "headless"];
    let sides: Vec<(usize, &str)> =
        BATCHES.iter().flat_map(|batch| names.map(|name| (*batch, name))).collect();
    let times = in_turn(&sides, options.rounds, console, |(batch, name)| {
        let moments = if *name == "by hand" {
            by_hand(&network, *batch).map_err(failed)?
        } else {
            // An untrained network takes the same time.
            let settings = format!(
                "dataset=text width=64 context={} training_steps=0 compare=false prompt_tokens={PROMPT} \
                 generated_tokens={GENERATED} batch_size={batch}",
                PROMPT + GENERATED
            );
            headless(registry, "generate", &settings, device.clone(), folder.path())?;
            clocks.take().points
        };
        let steps = moments.windows(2).map(|pair| 1e6 * (pair[1] - pair[0]).as_secs_f64());
        Ok(steps.collect::<Vec<_>>())
    })?;
    let mut samples = Vec::new();
    for ((batch, name), rounds) in sides.into_iter().zip(times) {
        let rates = rounds.iter().map(|steps| {
            let seconds = 1e-6 * steps.iter().sum::<f64>();
            (batch * steps.len()) as f64 / seconds
        });
        let side = format!("batch {batch}: {name}");
        let rates = Sample::new(format!("{side}, tokens"), "tokens/s", rates.collect());
        samples.push(Sample::new(side, "us a step", rounds.concat()));
        samples.push(rates);
    }
    Ok(samples)
}

/// The likeliest tokens by a loop over the lab's network, with a cache that is joined: when each came.
fn by_hand(network: &Transformer, batch: usize) -> Result<Vec<Instant>, LabError> {
    let device = network.head.val().device();
    let mut cache: Vec<Option<(Tensor<4>, Tensor<4>)>> = vec![None; network.blocks.len()];
    let mut new: Vec<i32> = (0..batch * PROMPT).map(|i| (i * 37 % VOCAB) as i32).collect();
    let (mut seen, mut moments) = (0, Vec::new());
    for _ in 0..GENERATED {
        let time = new.len() / batch;
        let tokens = TensorData::new(new, [batch, time]);
        let tokens = Tensor::<2, Int>::from_data(tokens, &device);
        let positions = TokenPositions {
            new: vec![(seen..seen + time).collect()],
            seen: vec![(0..seen + time).map(Some).collect()],
            window: None,
        };
        seen += time;
        let found = network.extend(tokens, &positions, 1, |block, keys, values| {
            let all = match cache[block].take() {
                None => (keys, values),
                Some((old_keys, old_values)) => {
                    (Tensor::cat(vec![old_keys, keys], 2), Tensor::cat(vec![old_values, values], 2))
                }
            };
            cache[block] = Some(all.clone());
            all
        });
        let likeliest = found.logits.flatten::<2>(0, 1).argmax(1).into_data().convert::<i32>();
        new = likeliest.try_to_vec::<i32>().map_err(|error| LabError::Data(error.to_string()))?;
        moments.push(Instant::now());
    }
    Ok(moments)
}
