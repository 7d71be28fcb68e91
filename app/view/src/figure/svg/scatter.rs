//! Named points between two axes, the ones that no other beats joined.

use std::fmt::Write as _;

use mlsys_lab::frame::{Better, Dimension, Scatter};

use super::marks::mark;
use super::page::{Anchor, Page, Sample, cut, short};
use super::plot::{Plot, Side};
use crate::figure::axis::Axis;
use crate::figure::ink;
use crate::figure::unit;

/// Points with names; with more of them, names would be all there is.
const NAMED: usize = 60;

/// Draws the front, the points with their names, and what the marks mean.
pub(super) fn draw(page: &mut Page, scatter: &Scatter) {
    let plot = Plot::draw(
        page,
        side(&scatter.x, scatter, |place| place.0),
        side(&scatter.y, scatter, |place| place.1),
        60.0,
    );
    let front = scatter.front();
    let mut d = String::new();
    for index in &front {
        let place = scatter.points.get(*index).and_then(|point| point.place());
        if let Some((x, y)) = place.and_then(|place| plot.at(place)) {
            let pen = if d.is_empty() { 'M' } else { 'L' };
            let _ = write!(d, "{pen}{} {}", short(x), short(y));
        }
    }
    page.stroke(&d, ink::DIM, 1.4, "6 3");
    let color_of = |line: usize| {
        let joined = scatter.lines.get(line).and_then(|line| scatter.joined(line));
        ink::color(joined.unwrap_or(scatter.series.len().max(1) + line))
    };
    for (place, line) in scatter.lines.iter().enumerate() {
        let mut d = String::new();
        for (x, y) in line.points.iter().filter_map(|place| plot.at(*place)) {
            let pen = if d.is_empty() { 'M' } else { 'L' };
            let _ = write!(d, "{pen}{} {}", short(x), short(y));
        }
        page.stroke(&d, color_of(place), 1.8, "none");
    }
    let named = scatter.points.len() <= NAMED;
    for (index, point) in scatter.points.iter().enumerate() {
        let Some((x, y)) = point.place().and_then(|place| plot.at(place)) else {
            continue;
        };
        let on_front = front.contains(&index);
        let edge = if on_front { ink::INK } else { ink::PAPER };
        page.shape(&mark(point.series, (x, y)), ink::color(point.series), edge);
        if on_front {
            page.styled((x + 6.0, y - 5.0), Anchor::Start, "★", "b", ink::INK);
        }
        if named || on_front {
            let at = (x + if on_front { 18.0 } else { 8.0 }, y - 5.0);
            page.text(at, Anchor::Start, &cut(&point.label, 24), ink::INK);
        }
    }
    let mut legend: Vec<(Sample, String)> = Vec::new();
    for (place, name) in scatter.series.iter().enumerate() {
        legend.push((Sample::Mark(place), cut(name, 40)));
    }
    let lines = scatter.lines.iter().enumerate();
    for (place, line) in lines.filter(|(_, line)| scatter.joined(line).is_none()) {
        let sample = Sample::Curve(scatter.series.len().max(1) + place, None);
        legend.push((sample, cut(&line.name, 40)));
    }
    if scatter.has_front() {
        let way = |dimension: &Dimension| match dimension.better {
            Better::Less => format!("less {}", dimension.name),
            Better::More | Better::Neither => format!("more {}", dimension.name),
        };
        let text =
            format!("Pareto front: none has both {} and {}", way(&scatter.x), way(&scatter.y));
        legend.push((Sample::Sign("★"), text));
    }
    page.legend(&legend);
}

fn side<'a>(
    dimension: &'a Dimension,
    scatter: &Scatter,
    of: impl Fn((f64, f64)) -> f64,
) -> Side<'a> {
    let axis = Axis::of(dimension, scatter.places().map(of));
    let axis = axis.unwrap_or_else(|| Axis::around(0.1, 1.0, dimension.scale));
    Side { axis, name: &dimension.name, unit: unit(&dimension.unit) }
}
