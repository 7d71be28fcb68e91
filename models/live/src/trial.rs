//! Runs of labs in tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};

use mlsys_lab::control::{Command, Limits, StopReason};
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_lab::schema::Draw;
use mlsys_lab::{
    Control, DeviceId, Lab, LabError, Params, Run, RunData, Settings, Sink, Tables, Value,
};

/// A run on the CPU.
pub(crate) fn try_run(lab: &dyn Lab, set: &[&str]) -> Result<RunData, LabError> {
    let control = Control::free(Limits::default(), Default::default());
    let mut data = RunData::default();
    run_into(lab, set, control, &mut data)?;
    Ok(data)
}

/// Settings with others over them.
pub(crate) fn over<'a>(set: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    fn name(pair: &str) -> Option<&str> {
        pair.split('=').next()
    }
    let replaced = |pair: &str| more.iter().any(|other| name(other) == name(pair));
    let kept = set.iter().filter(|pair| !replaced(pair));
    kept.chain(more).copied().collect()
}

/// The parameters of a run.
pub(crate) fn params(lab: &dyn Lab, set: &[&str]) -> Params {
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    Params::resolve(lab.schema(), &settings, Tables::builtin(), None)
        .unwrap_or_else(|error| panic!("{set:?}: {error:?}"))
}

/// A run on the CPU that must end well.
pub(crate) fn run(lab: &dyn Lab, set: &[&str]) -> RunData {
    try_run(lab, set).unwrap_or_else(|error| panic!("{set:?}: {error}"))
}

/// A run on the CPU that is given orders when a status report contains `at`.
pub(crate) fn steered(lab: &dyn Lab, set: &[&str], at: &str, orders: &[Command]) -> RunData {
    let (sender, receiver) = mpsc::channel();
    let mut sink =
        Steering { data: RunData::default(), sender, at: at.to_owned(), orders: orders.to_vec() };
    let control = Control::steered(receiver, Limits::default(), Default::default());
    run_into(lab, set, control, &mut sink).unwrap();
    assert!(sink.orders.is_empty(), "nothing was said of {at}");
    sink.data
}

/// A run on the CPU that is stopped, or given orders, when a report of it makes `then` say so; and why it ended early.
pub(crate) fn answered(
    lab: &dyn Lab,
    set: &[&str],
    then: impl FnMut(&Report) -> Then,
) -> (RunData, Option<StopReason>) {
    let (sender, receiver) = mpsc::channel();
    let stop = Arc::<AtomicBool>::default();
    let control = Control::steered(receiver, Limits::default(), Arc::clone(&stop));
    let mut sink = Answering { data: RunData::default(), sender, stop, then, frames_done: 0 };
    let mut run = Run { params: params(lab, set), device: DeviceId::CPU, sink: &mut sink, control };
    lab.run(&mut run).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    let reason = run.control.stop_reason();
    assert!(sink.frames_done > 0, "pictures were offered without an end");
    (sink.data, reason)
}

/// What follows a report.
pub(crate) enum Then {
    /// Nothing.
    On,
    /// An order, which is read before the next step.
    Order(Command),
    /// The end, at once.
    Stop,
}

struct Answering<F> {
    data: RunData,
    sender: Sender<Command>,
    stop: Arc<AtomicBool>,
    then: F,
    frames_done: usize,
}

impl<F: FnMut(&Report) -> Then> Sink for Answering<F> {
    fn report(&mut self, report: Report) {
        match (self.then)(&report) {
            Then::On => {}
            Then::Order(order) => self.sender.send(order).unwrap(),
            Then::Stop => self.stop.store(true, Ordering::Relaxed),
        }
        self.data.report(report);
    }

    fn wants_frame(&mut self, _panel: &str, _moment: FrameTrigger) -> bool {
        true
    }

    fn frames_done(&mut self) {
        self.frames_done += 1;
    }
}

fn run_into(
    lab: &dyn Lab,
    set: &[&str],
    control: Control,
    sink: &mut dyn Sink,
) -> Result<(), LabError> {
    lab.run(&mut Run { params: params(lab, set), device: DeviceId::CPU, sink, control })
}

struct Steering {
    data: RunData,
    sender: Sender<Command>,
    at: String,
    orders: Vec<Command>,
}

impl Sink for Steering {
    fn report(&mut self, report: Report) {
        if matches!(&report, Report::Status(status) if status.contains(&self.at)) {
            for order in self.orders.drain(..) {
                self.sender.send(order).unwrap();
            }
        }
        self.data.report(report);
    }

    fn wants_frame(&mut self, _panel: &str, _moment: FrameTrigger) -> bool {
        true
    }
}

/// A number that must have been reported.
pub(crate) fn number(data: &RunData, name: &str) -> f64 {
    let found = data.metric(name).and_then(|value| value.as_f64());
    found.unwrap_or_else(|| panic!("no metric {name}"))
}

/// The values of a series.
pub(crate) fn values(data: &RunData, name: &str) -> Vec<f64> {
    let points = data.series[name].points();
    points.iter().map(|(_, value)| *value).collect()
}

/// What is declared without a condition is reported, what is reported is declared, as what it is, and every panel that
/// the lab draws itself was drawn.
pub(crate) fn must_be_declared(lab: &dyn Lab, data: &RunData) {
    let schema = lab.schema();
    let is_series = |name: &str| schema.metric(name).map(|metric| metric.series);
    for name in data.series.keys() {
        assert_eq!(is_series(name), Some(true), "{name}");
    }
    for name in data.scalars.keys() {
        assert_eq!(is_series(name), Some(false), "{name}");
    }
    let reported = data.metrics();
    for metric in schema.metrics.iter().filter(|metric| metric.when.is_none()) {
        let name = metric.name.as_str();
        let is_there = match name.strip_suffix('*') {
            Some(family) => reported.keys().any(|member| member.starts_with(family)),
            None => reported.contains_key(name),
        };
        assert!(is_there, "{name} is not reported");
    }
    for panel in schema.panels.iter().filter(|panel| panel.draw == Draw::Frame) {
        assert!(data.frames.contains_key(panel.name.as_str()), "{}", panel.name);
    }
}

/// A run on the CPU that is ended from outside within a step: after its step `after` the knob is turned, and as soon as the
/// run tells of that, between taking the order and doing the step, it is ended. Also why it says that it stopped.
pub(crate) fn ended_within_a_step(
    lab: &dyn Lab,
    set: &[&str],
    after: u64,
    knob: Command,
) -> (RunData, Option<StopReason>) {
    let (sender, receiver) = mpsc::channel();
    let stop = Arc::new(AtomicBool::new(false));
    let mut sink = Ending {
        data: RunData::default(),
        sender,
        stop: Arc::clone(&stop),
        after,
        knob: Some(knob),
    };
    let mut run = Run {
        params: params(lab, set),
        device: DeviceId::CPU,
        sink: &mut sink,
        control: Control::steered(receiver, Limits::default(), stop),
    };
    lab.run(&mut run).unwrap();
    let reason = run.control.stop_reason();
    assert!(sink.knob.is_none(), "there was no step {after}");
    (sink.data, reason)
}

struct Ending {
    data: RunData,
    sender: Sender<Command>,
    stop: Arc<AtomicBool>,
    after: u64,
    knob: Option<Command>,
}

impl Sink for Ending {
    fn report(&mut self, report: Report) {
        if let Report::Point { name, step, .. } = &report
            && &**name == "loss"
            && *step == self.after
            && let Some(knob) = self.knob.take()
        {
            self.sender.send(knob).unwrap();
        }
        if matches!(report, Report::Change(_)) {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.data.report(report);
    }

    fn wants_frame(&mut self, _panel: &str, _moment: FrameTrigger) -> bool {
        false
    }
}

/// A run on the CPU; each knob is turned after the step it is paired with.
pub(crate) fn turned(lab: &dyn Lab, set: &[&str], knobs: &[(u64, &str, Value)]) -> RunData {
    let (sender, receiver) = mpsc::channel();
    let mut sink = Turning { data: RunData::default(), sender, knobs: knobs.to_vec() };
    let control = Control::steered(receiver, Limits::default(), Default::default());
    run_into(lab, set, control, &mut sink).unwrap();
    assert!(sink.knobs.is_empty(), "too few steps for {:?}", sink.knobs);
    sink.data
}

struct Turning<'a> {
    data: RunData,
    sender: Sender<Command>,
    knobs: Vec<(u64, &'a str, Value)>,
}

impl Sink for Turning<'_> {
    fn report(&mut self, report: Report) {
        if let Report::Point { name, step, .. } = &report
            && &**name == "loss"
        {
            for (_, name, value) in self.knobs.extract_if(.., |(after, ..)| after == step) {
                let name = name.to_owned();
                self.sender.send(Command::Set { name, value }).unwrap();
            }
        }
        self.data.report(report);
    }

    fn wants_frame(&mut self, _panel: &str, _moment: FrameTrigger) -> bool {
        true
    }
}
