//! Where the run stands: one line of figures, and sentences when there is something to explain.

use std::time::Duration;

use mlsys_lab::DeviceId;
use mlsys_lab::schema::Label;
use mlsys_lab::value::{Value, number, significant};
use ratatui::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::lines::put;
use crate::state::{App, LabState, Page, RunMode, RunStatus, Tempo, Waiting};
use mlsys_view::text::wrap_spans;
use mlsys_view::{metrics, quantity::quantity};

/// Columns between the figures and a title.
const GAP: usize = 3;

/// Draws the figures and, right of them, where there is room, a title that stands nowhere else.
pub fn draw(app: &App, lab: &LabState, title: Option<&str>, area: Rect, buffer: &mut Buffer) {
    let theme = app.theme();
    let (sign, style) = match &lab.run.state {
        RunStatus::Ready => (app.glyphs().open, theme.dim),
        RunStatus::Running => (app.glyphs().running, theme.good),
        RunStatus::Paused => (app.glyphs().paused, theme.warn),
        RunStatus::Finished => (app.glyphs().right, theme.good),
        RunStatus::Diverged(_) | RunStatus::Stopped | RunStatus::Failed(_) => {
            (app.glyphs().wrong, theme.bad)
        }
    };
    let mut parts = Vec::new();
    if lab.pictures.frozen.is_some() {
        let (step, now) = (lab.shown().step, lab.run.data.step);
        let frozen = format!("frozen at step {step}, run is at step {now} ");
        parts.extend([Span::styled(frozen, theme.selection), Span::raw(" ")]);
    }
    let state = Span::styled(format!("{sign} {}", lab.run.state.word()), style);
    if Line::from(parts.clone()).width() + state.width() > usize::from(area.width) {
        put(&app.screen.look, Line::from(parts), area, buffer);
        return;
    }
    parts.push(state);
    let separator = app.glyphs().separator;
    let mut facts: Vec<(Part, String)> = Vec::new();
    let mut add = |part: Part, text: String| facts.push((part, text));
    // Before all figures, so that it is never what has no room.
    if let Some(replay) = &lab.run.replay {
        add(Part::Kept, replay.origin.clone());
    }
    // What is waited for comes before the figures, which stand still meanwhile.
    let is_here = app.active_lab().is_some_and(|other| std::ptr::eq(other, lab));
    if let Some(words) = app.session.waiting.as_ref().filter(|_| is_here).and_then(Waiting::words) {
        add(Part::Kept, words);
    }
    if let Some(headline) = headline(lab, app) {
        add(Part::Kept, headline);
    }
    if lab.schema.is_live() && lab.run.state != RunStatus::Ready {
        let done = lab.run.data.step;
        match lab.steps() {
            Some(0) if done == 0 => {}
            Some(all) => add(Part::Step, format!("step {done}/{all}")),
            None => add(Part::Step, format!("step {done}")),
        }
        let is_under_way = matches!(lab.run.state, RunStatus::Running | RunStatus::Paused);
        let rate = lab.run.rate.per_second.filter(|_| is_under_way).or_else(|| mean_rate(lab));
        // A run without steps in its reports has none to count.
        if let Some(rate) = rate.filter(|rate| *rate > 0.0) {
            let digits = if rate < 10.0 { significant(rate, 2) } else { rate.round() };
            let steps = if digits == 1.0 { "step/s" } else { "steps/s" };
            add(Part::Rate, format!("{} {steps},", number(digits)));
        }
        let word = Label::Measured;
        add(Part::TimeOrDevice, format!("{:.1} s {word}", going(lab).as_secs_f64()));
        if let Some(device) = lab.run.device {
            add(Part::TimeOrDevice, device.to_string());
        }
    }
    // A lab that answers at once is the processor's, unless it was given to another device.
    if let Some(device) = lab.run.device.filter(|device| {
        !lab.schema.is_live() && *device != DeviceId::CPU && lab.run.state != RunStatus::Ready
    }) {
        add(Part::TimeOrDevice, device.to_string());
    }
    let hurried =
        is_here && app.session.active.is_some_and(|active| active.how == RunMode::ToTheEnd);
    if hurried {
        add(Part::Kept, "to the end".to_owned());
    } else if lab.run.replay.is_none()
        && app.session.tempo == Tempo::Watch
        && lab.run.state == RunStatus::Running
        && lab.schema.is_live()
    {
        add(Part::Pace, "paced (f: faster)".to_owned());
    }
    if lab.run.explored {
        let what = if lab.own_kernel.is_some() { "kernel" } else { "knobs" };
        add(Part::Kept, format!("{what} changed"));
    }
    let room = usize::from(area.width).saturating_sub(parts.iter().map(Span::width).sum());
    let mut between = separator;
    for (part, fact) in fitting(facts, room, separator.width()) {
        parts.extend([Span::styled(between, theme.dim), Span::styled(fact, theme.text)]);
        // The rate and the time share a label.
        between = if part == Part::Rate { " " } else { separator };
    }
    let used = parts.iter().map(Span::width).sum::<usize>();
    put(&app.screen.look, Line::from(parts), area, buffer);
    let title = title.filter(|title| used + GAP + title.width() <= usize::from(area.width));
    let title = title.map(|title| Line::from(Span::styled(title.to_owned(), theme.dim)));
    title.into_iter().for_each(|line| line.right_aligned().render(area, buffer));
}

/// A part of the status line, in the order in which parts are left out where there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Rate,
    TimeOrDevice,
    Pace,
    Step,
    Kept,
}

/// The parts for which there is room, in their order; of two of a kind the last is left out first.
fn fitting(mut facts: Vec<(Part, String)>, room: usize, separator: usize) -> Vec<(Part, String)> {
    while facts.iter().map(|(_, fact)| fact.width() + separator).sum::<usize>() > room {
        let last = facts.iter().enumerate().rev().filter(|(_, (part, _))| *part != Part::Kept);
        let Some((least, _)) = last.min_by_key(|(_, (part, _))| *part) else { break };
        facts.remove(least);
    }
    facts
}

fn headline(lab: &LabState, app: &App) -> Option<String> {
    let headline = lab.schema.headline.as_ref()?;
    let value = lab.shown().metric(&headline.metric)?;
    // No list fits into a line.
    if matches!(value, Value::Array(_) | Value::Table(_)) {
        return None;
    }
    let (name, value) = match (&headline.below_zero, &value) {
        (Some(name), Value::Float(x)) if *x < 0.0 => (name, Value::Float(-x)),
        (Some(_) | None, _) => (&headline.label, value),
    };
    let value = shown_value(lab, &headline.metric, &value, 2, app);
    let label = metrics::label_of(lab.schema, &headline.metric)?;
    Some(format!("{name} {value} {label}"))
}

fn shown_value(lab: &LabState, metric: &str, value: &Value, digits: usize, app: &App) -> String {
    /// Elements of a list that are shown.
    const MOST: usize = 8;
    match value {
        Value::Float(value) => {
            let unit = metrics::unit(lab.schema, metric);
            // What is not quite 1, such as an accuracy of 0.9996, is not written as 1.
            let is_told = |digits: &usize| significant(*value, *digits) != 1.0;
            let digits = (digits..=6).find(is_told).unwrap_or(digits);
            quantity(significant(*value, digits), unit, app.glyphs())
        }
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => {
            let shown: Vec<String> = values.iter().take(MOST).map(ToString::to_string).collect();
            let more = if values.len() > MOST { " and more" } else { "" };
            format!("{}{more}", shown.join(", "))
        }
        Value::Int(_) | Value::Bool(_) | Value::Text(_) | Value::Table(_) => value.to_string(),
    }
}

/// The metrics that the lesson wants to be seen, in one sentence; none before a run.
pub fn chosen_metrics(app: &App, lab: &LabState) -> Option<String> {
    let told = lab.metrics.iter().filter_map(|name| {
        let value = lab.shown().metric(name)?;
        let label = metrics::label_of(lab.schema, name)?;
        Some(format!("{name} {} {label}", shown_value(lab, name, &value, 3, app)))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(app.glyphs().separator))
}

/// The run's time without its pauses.
fn going(lab: &LabState) -> Duration {
    lab.run.elapsed.saturating_sub(lab.run.rate.paused)
}

fn mean_rate(lab: &LabState) -> Option<f64> {
    let seconds = going(lab).as_secs_f64();
    let steps = lab.run.rate.timed;
    (seconds > 0.0 && steps > 0).then(|| steps as f64 / seconds)
}

pub fn message(app: &App, lab: &LabState, width: usize) -> Vec<Line<'static>> {
    let theme = app.theme();
    let mut sentences: Vec<(String, Style)> = Vec::new();
    // The entry is the open lab's.
    let page = app.page.as_ref().filter(|page| page.lab().is_some_and(|own| own.id == lab.id));
    let entry = page.and_then(Page::knob_entry);
    sentences.extend(
        entry
            .and_then(|entry| entry.complaint.as_ref())
            .map(|complaint| (format!("{} {complaint}", app.glyphs().wrong), theme.bad)),
    );
    sentences.extend(chosen_metrics(app, lab).map(|told| (told, theme.text)));
    let held = page.map_or_else(Vec::new, |page| lab.pictures.held_back(lab.schema, &page.lesson));
    sentences.extend(held.into_iter().map(|told| (told, theme.dim)));
    if let RunStatus::Failed(reason) = &lab.run.state {
        sentences.push((reason.clone(), theme.bad));
    } else if let RunStatus::Diverged(reason) = &lab.run.state {
        sentences.push((reason.clone(), theme.warn));
    }
    if let Some(replay) = &lab.run.replay {
        let speed = replay.speed.word();
        let counts = "it earns no points and passes no check";
        sentences
            .push((format!("a recorded run, {speed} (f: other speeds): {counts}"), theme.warn));
    }
    sentences.extend(lab.run.data.notices.iter().map(|notice| (notice.clone(), theme.dim)));
    let lines = sentences.iter().flat_map(|(text, style)| {
        let lines: Vec<&str> = text.split('\n').collect();
        let mut shown = Vec::new();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            match (line.strip_prefix("  "), lines.get(at + 1)) {
                // A line of the text, and the mark under its place.
                (Some(_), Some(mark)) if mark.trim_start().starts_with('^') => {
                    let pair =
                        around_mark(line, mark, width).map(|part| Line::styled(part, *style));
                    shown.extend(pair);
                    at += 2;
                }
                (Some(_) | None, _) => {
                    let sentence = [((*line).to_owned(), *style)];
                    shown.extend(wrap_spans(&sentence, width, Span::raw(""), Span::raw("")));
                    at += 1;
                }
            }
        }
        shown
    });
    lines.collect()
}

/// The part of a line that holds the mark under it, and the mark, both cut at the same columns.
fn around_mark(line: &str, mark: &str, width: usize) -> [String; 2] {
    let begins = mark.chars().take_while(|&c| c == ' ').count();
    // A third of the room for what comes before the mark.
    let slid = if line.chars().count() <= width { 0 } else { begins.saturating_sub(width / 3) };
    [line, mark].map(|text| text.chars().skip(slid).take(width).collect())
}
