//! The loop of every stepped lab: pause, knobs, divergence, cadence of records and pictures, the last reports.
//!
//! A lab is a [`SteppedLab`] made by the function that [`LiveLab::stepped`] is given. It holds a [`Steps`], counts
//! [`Steps::done`] up in [`SteppedLab::advance`] and calls [`Steps::judge`] with the step's losses there. The loop then
//! does the rest:
//!
//! - it asks the run's control before each step, and ends the run when it is stopped, has diverged, or has no next step;
//! - a knob goes through [`SteppedLab::read`] to [`SteppedLab::turn`], or keeps its value where it contradicts the others;
//!   after a turn the divergence checks begin anew;
//! - [`SteppedLab::record`] is called after the first step, every [`SteppedLab::RECORD_EVERY`] steps, after the last one,
//!   and at the end of a run that was stopped in between;
//! - [`SteppedLab::draw`] is called after a step, unless drawing would slow the run by more than a third, when a picture
//!   is asked for, and at the end;
//! - [`SteppedLab::finish`] reports what is known only at the end; the loop adds `steps_done`, `diverged` and
//!   `wall_seconds`.

use serde::de::DeserializeOwned;
use std::time::{Duration, Instant};

use mlsys_lab::control::NextStep;
use mlsys_lab::report::{Change, FrameTrigger, Report};
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Schema, Tables, Value};
use mlsys_nn::divergence::DivergenceCheck;

pub(crate) use mlsys_distributed::StepError;

pub struct LiveLab {
    schema: Schema,
    run: Box<RunFn>,
}

type RunFn = dyn Fn(&Schema, &mut Run<'_>) -> Result<(), LabError> + Send + Sync;

impl LiveLab {
    /// A lab with a loop of its own.
    pub(crate) fn new(
        schema: &str,
        run: impl Fn(&Schema, &mut Run<'_>) -> Result<(), LabError> + Send + Sync + 'static,
    ) -> Result<Self, SchemaError> {
        Ok(Self { schema: Schema::parse(schema)?, run: Box::new(run) })
    }

    /// A lab that goes in steps from what `open` prepares.
    pub(crate) fn stepped<S: SteppedLab + 'static>(
        schema: &str,
        open: fn(&mut Run<'_>) -> Result<S, StepError>,
    ) -> Result<Self, SchemaError> {
        Self::new(schema, move |schema, run| self::run(schema, run, open))
    }

    /// This lab, if its schema has the parameters that `P` reads and `P` has all their options.
    pub(crate) fn reading<P: DeserializeOwned>(self) -> Result<Self, SchemaError> {
        Ok(Self { schema: self.schema.fits::<P>()?, ..self })
    }
}

impl Lab for LiveLab {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        (self.run)(&self.schema, run)
    }
}

/// A run that is ready for its first step; the [module](self) says when each method is called.
pub(crate) trait SteppedLab {
    /// What may be turned in mid-run.
    type Knobs;

    /// Steps between two records.
    const RECORD_EVERY: u64 = u64::MAX;

    fn steps(&mut self) -> &mut Steps;

    fn has_next(&self) -> bool;

    /// The knobs as parameters give them.
    ///
    /// # Errors
    /// If they contradict one another, or memory cannot hold what they ask for.
    fn read(&self, params: &Params) -> Result<Self::Knobs, LabError>;

    /// Takes new knobs, which apply from the next step.
    fn turn(&mut self, run: &mut Run<'_>, knobs: Self::Knobs) -> Result<(), StepError>;

    /// Does one step, and reports what every step has.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError>;

    /// Reports the series that do not have a value every step.
    fn record(&mut self, _: &mut Run<'_>) -> Result<(), StepError> {
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, trigger: FrameTrigger) -> Result<(), StepError>;

    /// Reports what is known only at the end, however the run ended.
    fn finish(&mut self, _: &mut Run<'_>) -> Result<(), StepError> {
        Ok(())
    }
}

/// Drawing pauses for this multiple of the time that the last drawing took.
const DRAWING: u32 = 3;

/// How far a run is, and whether it has diverged.
#[derive(Default)]
pub(crate) struct Steps {
    pub(crate) done: u64,
    checks: Vec<DivergenceCheck>,
    divergence: Option<&'static str>,
    /// Steps done at the last record.
    recorded: u64,
    /// When pictures were last drawn, and how long that took.
    drawn: Option<(Instant, Duration)>,
}

impl Steps {
    /// No step done, with a check for each loss that [`Self::judge`] will be given.
    pub(crate) fn new(checks: impl IntoIterator<Item = DivergenceCheck>) -> Self {
        Self { checks: checks.into_iter().collect(), ..Self::default() }
    }

    /// Why the run has diverged, if it has.
    pub(crate) fn divergence(&self) -> Option<&'static str> {
        self.divergence
    }

    /// See [`DivergenceCheck::begin_anew`].
    pub(crate) fn begin_anew(&mut self) {
        self.checks.iter_mut().for_each(DivergenceCheck::begin_anew);
    }

    /// Ends the run with `reason` if one of the losses means that it has diverged, or if its weights are `broken`.
    pub(crate) fn judge(
        &mut self,
        run: &mut Run<'_>,
        losses: &[f64],
        broken: Option<&'static str>,
        reason: impl FnOnce(&'static str) -> String,
    ) {
        let verdicts = self.checks.iter_mut().zip(losses).map(|(check, loss)| check.judge(*loss));
        // Every check must see its loss.
        let verdict = verdicts.fold(None, Option::or);
        if let Some(what) = verdict.or(broken) {
            self.diverge(run, self.done, what, reason(what));
        }
    }

    /// Why the loss of that index means that the run has diverged, if it does.
    pub(crate) fn judge_loss(&mut self, index: usize, loss: f64) -> Option<&'static str> {
        self.checks.get_mut(index)?.judge(loss)
    }

    /// Ends the run, once: at this step it was found that it has diverged.
    pub(crate) fn diverge(
        &mut self,
        run: &mut Run<'_>,
        step: u64,
        what: &'static str,
        reason: String,
    ) {
        if self.divergence.is_none() {
            self.divergence = Some(what);
            run.sink.report(Report::Diverged { step, reason });
        }
    }
}

/// Runs from opening to the last report.
///
/// # Errors
/// If the run failed.
pub(crate) fn run<S: SteppedLab>(
    schema: &Schema,
    run: &mut Run<'_>,
    open: impl FnOnce(&mut Run<'_>) -> Result<S, StepError>,
) -> Result<(), LabError> {
    let started = Instant::now();
    let mut session = match open(run) {
        Ok(session) => session,
        Err(error) => return error.end(run),
    };
    if let Err(error) = take_steps(schema, run, &mut session) {
        error.end(run)?;
    }
    let ended = end(run, &mut session);
    run.scalar("steps_done", session.steps().done as i64);
    run.scalar("diverged", session.steps().divergence.is_some());
    run.scalar("wall_seconds", started.elapsed().as_secs_f64());
    ended.or_else(|error| error.end(run))
}

fn take_steps<S: SteppedLab>(
    schema: &Schema,
    run: &mut Run<'_>,
    session: &mut S,
) -> Result<(), StepError> {
    while session.steps().divergence.is_none() && session.has_next() {
        match run.control.next_step(session.steps().done) {
            NextStep::Go(changes) => {
                turn(schema, run, session, changes)?;
                // A knob may have brought the end nearer.
                if session.has_next() {
                    step(run, session)?;
                }
            }
            NextStep::Redraw(changes) => {
                turn(schema, run, session, changes)?;
                session.draw(run, FrameTrigger::Asked)?;
            }
            NextStep::Stop(_) => break,
        }
    }
    Ok(())
}

fn step<S: SteppedLab>(run: &mut Run<'_>, session: &mut S) -> Result<(), StepError> {
    session.advance(run)?;
    let done = session.steps().done;
    if done == 1 || done.is_multiple_of(S::RECORD_EVERY) || !session.has_next() {
        session.steps().recorded = done;
        session.record(run)?;
    }
    if session.steps().drawn.is_none_or(|(since, cost)| since.elapsed() >= DRAWING * cost) {
        let begun = Instant::now();
        session.draw(run, FrameTrigger::Running)?;
        session.steps().drawn = Some((Instant::now(), begun.elapsed()));
    }
    Ok(())
}

fn end<S: SteppedLab>(run: &mut Run<'_>, session: &mut S) -> Result<(), StepError> {
    let steps = session.steps();
    if steps.divergence.is_none() && steps.recorded < steps.done {
        session.record(run)?;
    }
    let finished = session.finish(run);
    let drawn = session.draw(run, FrameTrigger::Final);
    finished.and(drawn)
}

/// Turns knobs one by one and reports each; what they are now takes effect with the next step. A knob that contradicts the
/// others, or that the memory cannot hold, keeps its value, and a notice says why: a run does not end because a knob
/// passed through a value that it cannot have.
fn turn<S: SteppedLab>(
    schema: &Schema,
    run: &mut Run<'_>,
    session: &mut S,
    changes: Vec<(String, Value)>,
) -> Result<(), StepError> {
    let step = session.steps().done;
    let mut turned = None;
    for (name, value) in changes {
        let mut next = run.params.clone();
        next.turn(schema, Tables::builtin(), &name, value.clone());
        match session.read(&next) {
            Ok(knobs) => {
                run.params = next;
                turned = Some(knobs);
                run.sink.report(Report::Change(Change { step, name, value }));
            }
            Err(error) => {
                let why = if let LabError::Failed { reason, .. } = &error {
                    reason.clone()
                } else {
                    error.to_string()
                };
                run.sink.report(Report::Notice(format!("{name} stays what it was: {why}")));
            }
        }
    }
    if let Some(knobs) = turned {
        session.steps().begin_anew();
        session.turn(run, knobs)?;
    }
    Ok(())
}

/// Reports one value of a series, if there is one.
pub(crate) fn point(run: &mut Run<'_>, name: &str, step: u64, value: impl Into<Option<f64>>) {
    if let Some(value) = value.into() {
        run.sink.report(Report::Point { name: name.into(), step, value });
    }
}

/// Reports a metric that may be missing.
pub(crate) fn known(run: &mut Run<'_>, name: &str, value: Option<f64>) {
    if let Some(value) = value {
        run.scalar(name, value);
    }
}

/// Offers the pictures of the panels; `make` makes those of visible panels, if there is something to see yet.
pub(crate) fn draw<P: Copy, F: Into<Option<Frame>>>(
    run: &mut Run<'_>,
    (step, trigger): (u64, FrameTrigger),
    panels: &[(&str, P)],
    mut make: impl FnMut(&str, P) -> F,
) {
    for &(panel, picture) in panels {
        if run.sink.wants_frame(panel, trigger)
            && let Some(frame) = make(panel, picture).into()
        {
            let panel = panel.into();
            run.sink.report(Report::Frame { panel, step, frame: Box::new(frame) });
        }
    }
    run.sink.frames_done();
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    use mlsys_lab::control::{Command, Limits, StopReason};
    use mlsys_lab::{Control, DeviceId, Lab, RunData};

    use super::*;
    use crate::mixed_precision;
    use crate::trial::{params, turn};
    use mlsys_distributed::transport::CommError;

    #[derive(Default)]
    struct Counting {
        steps: Steps,
        wanted: u64,
        /// Ends the run from outside within the step after this many.
        ended_in: Option<(u64, Arc<AtomicBool>)>,
        broken_in: Option<u64>,
    }

    impl SteppedLab for Counting {
        type Knobs = u64;

        fn steps(&mut self) -> &mut Steps {
            &mut self.steps
        }

        fn has_next(&self) -> bool {
            self.steps.done < self.wanted
        }

        fn read(&self, params: &Params) -> Result<u64, LabError> {
            match params.size("steps")? as u64 {
                7 => Err(LabError::contradiction(["steps"], "7 cannot be")),
                steps => Ok(steps),
            }
        }

        fn turn(&mut self, _: &mut Run<'_>, steps: u64) -> Result<(), StepError> {
            self.wanted = steps;
            Ok(())
        }

        fn advance(&mut self, _: &mut Run<'_>) -> Result<(), StepError> {
            if let Some((step, stop)) = &self.ended_in
                && *step == self.steps.done
            {
                stop.store(true, Ordering::Relaxed);
                return Err(StepError::Stopped);
            }
            if self.broken_in == Some(self.steps.done) {
                return Err(CommError::Failed("gave no numbers".to_owned()).into());
            }
            self.steps.done += 1;
            Ok(())
        }

        fn draw(&mut self, _: &mut Run<'_>, _: FrameTrigger) -> Result<(), StepError> {
            Ok(())
        }

        fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
            run.scalar("finished_after", self.steps.done as i64);
            Ok(())
        }
    }

    fn five() -> Counting {
        Counting { wanted: 5, ..Counting::default() }
    }

    /// What a run of it said, whether it failed, and why it ended early.
    fn ran(
        orders: &[Command],
        open: impl FnOnce(&Arc<AtomicBool>) -> Result<Counting, StepError>,
    ) -> (RunData, Result<(), LabError>, Option<StopReason>) {
        let lab = mixed_precision::lab().unwrap();
        let (sender, receiver) = mpsc::channel();
        for order in orders {
            sender.send(order.clone()).unwrap();
        }
        let stop = Arc::<AtomicBool>::default();
        let mut data = RunData::default();
        let mut run = Run {
            params: params(&lab, &["steps=100"]),
            device: DeviceId::CPU,
            sink: &mut data,
            control: Control::steered(receiver, Limits::default(), Arc::clone(&stop)),
        };
        let ended = super::run(lab.schema(), &mut run, |_| open(&stop));
        let reason = run.control.stop_reason();
        (data, ended, reason)
    }

    #[test]
    fn an_invalid_knob_keeps_its_value() {
        let steps = |value| turn("steps", Value::Int(value));
        let orders = [Command::Pause, Command::Step(2), steps(7), steps(2)];
        let (data, ended, _) = ran(&orders, |_| Ok(five()));
        assert!(ended.is_ok());
        assert!(data.notices[0].starts_with("steps stays what it was"));
        assert_eq!(data.changes.len(), 1);
        assert_eq!(data.metric("steps_done"), Some(Value::Int(2)));
        assert_eq!(data.metric("diverged"), Some(Value::Bool(false)));
    }

    #[test]
    fn stopping_is_no_failure() {
        let (data, ended, reason) =
            ran(&[], |stop| Ok(Counting { ended_in: Some((3, Arc::clone(stop))), ..five() }));
        assert!(ended.is_ok());
        assert_eq!(reason, Some(StopReason::Asked));
        assert_eq!(data.metric("finished_after"), Some(Value::Int(3)));
        let (data, ended, reason) = ran(&[], |stop| {
            stop.store(true, Ordering::Relaxed);
            Err(StepError::Stopped)
        });
        assert!(ended.is_ok());
        assert_eq!(reason, Some(StopReason::Asked));
        assert_eq!(data.metric("finished_after"), None);
    }

    #[test]
    fn a_device_without_results_fails_the_run() {
        let (data, ended, _) = ran(&[], |_| Ok(Counting { broken_in: Some(1), ..five() }));
        let said = ended.unwrap_err().to_string();
        assert_eq!(said, "the run failed on cpu: the run gave no numbers");
        assert_eq!(data.metric("finished_after"), None);
    }
}
