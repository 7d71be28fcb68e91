//! One metric over steps.

/// Values of one metric at ascending steps; marks where it was NaN or infinite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    points: Vec<(u64, f64)>,
    gaps: Vec<u64>,
}

impl Series {
    /// Adds a value; what is not finite becomes a gap.
    pub fn push(&mut self, step: u64, value: f64) {
        if value.is_finite() {
            self.points.push((step, value));
        } else {
            self.gaps.push(step);
        }
    }

    /// Makes room for so many more values.
    pub fn reserve(&mut self, count: usize) {
        self.points.reserve_exact(count);
    }

    /// The finite values with their steps.
    pub fn points(&self) -> &[(u64, f64)] {
        &self.points
    }

    /// The steps at which the value was NaN or infinite.
    pub fn gaps(&self) -> &[u64] {
        &self.gaps
    }

    /// The last finite value.
    pub fn last(&self) -> Option<f64> {
        self.points.last().map(|&(_, value)| value)
    }

    /// Whether its newest entry is a gap.
    pub fn ends_in_gap(&self) -> bool {
        match (self.gaps.last(), self.points.last()) {
            (Some(gap), Some((step, _))) => gap >= step,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}
