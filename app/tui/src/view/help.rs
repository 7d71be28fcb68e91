//! The help page: the table of commands, what can be done here first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::body;
use crate::command::{Binding, Place, TABLE};
use crate::state::App;
use mlsys_view::text::wrap_spans;

/// Columns of the keys, where they fit next to the sentences.
const KEYS: usize = 16;
/// Below this width keys and sentences stand below each other.
const BESIDE: usize = 50;

/// Draws every command with its keys and its sentence, and why it cannot be done if it cannot.
pub fn draw(app: &App, scroll: usize, area: Rect, buffer: &mut Buffer) {
    let lines = lines(app, usize::from(area.width));
    let height = usize::from(area.height);
    let last = lines.len().saturating_sub(height);
    for (line, row) in lines.into_iter().skip(scroll.min(last)).zip(area.rows()) {
        line.render(row, buffer);
    }
}

pub fn longest(app: &App) -> usize {
    let body = body(app.screen.size);
    lines(app, usize::from(body.width)).len().saturating_sub(usize::from(body.height))
}

fn lines(app: &App, width: usize) -> Vec<Line<'static>> {
    let theme = &app.screen.look.theme;
    let ground = app.ground();
    let (here, rest): (Vec<_>, Vec<_>) = TABLE.iter().partition(|row| row.places.contains(&ground));
    let mut lines = vec![Line::styled(format!(" Keys here ({})", ground.word()), theme.title)];
    for row in here {
        lines.extend(entry(app, row, app.satisfied(row).err(), width));
    }
    let mut rest = rest;
    let home = |row: &Binding| row.places.first().copied();
    rest.sort_by_key(|row| Place::ALL.iter().position(|place| Some(*place) == home(row)));
    let mut before = None;
    for row in rest {
        if home(row) != before {
            before = home(row);
            let name = before.map_or("", Place::word);
            lines.push(Line::default());
            lines.push(Line::styled(format!(" Keys elsewhere ({name})"), theme.title));
        }
        lines.extend(entry(app, row, None, width));
    }
    lines
}

fn entry(app: &App, row: &Binding, refused: Option<String>, width: usize) -> Vec<Line<'static>> {
    let theme = &app.screen.look.theme;
    let keys = row.keys_text();
    let (key, text) = match refused {
        None => (theme.key, theme.text),
        Some(_) => (theme.dim, theme.dim),
    };
    let mut spans = vec![(row.help.to_owned(), text)];
    if let Some(reason) = refused {
        spans.push((format!(" (not now: {reason})"), theme.dim));
    }
    let room = width.saturating_sub(1);
    if width < BESIDE {
        let mut lines = vec![Line::styled(format!(" {keys}"), key)];
        lines.extend(wrap_spans(&spans, room, Span::raw("   "), Span::raw("   ")));
        lines
    } else {
        let keys = Span::styled(format!(" {keys:<KEYS$}"), key);
        wrap_spans(&spans, room, keys, Span::raw(" ".repeat(KEYS + 1)))
    }
}
