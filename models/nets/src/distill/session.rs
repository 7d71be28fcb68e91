//! A run from opening the device to the last report.

use std::time::Instant;

use mlsys_lab::control::Turn;
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run, Schema, Value};

use super::pictures::{self, Fresh, Pictured};
use super::setup::{self, CLASSES, Knobs, Setup};
use super::student::{Lesson, Shown, Student};
use crate::baseline::{self, Trained};
use crate::data::{self, Examples};
use crate::device;
use crate::divergence::{self, Ceiling};
use crate::nets::Network;
use crate::parallel::knobs;
use crate::train::{EvaluationSet, unusable};

/// Steps between two values of every series.
const RECORDED: u64 = 10;

/// Runs the lab.
pub(super) fn run(schema: &Schema, run: &mut Run<'_>) -> Result<(), LabError> {
    let Some(mut session) = Session::open(run)? else {
        return Ok(());
    };
    session.report_sizes(run);
    session.report_targets(run);
    session.draw(run, Moment::Final);
    while !session.diverged && session.step < session.knobs.steps {
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
    Ok(())
}

struct Session {
    setup: Setup,
    knobs: Knobs,
    params: Params,
    teacher_accuracy: f64,
    shown: Shown,
    fresh: Fresh,
    distilled: Student,
    label_only: Student,
    /// Of the distilled student's loss and of the other's.
    ceilings: [Ceiling; 2],
    diverged: bool,
    step: u64,
    recorded: u64,
    started: Instant,
}

impl Session {
    /// None if the run was stopped while the teacher was trained.
    fn open(run: &mut Run<'_>) -> Result<Option<Self>, LabError> {
        let started = Instant::now();
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        let device = device::open(run.device)?;
        let Some(teacher) = baseline::obtain(run, &setup.teacher)? else {
            return Ok(None);
        };
        let network = teacher.network(&device);
        let learned = teacher.data()?.train;
        let Examples::Labelled(learned) = learned else {
            return Err(LabError::Data("digits are no sequence".to_owned()));
        };
        let transfer = setup::shown(&learned, setup.missing, setup.transfer);
        let shown = Shown {
            labelled: setup::shown(&learned, setup.missing, setup.labelled),
            logits: EvaluationSet::new(&transfer, &device).logits(&network, teacher.activation),
            transfer,
        };
        let fresh = Self::fresh(&teacher, &network, &device, setup.missing)?;
        let judged = fresh.set.judge(&network, teacher.activation);
        Ok(Some(Self {
            teacher_accuracy: judged.accuracy,
            distilled: Student::new(&setup, &shown, run.device, &device),
            label_only: Student::new(&setup, &shown, run.device, &device),
            fresh,
            shown,
            params: run.params.clone(),
            setup,
            knobs,
            ceilings: [(); 2].map(|()| Ceiling::new((CLASSES as f64).ln())),
            diverged: false,
            step: 0,
            recorded: 0,
            started,
        }))
    }

    /// Images that neither teacher nor students have seen.
    fn fresh(
        teacher: &Trained,
        network: &Network,
        device: &burn::tensor::Device,
        missing: Option<i32>,
    ) -> Result<Fresh, LabError> {
        const COUNT: usize = 1000;
        let examples = data::fresh(&teacher.data, COUNT).map_err(unusable)?;
        let set = EvaluationSet::new(&examples, device);
        let Examples::Labelled(examples) = examples else {
            return Err(LabError::Data("digits are no sequence".to_owned()));
        };
        let logits = set.logits(network, teacher.activation);
        Ok(Fresh::new(set, examples, logits, missing))
    }

    fn apply(&mut self, schema: &Schema, run: &mut Run<'_>, changes: Vec<(String, Value)>) {
        let before = self.knobs;
        let params = &mut self.params;
        if let Some(knobs) = knobs::turn(schema, run, params, self.step, changes, Knobs::read) {
            self.knobs = knobs;
            // Another temperature or share is another loss.
            self.ceilings.iter_mut().for_each(Ceiling::begin_anew);
            if before.temperature != knobs.temperature {
                self.report_targets(run);
            }
        }
    }

    fn report_sizes(&self, run: &mut Run<'_>) {
        let teacher = self.setup.teacher.architecture.parameters();
        let student = self.setup.student.parameters();
        run.scalar("teacher_accuracy", self.teacher_accuracy);
        run.scalar("teacher_parameters", teacher as i64);
        run.scalar("student_parameters", student as i64);
        run.scalar("size_ratio", teacher as f64 / student as f64);
    }

    /// What the temperature makes of the teacher's answers.
    fn report_targets(&self, run: &mut Run<'_>) {
        let rows = self.shown.logits.chunks(CLASSES);
        let count = rows.len().max(1);
        let entropies = rows.map(|row| {
            let p = pictures::softened(row, self.knobs.temperature);
            let terms = p.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln());
            terms.sum::<f64>()
        });
        run.scalar("target_entropy", entropies.sum::<f64>() / count as f64);
    }

    /// One step of both students, with everything that is due after it.
    fn advance(&mut self, run: &mut Run<'_>) {
        let (shown, knobs) = (&self.shown, &self.knobs);
        let taught = self.distilled.step(shown, Lesson::Teacher, knobs);
        let alone = self.label_only.step(shown, Lesson::Labels, knobs);
        self.step += 1;
        let step = self.step;
        let [of_taught, of_alone] = &mut self.ceilings;
        if let Some(what) = of_taught.judge(taught).or(of_alone.judge(alone)) {
            self.diverged = true;
            run.sink.report(Report::Diverged {
                step,
                reason: divergence::at_rate(what, self.knobs.learning_rate),
            });
            return;
        }
        if step == 1 || step.is_multiple_of(RECORDED) || step == self.knobs.steps {
            self.record(run);
        }
        self.draw(run, Moment::Running);
    }

    /// Reports every series.
    fn record(&mut self, run: &mut Run<'_>) {
        let step = self.step;
        self.recorded = step;
        let mut point = |name: &str, value: Option<f64>| {
            if let Some(value) = value {
                run.sink.report(Report::Point {
                    name: name.into(),
                    step,
                    value,
                });
            }
        };
        let taught = self.fresh.judge(&self.distilled.network());
        let alone = self.fresh.judge(&self.label_only.network());
        point("student_accuracy", Some(taught.accuracy));
        point("label_only_accuracy", Some(alone.accuracy));
        point("missing_class_accuracy", taught.missing);
        point("label_only_missing_class_accuracy", alone.missing);
    }

    fn draw(&self, run: &mut Run<'_>, moment: Moment) {
        let pictured = Pictured {
            fresh: &self.fresh,
            distilled: &self.distilled,
            label_only: &self.label_only,
            temperature: self.knobs.temperature,
        };
        for (panel, make) in pictures::ALL {
            if run.sink.wants_frame(panel, moment) {
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
    fn finish(mut self, run: &mut Run<'_>) {
        if !self.diverged && self.recorded < self.step {
            self.record(run);
        }
        if !self.diverged {
            self.draw(run, Moment::Final);
        }
        run.scalar("steps_done", self.step as i64);
        run.scalar("diverged", self.diverged);
        run.scalar("wall_seconds", self.started.elapsed().as_secs_f64());
    }
}
