//! A run: counts, times, then training, a step of every variant in turn.

use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run};

use super::form::Form;
use super::measure::Times;
use super::pictures;
use super::setup::{Setup, shrunk};
use crate::stepped::{self, StepError, SteppedLab, point};
use mlsys_device as device;
use mlsys_nn::baseline::Recipe;
use mlsys_nn::data::{self, Batches, Examples};
use mlsys_nn::divergence::{self, Ceiling};
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::nets::{Activation, Initialization, Network};
use mlsys_nn::train::{Activations, EvaluationSet, Knobs, Measuring, Trainer, unusable};

/// Steps between two looks at the accuracy.
const JUDGED: u64 = 20;

/// What formulas say, before anything runs.
fn count(run: &mut Run<'_>, setup: &Setup) {
    let sizes = &setup.sizes;
    let standard = Form::Standard.flops(sizes) as f64;
    for form in &setup.forms {
        let name = form.metric();
        run.scalar(&format!("weights.{name}"), form.weights(sizes) as i64);
        run.scalar(&format!("flops.{name}"), form.flops(sizes) as i64);
        let field = form.receptive_field(sizes) as i64;
        run.scalar(&format!("receptive_field.{name}"), field);
        run.scalar(&format!("intensity.{name}"), form.intensity(sizes));
        let ratio = form.flops(sizes) as f64 / standard;
        run.scalar(&format!("flops_ratio.{name}"), ratio);
    }
}

fn report_times(run: &mut Run<'_>, times: &Times) {
    let standard = times.block(Form::Standard);
    for (form, seconds) in &times.blocks {
        let name = form.metric();
        run.scalar(&format!("seconds.{name}"), *seconds);
        if let Some(standard) = standard {
            run.scalar(&format!("seconds_ratio.{name}"), seconds / standard);
        }
    }
}

/// A classifier with one of the blocks.
struct Variant {
    form: Form,
    trainer: Trainer,
    ceiling: Ceiling,
}

pub(super) struct Session {
    setup: Setup,
    /// How each step is done.
    how: Knobs,
    times: Times,
    variants: Vec<Variant>,
    train: Examples,
    judged: EvaluationSet,
    divergence: Option<&'static str>,
    step: u64,
    /// The step after which accuracy was looked at last.
    looked: Option<u64>,
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        MemoryBudget::of(run.device).require(
            setup.bytes(),
            "these blocks, their batch and its slopes",
            "channels, size or batch_size",
        )?;
        let device = device::open(run.device)?;
        count(run, &setup);
        let times = Times::measure(run, &setup)?;
        report_times(run, &times);
        let data = data::load(&setup.data()).map_err(unusable)?;
        let train = shrunk(&data.train, setup.sizes.size);
        let judged = shrunk(&data.held_out, setup.sizes.size);
        let recipe = |form: Form| Recipe {
            data: setup.data(),
            architecture: setup.architecture(form),
            activation: Activation::Relu,
            learning_rate: 0.0,
            batch_size: setup.batch_size,
            steps: setup.steps,
            seed: setup.seed,
        };
        let mut how = recipe(Form::Standard).knobs();
        how.update.learning_rate = run.params.float("learning_rate")?;
        let learning = device.clone().autodiff();
        let variants = setup.forms.iter().map(|&form| {
            let architecture = setup.architecture(form);
            let network = architecture.init(Initialization::He, setup.seed, &learning);
            // The same examples in the same order for all.
            let batches = Batches::new(setup.seed, train.len());
            let place = (run.device, learning.clone());
            Variant {
                form,
                trainer: Trainer::new(network, &how, batches, place, Activations::Kept),
                ceiling: Ceiling::new(10_f64.ln()),
            }
        });
        let mut session = Self {
            variants: variants.collect(),
            judged: EvaluationSet::new(&judged, &device),
            how,
            setup,
            times,
            train,
            divergence: None,
            step: 0,
            looked: None,
        };
        session.draw(run, Moment::Running)?;
        Ok(session)
    }

    /// How many fresh digits each variant reads right.
    fn judge(&mut self, run: &mut Run<'_>) {
        self.looked = Some(self.step);
        for variant in &self.variants {
            let network = variant.trainer.network();
            let accuracy = self.judged.judge(&network, Activation::Relu).accuracy;
            run.scalar(&format!("accuracy.{}", variant.form.metric()), accuracy);
        }
    }
}

impl SteppedLab for Session {
    /// The learning rate.
    type Knobs = f64;

    fn done(&self) -> u64 {
        self.step
    }

    fn has_next(&self) -> bool {
        self.step < self.setup.steps
    }

    fn diverged(&self) -> bool {
        self.divergence.is_some()
    }

    fn read(&self, params: &Params) -> Result<f64, LabError> {
        params.float("learning_rate")
    }

    fn turn(&mut self, _: &mut Run<'_>, rate: f64) -> Result<(), StepError> {
        self.how.update.learning_rate = rate;
        for variant in &mut self.variants {
            variant.ceiling.begin_anew();
        }
        Ok(())
    }

    /// A step of every variant, on the same batch.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        self.step += 1;
        for variant in &mut self.variants {
            let step = variant.trainer.step(&self.train, &self.how, Measuring::Nothing);
            let loss = step.loss.into_data().iter::<f64>().next();
            let loss = loss.unwrap_or(f64::NAN);
            let name = format!("loss.{}", variant.form.metric());
            point(run, &name, self.step, loss);
            if let Some(what) = variant.ceiling.judge(loss) {
                self.divergence = Some(what);
                let reason = format!(
                    "{}: {}",
                    variant.form.name(),
                    divergence::at_rate(what, self.how.update.learning_rate)
                );
                let step = self.step;
                run.sink.report(Report::Diverged { step, reason });
                break;
            }
        }
        if self.step.is_multiple_of(JUDGED) {
            self.judge(run);
        }
        self.draw(run, Moment::Running)
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        let networks = || {
            let variants = self.variants.iter();
            let variants = variants.map(|x| (x.form, x.trainer.network()));
            variants.collect::<Vec<(Form, Network)>>()
        };
        let pictured =
            pictures::Pictured { setup: &self.setup, times: &self.times, networks: &networks };
        let at = (self.step, moment);
        stepped::draw(run, at, &pictures::ALL, |_, make| make(&pictured));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.step > 0 && self.divergence.is_none() && self.looked != Some(self.step) {
            self.judge(run);
        }
        self.draw(run, Moment::Final)
    }
}
