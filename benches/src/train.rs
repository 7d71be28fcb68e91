//! `mlsys bench train`: training steps a second of a loop written by hand, of the lab without a screen, and on one.
//!
//! All sides train the same network on the same data with the same metrics at the same cadence, turn by turn in one
//! process, and are timed from the first loss to the end of the run: what was compiled is compiled by then.

use std::io;

use clap::Args;
use mlsys_lab::Registry;
use mlsys_lab::device::DeviceInfo;
use mlsys_run::console::Console;
use mlsys_run::process::Failure;
use mlsys_tui::serve_run;
use mlsys_tui::state::Tempo;
use mlsys_tui::terminal::{Screen, Stop};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::bare::{self, TASKS, Task, Update};
use crate::bench::{self, START, Sample, Scratch, failed, in_turn};
use crate::timed::{Clocks, Timed, headless};

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
    clocks: Clocks,
    device: DeviceInfo,
    folder: Scratch,
}

impl Bench {
    fn new(device: DeviceInfo, registry: &'static Registry) -> Result<Self, Failure> {
        let (registry, clocks) = Timed::registry(registry, "train", "loss")?;
        Ok(Self { registry, clocks, device, folder: Scratch::new("train")? })
    }

    fn by_hand(&self, task: &Task, update: Update) -> Result<f64, Failure> {
        bare::train(task, self.device.id, update).map_err(failed)
    }

    fn headless(&self, task: &Task) -> Result<f64, Failure> {
        let runs = self.folder.path();
        headless(self.registry, "train", task.settings, self.device.clone(), runs)?;
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

    /// Seconds from the first loss to the last value.
    fn measured(&self) -> Result<f64, Failure> {
        let clocks = self.clocks.take();
        let (first, last) = clocks
            .points
            .first()
            .zip(clocks.last)
            .ok_or_else(|| Failure::Run("the run reported no loss".to_owned()))?;
        Ok((last - *first).as_secs_f64())
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
