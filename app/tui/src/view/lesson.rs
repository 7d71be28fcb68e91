//! The lesson page: the text at the left, the lab at the right, or either behind a tab.

use ratatui::prelude::*;

use super::{draw_edge, editor, lab, sides, text_size};
use crate::document;
use crate::editor::Subject;
use crate::search::{hits, mark};
use crate::state::{App, Overlay, Page, Side};

pub fn draw(app: &App, page: &Page, body: Rect, buffer: &mut Buffer) -> Option<Position> {
    if let Some(editor) = &page.editor {
        let areas = editor::sides(app, editor, body);
        let (side, page_body) = (areas.editor, areas.page_area);
        match (&editor.subject, page_body) {
            (Subject::Question(_), Some(page_area)) => {
                draw_text(app, page, page_area, buffer);
            }
            (Subject::Lab(..), Some(page_area)) => {
                lab::draw(app, page, page_area, buffer);
            }
            (_, None) => {}
        }
        return editor::draw(app, page, editor, side, buffer);
    }
    if page.full_screen.is_some() {
        lab::draw_chosen(app, page, body, buffer);
        return None;
    }
    let sides = sides(app.screen.size);
    let (show_text, show_lab) = match sides.tabs {
        None => (true, true),
        Some(tabs) => {
            draw_tabs(app, page, tabs, buffer);
            if page.side == Side::Picture {
                lab::draw_chosen(app, page, sides.lab.intersection(body), buffer);
            }
            (page.side == Side::Text, page.side == Side::Lab)
        }
    };
    let mut cursor = None;
    if show_text {
        cursor = draw_text(app, page, sides.text.intersection(body), buffer);
    }
    if show_lab {
        let at = lab::draw(app, page, sides.lab.intersection(body), buffer);
        cursor = cursor.or(at);
    }
    cursor
}

pub fn tabs(page: &Page) -> [(Side, String); 3] {
    let lab = page.lab().map_or("lab".to_owned(), |open| format!("lab: {}", open.id));
    [
        (Side::Text, " text ".to_owned()),
        (Side::Lab, format!(" {lab} ")),
        (Side::Picture, " picture ".to_owned()),
    ]
}

fn draw_tabs(app: &App, page: &Page, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme();
    let tab = |side: Side, name: &str| {
        let style = if page.side == side { theme.selection } else { theme.dim };
        Span::styled(name.to_owned(), style)
    };
    let state = page.lab().map_or("", |lab| lab.run.state.word());
    let mut line = Line::default();
    for (side, name) in tabs(page) {
        line.spans.push(Span::raw(" "));
        line.spans.push(tab(side, &name));
    }
    line.spans.push(Span::styled(format!("  {state}  tab changes"), theme.dim));
    line.render(area, buffer);
}

fn draw_text(app: &App, page: &Page, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let (width, _) = text_size(app.screen.size);
    let mut document = document::build(page, width, &app.screen.look);
    mark_hits(app, &mut document.lines);
    let inner = Rect::new(area.x + 1, area.y, area.width.saturating_sub(1), area.height);
    for (line, row) in document.lines.iter().skip(page.scroll).zip(inner.rows()) {
        line.render(row, buffer);
    }
    let edge = Rect::new(area.right().saturating_sub(1), area.y, 1, area.height);
    draw_edge(app, edge, page.scroll, document.lines.len(), buffer);
    let (line, column) = document.cursor?;
    let row = u16::try_from(line.checked_sub(page.scroll)?).ok()?;
    let position = Position::new(inner.x + column as u16, inner.y + row);
    area.contains(position).then_some(position)
}

fn mark_hits(app: &App, lines: &mut [Line<'static>]) {
    let Some(Overlay::Search(search)) = &app.overlay else { return };
    let edges = [app.glyphs().vertical];
    let found = hits(lines, search.entry.text(), &edges);
    for (index, hit) in found.iter().enumerate() {
        let style = if index == search.at {
            app.theme().selection.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        } else {
            Style::new().add_modifier(Modifier::REVERSED)
        };
        for &piece in &hit.0 {
            if let Some(line) = lines.get_mut(piece.line) {
                mark(line, piece, style);
            }
        }
    }
}
