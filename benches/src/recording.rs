//! What it costs a run to record a metric: into a collection, and through the inbox of the screen.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use mlsys_lab::LabError;
use mlsys_lab::control::Limits;
use mlsys_lab::device::DeviceId;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::Schema;
use mlsys_lab::tables::Tables;

use crate::sample::Sample;
use mlsys_run::process::Failure;
use mlsys_run::session::Session;

/// Metrics that are recorded at each step.
const METRICS: usize = 20;
/// Steps between two readings of the clock, so that reading it costs next to nothing a step.
const STEPS: u64 = 100;
/// How often the clock is looked at.
const LOOKS: u64 = 4000;
/// How often the screen takes reports out.
const FRAME: Duration = Duration::from_millis(33);

/// Nanoseconds that recording one value takes, on average over a hundred steps.
pub(super) fn samples() -> Result<[Sample; 2], Failure> {
    Ok([
        Sample::new("record a metric: collect", "ns", collected()),
        Sample::new("record a metric: hand to the screen", "ns", handed()?),
    ])
}

fn names() -> Vec<Arc<str>> {
    (0..METRICS).map(|place| format!("gradient_norm.layer{place}").into()).collect()
}

/// The reports of some steps.
fn reports(names: &[Arc<str>], first: u64) -> Vec<Report> {
    (first..first + STEPS)
        .flat_map(|step| {
            names.iter().map(move |name| Report::Point {
                name: Arc::clone(name),
                step,
                value: step as f64,
            })
        })
        .collect()
}

fn each(time: Duration) -> f64 {
    1e9 * time.as_secs_f64() / (STEPS as usize * METRICS) as f64
}

fn collected() -> Vec<f64> {
    let names = names();
    let mut data = RunData::default();
    let looks = (0..LOOKS).map(|look| {
        let reports = reports(&names, look * STEPS);
        let start = Instant::now();
        reports.into_iter().for_each(|report| data.apply(report));
        each(start.elapsed())
    });
    looks.collect()
}

/// On a thread of its own, while another one takes out what was reported thirty times a second.
fn handed() -> Result<Vec<f64>, Failure> {
    let failed = |error: &dyn ToString| Failure::Run(error.to_string());
    let schema = Schema::parse(SCHEMA).map_err(|error| failed(&error))?;
    let params = Params::resolve(&schema, &Settings::new(), Tables::builtin(), None)
        .map_err(|errors| Failure::Run(format!("{errors:?}")))?;
    let times = Arc::<Mutex<Vec<f64>>>::default();
    let lab: &'static dyn Lab = Box::leak(Box::new(Talker { schema, times: Arc::clone(&times) }));
    let (sender, woken) = mpsc::channel();
    let wake = move || {
        let _ = sender.send(());
    };
    let session = Session::start(lab, params, DeviceId::CPU, Limits::default(), wake)
        .map_err(|error| failed(&error))?;
    let mut data = RunData::default();
    loop {
        // The run's end wakes this up at the latest.
        let _ = woken.recv();
        let due = Instant::now() + FRAME;
        while woken.recv_timeout(due.saturating_duration_since(Instant::now())).is_ok() {}
        let (reports, ended) = session.drain();
        reports.into_iter().for_each(|report| data.apply(report));
        if ended.is_some() {
            break;
        }
    }
    Ok(std::mem::take(&mut *times.lock().unwrap_or_else(PoisonError::into_inner)))
}

const SCHEMA: &str = r#"
kind = "talker"
title = "Talker"
module = "bench"
about = "Reports and does nothing else."
source = "none"
budget = 1.0
"#;

/// A lab that only reports.
struct Talker {
    schema: Schema,
    times: Arc<Mutex<Vec<f64>>>,
}

impl Lab for Talker {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let names = names();
        let mut times = Vec::new();
        for look in 0..LOOKS {
            let reports = reports(&names, look * STEPS);
            let start = Instant::now();
            for report in reports {
                run.sink.report(report);
            }
            times.push(each(start.elapsed()));
        }
        *self.times.lock().unwrap_or_else(PoisonError::into_inner) = times;
        Ok(())
    }
}
