//! Axes that stand still while a knob turns: what the picture before needed is kept as long as the new one fills enough of it.

use mlsys_lab::frame::Frame;
use mlsys_lab::schema::Scale;

use crate::panel::picture;

/// What the values of a picture need of one of its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AxisRange<'a> {
    /// What is measured, with its unit: an axis of something else is never kept.
    pub(crate) name: (&'a str, &'a str),
    pub(crate) scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// What each axis of a picture has to hold in addition to its own values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldAxes(Vec<(f64, f64)>);

/// The least part of a kept axis that a picture fills.
const FILLED: f64 = 0.3;

impl AxisRange<'_> {
    fn length(&self, (low, high): (f64, f64)) -> f64 {
        match self.scale {
            Scale::Linear => high - low,
            Scale::Log => (high / low).log10(),
        }
    }
}

impl HeldAxes {
    /// The values that an axis holds in any case.
    pub(crate) fn ends(&self, axis: usize) -> impl Iterator<Item = f64> + use<> {
        self.0.get(axis).map(|(low, high)| [*low, *high]).into_iter().flatten()
    }

    /// Keeps what a picture needed for the one that follows it.
    pub(crate) fn follow(&mut self, before: &Frame, now: &Frame) {
        let (before, now) = (picture::drawn(before).ranges(), picture::drawn(now).ranges());
        let is_same = before.len() == now.len()
            && before.iter().zip(&now).all(|(a, b)| (a.name, a.scale) == (b.name, b.scale));
        if !is_same {
            self.0.clear();
            return;
        }
        let kept = before.iter().zip(&now).enumerate().map(|(axis, (before, now))| {
            let (low, high) = self.0.get(axis).copied().unwrap_or((before.low, before.high));
            let both = (low.min(now.low), high.max(now.high));
            let own = (now.low, now.high);
            let fills = now.length(own) >= FILLED * now.length(both);
            if fills { both } else { own }
        });
        self.0 = kept.collect();
    }
}

#[cfg(test)]
mod tests {
    use mlsys_lab::picture::{bar, bars};

    use super::*;

    #[test]
    fn an_axis_stands_still_until_little_of_it_is_filled() {
        let frame = |unit: &str, value| bars(unit, vec![bar("a".to_owned(), value, String::new())]);
        let mut held = HeldAxes::default();
        let mut ends = |before: &Frame, now: &Frame| {
            held.follow(before, now);
            held.ends(0).collect::<Vec<f64>>()
        };
        let (ten, five, one) = (frame("s", 10.0), frame("s", 5.0), frame("s", 1.0));
        assert_eq!(ends(&ten, &five), [0.0, 10.0]);
        assert_eq!(ends(&five, &ten), [0.0, 10.0]);
        assert_eq!(ends(&ten, &one), [0.0, 1.0]);
        assert_eq!(ends(&one, &five), [0.0, 5.0]);
        assert!(ends(&five, &frame("bytes", 5.0)).is_empty());
        assert!(ends(&five, &Frame::Text(String::new())).is_empty());
    }
}
