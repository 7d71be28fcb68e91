//! The palette: a field, and below it what matches, the letters that match underlined.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use unicode_width::UnicodeWidthChar;

use crate::fuzzy::Query;
use crate::palette::{Item, Palette};
use crate::state::App;

/// Most columns and rows it takes.
const LARGEST: (u16, u16) = (96, 22);
/// From this width on it leaves the page visible around it, in a box.
pub(super) const BOXED: u16 = 60;
/// Columns of the word for the kind of an entry.
const KIND: usize = 9;

pub fn area(body: Rect) -> Rect {
    let width = if body.width < BOXED { body.width } else { (body.width - 4).min(LARGEST.0) };
    let height = body.height.min(LARGEST.1);
    Rect::new(body.x + (body.width - width) / 2, body.y, width, height)
}

/// The rows of its list, where a click or the wheel finds them.
pub fn list(area: Rect) -> Rect {
    let boxed = u16::from(area.width >= BOXED);
    Rect::new(
        area.x + boxed,
        area.y + 1 + boxed,
        area.width.saturating_sub(2 * boxed),
        area.height.saturating_sub(1 + 2 * boxed),
    )
}

/// How many entries at the top are scrolled away.
pub fn skipped(palette: &Palette, list: Rect) -> usize {
    (palette.chosen + 1).saturating_sub(usize::from(list.height))
}

pub fn draw(app: &App, palette: &Palette, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let theme = &app.screen.look.theme;
    let list = list(area);
    if list.height == 0 {
        return None;
    }
    if list.x > area.x {
        draw_box(app, area, buffer);
    }
    let field = Rect::new(list.x, list.y - 1, list.width, 1);
    let typed = palette.entry.text();
    let prompt = Span::styled(" : ", theme.key);
    let count = format!("{} of {} ", palette.found.len(), palette.items.len());
    let column = prompt.width() + palette.entry.cursor_column();
    Line::from(vec![prompt, Span::styled(typed.to_owned(), theme.text)]).render(field, buffer);
    if typed.is_empty() {
        let hint = Rect { x: field.x + 4, width: field.width.saturating_sub(4), ..field };
        Line::styled("type some letters of its name", theme.dim).render(hint, buffer);
    }
    if column + 1 + count.len() < usize::from(field.width) {
        let count = Line::from(Span::styled(count, theme.dim));
        let at = field.right() - count.width() as u16;
        if !typed.is_empty() || at > field.x + 36 {
            count.render(Rect { x: at, width: field.right() - at, ..field }, buffer);
        }
    }
    if palette.found.is_empty() {
        Line::styled(" nothing has these letters in this order", theme.dim).render(list, buffer);
    }
    let query = palette.query();
    let skip = skipped(palette, list);
    let shown = palette.found.iter().enumerate().skip(skip);
    for ((place, &index), row) in shown.zip(list.rows()) {
        if let Some(item) = palette.items.get(index) {
            let marked = place == palette.chosen;
            line(app, item, &query, marked, usize::from(row.width)).render(row, buffer);
        }
    }
    let x = field.x + (column as u16).min(field.width.saturating_sub(1));
    Some(Position::new(x, field.y))
}

/// One entry in a width: the mark, its kind, name and description or the reason against it, and its keys.
fn line(app: &App, item: &Item, query: &Query, marked: bool, width: usize) -> Line<'static> {
    let theme = &app.screen.look.theme;
    let refused = item.refused.as_deref();
    let mark = if marked { app.screen.look.glyphs.arrow } else { " " };
    let mut line = Line::from(Span::styled(format!("{mark:<2}"), theme.accent));
    if width >= usize::from(BOXED) - 2 {
        let word = item.target.word();
        line.spans.push(Span::styled(format!("{word:<KIND$}"), theme.dim));
    }
    let keys = if refused.is_some() { "" } else { item.keys.as_str() };
    let keys_wide = if keys.is_empty() { 0 } else { keys.chars().count() + 2 };
    let room = width.saturating_sub(line.width() + keys_wide);
    let (name, about) = match (refused, marked) {
        (Some(_), _) => (theme.dim, theme.dim),
        (None, true) => (theme.selection, theme.dim),
        (None, false) => (theme.text, theme.dim),
    };
    let places = query.places(&item.text);
    let letters = item.text.letters().iter().enumerate().map(|(at, &letter)| {
        let style = if at < item.name { name } else { about };
        let matched = places.binary_search(&at).is_ok();
        let style =
            if matched { style.add_modifier(Modifier::UNDERLINED | Modifier::BOLD) } else { style };
        (letter, style)
    });
    let reason = refused.map(|reason| format!("  {reason}"));
    let mut text: Vec<(char, Style)> = match &reason {
        // The reason says more than the description and takes its room.
        Some(_) => letters.take(item.name).collect(),
        None => letters.collect(),
    };
    text.extend(reason.iter().flat_map(|reason| reason.chars()).map(|c| (c, theme.warn)));
    let used = push_letters(&mut line, &text, room, app.screen.look.glyphs.ellipsis);
    if !keys.is_empty() && room + keys_wide >= used {
        line.spans.push(Span::raw(" ".repeat(room - used + 1)));
        line.spans.push(Span::styled(keys.to_owned(), theme.key));
    }
    line
}

/// Adds letters as far as they fit and returns the columns they take; what is cut ends in a sign for it.
fn push_letters(
    line: &mut Line<'static>,
    letters: &[(char, Style)],
    room: usize,
    ellipsis: &'static str,
) -> usize {
    let wide = |c: char| c.width().unwrap_or(0);
    let all: usize = letters.iter().map(|&(c, _)| wide(c)).sum();
    let end = if all <= room { room } else { room.saturating_sub(1) };
    let mut used = 0;
    for &(c, style) in letters {
        if used + wide(c) > end {
            line.spans.push(Span::styled(ellipsis, style));
            return used + 1;
        }
        used += wide(c);
        match line.spans.last_mut() {
            Some(last) if last.style == style && used > wide(c) => last.content.to_mut().push(c),
            Some(_) | None => line.spans.push(Span::styled(c.to_string(), style)),
        }
    }
    used
}

pub(super) fn draw_box(app: &App, area: Rect, buffer: &mut Buffer) {
    let glyphs = &app.screen.look.glyphs;
    let style = app.screen.look.theme.focus;
    let [top_left, top_right, bottom_left, bottom_right] = glyphs.corners;
    let rule = glyphs.horizontal.repeat(usize::from(area.width).saturating_sub(2));
    let rows = usize::from(area.height);
    for (row, cell) in area.rows().enumerate() {
        let text = if row == 0 {
            format!("{top_left}{rule}{top_right}")
        } else if row + 1 == rows {
            format!("{bottom_left}{rule}{bottom_right}")
        } else {
            let inside = " ".repeat(usize::from(area.width).saturating_sub(2));
            format!("{0}{inside}{0}", glyphs.vertical)
        };
        Line::styled(text, style).render(cell, buffer);
    }
}
