//! One training step, in five lines.

use crate::data::{Batches, Examples};
use crate::flat_params::rows;
use crate::networks::{Activation, CheckpointedPass, Inputs, Network, cross_entropy};
use crate::train::clock::{Phase, Stopwatch};
use crate::train::evaluate::batch;
use crate::train::norms::StepNorms;
use crate::train::optimizer::Optimizer;
use crate::train::{Activations, Knobs, norms};
use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor};
use mlsys_device::memory::{MemoryGauge, StepMemory};
use mlsys_lab::DeviceId;

pub struct Trainer {
    network: Network,
    optimizer: Optimizer,
    batches: Batches,
    start: Vec<Tensor<1>>,
    /// With autodiff.
    device: Device,
    id: DeviceId,
    kept: Activations,
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
        }
    }

    pub fn step(&mut self, examples: &Examples, knobs: &Knobs, measuring: Measuring) -> Step {
        let mut gauge = match measuring {
            Measuring::NormsAndMemory => MemoryGauge::open(&self.device, self.id),
            Measuring::Norms | Measuring::Nothing => None,
        };
        let mut watch = Stopwatch::start(&self.device, knobs.timing);

        let batch = batch(examples, self.batches.next(knobs.batch_size), &self.device);
        watch.end(Phase::Data);

        let (loss, pass) = forward(&self.network, batch, knobs.activation, self.kept);
        watch.end(Phase::Forward);

        if let Some(gauge) = &mut gauge {
            gauge.forward_ends();
            watch.resume();
        }

        let gradients = backward(&self.network, loss.clone(), pass, &mut gauge);
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
        Step { loss: loss.without_autodiff(), norms, held, phases: watch.phases() }
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

// Forward to the loss and back to the gradients, with all activations kept or without.

/// The loss `[1]` of a batch; where blocks left nothing but their inputs, these. Else burn has recorded all of it.
fn forward(
    network: &Network,
    (inputs, labels): (Inputs, Tensor<1, Int>),
    activation: Activation,
    kept: Activations,
) -> (Tensor<1>, Option<CheckpointedPass>) {
    match (network, inputs, kept) {
        (Network::Transformer(transformer), Inputs::Tokens(tokens), Activations::OfBlocks) => {
            let (loss, pass) = transformer.forward_checkpointed(tokens, labels);
            (loss, Some(pass))
        }
        (_, inputs, _) => (cross_entropy(network.forward(inputs, activation), labels), None),
    }
}

/// The gradients of the loss by the parameters of the network that made it.
fn backward(
    network: &Network,
    loss: Tensor<1>,
    checkpointed: Option<CheckpointedPass>,
    gauge: &mut Option<MemoryGauge<'_>>,
) -> GradientsParams {
    match (checkpointed, network) {
        (Some(pass), Network::Transformer(transformer)) => pass.backward(loss, transformer, || {
            if let Some(gauge) = gauge {
                gauge.look();
            }
        }),
        _ => GradientsParams::from_grads(loss.backward(), network),
    }
}
