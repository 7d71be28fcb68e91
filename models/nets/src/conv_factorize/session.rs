//! A run: counts, times, then training, a step of every variant in turn.

use std::time::Instant;

use burn::tensor::Device;
use mlsys_lab::control::Turn;
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run, Schema, Value};

use super::form::Form;
use super::measure::Times;
use super::pictures;
use super::setup::{Setup, shrunk};
use crate::baseline::Recipe;
use crate::data::{self, Batches, Examples};
use crate::device;
use crate::divergence::{self, Ceiling};
use crate::nets::{Activation, Initialization, Network};
use crate::parallel::knobs;
use crate::parallel::room::Room;
use crate::train::{Activations, EvaluationSet, Knobs, Measuring, Trainer, unusable};

/// Steps between two looks at the accuracy.
const JUDGED: u64 = 20;

/// Runs the lab.
pub(super) fn run(schema: &Schema, run: &mut Run<'_>) -> Result<(), LabError> {
    let started = Instant::now();
    let setup = Setup::read(&run.params)?;
    Room::of(run.device).must_hold(
        setup.bytes(),
        "these blocks, their batch and its slopes",
        "channels, size or batch_size",
    )?;
    let device = device::open(run.device)?;
    count(run, &setup);
    let times = Times::measure(run, &setup)?;
    report_times(run, &times);
    let mut session = Session::open(run, setup, times, &device)?;
    session.draw(run, Moment::Running);
    while session.divergence.is_none() && session.step < session.setup.steps {
        match run.control.turn(session.step) {
            Turn::Go(changes) => {
                session.apply(schema, run, changes);
                session.advance(run);
            }
            Turn::Redraw(changes) => {
                session.apply(schema, run, changes);
                session.draw(run, Moment::Asked);
            }
            Turn::Stop(_) => break,
        }
    }
    session.finish(run);
    run.scalar("wall_seconds", started.elapsed().as_secs_f64());
    Ok(())
}

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

struct Session {
    setup: Setup,
    /// How each step is done.
    how: Knobs,
    params: Params,
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
    fn open(
        run: &mut Run<'_>,
        setup: Setup,
        times: Times,
        device: &Device,
    ) -> Result<Self, LabError> {
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
        let how = |params: &Params| {
            let mut how = recipe(Form::Standard).knobs();
            how.update.learning_rate = params.float("learning_rate")?;
            Ok::<_, LabError>(how)
        };
        let how = how(&run.params)?;
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
        Ok(Self {
            variants: variants.collect(),
            judged: EvaluationSet::new(&judged, device),
            params: run.params.clone(),
            how,
            setup,
            times,
            train,
            divergence: None,
            step: 0,
            looked: None,
        })
    }

    fn apply(&mut self, schema: &Schema, run: &mut Run<'_>, changes: Vec<(String, Value)>) {
        let rate = |params: &Params| params.float("learning_rate");
        let params = &mut self.params;
        if let Some(rate) = knobs::turn(schema, run, params, self.step, changes, rate) {
            self.how.update.learning_rate = rate;
            for variant in &mut self.variants {
                variant.ceiling.begin_anew();
            }
        }
    }

    /// A step of every variant, on the same batch.
    fn advance(&mut self, run: &mut Run<'_>) {
        self.step += 1;
        for variant in &mut self.variants {
            let step = variant
                .trainer
                .step(&self.train, &self.how, Measuring::Nothing);
            let loss = step.loss.into_data().iter::<f64>().next();
            let loss = loss.unwrap_or(f64::NAN);
            run.sink.report(Report::Point {
                name: format!("loss.{}", variant.form.metric()).into(),
                step: self.step,
                value: loss,
            });
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
        self.draw(run, Moment::Running);
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

    fn draw(&self, run: &mut Run<'_>, moment: Moment) {
        for (panel, picture) in pictures::ALL {
            if run.sink.wants_frame(panel, moment) {
                let networks = || {
                    let variants = self.variants.iter();
                    let variants = variants.map(|x| (x.form, x.trainer.network()));
                    variants.collect::<Vec<(Form, Network)>>()
                };
                let frame = picture(&pictures::Pictured {
                    setup: &self.setup,
                    times: &self.times,
                    networks: &networks,
                });
                run.sink.report(Report::Frame {
                    panel: panel.into(),
                    step: self.step,
                    frame,
                });
            }
        }
        run.sink.frames_done();
    }

    /// The last values and pictures of a run, however it ended.
    fn finish(mut self, run: &mut Run<'_>) {
        if self.step > 0 && self.divergence.is_none() && self.looked != Some(self.step) {
            self.judge(run);
        }
        self.draw(run, Moment::Final);
        run.scalar("steps_done", self.step as i64);
        run.scalar("diverged", self.divergence.is_some());
    }
}
