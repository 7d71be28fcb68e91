//! One training step, in five lines.

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use mlsys_lab::DeviceId;

use super::clock::{Phase, Stopwatch};
use super::evaluate::batch;
use super::measure::{self, StepNorms};
use super::optimizer::Optimizer;
use super::pass::Pass;
use super::settings::{Activations, Knobs};
use crate::data::{Batches, Examples};
use crate::nets::{Activation, Network, cross_entropy};
use mlsys_device::memory::{Gauge, Held};

/// A network on its way.
pub struct Trainer {
    network: Network,
    optimizer: Optimizer,
    batches: Batches,
    /// The weights at the start, to measure how far they have come.
    start: Vec<Tensor<1>>,
    /// With autodiff.
    device: Device,
    id: DeviceId,
    kept: Activations,
}

/// What a step measures besides its loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measuring {
    /// Gradients, weights and update.
    Norms,
    /// And the memory of both passes.
    NormsAndMemory,
    Nothing,
}

/// What one step found; still on the device.
pub struct Step {
    /// The loss of the batch, `[1]`.
    pub loss: Tensor<1>,
    pub norms: Option<StepNorms>,
    /// What forward and backward held, where the device tells.
    pub held: Option<Held>,
    /// Seconds of every phase.
    pub phases: [f64; 4],
}

impl Trainer {
    /// A network on an autodiff device with a fresh optimizer.
    pub fn new(
        network: Network,
        knobs: &Knobs,
        batches: Batches,
        (id, device): (DeviceId, Device),
        kept: Activations,
    ) -> Self {
        Self {
            start: measure::weights(&network),
            optimizer: Optimizer::new(knobs.rule, id),
            network,
            batches,
            device,
            id,
            kept,
        }
    }

    /// One step on the next examples.
    pub fn step(&mut self, examples: &Examples, knobs: &Knobs, measuring: Measuring) -> Step {
        let mut gauge = match measuring {
            Measuring::NormsAndMemory => Gauge::open(&self.device, self.id),
            Measuring::Norms | Measuring::Nothing => None,
        };
        let mut watch = Stopwatch::start(&self.device, knobs.timing);

        let (inputs, labels) = batch(examples, self.batches.next(knobs.batch_size), &self.device);
        watch.end(Phase::Data);

        let pass = Pass::forward(&self.network, inputs, labels, knobs.activation, self.kept);
        watch.end(Phase::Forward);

        if let Some(gauge) = &mut gauge {
            gauge.forward_ends();
            watch.resume();
        }

        let (loss, gradients) = pass.backward(&self.network, &mut gauge);
        watch.end(Phase::Backward);

        let held = gauge.map(Gauge::close);
        let norms = match measuring {
            Measuring::Norms | Measuring::NormsAndMemory => {
                let norms = StepNorms::before(&self.network, &gradients);
                watch.resume();
                Some(norms)
            }
            Measuring::Nothing => None,
        };

        self.network = self.optimizer.update(self.network.take(), gradients, knobs.update);
        watch.end(Phase::Update);

        let norms = norms.map(|norms| norms.after(&self.network, &self.start));
        Step { loss: loss.without_autodiff(), norms, held, phases: watch.phases() }
    }

    /// Starts the optimizer's state afresh.
    pub fn reset_optimizer(&mut self, knobs: &Knobs) {
        self.optimizer = Optimizer::new(knobs.rule, self.id);
    }

    /// The network as it is, without autodiff.
    pub fn network(&self) -> Network {
        self.network.valid()
    }

    /// The gradients of the mean loss of some examples, where the network stands; no step is done.
    pub fn gradients(
        &self,
        examples: &Examples,
        indices: &[usize],
        activation: Activation,
    ) -> GradientsParams {
        let (inputs, labels) = batch(examples, indices, &self.device);
        let loss = cross_entropy(self.network.forward(inputs, activation), labels);
        GradientsParams::from_grads(loss.backward(), &self.network)
    }

    /// How far the weights are from their start.
    pub fn weight_change(&self) -> f64 {
        measure::distance(&self.network, &self.start)
    }

    /// The layer of every parameter.
    pub fn layers(&self) -> Vec<usize> {
        measure::layers(&self.network)
    }
}
