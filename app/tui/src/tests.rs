//! The app by key scripts: what a learner types, what is asked for outside, what the screen says.

mod attempts;
mod charts;
mod kernel;

mod line;
mod mouse;
mod pages;
mod palette;
mod pictures;
mod presets;
mod reading;
mod records;
mod rounds;
mod runs;
mod screens;
mod sizes;
mod steering;
mod stepping;
mod texts;
mod weights;

use std::sync::Arc;
use std::time::Duration;

use mlsys_lab::device::{Backend, DeviceChoice, DeviceId, DeviceInfo, DeviceState};
use mlsys_lab::report::Report;
use mlsys_lesson::{Lesson, Progress};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::key::Key;
use super::message::{Effect, Message};
use super::view;
use crate::state::App;
use mlsys_harness::snapshot::rows;
use mlsys_run::outcome::Outcome;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};

const LESSON: &str = include_str!("tests/lesson.md");

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
        let app =
            App::new(vec![lesson()], registry, DeviceChoice::Auto, Progress::default(), size, look);
        Self { app }
    }

    /// The open lesson, with a processor and a GPU found.
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

    /// Types; `\n` is enter, `\t` tab, `\u{1b}` escape, and `<`, `>`, `^`, `_` are the arrows.
    pub fn keys(&mut self, text: &str) -> Vec<Effect> {
        let mut effects = Vec::new();
        for c in text.chars() {
            let key = match c {
                '\n' => Key::Enter,
                '\t' => Key::Tab,
                '\u{1b}' => Key::Esc,
                '<' => Key::Left,
                '>' => Key::Right,
                '^' => Key::Up,
                '_' => Key::Down,
                c => Key::Char(c),
            };
            effects.extend(self.app.update(Message::Key(key)));
        }
        effects
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

    /// What the screen says, line by line.
    pub fn screen(&self) -> String {
        rows(&self.buffer()).join("\n")
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

fn lesson() -> Arc<Lesson> {
    let parsed = mlsys_lesson::read("lesson.md", LESSON.as_bytes(), mlsys_registry::built_in());
    for diagnostic in &parsed.diagnostics {
        println!("{diagnostic}");
    }
    Arc::new(parsed.lesson.expect("the lesson of the tests is valid"))
}
