//! The course page: modules and lessons, with time, prerequisites and progress.

use std::ops::Range;
use std::sync::Arc;

use mlsys_lab::value::plural;
use mlsys_lesson::{ListedLesson, State};
use ratatui::prelude::*;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::draw_edge;
use crate::deadline::Urgency;
use crate::lines::{draw_cut, draw_lines};
use crate::state::App;
use mlsys_view::text::wrap_spans;

const LIST: u16 = 62;

pub fn areas(area: Rect) -> [Rect; 2] {
    if area.width >= LIST + 30 {
        let [list, details] = Layout::horizontal([Constraint::Length(LIST), Constraint::Min(1)])
            .spacing(2)
            .areas(area);
        [list, details]
    } else {
        let details = 8.min(area.height / 2);
        let [list, details] =
            Layout::vertical([Constraint::Min(1), Constraint::Length(details)]).areas(area);
        [list, details]
    }
}

pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) {
    let [list, details] = areas(area);
    draw_list(app, list, buffer);
    draw_details(app, details, buffer);
}

fn draw_list(app: &App, area: Rect, buffer: &mut Buffer) {
    let (skipped, lines) = listing(app, area);
    let all = skipped + lines.len();
    draw_lines(&app.screen.look, lines.into_iter().map(|(line, _)| line), area, buffer);
    if all > usize::from(area.height) {
        let edge = Rect::new(area.right().saturating_sub(1), area.y, 1, area.height);
        draw_edge(app, edge, skipped, all, buffer);
    }
}

/// The lines of the list from the first that is shown on, each with its lesson if it is one.
pub fn shown(app: &App, area: Rect) -> Vec<(Line<'static>, Option<usize>)> {
    listing(app, area).1
}

/// How many lines of the list are above those that are shown, and the lines from there on.
fn listing(app: &App, area: Rect) -> (usize, Vec<(Line<'static>, Option<usize>)>) {
    let width = usize::from(area.width).saturating_sub(1);
    let mut lines: Vec<(Line<'static>, Option<usize>)> = Vec::new();
    let mut marked_line = 0;
    let listed = app.listed();
    if !app.course.title.is_empty() {
        lines.push((heading(app, &app.course.title, 0..app.course.lessons.len(), width), None));
    }
    for module in &app.course.modules {
        let lessons = app.course.lessons_in(&module.lessons);
        if !listed.iter().any(|index| module.lessons.contains(index)) {
            continue;
        }
        lines.push((Line::default(), None));
        lines.push((heading(app, &module.title, module.lessons.clone(), width), None));
        for (index, lesson) in module.lessons.clone().zip(lessons) {
            if !listed.contains(&index) {
                continue;
            }
            if index == app.course.chosen {
                marked_line = lines.len();
            }
            lines.push((row(app, index, lesson, width), Some(index)));
        }
    }
    let height = usize::from(area.height);
    // The last line needs nothing below it.
    let skip = (marked_line + 2).saturating_sub(height).min(lines.len().saturating_sub(height));
    lines.drain(..skip);
    (skip, lines)
}

fn heading(app: &App, title: &str, range: Range<usize>, width: usize) -> Line<'static> {
    let theme = app.theme();
    let lessons = app.course.lessons_in(&range);
    let is_done = |lesson: &&Arc<ListedLesson>| {
        app.course.progress.state(&lesson.front.id) == State::Completed
    };
    let done = lessons.iter().filter(is_done).count();
    let minutes: u32 = lessons.iter().map(|lesson| lesson.front.minutes).sum();
    let facts = format!("{done} of {} done {minutes:>5} min ", lessons.len());
    let room = width.saturating_sub(facts.len() + 2);
    let title = shortened(title, room, app);
    let pad = room.saturating_sub(title.width());
    Line::from(vec![
        Span::styled(format!(" {title}"), theme.title),
        Span::raw(" ".repeat(pad + 1)),
        Span::styled(facts, theme.dim),
    ])
}

pub(super) fn shortened(text: &str, room: usize, app: &App) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    let room = room.saturating_sub(app.glyphs().ellipsis.width());
    for c in text.chars() {
        if short.width() + c.width().unwrap_or(0) > room {
            break;
        }
        short.push(c);
    }
    short + app.glyphs().ellipsis
}

fn row(app: &App, index: usize, lesson: &ListedLesson, width: usize) -> Line<'static> {
    let theme = app.theme();
    let glyphs = app.glyphs();
    let marked = index == app.course.chosen;
    let (sign, sign_style) = sign(app, lesson);
    let minutes = format!("{:>3} min ", lesson.front.minutes);
    let (due, due_style) = due(app, lesson);
    let room = width.saturating_sub(6 + due.len() + minutes.len());
    let title = shortened(&lesson.front.title, room, app);
    let pad = room.saturating_sub(title.width());
    let style = if marked { theme.selection } else { theme.text };
    Line::from(vec![
        Span::styled(format!(" {} ", if marked { glyphs.arrow } else { " " }), theme.accent),
        Span::styled(format!("{sign} "), sign_style),
        Span::styled(format!("{title}{}", " ".repeat(pad)), style),
        Span::styled(due, due_style),
        Span::styled(minutes, theme.dim),
    ])
}

/// The column of due dates, where the course has any; what is completed is no longer due.
fn due(app: &App, lesson: &ListedLesson) -> (String, Style) {
    let theme = app.theme();
    if !app.course.has_dates() {
        return (String::new(), theme.dim);
    }
    let deadline = app.course.deadline(&lesson.front.id);
    let is_open = app.course.progress.state(&lesson.front.id) != State::Completed;
    let words = deadline.short().filter(|_| is_open).unwrap_or_default();
    let style = match deadline.urgency() {
        None | Some(Urgency::Later) => theme.dim,
        Some(Urgency::Soon) => theme.warn,
        Some(Urgency::Late) => theme.bad,
    };
    (format!(" {words:>14} "), style)
}

fn sign(app: &App, lesson: &ListedLesson) -> (&'static str, Style) {
    let theme = app.theme();
    match app.course.progress.state(&lesson.front.id) {
        State::New => (app.glyphs().open, theme.dim),
        State::Started => (app.glyphs().running, theme.warn),
        State::Completed => (app.glyphs().right, theme.good),
    }
}

fn draw_details(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme();
    let Some(lesson) = app.course.lessons.get(app.course.chosen) else {
        Line::styled(" there are no lessons here", theme.dim).render(area, buffer);
        return;
    };
    let front = &lesson.front;
    let summary = app.course.progress.summary(lesson.lesson());
    let word = match summary.state {
        State::New => "not begun",
        State::Started => "begun",
        State::Completed => "completed",
    };
    let needs: Vec<String> = front.requires.iter().map(|id| id.value.to_string()).collect();
    let needs = if needs.is_empty() { "nothing".to_owned() } else { needs.join(", ") };
    let deadline = app.course.deadline(&front.id);
    // The name of the row says that it is due.
    let words = deadline.words().map(|words| words.trim_start_matches("due ").to_owned() + "; ");
    let date = deadline.date().map(|date| ("due", words.unwrap_or_default() + &date));
    let attempts = deadline.rules.attempts.map(|most| {
        let verb = if most == 1 { "counts" } else { "count" };
        ("answers", format!("{} {verb} for each question", plural(most as usize, "answer")))
    });
    let facts = [
        ("lesson", format!("{}, {}", front.id, plural(front.minutes as usize, "minute"))),
        ("progress", format!("{word}, {}", summary.words())),
    ];
    let facts = facts.into_iter().chain(date).chain(attempts);
    let facts = facts.chain([("needs", needs), ("teaches", front.teaches.join(", "))]);
    let width = usize::from(area.width).saturating_sub(2);
    let mut lines = vec![Line::default()];
    lines.extend(wrap_spans(
        &[(front.title.clone(), theme.title)],
        width,
        Span::raw(" "),
        Span::raw(" "),
    ));
    for (name, fact) in facts {
        let first = Span::styled(format!(" {name:<9}"), theme.dim);
        lines.extend(wrap_spans(&[(fact, theme.text)], width, first, Span::raw(" ".repeat(10))));
    }
    draw_cut(&app.screen.look, lines, "", area, buffer);
}
