//! One metric over steps.

use std::ops::Range;
use std::sync::Arc;

use super::summary::{Among, Levels, Summary};

/// Values of one metric at ascending steps; marks where it was NaN or infinite.
///
/// Beside the points it keeps summaries of blocks of them, so that [`Series::summary`] of any stretch costs the same for
/// a thousand points as for a million. They take an eighth of the points' memory and are built as the points come: adding
/// one stays constant work. A clone shares everything with the original until one of them grows.
#[derive(Clone, Debug, Default)]
pub struct Series {
    kept: Arc<Kept>,
}

#[derive(Clone, Debug, Default)]
struct Kept {
    points: Vec<(u64, f64)>,
    gaps: Vec<u64>,
    levels: Levels,
}

/// Two series are equal if they say the same; how they are summarised is not part of that.
impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        self.points() == other.points() && self.gaps() == other.gaps()
    }
}

impl Kept {
    #[inline]
    fn push(&mut self, step: u64, value: f64) {
        if value.is_finite() {
            self.points.push((step, value));
            self.levels.follow(&self.points);
        } else {
            self.gaps.push(step);
        }
    }
}

/// Adds many values, asking only once whether a clone shares those before them.
impl Extend<(u64, f64)> for Series {
    fn extend<T: IntoIterator<Item = (u64, f64)>>(&mut self, values: T) {
        let kept = Arc::make_mut(&mut self.kept);
        for (step, value) in values {
            kept.push(step, value);
        }
    }
}

impl Series {
    /// Adds a value; what is not finite becomes a gap.
    pub fn push(&mut self, step: u64, value: f64) {
        Arc::make_mut(&mut self.kept).push(step, value);
    }

    /// Makes room for so many more values.
    pub fn reserve(&mut self, count: usize) {
        Arc::make_mut(&mut self.kept).points.reserve_exact(count);
    }

    /// The finite values with their steps.
    pub fn points(&self) -> &[(u64, f64)] {
        &self.kept.points
    }

    /// The steps at which the value was NaN or infinite.
    pub fn gaps(&self) -> &[u64] {
        &self.kept.gaps
    }

    /// The last finite value.
    pub fn last(&self) -> Option<f64> {
        self.points().last().map(|&(_, value)| value)
    }

    /// Whether its newest entry is a gap.
    pub fn ends_in_gap(&self) -> bool {
        match (self.gaps().last(), self.points().last()) {
            (Some(gap), Some((step, _))) => gap >= step,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// A stretch of the points, by their places, as summaries one after the other, cut where blocks of points end.
    ///
    /// There are at least `pieces` of them, and at most 32 times as many, if there are so many points; a piece that holds
    /// none of those asked for is left out.
    pub fn pieces(
        &self,
        places: Range<usize>,
        pieces: usize,
        among: Among,
    ) -> impl Iterator<Item = Summary> + '_ {
        self.kept.levels.pieces(self.points(), places, pieces, among)
    }

    /// What a stretch of the points, by their places, holds; absent if none of those asked for lies in it.
    pub fn summary(&self, places: Range<usize>, among: Among) -> Option<Summary> {
        self.kept.levels.summary(self.points(), places, among)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_stays_as_it_was() {
        let mut series = Series::default();
        series.push(1, 0.5);
        let before = series.clone();
        series.push(2, 0.25);
        assert_eq!(before.points(), [(1, 0.5)]);
        assert_eq!(series.points(), [(1, 0.5), (2, 0.25)]);
        assert_ne!(series, before);
    }

    #[test]
    fn many_values_at_once_are_as_one_by_one() {
        let values = (0..1000_u64).map(|step| match step % 7 {
            0 => (step, f64::NAN),
            _ => (step, (step as f64).sin()),
        });
        let (mut many, mut single) = (Series::default(), Series::default());
        many.push(0, 0.5);
        let before = many.clone();
        single.push(0, 0.5);
        many.extend(values.clone());
        values.for_each(|(step, value)| single.push(step, value));
        assert_eq!(many, single);
        assert_eq!(before.points(), [(0, 0.5)]);
        for places in [0..many.points().len(), 5..700] {
            let (many, single) = (&many, &single);
            let of = |series: &Series| series.summary(places.clone(), Among::All);
            assert_eq!(of(many), of(single));
        }
    }
}
