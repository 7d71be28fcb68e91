//! The sides that are compared, and how each is run.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use crate::bare::{self, Task, Update};
use mlsys_lab::control::Limits;
use mlsys_lab::device::{DeviceChoice, DeviceInfo};
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::tables::Tables;
use mlsys_lab::{Control, Registry};
use mlsys_lesson::{Lesson, Progress};

use super::timed::{Stopwatch, Timed};
use super::unseen::{SIZE, Unseen};
use mlsys_run::outcome::{Outcome, guarded};
use mlsys_run::process::Failure;
use mlsys_run::record::{About, Record};
use mlsys_tui::key::Key;
use mlsys_tui::message::Message;
use mlsys_tui::serve_run;
use mlsys_tui::state::{App, Tempo};
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
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
    pub(super) const ALL: [Self; 5] = [
        Self::ByHandBurnsAdam,
        Self::ByHand,
        Self::Headless,
        Self::Screen,
        Self::ScreenWithPictures,
    ];

    pub(super) fn name(self) -> &'static str {
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
pub(super) struct Bench {
    registry: &'static Registry,
    seconds: Stopwatch,
    device: DeviceInfo,
    /// Records go here, and are thrown away.
    pub(super) folder: PathBuf,
}

impl Bench {
    pub(super) fn new(device: DeviceInfo) -> Result<Self, Failure> {
        let inner = mlsys_registry::registry()
            .find("train")
            .map_err(|error| Failure::Run(error.to_string()))?;
        let seconds = Stopwatch::default();
        let timed = Timed { inner, seconds: seconds.clone() };
        // It lives as long as the program: sessions hold their lab on a thread of their own.
        let registry: &'static Registry = Box::leak(Box::new(Registry::new(vec![Box::new(timed)])));
        let folder = std::env::temp_dir().join(format!("mlsys-bench-{}", std::process::id()));
        fs::create_dir_all(&folder)
            .map_err(|error| Failure::Run(format!("{}: {error}", folder.display())))?;
        Ok(Self { registry, seconds, device, folder })
    }

    /// Seconds from the first loss to the end of one run.
    pub(super) fn seconds(&self, side: Side, task: &Task) -> Result<f64, Failure> {
        match side {
            Side::ByHandBurnsAdam => self.by_hand(task, Update::Burns),
            Side::ByHand => self.by_hand(task, Update::TheLabs),
            Side::Headless => self.headless(task),
            Side::Screen => {
                self.on_screen(task, &["loss-curve", "accuracy", "weight-norms", "gradient-flow"])
            }
            Side::ScreenWithPictures => self.on_screen(task, &[]),
        }
    }

    fn by_hand(&self, task: &Task, update: Update) -> Result<f64, Failure> {
        bare::train(task, self.device.id, update).map_err(|error| Failure::Run(error.to_string()))
    }

    fn lab(&self) -> Result<&'static dyn Lab, Failure> {
        self.registry.find("train").map_err(|error| Failure::Run(error.to_string()))
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
        let mut sink = Recorded { data: Default::default(), record };
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
        app.session.tempo = Tempo::Full;
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
                if text { format!("{name} = \"{value}\"") } else { format!("{name} = {value}") }
            })
            .collect();
        let panels: String =
            panels.iter().map(|name| format!("[[panel]]\nname = \"{name}\"\n")).collect();
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
        self.seconds.take().ok_or_else(|| Failure::Run("the run reported no loss".to_owned()))
    }
}

fn settings(task: &Task) -> Result<Settings, String> {
    Settings::from_pairs(task.settings.iter().copied()).map_err(|error| error.to_string())
}

fn said(errors: &[mlsys_lab::params::ParamError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
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

    fn wants_frame(&mut self, _panel: &str, _moment: FrameTrigger) -> bool {
        false
    }
}
