//! What lies under a place on the screen, from the layout that it was drawn with.

use ratatui::layout::{Position, Rect};
use unicode_width::UnicodeWidthStr;

use super::{body, course, editor, lab, lesson, pages, sides, text_size};
use crate::state::{App, LabState, Overlay, Page, Side, Telling};
use crate::{document, list};
use mlsys_view::panel::{self, Spot};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// An entry of what lies over the page, or anywhere in it.
    Over(Option<usize>),
    Outside,
    Lesson(usize),
    Tab(Side),
    Text(Option<usize>),
    /// An option of a question or prediction: the block and which.
    Choice(usize, usize),
    Lab(usize),
    /// A picture, by its place after the chosen one, and the step there.
    Picture(usize, Option<u64>),
    /// A part of a kernel's picture, by the picture's place after the chosen one.
    Spot(usize, Spot),
    Knob(usize),
    Kernel(usize, usize),
}

pub fn at(app: &App, column: u16, row: u16) -> Option<Hit> {
    let position = Position::new(column, row);
    let area = body(app.screen.size);
    if let Some(overlay) = &app.overlay {
        return over(app, overlay, area, position);
    }
    if !area.contains(position) {
        return None;
    }
    match &app.page {
        None => {
            let [list, _] = course::areas(area);
            let row = list.contains(position).then(|| position.y - list.y)?;
            let lines = course::shown(app, list);
            lines.get(usize::from(row))?.1.map(Hit::Lesson)
        }
        Some(page) => on_page(app, page, area, position),
    }
}

fn over(app: &App, overlay: &Overlay, body: Rect, at: Position) -> Option<Hit> {
    if let Overlay::Palette(palette) = overlay {
        let area = list::area(body);
        if !area.contains(at) {
            return Some(Hit::Outside);
        }
        let rows = list::rows(area);
        let row = rows.contains(at).then(|| usize::from(at.y - rows.y));
        let entry = row.map(|row| row + palette.list.skipped(rows.height));
        return Some(Hit::Over(entry.filter(|&entry| entry < palette.list.found.len())));
    }
    if let Overlay::Presets { chosen } = overlay {
        let row = body.contains(at).then(|| usize::from(at.y - body.y))?;
        let lines = pages::presets(app, *chosen, body);
        return Some(Hit::Over(lines.get(row).and_then(|(_, preset)| *preset)));
    }
    Some(Hit::Over(None))
}

fn on_page(app: &App, page: &Page, body: Rect, at: Position) -> Option<Hit> {
    if let Some(editor) = &page.editor {
        let (line, column) = editor::at(app, editor, at)?;
        return Some(Hit::Kernel(line, column));
    }
    if page.full_screen.is_some() {
        let [picture, _] = lab::chosen_areas(body);
        return picture.contains(at).then(|| picture_at(app, page, 0, picture, at));
    }
    let sides = sides(app.screen.size);
    let (text, lab) = match sides.tabs {
        None => (true, true),
        Some(tabs) if tabs.contains(at) => return tab(page, tabs, at.x),
        Some(_) => (page.side == Side::Text, page.side == Side::Lab),
    };
    if text && sides.text.contains(at) {
        return Some(in_text(app, page, sides.text, at.y));
    }
    if lab && sides.lab.contains(at) {
        return in_lab(app, page, page.lab()?, sides.lab, at);
    }
    let [picture, _] = lab::chosen_areas(sides.lab);
    let mut cells = lab::chosen_cells(page, page.lab()?, &app.screen.look, picture).into_iter();
    let (place, cell) = cells.find(|(_, cell)| cell.contains(at))?;
    Some(picture_at(app, page, place, cell, at))
}

fn tab(page: &Page, area: Rect, column: u16) -> Option<Hit> {
    let mut start = area.x;
    for (side, name) in lesson::tabs(page) {
        let from = start + 1;
        start = from + name.width() as u16;
        if (from..start).contains(&column) {
            return Some(Hit::Tab(side));
        }
    }
    None
}

fn in_text(app: &App, page: &Page, area: Rect, row: u16) -> Hit {
    let (width, _) = text_size(app.screen.size);
    let document = document::build(page, width, &app.screen.look);
    let line = usize::from(row - area.y) + page.scroll;
    let option = document.options.iter().find(|(at, _, _)| *at == line);
    if let Some(&(_, block, option)) = option {
        return Hit::Choice(block, option);
    }
    let holds = |&(start, end): &(usize, usize)| (start..end).contains(&line);
    Hit::Text(document.blocks.iter().position(holds))
}

fn in_lab(app: &App, page: &Page, lab: &LabState, area: Rect, at: Position) -> Option<Hit> {
    let areas = lab::areas(app, lab, area);
    if areas.head.contains(at) {
        let mut end = areas.head.x;
        let names = lab::head_names(app, page, areas.head.width);
        let found = names.into_iter().find(|(_, name)| {
            end += name.width() as u16;
            at.x < end
        });
        return found.map(|(index, _)| Hit::Lab(index));
    }
    let knobs = lab::knob_cells(lab, areas.knobs);
    if let Some((index, _)) = knobs.iter().find(|(_, cell)| cell.contains(at)) {
        return Some(Hit::Knob(*index));
    }
    let cells = match page.telling {
        Telling::Drawn => lab::cells(lab, &app.screen.look, areas.panels),
        Telling::InWords => Vec::new(),
    };
    let (place, cell) = cells.into_iter().find(|(_, cell)| cell.contains(at))?;
    Some(picture_at(app, page, place, cell, at))
}

fn picture_at(app: &App, page: &Page, place: usize, cell: Rect, at: Position) -> Hit {
    let scene = page.lab().and_then(|lab| lab.scene(lab.pictures.after(place)?));
    let drawn = page.telling == Telling::Drawn;
    let spot = scene.filter(|_| drawn).and_then(|scene| panel::spot_at(cell, at, &scene));
    if let Some(spot) = spot {
        return Hit::Spot(place, spot);
    }
    let step = scene.and_then(|scene| panel::step_at(cell, at.x, &scene, &app.screen.look));
    Hit::Picture(place, step)
}
