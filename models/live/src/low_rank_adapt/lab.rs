//! Teaches a frozen network a new task through low-rank adapters (Hu et al. 2021), and for comparison trains a full copy.
//!
//! burn's own adapters are attached to the frozen network ([`adapters`]); its flat parameters may first be rounded to few
//! bits (QLoRA, Dettmers et al. 2023). The new task is made from the old data ([`task`]).

mod adapters;
mod panels;
mod task;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use mlsys_device as device;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run};
use mlsys_nn::baseline::{Layer, NetworkSource, Recipe, Sizes, Trained};
use mlsys_nn::cases::Model;
use mlsys_nn::data::{Batches, Dataset, Examples};
use mlsys_nn::divergence::DivergenceCheck;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::{Activation, Architecture, Inputs, Network};
use mlsys_nn::train::{
    Activations, EvaluationSet, Measuring, Trainer, UpdateKnobs, batch, training_bytes,
};
use mlsys_nn::{baseline, divergence, train};
use mlsys_sim::quantizer::{Granularity, Matrix, Quantized, Scheme};

use self::adapters::{AdaptedWeights, attach, changed, unmerged};
use self::task::{Task, Tasks};
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, known, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::stepped(include_str!("lab.toml"), Session::open)?
        .reading::<Setup>()?
        .reading::<Knobs>()
}

/// Weights of a block that share a scale in NF4 (Dettmers et al. 2023).
const NF4_BLOCK: usize = 64;
/// Bytes of a number that is trained: weight, gradient and both moments of Adam, 4 each.
const TRAINED: u64 = 16;

#[derive(Deserialize)]
struct Setup {
    dataset: Dataset,
    baseline_steps: u64,
    task: Task,
    layers: TargetLayers,
    rank: usize,
    alpha: f64,
    base_format: Format,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct Knobs {
    learning_rate: f64,
    steps: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Format {
    Fp32,
    /// 8 bits, a scale for each output.
    Int8,
    /// 4-bit NormalFloat, a scale for each 64 weights in a row.
    Nf4,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TargetLayers {
    /// Of a perceptron every one, of a transformer all of its blocks.
    All,
    First,
    Last,
    /// Of a transformer query and value, as in the paper (Hu et al. 2021, section 4.2).
    QueryValue,
    /// Of a transformer query, key, value and output.
    Attention,
    /// Of a transformer gate, up and down.
    Gated,
}

impl Setup {
    /// The network that is adapted, unless it comes from an earlier lab.
    fn recipe(&self) -> Result<Recipe, LabError> {
        if self.dataset == Dataset::Digits {
            Recipe::images(Model::Mlp, 128, self.baseline_steps, self.seed)
        } else {
            Recipe::tokens(self.dataset, Sizes::default(), self.baseline_steps, self.seed)
        }
    }

    fn scale(&self) -> f64 {
        self.alpha / self.rank as f64
    }

    fn targets(&self, source: &NetworkSource<'_>) -> Result<Vec<Layer>, LabError> {
        let layers = source.layers();
        let count = layers.len();
        let tokens = matches!(source.architecture(), Architecture::Transformer(_));
        // What a layer is, behind "block 1, ".
        let is_of = |layer: &Layer, parts: &[&str]| {
            let part = layer.what.split_once(", ").map_or("", |(_, part)| part);
            let is_in_block = tokens && layer.what.starts_with("block ");
            is_in_block && (parts.is_empty() || parts.contains(&part))
        };
        let wanted = |(index, layer): &(usize, Layer)| match self.layers {
            TargetLayers::All if tokens => is_of(layer, &[]),
            TargetLayers::All => true,
            TargetLayers::First => !tokens && *index == 0,
            TargetLayers::Last => !tokens && index + 1 == count,
            TargetLayers::QueryValue => is_of(layer, &["query", "value"]),
            TargetLayers::Attention => is_of(layer, &["query", "key", "value", "attention output"]),
            TargetLayers::Gated => is_of(layer, &["gate", "up", "down"]),
        };
        let found = layers.into_iter().enumerate().filter(wanted);
        let found: Vec<Layer> = found.map(|(_, layer)| layer).collect();
        if found.is_empty() {
            let has = match tokens {
                true => "a transformer has query-value, attention, gated and all",
                false => "a perceptron has first, last and all",
            };
            let message = format!("the network has no such layers; {has}");
            return Err(LabError::contradiction(["layers", "dataset"], message));
        }
        Ok(found)
    }
}

impl Knobs {
    /// As the training lab has them, for a network with this activation, which may be another's than the recipe's.
    fn training(&self, recipe: &Recipe, activation: Activation) -> train::Knobs {
        train::Knobs {
            activation,
            update: UpdateKnobs::at_rate(self.learning_rate),
            ..recipe.knobs()
        }
    }
}

struct FrozenBase {
    /// What comes back from their format, in the order of the network's row.
    row: Vec<f32>,
    /// Bytes, with scales and with what stays in 32 bits: biases and the scales of norms.
    bytes: u64,
}

impl Format {
    /// The weights of a network in this format: all of its matrices, be they adapted or not.
    fn keep(self, trained: &Trained) -> FrozenBase {
        let mut row = trained.weights.clone();
        let mut bytes = 4 * row.len() as u64;
        for layer in trained.layers() {
            let matrix = layer.matrix(&trained.weights);
            let (scheme, channel) = (Scheme::SymmetricRestricted, Granularity::Channel);
            let by_inputs = Matrix::by_inputs(layer.inputs, layer.outputs);
            let (row_of_all, blocks) =
                (Matrix::by_outputs(matrix.len(), 1), Granularity::Group(NF4_BLOCK));
            let rounded = match self {
                Self::Fp32 => continue,
                Self::Int8 => Quantized::linear(&matrix, by_inputs, 8, scheme, channel),
                Self::Nf4 => Quantized::nf4(&matrix, row_of_all, blocks),
            };
            bytes -= 4 * matrix.len() as u64;
            bytes += rounded.storage().bytes() as u64;
            layer.put(&mut row, &rounded.back);
        }
        FrozenBase { row, bytes }
    }
}

// A run: the network, its adapters and its copy that is trained whole, step by step on the same examples.

const COMPARED: usize = 256;

struct Session {
    setup: Setup,
    recipe: Recipe,
    knobs: Knobs,
    trained: Arc<Trained>,
    kept: FrozenBase,
    targets: Vec<Layer>,
    /// Numbers of all adapters: rank * (inputs + outputs) each.
    adapters: u64,
    tasks: Tasks,
    /// Without autodiff.
    device: Device,
    adapted: Trainer,
    full: Trainer,
    new: EvaluationSet,
    old: EvaluationSet,
    steps: Steps,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let (setup, knobs) = (run.params.read::<Setup>()?, run.params.read::<Knobs>()?);
        let recipe = setup.recipe()?;
        if baseline::is_folder(&run.params) {
            let message = "the tasks of this lab are those of data sets made here, and a model folder has a text; name a \
                           recorded run or a file of one";
            return Err(LabError::contradiction(["model_from"], message).into());
        }
        let source = NetworkSource::from_params(&run.params, &recipe)?;
        let targets = setup.targets(&source)?;
        let trained = source.network(run)?.ok_or(StepError::Stopped)?;
        warn_of_rank(run, &setup, &targets);
        let training = knobs.training(&recipe, trained.activation);
        let each = training_bytes(&trained.architecture, Activations::Kept, &training);
        let who = "the network with adapters and the one that is trained whole";
        MemoryBudget::for_device(run.device).require(
            2 * each,
            who,
            &baseline::smaller(&run.params),
        )?;
        let kept = setup.base_format.keep(&trained);
        let of_layer = |layer: &Layer| (setup.rank * (layer.inputs + layer.outputs)) as u64;
        let adapters = targets.iter().map(of_layer).sum();
        let tasks = Tasks::new(&trained, setup.task, setup.seed)?;
        let device = device::open(run.device)?;
        let tape = device.clone().autodiff();
        let network = trained.network_of(&kept.row, &tape);
        let network = attach(network, &targets, setup.rank, setup.scale(), setup.seed);
        let trainer = |network: Network| {
            let batches = Batches::new(setup.seed, tasks.train.len());
            let at = (run.device, tape.clone());
            Trainer::new(network, &training, batches, at, Activations::Kept)
        };
        // Of the classes that are guessed among.
        let guesses = trained.layers().pop().map_or(2, |layer| layer.outputs);
        let check = DivergenceCheck::new((guesses as f64).ln());
        let mut session = Self {
            adapted: trainer(network),
            full: trainer(trained.network(&tape)),
            new: EvaluationSet::new(&tasks.new, &device),
            old: EvaluationSet::new(&tasks.old, &device),
            steps: Steps::new([check; 2]),
            setup,
            recipe,
            knobs,
            trained,
            kept,
            targets,
            adapters,
            tasks,
            device,
        };
        let base = session.trained.weights.len() as u64;
        let [own, full] = session.training_bytes();
        run.scalar("adapter_parameters", adapters as i64);
        run.scalar("trainable_percent", 100.0 * adapters as f64 / (base + adapters) as f64);
        run.scalar("training_bytes", own as i64);
        run.scalar("full_training_bytes", full as i64);
        let [base, kept] = [&session.trained.weights, &session.kept.row]
            .map(|row| session.trained.network_of(row, &session.device));
        run.scalar("accuracy_before", session.accuracy(&kept, &session.new));
        run.scalar("old_accuracy", session.accuracy(&base, &session.old));
        session.report_accuracies(run);
        session.draw(run, FrameTrigger::Running)?;
        Ok(session)
    }

    /// Bytes of the base as it is kept with 16 for each trained number, and those of full fine-tuning.
    fn training_bytes(&self) -> [u64; 2] {
        [self.kept.bytes + TRAINED * self.adapters, TRAINED * self.trained.weights.len() as u64]
    }

    fn accuracy(&self, network: &Network, set: &EvaluationSet) -> f64 {
        set.judge(network, self.trained.activation).accuracy
    }

    fn report_accuracies(&self, run: &mut Run<'_>) {
        let [adapted, full] = self.networks();
        for (name, network, set) in [
            ("accuracy_adapted", &adapted, &self.new),
            ("accuracy_full", &full, &self.new),
            ("old_task_adapted", &adapted, &self.old),
            ("old_task_full", &full, &self.old),
        ] {
            let accuracy = self.accuracy(network, set);
            point(run, name, self.steps.done, accuracy);
        }
    }

    /// The largest difference between the outputs with separate adapters and those with merged ones, over the
    /// largest output: they are logits of any size, and what floats round grows with it.
    fn merge_difference(&self, adapted: &Network, apart: &AdaptedWeights) -> f64 {
        let merged = apart.with_products(&apart.base, &self.targets, self.setup.scale());
        let merged = self.trained.network_of(&merged, &self.device);
        let count = match &self.tasks.new {
            // Windows of a row of tokens have many answers each.
            Examples::Sequence(_) => COMPARED / 16,
            Examples::Labelled(_) => COMPARED,
        };
        let all: Vec<usize> = (0..self.tasks.new.len().min(count)).collect();
        let (inputs, _) = batch(&self.tasks.new, &all, &self.device);
        let activation = self.trained.activation;
        let apart = match inputs.clone() {
            Inputs::Numbers(x) => unmerged(adapted, x, activation),
            Inputs::Tokens(x) => adapted.forward(x, activation),
        };
        let merged = merged.forward(inputs, activation);
        let most = |of: Tensor<2>| f64::from(of.abs().max().into_scalar::<f32>());
        most(apart - merged.clone()) / most(merged).max(f64::MIN_POSITIVE)
    }

    fn networks(&self) -> [Network; 2] {
        [self.adapted.network(), self.full.network()]
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

    fn turn(&mut self, _: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.knobs = knobs;
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let activation = self.trained.activation;
        let knobs = self.knobs.training(&self.recipe, activation);
        self.steps.done += 1;
        let trainers = [&mut self.adapted, &mut self.full];
        let losses = trainers.map(|trainer| {
            let step = trainer.step(&self.tasks.train, &knobs, Measuring::Nothing);
            f64::from(step.loss.into_scalar::<f32>())
        });
        for (name, loss) in ["loss", "loss_full"].into_iter().zip(losses) {
            point(run, name, self.steps.done, loss);
        }
        let rate = self.knobs.learning_rate;
        self.steps.judge(run, &losses, None, |what| divergence::at_rate(what, rate));
        Ok(())
    }

    fn record(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        self.report_accuracies(run);
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        let at = (self.steps.done, moment);
        stepped::draw(run, at, &panels::ALL, |_, make| make(self));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let [adapted, full] = self.networks();
        let apart = AdaptedWeights::read(&adapted);
        let off = self.trained.network_of(&apart.base, &self.device);
        run.scalar("old_accuracy_adapter_off", self.accuracy(&off, &self.old));
        run.scalar("old_accuracy_full", self.accuracy(&full, &self.old));
        let changed = changed(&self.kept.row, &apart.base);
        run.scalar("base_weights_changed", changed as i64);
        let off_by = self.merge_difference(&adapted, &apart);
        // Of a run that diverged there is none.
        known(run, "merge_difference", Some(off_by).filter(|off_by| off_by.is_finite()));
        let scale = self.setup.scale();
        let merged = apart.with_products(&apart.base, &self.targets, scale);
        let back = apart.with_products(&merged, &self.targets, -scale);
        let pairs = back.iter().zip(&apart.base);
        let off = pairs.fold(0.0_f64, |most, (a, b)| most.max(f64::from(*a - *b).abs()));
        run.scalar("unmerge_difference", off);
        Ok(())
    }
}

/// A rank above what a matrix can have is no mistake, but it buys nothing.
fn warn_of_rank(run: &mut Run<'_>, setup: &Setup, targets: &[Layer]) {
    let thin = targets.iter().find(|layer| setup.rank > layer.inputs.min(layer.outputs));
    if let Some(layer) = thin {
        let most = layer.inputs.min(layer.outputs);
        run.notice(format!(
            "rank {} is more than {} can have: a matrix of {} x {} has rank {most} at most, and A and B above that learn nothing more",
            setup.rank, layer.what, layer.inputs, layer.outputs
        ));
    }
}
