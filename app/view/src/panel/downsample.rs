//! A series reduced to what a chart of some width can show: no extreme is lost, and the cost is that of the columns.

use mlsys_lab::report::{Among, Series, Summary};
use mlsys_lab::schema::Scale;

use crate::panel::view::{ChartView, Smoothing};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bucket {
    pub(super) first: (u64, f64),
    pub(super) last: (u64, f64),
    pub(super) low: f64,
    pub(super) high: f64,
    /// The mean of all values, smoothed over the columns around.
    pub(super) smooth: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Downsampled {
    /// Buckets in the order of their steps; empty ones are left out.
    pub(super) buckets: Vec<Bucket>,
    /// Where a line from the point before comes in at the first step shown.
    pub(super) enters: Option<f64>,
    /// Where a line to the point after goes out at the last step shown.
    pub(super) leaves: Option<f64>,
    /// First and last step of each stretch of values that were not finite, at most one a column.
    pub(super) gaps: Vec<(u64, u64)>,
    /// Values that the axis cannot show because they are not positive.
    pub(super) hidden: usize,
    /// Whether the smoothed curve is drawn over the raw one.
    pub(super) smoothed: bool,
}

/// The smoothed curve forgets over this share of the chart's width.
const MEMORY: f64 = 0.03;
/// A curve that travels this many times its height up and down is noisy.
const NOISY: f64 = 6.0;
/// Fewer points than this are not smoothed unless that is asked for.
const FEW: usize = 40;

impl Downsampled {
    /// Reduces the part of a series between two steps to at most `columns` buckets.
    pub(super) fn new(
        series: &Series,
        steps: (u64, u64),
        columns: usize,
        chart: &ChartView,
    ) -> Self {
        let columns = Columns::over(steps, columns);
        let among = match chart.scale {
            Scale::Linear => Among::All,
            Scale::Log => Among::Positive,
        };
        let all = series.points();
        let from = all.partition_point(|(step, _)| *step < steps.0);
        let to = all.partition_point(|(step, _)| *step <= steps.1).max(from);
        // A line that comes from a point out of sight, or goes to one, is seen from edge to edge.
        let crossing = |place: usize, step: u64| {
            let (from, to) = (*all.get(place.checked_sub(1)?)?, *all.get(place)?);
            between(series, from, to, step, chart.scale)
        };
        let mut downsampled = Self {
            buckets: Vec::with_capacity(columns.count.min(to - from)),
            enters: crossing(from, steps.0),
            leaves: crossing(to, steps.1),
            gaps: columns.gaps(series, steps),
            hidden: 0,
            smoothed: match chart.smoothing {
                Smoothing::WhereNoisy => to - from >= FEW && is_noisy(series, among),
                Smoothing::Off => false,
                Smoothing::On => true,
            },
        };
        let mut totals = Vec::with_capacity(downsampled.buckets.capacity());
        let mut bucket = |column: usize, whole: &Summary| {
            totals.push(Total { column, sum: whole.sum, weight: whole.count as f64 });
            Bucket {
                first: whole.first,
                last: whole.last,
                low: whole.low,
                high: whole.high,
                smooth: whole.last.1,
            }
        };
        let mut shown = 0;
        // A piece is at most half a column wide, so that none is drawn further from its place than half a dot.
        let pieces = series.pieces(from..to, 2 * columns.count, among);
        let mut open: Option<(usize, Summary)> = None;
        for piece in pieces {
            shown += piece.count;
            let here = columns.column(piece.first.0);
            open = Some(match open {
                Some((column, whole)) if column == here => (column, joined(whole, piece)),
                Some((column, whole)) => {
                    downsampled.buckets.push(bucket(column, &whole));
                    (here, piece)
                }
                None => (here, piece),
            });
        }
        let last = open.map(|(column, whole)| bucket(column, &whole));
        downsampled.buckets.extend(last);
        let means = Fading::before(series, from, &columns, among).around(&totals);
        for (bucket, mean) in downsampled.buckets.iter_mut().zip(means) {
            if mean.is_finite() {
                bucket.smooth = mean;
            }
        }
        downsampled.hidden = to - from - shown;
        downsampled
    }

    /// The smallest and largest value; turned round if there is none.
    pub(super) fn bounds(&self) -> (f64, f64) {
        let wide = |(low, high): (f64, f64), (a, b): (f64, f64)| (low.min(a), high.max(b));
        let edges = self.enters.into_iter().chain(self.leaves);
        let ranges = self.buckets.iter().map(|bucket| (bucket.low, bucket.high));
        ranges.chain(edges.map(|edge| (edge, edge))).fold((f64::INFINITY, f64::NEG_INFINITY), wide)
    }

    /// Whether a value that was not finite lies between two steps.
    pub(super) fn broken_between(series: &Series, after: u64, before: u64) -> bool {
        let gaps = series.gaps();
        let next = gaps.partition_point(|gap| *gap <= after);
        gaps.get(next).is_some_and(|gap| *gap < before)
    }
}

fn joined(one: Summary, next: Summary) -> Summary {
    Summary {
        first: one.first,
        last: next.last,
        low: one.low.min(next.low),
        high: one.high.max(next.high),
        sum: one.sum + next.sum,
        count: one.count + next.count,
        travel: one.travel + next.travel,
    }
}

/// The value at a step of the line from one point to the next; absent if there is no line there.
fn between(
    series: &Series,
    from: (u64, f64),
    to: (u64, f64),
    step: u64,
    scale: Scale,
) -> Option<f64> {
    if step <= from.0 || step >= to.0 || Downsampled::broken_between(series, from.0, to.0) {
        return None;
    }
    let share = (step - from.0) as f64 / (to.0 - from.0) as f64;
    let mix = |a: f64, b: f64| a * (1.0 - share) + b * share;
    match scale {
        Scale::Linear => Some(mix(from.1, to.1)),
        Scale::Log if from.1 > 0.0 && to.1 > 0.0 => Some(mix(from.1.ln(), to.1.ln()).exp()),
        Scale::Log => None,
    }
}

/// Whether a series goes up and down much more than it goes anywhere.
fn is_noisy(series: &Series, among: Among) -> bool {
    let whole = series.summary(0..usize::MAX, among);
    whole.is_some_and(|whole| whole.travel > NOISY * (whole.high - whole.low))
}

/// The columns of a chart, each with the steps from one to the next.
struct Columns {
    first: u64,
    span: f64,
    count: usize,
}

impl Columns {
    fn over(steps: (u64, u64), count: usize) -> Self {
        Self {
            first: steps.0,
            span: steps.1.saturating_sub(steps.0).max(1) as f64,
            count: count.max(1),
        }
    }

    fn column(&self, step: u64) -> usize {
        let share = step.saturating_sub(self.first) as f64 / self.span;
        ((share * self.count as f64) as usize).min(self.count - 1)
    }

    /// The stretches of steps with values that were not finite, at most one a column.
    fn gaps(&self, series: &Series, steps: (u64, u64)) -> Vec<(u64, u64)> {
        let (points, gaps) = (series.points(), series.gaps());
        let from = gaps.partition_point(|gap| *gap < steps.0);
        let to = gaps.partition_point(|gap| *gap <= steps.1);
        let mut gaps = gaps.get(from..to).unwrap_or_default();
        let mut stretches = Vec::new();
        while let Some(&from) = gaps.first() {
            let next = points.get(points.partition_point(|(step, _)| *step <= from));
            let count = gaps.partition_point(|gap| next.is_none_or(|(step, _)| gap < step)).max(1);
            let to = gaps[count - 1];
            stretches.push((from, to));
            let rest = &gaps[count..];
            gaps = &rest[rest.partition_point(|step| self.column(*step) <= self.column(to))..];
        }
        stretches
    }
}

/// The values of a column added up, and how many they are.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Total {
    column: usize,
    sum: f64,
    weight: f64,
}

/// Means in which columns further away count less.
struct Fading {
    /// What comes to the first column from the points before it.
    past: Total,
    /// What is left of a column in the next one.
    kept: f64,
}

impl Fading {
    /// The mean as it comes to the first column from the points before it.
    fn before(series: &Series, place: usize, columns: &Columns, among: Among) -> Self {
        let memory = (MEMORY * columns.count as f64).max(1.0);
        let steps = (memory * columns.span / columns.count as f64) as u64;
        let since = columns.first.saturating_sub(steps);
        let from = series.points().partition_point(|(step, _)| *step < since);
        let past = series.summary(from.min(place)..place, among);
        let kept = (-1.0 / memory).exp();
        // What lies up to one memory back has faded to the half on the way, roughly.
        let past = Total {
            column: 0,
            sum: past.map_or(0.0, |past| 0.5 * past.sum),
            weight: past.map_or(0.0, |past| 0.5 * past.count as f64),
        };
        Self { past, kept }
    }

    /// The mean around each column. As many columns after it count as before it, so that a falling curve is not late.
    fn around(&self, totals: &[Total]) -> Vec<f64> {
        let mut before = self.past;
        let forward = totals.iter().map(|total| {
            before = self.faded(before, total.column).plus(*total);
            before
        });
        let mut around: Vec<Total> = forward.collect();
        let mut after =
            Total { sum: 0.0, weight: 0.0, ..around.last().copied().unwrap_or(self.past) };
        for (total, around) in totals.iter().zip(&mut around).rev() {
            after = self.faded(after, total.column);
            *around = around.plus(after);
            after = after.plus(*total);
        }
        around.into_iter().map(|around| around.sum / around.weight).collect()
    }

    /// What is left of a total at another column.
    fn faded(&self, total: Total, column: usize) -> Total {
        let columns = column.abs_diff(total.column);
        let kept = self.kept.powi(i32::try_from(columns).unwrap_or(i32::MAX));
        Total { column, sum: total.sum * kept, weight: total.weight * kept }
    }
}

impl Total {
    fn plus(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, weight: self.weight + other.weight, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::Window;

    const fn chart(scale: Scale) -> ChartView {
        ChartView { scale, smoothing: Smoothing::WhereNoisy, window: Window::All }
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
        let downsampled = Downsampled::new(&series, (0, 999_999), 80, &LINEAR);
        assert_eq!(downsampled.buckets.len(), 80);
        assert_eq!(downsampled.bounds(), (0.0, 9.0));
        assert_eq!(downsampled.buckets.iter().filter(|b| b.high == 9.0).count(), 1);
        assert!(downsampled.smoothed);
    }

    #[test]
    fn a_smoothed_curve_is_not_late() {
        let noise = |i: u32| if i.is_multiple_of(2) { 30.0 } else { -30.0 };
        let series = series((0..800).map(|i| 1000.0 - f64::from(i) + noise(i)));
        let chart = ChartView { smoothing: Smoothing::On, ..LINEAR };
        let downsampled = Downsampled::new(&series, (0, 799), 80, &chart);
        let middle = &downsampled.buckets[20..60];
        for bucket in middle {
            let here = 1000.0 - f64::midpoint(bucket.first.0 as f64, bucket.last.0 as f64);
            assert!((bucket.smooth - here).abs() < 3.0, "{bucket:?} for {here}");
        }
    }

    #[test]
    fn every_point_is_in_one_bucket_in_order() {
        for count in [0, 1, 2, 7, 79, 80, 81, 5000] {
            let series = series((0..count).map(f64::from));
            let downsampled = Downsampled::new(&series, (0, count.max(1) as u64 - 1), 80, &LINEAR);
            let mut next = 0.0;
            for bucket in &downsampled.buckets {
                assert_eq!((bucket.first.1, bucket.low), (next, next));
                assert!(bucket.last.1 >= next && bucket.high == bucket.last.1);
                next = bucket.last.1 + 1.0;
            }
            assert_eq!(next, f64::from(count));
            assert!(!downsampled.smoothed);
        }
    }

    #[test]
    fn nan_is_a_gap_and_nonpositive_is_counted() {
        let series = series([1.0, f64::NAN, 2.0, -1.0, 0.0, 4.0, f64::INFINITY]);
        let downsampled = Downsampled::new(&series, (0, 6), 100, &LOG);
        assert_eq!((downsampled.hidden, downsampled.gaps.as_slice()), (2, &[(1, 1), (6, 6)][..]));
        assert_eq!(downsampled.bounds(), (1.0, 4.0));
        let alternating = |i: u32| if i.is_multiple_of(2) { f64::NAN } else { 1.0 };
        let downsampled =
            Downsampled::new(&self::series((0..10_000).map(alternating)), (0, 9999), 50, &LINEAR);
        assert_eq!(downsampled.gaps.len(), 50);
        let downsampled =
            Downsampled::new(&self::series([1.0, f64::NAN, f64::NAN, 2.0]), (0, 3), 50, &LINEAR);
        assert_eq!(downsampled.gaps, [(1, 2)]);
        assert!(Downsampled::broken_between(&series, 0, 2));
        assert!(!Downsampled::broken_between(&series, 2, 5));
    }
}
