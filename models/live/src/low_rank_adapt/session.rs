//! A run: the network, its adapters and its copy that is trained whole, step by step on the same examples.

use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run};

use super::adapters::{Apart, attach, beside, changed};
use super::pictures;
use super::setup::{Costs, Kept, Knobs, Setup};
use super::task::Tasks;
use crate::stepped::{self, StepError, SteppedLab, point};
use mlsys_device as device;
use mlsys_nn::baseline::{self, Layer, Source, Trained};
use mlsys_nn::data::{Batches, Examples};
use mlsys_nn::divergence::{self, Ceiling};
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::nets::{Inputs, Network};
use mlsys_nn::train::{Activations, EvaluationSet, Measuring, Trainer, batch, training_bytes};

/// Steps between two values of every series but the losses.
const RECORDED: u64 = 10;
/// Steps between two pictures that take matrices apart.
const PICTURED: u64 = 50;
/// Examples whose outputs are compared, merged and not.
const COMPARED: usize = 256;

/// A run under way.
pub(super) struct Session {
    pub(super) setup: Setup,
    knobs: Knobs,
    pub(super) trained: Arc<Trained>,
    pub(super) kept: Kept,
    pub(super) targets: Vec<Layer>,
    pub(super) costs: Costs,
    pub(super) tasks: Tasks,
    /// Without autodiff.
    pub(super) device: Device,
    adapted: Trainer,
    full: Trainer,
    new: EvaluationSet,
    old: EvaluationSet,
    ceilings: [Ceiling; 2],
    divergence: Option<&'static str>,
    step: u64,
    recorded: Option<u64>,
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        let source = Source::of(&run.params, &setup.recipe)?;
        let targets = setup.targets(&source)?;
        let trained = source.network(run)?.ok_or(StepError::Stopped)?;
        tell_of_ranks(run, &setup, &targets);
        let training = knobs.training(&setup.recipe, trained.activation);
        let each = training_bytes(&trained.architecture, Activations::Kept, &training);
        let who = "the network with adapters and the one that is trained whole";
        MemoryBudget::of(run.device).require(2 * each, who, &baseline::smaller(&run.params))?;
        let kept = setup.format.keep(&trained);
        let costs = Costs::new(setup.rank, &targets, &trained, &kept);
        let tasks = Tasks::of(&trained, setup.task, setup.seed)?;
        let device = device::open(run.device)?;
        let tape = device.clone().autodiff();
        let network = trained.network_of(&kept.row, &tape);
        let network = attach(network, &targets, setup.rank, setup.scale(), setup.seed);
        let trainer = |network: Network| {
            let batches = Batches::new(setup.seed, tasks.train.len());
            let at = (run.device, tape.clone());
            Trainer::new(network, &training, batches, at, Activations::Kept)
        };
        let ceiling = || Ceiling::new((guesses(&trained) as f64).ln());
        let mut session = Self {
            adapted: trainer(network),
            full: trainer(trained.network(&tape)),
            new: EvaluationSet::new(&tasks.new, &device),
            old: EvaluationSet::new(&tasks.old, &device),
            ceilings: [ceiling(), ceiling()],
            divergence: None,
            step: 0,
            recorded: None,
            setup,
            knobs,
            trained,
            kept,
            targets,
            costs,
            tasks,
            device,
        };
        session.begin(run)?;
        Ok(session)
    }

    /// What is known before the first step.
    fn begin(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let costs = self.costs;
        run.scalar("adapter_parameters", costs.adapters as i64);
        run.scalar("trainable_percent", costs.trainable_percent());
        run.scalar("training_bytes", costs.training_bytes() as i64);
        run.scalar("full_training_bytes", costs.full_training_bytes() as i64);
        let [base, kept] = [&self.trained.weights, &self.kept.row]
            .map(|row| self.trained.network_of(row, &self.device));
        run.scalar("accuracy_before", self.accuracy(&kept, &self.new));
        run.scalar("old_accuracy", self.accuracy(&base, &self.old));
        self.record(run);
        self.draw(run, Moment::Running)
    }

    fn accuracy(&self, network: &Network, set: &EvaluationSet) -> f64 {
        set.judge(network, self.trained.activation).accuracy
    }

    /// The accuracies of both networks on both tasks.
    fn record(&mut self, run: &mut Run<'_>) {
        if self.recorded == Some(self.step) {
            return;
        }
        self.recorded = Some(self.step);
        let [adapted, full] = [self.adapted.network(), self.full.network()];
        for (name, network, set) in [
            ("accuracy_adapted", &adapted, &self.new),
            ("accuracy_full", &full, &self.new),
            ("old_task_adapted", &adapted, &self.old),
            ("old_task_full", &full, &self.old),
        ] {
            let accuracy = self.accuracy(network, set);
            point(run, name, self.step, accuracy);
        }
    }

    /// The largest difference between the outputs with adapters beside the weights and those with them merged, over the
    /// largest output: they are logits of any size, and what floats round grows with it.
    fn merge_difference(&self, adapted: &Network, apart: &Apart) -> f64 {
        let merged = apart.merged(&self.targets, self.setup.scale());
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
            Inputs::Numbers(x) => beside(adapted, x, activation),
            Inputs::Tokens(x) => adapted.forward(x, activation),
        };
        let merged = merged.forward(inputs, activation);
        let most = |of: Tensor<2>| f64::from(of.abs().max().into_scalar::<f32>());
        most(apart - merged.clone()) / most(merged).max(f64::MIN_POSITIVE)
    }

    /// Both networks as they are.
    pub(super) fn networks(&self) -> [Network; 2] {
        [self.adapted.network(), self.full.network()]
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn done(&self) -> u64 {
        self.step
    }

    fn has_next(&self) -> bool {
        self.step < self.knobs.steps
    }

    fn diverged(&self) -> bool {
        self.divergence.is_some()
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        Knobs::read(params)
    }

    fn turn(&mut self, _: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.knobs = knobs;
        self.ceilings.iter_mut().for_each(Ceiling::begin_anew);
        Ok(())
    }

    /// One step of both networks on the same examples.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let activation = self.trained.activation;
        let knobs = self.knobs.training(&self.setup.recipe, activation);
        self.step += 1;
        let trainers = [&mut self.adapted, &mut self.full];
        for ((trainer, ceiling), name) in
            trainers.into_iter().zip(&mut self.ceilings).zip(["loss", "loss_full"])
        {
            let step = trainer.step(&self.tasks.train, &knobs, Measuring::Nothing);
            let loss = f64::from(step.loss.into_scalar::<f32>());
            point(run, name, self.step, loss);
            self.divergence = self.divergence.or(ceiling.judge(loss));
        }
        if let Some(what) = self.divergence {
            let reason = divergence::at_rate(what, self.knobs.learning_rate);
            run.sink.report(Report::Diverged { step: self.step, reason });
        }
        let is_due = self.step == 1 || self.step.is_multiple_of(RECORDED);
        if is_due || self.step == self.knobs.steps {
            self.record(run);
        }
        if self.step.is_multiple_of(PICTURED) {
            self.draw(run, Moment::Running)?;
        }
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        let at = (self.step, moment);
        stepped::draw(run, at, &pictures::ALL, |_, make| make(self));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        self.record(run);
        let [adapted, full] = [self.adapted.network(), self.full.network()];
        let apart = Apart::read(&adapted);
        let off = self.trained.network_of(&apart.base, &self.device);
        run.scalar("old_accuracy_adapter_off", self.accuracy(&off, &self.old));
        run.scalar("old_accuracy_full", self.accuracy(&full, &self.old));
        let changed = changed(&self.kept.row, &apart.base);
        run.scalar("base_weights_changed", changed as i64);
        let off_by = self.merge_difference(&adapted, &apart);
        // Of a run that diverged there is none.
        if off_by.is_finite() {
            run.scalar("merge_difference", off_by);
        }
        let scale = self.setup.scale();
        let merged = apart.merged(&self.targets, scale);
        let back = apart.with_products(&merged, &self.targets, -scale);
        let pairs = back.iter().zip(&apart.base);
        let off = pairs.fold(0.0_f64, |most, (a, b)| most.max(f64::from(*a - *b).abs()));
        run.scalar("unmerge_difference", off);
        self.draw(run, Moment::Final)
    }
}

/// Classes that are guessed among.
fn guesses(trained: &Trained) -> usize {
    let last = trained.layers().pop();
    last.map_or(2, |layer| layer.outputs)
}

/// A rank above what a matrix can have is no mistake, but it buys nothing.
fn tell_of_ranks(run: &mut Run<'_>, setup: &Setup, targets: &[Layer]) {
    let thin = targets.iter().find(|layer| setup.rank > layer.inputs.min(layer.outputs));
    if let Some(layer) = thin {
        let most = layer.inputs.min(layer.outputs);
        let said = format!(
            "rank {} is more than {} can have: a matrix of {} x {} has rank {most} at most, and A and B above that learn nothing more",
            setup.rank, layer.what, layer.inputs, layer.outputs
        );
        run.sink.report(Report::Notice(said));
    }
}
