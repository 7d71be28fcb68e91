//! The last line: a notice, or the keys that do something here, the most wanted first and the way out always.

use ratatui::prelude::*;
use ratatui::widgets::Clear;

use crate::command::{self, Binding, Command, Motion, Rank};
use crate::editor::Subject;
use crate::lines::draw_cut;
use crate::list::TextField;
use crate::state::{App, FieldOf, Overlay, RunStatus};
use mlsys_view::panel::{Inspect, Tint};
use mlsys_view::text::wrap_spans;

const NOTICE_ROWS: usize = 3;

/// Draws the notice if there is one, else the keys.
///
/// A question or a field that stands here comes before both; returns where its cursor stands.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if let Some(Overlay::Confirm(confirm)) = &app.overlay {
        draw_notice(app, confirm.sentence(), area, buffer);
        return None;
    }
    if let (None, Some(prompt)) = (&app.screen.notice, Prompt::open(app)) {
        return Some(prompt.draw(app, area, buffer));
    }
    if let Some(notice) = &app.screen.notice {
        draw_notice(app, notice, area, buffer);
        return None;
    }
    let typing = app.page.as_ref().is_some_and(|page| page.entry.is_some());
    let (left, right) = if typing && app.overlay.is_none() {
        let keys = [("enter", "give"), ("esc", "close")];
        let hints = keys.map(|(key, label)| hint(app, key, label));
        (hints.into_iter().flatten().collect(), Line::default())
    } else {
        hints(app, usize::from(area.width))
    };
    left.render(area, buffer);
    right.right_aligned().render(area, buffer);
    None
}

/// A notice is said whole: it grows upward over the page until the next key.
fn draw_notice(app: &App, notice: &str, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme();
    let text = [(notice.to_owned(), theme.warn)];
    let width = usize::from(area.width);
    let lines = wrap_spans(&text, width, Span::raw(" "), Span::raw(" "));
    let over = (lines.len().min(NOTICE_ROWS) as u16 - 1).min(area.y);
    let area = Rect::new(area.x, area.y - over, area.width, over + 1);
    Clear.render(area, buffer);
    buffer.set_style(area, theme.screen);
    draw_cut(&app.screen.look, lines, "", area, buffer);
}

/// What stands at the left, the most wanted first, and at the right, where help and the way out stay.
fn hints(app: &App, width: usize) -> (Line<'static>, Line<'static>) {
    let mut rows: Vec<&Binding> = Vec::new();
    for row in command::at(app.place()) {
        let listed = rows.iter().any(|other| other.command == row.command);
        // What the arrow keys do is no news.
        let is_arrow = matches!(row.command, Command::Move(Motion::Up | Motion::Down));
        if !listed && !is_arrow && app.satisfied(row).is_ok() {
            rows.push(row);
        }
    }
    rows.sort_by_key(|row| (!app.is_urgent(row), row.rank));
    let spans = |row: &Binding| {
        let label = label(app, row.command, row.label);
        hint(app, &row.keys[0].to_string(), label)
    };
    let (kept, others): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.rank == Rank::Kept);
    let right = Line::from_iter(kept.into_iter().flat_map(spans));
    let mut room = width.saturating_sub(right.width());
    let mut left = Line::default();
    for row in others {
        let spans = spans(row);
        let wide = spans.iter().map(Span::width).sum();
        // What does not fit is left out whole; a shorter one of less weight may still.
        if let Some(rest) = room.checked_sub(wide) {
            room = rest;
            left.spans.extend(spans);
        }
    }
    (left, right)
}

fn hint(app: &App, key: &str, label: &str) -> [Span<'static>; 3] {
    let theme = app.theme();
    [
        Span::styled(format!(" {key}"), theme.key),
        Span::styled(format!(" {label}"), theme.dim),
        Span::raw(" "),
    ]
}

/// What space does right now, said as what it does.
fn label(app: &App, command: Command, usual: &'static str) -> &'static str {
    let steps = || app.is_walked() || app.has_kernel_chosen();
    if command == Command::Inspect(Inspect::Left) && steps() {
        return "step back";
    }
    if command == Command::Inspect(Inspect::Right) && steps() {
        return "step on";
    }
    if command == Command::Inspect(Inspect::Smooth)
        && let Some(tint) = app.tint()
    {
        return if tint == Tint::Class { "colour by label" } else { "colour by kind" };
    }
    if command != Command::Run {
        return usual;
    }
    if app.plays_steps() {
        return if app.animation().is_some() { "pause" } else { "play" };
    }
    if let Some(editor) = app.editor() {
        let is_question = matches!(editor.subject, Subject::Question(_));
        return if is_question { "run tests" } else { usual };
    }
    match app.lab().map(|lab| &lab.run.state) {
        Some(RunStatus::Running) => "pause",
        Some(RunStatus::Paused) => "go on",
        Some(RunStatus::Ready) => "run",
        Some(
            RunStatus::Finished
            | RunStatus::Diverged(_)
            | RunStatus::Stopped
            | RunStatus::Failed(_),
        ) => "run again",
        None => usual,
    }
}

struct Prompt<'a> {
    label: &'static str,
    entry: &'a TextField,
    remark: (String, Style),
}

impl<'a> Prompt<'a> {
    fn open(app: &'a App) -> Option<Self> {
        let theme = app.theme();
        let hint = |entry: &TextField, hint: &str| match &entry.complaint {
            Some(complaint) => (complaint.clone(), theme.bad),
            None => (hint.to_owned(), theme.dim),
        };
        let overlay = app.overlay.as_ref()?;
        if let Overlay::Search(search) = overlay {
            let found = app.hits(search).len();
            let typed = !search.entry.text().trim().is_empty();
            let remark = match (typed, found) {
                (false, _) => ("enter repeats the last search".to_owned(), theme.dim),
                (true, 0) => ("not found".to_owned(), theme.bad),
                (true, found) => (format!("{} of {found}", search.at + 1), theme.text),
            };
            return Some(Self { label: "/", entry: &search.entry, remark });
        }
        let Overlay::Field(purpose, entry) = overlay else { return None };
        let (label, remark) = match purpose {
            FieldOf::Steps => ("steps", hint(entry, "enter does them, then pauses")),
            FieldOf::Rows => {
                ("rows", hint(entry, "a text that a cell has, or column > 3; empty shows all"))
            }
            FieldOf::Weights => ("save as", hint(entry, "enter saves, never over a file")),
            FieldOf::Lessons => match app.listed().len() {
                0 => ("/", ("no lesson has these words".to_owned(), theme.bad)),
                found => {
                    let all = app.course.lessons.len();
                    ("/", (format!("{found} of {all} lessons"), theme.dim))
                }
            },
        };
        Some(Self { label, entry, remark })
    }

    fn draw(self, app: &App, area: Rect, buffer: &mut Buffer) -> Position {
        let theme = app.theme();
        let (remark, style) = self.remark;
        let remark = Line::from(Span::styled(format!("{remark} "), style));
        let label = Span::styled(format!(" {} ", self.label), theme.key);
        let column = label.width() + self.entry.cursor_column();
        let typed = Span::styled(self.entry.text().to_owned(), theme.text);
        let line = Line::from(vec![label, typed]);
        let used = line.width() + 2;
        line.render(area, buffer);
        if used + remark.width() <= usize::from(area.width) {
            remark.right_aligned().render(area, buffer);
        }
        let last = area.width.saturating_sub(1);
        Position::new(area.x + (column as u16).min(last), area.y)
    }
}
