//! The app by key scripts: what a learner types, what is asked for outside, what the screen says.

mod charts;
mod cut;
mod due;
mod kernel;
mod knobs;
mod mouse;
mod pages;
mod pictures;
mod records;
mod reopened;
mod runs;
mod screens;
mod steering;
mod stepping;
mod way;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use mlsys_harness::snapshot::{self, rows};
use mlsys_lab::control::StopReason;
use mlsys_lab::device::{Backend, DeviceChoice, DeviceId, DeviceInfo, DeviceState};
use mlsys_lab::report::Report;
use mlsys_lesson::{Lesson, Progress, Timestamp};
use mlsys_run::outcome::Outcome;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};
use ratatui::backend::TestBackend;
use ratatui::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::key::Key;
use super::message::{Effect, Gesture, Message, Start};
use super::view;
use crate::command::Place;
use crate::state::{App, LabState, Page};

const LESSON: &str = include_str!("tests/lesson.md");

/// What effects that match a pattern hold, or with the pattern alone whether there is one.
macro_rules! asked {
    ($effects:expr, $pattern:pat => $value:expr) => {
        $effects.iter().filter_map(|effect| if let $pattern = effect { Some($value) } else { None })
    };
    ($effects:expr, $pattern:pat) => {
        $effects.iter().any(|effect| matches!(effect, $pattern))
    };
}
pub(crate) use asked;

pub fn started(effects: &[Effect]) -> Option<&Start> {
    asked!(effects, Effect::Start(start) => start.as_ref()).next()
}

pub fn losses(steps: std::ops::RangeInclusive<u64>) -> Vec<Report> {
    steps.map(|step| point("loss", step, 0.7 / step as f64)).collect()
}

/// A lesson of the tests, which must be a valid one.
pub fn read(file: &str, text: &str) -> Arc<Lesson> {
    let read = mlsys_lesson::read(file, text.as_bytes(), mlsys_registry::built_in());
    let told: Vec<_> = read.diagnostics.iter().map(ToString::to_string).collect();
    Arc::new(read.lesson.unwrap_or_else(|| panic!("{told:?}")))
}

/// The app with a fake outside: effects are collected, nothing runs, time is what the test says.
pub struct Bench {
    pub app: App,
}

impl Bench {
    pub fn new(size: (u16, u16)) -> Self {
        let look = Look {
            theme: Theme::new(Background::Dark, ColorDepth::TrueColor),
            glyphs: Glyphs::new(GlyphSet::Unicode),
        };
        let registry = mlsys_registry::built_in();
        let app = App::new(
            vec![read("lesson.md", LESSON)],
            registry,
            DeviceChoice::Auto,
            Progress::default(),
            size,
            look,
        );
        Self { app }
    }

    /// A lesson in place of the tests' own, the devices found; and what its opening asks for.
    pub fn opening(size: (u16, u16), text: &str) -> (Self, Vec<Effect>) {
        let mut bench = Self::new(size);
        bench.probed();
        let effects = bench.app.open(read("a.md", text));
        (bench, effects)
    }

    pub fn page(&self) -> &Page {
        self.app.page.as_ref().unwrap()
    }

    pub fn lab(&self) -> &LabState {
        self.page().lab().unwrap()
    }

    pub fn send(&mut self, message: Message) -> Vec<Effect> {
        let mut done = Vec::new();
        for effect in self.app.update(message) {
            if let Effect::ReadKernel(text) = effect {
                done.extend(self.send(Message::KernelRead(Box::new(text.read()))));
            } else {
                done.push(effect);
            }
        }
        done
    }

    pub fn press(&mut self, key: Key) -> Vec<Effect> {
        self.send(Message::Key(key))
    }

    /// Goes from side to side until keys go to a place.
    pub fn go_to(&mut self, place: Place) {
        while self.app.ground() != place {
            self.keys("\t");
        }
    }

    pub fn compare(&self, page: &str) {
        let (width, height) = self.app.screen.size;
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/snapshots");
        snapshot::compare(folder, &format!("{page}-{width}x{height}"), &self.buffer());
    }

    pub fn in_lesson(size: (u16, u16)) -> Self {
        let mut bench = Self::new(size);
        bench.probed();
        bench.keys("\n");
        bench
    }

    pub fn probed(&mut self) -> Vec<Effect> {
        let info = |backend, state| DeviceInfo {
            id: DeviceId { backend, index: 0 },
            name: format!("a {backend}"),
            memory_bytes: None,
            precisions: vec!["f32".into()],
            driver: None,
            state,
        };
        self.app.update(Message::Probed(vec![
            info(Backend::Cpu, DeviceState::Usable),
            info(Backend::Wgpu, DeviceState::Software),
        ]))
    }

    /// Types; `<`, `>`, `^`, `_` are the arrows, other keys are the control characters that terminals send for them.
    /// What else happens stands between `«` and `»`.
    pub fn keys(&mut self, text: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut letters = text.chars();
        while let Some(c) = letters.next() {
            let key = match c {
                '\n' => Key::Enter,
                '\t' => Key::Tab,
                '\u{1b}' => Key::Esc,
                '\x08' => Key::Backspace,
                c @ '\x01'..='\x1a' => Key::Ctrl(char::from(c as u8 - 1 + b'a')),
                '<' => Key::Left,
                '>' => Key::Right,
                '^' => Key::Up,
                '_' => Key::Down,
                '«' => {
                    let event: String = letters.by_ref().take_while(|c| *c != '»').collect();
                    effects.extend(self.event(&event));
                    continue;
                }
                c => Key::Char(c),
            };
            effects.extend(self.press(key));
        }
        effects
    }

    /// Something that happens: the end of a run, news of it, time that passes, the mouse, or a key without a letter.
    fn event(&mut self, event: &str) -> Vec<Effect> {
        let (word, rest) = event.split_once(' ').unwrap_or((event, ""));
        match word {
            "end" => self.end(Outcome::Finished),
            "diverged" => self.end(Outcome::Diverged(2, rest.to_owned())),
            "stopped" => self.end(Outcome::Stopped(StopReason::Asked)),
            "broken" => self.end(Outcome::Panicked(rest.to_owned())),
            "trained" => self.train(1.0),
            // Losses of the steps between two numbers.
            "losses" => {
                let (from, to) = rest.split_once(' ').unwrap();
                let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
                self.report(losses(from..=to), 4 * to)
            }
            "status" => self.report(vec![Report::Status(rest.into())], 10),
            "settled" => {
                let run = self.app.session.active.unwrap().run;
                self.send(Message::Settled { run })
            }
            "waited" => self.send(Message::Waited { seconds: rest.parse().unwrap() }),
            "beat" => self.send(Message::Beat),
            "clock" => self.send(Message::Clock(Timestamp(rest.parse().unwrap()))),
            "probed" => self.probed(),
            "click" => self.point(Gesture::Press, rest),
            "wheel-down" => self.point(Gesture::WheelDown, rest),
            "wheel-up" => self.point(Gesture::WheelUp, rest),
            "key" => self.press(Key::Char(rest.chars().next().unwrap())),
            "home" => self.press(Key::Home),
            "end-key" => self.press(Key::End),
            other => panic!("{other}"),
        }
    }

    /// Does something with the mouse where a text stands, at its first letter.
    #[track_caller]
    pub fn point(&mut self, gesture: Gesture, text: &str) -> Vec<Effect> {
        let screen = self.screen();
        let found = screen.lines().zip(0..).find_map(|(line, row)| {
            let column = line[..line.find(text)?].width() as u16;
            Some(Message::Mouse { gesture, column, row })
        });
        self.send(found.unwrap_or_else(|| panic!("{text:?} is not on the screen:\n{screen}")))
    }

    pub fn report(&mut self, reports: Vec<Report>, millis: u64) -> Vec<Effect> {
        let run = self.app.session.active.map_or(0, |active| active.run);
        let since = Duration::from_millis(millis);
        self.app.update(Message::Reports { run, reports, since })
    }

    pub fn end(&mut self, outcome: Outcome) -> Vec<Effect> {
        let run = self.app.session.active.map_or(0, |active| active.run);
        let after = Duration::from_millis(800);
        self.app.update(Message::Ended { run, outcome, after })
    }

    /// A run of the spiral that went well.
    pub fn train(&mut self, accuracy: f64) -> Vec<Effect> {
        let mut reports = vec![
            Report::Scalar { name: "parameters".into(), value: 1218_i64.into() },
            Report::Scalar { name: "steps_done".into(), value: 400_i64.into() },
        ];
        for step in 1..=400 {
            let loss = 0.7 * (-(step as f64) / 80.0).exp();
            reports.push(point("loss", step, loss));
        }
        reports.push(point("accuracy", 400, accuracy));
        self.report(reports, 700);
        self.end(Outcome::Finished)
    }

    pub fn buffer(&self) -> Buffer {
        let (width, height) = self.app.screen.size;
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| view::draw(&self.app, frame)).unwrap();
        terminal.backend().buffer().clone()
    }

    pub fn screen(&self) -> String {
        rows(&self.buffer()).join("\n")
    }

    /// Types the keys of each row, then looks at all that stands between ` | ` behind them; a row that fails does not
    /// end the script. A text is on the screen or, after `no: `, is not; after `does: ` and `does no: ` it is part of the
    /// effects that were asked for, `does nothing` means none; keys go to the place after `at: `; a run goes on, or none,
    /// at `busy` and `idle`; the screen is that of a file at `looks: `; `animation: ` and `clock: ` are those of the shown
    /// picture and its debugger.
    #[track_caller]
    pub fn follow(&mut self, rows: &[(&str, &str)]) {
        let fails = |row: &&(&str, &str)| catch_unwind(AssertUnwindSafe(|| self.row(row))).is_err();
        let failed: Vec<_> = rows.iter().filter(fails).collect();
        assert!(failed.is_empty(), "failed as said above: {failed:?}");
    }

    fn row(&mut self, (keys, expected): &(&str, &str)) {
        let effects = format!("{:?}", self.keys(keys));
        for text in expected.split(" | ") {
            let (kind, rest) = text.split_once(": ").unwrap_or((text, ""));
            match kind {
                "no" => self.hides(rest),
                "does" => assert!(effects.contains(rest), "{keys:?} does {effects}"),
                "does no" => assert!(!effects.contains(rest), "{keys:?} does {effects}"),
                "does nothing" => assert_eq!(effects, "[]", "{keys:?}"),
                "looks" => self.compare(rest),
                "at" => assert_eq!(self.app.place().word(), rest, "{keys:?}"),
                "animation" => assert_eq!(format!("{:?}", self.app.animation()), rest, "{keys:?}"),
                "clock" => {
                    let clock = self.lab().debugger.as_ref().unwrap().clock();
                    assert_eq!(clock.to_string(), rest, "{keys:?}");
                }
                "busy" => assert!(self.app.session.active.is_some(), "{keys:?}"),
                "idle" => assert!(self.app.session.active.is_none(), "{keys:?}"),
                _ => self.shows(text),
            }
        }
    }

    #[track_caller]
    pub fn shows(&self, text: &str) {
        let screen = self.screen();
        assert!(screen.contains(text), "{text:?} is not on the screen:\n{screen}");
    }

    #[track_caller]
    pub fn hides(&self, text: &str) {
        let screen = self.screen();
        assert!(!screen.contains(text), "{text:?} is on the screen:\n{screen}");
    }
}

pub fn point(name: &str, step: u64, value: f64) -> Report {
    Report::Point { name: name.into(), step, value }
}
