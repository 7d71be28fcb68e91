//! Runs that go a step at a time: what may come between two steps, and how a run ends.

#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use std::time::Instant;

use mlsys_lab::control::NextStep;
use mlsys_lab::report::{Change, FrameTrigger, Report};
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Schema, Tables, Value};

pub(crate) use mlsys_distributed::StepError;

/// A lab of this crate: its schema, and what runs it.
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

/// A run that is ready for its first step.
pub(crate) trait SteppedLab {
    /// What may be turned in mid-run.
    type Knobs;

    /// Steps done.
    fn done(&self) -> u64;

    /// Whether steps are left.
    fn has_next(&self) -> bool;

    /// Whether it has diverged, and so ends whatever is left.
    fn diverged(&self) -> bool {
        false
    }

    /// The knobs as parameters give them.
    ///
    /// # Errors
    /// If they contradict one another, or memory cannot hold what they ask for: then the one that was turned stays where it
    /// was.
    fn read(&self, params: &Params) -> Result<Self::Knobs, LabError>;

    /// Some were turned; they take effect with the next step.
    fn turn(&mut self, run: &mut Run<'_>, knobs: Self::Knobs) -> Result<(), StepError>;

    /// One step with everything that is due after it.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError>;

    /// Offers all pictures.
    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError>;

    /// The last values and pictures, however the run ended.
    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError>;
}

/// Runs from opening to the last report: steps, and between them pause, knobs and stop.
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
    if let Err(error) = go(schema, run, &mut session) {
        error.end(run)?;
    }
    let finished = session.finish(run);
    run.scalar("steps_done", session.done() as i64);
    run.scalar("diverged", session.diverged());
    run.scalar("wall_seconds", started.elapsed().as_secs_f64());
    finished.or_else(|error| error.end(run))
}

fn go<S: SteppedLab>(schema: &Schema, run: &mut Run<'_>, session: &mut S) -> Result<(), StepError> {
    while !session.diverged() && session.has_next() {
        match run.control.next_step(session.done()) {
            NextStep::Go(changes) => {
                turn(schema, run, session, changes)?;
                // A knob may have brought the end nearer.
                if session.has_next() {
                    session.advance(run)?;
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

/// Turns knobs one by one and reports each; what they are now takes effect with the next step. One that contradicts the
/// others, or that the memory cannot hold, is left where it was, and a notice says why: a run does not end because a knob
/// passed through a value that it cannot have.
fn turn<S: SteppedLab>(
    schema: &Schema,
    run: &mut Run<'_>,
    session: &mut S,
    changes: Vec<(String, Value)>,
) -> Result<(), StepError> {
    let step = session.done();
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
                // Nothing has failed yet: where it would, what stands in the way is the whole of it.
                let why = if let LabError::Failed { reason, .. } = &error {
                    reason.clone()
                } else {
                    error.to_string()
                };
                let said = format!("{name} stays what it was: {why}");
                run.sink.report(Report::Notice(said));
            }
        }
    }
    turned.map_or(Ok(()), |knobs| session.turn(run, knobs))
}

/// Reports one value of a series.
pub(crate) fn point(run: &mut Run<'_>, name: &str, step: u64, value: f64) {
    run.sink.report(Report::Point { name: name.into(), step, value });
}

/// Offers the pictures of the panels; `make` makes those of visible panels, if there is something to see yet.
pub(crate) fn draw<P: Copy, F: Into<Option<Frame>>>(
    run: &mut Run<'_>,
    (step, moment): (u64, FrameTrigger),
    panels: &[(&str, P)],
    mut make: impl FnMut(&str, P) -> F,
) {
    for &(panel, picture) in panels {
        if run.sink.wants_frame(panel, moment)
            && let Some(frame) = make(panel, picture).into()
        {
            let panel = panel.into();
            run.sink.report(Report::Frame { panel, step, frame: Box::new(frame) });
        }
    }
    run.sink.frames_done();
}
