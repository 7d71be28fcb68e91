//! What a line chart shows: the curves of this run and of earlier ones, and the steps they span.

use mlsys_lab::report::{Change, RunData, Series};
use mlsys_lab::schema::Scale;
use ratatui::style::Modifier;

use crate::axis::Axis;
use crate::panel::downsample::Downsampled;
use crate::panel::legend::Item;
use crate::panel::{Extent, Scene, Window, metrics, quantity};
use crate::theme::Look;

#[derive(Debug)]
pub(super) struct Curve<'a> {
    pub(super) name: &'a str,
    pub(super) place: usize,
    pub(super) kind: Kind<'a>,
}

#[derive(Debug)]
pub(super) enum Kind<'a> {
    Series {
        series: &'a Series,
        downsampled: Downsampled,
    },
    /// The same at every step.
    Level(f64),
}

impl Curve<'_> {
    pub(super) fn latest(&self) -> Option<f64> {
        match &self.kind {
            Kind::Series { series, .. } => series.last(),
            Kind::Level(value) => Some(*value),
        }
    }

    pub(super) fn shown_end(&self) -> Option<f64> {
        let Some(downsampled) = self.downsampled() else { return self.latest() };
        let last = downsampled.buckets.last();
        if downsampled.smoothed {
            return last.map(|bucket| bucket.smooth);
        }
        downsampled.leaves.or(last.map(|bucket| bucket.last.1)).or(downsampled.enters)
    }

    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        match &self.kind {
            Kind::Series { downsampled, .. } => {
                Some(downsampled.bounds()).filter(|(low, high)| low <= high)
            }
            Kind::Level(value) => Some((*value, *value)),
        }
    }

    pub(super) fn is_broken(&self) -> bool {
        matches!(&self.kind, Kind::Series { series, .. } if series.ends_in_gap())
    }

    pub(super) fn downsampled(&self) -> Option<&Downsampled> {
        if let Kind::Series { downsampled, .. } = &self.kind { Some(downsampled) } else { None }
    }

    /// Values that a logarithmic axis cannot show.
    pub(super) fn hidden(&self) -> usize {
        self.downsampled().map_or(0, |downsampled| downsampled.hidden)
    }
}

#[derive(Debug)]
pub(super) struct Curves<'a> {
    pub(super) now: Vec<Curve<'a>>,
    /// Of the earlier runs, the newest first.
    pub(super) before: Vec<Vec<Curve<'a>>>,
    pub(super) names: Vec<&'a str>,
    pub(super) steps: (u64, u64),
    pub(super) axis: Axis,
    /// The step pointed at, if it is among them.
    pub(super) cursor: Option<u64>,
    /// Which steps are shown, in words, if not all are.
    pub(super) shown: Option<String>,
}

impl<'a> Curves<'a> {
    pub(super) fn gather(scene: &Scene<'a>, columns: usize) -> Self {
        let there = extent(scene).unwrap_or(Extent {
            first: 0,
            last: scene.data.step,
            newest: scene.data.step,
        });
        let window = scene.view.chart.window;
        let steps = window.steps(there);
        let of = |data| gather(scene, data, steps, columns);
        let now = of(scene.data);
        let mut before: Vec<Vec<Curve<'_>>> =
            scene.earlier.iter().map(|run| of(&run.data)).collect();
        // The same metric has the same letter in every run.
        let mut names: Vec<&str> = now.iter().map(|curve| curve.name).collect();
        for curve in before.iter_mut().flatten() {
            let known = names.iter().position(|name| *name == curve.name);
            curve.place = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(curve.name);
            }
        }
        Self {
            now,
            before,
            names,
            steps,
            axis: match window {
                Window::All => Axis::steps(steps.0, steps.1),
                Window::Newest(_) | Window::Between(..) => {
                    Axis::exactly(steps.0 as f64, steps.1 as f64).whole()
                }
            },
            cursor: scene.cursor.filter(|at| (steps.0..=steps.1).contains(at)),
            shown: window.describe(there),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.now.is_empty() && self.before.iter().all(Vec::is_empty)
    }

    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        let all = self.now.iter().chain(self.before.iter().flatten());
        all.filter_map(Curve::bounds).reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }

    pub(super) fn first_gap(&self) -> Option<u64> {
        self.gaps().map(|(from, _)| from).min()
    }

    /// First and last step of the stretches in which values of this run were not finite.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (u64, u64)> {
        let all = self.now.iter().filter_map(Curve::downsampled);
        all.flat_map(|downsampled| downsampled.gaps.iter().copied())
    }
}

fn gather<'a>(
    scene: &Scene<'a>,
    data: &'a RunData,
    steps: (u64, u64),
    columns: usize,
) -> Vec<Curve<'a>> {
    let names = metrics::expand(&scene.panel.metrics, data);
    let kinds = names.into_iter().filter_map(|name| {
        if let Some(series) = data.series.get(name) {
            let downsampled = Downsampled::new(series, steps, columns, &scene.view.chart);
            return Some((name, Kind::Series { series, downsampled }));
        }
        let level = data.scalars.get(name)?.as_f64().filter(|x| x.is_finite())?;
        let shown = match scene.view.chart.scale {
            Scale::Linear => true,
            Scale::Log => level > 0.0,
        };
        shown.then_some((name, Kind::Level(level)))
    });
    kinds.enumerate().map(|(place, (name, kind))| Curve { name, place, kind }).collect()
}

/// The steps there are to look at in a chart; absent if no run has a series in it.
pub fn extent(scene: &Scene<'_>) -> Option<Extent> {
    let now = span(scene, scene.data);
    let before = scene.earlier.iter().filter_map(|run| span(scene, &run.data));
    let (first, last) = now.into_iter().chain(before).reduce(wide)?;
    let newest = now.map_or(last, |(_, newest)| newest);
    Some(Extent { first, last, newest })
}

/// The step before another at which one of the chart's curves has a value.
pub fn step_before(scene: &Scene<'_>, step: u64) -> Option<u64> {
    let before = |series: &Series| {
        let points = series.points();
        Some(points[..points.partition_point(|(at, _)| *at < step)].last()?.0)
    };
    series_of(scene, scene.data).filter_map(before).max()
}

/// The step after another at which one of the chart's curves has a value.
pub fn step_after(scene: &Scene<'_>, step: u64) -> Option<u64> {
    let after = |series: &Series| {
        let points = series.points();
        Some(points.get(points.partition_point(|(at, _)| *at <= step))?.0)
    };
    series_of(scene, scene.data).filter_map(after).min()
}

fn series_of<'a>(scene: &Scene<'a>, data: &'a RunData) -> impl Iterator<Item = &'a Series> {
    metrics::expand(&scene.panel.metrics, data).into_iter().filter_map(|name| data.series.get(name))
}

fn span(scene: &Scene<'_>, data: &RunData) -> Option<(u64, u64)> {
    series_of(scene, data).filter_map(ends).reduce(wide)
}

fn wide((a, b): (u64, u64), (c, d): (u64, u64)) -> (u64, u64) {
    (a.min(c), b.max(d))
}

/// The first and the last step of a series, gaps included.
fn ends(series: &Series) -> Option<(u64, u64)> {
    let (points, gaps) = (series.points(), series.gaps());
    let ends = |points: &[(u64, f64)]| Some((points.first()?.0, points.last()?.0));
    let gaps = gaps.first().copied().zip(gaps.last().copied());
    ends(points).into_iter().chain(gaps).reduce(wide)
}

const NAMED_CHANGES: usize = 3;

/// What the legend tells of each curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Names,
    Values,
}

/// The cursor's step, the curves, the earlier runs, what was not finite, then knob turns, the newest first.
pub(super) fn items(scene: &Scene<'_>, curves: &Curves<'_>, told: Told, look: &Look) -> Vec<Item> {
    let (theme, glyphs) = (&look.theme, &look.glyphs);
    let mut items = Vec::new();
    if let Some(step) = curves.cursor {
        let text = format!("step {step}:");
        items.push(Item::new(glyphs.cursor, theme.accent, text, theme.text));
    }
    let several = curves.names.len() > 1;
    items.extend(curves.now.iter().map(|curve| {
        let mark = if several { letter(curve.place) } else { glyphs.horizontal };
        let style = theme.curve(curve.place).add_modifier(Modifier::BOLD);
        let text = match told {
            Told::Names => curve.name.to_owned(),
            Told::Values => described(curve, curves, scene, look),
        };
        Item::new(mark, style, text, theme.text)
    }));
    for (place, name) in curves.names.iter().enumerate().skip(curves.now.len()) {
        let text = format!("{name}, earlier");
        items.push(Item::new(letter(place), theme.previous, text, theme.dim));
    }
    for (place, (run, before)) in scene.earlier.iter().zip(&curves.before).enumerate() {
        if !before.is_empty() {
            let text = said_before(&run.label, before, curves, scene, look);
            items.push(Item::new(numeral(place), theme.previous, text, theme.dim));
        }
    }
    if let Some(step) = curves.first_gap() {
        let many = curves.gaps().any(|(from, to)| (from, to) != (step, step));
        let text = format!("NaN or infinity {} step {step}", if many { "from" } else { "at" });
        items.push(Item::new(glyphs.not_finite, theme.bad, text, theme.bad));
    }
    let hidden: usize = curves.now.iter().map(Curve::hidden).sum();
    if hidden > 0 {
        let text = format!("{hidden} values of 0 or less are not on this axis");
        items.push(Item::new(glyphs.not_finite, theme.warn, text, theme.warn));
    }
    let changes = shown_changes(scene, curves).count();
    for change in shown_changes(scene, curves).rev().take(NAMED_CHANGES) {
        let text = format!("{} = {} at step {}", change.name, change.value, change.step);
        items.push(Item::new(glyphs.change, theme.warn, text, theme.dim));
    }
    if changes > NAMED_CHANGES {
        let text = format!("and {} earlier changes", changes - NAMED_CHANGES);
        items.push(Item::new("", theme.dim, text, theme.dim));
    }
    items
}

fn described(curve: &Curve<'_>, curves: &Curves<'_>, scene: &Scene<'_>, look: &Look) -> String {
    let mut text = curve.name.to_owned();
    let value = match curves.cursor {
        Some(step) => Some(value_at(curve, step, scene, look)),
        None => curve.latest().map(|x| quantity(x, scene.unit(curve.name), &look.glyphs)),
    };
    if let Some(value) = value {
        text.push_str(&format!(" {value}"));
    }
    if curves.cursor.is_none() && curve.is_broken() {
        text.push_str(", then not finite");
    }
    if curve.downsampled().is_some_and(|downsampled| downsampled.smoothed) {
        text.push_str(" (line smoothed)");
    }
    if let Some(label) = scene.own_label(curve.name) {
        text.push_str(&format!(" ({label})"));
    }
    text
}

fn said_before(
    label: &str,
    before: &[Curve<'_>],
    curves: &Curves<'_>,
    scene: &Scene<'_>,
    look: &Look,
) -> String {
    let Some(step) = curves.cursor else { return label.to_owned() };
    let values = before.iter().map(|curve| {
        let value = value_at(curve, step, scene, look);
        if curves.names.len() > 1 { format!("{} {value}", letter(curve.place)) } else { value }
    });
    format!("{label}: {}", values.collect::<Vec<_>>().join(", "))
}

fn value_at(curve: &Curve<'_>, step: u64, scene: &Scene<'_>, look: &Look) -> String {
    let said = |value| quantity(value, scene.unit(curve.name), &look.glyphs);
    match &curve.kind {
        Kind::Level(value) => said(*value),
        Kind::Series { series, .. } => match reading(series, step) {
            Reading::Value(at, value) if at == step => said(value),
            Reading::Value(at, value) => format!("{} (step {at})", said(value)),
            Reading::NotFinite => "not finite".to_owned(),
            Reading::Nothing => "not yet".to_owned(),
        },
    }
}

pub(super) fn shown_changes<'a>(
    scene: &Scene<'a>,
    curves: &Curves<'_>,
) -> impl DoubleEndedIterator<Item = &'a Change> {
    let (first, last) = curves.steps;
    scene.data.changes.iter().filter(move |change| {
        change.step <= last && (first <= change.step || curves.shown.is_none())
    })
}

/// What a series says at a step: what it said last by then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// A value, and the step it was recorded at.
    Value(u64, f64),
    NotFinite,
    Nothing,
}

pub fn reading(series: &Series, step: u64) -> Reading {
    let (points, gaps) = (series.points(), series.gaps());
    let point = points[..points.partition_point(|(at, _)| *at <= step)].last();
    let gap = gaps[..gaps.partition_point(|at| *at <= step)].last();
    match (point, gap) {
        (Some((at, _)), Some(gap)) if gap >= at => Reading::NotFinite,
        (Some(&(at, value)), _) => Reading::Value(at, value),
        (None, Some(_)) => Reading::NotFinite,
        (None, None) => Reading::Nothing,
    }
}

/// The name of a curve in the legend, in the chart and at its right edge.
pub(in crate::panel) fn letter(place: usize) -> &'static str {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
    let at = place % LETTERS.len();
    &LETTERS[at..=at]
}

pub(super) fn numeral(place: usize) -> &'static str {
    const NUMERALS: &str = "123456789";
    let at = place % NUMERALS.len();
    &NUMERALS[at..=at]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_says_what_it_said_last() {
        let mut series = Series::default();
        for (step, value) in [(10, 1.0), (20, 2.0), (30, f64::NAN), (40, 4.0)] {
            series.push(step, value);
        }
        for (step, expected) in [
            (9, Reading::Nothing),
            (10, Reading::Value(10, 1.0)),
            (29, Reading::Value(20, 2.0)),
            (30, Reading::NotFinite),
            (39, Reading::NotFinite),
            (1000, Reading::Value(40, 4.0)),
        ] {
            assert_eq!(reading(&series, step), expected, "{step}");
        }
    }
}
