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

    /// The knobs as parameters give them; an error if they contradict one another or exceed the memory.
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
        self.checks[index].judge(loss)
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
    // Both, whether or not the first fails.
    session.finish(run).and(session.draw(run, FrameTrigger::Final))
}

/// Turns knobs one by one and reports each. A knob that contradicts the others or exceeds the memory keeps its value, and
/// a notice says why: a run does not end because a knob passed through a value that it cannot have.
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
                let why = if let LabError::Failed { reason, .. } = error {
                    reason
                } else {
                    error.to_string()
                };
                run.sink.report(Report::Notice(format!("{name} stays what it was: {why}")));
            }
        }
    }
    let Some(knobs) = turned else { return Ok(()) };
    session.steps().begin_anew();
    session.turn(run, knobs)
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
    use super::*;
    use crate::trial::{Then, answered, try_run, turned};
    use mlsys_distributed::transport::CommError;
    use mlsys_lab::control::StopReason;

    #[derive(Default)]
    struct Counting {
        steps: Steps,
        wanted: u64,
        is_broken: bool,
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
            let steps = params.size("steps")? as u64;
            let wrong = LabError::contradiction(["steps"], "7 cannot be");
            if steps == 7 { Err(wrong) } else { Ok(steps) }
        }

        fn turn(&mut self, _: &mut Run<'_>, steps: u64) -> Result<(), StepError> {
            self.wanted = steps;
            Ok(())
        }

        fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
            if self.is_broken {
                return Err(CommError::Failed("gave no numbers".to_owned()).into());
            }
            point(run, "loss", self.steps.done + 1, 1.0);
            if run.control.interrupted() {
                return Err(StepError::Stopped);
            }
            self.steps.done += 1;
            Ok(())
        }

        fn draw(&mut self, _: &mut Run<'_>, _: FrameTrigger) -> Result<(), StepError> {
            Ok(())
        }

        fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
            assert!(!self.is_broken, "a failed run has no results");
            run.scalar("finished_after", self.steps.done as i64);
            Ok(())
        }
    }

    fn counting(is_broken: bool) -> LiveLab {
        let open = move |run: &mut Run<'_>| {
            run.status("opening");
            let stopped = run.control.interrupted().then_some(StepError::Stopped);
            stopped.map_or(Ok(Counting { wanted: 5, is_broken, ..Counting::default() }), Err)
        };
        let schema = include_str!("mixed_precision/lab.toml");
        LiveLab::new(schema, move |schema, run| super::run(schema, run, open)).unwrap()
    }

    #[test]
    fn an_invalid_knob_keeps_its_value() {
        let knobs = [7, 2].map(|steps| (2, "steps", Value::Int(steps)));
        let data = turned(&counting(false), &[], &knobs);
        assert!(data.notices[0].starts_with("steps stays what it was"));
        assert_eq!(data.changes.len(), 1);
        assert_eq!(data.metric("steps_done"), Some(Value::Int(2)));
        assert_eq!(data.metric("diverged"), Some(Value::Bool(false)));
    }

    #[test]
    fn stopping_is_no_failure() {
        let stopped = |is_due: fn(&Report) -> bool| {
            answered(&counting(false), &[], |of| if is_due(of) { Then::Stop } else { Then::On })
        };
        let (data, reason) = stopped(|of| matches!(of, Report::Point { step: 4, .. }));
        let (unopened, unopened_reason) = stopped(|of| matches!(of, Report::Status(_)));
        assert_eq!([reason, unopened_reason], [Some(StopReason::Asked); 2]);
        assert_eq!(data.metric("finished_after"), Some(Value::Int(3)));
        assert_eq!(unopened.metric("finished_after"), None);
    }

    #[test]
    fn a_device_without_results_fails_the_run() {
        let error = try_run(&counting(true), &[]).unwrap_err();
        assert_eq!(error.to_string(), "the run failed on cpu: the run gave no numbers");
    }
}
