//! Every panel in one or two sentences, for screen readers and for output without a screen.

mod pairs;

use std::ops::Range;

use mlsys_lab::frame::{
    Bars, Distribution, Frame, HeatMap, Histogram, Images, Scatter, Table, Verdict,
};
use mlsys_lab::report::{Among, RunData, Series};
use mlsys_lab::schema::Draw;
use mlsys_lab::value::number;

use super::line::{Reading, reading};
use super::table::order::rows;
use super::{
    FrameView, Scene, extent, histogram, kernel, matrix, metrics, naming, quantity, scatter,
};
use crate::figure::{exchange, outline, passage, unit};
use crate::glyphs::{GlyphSet, Glyphs};
use pairs::{matrix_words, traffic_words};

/// What a panel shows, said.
pub fn words(scene: &Scene<'_>) -> String {
    let glyphs = Glyphs::new(GlyphSet::Ascii);
    let name = &scene.panel.name;
    let said = match scene.panel.draw {
        Draw::Frame | Draw::Bars | Draw::Table | Draw::Attempts => {
            scene.frame(&glyphs).map(|frame| {
                let said = match frame.kernel() {
                    Some(kernel) => kernel::words(kernel, scene.walk),
                    None => frame_words(&frame, &scene.view.frame, &glyphs),
                };
                let sent = scene.data.frames.get(name.as_str());
                match sent.filter(|_| scene.panel.draw == Draw::Frame) {
                    Some((step, _)) => format!("at step {step}: {said}"),
                    None => said,
                }
            })
        }
        Draw::Line => line_words(scene, &glyphs),
    };
    let said = match said {
        Some(said) => format!("{name}: {said}"),
        None => format!("{name}: {}.", why_empty(scene)),
    };
    // A lab's text must not steer the terminal it is read on.
    said.replace(|c: char| c.is_control() && c != '\n', " ")
}

/// Why a panel shows nothing yet.
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
    let mut said = format!("{}.", parts.join("; "));
    for change in scene.data.changes.iter().rev().take(3) {
        said.push_str(&format!(
            " {} became {} at step {}.",
            change.name, change.value, change.step
        ));
    }
    if let Some(shown) = there.and_then(|there| window.said(there)) {
        said.push_str(&format!(" Shown: {shown}."));
    }
    if let Some(step) = scene.cursor {
        let values = values_at(scene, scene.data, step, glyphs);
        said.push_str(&format!(" At the cursor, step {step}: {values}."));
    }
    for run in scene.earlier {
        let step = scene.cursor.unwrap_or(run.data.step);
        let values = values_at(scene, &run.data, step, glyphs);
        if !values.is_empty() {
            said.push_str(&format!(" Earlier, {} at step {step}: {values}.", run.label));
        }
    }
    Some(said)
}

/// The places of the points between two steps.
fn stretch(series: &Series, steps: (u64, u64)) -> Range<usize> {
    let points = series.points();
    let from = points.partition_point(|(step, _)| *step < steps.0);
    from..points.partition_point(|(step, _)| *step <= steps.1)
}

/// What each series of a chart says at a step.
fn values_at(scene: &Scene<'_>, data: &RunData, step: u64, glyphs: &Glyphs) -> String {
    let names = metrics::expand(&scene.panel.metrics, data);
    let said = names.into_iter().filter_map(|name| {
        let value = match reading(data.series.get(name)?, step) {
            Reading::Value(_, value) => quantity(value, scene.unit(name), glyphs),
            Reading::NotFinite => "not finite".to_owned(),
            Reading::Nothing => "no value yet".to_owned(),
        };
        Some(format!("{name} {value}"))
    });
    said.collect::<Vec<_>>().join(", ")
}

/// A picture, and then what is marked in it.
fn frame_words(frame: &Frame, view: &FrameView, glyphs: &Glyphs) -> String {
    let mut said = picture_words(frame, view, glyphs);
    if let Some(named) = naming::said(frame, view, glyphs) {
        said.push_str(&format!(" Marked: {named}."));
    }
    if let Some(source) = naming::source(frame, view) {
        said.push_str(&format!(" Source: {source}."));
    }
    said
}

pub(super) fn picture_words(frame: &Frame, view: &FrameView, glyphs: &Glyphs) -> String {
    match frame {
        Frame::HeatMap(map) if matrix::is_matrix(map) => match matrix::unit(map) {
            Some(unit) => traffic_words(map, unit, glyphs),
            None => matrix_words(map),
        },
        Frame::HeatMap(map) => heat_words(map),
        Frame::Bars(bars) => bars_words(bars, glyphs),
        Frame::Stacks(stacks) => outline::stacks(stacks, glyphs).join("\n"),
        Frame::Histogram(histogram) => histogram_words(histogram, glyphs),
        Frame::Scatter(scatter) => scatter_words(scatter, glyphs),
        Frame::Table(table) => table_words(table, view),
        Frame::Cells(cells) => outline::cells(cells).join("\n"),
        Frame::Images(images) => images_words(images),
        Frame::Graph(graph) => outline::graph(graph, view.graph.done(graph), glyphs).join("\n"),
        Frame::Timeline(timeline) => outline::timeline(timeline, glyphs).join("\n"),
        Frame::Exchange(of) => exchange::outline(of, view.round, glyphs).join("\n"),
        Frame::Film(film) => match film.at(view.round) {
            Some(still) => {
                let said = frame_words(&still.frame, view, glyphs);
                format!("{}: {said}", outline::still(film, view.round))
            }
            None => "no pictures.".to_owned(),
        },
        Frame::Kernel(kernel) => kernel::words(kernel, None),
        Frame::Panes(panes) => {
            let said = |frame: &Frame| picture_words(frame, &FrameView::default(), glyphs);
            outline::panes(panes, said).join("\n")
        }
        Frame::Passage(of) => passage::outline(of).join("\n"),
        Frame::Text(text) => {
            let shown: Vec<&str> = text.lines().skip(view.scroll).collect();
            shown.join("\n").trim().to_owned()
        }
    }
}

fn heat_words(map: &HeatMap) -> String {
    let finite: Vec<f32> = map.cells.iter().copied().filter(|x| x.is_finite()).collect();
    let middle = f32::midpoint(map.low, map.high);
    let above = finite.iter().filter(|x| **x >= middle).count();
    let share = if finite.is_empty() { 0.0 } else { 100.0 * above as f64 / finite.len() as f64 };
    let mut said = format!(
        "{}, {} by {} cells, {share:.0}% of them at or above {}.",
        if map.legend.is_empty() { "a field" } else { &map.legend },
        map.columns,
        map.rows,
        number(f64::from(middle)),
    );
    if finite.len() < map.cells.len() {
        said.push_str(&format!(" {} are not finite.", map.cells.len() - finite.len()));
    }
    if !map.points.is_empty() {
        said.push_str(&format!(" {} points lie on it.", map.points.len()));
    }
    said
}

fn bars_words(bars: &Bars, glyphs: &Glyphs) -> String {
    let unit = unit(&bars.unit);
    let said = bars.bars.iter().map(|bar| {
        let value = match bar.value.filter(|x| x.is_finite()) {
            Some(x) => quantity(x, unit, glyphs),
            None => "not finite".to_owned(),
        };
        if bar.remark.is_empty() {
            format!("{} {value}", bar.label)
        } else {
            format!("{} {value} ({})", bar.label, bar.remark)
        }
    });
    format!("{}.", said.collect::<Vec<_>>().join(", "))
}

fn histogram_words(histogram: &Histogram, glyphs: &Glyphs) -> String {
    let ranges: Vec<(f64, f64)> = histogram.ranges().collect();
    let said = |distribution: &Distribution| {
        let name = match distribution.name.as_str() {
            "" => "values",
            name => name,
        };
        let most = distribution.counts.iter().enumerate();
        let most = most.max_by_key(|(bin, count)| (**count, std::cmp::Reverse(*bin)));
        let fullest = most.and_then(|(bin, _)| histogram::said(histogram, bin, glyphs));
        format!(
            "{} {name}, most in {}",
            distribution.total(),
            fullest.unwrap_or_else(|| "no range".to_owned())
        )
    };
    let mut parts =
        vec![format!("a histogram of {} in {} ranges", histogram.quantity, ranges.len())];
    parts.push(said(&histogram.first));
    parts.extend(histogram.second.as_ref().map(said));
    parts.extend(histogram.marks());
    format!("{}.", parts.join("; "))
}

fn scatter_words(scatter: &Scatter, glyphs: &Glyphs) -> String {
    let front = scatter.front();
    let said = |index: usize| scatter::said(scatter, index, &front, glyphs);
    let what = format!("{} against {}", scatter.y.name, scatter.x.name);
    if scatter.points.is_empty() && !scatter.lines.is_empty() {
        return format!("{what}: {}.", ends(scatter, glyphs).join("; "));
    }
    let mut text = format!("{} points of {what}", scatter.points.len());
    let lines = scatter.lines.iter();
    for line in lines.filter(|line| scatter.joined(line).is_none()) {
        text.push_str(&format!(" with the line {}", line.name));
    }
    match scatter::meaning(scatter) {
        Some(meaning) => {
            text.push_str(&format!(", {} on the {meaning}: ", front.len()));
            let points: Vec<String> =
                front.iter().take(READ_ROWS).filter_map(|i| said(*i)).collect();
            text.push_str(&points.join("; "));
        }
        None => {
            let points: Vec<String> =
                (0..scatter.points.len().min(READ_ROWS)).filter_map(said).collect();
            text.push_str(&format!(": {}", points.join("; ")));
        }
    }
    text.push('.');
    text
}

/// Where each line begins and where it ends.
fn ends(scatter: &Scatter, glyphs: &Glyphs) -> Vec<String> {
    let at = |(x, y): (f64, f64)| {
        let x = quantity(x, unit(&scatter.x.unit), glyphs);
        format!("{} at {x}", quantity(y, unit(&scatter.y.unit), glyphs))
    };
    let told = scatter.lines.iter().filter_map(|line| {
        let (first, last) = (line.points.first()?, line.points.last()?);
        Some(format!("{} from {} to {}", line.name, at(*first), at(*last)))
    });
    told.collect()
}

/// The rows that are read out; a longer table is said to be longer.
const READ_ROWS: usize = 12;

fn table_words(table: &Table, view: &FrameView) -> String {
    let shown = rows(table, view);
    let ordered = naming::ordered(table, view);
    let (table, notes) = &table.numbered();
    let rows = shown.iter().take(READ_ROWS);
    let rows = rows.filter_map(|index| table.rows.get(*index)).map(|row| {
        let cells = table.columns.iter().zip(row);
        let cells: Vec<String> = cells.map(|(title, value)| format!("{title} {value}")).collect();
        cells.join(", ")
    });
    let said = rows.collect::<Vec<_>>().join("; ");
    let said = match ordered {
        Some(ordered) => format!("{ordered}: {said}"),
        None => said,
    };
    let sources = match notes.as_slice() {
        [] => String::new(),
        notes => format!(" Sources: {}.", notes.join("; ")),
    };
    let said = match shown.len().saturating_sub(READ_ROWS) {
        0 => format!("{said}."),
        more => format!("{said}; and {more} more rows."),
    };
    said + &sources
}

fn images_words(images: &Images) -> String {
    let wrong = images.images.iter().filter(|i| i.verdict == Verdict::Wrong);
    let labels: Vec<&str> = wrong.map(|i| i.label.as_str()).collect();
    let count = images.images.len();
    let judged = images.images.iter().any(|i| i.verdict != Verdict::Unjudged);
    match (judged, labels.is_empty()) {
        (false, _) if images.blank.is_some() => {
            let blank = 100.0 * images.blank_share();
            format!("{count} images, {blank:.0}% of their pixels blank.")
        }
        (false, _) => format!("{count} images."),
        (true, true) => format!("{count} images, all right."),
        (true, false) => format!("{count} images, {} wrong: {}.", labels.len(), labels.join(", ")),
    }
}
