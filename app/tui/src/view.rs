//! What the state looks like: reads it, draws it, changes nothing.

pub mod course;
pub mod editor;
mod footer;
pub mod hit;
pub mod lab;
pub mod lesson;
pub mod pages;

use mlsys_lab::device::{DeviceChoice, choose};
use mlsys_lab::{Backend, DeviceInfo, steers_terminal};
use mlsys_run::settings;
use mlsys_view::theme::Look;
use ratatui::prelude::*;
use ratatui::widgets::{Block, Clear};

use crate::lines::put;
use crate::list;
use crate::records::Records;
use crate::state::{App, Audience, Overlay, Preview};

/// Below this many columns text and lab take turns.
pub const TWO_SIDES: u16 = 100;

/// The least the pages can be drawn on; below it one sentence says so.
const LEAST: (u16, u16) = (24, 6);

/// Widest text: longer lines are hard to read.
const WIDEST_TEXT: u16 = 84;

pub fn draw(app: &App, frame: &mut Frame<'_>) {
    draw_all(app, frame);
    show_what_steers(frame.buffer_mut());
}

/// Puts U+FFFD for every character that would steer the terminal, from whatever file it came.
fn show_what_steers(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if cell.symbol().contains(steers_terminal) {
            cell.set_symbol("\u{fffd}");
        }
    }
}

fn draw_all(app: &App, frame: &mut Frame<'_>) {
    let area = frame.area();
    Block::new().style(app.theme().screen).render(area, frame.buffer_mut());
    if area.width < LEAST.0 || area.height < LEAST.1 {
        Line::styled("too small: enlarge me", app.theme().text).render(area, frame.buffer_mut());
        return;
    }
    let [top, body, bottom] = rows(area);
    title(app, top, frame.buffer_mut());
    let cursor = match &app.page {
        None if app.preview.as_ref().is_some_and(Preview::is_unopened) => None,
        None => {
            course::draw(app, body, frame.buffer_mut());
            None
        }
        Some(page) => lesson::draw(app, page, body, frame.buffer_mut()),
    };
    pages::draw_strip(app, body, frame.buffer_mut());
    let cursor = match &app.overlay {
        None => cursor,
        Some(overlay) => draw_overlay(app, overlay, body, frame.buffer_mut()),
    };
    let cursor = footer::draw(app, bottom, frame.buffer_mut()).or(cursor);
    if let Some(position) = cursor {
        frame.set_cursor_position(position);
    }
}

/// What lies over the page; returns where the cursor stands.
fn draw_overlay(app: &App, overlay: &Overlay, body: Rect, buffer: &mut Buffer) -> Option<Position> {
    let look = &app.screen.look;
    match overlay {
        Overlay::Help { scroll } => {
            pages::draw_help(app, *scroll, cleared(look, body, buffer), buffer)
        }
        Overlay::Problems { scroll } => {
            pages::draw_problems(app, *scroll, cleared(look, body, buffer), buffer);
        }
        Overlay::Presets { chosen } => {
            pages::draw_presets(app, *chosen, cleared(look, body, buffer), buffer);
        }
        Overlay::Line(line) => pages::draw_line(app, line, cleared(look, body, buffer), buffer),
        Overlay::Palette(palette) => {
            return palette.draw(look, cleared(look, list::area(body), buffer), buffer);
        }
        Overlay::Glossary(terms) => {
            let area = cleared(look, list::area(body), buffer);
            return terms.draw(look, &app.course.lessons, area, buffer);
        }
        Overlay::Records(records) => {
            let kind = app.lab().map_or("", |lab| lab.schema.kind.as_str());
            let params = app.lab().and_then(|lab| lab.params().ok());
            let area = cleared(look, Records::area(body), buffer);
            records.draw(look, kind, params.as_ref(), area, buffer);
        }
        // These stand in the last line.
        Overlay::Confirm(_) | Overlay::Search(_) | Overlay::Field(..) => {}
    }
    None
}

/// An area with what was drawn there taken away.
pub(crate) fn cleared(look: &Look, area: Rect, buffer: &mut Buffer) -> Rect {
    Clear.render(area, buffer);
    buffer.set_style(area, look.theme.screen);
    area
}

/// The line at the right of a text or list; its bold part is the part that is shown.
pub(crate) fn draw_edge(app: &App, area: Rect, scroll: usize, lines: usize, buffer: &mut Buffer) {
    let height = usize::from(area.height);
    for (row, cell) in area.rows().enumerate() {
        // The row stands for this range of lines.
        let (from, to) = (row * lines / height.max(1), (row + 1) * lines / height.max(1));
        let shown = lines > height && to > scroll && from < scroll + height;
        let style = if shown { app.theme().focus } else { app.theme().border };
        Line::styled(app.glyphs().vertical, style).render(cell, buffer);
    }
}

fn rows(area: Rect) -> [Rect; 3] {
    Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]).areas(area)
}

/// The page between the first and the last line.
pub fn body(size: (u16, u16)) -> Rect {
    let [_, body, _] = rows(Rect::new(0, 0, size.0, size.1));
    body
}

/// Where text and lab stand on the lesson page: side by side, or each alone below a line of tabs.
pub fn sides(size: (u16, u16)) -> Sides {
    let body = body(size);
    if size.0 >= TWO_SIDES {
        let text = (size.0 * 9 / 20).min(WIDEST_TEXT);
        let [text, lab] =
            Layout::horizontal([Constraint::Length(text), Constraint::Min(1)]).areas(body);
        Sides { text, lab, tabs: None }
    } else {
        let [tabs, rest] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(1)]).areas(body);
        Sides { text: rest, lab: rest, tabs: Some(tabs) }
    }
}

pub struct Sides {
    pub text: Rect,
    /// The lab; the same place as the text where they take turns.
    pub lab: Rect,
    pub tabs: Option<Rect>,
}

/// Columns and rows that the text of a lesson has.
pub fn text_size(size: (u16, u16)) -> (usize, usize) {
    let text = sides(size).text;
    // A column at the left stays free, and two at the right for the line that shows how far one has read.
    (usize::from(text.width.saturating_sub(3)).max(8), usize::from(text.height).max(1))
}

fn title(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme();
    let device = workers(app).unwrap_or_else(|| device(app));
    let place = match &app.page {
        None => match app.preview.as_ref().filter(|preview| preview.is_unopened()) {
            Some(preview) => preview.file.clone(),
            None => "the course".to_owned(),
        },
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
    put(&app.screen.look, left.clone(), area, buffer);
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

fn device(app: &App) -> String {
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
