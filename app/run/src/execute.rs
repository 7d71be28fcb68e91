//! One lab, run here and now: reports collected, recorded and shown as progress.

use std::path::Path;
use std::time::{Duration, Instant};

use mlsys_lab::control::{Control, Limits, StopReason};
use mlsys_lab::device::{Backend, DeviceInfo, DeviceState};
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::Params;
use mlsys_lab::report::{FrameTrigger, Report, RunData, Sink};
use mlsys_lab::schema::Schema;

use crate::console::Console;
use crate::exit::{self, Exit};
use crate::interrupt::Interrupt;
use crate::record::{About, Ending, Record};
use crate::session::{Outcome, guarded};
use crate::sources::{Sources, WithArtifacts};

/// A run to do.
pub struct Order<'a> {
    /// What to call it in progress and messages.
    pub label: &'a str,
    /// The lab.
    pub lab: &'static dyn Lab,
    /// Its parameters.
    pub params: Params,
    /// Where to run it.
    pub device: DeviceInfo,
    /// How far it may go.
    pub limits: Limits,
    /// The lesson and the lab's name in it, if a lesson asks.
    pub lesson: Option<(&'a str, &'a str)>,
    /// The folder for the record; none keeps none.
    pub runs: Option<&'a Path>,
    /// Where it gets what its parameters name.
    pub sources: Sources,
}

/// A run that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Everything it reported.
    pub data: RunData,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub elapsed: Duration,
}

impl Finished {
    /// What the end means for the exit code; divergence is a result.
    pub fn exit(&self) -> Exit {
        match &self.outcome {
            Outcome::Finished | Outcome::Stopped(StopReason::StepLimit) => Exit::Passed,
            Outcome::Stopped(StopReason::Asked) => Exit::Interrupted,
            Outcome::Stopped(StopReason::TimeLimit) | Outcome::Panicked(_) => Exit::RunFailed,
            Outcome::Failed(error) => exit::of_lab_error(error),
        }
    }

    /// Why it did not come to its end, if it did not.
    pub fn trouble(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Finished | Outcome::Stopped(StopReason::StepLimit) => None,
            Outcome::Stopped(reason) => {
                let seconds = self.elapsed.as_secs_f64();
                Some(format!(
                    "{} at step {}, after {seconds:.1} s",
                    stop_sentence(*reason),
                    self.data.step
                ))
            }
            Outcome::Failed(error) => Some(error.to_string()),
            Outcome::Panicked(message) => Some(format!("the run panicked: {message}")),
        }
    }
}

/// Why a run stopped before its last step, in words.
pub fn stop_sentence(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Asked => "stopped on request",
        StopReason::StepLimit => "stopped at the step limit",
        StopReason::TimeLimit => "stopped at the time limit",
    }
}

/// The longest a lesson's lab may run: ten times its budget and at least a minute; software adapters are slow and get ten.
pub fn time_limit(schema: &Schema, device: &DeviceInfo) -> Duration {
    match (&device.state, device.id.backend) {
        (DeviceState::Software, Backend::Wgpu | Backend::Cuda) => Duration::from_secs(600),
        _ => Duration::from_secs_f64((10.0 * schema.budget.unwrap_or(0.0)).clamp(60.0, 86_400.0)),
    }
}

/// Runs a lab to its end, its limits, or Ctrl-C. A record that cannot be kept is one warning, not a failure.
pub fn execute(order: Order<'_>, interrupt: &Interrupt, console: &mut Console) -> Finished {
    let started = Instant::now();
    let schema = order.lab.schema();
    let record = order.runs.and_then(|runs| {
        let device = schema.uses_device(&order.params).then_some(&order.device);
        let about = About { schema, params: &order.params, device, lesson: order.lesson };
        kept(Record::start(runs, &about), console)
    });
    let mut sink =
        Recorder { data: RunData::default(), record, label: order.label, started, console };
    let mut run = Run {
        params: order.params,
        device: order.device.id,
        sink: &mut sink,
        control: Control::free(order.limits, interrupt.flag()),
    };
    let outcome = guarded(&WithArtifacts::new(order.lab, order.sources), &mut run);
    let elapsed = started.elapsed();
    let Recorder { data, record, console, .. } = sink;
    console.clear_progress();
    if let Some(record) = record {
        let folder = record.folder().to_owned();
        if kept(record.finish(&data.frames, &Ending::of(&outcome), elapsed), console).is_some()
            && matches!(outcome, Outcome::Stopped(StopReason::Asked))
        {
            console.note(format_args!("what it reported is in {}", folder.display()));
        }
    }
    Finished { data, outcome, elapsed }
}

/// Collects the reports, passes them on to the record, and shows how far the run is.
struct Recorder<'a> {
    data: RunData,
    record: Option<Record>,
    label: &'a str,
    started: Instant,
    console: &'a mut Console,
}

impl Sink for Recorder<'_> {
    fn report(&mut self, report: Report) {
        if let Some(record) = &mut self.record
            && kept(record.append(&report), self.console).is_none()
        {
            // One warning is enough: the run goes on without a record.
            self.record = None;
        }
        self.data.apply(report);
        let (data, label, seconds) = (&self.data, self.label, self.started.elapsed().as_secs_f64());
        self.console.progress(|| {
            let loss = data.series.get("loss").and_then(|loss| loss.last());
            let loss = loss.map_or_else(String::new, |loss| format!(", loss {loss:.4}"));
            let status =
                if data.status.is_empty() { String::new() } else { format!(", {}", data.status) };
            format!("{label}: step {}{loss}, {seconds:.1} s{status}", data.step)
        });
    }

    fn wants_frame(&mut self, panel: &str, moment: FrameTrigger) -> bool {
        self.data.wants_frame(panel, moment)
    }
}

/// A record's result, or a warning that there will be none.
fn kept<T>(result: std::io::Result<T>, console: &mut Console) -> Option<T> {
    result
        .map_err(|error| {
            console.warn(format_args!(
                "runs are not recorded: the data folder cannot be written ({error})"
            ));
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::device::DeviceId;

    fn limit(budget: f64, state: DeviceState) -> u64 {
        let text =
            format!("kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\nbudget={budget:?}");
        let device = DeviceInfo {
            id: DeviceId { backend: Backend::Wgpu, index: 0 },
            name: String::new(),
            memory_bytes: None,
            precisions: vec![],
            driver: None,
            state,
        };
        time_limit(&Schema::parse(&text).unwrap(), &device).as_secs()
    }

    #[test]
    fn time_limits_follow_the_budget() {
        assert_eq!(limit(2.0, DeviceState::Usable), 60);
        assert_eq!(limit(9.0, DeviceState::Usable), 90);
        assert_eq!(limit(9.0, DeviceState::Software), 600);
    }
}
