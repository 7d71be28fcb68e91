//! The pages that lie over the whole body: help, presets, the problems of a previewed file, and the command line.

use mlsys_lesson::{Diagnostic, Severity};
use mlsys_view::text::wrap_spans;
use mlsys_view::theme::Look;
use ratatui::prelude::*;

use super::{body, cleared};
use crate::command::{Binding, Place, TABLE};
use crate::lines::{draw_cut, draw_lines};
use crate::state::{App, Preview};
use crate::update::availability::Refusal;

/// Columns of the keys on the help page, and of the names of presets, where sentences fit next to them.
const KEYS: usize = 16;
const NAME: usize = 22;
/// Below these widths the sentences stand below the keys, and below the names.
const WIDE_ENOUGH_FOR_KEYS: usize = 50;
const WIDE_ENOUGH_FOR_NAME: usize = 60;
const LEAST: u16 = 2;

pub fn draw_help(app: &App, scroll: usize, area: Rect, buffer: &mut Buffer) {
    let lines = help(app, usize::from(area.width));
    let last = lines.len().saturating_sub(usize::from(area.height));
    draw_lines(&app.screen.look, lines.into_iter().skip(scroll.min(last)), area, buffer);
}

pub fn longest_help(app: &App) -> usize {
    let body = body(app.screen.size);
    help(app, usize::from(body.width)).len().saturating_sub(usize::from(body.height))
}

fn help(app: &App, width: usize) -> Vec<Line<'static>> {
    let theme = app.theme();
    let ground = app.ground();
    let (here, mut rest): (Vec<_>, Vec<_>) =
        TABLE.iter().partition(|row| row.places.contains(&ground));
    let (works, refused): (Vec<_>, Vec<_>) =
        here.into_iter().partition(|row| app.satisfied(row).is_ok());
    let mut lines = Vec::new();
    for (head, rows) in [("Keys here", works), ("Not now", refused)] {
        if !rows.is_empty() {
            let gap = (!lines.is_empty()).then(Line::default);
            lines.extend(gap);
            lines.push(Line::styled(format!(" {head} ({})", ground.word()), theme.title));
        }
        for row in rows {
            lines.extend(entry(app, row, app.satisfied(row).err(), width));
        }
    }
    let home = |row: &Binding| row.places.first().copied();
    rest.sort_by_key(|row| Place::ALL.iter().position(|place| Some(*place) == home(row)));
    let mut before = None;
    for row in rest {
        if home(row) != before {
            before = home(row);
            let name = before.map_or("", Place::word);
            let head = Line::styled(format!(" Keys elsewhere ({name})"), theme.title);
            lines.extend([Line::default(), head]);
        }
        lines.extend(entry(app, row, None, width));
    }
    lines
}

fn entry(app: &App, row: &Binding, refused: Option<Refusal>, width: usize) -> Vec<Line<'static>> {
    let theme = app.theme();
    let keys = row.keys_text();
    let (key, text) = match &refused {
        None => (theme.key, theme.text),
        Some(_) => (theme.dim, theme.dim),
    };
    let mut spans = vec![(row.help.to_owned(), text)];
    if let Some(reason) = refused {
        spans.push((format!(" ({reason})"), theme.dim));
    }
    let room = width.saturating_sub(1);
    if width < WIDE_ENOUGH_FOR_KEYS {
        let mut lines = vec![Line::styled(format!(" {keys}"), key)];
        lines.extend(wrap_spans(&spans, room, Span::raw("   "), Span::raw("   ")));
        lines
    } else {
        let keys = Span::styled(format!(" {keys:<KEYS$}"), key);
        wrap_spans(&spans, room, keys, Span::raw(" ".repeat(KEYS + 1)))
    }
}

pub fn draw_presets(app: &App, chosen: usize, area: Rect, buffer: &mut Buffer) {
    draw_lines(
        &app.screen.look,
        presets(app, chosen, area).into_iter().map(|(line, _)| line),
        area,
        buffer,
    );
}

/// The lines from the first that is shown on, each with the place of its preset.
pub fn presets(app: &App, chosen: usize, area: Rect) -> Vec<(Line<'static>, Option<usize>)> {
    let theme = app.theme();
    let lab = app.lab();
    let title = lab.map_or("", |open| open.title.as_str());
    let title = Line::styled(format!(" Presets: {title}"), theme.title);
    let mut lines = vec![(title, None)];
    let mut end = 0;
    let width = usize::from(area.width).saturating_sub(1);
    for (index, (preset, refused)) in app.presets().into_iter().enumerate() {
        let mark = if index == chosen { app.glyphs().arrow } else { " " };
        let name = match (&refused, index == chosen) {
            (Some(_), _) => theme.dim,
            (None, true) => theme.selection,
            (None, false) => theme.text,
        };
        let mut spans = vec![(preset.about.clone(), theme.dim)];
        if let Some(reason) = refused {
            spans.push((format!(" (not here: {reason})"), theme.warn));
        }
        let head = Line::from(vec![
            Span::styled(format!(" {mark:<2}"), theme.accent),
            Span::styled(preset.name.clone(), name),
        ]);
        let indent = |columns: usize| Span::raw(" ".repeat(columns));
        if width < WIDE_ENOUGH_FOR_NAME || head.width() >= NAME {
            lines.push((head, Some(index)));
            let below = wrap_spans(&spans, width, indent(5), indent(5));
            lines.extend(below.into_iter().map(|line| (line, Some(index))));
        } else {
            let mut rows = wrap_spans(&spans, width, indent(NAME), indent(NAME));
            if let Some(first) = rows.first_mut() {
                let pad = NAME.saturating_sub(head.width()).max(1);
                let rest = first.spans.split_off(1.min(first.spans.len()));
                first.spans = head.spans;
                first.spans.push(indent(pad));
                first.spans.extend(rest);
            }
            lines.extend(rows.into_iter().map(|line| (line, Some(index))));
        }
        if index == chosen {
            end = lines.len();
        }
    }
    let skip = end.saturating_sub(usize::from(area.height));
    lines.drain(..skip);
    lines
}

pub fn draw_strip(app: &App, body: Rect, buffer: &mut Buffer) {
    let Some(preview) = &app.preview else { return };
    let room = room(app, preview, body);
    let lines = problems(preview, app.page.is_some(), &app.screen.look);
    if lines.is_empty() || room < LEAST {
        return;
    }
    let height = u16::try_from(lines.len()).map_or(room, |lines| lines.min(room));
    // Without a page below it begins at the top.
    let y = if preview.is_unopened() { body.y } else { body.bottom() - height };
    let area = Rect::new(body.x, y, body.width, height);
    let look = &app.screen.look;
    draw_cut(look, lines, ": ! shows them all", cleared(look, area, buffer), buffer);
}

pub fn draw_problems(app: &App, scroll: usize, area: Rect, buffer: &mut Buffer) {
    let Some(preview) = &app.preview else { return };
    let lines = problems(preview, app.page.is_some(), &app.screen.look);
    // The file may have been corrected since the last scroll.
    let scroll = scroll.min(lines.len().saturating_sub(usize::from(area.height)));
    draw_lines(&app.screen.look, lines.into_iter().skip(scroll), area, buffer);
}

/// As much of the page as the strip may take: a lesson that can be read leaves less to tell than one that cannot.
fn room(app: &App, preview: &Preview, body: Rect) -> u16 {
    match (app.page.is_some(), preview.is_behind()) {
        (false, _) => body.height,
        (true, true) => body.height * 3 / 5,
        (true, false) => body.height / 4,
    }
}

fn problems(preview: &Preview, has_page: bool, look: &Look) -> Vec<Line<'static>> {
    let theme = &look.theme;
    if preview.unreadable.is_none() && preview.problems.is_empty() {
        return Vec::new();
    }
    let errors = preview.problems.iter().filter(|p| p.is_error()).count();
    let stays = match has_page {
        true => "the last good version stays on the screen",
        false => "it opens as soon as it is right",
    };
    let (file, warnings) = (&preview.file, preview.problems.len());
    let (summary, style) = match (&preview.unreadable, errors) {
        (Some(reason), _) => (format!("{reason}; {stays}"), theme.bad),
        (None, 0) => (format!("{file}: {}", count(warnings, "warning")), theme.warn),
        (None, errors) => (format!("{file}: {}; {stays}", count(errors, "error")), theme.bad),
    };
    let rule = look.glyphs.horizontal.repeat(2);
    let mut lines = vec![Line::from(Span::styled(format!("{rule} {summary}"), style))];
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
    // The empty line above the source tells nothing.
    let lines = printed.lines().enumerate().filter(|(index, _)| *index != 2);
    let styled = lines.map(|(index, line)| {
        let style = match index {
            0 | 4 => loud,
            3 => theme.code,
            _ => theme.text,
        };
        Line::styled(format!(" {line}"), style)
    });
    styled.collect()
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}

/// Draws the line that opens this state, to be copied by hand: from the first column, broken as shells join it.
pub fn draw_line(app: &App, line: &str, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme();
    let width = usize::from(area.width);
    let say = |text: &str, style| {
        wrap_spans(&[(text.to_owned(), style)], width, Span::raw(" "), Span::raw(" "))
    };
    let mut lines = say("This line opens what is on the screen", theme.title);
    lines.push(Line::default());
    let line = [(line.to_owned(), theme.code)];
    let mut broken = wrap_spans(&line, width.saturating_sub(2), Span::raw(""), Span::raw(""));
    let last = broken.len().saturating_sub(1);
    for line in broken.iter_mut().take(last) {
        line.spans.push(Span::styled(" \\", theme.code));
    }
    lines.extend(broken.into_iter().chain([Line::default()]));
    lines.extend(say(
        "It was sent to the clipboard. Terminals may refuse that (tmux: set -g set-clipboard on): then mark it and copy it.",
        theme.dim,
    ));
    draw_lines(&app.screen.look, lines, area, buffer);
}
