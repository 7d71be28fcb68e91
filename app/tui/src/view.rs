//! What the state looks like: reads it, draws it, changes nothing.

mod bars;
pub mod course;
pub mod editor;
mod footer;
mod glossary;
pub mod help;
pub mod hit;
pub mod lab;
pub mod lesson;
mod line;
pub mod palette;
pub mod presets;
mod problems;
mod prompt;
mod records;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Widget};

use crate::state::App;
use crate::state::overlay::Overlay;

/// Below this many columns text and lab take turns.
pub const TWO_SIDES: u16 = 100;

/// The least the pages can be drawn on; below it one sentence says so.
const LEAST: (u16, u16) = (24, 6);

/// Widest text: longer lines are hard to read.
const WIDEST_TEXT: u16 = 84;

pub fn draw(app: &App, frame: &mut Frame<'_>) {
    let area = frame.area();
    Block::new().style(app.screen.look.theme.screen).render(area, frame.buffer_mut());
    if area.width < LEAST.0 || area.height < LEAST.1 {
        Line::styled("too small: enlarge me", app.screen.look.theme.text)
            .render(area, frame.buffer_mut());
        return;
    }
    let [top, body, bottom] = rows(area);
    bars::title(app, top, frame.buffer_mut());
    let cursor = match &app.page {
        None => {
            course::draw(app, body, frame.buffer_mut());
            None
        }
        Some(page) => lesson::draw(app, page, body, frame.buffer_mut()),
    };
    problems::draw(app, body, frame.buffer_mut());
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
    let area = match overlay {
        Overlay::Help { .. }
        | Overlay::Problems { .. }
        | Overlay::Presets { .. }
        | Overlay::Line(_) => body,
        Overlay::Palette(_) | Overlay::Glossary(_) => palette::area(body),
        // These stand in the last line.
        Overlay::Confirm(_)
        | Overlay::Steps(_)
        | Overlay::Search(_)
        | Overlay::Filter(_)
        | Overlay::Rows(_)
        | Overlay::Weights(_) => {
            return None;
        }
        Overlay::Records(_) => records::area(body),
    };
    Clear.render(area, buffer);
    Block::new().style(app.screen.look.theme.screen).render(area, buffer);
    match overlay {
        Overlay::Help { scroll } => {
            help::draw(app, *scroll, area, buffer);
            None
        }
        Overlay::Problems { scroll } => {
            problems::all(app, *scroll, area, buffer);
            None
        }
        Overlay::Presets { chosen } => {
            presets::draw(app, *chosen, area, buffer);
            None
        }
        Overlay::Line(line) => {
            line::draw(app, line, area, buffer);
            None
        }
        Overlay::Palette(palette) => palette::draw(app, palette, area, buffer),
        Overlay::Glossary(terms) => glossary::draw(app, terms, area, buffer),
        Overlay::Confirm(_)
        | Overlay::Steps(_)
        | Overlay::Search(_)
        | Overlay::Filter(_)
        | Overlay::Rows(_)
        | Overlay::Weights(_) => None,
        Overlay::Records(records) => {
            records::draw(app, records, area, buffer);
            None
        }
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

/// The areas of the lesson page.
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
