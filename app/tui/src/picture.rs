//! A frame of the workbench as an SVG: a lesson opened, its first lab really run, drawn as the screen would be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::device::{DeviceChoice, DeviceId, DeviceInfo, NoDevice};
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::params::Params;
use mlsys_lab::report::{FrameTrigger, Report, Sink};
use mlsys_lab::{Registry, UnknownKind};
use mlsys_lesson::{Lesson, Progress};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::key::Key;
use super::message::{Effect, Message};
use super::view;
use crate::state::{App, KnobError};
use mlsys_run::outcome::{Outcome, guarded};
use mlsys_run::settings::KnobTurn;
use mlsys_run::sources::WithArtifacts;
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
    #[error(transparent)]
    Knob(#[from] KnobError),
}

/// What is drawn, and how large.
pub struct Scene<'a> {
    pub lesson: Arc<Lesson>,
    pub turns: &'a [KnobTurn],
    /// Typed after the first lab has run, one key a letter.
    pub keys: &'a str,
    pub size: (u16, u16),
    pub theme: Theme,
}

/// Draws a lesson after its first lab has run. Devices are looked for only if that lab, or `choice`, needs one other than
/// the processor.
pub fn picture(
    scene: Scene<'_>,
    registry: &'static Registry,
    choice: DeviceChoice,
    find: impl FnOnce(DeviceChoice) -> Result<DeviceInfo, NoDevice>,
) -> Result<String, PictureError> {
    let Scene { lesson, turns, keys, size, theme } = scene;
    let look = Look { theme, glyphs: Glyphs::new(GlyphSet::Unicode) };
    let mut app =
        App::new(vec![Arc::clone(&lesson)], registry, choice, Progress::default(), size, look);
    let mut effects = app.open_at(lesson, turns)?;
    // Once for the prediction that is asked for, once to run without one.
    for _ in 0..2 {
        if app.session.active.is_none() {
            effects.extend(app.update(Message::Key(Key::Char(' '))));
        }
    }
    let is_needed = app.session.active.is_some_and(|active| active.waiting);
    let is_free = choice == DeviceChoice::Auto && !is_needed;
    let wanted = if is_free { DeviceChoice::Exactly(DeviceId::CPU) } else { choice };
    effects.extend(app.update(Message::Probed(vec![find(wanted)?])));
    finish(&mut app, effects)?;
    for key in keys.chars() {
        let effects = app.update(Message::Key(Key::Char(key)));
        finish(&mut app, effects)?;
    }
    let backend = TestBackend::new(size.0, size.1);
    let Ok(mut terminal) = Terminal::new(backend);
    let Ok(_) = terminal.draw(|frame| view::draw(&app, frame));
    Ok(to_svg(terminal.backend().buffer(), app.theme()))
}

/// Does the runs that were asked for, to their ends.
fn finish(app: &mut App, effects: Vec<Effect>) -> Result<(), UnknownKind> {
    for effect in effects {
        if let Effect::Start(start) = effect {
            let lab = app.registry.find(start.kind)?;
            let lab = WithArtifacts::new(lab, app.sources_of(&start.lab));
            let started = Instant::now();
            let (reports, outcome) = run_here(&lab, start.params, start.device, Limits::default());
            let after = started.elapsed();
            app.update(Message::Reports { run: start.run, reports, since: after });
            app.update(Message::Ended { run: start.run, outcome, after });
        }
    }
    Ok(())
}

/// Runs a lab to its end, or as far as it may go, on this thread; gives all reports, and of the pictures the last of each panel.
pub(crate) fn run_here(
    lab: &dyn Lab,
    params: Params,
    device: DeviceId,
    limits: Limits,
) -> (Vec<Report>, Outcome) {
    let mut kept = Kept::default();
    let control = Control::free(limits, Arc::default());
    let outcome = guarded(lab, Run { params, device, sink: &mut kept, control });
    (kept.reports.into_iter().chain(kept.frames.into_values()).collect(), outcome)
}

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
