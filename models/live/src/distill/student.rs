//! A student on its way, and what it learns from.

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_lab::DeviceId;

use super::setup::{BATCH, CLASSES, Knobs, Setup};
use mlsys_nn::data::{Batches, Examples};
use mlsys_nn::nets::{Activation, Initialization, Network, cross_entropy};
use mlsys_nn::train::{Optimizer, Rule, UpdateKnobs, batch};

/// A network that learns.
pub(super) struct Student {
    network: Network,
    optimizer: Optimizer,
    labelled: Batches,
    transfer: Batches,
    /// With autodiff.
    device: Device,
}

/// What students are shown.
pub(super) struct Shown {
    /// With labels.
    pub(super) labelled: Examples,
    /// Those that the teacher has answered.
    pub(super) transfer: Examples,
    /// The teacher's logits for them, `[transfer, classes]`.
    pub(super) logits: Vec<f32>,
}

/// Where a student's loss comes from.
#[derive(Clone, Copy)]
pub(super) enum Lesson {
    /// Labels alone.
    Labels,
    /// The teacher's answers, and labels for the rest.
    Teacher,
}

impl Student {
    /// A student at its start: the same for each that is made with a seed.
    pub(super) fn new(setup: &Setup, shown: &Shown, id: DeviceId, device: &Device) -> Self {
        let device = device.clone().autodiff();
        let (he, seed) = (Initialization::He, setup.seed);
        Self {
            network: setup.student.init(he, seed, &device),
            optimizer: Optimizer::new(Rule::Adam, id),
            labelled: Batches::new(seed, shown.labelled.len()),
            transfer: Batches::new(seed, shown.transfer.len()),
            device,
        }
    }

    /// The network as it is, without autodiff.
    pub(super) fn network(&self) -> Network {
        self.network.valid()
    }

    /// One step, and its loss.
    pub(super) fn step(&mut self, shown: &Shown, lesson: Lesson, knobs: &Knobs) -> f64 {
        let soft = match lesson {
            Lesson::Labels => 0.0,
            Lesson::Teacher => knobs.soft_weight,
        };
        // Both orders go on whether or not a part counts, so that turning soft_weight skips no image.
        let (labelled, transfer) = (self.labelled.next(BATCH), self.transfer.next(BATCH));
        let hard = (soft < 1.0).then(|| {
            let (inputs, labels) = batch(&shown.labelled, labelled, &self.device);
            cross_entropy(self.network.forward(inputs, Activation::Relu), labels)
        });
        let softened = (soft > 0.0).then(|| {
            let (inputs, _) = batch(&shown.transfer, transfer, &self.device);
            let logits = self.network.forward(inputs, Activation::Relu); // [batch, classes]
            let teacher = shown.answers(transfer, &self.device); // [batch, classes]
            soft_loss(logits, teacher, knobs.temperature)
        });
        let loss = match (hard, softened) {
            (Some(hard), Some(softened)) => hard.mul_scalar(1.0 - soft) + softened.mul_scalar(soft),
            (Some(loss), None) | (None, Some(loss)) => loss,
            // A weight that is no number: the knob's range keeps it out.
            (None, None) => return f64::NAN,
        };
        let gradients = GradientsParams::from_grads(loss.backward(), &self.network);
        let update = UpdateKnobs {
            learning_rate: knobs.learning_rate,
            weight_decay: 0.0,
            gradient_clip: None,
        };
        self.network = self.optimizer.update(self.network.take(), gradients, update);
        let loss = loss.without_autodiff().into_data();
        loss.iter::<f64>().next().unwrap_or(f64::NAN)
    }
}

impl Shown {
    /// The teacher's logits for some transfer images, `[images, classes]`.
    fn answers(&self, indices: &[usize], device: &Device) -> Tensor<2> {
        let rows =
            indices.iter().filter_map(|index| self.logits.get(index * CLASSES..)?.get(..CLASSES));
        let rows: Vec<f32> = rows.flatten().copied().collect();
        Tensor::from_data(TensorData::new(rows, [indices.len(), CLASSES]), device)
    }
}

/// T^2 times the mean cross-entropy, in nats, of the student's softened answers under the teacher's (Hinton et al. 2015).
///
/// Both logits are `[batch, classes]`; the result is `[1]`. Its slope by a logit is T (q - p) over the batch.
pub(super) fn soft_loss(student: Tensor<2>, teacher: Tensor<2>, temperature: f64) -> Tensor<1> {
    let p = softmax(teacher.div_scalar(temperature), 1);
    let log_q = log_softmax(student.div_scalar(temperature), 1);
    let each = (p * log_q).sum_dim(1); // [batch, 1]
    each.mean().mul_scalar(-temperature * temperature)
}
