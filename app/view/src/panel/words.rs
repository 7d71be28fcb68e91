//! Every panel in one or two sentences, for screen readers and for output without a screen.

use std::ops::Range;

use mlsys_lab::frame::Frame;
use mlsys_lab::report::{Among, RunData, Series};
use mlsys_lab::schema::Draw;

use crate::glyphs::{GlyphSet, Glyphs};
use crate::panel::line::{Reading, reading};
use crate::panel::{FrameView, Scene, extent, kernel, metrics, picture, quantity};

pub fn words(scene: &Scene<'_>) -> String {
    let glyphs = Glyphs::new(GlyphSet::Ascii);
    let name = &scene.panel.name;
    let words = scene.frame(&glyphs).map(|frame| {
        let words = match frame.kernel() {
            Some(kernel) => kernel::words(kernel, scene.walk, scene.past()),
            None => frame_words(&frame, &scene.view.frame, &glyphs),
        };
        let sent = scene.data.frames.get(name.as_str());
        match sent.filter(|_| scene.panel.draw == Draw::Frame) {
            Some((step @ 1.., _)) => format!("at step {step}: {words}"),
            Some((0, _)) | None => words,
        }
    });
    let is_chart = scene.panel.draw == Draw::Line;
    let words = if is_chart { line_words(scene, &glyphs) } else { words };
    let words = match words {
        Some(words) => format!("{name}: {words}"),
        None => format!("{name}: {}.", why_empty(scene)),
    };
    // A lab's text must not steer the terminal it is read on.
    words.replace(|c: char| mlsys_expr::steers_terminal(c) && c != '\n', " ")
}

pub(super) fn why_empty(scene: &Scene<'_>) -> String {
    let data = scene.data;
    if !data.status.is_empty() {
        return data.status.clone();
    }
    if let Some(attempts) = &scene.panel.attempts
        && scene.panel.draw == Draw::Attempts
    {
        let kinds: Vec<&str> = match attempts.kinds.as_slice() {
            [] => vec![&scene.schema.kind],
            kinds => kinds.iter().map(String::as_str).collect(),
        };
        return format!(
            "no run has ended here yet: each that ends becomes a point, of {}; press space to run",
            kinds.join(", ")
        );
    }
    let untouched = data.step == 0 && data.scalars.is_empty() && data.frames.is_empty();
    if untouched && data.series.is_empty() {
        "no data yet: press space to run".to_owned()
    } else {
        "this run has nothing to show here".to_owned()
    }
}

fn line_words(scene: &Scene<'_>, glyphs: &Glyphs) -> Option<String> {
    let names = metrics::expand(&scene.panel.metrics, scene.data);
    let there = extent(scene);
    let window = scene.view.chart.window;
    let steps = there.map_or((0, u64::MAX), |there| window.steps(there));
    let mut parts = Vec::new();
    for name in names {
        let unit = scene.unit(name);
        let say = |x: f64| quantity(x, unit, glyphs);
        let Some(series) = scene.data.series.get(name) else {
            if let Some(value) = scene.data.metric(name).and_then(|v| v.as_f64()) {
                parts.push(format!("{name} is {}", say(value)));
            }
            continue;
        };
        let shown = stretch(series, steps);
        let mut part = match series.summary(shown.clone(), Among::All) {
            None if series.points().is_empty() => format!("{name} has no finite value"),
            None => format!("{name} has no value at these steps"),
            Some(all) if all.count == 1 => {
                format!("{name} is {} at step {}", say(all.last.1), all.last.0)
            }
            Some(all) => format!(
                "{name} went from {} at step {} to {} at step {}, lowest {}",
                say(all.first.1),
                all.first.0,
                say(all.last.1),
                all.last.0,
                say(all.low)
            ),
        };
        if let Some(step) = series.gaps().first() {
            part.push_str(&format!(", NaN or infinity from step {step}"));
        }
        parts.push(part);
    }
    if parts.is_empty() {
        return None;
    }
    let mut words = format!("{}.", parts.join("; "));
    for change in scene.data.changes.iter().rev().take(3) {
        words.push_str(&format!(
            " {} became {} at step {}.",
            change.name, change.value, change.step
        ));
    }
    if let Some(shown) = there.and_then(|there| window.describe(there)) {
        words.push_str(&format!(" Shown: {shown}."));
    }
    if let Some(step) = scene.cursor {
        let values = values_at(scene, scene.data, step, glyphs);
        words.push_str(&format!(" At the cursor, step {step}: {values}."));
    }
    for run in scene.earlier {
        let step = scene.cursor.unwrap_or(run.data.step);
        let values = values_at(scene, &run.data, step, glyphs);
        if !values.is_empty() {
            words.push_str(&format!(" Earlier, {} at step {step}: {values}.", run.label));
        }
    }
    Some(words)
}

/// The places of the points between two steps.
fn stretch(series: &Series, steps: (u64, u64)) -> Range<usize> {
    let points = series.points();
    let from = points.partition_point(|(step, _)| *step < steps.0);
    from..points.partition_point(|(step, _)| *step <= steps.1)
}

fn values_at(scene: &Scene<'_>, data: &RunData, step: u64, glyphs: &Glyphs) -> String {
    let names = metrics::expand(&scene.panel.metrics, data);
    let words = names.into_iter().filter_map(|name| {
        let value = match reading(data.series.get(name)?, step) {
            Reading::Value(_, value) => quantity(value, scene.unit(name), glyphs),
            Reading::NotFinite => "not finite".to_owned(),
            Reading::Nothing => "no value yet".to_owned(),
        };
        Some(format!("{name} {value}"))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A picture, and then what is marked in it.
pub(super) fn frame_words(frame: &Frame, view: &FrameView, glyphs: &Glyphs) -> String {
    let picture = picture::drawn(frame);
    let mut words = picture.words(view, glyphs);
    if let Some(named) = picture.marked(view, glyphs) {
        words.push_str(&format!(" Marked: {named}."));
    }
    if let Some(source) = picture.source(view) {
        words.push_str(&format!(" Source: {source}."));
    }
    words
}
