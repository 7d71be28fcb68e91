//! `mlsys bench screen`: what a frame of the workbench costs while a run reports, and what recording costs the run.

use std::cell::RefCell;
use std::io::{self, Write};
use std::mem;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use clap::Args;
use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use mlsys_lab::control::Limits;
use mlsys_lab::device::{DeviceId, DeviceInfo, DeviceState};
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::Schema;
use mlsys_lab::tables::Tables;
use mlsys_lab::{LabError, Registry};
use mlsys_run::console::Console;
use mlsys_run::process::Failure;
use mlsys_run::session::Session;
use mlsys_tui::key::Key;
use mlsys_tui::message::Message;
use mlsys_tui::state::App;
use mlsys_tui::view;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::bench::{START, Sample, failed, terminal, workbench};

/// Measures the screen.
#[derive(Debug, Args)]
pub struct Options {
    /// How many frames are drawn of each kind
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
}

const POINTS: [u64; 3] = [1000, 100_000, 1_000_000];
/// Steps between two frames: those of a fast run at thirty frames a second.
const STEPS: u64 = 100;

/// Times and bytes of frames of a run in progress, and the costs of recording.
pub fn run(options: &Options, console: &mut Console) -> Result<Vec<Sample>, Failure> {
    let schema = Schema::parse(SCHEMA).map_err(failed)?;
    let registry: &Registry = Box::leak(Box::new(Registry::new(vec![Box::new(Charts(schema))])));
    let mut samples = Vec::new();
    for points in POINTS {
        for (name, keys) in [("all steps", ""), ("newest quarter", "\t\t0vv0vv0vv0")] {
            console.progress(|| format!("four charts of {points} points, {name}"));
            let mut bench = Bench::new(registry, points, keys)?;
            let frames = (0..options.frames).map(|_| bench.frame());
            let frames = frames.collect::<io::Result<Vec<Frame>>>().map_err(failed)?;
            samples.extend(figures(points, name, &frames));
        }
    }
    samples.extend(recording()?);
    console.clear_progress();
    Ok(samples)
}

fn figures(points: u64, name: &str, frames: &[Frame]) -> [Sample; 3] {
    let of = |what: &str, unit, value: fn(&Frame) -> f64| {
        let values = frames.iter().map(value).collect();
        Sample::new(format!("{points} points, {name}: {what}"), unit, values)
    };
    [
        of("draw", "ms", |frame| 1e3 * frame.drawn.as_secs_f64()),
        of("take reports in", "ms", |frame| 1e3 * frame.taken.as_secs_f64()),
        of("sent", "bytes", |frame| frame.bytes as f64),
    ]
}

struct Frame {
    /// Taking in what the run has said since the frame before.
    taken: Duration,
    /// Drawing the page, finding what has changed, and writing that for the terminal.
    drawn: Duration,
    bytes: usize,
}

/// The workbench with a run in progress, and a terminal that counts bytes.
struct Bench {
    app: App,
    step: u64,
    noise: u64,
    names: Vec<Arc<str>>,
    bytes: Bytes,
    terminal: Terminal<CrosstermBackend<Bytes>>,
}

impl Bench {
    fn new(registry: &'static Registry, points: u64, keys: &str) -> Result<Self, Failure> {
        let lab = "```{lab} charts\nkind = \"charts\"\n```\n";
        let mut app = workbench(lab, registry, processor())?;
        app.update(START);
        let bytes = Bytes::default();
        let terminal = terminal(bytes.clone())?;
        let names = ["a", "b", "c", "d"].into_iter();
        let names = names.flat_map(|chart| [format!("{chart}.raw"), format!("{chart}.held_out")]);
        let names = names.map(Arc::from).collect();
        let mut bench = Self { app, step: 0, noise: 1, names, bytes, terminal };
        let reports = bench.reports(points);
        bench.apply(reports);
        for key in keys.chars() {
            let key = if key == '\t' { Key::Tab } else { Key::Char(key) };
            bench.app.update(Message::Key(key));
        }
        bench.frame().map_err(failed)?;
        Ok(bench)
    }

    /// The reports of a run over this many steps: four noisy curves, and four with a value every ten steps.
    fn reports(&mut self, steps: u64) -> Vec<Report> {
        let mut reports = Vec::new();
        for _ in 0..steps {
            self.step += 1;
            for (place, name) in self.names.iter().enumerate() {
                if place % 2 == 1 && !self.step.is_multiple_of(10) {
                    continue;
                }
                self.noise = self
                    .noise
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let noise = (self.noise >> 11) as f64 / (1_u64 << 53) as f64;
                let trend = 1.0 / (1.0 + self.step as f64 / 5e4) + 0.2 * place as f64;
                reports.push(Report::Point {
                    name: Arc::clone(name),
                    step: self.step,
                    value: trend * (0.8 + 0.4 * noise),
                });
            }
        }
        reports
    }

    fn apply(&mut self, reports: Vec<Report>) -> Duration {
        let run = self.app.session.active.map_or(0, |active| active.run);
        let since = Duration::from_micros(self.step * 300);
        let message = Message::Reports { run, reports, since };
        let start = Instant::now();
        self.app.update(message);
        start.elapsed()
    }

    fn frame(&mut self) -> io::Result<Frame> {
        let reports = self.reports(STEPS);
        let taken = self.apply(reports);
        let start = Instant::now();
        queue!(self.bytes, BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| view::draw(&self.app, frame))?;
        queue!(self.bytes, EndSynchronizedUpdate)?;
        Ok(Frame { taken, drawn: start.elapsed(), bytes: self.bytes.take() })
    }
}

/// The bytes for a terminal that does not exist.
#[derive(Clone, Default)]
struct Bytes(Rc<RefCell<Vec<u8>>>);

impl Bytes {
    /// Discards them; their number.
    fn take(&self) -> usize {
        self.0.borrow_mut().drain(..).len()
    }
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const SCHEMA: &str = include_str!("screen/charts.toml");

/// A lab that is never run: the bench makes its reports.
struct Charts(Schema);

impl Lab for Charts {
    fn schema(&self) -> &Schema {
        &self.0
    }

    fn run(&self, _run: &mut Run<'_>) -> Result<(), LabError> {
        Ok(())
    }
}

fn processor() -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::CPU,
        name: "none".to_owned(),
        memory_bytes: None,
        precisions: vec!["f32".to_owned()],
        driver: None,
        state: DeviceState::Usable,
    }
}

/// Metrics that are recorded at each step.
const METRICS: usize = 20;
/// Steps between two readings of the clock, which then costs next to nothing a step.
const BLOCK: u64 = 100;
const BLOCKS: u64 = 4000;
/// How often the screen takes reports out.
const FRAME: Duration = Duration::from_millis(33);

/// Nanoseconds that recording one value takes, on average over a hundred steps.
fn recording() -> Result<[Sample; 2], Failure> {
    Ok([
        Sample::new("record a metric: collect", "ns", collect()),
        Sample::new("record a metric: hand to the screen", "ns", hand_over()?),
    ])
}

fn metric_names() -> Vec<Arc<str>> {
    (0..METRICS).map(|place| format!("gradient_norm.layer{place}").into()).collect()
}

fn block_of_reports(names: &[Arc<str>], first: u64) -> Vec<Report> {
    (first..first + BLOCK)
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
    1e9 * time.as_secs_f64() / (BLOCK as usize * METRICS) as f64
}

fn collect() -> Vec<f64> {
    let names = metric_names();
    let mut data = RunData::default();
    let times = (0..BLOCKS).map(|block| {
        let reports = block_of_reports(&names, block * BLOCK);
        let start = Instant::now();
        reports.into_iter().for_each(|report| data.apply(report));
        each(start.elapsed())
    });
    times.collect()
}

/// On a thread of its own, while another one takes the reports out thirty times a second.
fn hand_over() -> Result<Vec<f64>, Failure> {
    let schema = Schema::parse(REPORTER_SCHEMA).map_err(failed)?;
    let params = Params::resolve(&schema, &Settings::new(), Tables::builtin(), None)
        .map_err(|errors| Failure::Run(format!("{errors:?}")))?;
    let times = Arc::<Mutex<Vec<f64>>>::default();
    let lab: &'static dyn Lab = Box::leak(Box::new(Reporter { schema, times: Arc::clone(&times) }));
    let (sender, woken) = mpsc::channel();
    let wake = move || {
        let _ = sender.send(());
    };
    let session =
        Session::start(lab, params, DeviceId::CPU, Limits::default(), wake).map_err(failed)?;
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
    Ok(mem::take(&mut *times.lock().unwrap_or_else(PoisonError::into_inner)))
}

const REPORTER_SCHEMA: &str = include_str!("screen/reporter.toml");

struct Reporter {
    schema: Schema,
    times: Arc<Mutex<Vec<f64>>>,
}

impl Lab for Reporter {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let names = metric_names();
        let mut times = Vec::new();
        for block in 0..BLOCKS {
            let reports = block_of_reports(&names, block * BLOCK);
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
