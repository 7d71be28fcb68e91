//! A run from opening the device to the last report.

use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run};

use super::learner::{Judged, Learner, Tally};
use super::pictures;
use super::setup::{Knobs, Numbers, Setup};
use crate::stepped::{self, StepError, SteppedLab, point};
use mlsys_device as device;
use mlsys_nn::data::{self, Data};
use mlsys_nn::divergence::{self, Ceiling};

/// Steps between two values of every series but the losses.
const RECORDED: u64 = 10;

pub(super) struct Session {
    setup: Setup,
    knobs: Knobs,
    data: Data,
    judged: Judged,
    learner: Learner,
    /// The same run in 32 bits throughout.
    reference: Learner,
    ceiling: Ceiling,
    divergence: Option<&'static str>,
    step: u64,
    recorded: u64,
    /// Since the beginning.
    all: Tally,
    /// Up to what was recorded last.
    told: Tally,
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        let device = device::open(run.device)?;
        let data = data::load(&setup.data).map_err(|error| LabError::Data(error.to_string()))?;
        let session = Self {
            judged: Judged::new(&data, &device),
            learner: Learner::new(&setup, &data, &device)?,
            reference: Learner::new(&setup, &data, &device)?.wide(),
            ceiling: Ceiling::new((setup.sizes.outputs as f64).ln()),
            setup,
            knobs,
            data,
            divergence: None,
            step: 0,
            recorded: 0,
            all: Tally::default(),
            told: Tally::default(),
        };
        session.report_sizes(run);
        Ok(session)
    }

    /// What the formats alone decide.
    fn report_sizes(&self, run: &mut Run<'_>) {
        let numbers = &self.knobs.numbers;
        let bytes = numbers.bytes_per_parameter(self.setup.rule);
        run.scalar("bytes_per_parameter", bytes);
        run.scalar("smallest_step_at_one", numbers.weights.spacing(1.0));
        run.scalar("smallest_positive", numbers.gradients.smallest());
    }

    fn diverge(&mut self, run: &mut Run<'_>, what: &'static str) {
        self.divergence = Some(what);
        let overflows = self.all.overflows;
        let reason = if overflows > 0 {
            format!(
                "{what}: {overflows} gradients were too large for {}; a smaller loss_scale keeps them in its range",
                self.knobs.numbers.gradients.name()
            )
        } else {
            divergence::at_rate(what, self.knobs.learning_rate)
        };
        run.sink.report(Report::Diverged { step: self.step, reason });
    }

    /// Reports every series that has a value each [`RECORDED`] steps.
    fn record(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let step = self.step;
        self.recorded = step;
        let accuracy = self.learner.accuracy(&self.judged, &self.knobs.numbers)?;
        point(run, "accuracy", step, accuracy);
        let reference = self.reference.accuracy(&self.judged, &Numbers::WIDE)?;
        point(run, "reference_accuracy", step, reference);
        let (all, told) = (self.all, self.told);
        let gradients = all.gradients - told.gradients;
        for (name, some, of) in [
            ("stalled_update_fraction", all.stalled, all.updates),
            ("underflow_fraction", all.underflows - told.underflows, gradients),
            ("overflow_fraction", all.overflows - told.overflows, gradients),
        ] {
            if of > 0 {
                point(run, name, step, some as f64 / of as f64);
            }
        }
        self.told = all;
        Ok(())
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

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.knobs = knobs;
        self.ceiling.begin_anew();
        self.report_sizes(run);
        Ok(())
    }

    /// One step of both runs.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let examples = &self.data.train;
        let loss = self.learner.step(examples, &self.knobs, &mut self.all)?;
        let wide = Knobs { numbers: Numbers::WIDE, ..self.knobs };
        let reference = self.reference.step(examples, &wide, &mut Tally::default())?;
        self.step += 1;
        let step = self.step;
        point(run, "loss", step, loss);
        point(run, "reference_loss", step, reference);
        let broken = divergence::of_weights(self.learner.weights());
        if let Some(what) = self.ceiling.judge(loss).or(broken) {
            self.diverge(run, what);
        }
        if step == 1 || step.is_multiple_of(RECORDED) || step == self.knobs.steps {
            self.record(run)?;
        }
        self.draw(run, Moment::Running)
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        let pictured = pictures::Pictured {
            learner: &self.learner,
            reference: &self.reference,
            knobs: &self.knobs,
        };
        // Before the first step there is nothing to see.
        let panels = if self.step > 0 { &pictures::ALL[..] } else { &[] };
        stepped::draw(run, (self.step, moment), panels, |_, make| make(&pictured));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.divergence.is_none() && self.recorded < self.step {
            self.record(run)?;
        }
        self.draw(run, Moment::Final)
    }
}
