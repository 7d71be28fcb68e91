//! Curves of metrics over steps.

use std::fmt::Write as _;

use mlsys_lab::report::RunData;
use mlsys_lab::schema::Scale;

use super::page::{Anchor, Page, Sample, cut, short};
use super::plot::{Plot, Side};
use super::reduce::{Reduced, reduce};
use crate::figure::axis::Axis;
use crate::figure::{Figure, Smoothing, glyphs, ink, metrics, quantity};

/// A curve or a level line.
enum Kind {
    Series(Reduced),
    Level(f64),
}

struct Curve<'a> {
    name: &'a str,
    kind: Kind,
}

/// Draws earlier runs thin, then this run's curves with a letter at the end of each, knobs turned and gaps.
pub(super) fn draw(page: &mut Page, figure: &Figure<'_>, names: &[&str]) {
    let (scale, steps) = (figure.scale(), figure.steps());
    let now = curves(figure, names, figure.data, figure.options.smoothing);
    let before: Vec<(&str, Vec<Curve<'_>>)> = figure
        .earlier
        .iter()
        .map(|(name, data)| {
            let names = metrics::expand(&figure.panel.metrics, data);
            (*name, curves(figure, &names, data, Smoothing::WhereNoisy))
        })
        .collect();
    let all = now.iter().chain(before.iter().flat_map(|(_, curves)| curves));
    let values = all.flat_map(|curve| match &curve.kind {
        Kind::Series(series) => series.raw.iter().flatten().map(|p| p.1).collect(),
        Kind::Level(value) => vec![*value],
    });
    let values = values.filter(|x| match scale {
        Scale::Linear => true,
        Scale::Log => *x > 0.0,
    });
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
    let unit = names.first().and_then(|name| metrics::unit(figure.schema, name));
    let plot = Plot::draw(
        page,
        Side { axis: Axis::steps(steps.0, steps.1), name: "step", unit: None },
        Side {
            axis: Axis::around(low, high, scale),
            name: if let [name] = names { name } else { "" },
            unit,
        },
        22.0,
    );
    let mut legend: Vec<(Sample, String)> = Vec::new();
    changes(page, &plot, figure, &mut legend);
    for (name, curves) in &before {
        for curve in curves {
            match &curve.kind {
                Kind::Series(series) => {
                    let shown = series.smooth.as_ref().unwrap_or(&series.raw);
                    page.stroke(&path(&plot, shown), "#9aa3ad", 1.0, "4 3");
                }
                Kind::Level(_) => {}
            }
        }
        legend.push((Sample::Thin("4 3"), format!("earlier: {name}")));
    }
    let several = now.len() > 1;
    let mut ends: Vec<(f64, usize)> = Vec::new();
    for (place, curve) in now.iter().enumerate().rev() {
        one(page, &plot, place, curve);
        if let Some(end) = end(&plot, curve) {
            ends.push((end, place));
        }
    }
    for (place, curve) in now.iter().enumerate() {
        let letter = several.then(|| letter(place));
        legend.push((Sample::Curve(place, letter), said(figure, curve)));
    }
    if several {
        letters(page, &plot, ends);
    }
    let smooth = now.iter().any(|c| matches!(&c.kind, Kind::Series(s) if s.smooth.is_some()));
    if smooth {
        legend.push((Sample::Thin("none"), "thin: as measured, thick: smoothed".to_owned()));
    }
    page.legend(&legend);
}

fn curves<'a>(
    figure: &Figure<'_>,
    names: &[&'a str],
    data: &RunData,
    smoothing: Smoothing,
) -> Vec<Curve<'a>> {
    let (scale, steps) = (figure.scale(), figure.steps());
    let curve = |name: &&'a str| {
        let kind = match data.series.get(*name) {
            Some(series) => Kind::Series(reduce(series, steps, scale, smoothing)),
            None => Kind::Level(data.metric(name)?.as_f64().filter(|x| x.is_finite())?),
        };
        Some(Curve { name, kind })
    };
    names.iter().filter_map(curve).collect()
}

fn one(page: &mut Page, plot: &Plot, place: usize, curve: &Curve<'_>) {
    let (color, dash) = (ink::color(place), ink::dash(place));
    match &curve.kind {
        Kind::Level(value) => {
            if let Some(y) = plot.up(*value) {
                let d = format!("M{} {}H{}", short(plot.left), short(y), short(plot.right));
                page.stroke(&d, color, 1.4, dash);
            }
        }
        Kind::Series(series) => {
            if let Some(smooth) = &series.smooth {
                page.stroke(&path(plot, &series.raw), color, 0.5, "none");
                page.stroke(&path(plot, smooth), color, 2.4, dash);
            } else {
                page.stroke(&path(plot, &series.raw), color, 1.8, dash);
            }
            for gap in &series.gaps {
                if let Some(x) = plot.across(*gap as f64) {
                    let at = (x, plot.top + 12.0);
                    page.styled(at, Anchor::Middle, "×", "b", ink::BAD);
                }
            }
        }
    }
}

/// The path of stretches; a lone point is a dot.
fn path(plot: &Plot, stretches: &[Vec<(u64, f64)>]) -> String {
    let mut d = String::new();
    for stretch in stretches {
        let mut pen = 'M';
        let placed = stretch.iter().filter_map(|&(step, value)| plot.at((step as f64, value)));
        for (x, y) in placed {
            let _ = write!(d, "{pen}{} {}", short(x), short(y));
            pen = 'L';
        }
        if stretch.len() == 1 {
            d.push_str("h0.1");
        }
    }
    d
}

/// Where a curve ends at the right.
fn end(plot: &Plot, curve: &Curve<'_>) -> Option<f64> {
    let value = match &curve.kind {
        Kind::Level(value) => *value,
        Kind::Series(series) => {
            let shown = series.smooth.as_ref().unwrap_or(&series.raw);
            shown.last()?.last()?.1
        }
    };
    plot.up(value)
}

/// Letters beside the curves' ends, moved apart where they would cover one another.
fn letters(page: &mut Page, plot: &Plot, mut ends: Vec<(f64, usize)>) {
    const APART: f64 = 13.0;
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = f64::NEG_INFINITY;
    for (y, place) in ends {
        let y = y.max(free);
        free = y + APART;
        let text = letter(place).to_string();
        let at = (plot.right + 8.0, y + 4.0);
        page.styled(at, Anchor::Start, &text, "b", ink::color(place));
    }
}

/// The letter of a curve.
fn letter(place: usize) -> char {
    char::from(b'a' + (place % 26) as u8)
}

/// A curve in the legend: its name, how it ended, and gaps.
fn said(figure: &Figure<'_>, curve: &Curve<'_>) -> String {
    let unit = metrics::unit(figure.schema, curve.name);
    let value = |x: f64| quantity(x, unit, &glyphs());
    let modelled = if metrics::is_modelled(figure.schema, curve.name) { " (modelled)" } else { "" };
    let name = curve.name;
    match &curve.kind {
        Kind::Level(x) => format!("{name} = {}{modelled}", value(*x)),
        Kind::Series(series) => {
            let last = series.raw.last().and_then(|stretch| stretch.last());
            let last =
                last.map_or("no finite value".to_owned(), |(_, x)| format!("last {}", value(*x)));
            match series.gaps.first() {
                None => format!("{name}, {last}{modelled}"),
                Some(gap) => format!("{name}, {last}{modelled}, × not finite from step {gap}"),
            }
        }
    }
}

/// Knobs turned during the run, as lines down.
fn changes(page: &mut Page, plot: &Plot, figure: &Figure<'_>, legend: &mut Vec<(Sample, String)>) {
    let (from, to) = figure.steps();
    let shown = figure.data.changes.iter().filter(|c| (from..=to).contains(&c.step));
    for change in shown.take(20) {
        if let Some(x) = plot.across(change.step as f64) {
            page.line((x, plot.top), (x, plot.bottom), ink::DIM, "1 3");
            let text = format!("{} = {} from step {}", change.name, change.value, change.step);
            legend.push((Sample::Thin("1 3"), cut(&text, 60)));
        }
    }
}
