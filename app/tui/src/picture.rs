//! A frame of the workbench as an SVG: a lesson opened, its first lab really run, drawn as the screen would be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::device::{DeviceChoice, DeviceInfo};
use mlsys_lab::lab::Run;
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::{Registry, UnknownKind};
use mlsys_lesson::{Lesson, Progress};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::key::Key;
use super::message::{Effect, Message};
use super::view;
use crate::state::App;
use mlsys_run::outcome::guarded;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::svg::to_svg;
use mlsys_view::theme::{Background, ColorDepth, Look, Theme};

pub fn picture(
    lesson: Arc<Lesson>,
    registry: &'static Registry,
    device: DeviceInfo,
    size: (u16, u16),
) -> Result<String, UnknownKind> {
    let look = Look {
        theme: Theme::new(Background::Dark, ColorDepth::TrueColor),
        glyphs: Glyphs::new(GlyphSet::Unicode),
    };
    let choice = DeviceChoice::Exactly(device.id);
    let mut app =
        App::new(vec![Arc::clone(&lesson)], registry, choice, Progress::default(), size, look);
    app.update(Message::Probed(vec![device]));
    app.open(lesson);
    // Once for the prediction that is asked for, once to run without one.
    let mut effects = app.update(Message::Key(Key::Char(' ')));
    effects.extend(app.update(Message::Key(Key::Char(' '))));
    for effect in effects {
        if let Effect::Start(start) = effect {
            let lab = registry.find(start.kind)?;
            let started = Instant::now();
            let mut kept = Kept::default();
            let run = Run {
                params: start.params,
                device: start.device,
                sink: &mut kept,
                control: Control::free(Limits::default(), Arc::default()),
            };
            let outcome = guarded(lab, run);
            let after = started.elapsed();
            let reports = kept.reports.into_iter().chain(kept.frames.into_values()).collect();
            app.update(Message::Reports { run: start.run, reports, since: after });
            app.update(Message::Ended { run: start.run, outcome, after });
        }
    }
    let backend = TestBackend::new(size.0, size.1);
    let Ok(mut terminal) = Terminal::new(backend);
    let Ok(_) = terminal.draw(|frame| view::draw(&app, frame));
    Ok(to_svg(terminal.backend().buffer(), app.theme()))
}

/// All reports, and of the pictures the last of each panel.
#[derive(Default)]
struct Kept {
    reports: Vec<Report>,
    frames: BTreeMap<Arc<str>, Report>,
}

impl Sink for Kept {
    fn report(&mut self, report: Report) {
        if let Report::Frame { panel, .. } = &report {
            self.frames.insert(Arc::clone(panel), report);
        } else {
            self.reports.push(report);
        }
    }

    fn wants_frame(&mut self, _panel: &str, moment: FrameTrigger) -> bool {
        moment == FrameTrigger::Final
    }
}
