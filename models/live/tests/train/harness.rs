//! Runs lab `train` and keeps what it reported.

use std::sync::mpsc::{self, Sender};

use mlsys_lab::control::{Command, Limits};
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_lab::{Control, DeviceId, Lab, LabError, Params, Run, RunData, Settings, Sink, Tables};
use mlsys_live::stepped::LiveLab;
use mlsys_live::train;

/// What a run reported.
pub(crate) struct Outcome {
    lab: LiveLab,
    pub(crate) data: RunData,
}

/// A run on the CPU that must end well.
pub(crate) fn train(settings: &[&str]) -> Outcome {
    try_train(settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"))
}

/// A run on the CPU.
pub(crate) fn try_train(settings: &[&str]) -> Result<Outcome, LabError> {
    train_on(DeviceId::CPU, settings)
}

/// A run on any device.
pub(crate) fn train_on(device: DeviceId, settings: &[&str]) -> Result<Outcome, LabError> {
    let control = Control::free(Limits::default(), Default::default());
    let (lab, data) = run(device, settings, control, RunData::default())?;
    Ok(Outcome { lab, data })
}

/// A run on the CPU that is given `orders` once it has done `step` steps.
pub(crate) fn train_steered(settings: &[&str], step: u64, orders: &[Command]) -> Outcome {
    let (sender, receiver) = mpsc::channel();
    let control = Control::steered(receiver, Limits::default(), Default::default());
    let sink = Steering { data: RunData::default(), sender, step, orders: orders.to_vec() };
    let (lab, sink) = run(DeviceId::CPU, settings, control, sink).unwrap();
    Outcome { lab, data: sink.data }
}

/// Orders the run about from its own reports, so that nothing depends on how fast it is.
struct Steering {
    data: RunData,
    sender: Sender<Command>,
    step: u64,
    orders: Vec<Command>,
}

impl Sink for Steering {
    fn report(&mut self, report: Report) {
        self.data.report(report);
        if self.data.step >= self.step {
            for order in self.orders.drain(..) {
                self.sender.send(order).unwrap();
            }
        }
    }

    fn wants_frame(&mut self, _panel: &str, _moment: FrameTrigger) -> bool {
        true
    }
}

fn run<S: Sink>(
    device: DeviceId,
    settings: &[&str],
    control: Control,
    mut sink: S,
) -> Result<(LiveLab, S), LabError> {
    let lab = train::lab().unwrap();
    let settings = Settings::from_pairs(settings.iter().copied()).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap();
    lab.run(&mut Run { params, device, sink: &mut sink, control })?;
    Ok((lab, sink))
}

impl Outcome {
    /// A metric, which must be there.
    pub(crate) fn number(&self, name: &str) -> f64 {
        self.data
            .metric(name)
            .and_then(|value| value.as_f64())
            .unwrap_or_else(|| panic!("no metric {name}"))
    }

    /// The values of a series.
    pub(crate) fn values(&self, name: &str) -> Vec<f64> {
        self.data.series[name].points().iter().map(|(_, value)| *value).collect()
    }

    /// The steps of a series.
    pub(crate) fn steps(&self, name: &str) -> Vec<u64> {
        self.data.series[name].points().iter().map(|(step, _)| *step).collect()
    }

    /// Every metric reported is declared, as what it is; every unconditional one declared is reported.
    pub(crate) fn assert_declared(&self) {
        let schema = self.lab.schema();
        let is_series = |name: &str| schema.metric(name).map(|metric| metric.series);
        for name in self.data.series.keys() {
            assert_eq!(is_series(name), Some(true), "{name}");
        }
        for name in self.data.scalars.keys() {
            assert_eq!(is_series(name), Some(false), "{name}");
        }
        for panel in self.data.frames.keys() {
            assert!(schema.panel(panel).is_some(), "{panel}");
        }
        let reported = self.data.metrics();
        for metric in schema.metrics.iter().filter(|metric| metric.when.is_none()) {
            let found = match metric.name.strip_suffix('*') {
                Some(stem) => reported.keys().any(|name| name.starts_with(stem)),
                None => reported.contains_key(metric.name.as_str()),
            };
            assert!(found, "{} is declared and not reported", metric.name);
        }
    }
}

/// The first series of class `seeded` or `exact` that differs between two runs in any bit.
pub(crate) fn first_difference(one: &Outcome, other: &Outcome) -> Option<String> {
    let timed = |name: &str| name.ends_with("per_second") || name.starts_with("seconds");
    let names = one.data.series.keys().filter(|name| !timed(name));
    let bits = |run: &Outcome, name: &str| {
        run.values(name).into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    names.map(|name| name.to_string()).find(|name| bits(one, name) != bits(other, name))
}
