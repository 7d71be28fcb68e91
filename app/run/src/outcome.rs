//! How a run ended, a panic included, and the exit code for it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use mlsys_lab::LabError;
use mlsys_lab::control::StopReason;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::report::RunData;

use crate::process::{self, Exit};

#[derive(Debug)]
pub enum Outcome {
    /// It did all its steps, or diverged, which is a result.
    Finished,
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
}

impl CompletedRun {
    /// The exit code; divergence is a result.
    pub fn exit(&self) -> Exit {
        match &self.outcome {
            Outcome::Finished | Outcome::Stopped(StopReason::StepLimit) => Exit::Passed,
            Outcome::Stopped(StopReason::Asked) => Exit::Interrupted,
            Outcome::Stopped(StopReason::TimeLimit) | Outcome::Panicked(_) => Exit::RunFailed,
            Outcome::Failed(error) => process::lab_error_exit(error),
        }
    }

    /// Why it did not come to its end, if it did not.
    pub fn trouble(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Finished | Outcome::Stopped(StopReason::StepLimit) => None,
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
pub fn guarded(lab: &dyn Lab, run: &mut Run<'_>) -> Outcome {
    match catch_unwind(AssertUnwindSafe(|| lab.run(run))) {
        Err(panic) => Outcome::Panicked(panic_message(panic.as_ref())),
        Ok(Err(error)) => Outcome::Failed(error),
        Ok(Ok(())) => match run.control.stop_reason() {
            Some(reason) => Outcome::Stopped(reason),
            None => Outcome::Finished,
        },
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
