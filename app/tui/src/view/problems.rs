//! What is wrong with the followed lesson file, over the lowest part of the page.

use mlsys_lesson::{Diagnostic, Severity};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use crate::state::App;
use crate::state::preview::Preview;
use mlsys_view::theme::Look;

const LEAST: u16 = 2;

pub fn draw(app: &App, body: Rect, buffer: &mut Buffer) {
    let Some(preview) = &app.preview else { return };
    let room = room(app, preview, body);
    let lines = lines(preview, app.page.is_some(), &app.screen.look);
    if lines.is_empty() || room < LEAST {
        return;
    }
    let height = u16::try_from(lines.len()).map_or(room, |lines| lines.min(room));
    let area = Rect::new(body.x, body.bottom() - height, body.width, height);
    Clear.render(area, buffer);
    Block::new().style(app.screen.look.theme.screen).render(area, buffer);
    let hidden = lines.len().saturating_sub(usize::from(height));
    let shown = usize::from(height) - usize::from(hidden > 0);
    for (line, row) in lines.iter().take(shown).zip(area.rows()) {
        line.render(row, buffer);
    }
    if let (Some(last), true) = (area.rows().next_back(), hidden > 0) {
        let more = format!(" {} more lines: ! shows them all", hidden + 1);
        Line::styled(more, app.screen.look.theme.dim).render(last, buffer);
    }
}

pub fn all(app: &App, scroll: usize, area: Rect, buffer: &mut Buffer) {
    let Some(preview) = &app.preview else { return };
    let lines = lines(preview, app.page.is_some(), &app.screen.look);
    // The file may have been corrected since the last scroll.
    let scroll = scroll.min(lines.len().saturating_sub(usize::from(area.height)));
    for (line, row) in lines.iter().skip(scroll).zip(area.rows()) {
        line.render(row, buffer);
    }
}

/// As much of the page as the strip may take: a lesson that can be read leaves less to tell than one that cannot.
fn room(app: &App, preview: &Preview, body: Rect) -> u16 {
    match (app.page.is_some(), preview.is_behind()) {
        (false, _) => body.height,
        (true, true) => body.height * 3 / 5,
        (true, false) => body.height / 4,
    }
}

fn lines(preview: &Preview, has_page: bool, look: &Look) -> Vec<Line<'static>> {
    let theme = &look.theme;
    if preview.unreadable.is_none() && preview.problems.is_empty() {
        return Vec::new();
    }
    let errors = preview.problems.iter().filter(|p| p.is_error()).count();
    let stays = if has_page {
        "the last good version stays on the screen"
    } else {
        "it opens as soon as it is right"
    };
    let (summary, style) = match (&preview.unreadable, errors) {
        (Some(reason), _) => (format!("{reason}; {stays}"), theme.bad),
        (None, 0) => {
            (format!("{}: {}", preview.file, count(preview.problems.len(), "warning")), theme.warn)
        }
        (None, errors) => {
            (format!("{}: {}; {stays}", preview.file, count(errors, "error")), theme.bad)
        }
    };
    let rule = look.glyphs.horizontal.repeat(2);
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("{rule} "), style),
        Span::styled(summary, style),
    ])];
    if preview.unreadable.is_none() {
        // Errors come first: they are what keeps the lesson from the screen.
        let (errors, warnings): (Vec<_>, Vec<_>) =
            preview.problems.iter().partition(|problem| problem.is_error());
        for problem in errors.into_iter().chain(warnings) {
            lines.extend(problem_lines(problem, look));
        }
    }
    lines
}

/// A diagnostic as a compiler prints it, its first line and the mark in the colour of its severity.
fn problem_lines(problem: &Diagnostic, look: &Look) -> Vec<Line<'static>> {
    let theme = &look.theme;
    let loud = match problem.severity {
        Severity::Error => theme.bad,
        Severity::Warning => theme.warn,
    };
    let printed = problem.to_string();
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (index, line) in printed.lines().enumerate() {
        let style = match index {
            0 => loud,
            3 => theme.code,
            4 => loud,
            _ => theme.text,
        };
        // The empty line above the source tells nothing.
        if index != 2 {
            lines.push(Line::styled(format!(" {line}"), style));
        }
    }
    lines
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}
