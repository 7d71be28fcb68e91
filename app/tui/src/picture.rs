//! A frame of the workbench as an SVG: a lesson opened, its first lab really run, drawn as the screen would be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::device::{DeviceChoice, DeviceId, DeviceInfo, NoDevice};
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
use mlsys_view::theme::{Look, Theme};

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    #[error(transparent)]
    Kind(#[from] UnknownKind),
    #[error(transparent)]
    Device(#[from] NoDevice),
}

/// Draws a lesson after its first lab has run. Devices are looked for only if that lab, or `choice`, needs one other than
/// the processor.
pub fn picture(
    lesson: Arc<Lesson>,
    registry: &'static Registry,
    choice: DeviceChoice,
    find: impl FnOnce(DeviceChoice) -> Result<DeviceInfo, NoDevice>,
    size: (u16, u16),
    theme: Theme,
) -> Result<String, PictureError> {
    let look = Look { theme, glyphs: Glyphs::new(GlyphSet::Unicode) };
    let mut app =
        App::new(vec![Arc::clone(&lesson)], registry, choice, Progress::default(), size, look);
    let mut effects = app.open(lesson);
    // Once for the prediction that is asked for, once to run without one.
    for _ in 0..2 {
        if effects.is_empty() && app.session.active.is_none() {
            effects.extend(app.update(Message::Key(Key::Char(' '))));
        }
    }
    let is_needed = app.session.active.is_some_and(|active| active.waiting);
    let is_free = choice == DeviceChoice::Auto && !is_needed;
    let wanted = if is_free { DeviceChoice::Exactly(DeviceId::CPU) } else { choice };
    effects.extend(app.update(Message::Probed(vec![find(wanted)?])));
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
