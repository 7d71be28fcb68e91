//! How values are distributed: histograms and box plots.

use serde::{Deserialize, Serialize};

use crate::frame::scatter::Scale;
use crate::value::gaps_as_nan;

/// Counts of values by range, perhaps of two populations over the same ranges.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Histogram {
    /// What was counted, such as "weight"; the name of the horizontal axis.
    pub quantity: String,
    /// The unit of the edges; empty if they have none.
    pub unit: String,
    /// Ascending edges: one more than there are counts.
    #[serde(deserialize_with = "gaps_as_nan")]
    pub edges: Vec<f64>,
    /// How the axis of counts divides.
    pub scale: Scale,
    /// The population drawn as columns.
    pub first: Distribution,
    /// Another population over the same edges, drawn as an outline.
    pub second: Option<Distribution>,
    /// Values marked on the horizontal axis, such as the points of a quantisation grid.
    pub levels: Vec<Level>,
    /// What the marked values are, such as "levels"; empty if there is no one word for them.
    pub marked: String,
}

/// The counts of one population.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// What it is, such as "before"; may be empty if there is only one.
    #[serde(default)]
    pub name: String,
    /// How many values lie between an edge and the next.
    pub counts: Vec<u64>,
}

/// A marked value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Where it lies.
    pub at: f64,
    /// What it is; empty for one of many alike.
    #[serde(default)]
    pub label: String,
}

impl Distribution {
    /// All values counted.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The parts of all values that lie between an edge and the next; all 0 if nothing was counted.
    pub fn shares(&self) -> impl Iterator<Item = f64> {
        let total = self.total().max(1) as f64;
        self.counts.iter().map(move |count| *count as f64 / total)
    }
}

impl Histogram {
    /// Counts values into `bins` ranges of equal width between the smallest and the largest; values that are not finite
    /// are left out, and without a finite value there is no histogram.
    pub fn new(quantity: &str, unit: &str, values: &[f64], bins: usize) -> Option<Self> {
        let finite = values.iter().copied().filter(|x| x.is_finite());
        let (low, high) =
            finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        if low > high {
            return None;
        }
        // Equal values still need a range to lie in.
        let pad = if high > low { 0.0 } else { low.abs().max(1.0) * 0.5 };
        Some(Self::between(quantity, unit, values, (low - pad, high + pad), bins))
    }

    /// Counts values into ranges of equal width between two bounds; values outside are counted at the ends.
    pub fn between(
        quantity: &str,
        unit: &str,
        values: &[f64],
        (low, high): (f64, f64),
        bins: usize,
    ) -> Self {
        let bins = bins.max(1);
        // Halves, so that the span of the largest numbers does not overflow.
        let span = high / 2.0 - low / 2.0;
        let edge = |i: usize| {
            let share = i as f64 / bins as f64;
            low * (1.0 - share) + high * share
        };
        let mut counts = vec![0_u64; bins];
        for value in values.iter().filter(|x| x.is_finite()) {
            let share = (value / 2.0 - low / 2.0) / span;
            let place = (share * bins as f64).clamp(0.0, (bins - 1) as f64) as usize;
            counts[place] += 1;
        }
        Self {
            quantity: quantity.to_owned(),
            unit: unit.to_owned(),
            edges: (0..=bins).map(edge).collect(),
            first: Distribution { name: String::new(), counts },
            ..Self::default()
        }
    }

    /// How many values are marked, and what they are; nothing if none is.
    pub fn marks(&self) -> Option<String> {
        let what = match self.marked.as_str() {
            "" => "marked values",
            what => what,
        };
        (!self.levels.is_empty()).then(|| format!("{} {what}", self.levels.len()))
    }

    /// The ranges: from one edge to the next.
    pub fn ranges(&self) -> impl Iterator<Item = (f64, f64)> {
        self.edges.windows(2).map(|pair| (pair[0], pair[1]))
    }
}

/// Box plots: the distributions of groups of values over one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BoxPlot {
    /// What the values are, such as "weight".
    pub quantity: String,
    /// Their unit; empty if they have none.
    pub unit: String,
    /// How the axis divides.
    pub scale: Scale,
    /// The groups, from the top.
    pub boxes: Vec<ValueSpread>,
}

/// How the values of a group are distributed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueSpread {
    /// The group.
    pub label: String,
    /// How many values it has.
    pub count: u64,
    /// The smallest and the largest.
    pub extremes: (f64, f64),
    /// The furthest values within 1.5 times the distance of the outer quartiles from these.
    pub whiskers: (f64, f64),
    /// The values below which a quarter, a half and three quarters lie, interpolated.
    pub quartiles: [f64; 3],
    /// How many lie beyond the whiskers.
    pub outliers: u64,
}

impl ValueSpread {
    /// The distribution of the finite values; none without one.
    pub fn new(label: &str, values: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let quartile = |share: f64| {
            let at = share * (sorted.len() - 1) as f64;
            let (below, above) = (sorted[at as usize], sorted[at.ceil() as usize]);
            below + (above - below) * at.fract()
        };
        let quartiles = [quartile(0.25), quartile(0.5), quartile(0.75)];
        let reach = 1.5 * (quartiles[2] - quartiles[0]);
        let (from, to) = (quartiles[0] - reach, quartiles[2] + reach);
        let inside = || sorted.iter().filter(|x| (from..=to).contains(*x));
        let whiskers = (*inside().next().unwrap_or(&low), *inside().next_back().unwrap_or(&high));
        Some(Self {
            label: label.to_owned(),
            count: sorted.len() as u64,
            extremes: (low, high),
            whiskers,
            quartiles,
            outliers: (sorted.len() - inside().count()) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_value_is_counted_once() {
        let values = [-1.0, -0.5, 0.0, 0.5, 1.0, f64::NAN, f64::INFINITY];
        let histogram = Histogram::new("weight", "", &values, 4).unwrap();
        assert_eq!(histogram.first.counts, [1, 1, 1, 2]);
        assert_eq!(histogram.edges, [-1.0, -0.5, 0.0, 0.5, 1.0]);
        let shares: Vec<f64> = histogram.first.shares().collect();
        assert_eq!(shares, [0.2, 0.2, 0.2, 0.4]);
    }

    #[test]
    fn odd_values_still_make_a_histogram() {
        assert_eq!(Histogram::new("x", "", &[], 4), None);
        assert_eq!(Histogram::new("x", "", &[f64::NAN], 4), None);
        for values in [&[0.0][..], &[7.0; 3], &[f64::MAX, f64::MIN], &[5e-324, 0.0]] {
            for bins in [0, 1, 2, 15] {
                let histogram = Histogram::new("x", "s", values, bins).unwrap();
                assert_eq!(histogram.first.total(), values.len() as u64);
                assert_eq!(histogram.edges.len(), histogram.first.counts.len() + 1);
                assert!(histogram.edges.iter().all(|edge| edge.is_finite()), "{histogram:?}");
            }
        }
    }

    #[test]
    fn missing_fields_read_as_empty() {
        let text = r#"{"quantity":"w","edges":[0,1],"first":{"counts":[3]}}"#;
        let read: Histogram = serde_json::from_str(text).unwrap();
        assert_eq!(read.first.counts, [3]);
        assert_eq!((read.second, read.levels.len()), (None, 0));
    }
}
