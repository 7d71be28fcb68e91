//! The first and the last line of the screen.

use mlsys_lab::device::{DeviceChoice, choose};
use mlsys_lab::{Backend, DeviceInfo};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::ui::app::App;
use crate::ui::command::{self, Command};
use crate::ui::slot::State;

/// The name of the program, where the learner is, and the device.
pub fn title(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.look.theme;
    let device = device(app);
    let place = match &app.page {
        None => "the course".to_owned(),
        Some(page) => page.lesson.front.title.clone(),
    };
    let left = Line::from(vec![
        Span::styled(" mlsys ", theme.selection),
        Span::styled(format!(" {place}"), theme.title),
    ]);
    // A styled span and not a styled line: a line's style would colour the whole row.
    let right = Line::from(Span::styled(format!("{device} "), theme.dim));
    let room = usize::from(area.width);
    (&left).render(area, buffer);
    if left.width() + right.width() + 2 <= room {
        right.right_aligned().render(area, buffer);
    }
}

/// The device that new runs take, in words.
pub fn device(app: &App) -> String {
    let Some(devices) = &app.devices else {
        return "looking for devices".to_owned();
    };
    let named = |info: &DeviceInfo| format!("{} {}", info.id, info.name);
    match choose(app.choice, devices, &Backend::ALL) {
        Ok(id) => {
            let auto = if app.choice == DeviceChoice::Auto {
                "auto: "
            } else {
                ""
            };
            let name = devices.iter().find(|info| info.id == id).map(named);
            format!("{auto}{}", name.unwrap_or_else(|| id.to_string()))
        }
        Err(_) => format!("{} is not there", app.choice),
    }
}

/// A notice if there is one, else the keys that do something here, as many as fit.
pub fn footer(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.look.theme;
    if let Some(notice) = &app.notice {
        Line::styled(format!(" {notice}"), theme.warn).render(area, buffer);
        return;
    }
    let typing = app.page.as_ref().is_some_and(|page| page.entry.is_some());
    if typing && app.overlay.is_none() {
        let keys = [("enter", "keep"), ("esc", "drop")];
        let spans = keys.iter().flat_map(|(key, label)| hint(app, key, label));
        Line::from_iter(spans).render(area, buffer);
        return;
    }
    let mut line = Line::default();
    for binding in command::at(app.place()).filter(|row| app.satisfied(row).is_ok()) {
        if let Some(key) = binding.keys.first() {
            let label = label(app, binding.command, binding.label);
            let spans = hint(app, &key.to_string(), label);
            let width: usize = spans.iter().map(Span::width).sum();
            if line.width() + width > usize::from(area.width) {
                break;
            }
            line.spans.extend(spans);
        }
    }
    line.render(area, buffer);
}

fn hint(app: &App, key: &str, label: &str) -> [Span<'static>; 3] {
    let theme = &app.look.theme;
    [
        Span::styled(format!(" {key}"), theme.key),
        Span::styled(format!(" {label}"), theme.dim),
        Span::raw(" "),
    ]
}

/// What space does right now, said as what it does.
fn label(app: &App, command: Command, usual: &'static str) -> &'static str {
    if command != Command::Run || app.overlay.is_some() {
        return usual;
    }
    let state = app
        .page
        .as_ref()
        .and_then(|page| page.slot())
        .map(|slot| &slot.state);
    match state {
        Some(State::Running) => "pause",
        Some(State::Paused) => "go on",
        Some(State::Ready) => "run",
        Some(State::Finished | State::Diverged(_) | State::Stopped | State::Failed(_)) => {
            "run again"
        }
        None => usual,
    }
}
