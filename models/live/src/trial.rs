//! Runs of labs in tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};

use mlsys_lab::control::{Command, Limits, StopReason};
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_lab::schema::Draw;
use mlsys_lab::{
    Control, DeviceId, Frame, Lab, LabError, Params, Run, RunData, Settings, Sink, Tables, Value,
};

pub(crate) fn try_run(lab: &dyn Lab, set: &[&str]) -> Result<RunData, LabError> {
    let control = Control::free(Limits::default(), Default::default());
    let (params, mut data) = (params(lab, set), RunData::default());
    lab.run(&mut Run { params, device: DeviceId::CPU, sink: &mut data, control })?;
    assert_eq!(lab.schema().out_of_range(&data), None, "{set:?}");
    Ok(data)
}

pub(crate) fn over<'a>(set: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    fn name(pair: &str) -> Option<&str> {
        pair.split('=').next()
    }
    let replaced = |pair: &str| more.iter().any(|other| name(other) == name(pair));
    set.iter().filter(|pair| !replaced(pair)).chain(more).copied().collect()
}

pub(crate) fn params(lab: &dyn Lab, set: &[&str]) -> Params {
    let settings = Settings::from_pairs(set.iter().copied()).unwrap();
    Params::resolve(lab.schema(), &settings, Tables::builtin(), None)
        .unwrap_or_else(|error| panic!("{set:?}: {error:?}"))
}

/// A run on the CPU that must end well.
pub(crate) fn run(lab: &dyn Lab, set: &[&str]) -> RunData {
    try_run(lab, set).unwrap_or_else(|error| panic!("{set:?}: {error}"))
}

/// Requires that a run is refused, in a message with all of these words; whether it is for its settings.
pub(crate) fn refused(lab: &dyn Lab, set: &[&str], words: &[&str]) -> bool {
    let error = try_run(lab, set).unwrap_err();
    let message = error.to_string();
    let missing: Vec<_> = words.iter().filter(|word| !message.contains(**word)).collect();
    assert!(missing.is_empty(), "{set:?}: {missing:?} is missing in {message}");
    error.is_usage()
}

/// A run on the CPU that is given commands when a status report contains `at`.
pub(crate) fn steered(lab: &dyn Lab, set: &[&str], at: &str, commands: &[Command]) -> RunData {
    let mut commands = Some(commands.to_vec());
    let (data, _) = answered(lab, set, |report| {
        let due = matches!(report, Report::Status(status) if status.contains(at));
        if due { commands.take().map_or(Then::On, Then::Orders) } else { Then::On }
    });
    assert!(commands.is_none(), "no status contains {at}");
    data
}

/// A run on the CPU; each knob is turned after the step it is paired with.
pub(crate) fn turned(lab: &dyn Lab, set: &[&str], knobs: &[(u64, &str, Value)]) -> RunData {
    turned_by("loss", lab, set, knobs)
}

/// The same where a series counts the steps, of which some may be left out.
pub(crate) fn turned_by(
    series: &str,
    lab: &dyn Lab,
    set: &[&str],
    knobs: &[(u64, &str, Value)],
) -> RunData {
    let mut knobs = knobs.to_vec();
    let (data, _) = answered(lab, set, |report| {
        let Report::Point { name, step, .. } = report else { return Then::On };
        let due = knobs.extract_if(.., |(after, ..)| &**name == series && *after <= *step);
        Then::Orders(due.map(|(_, name, value)| turn(name, value)).collect())
    });
    assert!(knobs.is_empty(), "too few steps for {knobs:?}");
    data
}

/// A run on the CPU that is stopped within a step: after its step `after` the knob is turned, and as soon as the run
/// reports the change, between the command and the step, it is stopped. Also why it says that it stopped.
pub(crate) fn ended_within_a_step(
    lab: &dyn Lab,
    set: &[&str],
    after: u64,
    knob: Command,
) -> (RunData, Option<StopReason>) {
    let mut knob = Some(knob);
    let (data, reason) = answered(lab, set, |report| {
        if matches!(report, Report::Change(_)) {
            return Then::Stop;
        }
        let due = matches!(report, Report::Point { name, step, .. } if &**name == "loss" && *step == after);
        if due { knob.take().map_or(Then::On, Then::Order) } else { Then::On }
    });
    assert!(knob.is_none(), "there was no step {after}");
    (data, reason)
}

/// A run on the CPU that is stopped, or given commands, when a report of it makes `then` say so; and why it ended early.
pub(crate) fn answered(
    lab: &dyn Lab,
    set: &[&str],
    then: impl FnMut(&Report) -> Then,
) -> (RunData, Option<StopReason>) {
    let (sender, receiver) = mpsc::channel();
    let stop = Arc::<AtomicBool>::default();
    let control = Control::steered(receiver, Limits::default(), Arc::clone(&stop));
    let mut sink = Answering { data: RunData::default(), sender, stop, then, offers: false };
    let mut run = Run { params: params(lab, set), device: DeviceId::CPU, sink: &mut sink, control };
    lab.run(&mut run).unwrap_or_else(|error| panic!("{set:?}: {error}"));
    let reason = run.control.stop_reason();
    assert!(!sink.offers, "pictures were offered without an end");
    (sink.data, reason)
}

pub(crate) enum Then {
    On,
    /// A command, which is read before the next step.
    Order(Command),
    Orders(Vec<Command>),
    Stop,
}

struct Answering<F> {
    data: RunData,
    sender: Sender<Command>,
    stop: Arc<AtomicBool>,
    then: F,
    /// Whether an offer of pictures has not ended.
    offers: bool,
}

impl<F: FnMut(&Report) -> Then> Sink for Answering<F> {
    fn report(&mut self, report: Report) {
        match (self.then)(&report) {
            Then::On => {}
            Then::Order(order) => self.sender.send(order).unwrap(),
            Then::Orders(orders) => {
                orders.into_iter().for_each(|order| self.sender.send(order).unwrap());
            }
            Then::Stop => self.stop.store(true, Ordering::Relaxed),
        }
        self.data.report(report);
    }

    fn wants_frame(&mut self, _panel: &str, _moment: FrameTrigger) -> bool {
        self.offers = true;
        true
    }

    fn frames_done(&mut self) {
        self.offers = false;
    }
}

pub(crate) fn turn(name: &str, value: impl Into<Value>) -> Command {
    Command::Set { name: name.to_owned(), value: value.into() }
}

/// A number that must have been reported.
pub(crate) fn number(data: &RunData, name: &str) -> f64 {
    let found = data.metric(name).and_then(|value| value.as_f64());
    found.unwrap_or_else(|| panic!("no metric {name}"))
}

/// The numbers of an array, nested or not.
pub(crate) fn flat(value: &Value) -> Vec<f64> {
    if let Value::Array(items) = value {
        items.iter().flat_map(flat).collect()
    } else {
        value.as_f64().into_iter().collect()
    }
}

pub(crate) fn frame<'a>(data: &'a RunData, panel: &str) -> &'a Frame {
    &data.frames.get(panel).unwrap_or_else(|| panic!("{panel} is not drawn")).1
}

/// Settings that are refused with an error about them that contains a text.
pub(crate) fn must_refuse(lab: &dyn Lab, cases: &[(&[&str], &str)]) {
    for (set, part) in cases {
        assert!(refused(lab, set, &[part]), "{set:?}");
    }
}

pub(crate) fn values(data: &RunData, name: &str) -> Vec<f64> {
    data.series[name].points().iter().map(|(_, value)| *value).collect()
}

pub(crate) fn steps(data: &RunData, name: &str) -> Vec<u64> {
    data.series[name].points().iter().map(|(step, _)| *step).collect()
}

pub(crate) fn most(data: &RunData, name: &str) -> f64 {
    values(data, name).into_iter().fold(0.0, f64::max)
}

pub(crate) fn last(data: &RunData, name: &str) -> f64 {
    *values(data, name).last().unwrap()
}

/// As [`must_be_reported`], and every panel that the lab draws itself was drawn.
pub(crate) fn must_be_declared(lab: &dyn Lab, data: &RunData) {
    must_be_reported(lab, data);
    for panel in lab.schema().panels.iter().filter(|panel| panel.draw == Draw::Frame) {
        assert!(data.frames.contains_key(panel.name.as_str()), "{} is not drawn", panel.name);
    }
}

/// What is declared without a condition is reported, and what is reported is declared, as what it is.
pub(crate) fn must_be_reported(lab: &dyn Lab, data: &RunData) {
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
    for panel in data.frames.keys() {
        assert!(schema.panel(panel).is_some(), "{panel}");
    }
}
