//! What is left, what it reads right, and how long it takes.

use std::time::Instant;

use mlsys_lab::{LabError, Run};
use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme};

use super::Session;
use crate::prune_model::size::Size;
use mlsys_device as device;
use mlsys_distributed::transport::CommError;
use mlsys_nn::nets::Network;

/// How often each network is timed; the fastest counts, for whatever else the machine does only adds time.
const TIMINGS: usize = 7;

/// Seconds after which one time of each is enough: a wide network's take long, and nobody waits for seven.
const TIMEOUT: f64 = 2.0;

impl Session {
    /// What is left, and what that takes to store and to compute.
    pub(super) fn report_left(&self, run: &mut Run<'_>) {
        let (cut, layers) = (&self.cut, &self.body.layers);
        let (kept, all) = (cut.kept(), cut.weights_in_all());
        run.scalar("kept_weights", kept as i64);
        run.scalar("sparsity_reached", 1.0 - kept as f64 / all as f64);
        let mut flops = 0.0;
        for ((layer, mask), uses) in layers.iter().zip(&cut.masks).zip(&self.uses) {
            let kept = mask.iter().filter(|stays| **stays).count() as f64;
            let gone = 1.0 - kept / mask.len() as f64;
            run.scalar(&format!("sparsity.{}", layer.name), gone);
            flops += 2.0 * uses.places * kept;
        }
        run.scalar("remaining_flops", flops as i64);
        let size = Size::of(&self.body, self.trained.weights.len(), cut, &self.knobs);
        let (format, bytes) = size.best();
        run.scalar("stored_bytes", bytes as i64);
        run.scalar("storage_format", format.name());
        let dense = 4.0 * self.trained.weights.len() as f64;
        run.scalar("compression_ratio", dense / bytes as f64);
        let method = self.knobs.choice.method;
        let uses = (self.uses.as_slice(), self.work);
        let products = self.knobs.chip.products(&self.body, uses, cut, method);
        let of = |seconds: fn(&crate::prune_model::hardware::Product) -> f64| -> f64 {
            products.iter().map(seconds).sum()
        };
        let speedup = of(|product| product.dense) / of(|product| product.pruned);
        run.scalar("modelled_speedup", speedup);
        if let Some(tuner) = &self.tuner {
            run.scalar("parameters", tuner.parameters() as i64);
        }
    }

    /// The accuracy as stored.
    pub(super) fn report_after(&self, run: &mut Run<'_>) -> Result<(), CommError> {
        let after = self.accuracy_after()?;
        run.scalar("accuracy_after", after);
        run.scalar("accuracy_drop", self.dense - after);
        Ok(())
    }

    /// The accuracy with the kept weights rounded, if they are.
    pub(super) fn accuracy_after(&self) -> Result<f64, CommError> {
        let Some(tuner) = &self.tuner else {
            return Ok(self.accuracy);
        };
        if self.knobs.value_bits >= 32 {
            return Ok(self.accuracy);
        }
        let network = tuner.network_with(&self.rounded());
        Ok(self.judge(&network))
    }

    /// All weights with those that are left rounded, each output with a scale of its own; biases stay as they are.
    fn rounded(&self) -> Vec<f32> {
        let mut row = self.row.clone();
        for layer in &self.body.layers {
            let matrix = layer.matrix(&row);
            let rounded = Quantized::linear(
                &matrix,
                Matrix::by_inputs(layer.inputs, layer.outputs),
                self.knobs.value_bits,
                Scheme::SymmetricRestricted,
                Granularity::Channel,
            );
            layer.put(&mut row, &rounded.back);
        }
        row
    }

    /// Times the whole network and the one that is left, in turns.
    pub(super) fn time(&mut self, run: &mut Run<'_>) -> Result<(), LabError> {
        let Some(tuner) = &self.tuner else {
            return Ok(());
        };
        let whole = self.trained.network(&self.device);
        let left = tuner.network();
        let mut fastest = [f64::INFINITY; 2];
        let begun = Instant::now();
        // The first pass of each makes room for its results.
        for timing in 0..=TIMINGS {
            if timing > 1 && begun.elapsed().as_secs_f64() > TIMEOUT {
                break;
            }
            for (network, fastest) in [&whole, &left].into_iter().zip(&mut fastest) {
                let seconds = self.pass(run, network)?;
                if timing > 0 {
                    *fastest = fastest.min(seconds);
                }
            }
        }
        self.seconds = Some(fastest);
        run.scalar("dense_seconds", fastest[0]);
        run.scalar("pruned_seconds", fastest[1]);
        Ok(())
    }

    /// Seconds of a forward pass over all fresh images, or all sequences held out.
    fn pass(&self, run: &Run<'_>, network: &Network) -> Result<f64, LabError> {
        device::sync(&self.device, run.device)?;
        let begun = Instant::now();
        self.judged.forward(network, self.trained.activation);
        device::sync(&self.device, run.device)?;
        Ok(begun.elapsed().as_secs_f64())
    }
}
