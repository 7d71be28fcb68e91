//! `mlsys bench train`: training steps a second of a loop written by hand, of the lab without a screen, and on one.
//!
//! All sides train the same network on the same data with the same metrics at the same cadence, turn by turn in one
//! process, and are timed from the first loss to the end of the run: what was compiled is compiled by then.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mlsys_lab::control::Limits;
use mlsys_lab::device::{Backend, DeviceChoice, DeviceInfo};
use mlsys_lab::lab::{Lab, LabError, Run};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::report::{Moment, Report, Sink};
use mlsys_lab::schema::Schema;
use mlsys_lab::tables::Tables;
use mlsys_lab::{Control, Registry};
use mlsys_lesson::{Lesson, Progress};
use mlsys_nets::bare::{self, TASKS, Task, Update};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::sample::{self, Sample};
use crate::cli::BenchTrain;
use crate::commands::World;
use crate::exit::{Exit, Failure};
use crate::record::{About, Record};
use crate::session::{Outcome, guarded};
use crate::ui::app::{App, Tempo};
use crate::ui::glyphs::{GlyphSet, Glyphs};
use crate::ui::key::Key;
use crate::ui::message::Message;
use crate::ui::serve_run;
use crate::ui::terminal::{Screen, Stop};
use crate::ui::theme::{Background, ColorDepth, Look, Theme};

/// The screen that is drawn to: a large one.
const SIZE: (u16, u16) = (120, 40);

/// Measures every side and prints seconds and ratios.
pub fn run(options: &BenchTrain, world: &mut World<'_>) -> Result<Exit, Failure> {
    let device = world
        .devices
        .choose(options.machine.device, &Backend::ALL)?;
    let bench = Bench::new(device)?;
    let wanted = |task: &&Task| {
        options
            .network
            .as_deref()
            .is_none_or(|name| name == task.name)
    };
    let mut samples = Vec::new();
    for task in TASKS.iter().filter(wanted) {
        let mut sides: Vec<(Side, Vec<f64>)> = Side::ALL.map(|side| (side, Vec::new())).to_vec();
        // The first round warms caches and clocks up and does not count.
        for round in 0..=options.rounds {
            for (side, seconds) in &mut sides {
                let measured = bench.seconds(*side, task)?;
                if round > 0 {
                    seconds.push(measured);
                }
                world.console.progress(|| {
                    format!(
                        "{}, round {round} of {}: {}",
                        task.name,
                        options.rounds,
                        side.name()
                    )
                });
            }
        }
        world.console.clear_progress();
        samples.extend(figures(task, &sides));
    }
    fs::remove_dir_all(&bench.folder).ok();
    sample::show("train", &samples, options.listing.json, world.console)?;
    Ok(Exit::Passed)
}

/// Seconds a step of every side, and how they compare round by round with the loop written by hand.
fn figures(task: &Task, sides: &[(Side, Vec<f64>)]) -> Vec<Sample> {
    let steps = task.steps.saturating_sub(1) as f64;
    let mut samples: Vec<Sample> = sides
        .iter()
        .map(|(side, seconds)| {
            let each = seconds.iter().map(|s| 1e3 * s / steps).collect();
            Sample::new(format!("{}: {}", task.name, side.name()), "ms a step", each)
        })
        .collect();
    let of = |wanted: Side| {
        sides
            .iter()
            .find(|(side, _)| *side == wanted)
            .map(|(_, s)| s)
    };
    if let Some(by_hand) = of(Side::ByHand) {
        for (side, seconds) in sides.iter().filter(|(side, _)| *side != Side::ByHand) {
            let ratios = seconds.iter().zip(by_hand).map(|(a, b)| a / b).collect();
            let name = format!(
                "{}: {} over {}",
                task.name,
                side.name(),
                Side::ByHand.name()
            );
            samples.push(Sample::new(name, "ratio", ratios));
        }
    }
    samples
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// A loop written by hand with burn's own optimizer.
    ByHandBurnsAdam,
    /// The same loop with the optimizer that the lab uses.
    ByHand,
    /// The lab as `mlsys lab` runs it, recorded on disk.
    Headless,
    /// The lab in the workbench, recorded on disk, with charts but without pictures that need evaluations.
    Screen,
    /// The same with those pictures.
    ScreenWithPictures,
}

impl Side {
    const ALL: [Self; 5] = [
        Self::ByHandBurnsAdam,
        Self::ByHand,
        Self::Headless,
        Self::Screen,
        Self::ScreenWithPictures,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::ByHandBurnsAdam => "by hand, burn's Adam",
            Self::ByHand => "by hand",
            Self::Headless => "headless",
            Self::Screen => "on the screen",
            Self::ScreenWithPictures => "on the screen with pictures",
        }
    }
}

/// What all rounds share.
struct Bench {
    registry: &'static Registry,
    seconds: Stopwatch,
    device: DeviceInfo,
    /// Records go here, and are thrown away.
    folder: PathBuf,
}

impl Bench {
    fn new(device: DeviceInfo) -> Result<Self, Failure> {
        let inner = mlsys_registry::registry()
            .find("train")
            .map_err(|error| Failure::Run(error.to_string()))?;
        let seconds = Stopwatch::default();
        let timed = Timed {
            inner,
            seconds: seconds.clone(),
        };
        // It lives as long as the program: sessions hold their lab on a thread of their own.
        let registry: &'static Registry = Box::leak(Box::new(Registry::new(vec![Box::new(timed)])));
        let folder = std::env::temp_dir().join(format!("mlsys-bench-{}", std::process::id()));
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::Run(format!("{}: {error}", folder.display())))?;
        Ok(Self {
            registry,
            seconds,
            device,
            folder,
        })
    }

    /// Seconds from the first loss to the end of one run.
    fn seconds(&self, side: Side, task: &Task) -> Result<f64, Failure> {
        match side {
            Side::ByHandBurnsAdam => self.by_hand(task, Update::Burns),
            Side::ByHand => self.by_hand(task, Update::TheLabs),
            Side::Headless => self.headless(task),
            Side::Screen => self.on_screen(
                task,
                &["loss-curve", "accuracy", "weight-norms", "gradient-flow"],
            ),
            Side::ScreenWithPictures => self.on_screen(task, &[]),
        }
    }

    fn by_hand(&self, task: &Task, update: Update) -> Result<f64, Failure> {
        bare::train(task, self.device.id, update).map_err(|error| Failure::Run(error.to_string()))
    }

    fn lab(&self) -> Result<&'static dyn Lab, Failure> {
        self.registry
            .find("train")
            .map_err(|error| Failure::Run(error.to_string()))
    }

    fn headless(&self, task: &Task) -> Result<f64, Failure> {
        let lab = self.lab()?;
        let params = settings(task)
            .and_then(|set| {
                Params::resolve(lab.schema(), &set, Tables::builtin(), None)
                    .map_err(|errors| said(&errors))
            })
            .map_err(Failure::Run)?;
        let about = About {
            schema: lab.schema(),
            params: &params,
            device: Some(&self.device),
            lesson: None,
        };
        let record =
            Record::start(&self.folder, &about).map_err(|error| Failure::Run(error.to_string()))?;
        let mut sink = Recorded {
            data: Default::default(),
            record,
        };
        let mut run = Run {
            params,
            device: self.device.id,
            sink: &mut sink,
            control: Control::free(Limits::default(), Arc::default()),
        };
        match guarded(lab, &mut run) {
            Outcome::Finished => self.measured(),
            outcome @ (Outcome::Stopped(_) | Outcome::Failed(_) | Outcome::Panicked(_)) => {
                Err(Failure::Run(format!("{outcome:?}")))
            }
        }
    }

    /// The lab on a lesson page of its own, at full speed; panels are all of the lab's, or those named.
    fn on_screen(&self, task: &Task, panels: &[&str]) -> Result<f64, Failure> {
        let lesson = self.lesson(task, panels)?;
        let look = Look {
            theme: Theme::new(Background::Dark, ColorDepth::TrueColor),
            glyphs: Glyphs::new(GlyphSet::Unicode),
        };
        let choice = DeviceChoice::Exactly(self.device.id);
        let mut app = App::new(
            vec![Arc::clone(&lesson)],
            self.registry,
            choice,
            Progress::default(),
            SIZE,
            look,
        );
        app.update(Message::Probed(vec![self.device.clone()]));
        app.open(lesson);
        app.tempo = Tempo::Full;
        let effects = app.update(Message::Key(Key::Char(' ')));
        let mut screen = Unseen::new().map_err(|error| Failure::Run(error.to_string()))?;
        serve_run(&mut app, effects, Some(self.folder.clone()), &mut screen)
            .map_err(|error| Failure::Run(error.to_string()))?;
        self.measured()
    }

    fn lesson(&self, task: &Task, panels: &[&str]) -> Result<Arc<Lesson>, Failure> {
        let set: Vec<String> = task
            .settings
            .iter()
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| {
                let text = value.parse::<f64>().is_err();
                if text {
                    format!("{name} = \"{value}\"")
                } else {
                    format!("{name} = {value}")
                }
            })
            .collect();
        let panels: String = panels
            .iter()
            .map(|name| format!("[[panel]]\nname = \"{name}\"\n"))
            .collect();
        let text = format!(
            "+++\nformat = 1\nid = \"bench/train\"\ntitle = \"Bench\"\nminutes = 1\n+++\n# Bench\n\n\
             ```{{lab}} run\nkind = \"train\"\nset = {{ {} }}\n{panels}```\n",
            set.join(", ")
        );
        let read = mlsys_lesson::read("bench", text.as_bytes(), self.registry);
        read.lesson
            .map(Arc::new)
            .ok_or_else(|| Failure::Run(format!("the lesson of the bench does not read: {text}")))
    }

    fn measured(&self) -> Result<f64, Failure> {
        self.seconds
            .take()
            .ok_or_else(|| Failure::Run("the run reported no loss".to_owned()))
    }
}

fn settings(task: &Task) -> Result<Settings, String> {
    Settings::from_pairs(task.settings.iter().copied()).map_err(|error| error.to_string())
}

fn said(errors: &[mlsys_lab::params::ParamError]) -> String {
    errors
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ")
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
        let mut sink = Span {
            sink: &mut *run.sink,
            ends: None,
        };
        let never = Control::free(Limits::default(), Arc::default());
        let mut timed = Run {
            params: run.params.clone(),
            device: run.device,
            sink: &mut sink,
            control: std::mem::replace(&mut run.control, never),
        };
        let ended = self.inner.run(&mut timed);
        run.control = timed.control;
        self.seconds
            .put(sink.ends.map(|(first, last)| last - first));
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
        let timed = match (&report, self.ends) {
            (Report::Point { name, .. }, None) => name.as_ref() == "loss",
            (Report::Point { .. }, Some(_)) => true,
            (
                Report::Status(_)
                | Report::Scalar { .. }
                | Report::Frame { .. }
                | Report::Change(_)
                | Report::Diverged { .. }
                | Report::Notice(_),
                _,
            ) => false,
        };
        self.sink.report(report);
        if timed {
            let now = Instant::now();
            self.ends = Some((self.ends.map_or(now, |(first, _)| first), now));
        }
    }

    fn wants_frame(&mut self, panel: &str, moment: Moment) -> bool {
        self.sink.wants_frame(panel, moment)
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

/// Collects and records, as the command line does, and wants no pictures before the end.
struct Recorded {
    data: mlsys_lab::RunData,
    record: Record,
}

impl Sink for Recorded {
    fn report(&mut self, report: Report) {
        // A full disk would show as a wrong time at worst; the bench goes on.
        let _ = self.record.append(&report);
        self.data.apply(report);
    }

    fn wants_frame(&mut self, _panel: &str, _moment: Moment) -> bool {
        false
    }
}

/// A terminal whose bytes nobody reads.
struct Unseen(Terminal<CrosstermBackend<io::Sink>>);

impl Unseen {
    fn new() -> io::Result<Self> {
        let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
        let backend = CrosstermBackend::new(io::sink());
        Ok(Self(Terminal::with_options(
            backend,
            TerminalOptions { viewport },
        )?))
    }
}

impl Screen for Unseen {
    fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.0.draw(view)?;
        io::sink().flush()
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        Ok(SIZE)
    }

    fn stop_job(&mut self) -> io::Result<Stop> {
        Ok(Stop::NoShell)
    }

    fn take_again(&mut self) -> io::Result<()> {
        Ok(())
    }
}
