//! How often values fall between edges.

use std::fmt::Write as _;

use mlsys_lab::frame::{Distribution, Histogram};
use mlsys_lab::schema::Scale;

use super::page::{Anchor, Page, Sample, cut, short};
use super::plot::{Plot, Side};
use crate::figure::axis::Axis;
use crate::figure::ink;
use crate::figure::unit;

/// Draws columns, the second population as an outline, and marked values.
pub(super) fn draw(page: &mut Page, histogram: &Histogram) {
    let finite = |edge: &&f64| edge.is_finite();
    let first = histogram.edges.first().filter(finite).copied().unwrap_or(0.0);
    let last = histogram.edges.last().filter(finite).copied().unwrap_or(1.0);
    let populations = [Some(&histogram.first), histogram.second.as_ref()];
    let shares = populations.into_iter().flatten().flat_map(Distribution::shares);
    let shares = shares.filter(|share| *share > 0.0);
    let (low, high) = shares.fold((1.0_f64, 0.0_f64), |(l, h), x| (l.min(x), h.max(x)));
    let heights = match histogram.scale {
        Scale::Linear => Axis::around(0.0, high.max(1e-9), Scale::Linear),
        Scale::Log => Axis::around(low / 2.0, high.max(low), Scale::Log),
    };
    let plot = Plot::draw(
        page,
        Side {
            axis: Axis::exactly(first, last),
            name: &histogram.quantity,
            unit: unit(&histogram.unit),
        },
        Side { axis: heights, name: "share of values", unit: None },
        6.0,
    );
    page.shape(&columns(&plot, histogram), "#c9ddee", ink::color(0));
    let mut legend = vec![(Sample::Field("#c9ddee"), said(&histogram.first))];
    if let Some(second) = &histogram.second {
        page.stroke(&outline(&plot, histogram, second), ink::color(1), 2.0, "none");
        legend.push((Sample::Curve(1, None), said(second)));
    }
    for level in histogram.levels.iter().take(1000) {
        let inside = (first..=last).contains(&level.at);
        if let Some(x) = plot.across(level.at).filter(|_| inside) {
            page.line((x, plot.top), (x, plot.bottom), ink::DIM, "2 3");
            page.text((x + 3.0, plot.top + 10.0), Anchor::Start, &cut(&level.label, 20), ink::DIM);
        }
    }
    if let Some(text) = histogram.marks() {
        legend.push((Sample::Thin("2 3"), text));
    }
    page.legend(&legend);
}

/// All columns as one path, a rectangle for each range that holds something.
fn columns(plot: &Plot, histogram: &Histogram) -> String {
    let mut d = String::new();
    for ((from, to), share) in histogram.ranges().zip(histogram.first.shares()) {
        let top = Some(share).filter(|share| *share > 0.0);
        let top = top.and_then(|share| plot.up(share));
        if let (Some(left), Some(right), Some(top)) = (plot.across(from), plot.across(to), top) {
            let (left, right) = (short(left), short(right));
            let _ = write!(
                d,
                "M{left} {}V{}H{right}V{}z",
                short(plot.bottom),
                short(top),
                short(plot.bottom)
            );
        }
    }
    d
}

/// The heights of the second population, joined at the edges.
fn outline(plot: &Plot, histogram: &Histogram, second: &Distribution) -> String {
    let mut d = String::new();
    for ((from, to), share) in histogram.ranges().zip(second.shares()) {
        let y = plot.up(share).unwrap_or(plot.bottom);
        if let (Some(left), Some(right)) = (plot.across(from), plot.across(to)) {
            let pen = if d.is_empty() { 'M' } else { 'L' };
            let _ = write!(d, "{pen}{} {}H{}", short(left), short(y), short(right));
        }
    }
    d
}

fn said(population: &Distribution) -> String {
    let total = population.total();
    match cut(&population.name, 60).as_str() {
        "" => format!("{total} values"),
        name => format!("{name} ({total} values)"),
    }
}
