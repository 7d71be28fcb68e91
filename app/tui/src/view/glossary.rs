//! The glossary: a field, the terms that match, and below them what the marked one means.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::palette::{BOXED, draw_box, list};
use crate::glossary_list::GlossaryList;
use crate::state::App;
use mlsys_run::glossary::Term;
use mlsys_view::text::wrap_spans;

/// Rows of a definition below the list.
const PREVIEW: u16 = 6;

pub fn draw(app: &App, terms: &GlossaryList, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let inside = list(area);
    if inside.height == 0 {
        return None;
    }
    if area.width >= BOXED {
        draw_box(app, area, buffer);
    }
    let field = Rect::new(inside.x, inside.y - 1, inside.width, 1);
    if let Some(term) = terms.open_term() {
        let whole = Rect { y: field.y, height: inside.height + 1, ..inside };
        let lines = page(app, terms, term, usize::from(whole.width));
        // A narrow screen shows the meaning first, and the related terms once the mark goes down to them.
        let below = term.see.len().saturating_sub(terms.related + 1);
        let to_mark =
            (lines.len() - below.min(lines.len())).saturating_sub(usize::from(whole.height));
        let skip = if terms.related > 0 { to_mark } else { 0 };
        for (line, row) in lines.into_iter().skip(skip).zip(whole.rows()) {
            line.render(row, buffer);
        }
        return None;
    }
    let preview = PREVIEW.min(inside.height / 2);
    let [names, below] =
        Layout::vertical([Constraint::Min(1), Constraint::Length(preview)]).areas(inside);
    let cursor = draw_field(app, terms, field, buffer);
    draw_names(app, terms, names, buffer);
    if let Some(term) = terms.term() {
        for (line, row) in
            definition(app, term, usize::from(below.width)).into_iter().zip(below.rows().skip(1))
        {
            line.render(row, buffer);
        }
    }
    Some(cursor)
}

fn draw_field(app: &App, terms: &GlossaryList, area: Rect, buffer: &mut Buffer) -> Position {
    let theme = &app.screen.look.theme;
    let prompt = Span::styled(" K ", theme.key);
    let column = prompt.width() + terms.entry.cursor_column();
    let typed = terms.entry.text();
    let (text, style) = match (typed.is_empty(), terms.here) {
        (false, _) => (typed.to_owned(), theme.text),
        (true, 0) => ("all terms; letters narrow the list".to_owned(), theme.dim),
        (true, here) => {
            (format!("{here} terms on the screen come first; letters narrow the list"), theme.dim)
        }
    };
    Line::from(vec![prompt, Span::styled(text, style)]).render(area, buffer);
    let last = area.width.saturating_sub(1);
    Position::new(area.x + (column as u16).min(last), area.y)
}

/// The names, the marked one in view; a rule parts the terms on the screen from all others.
fn draw_names(app: &App, terms: &GlossaryList, area: Rect, buffer: &mut Buffer) {
    let theme = &app.screen.look.theme;
    if terms.found.is_empty() {
        Line::styled(" no term has these letters", theme.dim).render(area, buffer);
        return;
    }
    let skip = (terms.chosen + 1).saturating_sub(usize::from(area.height));
    let shown = terms.found.iter().enumerate().skip(skip);
    for ((place, &index), row) in shown.zip(area.rows()) {
        let Some(term) = terms.get(index) else { continue };
        let marked = place == terms.chosen;
        let mark = if marked { app.screen.look.glyphs.arrow } else { " " };
        let name = if marked { theme.selection } else { theme.text };
        let mut line = Line::from(vec![
            Span::styled(format!("{mark:<2}"), theme.accent),
            Span::styled(term.name.clone(), name),
        ]);
        let also = term.aliases.join(", ");
        if !also.is_empty() && line.width() + also.len() + 2 <= usize::from(row.width) {
            line.spans.push(Span::styled(format!("  {also}"), theme.dim));
        }
        if place < terms.here {
            let here = Line::from(Span::styled("here ", theme.dim));
            if line.width() + here.width() < usize::from(row.width) {
                here.right_aligned().render(row, buffer);
            }
        }
        line.render(row, buffer);
    }
}

fn definition(app: &App, term: &Term, width: usize) -> Vec<Line<'static>> {
    let text = [(term.about.clone(), app.screen.look.theme.text)];
    wrap_spans(&text, width.saturating_sub(1), Span::raw(" "), Span::raw(" "))
}

/// A term by itself: names, meaning, where it is taught, and the related terms, one of them marked.
fn page(app: &App, terms: &GlossaryList, term: &Term, width: usize) -> Vec<Line<'static>> {
    let theme = &app.screen.look.theme;
    let mut lines = vec![Line::styled(format!(" {}", term.name), theme.title)];
    let mut say = |text: String, style| {
        let spans = [(text, style)];
        lines.extend(wrap_spans(&spans, width.saturating_sub(1), Span::raw(" "), Span::raw(" ")));
    };
    if !term.aliases.is_empty() {
        say(format!("also: {}", term.aliases.join(", ")), theme.dim);
    }
    say(String::new(), theme.text);
    say(term.about.clone(), theme.text);
    say(String::new(), theme.text);
    let taught = app.course.lessons.iter().find(|lesson| lesson.front.id.as_str() == term.lesson);
    if let Some(lesson) = taught {
        say(format!("lesson: {} ({})", lesson.front.title, term.lesson), theme.dim);
    }
    if let Some(source) = &term.source {
        say(format!("source: {source}"), theme.dim);
    }
    if !term.see.is_empty() {
        lines.push(Line::styled(" see also", theme.dim));
    }
    for (place, name) in term.see.iter().enumerate() {
        let marked = place == terms.related;
        let mark = if marked { app.screen.look.glyphs.arrow } else { " " };
        let style = if marked { theme.selection } else { theme.text };
        lines.push(Line::from(vec![
            Span::styled(format!(" {mark:<2}"), theme.accent),
            Span::styled(name.clone(), style),
        ]));
    }
    lines
}
