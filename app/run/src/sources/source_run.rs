//! An earlier lab of the lesson, run first where it has not been.

use std::sync::Arc;

use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::{Artifact, Control, Lab, Run};

use super::{Failure, Sources, Supplied};

/// Steps between two words about how far it has come.
const TELL_EVERY: u64 = 20;

/// What the earlier lab at this place has left; none if the run was stopped while it ran.
pub(super) fn artifact(
    sources: &Sources,
    place: usize,
    kind: &str,
    run: &mut Run<'_>,
) -> Result<Option<Arc<Artifact>>, Failure> {
    let Some(earlier) = sources.earlier.get(place) else {
        return Err(Failure::Reason("is not there".to_owned()));
    };
    let schema = earlier.lab.schema();
    if schema.yields.as_deref() != Some(kind) {
        return Err(Failure::Reason(format!("is a lab {}, which leaves no {kind}", schema.kind)));
    }
    if let Some(known) = sources.left.find(&schema.kind, &earlier.params, run.device) {
        return Ok(Some(known));
    }
    // It may start from others in its turn, of those before it.
    let before = Sources {
        earlier: sources.earlier.iter().take(place).cloned().collect(),
        others: sources
            .earlier
            .iter()
            .skip(place)
            .map(|lab| lab.id.clone())
            .chain(sources.others.iter().cloned())
            .collect(),
        runs: sources.runs.clone(),
        left: sources.left.clone(),
        chores: sources.chores.clone(),
    };
    let steps = earlier.params.int("steps").ok();
    let mut sink = Listening {
        sink: run.sink,
        name: &earlier.id,
        steps: steps.map(i64::unsigned_abs),
        told: None,
        left: None,
        diverged: None,
    };
    sink.tell(0);
    let device = run.device;
    let ended = run.control.warm_up(|control| {
        let mut first = Run {
            params: earlier.params.clone(),
            device,
            sink: &mut sink,
            control: std::mem::replace(control, Control::detached()),
        };
        let ended = Supplied::new(earlier.lab, before).run(&mut first);
        *control = first.control;
        ended
    });
    let (left, diverged) = (sink.left, sink.diverged);
    run.sink.report(Report::Status(String::new()));
    ended.map_err(Failure::Error)?;
    if run.control.stop_reason().is_some() {
        // The run around it says why itself.
        return Ok(None);
    }
    if let Some(reason) = diverged {
        return Err(Failure::Reason(format!("diverged, and left nothing: {reason}")));
    }
    match left {
        Some(artifact) => Ok(Some(artifact)),
        None => Err(Failure::Reason(format!(
            "has left no {kind}: it is larger than is kept for others"
        ))),
    }
}

/// Makes one status of all that the earlier lab reports.
struct Listening<'a> {
    sink: &'a mut dyn Sink,
    name: &'a str,
    steps: Option<u64>,
    told: Option<u64>,
    left: Option<Arc<Artifact>>,
    diverged: Option<String>,
}

impl Listening<'_> {
    fn tell(&mut self, step: u64) {
        if self.told.is_some_and(|told| step < told + TELL_EVERY) {
            return;
        }
        self.told = Some(step);
        let of = match self.steps {
            Some(steps) => format!(": step {step} of {steps}"),
            None => String::new(),
        };
        let status = format!("running '{}' first{of}", self.name);
        self.sink.report(Report::Status(status));
    }
}

impl Sink for Listening<'_> {
    fn report(&mut self, report: Report) {
        match report {
            Report::Point { step, .. } => self.tell(step),
            Report::Artifact(artifact) => self.left = Some(artifact),
            Report::Diverged { reason, .. } => self.diverged = Some(reason),
            Report::Status(_)
            | Report::Scalar { .. }
            | Report::Frame { .. }
            | Report::Change(_)
            | Report::Notice(_) => {}
        }
    }

    fn wants_frame(&mut self, _panel: &str, _moment: FrameTrigger) -> bool {
        false
    }
}
