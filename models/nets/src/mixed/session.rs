//! A run from opening the device to the last report.

use std::time::Instant;

use mlsys_lab::control::Turn;
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{DeviceId, LabError, Params, Run, Schema, Value};

use super::learner::{Judged, Learner, Tally};
use super::pictures;
use super::setup::{Knobs, Numbers, Setup};
use crate::data::{self, Data};
use crate::device;
use crate::divergence::{self, Ceiling};
use crate::parallel::knobs;
use crate::parallel::wire::Trouble;

/// Steps between two values of every series but the losses.
const RECORDED: u64 = 10;

/// Runs the lab.
pub(super) fn run(schema: &Schema, run: &mut Run<'_>) -> Result<(), LabError> {
    let id = run.device;
    let failed = |trouble| failed(id, trouble);
    let mut session = Session::open(run)?;
    session.report_sizes(run);
    while session.divergence.is_none() && session.step < session.knobs.steps {
        match run.control.turn(session.step) {
            Turn::Go(changes) => {
                session.apply(schema, run, changes);
                session.advance(run).map_err(failed)?;
            }
            Turn::Redraw(changes) => {
                session.apply(schema, run, changes);
                session.draw(run, Moment::Asked);
            }
            Turn::Stop(_) => break,
        }
    }
    session.finish(run).map_err(failed)
}

fn failed(device: DeviceId, trouble: Trouble) -> LabError {
    let reason = match trouble {
        Trouble::Failed(what) => format!("the run {what}"),
        // There is one worker here, and it waits for nobody.
        Trouble::Late { .. } | Trouble::Gone { .. } | Trouble::Wrong { .. } | Trouble::Aborted => {
            "the run was ended".to_owned()
        }
    };
    LabError::Failed { device, reason }
}

struct Session {
    setup: Setup,
    knobs: Knobs,
    params: Params,
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
    started: Instant,
}

impl Session {
    fn open(run: &mut Run<'_>) -> Result<Self, LabError> {
        let started = Instant::now();
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        let device = device::open(run.device)?;
        let data = data::load(&setup.data).map_err(|error| LabError::Data(error.to_string()))?;
        let failed = |trouble| failed(run.device, trouble);
        Ok(Self {
            judged: Judged::new(&data, &device),
            learner: Learner::new(&setup, &data, &device).map_err(failed)?,
            reference: Learner::new(&setup, &data, &device).map_err(failed)?.wide(),
            ceiling: Ceiling::new((setup.sizes.outputs as f64).ln()),
            params: run.params.clone(),
            setup,
            knobs,
            data,
            divergence: None,
            step: 0,
            recorded: 0,
            all: Tally::default(),
            told: Tally::default(),
            started,
        })
    }

    fn apply(&mut self, schema: &Schema, run: &mut Run<'_>, changes: Vec<(String, Value)>) {
        let params = &mut self.params;
        if let Some(knobs) = knobs::turn(schema, run, params, self.step, changes, Knobs::read) {
            self.knobs = knobs;
            self.ceiling.begin_anew();
            self.report_sizes(run);
        }
    }

    /// What the formats alone decide.
    fn report_sizes(&self, run: &mut Run<'_>) {
        let numbers = &self.knobs.numbers;
        let bytes = numbers.bytes_per_parameter(self.setup.rule);
        run.scalar("bytes_per_parameter", bytes);
        run.scalar("smallest_step_at_one", numbers.weights.spacing(1.0));
        run.scalar("smallest_positive", numbers.gradients.smallest());
    }

    /// One step of both runs, with everything that is due after it.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), Trouble> {
        let examples = &self.data.train;
        let loss = self.learner.step(examples, &self.knobs, &mut self.all)?;
        let wide = Knobs {
            numbers: Numbers::WIDE,
            ..self.knobs
        };
        let reference = self
            .reference
            .step(examples, &wide, &mut Tally::default())?;
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
        self.draw(run, Moment::Running);
        Ok(())
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
        run.sink.report(Report::Diverged {
            step: self.step,
            reason,
        });
    }

    /// Reports every series that has a value each [`RECORDED`] steps.
    fn record(&mut self, run: &mut Run<'_>) -> Result<(), Trouble> {
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
            (
                "underflow_fraction",
                all.underflows - told.underflows,
                gradients,
            ),
            (
                "overflow_fraction",
                all.overflows - told.overflows,
                gradients,
            ),
        ] {
            if of > 0 {
                point(run, name, step, some as f64 / of as f64);
            }
        }
        self.told = all;
        Ok(())
    }

    fn draw(&self, run: &mut Run<'_>, moment: Moment) {
        let pictured = pictures::Pictured {
            learner: &self.learner,
            reference: &self.reference,
            knobs: &self.knobs,
        };
        for (panel, make) in pictures::ALL {
            if self.step > 0 && run.sink.wants_frame(panel, moment) {
                let frame = make(&pictured);
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
    fn finish(mut self, run: &mut Run<'_>) -> Result<(), Trouble> {
        if self.divergence.is_none() && self.recorded < self.step {
            self.record(run)?;
        }
        self.draw(run, Moment::Final);
        run.scalar("steps_done", self.step as i64);
        run.scalar("diverged", self.divergence.is_some());
        run.scalar("wall_seconds", self.started.elapsed().as_secs_f64());
        Ok(())
    }
}

fn point(run: &mut Run<'_>, name: &str, step: u64, value: f64) {
    run.sink.report(Report::Point {
        name: name.into(),
        step,
        value,
    });
}
