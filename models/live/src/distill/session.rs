//! A run from opening the device to the last report.

use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{LabError, Params, Run};

use super::pictures::{self, Fresh, Pictured};
use super::setup::{self, CLASSES, Knobs, Setup};
use super::student::{Lesson, Shown, Student};
use crate::stepped::{self, StepError, SteppedLab, point};
use mlsys_device as device;
use mlsys_nn::baseline::{self, Trained};
use mlsys_nn::data::{self, Examples};
use mlsys_nn::divergence::{self, Ceiling};
use mlsys_nn::nets::Network;
use mlsys_nn::train::{EvaluationSet, unusable};

/// Steps between two values of every series.
const RECORDED: u64 = 10;

pub(super) struct Session {
    setup: Setup,
    knobs: Knobs,
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
}

impl Session {
    pub(super) fn open(run: &mut Run<'_>) -> Result<Self, StepError> {
        let setup = Setup::read(&run.params)?;
        let knobs = Knobs::read(&run.params)?;
        let device = device::open(run.device)?;
        let teacher = baseline::obtain(run, &setup.teacher)?.ok_or(StepError::Stopped)?;
        let network = teacher.network(&device);
        let learned = teacher.data()?.train;
        let Examples::Labelled(learned) = learned else {
            return Err(LabError::Data("digits are no sequence".to_owned()).into());
        };
        let transfer = setup::shown(&learned, setup.missing, setup.transfer);
        let shown = Shown {
            labelled: setup::shown(&learned, setup.missing, setup.labelled),
            logits: EvaluationSet::new(&transfer, &device).logits(&network, teacher.activation),
            transfer,
        };
        let fresh = Self::fresh(&teacher, &network, &device, setup.missing)?;
        let judged = fresh.set.judge(&network, teacher.activation);
        let mut session = Self {
            teacher_accuracy: judged.accuracy,
            distilled: Student::new(&setup, &shown, run.device, &device),
            label_only: Student::new(&setup, &shown, run.device, &device),
            fresh,
            shown,
            setup,
            knobs,
            ceilings: [(); 2].map(|()| Ceiling::new((CLASSES as f64).ln())),
            diverged: false,
            step: 0,
            recorded: 0,
        };
        session.report_sizes(run);
        session.report_targets(run);
        session.draw(run, Moment::Final)?;
        Ok(session)
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

    /// Reports every series.
    fn record(&mut self, run: &mut Run<'_>) {
        let step = self.step;
        self.recorded = step;
        let mut point = |name: &str, value: Option<f64>| {
            if let Some(value) = value {
                point(run, name, step, value);
            }
        };
        let taught = self.fresh.judge(&self.distilled.network());
        let alone = self.fresh.judge(&self.label_only.network());
        point("student_accuracy", Some(taught.accuracy));
        point("label_only_accuracy", Some(alone.accuracy));
        point("missing_class_accuracy", taught.missing);
        point("label_only_missing_class_accuracy", alone.missing);
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
        self.diverged
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        Knobs::read(params)
    }

    fn turn(&mut self, run: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        let before = std::mem::replace(&mut self.knobs, knobs);
        // Another temperature or share is another loss.
        self.ceilings.iter_mut().for_each(Ceiling::begin_anew);
        if before.temperature != knobs.temperature {
            self.report_targets(run);
        }
        Ok(())
    }

    /// One step of both students.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
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
            return Ok(());
        }
        if step == 1 || step.is_multiple_of(RECORDED) || step == self.knobs.steps {
            self.record(run);
        }
        self.draw(run, Moment::Running)
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: Moment) -> Result<(), StepError> {
        let pictured = Pictured {
            fresh: &self.fresh,
            distilled: &self.distilled,
            label_only: &self.label_only,
            temperature: self.knobs.temperature,
        };
        let at = (self.step, moment);
        stepped::draw(run, at, &pictures::ALL, |_, make| make(&pictured));
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        if self.diverged {
            return Ok(());
        }
        if self.recorded < self.step {
            self.record(run);
        }
        self.draw(run, Moment::Final)
    }
}
