//! The knobs: name, value, and whether they act at once.

use mlsys_lab::value::Value;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::ui::app::App;
use crate::ui::entry::For;
use crate::ui::page::{Page, Side};
use crate::ui::slot::{Knob, Slot};

/// Columns of one knob.
const KNOB: u16 = 31;

/// Rows that all knobs need at a width.
pub fn rows(slot: &Slot, width: u16) -> u16 {
    let across = usize::from((width / KNOB).max(1));
    slot.knobs.len().div_ceil(across) as u16
}

/// Where each knob is that can be seen, column by column.
pub fn cells(slot: &Slot, area: Rect) -> Vec<(usize, Rect)> {
    if area.height == 0 || slot.knobs.is_empty() {
        return Vec::new();
    }
    let across = usize::from((area.width / KNOB).max(1));
    let down = slot.knobs.len().div_ceil(across);
    let width = area.width / across as u16;
    // Where there are more rows than fit, the marked one stays in view.
    let skip = (slot.knob % down + 1).saturating_sub(usize::from(area.height));
    let shown = skip..skip + usize::from(area.height);
    (0..slot.knobs.len())
        .filter(|index| shown.contains(&(index % down)))
        .map(|index| {
            let (column, row) = ((index / down) as u16, (index % down - skip) as u16);
            let cell = Rect::new(area.x + column * width, area.y + row, width, 1);
            (index, cell.intersection(area))
        })
        .collect()
}

/// Draws the knobs column by column; returns where the cursor stands if a value is being typed.
pub fn draw(
    app: &App,
    page: &Page,
    slot: &Slot,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let mut cursor = None;
    for (index, cell) in cells(slot, area) {
        if let Some(knob) = slot.knobs.get(index) {
            let at = draw_knob(app, page, slot, knob, index, cell, buffer);
            cursor = cursor.or(at);
        }
    }
    cursor
}

fn draw_knob(
    app: &App,
    page: &Page,
    slot: &Slot,
    knob: &Knob,
    index: usize,
    cell: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = &app.look.theme;
    let marked = index == slot.knob;
    let focused = marked && page.side == Side::Lab;
    let name_style = if focused { theme.selection } else { theme.text };
    let changed = knob.value != knob.initial;
    let mut line = Line::from(vec![
        Span::styled(
            if marked { app.look.glyphs.arrow } else { " " },
            theme.accent,
        ),
        Span::styled(format!("{} ", knob.param.name), name_style),
    ]);
    if let (true, Some(entry)) = (
        focused,
        page.entry
            .as_ref()
            .filter(|entry| entry.purpose == For::Knob),
    ) {
        let column = line.width() + entry.cursor_column();
        line.spans.push(Span::styled(
            entry.text().to_owned(),
            theme.text.add_modifier(Modifier::UNDERLINED),
        ));
        line.render(cell, buffer);
        return Some(Position::new(
            cell.x + (column as u16).min(cell.width.saturating_sub(1)),
            cell.y,
        ));
    }
    let value = knob
        .value
        .as_ref()
        .map_or("unset".to_owned(), Value::to_string);
    let value_style = if changed { theme.warn } else { theme.accent };
    line.spans.push(Span::styled(value, value_style));
    let remark = match (changed, knob.param.live) {
        (true, true) => " live, changed",
        (true, false) => " next run",
        (false, true) => " live",
        (false, false) => "",
    };
    line.spans.push(Span::styled(remark, theme.dim));
    line.render(cell, buffer);
    None
}
