//! A series reduced to what a chart of some width can show: one pass over the points, no extreme lost.

use mlsys_lab::report::Series;
use mlsys_lab::schema::Scale;

use super::view::{ChartView, Smoothing};

/// The points of a series that fall on one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bucket {
    /// The step and value of the first point.
    pub(super) first: (u64, f64),
    /// The step and value of the last point.
    pub(super) last: (u64, f64),
    /// The smallest value.
    pub(super) low: f64,
    /// The largest value.
    pub(super) high: f64,
    /// The mean of all values, smoothed over the columns before.
    pub(super) smooth: f64,
}

/// A reduced series.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    /// Buckets in the order of their steps; empty ones are left out.
    pub(super) buckets: Vec<Bucket>,
    /// First and last step of each stretch of values that were not finite; one in a column is enough.
    pub(super) gaps: Vec<(u64, u64)>,
    /// Values that the axis cannot show because they are not positive.
    pub(super) hidden: usize,
    /// Whether the points jump about so much that the smoothed curve says more.
    pub(super) noisy: bool,
    /// Whether the smoothed curve is drawn over the raw one.
    pub(super) smoothed: bool,
}

/// The smoothed curve forgets over this share of the chart's width.
const MEMORY: f64 = 0.03;
/// A curve that travels this many times its height up and down is noisy.
const NOISY: f64 = 6.0;

impl Trace {
    /// Reduces a series to at most `columns` buckets between two steps.
    pub(super) fn new(
        series: &Series,
        steps: (u64, u64),
        columns: usize,
        chart: &ChartView,
    ) -> Self {
        let columns = columns.max(1);
        let span = steps.1.saturating_sub(steps.0).max(1) as f64;
        let column = |step: u64| {
            let share = step.saturating_sub(steps.0) as f64 / span;
            ((share * columns as f64) as usize).min(columns - 1)
        };
        let shown = |value: f64| match chart.scale {
            Scale::Linear => true,
            Scale::Log => value > 0.0,
        };
        let forget = (-1.0 / (MEMORY * columns as f64).max(1.0)).exp();
        let mut trace = Self {
            buckets: Vec::new(),
            gaps: Vec::new(),
            hidden: 0,
            noisy: false,
            smoothed: false,
        };
        let (mut travelled, mut before) = (0.0, None);
        let (mut sum, mut weight, mut newest) = (0.0, 0.0, 0);
        let all = series.points();
        let from = all.partition_point(|(step, _)| *step < steps.0);
        let to = all.partition_point(|(step, _)| *step <= steps.1);
        let points = all.get(from..to).unwrap_or_default();
        let mut start = 0;
        while let Some(&(step, _)) = points.get(start) {
            let here = column(step);
            let rest = &points[start..];
            let count = rest
                .partition_point(|(step, _)| column(*step) <= here)
                .max(1);
            let mut bucket: Option<Bucket> = None;
            let faded = forget.powi((here - newest.min(here)) as i32);
            (sum, weight, newest) = (sum * faded, weight * faded, here);
            for &(step, value) in &rest[..count] {
                if !shown(value) {
                    trace.hidden += 1;
                    continue;
                }
                travelled += before.map_or(0.0, |before: f64| (value - before).abs());
                before = Some(value);
                (sum, weight) = (sum + value, weight + 1.0);
                let bucket = bucket.get_or_insert(Bucket {
                    first: (step, value),
                    last: (step, value),
                    low: value,
                    high: value,
                    smooth: value,
                });
                bucket.last = (step, value);
                bucket.low = bucket.low.min(value);
                bucket.high = bucket.high.max(value);
            }
            if let Some(bucket) = bucket {
                let smooth = sum / weight;
                let smooth = if smooth.is_finite() {
                    smooth
                } else {
                    bucket.last.1
                };
                trace.buckets.push(Bucket { smooth, ..bucket });
            }
            start += count;
        }
        let (low, high) = trace.bounds();
        trace.noisy = points.len() >= 40 && travelled > NOISY * (high - low);
        trace.smoothed = match chart.smoothing {
            Smoothing::WhereNoisy => trace.noisy,
            Smoothing::Off => false,
            Smoothing::On => true,
        };
        let mut gaps = series.gaps();
        while let Some(&from) = gaps.first() {
            let next = points.get(points.partition_point(|(step, _)| *step <= from));
            let count = gaps
                .partition_point(|gap| next.is_none_or(|(step, _)| gap < step))
                .max(1);
            let to = gaps[count - 1];
            trace.gaps.push((from, to));
            let rest = &gaps[count..];
            gaps = &rest[rest.partition_point(|step| column(*step) <= column(to))..];
        }
        trace
    }

    /// The smallest and largest value; turned round if there is none.
    pub(super) fn bounds(&self) -> (f64, f64) {
        let fold = |(low, high): (f64, f64), b: &Bucket| (low.min(b.low), high.max(b.high));
        self.buckets
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), fold)
    }

    /// Whether a value that was not finite lies between two steps.
    pub(super) fn broken_between(series: &Series, after: u64, before: u64) -> bool {
        let gaps = series.gaps();
        let next = gaps.partition_point(|gap| *gap <= after);
        gaps.get(next).is_some_and(|gap| *gap < before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::panel::Window;

    const fn chart(scale: Scale) -> ChartView {
        ChartView {
            scale,
            smoothing: Smoothing::WhereNoisy,
            window: Window::All,
        }
    }

    const LINEAR: ChartView = chart(Scale::Linear);
    const LOG: ChartView = chart(Scale::Log);

    fn series(values: impl IntoIterator<Item = f64>) -> Series {
        let mut series = Series::default();
        for (step, value) in values.into_iter().enumerate() {
            series.push(step as u64, value);
        }
        series
    }

    #[test]
    fn one_spike_among_a_million_points_survives() {
        let spike = |i: u32| if i == 654_321 { 9.0 } else { f64::from(i % 3) };
        let series = series((0..1_000_000).map(spike));
        let trace = Trace::new(&series, (0, 999_999), 80, &LINEAR);
        assert_eq!(trace.buckets.len(), 80);
        assert_eq!(trace.bounds(), (0.0, 9.0));
        assert_eq!(trace.buckets.iter().filter(|b| b.high == 9.0).count(), 1);
        assert!(trace.noisy);
    }

    #[test]
    fn every_point_is_in_one_bucket_in_order() {
        for count in [0, 1, 2, 7, 79, 80, 81, 5000] {
            let series = series((0..count).map(f64::from));
            let trace = Trace::new(&series, (0, count.max(1) as u64 - 1), 80, &LINEAR);
            let mut next = 0.0;
            for bucket in &trace.buckets {
                assert_eq!((bucket.first.1, bucket.low), (next, next));
                assert!(bucket.last.1 >= next && bucket.high == bucket.last.1);
                next = bucket.last.1 + 1.0;
            }
            assert_eq!(next, f64::from(count));
            assert!(!trace.noisy);
        }
    }

    #[test]
    fn what_is_not_finite_is_a_gap_and_what_is_not_positive_is_counted() {
        let series = series([1.0, f64::NAN, 2.0, -1.0, 0.0, 4.0, f64::INFINITY]);
        let trace = Trace::new(&series, (0, 6), 100, &LOG);
        assert_eq!(
            (trace.hidden, trace.gaps.as_slice()),
            (2, &[(1, 1), (6, 6)][..])
        );
        assert_eq!(trace.bounds(), (1.0, 4.0));
        let alternating = |i: u32| if i.is_multiple_of(2) { f64::NAN } else { 1.0 };
        let trace = Trace::new(
            &self::series((0..10_000).map(alternating)),
            (0, 9999),
            50,
            &LINEAR,
        );
        assert_eq!(trace.gaps.len(), 50);
        let trace = Trace::new(
            &self::series([1.0, f64::NAN, f64::NAN, 2.0]),
            (0, 3),
            50,
            &LINEAR,
        );
        assert_eq!(trace.gaps, [(1, 2)]);
        assert!(Trace::broken_between(&series, 0, 2));
        assert!(!Trace::broken_between(&series, 2, 5));
    }
}
