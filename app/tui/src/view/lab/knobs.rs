//! The knobs: name, value, and whether they act at once.

use mlsys_lab::schema::Type;
use mlsys_lab::value::Value;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::state::App;
use crate::state::lab::{Knob, LabState};
use crate::state::page::{Page, Side};
use crate::text_field::FieldPurpose;

const KNOB: u16 = 31;

/// Rows that all knobs need at a width.
pub fn rows(lab: &LabState, width: u16) -> u16 {
    let across = usize::from((width / KNOB).max(1));
    let (wide, narrow) = by_width(lab);
    (wide.len() + narrow.len().div_ceil(across)) as u16
}

/// The knobs that hold texts and take a row each, and those that stand in columns below them.
fn by_width(lab: &LabState) -> (Vec<usize>, Vec<usize>) {
    (0..lab.controls.knobs.len()).partition(|&index| match lab.controls.knobs[index].ty() {
        Type::String | Type::Table | Type::Array => true,
        Type::Int | Type::Float | Type::Bool | Type::Enum => false,
    })
}

/// Where each knob is that can be seen: texts a row each, then the others column by column.
pub fn cells(lab: &LabState, area: Rect) -> Vec<(usize, Rect)> {
    if area.height == 0 || lab.controls.knobs.is_empty() {
        return Vec::new();
    }
    let (wide, narrow) = by_width(lab);
    let rows = wide.iter().copied().zip(area.rows());
    let mut cells: Vec<(usize, Rect)> = rows.collect();
    let above = (wide.len() as u16).min(area.height);
    let area = Rect::new(area.x, area.y + above, area.width, area.height - above);
    let across = usize::from((area.width / KNOB).max(1));
    let down = narrow.len().div_ceil(across).max(1);
    let width = area.width / across as u16;
    // Where there are more rows than fit, the marked one stays in view.
    let marked = narrow.iter().position(|&index| index == lab.controls.marked);
    let skip = (marked.unwrap_or(0) % down + 1).saturating_sub(usize::from(area.height));
    let shown = skip..skip + usize::from(area.height);
    let placed = narrow.iter().enumerate();
    cells.extend(placed.filter(|(place, _)| shown.contains(&(place % down))).map(
        |(place, &index)| {
            let (column, row) = ((place / down) as u16, (place % down - skip) as u16);
            let cell = Rect::new(area.x + column * width, area.y + row, width, 1);
            (index, cell.intersection(area))
        },
    ));
    cells
}

/// Draws the knobs column by column; returns where the cursor stands if a value is being typed.
pub fn draw(
    app: &App,
    page: &Page,
    lab: &LabState,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let mut cursor = None;
    for (index, cell) in cells(lab, area) {
        if let Some(knob) = lab.controls.knobs.get(index) {
            let at = draw_knob(app, page, lab, knob, index, cell, buffer);
            cursor = cursor.or(at);
        }
    }
    cursor
}

fn draw_knob(
    app: &App,
    page: &Page,
    lab: &LabState,
    knob: &Knob,
    index: usize,
    cell: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = &app.screen.look.theme;
    let marked = index == lab.controls.marked;
    let focused = marked && page.side == Side::Lab;
    let name_style = if focused { theme.selection } else { theme.text };
    let changed = knob.value != knob.initial;
    let mut line = Line::from(vec![
        Span::styled(if marked { app.screen.look.glyphs.arrow } else { " " }, theme.accent),
        Span::styled(format!("{} ", knob.name), name_style),
    ]);
    if let (true, Some(entry)) =
        (focused, page.entry.as_ref().filter(|entry| entry.purpose == FieldPurpose::Knob))
    {
        // A text longer than its cell slides so that the cursor stays in it.
        let room = usize::from(cell.width).saturating_sub(line.width() + 1);
        let slid = entry.cursor_column().saturating_sub(room);
        let column = line.width() + entry.cursor_column() - slid;
        line.spans.push(Span::styled(
            entry.text().chars().skip(slid).collect::<String>(),
            theme.text.add_modifier(Modifier::UNDERLINED),
        ));
        line.render(cell, buffer);
        return Some(Position::new(
            cell.x + (column as u16).min(cell.width.saturating_sub(1)),
            cell.y,
        ));
    }
    let value = knob.value.as_ref().map_or("unset".to_owned(), Value::to_string);
    let value_style = if changed { theme.warn } else { theme.accent };
    line.spans.push(Span::styled(value, value_style));
    let remark = match (changed, knob.param.live) {
        (true, true) => " live, changed",
        // A lab that answers at once has answered by now.
        (true, false) if !lab.schema.is_live() => " changed",
        (true, false) => " next run",
        (false, true) => " live",
        (false, false) => "",
    };
    line.spans.push(Span::styled(remark, theme.dim));
    line.render(cell, buffer);
    None
}
