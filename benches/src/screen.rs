//! `mlsys bench screen`: what a frame of the workbench costs while a run reports, and what recording costs the run.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use mlsys_lab::LabError;
use mlsys_lab::device::{DeviceChoice, DeviceId, DeviceInfo, DeviceState};
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::registry::Registry;
use mlsys_lab::report::Report;
use mlsys_lab::schema::Schema;
use mlsys_lesson::{Lesson, Progress};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use crate::recording;
use crate::sample::Sample;
use mlsys_run::console::Console;
use mlsys_run::process::Failure;
use mlsys_tui::key::Key;
use mlsys_tui::message::Message;
use mlsys_tui::state::App;
use mlsys_tui::view;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};

/// Measures the screen.
#[derive(Debug, Args)]
pub struct Options {
    /// How many frames are drawn of each kind
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
}

/// Columns and rows.
const SIZE: (u16, u16) = (120, 40);
/// Points that each chart begins with.
const POINTS: [u64; 3] = [1000, 100_000, 1_000_000];
/// Steps between two frames: those of a fast run at thirty frames a second.
const STEPS: u64 = 100;

/// Draws frames of a run that goes on, and prints times and bytes.
pub fn run(options: &Options, console: &mut Console) -> Result<Vec<Sample>, Failure> {
    let registry = registry()?;
    let mut samples = Vec::new();
    for points in POINTS {
        for (name, keys) in [("all steps", ""), ("newest quarter", "\t\t0vv0vv0vv0")] {
            console.progress(|| format!("four charts of {points} points, {name}"));
            let mut bench = Bench::new(registry, points, keys)?;
            let frames = (0..options.frames)
                .map(|_| bench.frame())
                .collect::<Result<Vec<_>, _>>()
                .map_err(|error| Failure::Run(error.to_string()))?;
            samples.extend(figures(points, name, &frames));
        }
    }
    samples.extend(recording::samples()?);
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

/// What one frame cost.
struct Frame {
    /// Taking in what the run has said since the frame before.
    taken: Duration,
    /// Drawing the page, finding what has changed, and writing that for the terminal.
    drawn: Duration,
    bytes: usize,
}

/// The workbench with a run that goes on, and a terminal that counts bytes.
struct Bench {
    app: App,
    step: u64,
    noise: u64,
    names: [Arc<str>; 8],
    bytes: Bytes,
    terminal: Terminal<CrosstermBackend<Bytes>>,
}

impl Bench {
    fn new(registry: &'static Registry, points: u64, keys: &str) -> Result<Self, Failure> {
        let lesson = lesson(registry)?;
        let look = Look {
            theme: Theme::new(Background::Dark, ColorDepth::TrueColor),
            glyphs: Glyphs::new(GlyphSet::Unicode),
        };
        let mut app = App::new(
            vec![Arc::clone(&lesson)],
            registry,
            DeviceChoice::Exactly(DeviceId::CPU),
            Progress::default(),
            SIZE,
            look,
        );
        app.update(Message::Probed(vec![processor()]));
        app.open(lesson);
        app.update(Message::Key(Key::Char(' ')));
        let bytes = Bytes::default();
        let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
        let terminal = Terminal::with_options(
            CrosstermBackend::new(bytes.clone()),
            TerminalOptions { viewport },
        )
        .map_err(|error| Failure::Run(error.to_string()))?;
        let names =
            ["a", "b", "c", "d"].map(|chart| [format!("{chart}.raw"), format!("{chart}.held_out")]);
        let mut names = names.into_iter().flatten().map(Arc::from);
        let names = std::array::from_fn(|_| names.next().unwrap_or_default());
        let mut bench = Self { app, step: 0, noise: 1, names, bytes, terminal };
        let reports = bench.reports(points);
        bench.take(reports);
        for key in keys.chars() {
            let key = if key == '\t' { Key::Tab } else { Key::Char(key) };
            bench.app.update(Message::Key(key));
        }
        bench.frame().map_err(|error| Failure::Run(error.to_string()))?;
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

    fn take(&mut self, reports: Vec<Report>) -> Duration {
        let run = self.app.session.active.map_or(0, |active| active.run);
        let since = Duration::from_micros(self.step * 300);
        let message = Message::Reports { run, reports, since };
        let start = Instant::now();
        self.app.update(message);
        start.elapsed()
    }

    fn frame(&mut self) -> io::Result<Frame> {
        let reports = self.reports(STEPS);
        let taken = self.take(reports);
        let start = Instant::now();
        queue!(self.bytes, BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| view::draw(&self.app, frame))?;
        queue!(self.bytes, EndSynchronizedUpdate)?;
        Ok(Frame { taken, drawn: start.elapsed(), bytes: self.bytes.take() })
    }
}

/// Bytes on their way to a terminal that is not there.
#[derive(Clone, Default)]
struct Bytes(Rc<RefCell<Vec<u8>>>);

impl Bytes {
    /// Lets them go and says how many there were.
    fn take(&self) -> usize {
        let mut bytes = self.0.borrow_mut();
        let count = bytes.len();
        bytes.clear();
        count
    }
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const SCHEMA: &str = r#"
kind = "charts"
title = "Charts"
module = "bench"
about = "Four charts."
source = "none"
budget = 1.0
metric = [
  { name = "a.*", type = "float", series = true, about = "a" },
  { name = "b.*", type = "float", series = true, about = "b" },
  { name = "c.*", type = "float", series = true, about = "c" },
  { name = "d.*", type = "float", series = true, about = "d" },
]
panel = [
  { name = "first", shows = "a", draw = "line", metrics = ["a.*"] },
  { name = "second", shows = "b", draw = "line", metrics = ["b.*"] },
  { name = "third", shows = "c", draw = "line", metrics = ["c.*"] },
  { name = "fourth", shows = "d", draw = "line", metrics = ["d.*"], scale = "log" },
]
"#;

const LESSON: &str = "+++\nformat = 1\nid = \"bench/screen\"\ntitle = \"Bench\"\nminutes = 1\n+++\n# Bench\n\n\
    ```{lab} charts\nkind = \"charts\"\n```\n";

/// A lab that is never run: the bench says what it would say.
struct Charts(Schema);

impl Lab for Charts {
    fn schema(&self) -> &Schema {
        &self.0
    }

    fn run(&self, _run: &mut Run<'_>) -> Result<(), LabError> {
        Ok(())
    }
}

fn registry() -> Result<&'static Registry, Failure> {
    let schema = Schema::parse(SCHEMA).map_err(|error| Failure::Run(error.to_string()))?;
    Ok(Box::leak(Box::new(Registry::new(vec![Box::new(Charts(schema))]))))
}

fn lesson(registry: &'static Registry) -> Result<Arc<Lesson>, Failure> {
    let read = mlsys_lesson::read("bench", LESSON.as_bytes(), registry);
    read.lesson
        .map(Arc::new)
        .ok_or_else(|| Failure::Run(format!("the lesson of the bench does not read: {LESSON}")))
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
