//! A series reduced to what a figure can show, no extreme lost.

use mlsys_lab::report::Series;
use mlsys_lab::schema::Scale;

use crate::figure::Smoothing;

/// Columns that a curve is reduced to: finer than a printed figure shows.
const COLUMNS: usize = 1200;
/// The smoothed curve forgets over this share of the width.
const MEMORY: f64 = 0.03;
/// A curve that travels this many times its height up and down is noisy.
const NOISY: f64 = 6.0;
/// Fewer points are never noise.
const FEW: usize = 40;

/// A stretch of a curve without a gap.
pub(super) type Stretch = Vec<(u64, f64)>;

/// A reduced series.
#[derive(Debug, Default)]
pub(super) struct Reduced {
    /// The points to join, stretch by stretch.
    pub(super) raw: Vec<Stretch>,
    /// The trend, if the curve is to be smoothed.
    pub(super) smooth: Option<Vec<Stretch>>,
    /// Steps at which a value was not finite, one a column.
    pub(super) gaps: Vec<u64>,
}

/// The part of a series between two steps that an axis can show.
pub(super) fn reduce(
    series: &Series,
    (from, to): (u64, u64),
    scale: Scale,
    smoothing: Smoothing,
) -> Reduced {
    let span = to.saturating_sub(from).max(1) as f64;
    let column = |step: u64| (step.saturating_sub(from) as f64 / span * COLUMNS as f64) as usize;
    let shown = |(step, value): &(u64, f64)| {
        (from..=to).contains(step)
            && match scale {
                Scale::Linear => true,
                Scale::Log => *value > 0.0,
            }
    };
    let points: Vec<(u64, f64)> = series.points().iter().copied().filter(shown).collect();
    let gaps: Vec<u64> =
        series.gaps().iter().copied().filter(|step| (from..=to).contains(step)).collect();
    let mut reduced = Reduced::default();
    let mut trend: Vec<Stretch> = Vec::new();
    let (mut travelled, mut low, mut high) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
    let forget = (-1.0 / (MEMORY * COLUMNS as f64)).exp();
    let (mut sum, mut weight, mut newest) = (0.0, 0.0, 0);
    let mut before: Option<(u64, f64)> = None;
    let mut rest = points.as_slice();
    while let Some(&first) = rest.first() {
        let here = column(first.0);
        let broken = before.is_some_and(|(step, _)| gap_between(&gaps, step, first.0));
        let count = rest.iter().take_while(|(step, _)| column(*step) == here).count();
        let (bucket, after) = rest.split_at(count.max(1));
        rest = after;
        if broken || reduced.raw.is_empty() {
            reduced.raw.push(Vec::new());
            trend.push(Vec::new());
        }
        let faded = forget.powi((here - newest.min(here)).min(1 << 20) as i32);
        (sum, weight, newest) = (sum * faded, weight * faded, here);
        for &(_, value) in bucket {
            travelled += before.map_or(0.0, |(_, last): (u64, f64)| (value - last).abs());
            before = Some((first.0, value));
            (sum, weight) = (sum + value, weight + 1.0);
            (low, high) = (low.min(value), high.max(value));
        }
        before = bucket.last().copied();
        if let (Some(stretch), Some(smooth)) = (reduced.raw.last_mut(), trend.last_mut()) {
            stretch.extend(extremes(bucket));
            if let Some(&(step, last)) = bucket.last() {
                let mean = sum / weight;
                smooth.push((step, if mean.is_finite() { mean } else { last }));
            }
        }
    }
    let noisy = points.len() >= FEW && travelled > NOISY * (high - low);
    let smoothed = match smoothing {
        Smoothing::WhereNoisy => noisy,
        Smoothing::Off => false,
        Smoothing::On => true,
    };
    reduced.smooth = smoothed.then_some(trend);
    let mut last = None;
    for gap in gaps {
        if last != Some(column(gap)) {
            last = Some(column(gap));
            reduced.gaps.push(gap);
        }
    }
    reduced
}

/// The first, lowest, highest and last point of a column, in the order of their steps.
fn extremes(bucket: &[(u64, f64)]) -> Vec<(u64, f64)> {
    let by = |a: &&(u64, f64), b: &&(u64, f64)| a.1.total_cmp(&b.1);
    let chosen =
        [bucket.first(), bucket.iter().min_by(by), bucket.iter().max_by(by), bucket.last()];
    let mut points: Vec<(u64, f64)> = chosen.into_iter().flatten().copied().collect();
    points.sort_by_key(|(step, _)| *step);
    points.dedup();
    points
}

fn gap_between(gaps: &[u64], after: u64, before: u64) -> bool {
    let next = gaps.partition_point(|gap| *gap <= after);
    gaps.get(next).is_some_and(|gap| *gap < before)
}
