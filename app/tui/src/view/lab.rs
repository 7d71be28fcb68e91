//! The lab: which one, its pictures, its knobs, and where the run stands.

mod layout;
pub(crate) mod status;

use mlsys_lab::schema::Type;
use mlsys_view::panel::{Focus, Scene, draw_panel, words};
use mlsys_view::text::wrap_spans;
use ratatui::prelude::*;
use unicode_width::UnicodeWidthStr;

pub use self::layout::{cells, chosen_cells};
use super::sides;
use crate::lines::{draw_lines, put};
use crate::state::{App, Knob, LabState, Page, RunStatus, Side, Telling};

pub struct Areas {
    pub head: Rect,
    pub panels: Rect,
    said: Rect,
    pub knobs: Rect,
    state: Rect,
}

pub fn areas(app: &App, lab: &LabState, area: Rect) -> Areas {
    let inner = within(area);
    let strip = knob_rows(lab, inner.width).min(inner.height / 3);
    let message = status::message(app, lab, usize::from(inner.width));
    let said = (message.len() as u16).min(inner.height / 4);
    let [head, panels, said, knobs, state] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(said),
        Constraint::Length(strip),
        Constraint::Length(1),
    ])
    .areas(inner);
    Areas { head, panels, said, knobs, state }
}

pub fn chosen_areas(area: Rect) -> [Rect; 2] {
    Layout::vertical([Constraint::Min(1), Constraint::Length(1)]).areas(within(area))
}

fn within(area: Rect) -> Rect {
    Rect::new(area.x + 1, area.y, area.width.saturating_sub(2), area.height)
}

pub fn draw(app: &App, page: &Page, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let Some(lab) = page.lab() else {
        Line::styled(" this lesson has no lab", app.theme().dim).render(area, buffer);
        return None;
    };
    let message = status::message(app, lab, usize::from(within(area).width));
    let Areas { head, panels, said, knobs: knob_rows, state } = areas(app, lab, area);
    let untold = draw_head(app, page, head, buffer);
    match page.telling {
        Telling::Drawn => draw_panels(app, page, lab, panels, buffer),
        Telling::InWords => {
            let places = 0..lab.pictures.panels.len();
            let order: Vec<usize> = places.filter_map(|place| lab.pictures.after(place)).collect();
            say_panels(app, lab, &order, panels, buffer);
        }
    }
    draw_lines(&app.screen.look, message, said, buffer);
    let cursor = draw_knobs(app, page, lab, knob_rows, buffer);
    status::draw(app, lab, untold, state, buffer);
    cursor
}

pub fn draw_chosen(app: &App, page: &Page, area: Rect, buffer: &mut Buffer) {
    let Some(lab) = page.lab() else {
        Line::styled(" this lesson has no lab", app.theme().dim).render(area, buffer);
        return;
    };
    let [picture, state] = chosen_areas(area);
    match (lab.chosen(), page.telling) {
        (Some(_), Telling::Drawn) => {
            draw_cells(app, page, lab, chosen_cells(page, lab, &app.screen.look, picture), buffer);
        }
        (Some(index), Telling::InWords) => say_panels(app, lab, &[index], picture, buffer),
        (None, _) => {
            Line::styled("this lab has no picture", app.theme().dim).render(picture, buffer);
        }
    }
    match &page.fault {
        // There is no room for a message of its own.
        Some(visit) => {
            let line = format!("{} {}", app.glyphs().wrong, visit.sentence);
            put(&app.screen.look, Line::styled(line, app.theme().bad), state, buffer);
        }
        None => status::draw(app, lab, None, state, buffer),
    }
}

/// The columns of the number of labs that come before or follow.
const MORE: usize = 4;

/// The lesson's labs by id, each with how its run stands, as many as follow each other in the first line: from the first on,
/// or from a later one where the shown lab would lie beyond the end. Before and behind them the number of all others, with
/// the lab that is next there.
pub fn head_names(app: &App, page: &Page, width: u16) -> Vec<(usize, String)> {
    let names = page.labs.iter().map(|lab| {
        let sign = match &lab.run.state {
            RunStatus::Ready if page.finished_before.contains(&lab.id) => app.glyphs().right,
            RunStatus::Ready => return format!(" {} ", lab.id),
            RunStatus::Running => app.glyphs().running,
            RunStatus::Paused => app.glyphs().paused,
            RunStatus::Finished => app.glyphs().right,
            RunStatus::Diverged(_) | RunStatus::Stopped | RunStatus::Failed(_) => {
                app.glyphs().wrong
            }
        };
        format!(" {} {sign} ", lab.id)
    });
    let names: Vec<(usize, String)> = names.enumerate().collect();
    let all = names.len();
    let fits = |first: usize, end: usize| {
        let signs = usize::from(first > 0) + usize::from(end < all);
        let wide = names[first..end].iter().map(|(_, name)| name.width()).sum::<usize>();
        wide + signs * MORE <= usize::from(width)
    };
    let after = (page.current + 1).min(all);
    let first = (0..page.current).find(|first| fits(*first, after)).unwrap_or(page.current);
    let end = (after..=all).rev().find(|end| fits(first, *end)).unwrap_or(after);
    let sign = |lab: usize, count: usize| (count > 0).then(|| (lab, format!(" +{count}")));
    let before = sign(first.saturating_sub(1), first);
    let others = names[first..end].iter().cloned();
    before.into_iter().chain(others).chain(sign(end, all - end)).collect()
}

/// Draws the row of labs; returns the title of the shown one if there is no room for it.
fn draw_head<'p>(app: &App, page: &'p Page, area: Rect, buffer: &mut Buffer) -> Option<&'p str> {
    let theme = app.theme();
    let mut line = Line::default();
    let names = head_names(app, page, area.width);
    for (index, name) in names {
        let style = match (index == page.current, page.focus()) {
            (true, Side::Lab) => theme.selection,
            (true, Side::Text | Side::Picture) => theme.accent,
            (false, _) => theme.dim,
        };
        line.spans.push(Span::styled(name, style));
    }
    let mut untold = None;
    if let Some(lab) = page.lab() {
        let title = Span::styled(format!("  {}", lab.title), theme.title);
        if line.width() + title.width() <= usize::from(area.width) {
            line.spans.push(title);
        } else {
            untold = Some(lab.title.as_str());
        }
    }
    put(&app.screen.look, line, area, buffer);
    untold
}

fn say_panels(app: &App, lab: &LabState, panels: &[usize], area: Rect, buffer: &mut Buffer) {
    let mut lines = Vec::new();
    for &index in panels {
        if let Some(scene) = lab.scene(index) {
            let (name, said) = (format!("{}: ", scene.panel.name), words(&scene));
            let said = said.strip_prefix(&name).unwrap_or(&said).to_owned();
            let width = usize::from(area.width);
            let mut head = Some((name, app.theme().title));
            for line in said.lines() {
                // What is below the first line is a part of it.
                let lead = Span::raw(if head.is_some() { "" } else { "  " });
                let line = (line.to_owned(), app.theme().text);
                let spans: Vec<_> = head.take().into_iter().chain([line]).collect();
                lines.extend(wrap_spans(&spans, width, lead, Span::raw("  ")));
            }
            lines.push(Line::default());
        }
    }
    draw_lines(&app.screen.look, lines, area, buffer);
}

fn scene<'a>(page: &Page, lab: &'a LabState, index: usize) -> Option<Scene<'a>> {
    let acted_on = page.focus() == Side::Picture && lab.chosen() == Some(index);
    Some(Scene { focus: if acted_on { Focus::Keys } else { Focus::Aside }, ..lab.scene(index)? })
}

/// The pictures that can be seen now, as indices into the lab's panels.
pub fn shown(app: &App, page: &Page) -> Vec<usize> {
    let Some(lab) = page.lab() else { return Vec::new() };
    let sides = sides(app.screen.size);
    if page.full_screen.is_some() || (sides.tabs.is_some() && page.side == Side::Picture) {
        let [picture, _] = chosen_areas(sides.lab);
        let places = chosen_cells(page, lab, &app.screen.look, picture).into_iter();
        return places.filter_map(|(place, _)| lab.pictures.after(place)).collect();
    }
    if sides.tabs.is_some() && page.side == Side::Text {
        return Vec::new();
    }
    match page.telling {
        Telling::InWords => lab.pictures.panels.clone(),
        Telling::Drawn => {
            let panels = areas(app, lab, sides.lab).panels;
            let cells = cells(lab, &app.screen.look, panels).into_iter();
            cells.filter_map(|(place, _)| lab.pictures.after(place)).collect()
        }
    }
}

fn draw_panels(app: &App, page: &Page, lab: &LabState, area: Rect, buffer: &mut Buffer) {
    draw_cells(app, page, lab, cells(lab, &app.screen.look, area), buffer);
}

fn draw_cells(
    app: &App,
    page: &Page,
    lab: &LabState,
    cells: Vec<(usize, Rect)>,
    buffer: &mut Buffer,
) {
    for (place, cell) in cells {
        if let Some(scene) = lab.pictures.after(place).and_then(|index| scene(page, lab, index)) {
            draw_panel(cell, buffer, &scene, &app.screen.look);
        }
    }
}

const LIVE: &str = " live";
const NEXT_RUN: &str = " next run";
const NEXT_STEP: &str = " next step";

/// The columns of a knob with the longest of its values and what is told of it.
fn knob_width(lab: &LabState, knob: &Knob) -> u16 {
    let value = knob.values.iter().map(|value| value.to_string().width());
    let value = value.max().unwrap_or(0).max(knob.value_text().width());
    let remark = match (knob.param.live, lab.schema.is_live()) {
        (true, _) => LIVE.width(),
        (false, true) => NEXT_RUN.width(),
        (false, false) => 0,
    };
    (knob.name.width() + value + remark + 4) as u16
}

/// How many knobs stand next to each other.
fn across(lab: &LabState, narrow: &[usize], width: u16) -> usize {
    let knobs = narrow.iter().filter_map(|&index| lab.controls.knobs.get(index));
    let widest = knobs.map(|knob| knob_width(lab, knob)).max().unwrap_or(1);
    usize::from((width / widest.max(1)).clamp(1, 4))
}

fn knob_rows(lab: &LabState, width: u16) -> u16 {
    let (wide, narrow) = by_width(lab);
    let across = across(lab, &narrow, width);
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
pub fn knob_cells(lab: &LabState, area: Rect) -> Vec<(usize, Rect)> {
    if area.height == 0 || lab.controls.knobs.is_empty() {
        return Vec::new();
    }
    let (wide, narrow) = by_width(lab);
    let rows = wide.iter().copied().zip(area.rows());
    let mut cells: Vec<(usize, Rect)> = rows.collect();
    let above = (wide.len() as u16).min(area.height);
    let area = Rect::new(area.x, area.y + above, area.width, area.height - above);
    let across = across(lab, &narrow, area.width);
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

fn draw_knobs(
    app: &App,
    page: &Page,
    lab: &LabState,
    area: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let mut cursor = None;
    for (index, cell) in knob_cells(lab, area) {
        cursor = draw_knob(app, page, lab, index, cell, buffer).or(cursor);
    }
    cursor
}

fn draw_knob(
    app: &App,
    page: &Page,
    lab: &LabState,
    index: usize,
    cell: Rect,
    buffer: &mut Buffer,
) -> Option<Position> {
    let theme = app.theme();
    let knob = lab.controls.knobs.get(index)?;
    let marked = index == lab.controls.marked;
    let focused = marked && page.focus() == Side::Lab;
    let name_style = if focused { theme.selection } else { theme.text };
    let changed = knob.value != knob.initial;
    let mut line = Line::from(vec![
        Span::styled(if marked { app.glyphs().arrow } else { " " }, theme.accent),
        Span::styled(format!("{} ", knob.name), name_style),
    ]);
    if let Some(entry) = page.knob_entry().filter(|_| focused) {
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
    let value_style = if changed { theme.warn } else { theme.accent };
    let sign = if changed { "*" } else { "" };
    line.spans.push(Span::styled(format!("{}{sign}", knob.value_text()), value_style));
    let is_in_force =
        lab.run.state != RunStatus::Ready && lab.run.turned_at_start.contains(&knob.named_value());
    let is_heard = lab.last_value(&knob.name) == Some(&knob.named_value().1);
    let waits_for = match &lab.run.state {
        RunStatus::Ready | RunStatus::Running => None,
        RunStatus::Paused => Some(NEXT_STEP),
        RunStatus::Finished
        | RunStatus::Diverged(_)
        | RunStatus::Stopped
        | RunStatus::Failed(_) => Some(NEXT_RUN),
    };
    let room = usize::from(cell.width).saturating_sub(line.width());
    let waits_for = waits_for.filter(|word| !is_heard && word.width() <= room);
    let remark = match (changed && !is_in_force, knob.param.live) {
        (_, true) => waits_for.unwrap_or(LIVE),
        // A lab that answers at once has answered by now.
        (true, false) if lab.schema.is_live() => NEXT_RUN,
        (_, false) => "",
    };
    line.spans.push(Span::styled(remark, theme.dim));
    put(&app.screen.look, line, cell, buffer);
    None
}
