//! How a run ended, a panic included, and the exit code for it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mlsys_lab::LabError;
use mlsys_lab::control::StopReason;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::report::{FrameTrigger, Report, RunData, Sink};

use crate::process::{self, Exit, Loss};

#[derive(Debug)]
pub enum Outcome {
    /// It did all its steps.
    Finished,
    /// It ended by itself because it had diverged, at this step and for this reason.
    Diverged(u64, String),
    /// It was stopped before its last step.
    Stopped(StopReason),
    Failed(LabError),
    /// It, or the back end under it, panicked with this message.
    Panicked(String),
}

/// An outcome as it is recorded: one word, and the reason where there is one.
#[derive(serde::Serialize)]
pub struct RecordedOutcome {
    #[serde(rename = "outcome")]
    word: &'static str,
    reason: Option<String>,
}

impl Outcome {
    pub fn recorded(&self) -> RecordedOutcome {
        let (word, reason) = match self {
            Self::Finished => ("finished", None),
            Self::Diverged(_, reason) => ("diverged", Some(reason.clone())),
            Self::Stopped(reason) => ("stopped", Some(stop_sentence(*reason).to_owned())),
            Self::Failed(error) => ("failed", Some(error.to_string())),
            Self::Panicked(message) => ("panicked", Some(message.clone())),
        };
        RecordedOutcome { word, reason }
    }
}

#[derive(Debug)]
pub struct CompletedRun {
    pub data: RunData,
    pub outcome: Outcome,
    pub elapsed: Duration,
    /// Why its record is not whole, if one was to be kept.
    pub lost: Option<Loss>,
}

impl CompletedRun {
    pub fn exit(&self) -> Exit {
        let lost = self.lost.as_ref().map_or(Exit::Passed, Loss::exit);
        lost.and(match &self.outcome {
            Outcome::Finished | Outcome::Stopped(StopReason::StepLimit) => Exit::Passed,
            Outcome::Stopped(StopReason::Asked) => Exit::Interrupted,
            Outcome::Diverged(..)
            | Outcome::Stopped(StopReason::TimeLimit)
            | Outcome::Panicked(_) => Exit::RunFailed,
            Outcome::Failed(error) => process::lab_error_exit(error),
        })
    }

    /// Why it left no result, if it did not; a divergence is a result.
    pub fn trouble(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Finished | Outcome::Diverged(..) | Outcome::Stopped(StopReason::StepLimit) => {
                None
            }
            Outcome::Stopped(reason) => Some(format!(
                "{} at step {}, after {:.1} s",
                stop_sentence(*reason),
                self.data.step,
                self.elapsed.as_secs_f64()
            )),
            Outcome::Failed(error) => Some(error.to_string()),
            Outcome::Panicked(message) => Some(format!("the run panicked: {message}")),
        }
    }
}

fn stop_sentence(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Asked => "stopped on request",
        StopReason::StepLimit => "stopped at the step limit",
        StopReason::TimeLimit => "stopped at the time limit",
    }
}

/// Runs a lab; a panic in the lab or the back end becomes an outcome.
pub fn guarded(lab: &dyn Lab, run: Run<'_>) -> Outcome {
    let mut watched = Watched { sink: run.sink, diverged: None };
    let mut run = Run { sink: &mut watched, ..run };
    let ended = catch_unwind(AssertUnwindSafe(|| lab.run(&mut run)));
    let stopped = run.control.stop_reason();
    match ended {
        Err(panic) => Outcome::Panicked(panic_message(panic.as_ref())),
        Ok(Err(error)) => Outcome::Failed(error),
        Ok(Ok(())) => match (watched.diverged, stopped) {
            (Some((step, reason)), _) => Outcome::Diverged(step, reason),
            (None, Some(reason)) => Outcome::Stopped(reason),
            (None, None) => Outcome::Finished,
        },
    }
}

/// Hands reports on, and keeps the one that says that the run has diverged.
struct Watched<'a> {
    sink: &'a mut dyn Sink,
    diverged: Option<(u64, String)>,
}

impl Sink for Watched<'_> {
    fn report(&mut self, report: Report) {
        if let Report::Diverged { step, reason } = &report {
            self.diverged = Some((*step, reason.clone()));
        }
        self.sink.report(report);
    }

    fn wants_frame(&mut self, panel: &str, trigger: FrameTrigger) -> bool {
        self.sink.wants_frame(panel, trigger)
    }

    fn frames_done(&mut self) {
        self.sink.frames_done();
    }
}

/// The first line of a panic's message.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    text.lines().next().unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_record_that_a_full_disk_lost_is_in_the_exit_code() {
        let run = |outcome, kind: Option<io::ErrorKind>| CompletedRun {
            data: RunData::default(),
            outcome,
            elapsed: Duration::ZERO,
            lost: kind.map(|kind| Loss::new("not recorded", &kind.into())),
        };
        let (full, refused) = (io::ErrorKind::StorageFull, io::ErrorKind::PermissionDenied);
        let asked = || Outcome::Stopped(StopReason::Asked);
        for (outcome, kind, exit) in [
            (Outcome::Finished, None, Exit::Passed),
            (Outcome::Finished, Some(refused), Exit::Passed),
            (Outcome::Finished, Some(full), Exit::RunFailed),
            (asked(), Some(full), Exit::Interrupted),
        ] {
            let run = run(outcome, kind);
            assert_eq!(run.exit(), exit, "{:?} {kind:?}", run.outcome);
            assert!(run.trouble().is_none() || exit == Exit::Interrupted);
        }
    }
}
