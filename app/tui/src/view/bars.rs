//! The first and the last line of the screen.

use mlsys_lab::device::{DeviceChoice, choose};
use mlsys_lab::{Backend, DeviceInfo};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::state::App;
use crate::state::page::Audience;
use mlsys_run::settings;

/// The name of the program, where the learner is, and the device.
pub fn title(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.screen.look.theme;
    let device = workers(app).unwrap_or_else(|| device(app));
    let place = match &app.page {
        None => "the course".to_owned(),
        Some(page) => page.lesson.front.title.clone(),
    };
    let mut left = Line::from(vec![
        Span::styled(" mlsys ", theme.selection),
        Span::styled(format!(" {place}"), theme.title),
    ]);
    let audience = app.page.as_ref().map(|page| page.audience);
    if audience == Some(Audience::Instructor) {
        left.push_span(Span::styled("  instructor view", theme.warn));
    }
    // A styled span and not a styled line: a line's style would colour the whole row.
    let right = Line::from(Span::styled(format!("{device} "), theme.dim));
    let room = usize::from(area.width);
    (&left).render(area, buffer);
    if left.width() + right.width() + 2 <= room {
        right.right_aligned().render(area, buffer);
    }
}

/// Where the workers of the lab that is shown are, if they are elsewhere.
fn workers(app: &App) -> Option<String> {
    let (urls, page) = (app.session.workers.as_deref()?, app.page.as_ref()?);
    let lab = page.labs.get(page.current)?;
    settings::takes_workers(lab.schema).then(|| format!("workers at {urls}"))
}

/// The device that new runs take, in words.
pub fn device(app: &App) -> String {
    let Some(devices) = &app.hardware.devices else { return "looking for devices".to_owned() };
    let named = |info: &DeviceInfo| format!("{} {}", info.id, info.name);
    match choose(app.hardware.choice, devices, &Backend::ALL) {
        Ok(id) => {
            let auto = if app.hardware.choice == DeviceChoice::Auto { "auto: " } else { "" };
            let name = devices.iter().find(|info| info.id == id).map(named);
            format!("{auto}{}", name.unwrap_or_else(|| id.to_string()))
        }
        Err(_) => format!("{} is not there", app.hardware.choice),
    }
}
