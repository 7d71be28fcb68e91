//! Bars over one axis, in lanes, with a curve of their total: what is alive or at work when.

use serde::{Deserialize, Serialize};

/// Bars over one axis, in lanes, with a curve of their total.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The unit of the axis, such as "operation" or "seconds".
    pub unit: String,
    /// The lanes, from the top.
    pub lanes: Vec<String>,
    /// What the bars are, for the legend.
    pub classes: Vec<String>,
    /// The bars.
    pub spans: Vec<Span>,
    /// Marked places on the axis.
    #[serde(default)]
    pub marks: Vec<Milestone>,
    /// What all bars come to, over the same axis.
    #[serde(default)]
    pub total: Option<Total>,
}

/// One bar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Its lane, as a place in [`Timeline::lanes`].
    pub lane: usize,
    /// Where it begins.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// What it is, as a place in [`Timeline::classes`].
    pub class: usize,
    /// What stands on it; may be empty.
    #[serde(default)]
    pub label: String,
    /// What it adds to the total, in the total's unit.
    #[serde(default)]
    pub amount: Option<f64>,
}

/// A marked place on the axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Milestone {
    /// Where it is.
    pub at: f64,
    /// What happens there, such as "backward begins".
    pub label: String,
}

/// A step function over the axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// What it is.
    pub name: String,
    /// Its unit; empty if it has none.
    #[serde(default)]
    pub unit: String,
    /// From each place on, the value until the next; ascending places.
    pub points: Vec<(f64, f64)>,
}

impl Total {
    /// The place from which the largest value holds, and that value; the first of equals.
    pub fn peak(&self) -> Option<(f64, f64)> {
        let finite = self.points.iter().copied();
        let finite = finite.filter(|(at, value)| at.is_finite() && value.is_finite());
        finite.reduce(|most, point| if point.1 > most.1 { point } else { most })
    }
}

impl Timeline {
    /// Where the axis begins and ends; nothing if there is nothing finite on it.
    pub fn extent(&self) -> Option<(f64, f64)> {
        let spans = self.spans.iter().flat_map(|span| [span.start, span.end]);
        let marks = self.marks.iter().map(|mark| mark.at);
        let points = self.total.iter().flat_map(|total| &total.points);
        let all = spans.chain(marks).chain(points.map(|point| point.0));
        let ends = all.filter(|at| at.is_finite()).map(|at| (at, at));
        ends.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_the_first_of_the_largest_values() {
        let total = |points: &[(f64, f64)]| Total { points: points.to_vec(), ..Total::default() };
        let steps = [(0.0, 1.0), (1.0, 5.0), (2.0, f64::NAN), (3.0, 5.0), (4.0, 0.0)];
        assert_eq!(total(&steps).peak(), Some((1.0, 5.0)));
        assert_eq!(total(&[]).peak(), None);
        assert_eq!(total(&[(0.0, f64::NAN)]).peak(), None);
    }

    #[test]
    fn the_axis_spans_bars_marks_and_total() {
        let mut timeline = Timeline::default();
        assert_eq!(timeline.extent(), None);
        timeline.spans.push(Span { start: 2.0, end: 5.0, ..Span::default() });
        assert_eq!(timeline.extent(), Some((2.0, 5.0)));
        timeline.marks.push(Milestone { at: 7.0, label: String::new() });
        timeline.total =
            Some(Total { points: vec![(f64::NAN, 0.0), (-1.0, 0.0)], ..Total::default() });
        assert_eq!(timeline.extent(), Some((-1.0, 7.0)));
    }
}
