//! `mlsys bench train`: training steps a second of a loop written by hand, of the lab without a screen, and on one.
//!
//! All sides train the same network on the same data with the same metrics at the same cadence, turn by turn in one
//! process, and are timed from the first loss to the end of the run: what was compiled is compiled by then.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, mem};

use clap::Args;
use mlsys_lab::control::Limits;
use mlsys_lab::device::DeviceInfo;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::schema::Schema;
use mlsys_lab::tables::Tables;
use mlsys_lab::{Control, LabError, Registry};
use mlsys_run::console::Console;
use mlsys_run::outcome::Outcome;
use mlsys_run::process::{Failure, Interrupt};
use mlsys_run::session::{RunRequest, execute};
use mlsys_run::sources::Sources;
use mlsys_tui::serve_run;
use mlsys_tui::state::Tempo;
use mlsys_tui::terminal::{Screen, Stop};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::bare::{self, TASKS, Task, Update};
use crate::bench::{self, START, Sample, Scratch, failed, in_turn};

/// Measures training steps.
#[derive(Debug, Args)]
pub struct Options {
    /// How often each side is run; the sides take turns
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Which network: spiral, digits, wide (784-512-512-10), cnn, llama or llama-256; all if not given
    #[arg(long, value_name = "NAME", value_parser = ["spiral", "digits", "wide", "cnn", "llama", "llama-256"])]
    pub network: Option<String>,
}

/// Milliseconds a step of every side, and ratios.
pub fn run(
    options: &Options,
    device: DeviceInfo,
    registry: &'static Registry,
    console: &mut Console,
) -> Result<Vec<Sample>, Failure> {
    let bench = Bench::new(device, registry)?;
    let wanted = |task: &&Task| options.network.as_deref().is_none_or(|name| name == task.name);
    let mut samples = Vec::new();
    for task in TASKS.iter().filter(wanted) {
        let seconds =
            in_turn(&SIDES, options.rounds, console, |(_, measure)| measure(&bench, task))?;
        let names = SIDES.map(|(name, _)| name);
        samples.extend(figures(task, &names.into_iter().zip(seconds).collect::<Vec<_>>()));
    }
    Ok(samples)
}

/// Seconds a step of every side, and how they compare round by round with the loop written by hand.
fn figures(task: &Task, sides: &[(&str, Vec<f64>)]) -> Vec<Sample> {
    let steps = task.steps.saturating_sub(1) as f64;
    let mut samples: Vec<Sample> = sides
        .iter()
        .map(|(side, seconds)| {
            let each = seconds.iter().map(|s| 1e3 * s / steps).collect();
            Sample::new(format!("{}: {side}", task.name), "ms a step", each)
        })
        .collect();
    if let Some((_, by_hand)) = sides.iter().find(|(side, _)| *side == BY_HAND) {
        for (side, seconds) in sides.iter().filter(|(side, _)| *side != BY_HAND) {
            let ratios = seconds.iter().zip(by_hand).map(|(a, b)| a / b).collect();
            let name = format!("{}: {side} over {BY_HAND}", task.name);
            samples.push(Sample::new(name, "ratio", ratios));
        }
    }
    samples
}

/// The side that others are compared with: the loop written by hand with the optimizer that the lab uses.
const BY_HAND: &str = "by hand";

/// Measures the seconds of a side.
type Side = fn(&Bench, &Task) -> Result<f64, Failure>;

const SIDES: [(&str, Side); 5] = [
    ("by hand, burn's Adam", |bench, task| bench.by_hand(task, Update::Burns)),
    (BY_HAND, |bench, task| bench.by_hand(task, Update::TheLabs)),
    // The lab as `mlsys lab` runs it, recorded on disk.
    ("headless", Bench::headless),
    // The lab in the workbench, recorded on disk, with charts but without pictures that need evaluations.
    ("on the screen", |bench, task| {
        bench.on_screen(task, &["loss-curve", "accuracy", "weight-norms", "gradient-flow"])
    }),
    ("on the screen with pictures", |bench, task| bench.on_screen(task, &[])),
];

struct Bench {
    registry: &'static Registry,
    seconds: Stopwatch,
    device: DeviceInfo,
    folder: Scratch,
}

impl Bench {
    fn new(device: DeviceInfo, registry: &'static Registry) -> Result<Self, Failure> {
        let seconds = Stopwatch::default();
        let timed = Timed { inner: registry.find("train")?, seconds: seconds.clone() };
        // It lives as long as the program: sessions hold their lab on a thread of their own.
        let registry: &'static Registry = Box::leak(Box::new(Registry::new(vec![Box::new(timed)])));
        Ok(Self { registry, seconds, device, folder: Scratch::new("train")? })
    }

    fn by_hand(&self, task: &Task, update: Update) -> Result<f64, Failure> {
        bare::train(task, self.device.id, update).map_err(failed)
    }

    fn headless(&self, task: &Task) -> Result<f64, Failure> {
        let lab = self.registry.find("train")?;
        let settings = Settings::from_pairs(task.settings.split(' ')).map_err(failed)?;
        let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None)
            .map_err(|errors| mlsys_run::settings::failure("train", &errors))?;
        let request = RunRequest {
            label: task.name,
            lab,
            params,
            device: self.device.clone(),
            limits: Limits::default(),
            lesson: None,
            runs: Some(self.folder.path()),
            sources: Sources::new(self.registry),
        };
        let run = execute(request, &Interrupt::default(), &mut Console::silent());
        if !matches!(run.outcome, Outcome::Finished) {
            return Err(Failure::Run(format!("{:?}", run.outcome)));
        }
        self.measured()
    }

    /// The lab on a lesson page of its own, at full speed; panels are all of the lab's, or those named.
    fn on_screen(&self, task: &Task, panels: &[&str]) -> Result<f64, Failure> {
        let set: Vec<String> = task
            .settings
            .split(' ')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| {
                let text = value.parse::<f64>().is_err();
                if text { format!("{name} = \"{value}\"") } else { format!("{name} = {value}") }
            })
            .collect();
        let panels: String =
            panels.iter().map(|name| format!("[[panel]]\nname = \"{name}\"\n")).collect();
        let set = set.join(", ");
        let lab = format!("```{{lab}} run\nkind = \"train\"\nset = {{ {set} }}\n{panels}```\n");
        let mut app = bench::workbench(&lab, self.registry, self.device.clone())?;
        app.session.tempo = Tempo::Full;
        let effects = app.update(START);
        let screen = Unseen(bench::terminal(io::sink())?);
        serve_run(app, effects, Some(self.folder.path().to_owned()), screen).map_err(failed)?;
        self.measured()
    }

    fn measured(&self) -> Result<f64, Failure> {
        self.seconds.take().ok_or_else(|| Failure::Run("the run reported no loss".to_owned()))
    }
}

/// A lab that notes the time from its first loss to its last value, on its own thread: what the screen does after
/// the end is no part of it, and neither are the last pictures.
struct Timed {
    inner: &'static dyn Lab,
    seconds: Stopwatch,
}

impl Lab for Timed {
    fn schema(&self) -> &Schema {
        self.inner.schema()
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let mut sink = Span { sink: &mut *run.sink, ends: None };
        let never = Control::free(Limits::default(), Arc::default());
        let mut timed = Run {
            params: run.params.clone(),
            device: run.device,
            sink: &mut sink,
            control: mem::replace(&mut run.control, never),
        };
        let ended = self.inner.run(&mut timed);
        run.control = timed.control;
        self.seconds.put(sink.ends.map(|(first, last)| last - first));
        ended
    }
}

/// Passes everything on and notes when the first loss and the last value of any series came.
struct Span<'a> {
    sink: &'a mut dyn Sink,
    ends: Option<(Instant, Instant)>,
}

impl Sink for Span<'_> {
    fn report(&mut self, report: Report) {
        let begun = self.ends.is_some();
        let timed = matches!(&report, Report::Point { name, .. } if begun || &**name == "loss");
        self.sink.report(report);
        if timed {
            let now = Instant::now();
            self.ends = Some((self.ends.map_or(now, |(first, _)| first), now));
        }
    }

    fn wants_frame(&mut self, panel: &str, trigger: FrameTrigger) -> bool {
        self.sink.wants_frame(panel, trigger)
    }

    fn frames_done(&mut self) {
        self.sink.frames_done();
    }
}

/// The time of the run that ended last.
#[derive(Clone, Default)]
struct Stopwatch(Arc<Mutex<Option<Duration>>>);

impl Stopwatch {
    fn put(&self, time: Option<Duration>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    fn take(&self) -> Option<f64> {
        let time = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        time.map(|time| time.as_secs_f64())
    }
}

/// A terminal that discards its bytes.
struct Unseen(Terminal<CrosstermBackend<io::Sink>>);

impl Screen for Unseen {
    fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.0.draw(view).map(|_| ())
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        Ok(bench::SIZE)
    }

    fn stop_job(&mut self) -> io::Result<Stop> {
        Ok(Stop::NoShell)
    }

    fn take_again(&mut self) -> io::Result<()> {
        Ok(())
    }
}
