//! One training step, in five lines.

use crate::data::{Batches, Examples};
use crate::flat_params::rows;
use crate::networks::{Activation, Architecture, Network, cross_entropy};
use crate::train::clock::{Phase, Stopwatch};
use crate::train::evaluate::batch;
use crate::train::norms::StepNorms;
use crate::train::optimizer::Optimizer;
use crate::train::pass::{Pass, Spread, pooled};
use crate::train::{Activations, Knobs, norms};
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use mlsys_device::memory::{MemoryGauge, StepMemory};
use mlsys_lab::DeviceId;
use mlsys_lab::device::Backend;

pub struct Trainer {
    network: Network,
    optimizer: Optimizer,
    batches: Batches,
    start: Vec<Tensor<1>>,
    /// With autodiff.
    device: Device,
    id: DeviceId,
    kept: Activations,
    /// What decides how a step is spread over cores; absent where it is not.
    spread: Option<Architecture>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measuring {
    Norms,
    /// And the memory of both passes.
    NormsAndMemory,
    Nothing,
}

/// What one step found; still on the device.
pub struct Step {
    pub loss: Tensor<1>,
    pub norms: Option<StepNorms>,
    /// What forward and backward held, where the device tells.
    pub held: Option<StepMemory>,
    pub phases: [f64; 4],
}

impl Trainer {
    pub fn new(
        network: Network,
        knobs: &Knobs,
        batches: Batches,
        (id, device): (DeviceId, Device),
        kept: Activations,
    ) -> Self {
        Self {
            start: rows(&network),
            optimizer: Optimizer::new(knobs.rule, id),
            network,
            batches,
            device,
            id,
            kept,
            spread: None,
        }
    }

    /// Steps with large batches of this network take more than one core of the processor.
    pub fn spread(self, architecture: &Architecture) -> Self {
        let is_processor = self.id.backend == Backend::Cpu;
        Self { spread: is_processor.then(|| architecture.clone()), ..self }
    }

    pub fn step(&mut self, examples: &Examples, knobs: &Knobs, measuring: Measuring) -> Step {
        let architecture = self.spread.as_ref();
        let spread = architecture.map_or(Spread::Nothing, |architecture| {
            Spread::of(architecture, knobs.activation, knobs.batch_size as u64)
        });
        match spread {
            Spread::Nothing => self.step_spread(examples, knobs, measuring, spread),
            Spread::Products | Spread::Halves => {
                pooled(|| self.step_spread(examples, knobs, measuring, spread))
            }
        }
    }

    fn step_spread(
        &mut self,
        examples: &Examples,
        knobs: &Knobs,
        measuring: Measuring,
        spread: Spread,
    ) -> Step {
        let mut gauge = match measuring {
            Measuring::NormsAndMemory => MemoryGauge::open(&self.device, self.id),
            Measuring::Norms | Measuring::Nothing => None,
        };
        let mut watch = Stopwatch::start(&self.device, knobs.timing);

        let batch = batch(examples, self.batches.next(knobs.batch_size), &self.device);
        watch.end(Phase::Data);

        let (activation, kept) = (knobs.activation, self.kept);
        let pass = match (spread, &gauge) {
            (Spread::Halves, None) => {
                Pass::halves(&self.network, batch, activation, kept, &self.device)
            }
            // A step that measures memory stays whole: it is the memory of one graph.
            (Spread::Halves, Some(_)) | (Spread::Nothing | Spread::Products, _) => {
                Pass::whole(&self.network, batch, activation, kept)
            }
        };
        let loss = pass.loss();
        watch.end(Phase::Forward);

        if let Some(gauge) = &mut gauge {
            gauge.forward_ends();
            watch.resume();
        }

        let gradients = pass.backward(&self.network, || {
            if let Some(gauge) = &mut gauge {
                gauge.look();
            }
        });
        watch.end(Phase::Backward);

        let held = gauge.map(MemoryGauge::close);
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
        Step { loss, norms, held, phases: watch.phases() }
    }

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

    pub fn weight_change(&self) -> f64 {
        norms::distance(&self.network, &self.start)
    }

    pub fn layers(&self) -> Vec<usize> {
        norms::layers(&self.network)
    }
}
