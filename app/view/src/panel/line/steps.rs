//! The steps a chart has something to show at.

use mlsys_lab::report::{RunData, Series};

use crate::panel::{Extent, Scene, metrics};

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
        let next = points.partition_point(|(at, _)| *at < step);
        Some(points.get(next.checked_sub(1)?)?.0)
    };
    series_of(scene, scene.data).filter_map(before).max()
}

/// The step after another at which one of the chart's curves has a value.
pub fn step_after(scene: &Scene<'_>, step: u64) -> Option<u64> {
    let after = |series: &Series| {
        let points = series.points();
        let next = points.partition_point(|(at, _)| *at <= step);
        Some(points.get(next)?.0)
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
    let first = points.first().map(|(step, _)| *step);
    let last = points.last().map(|(step, _)| *step);
    let first = first.into_iter().chain(gaps.first().copied()).min()?;
    let last = last.into_iter().chain(gaps.last().copied()).max()?;
    Some((first, last))
}
