use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use mlsys_lab::control::{Command, Limits, StopReason};
use mlsys_lab::{Control, DeviceId, Lab, RunData};

use super::*;
use crate::mixed_precision;
use crate::trial::params;
use mlsys_distributed::transport::CommError;

/// Counts its steps.
#[derive(Default)]
struct Counting {
    done: u64,
    steps: u64,
    /// Ends the run from outside within the step after this many.
    ended_in: Option<(u64, Arc<AtomicBool>)>,
    broken_in: Option<u64>,
}

impl SteppedLab for Counting {
    type Knobs = u64;

    fn done(&self) -> u64 {
        self.done
    }

    fn has_next(&self) -> bool {
        self.done < self.steps
    }

    fn read(&self, params: &Params) -> Result<u64, LabError> {
        match params.size("steps")? as u64 {
            7 => Err(LabError::contradiction(["steps"], "7 cannot be")),
            steps => Ok(steps),
        }
    }

    fn turn(&mut self, _: &mut Run<'_>, steps: u64) -> Result<(), StepError> {
        self.steps = steps;
        Ok(())
    }

    fn advance(&mut self, _: &mut Run<'_>) -> Result<(), StepError> {
        match &self.ended_in {
            Some((step, stop)) if *step == self.done => {
                stop.store(true, Ordering::Relaxed);
                return Err(StepError::Stopped);
            }
            Some(_) | None => {}
        }
        if self.broken_in == Some(self.done) {
            return Err(CommError::Failed("gave no numbers".to_owned()).into());
        }
        self.done += 1;
        Ok(())
    }

    fn draw(&mut self, _: &mut Run<'_>, _: FrameTrigger) -> Result<(), StepError> {
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        run.scalar("finished_after", self.done as i64);
        Ok(())
    }
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

fn steps(value: i64) -> Command {
    Command::Set { name: "steps".to_owned(), value: Value::Int(value) }
}

fn of(steps: u64) -> Counting {
    Counting { steps, ..Counting::default() }
}

#[test]
fn a_run_does_its_steps_and_says_how_many() {
    let (data, ended, reason) = ran(&[], |_| Ok(of(5)));
    assert!(ended.is_ok());
    assert_eq!(data.metric("steps_done"), Some(Value::Int(5)));
    assert_eq!(data.metric("diverged"), Some(Value::Bool(false)));
    assert_eq!(reason, None);
}

#[test]
fn a_knob_that_cannot_be_read_stays_and_the_next_one_counts() {
    let orders = [Command::Pause, Command::Step(2), steps(7), steps(2)];
    let (data, ended, _) = ran(&orders, |_| Ok(of(5)));
    assert!(ended.is_ok());
    assert!(data.notices[0].starts_with("steps stays what it was"));
    assert_eq!(data.changes.len(), 1);
    assert_eq!(data.metric("steps_done"), Some(Value::Int(2)));
}

#[test]
fn stopping_is_no_failure() {
    let (data, ended, reason) =
        ran(&[], |stop| Ok(Counting { ended_in: Some((3, Arc::clone(stop))), ..of(5) }));
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
fn a_device_that_gives_no_numbers_fails_the_run_in_words() {
    let (data, ended, _) = ran(&[], |_| Ok(Counting { broken_in: Some(1), ..of(5) }));
    let said = ended.unwrap_err().to_string();
    assert_eq!(said, "the run failed on cpu: the run gave no numbers");
    assert_eq!(data.metric("finished_after"), None);
}
