//! Trains a student on a teacher's softened answers (Hinton et al. 2015), and the same student on labels alone.

mod panels;
#[cfg(test)]
mod tests;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::activation::{log_softmax, softmax};
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_device as device;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{DeviceId, LabError, Params, Run};
use mlsys_nn::baseline::Recipe;
use mlsys_nn::cases::Model;
use mlsys_nn::data::{Batches, DataConfig, Dataset, Examples, Labelled};
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::networks::{
    Activation, Architecture, Initialization, MlpConfig, Network, cross_entropy,
};
use mlsys_nn::train::{EvaluationSet, Optimizer, Rule, UpdateKnobs, batch};
use mlsys_nn::{baseline, divergence};
use serde::Deserialize;

use self::panels::HeldOut;
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?
        .reading::<Setup>()?
        .reading::<Knobs>()
}

const BATCH: usize = 64;

#[derive(Deserialize)]
struct Setup {
    teacher_width: usize,
    teacher_steps: u64,
    student_width: usize,
    noise: f32,
    labelled_samples: usize,
    transfer_samples: usize,
    /// The digit that students are not shown.
    missing_class: Option<i32>,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Knobs {
    temperature: f64,
    soft_weight: f64,
    learning_rate: f64,
    steps: u64,
}

impl Setup {
    fn teacher(&self) -> Result<Recipe, LabError> {
        let recipe = Recipe::images(Model::Mlp, self.teacher_width, self.teacher_steps, self.seed)?;
        Ok(recipe.with_noise(self.noise))
    }

    fn student(&self) -> Architecture {
        let inputs = DataConfig::new(Dataset::Digits, self.seed).features();
        Architecture::Mlp(MlpConfig { inputs, hidden: vec![self.student_width], outputs: CLASSES })
    }
}

const CLASSES: usize = 10;

fn only_images(examples: Examples) -> Result<Labelled, LabError> {
    match examples {
        Examples::Labelled(images) => Ok(images),
        Examples::Sequence(_) => Err(LabError::Data("digits are no sequence".to_owned())),
    }
}

/// The first `count` images of a data set, those of the missing digit left out before they are counted.
fn shown(all: &Labelled, missing: Option<i32>, count: usize) -> Examples {
    let kept = (0..all.len()).filter(|&index| missing != Some(all.labels[index]));
    let indices: Vec<usize> = kept.take(count).collect();
    Examples::Labelled(all.some(&indices))
}

struct Session {
    setup: Setup,
    knobs: Knobs,
    shown: TrainingSet,
    fresh: HeldOut,
    distilled: Student,
    label_only: Student,
    steps: Steps,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let (setup, knobs) = (run.params.read::<Setup>()?, run.params.read::<Knobs>()?);
        let device = device::open(run.device)?;
        let teacher = baseline::obtain(run, &setup.teacher()?)?.ok_or(StepError::Stopped)?;
        let network = teacher.network(&device);
        let learned = only_images(teacher.data()?.train)?;
        let transfer = shown(&learned, setup.missing_class, setup.transfer_samples);
        let shown = TrainingSet {
            labelled: shown(&learned, setup.missing_class, setup.labelled_samples),
            logits: EvaluationSet::new(&transfer, &device).logits(&network, teacher.activation),
            transfer,
        };
        let fresh = HeldOut::new(&teacher, &network, &device, setup.missing_class)?;
        let judged = fresh.set.judge(&network, teacher.activation);
        let mut session = Self {
            distilled: Student::new(&setup, &shown, run.device, &device),
            label_only: Student::new(&setup, &shown, run.device, &device),
            fresh,
            shown,
            setup,
            knobs,
            steps: Steps::new([DivergenceCheck::new((CLASSES as f64).ln()); 2]),
        };
        run.scalar("teacher_accuracy", judged.accuracy);
        let of_teacher = teacher.architecture.parameters();
        let of_student = session.setup.student().parameters();
        run.scalar("teacher_parameters", of_teacher as i64);
        run.scalar("student_parameters", of_student as i64);
        run.scalar("size_ratio", of_teacher as f64 / of_student as f64);
        session.report_targets(run);
        session.draw(run, FrameTrigger::Final)?;
        Ok(session)
    }

    fn report_targets(&self, run: &mut Run<'_>) {
        let rows = self.shown.logits.chunks(CLASSES);
        let count = rows.len().max(1);
        let entropies = rows.map(|row| {
            let p = panels::softened(row, self.knobs.temperature);
            let terms = p.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln());
            terms.sum::<f64>()
        });
        run.scalar("target_entropy", entropies.sum::<f64>() / count as f64);
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    const RECORD_EVERY: u64 = 10;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.steps.done < self.knobs.steps
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        params.read()
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        let before = std::mem::replace(&mut self.knobs, knobs);
        if before.temperature != knobs.temperature {
            self.report_targets(run);
        }
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let (shown, knobs) = (&self.shown, &self.knobs);
        let taught = self.distilled.step(shown, knobs.soft_weight, knobs);
        let alone = self.label_only.step(shown, 0.0, knobs);
        self.steps.done += 1;
        let rate = self.knobs.learning_rate;
        self.steps.judge(run, &[taught, alone], None, |what| divergence::at_rate(what, rate));
        Ok(())
    }

    fn record(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.steps.divergence().is_some() {
            return Ok(());
        }
        let step = self.steps.done;
        let (taught, missing) = self.fresh.judge(&self.distilled);
        let (alone, label_only_missing) = self.fresh.judge(&self.label_only);
        for (name, value) in [
            ("student_accuracy", Some(taught)),
            ("label_only_accuracy", Some(alone)),
            ("missing_class_accuracy", missing),
            ("label_only_missing_class_accuracy", label_only_missing),
        ] {
            point(run, name, step, value);
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        if self.steps.divergence().is_some() {
            return Ok(());
        }
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |_, make| make(self));
        Ok(())
    }
}

struct Student {
    network: Network,
    optimizer: Optimizer,
    labelled: Batches,
    transfer: Batches,
    /// With autodiff.
    device: Device,
}

struct TrainingSet {
    labelled: Examples,
    transfer: Examples,
    /// The teacher's logits for them, `[transfer, classes]`.
    logits: Vec<f32>,
}

impl Student {
    /// A student at its start: the same for each that is made with a seed.
    fn new(setup: &Setup, shown: &TrainingSet, id: DeviceId, device: &Device) -> Self {
        let device = device.clone().autodiff();
        let (he, seed) = (Initialization::He, setup.seed);
        Self {
            network: setup.student().init(he, seed, &device),
            optimizer: Optimizer::new(Rule::Adam, id),
            labelled: Batches::new(seed, shown.labelled.len()),
            transfer: Batches::new(seed, shown.transfer.len()),
            device,
        }
    }

    fn network(&self) -> Network {
        self.network.valid()
    }

    /// One step on labels and, by the share `soft`, on the teacher's answers; its loss.
    fn step(&mut self, shown: &TrainingSet, soft: f64, knobs: &Knobs) -> f64 {
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
        let update = UpdateKnobs::at_rate(knobs.learning_rate);
        self.network = self.optimizer.update(self.network.take(), gradients, update);
        loss.without_autodiff().into_data().iter::<f64>().next().unwrap_or(f64::NAN)
    }
}

impl TrainingSet {
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
fn soft_loss(student: Tensor<2>, teacher: Tensor<2>, temperature: f64) -> Tensor<1> {
    let p = softmax(teacher.div_scalar(temperature), 1);
    let log_q = log_softmax(student.div_scalar(temperature), 1);
    let each = (p * log_q).sum_dim(1); // [batch, 1]
    each.mean().mul_scalar(-temperature * temperature)
}
