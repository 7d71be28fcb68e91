//! The step that all charts point at, and what the curves say there.

use crate::canvas::Canvas;
use mlsys_lab::report::Series;
use ratatui::style::Modifier;

use super::chart::Chart;
use super::curves::{Curves, Kind};
use crate::canvas::Pen;
use crate::theme::Look;

/// What a series says at a step: what it said last by then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// A value, and the step it was recorded at.
    Value(u64, f64),
    /// Something that was not finite.
    NotFinite,
    /// Nothing yet.
    Nothing,
}

/// Reads a series at a step.
pub fn reading(series: &Series, step: u64) -> Reading {
    let (points, gaps) = (series.points(), series.gaps());
    let place = points.partition_point(|(at, _)| *at <= step).checked_sub(1);
    let point = place.and_then(|place| points.get(place));
    let place = gaps.partition_point(|at| *at <= step).checked_sub(1);
    let gap = place.and_then(|place| gaps.get(place));
    match (point, gap) {
        (Some((at, _)), Some(gap)) if gap >= at => Reading::NotFinite,
        (Some(&(at, value)), _) => Reading::Value(at, value),
        (None, Some(_)) => Reading::NotFinite,
        (None, None) => Reading::Nothing,
    }
}

impl Chart {
    /// Draws the line at the cursor, under the curves.
    pub(super) fn cursor(&self, canvas: &mut Canvas, curves: &Curves<'_>, look: &Look) {
        let Some(step) = curves.cursor else { return };
        let (x, glyphs, style) = (self.column(step), &look.glyphs, look.theme.accent);
        let mut pen = Pen::new(self.area, canvas, glyphs);
        pen.column(x, self.plot.y..self.plot.bottom(), glyphs.cursor, style);
        if self.area.bottom() - self.plot.bottom() > 1 {
            pen.glyph(x, self.plot.bottom(), glyphs.cursor_foot, style);
        }
    }

    /// Marks the value of each curve at the cursor, over the curves.
    pub(super) fn readings(&self, canvas: &mut Canvas, curves: &Curves<'_>, look: &Look) {
        let Some(step) = curves.cursor else { return };
        let mut pen = Pen::new(self.plot, canvas, &look.glyphs);
        for curve in curves.now.iter().rev() {
            let Kind::Series { series, .. } = &curve.kind else {
                continue;
            };
            let Reading::Value(at, value) = reading(series, step) else {
                continue;
            };
            // A value from before a zoomed window is said in the legend only.
            let shown = at >= self.steps.0 && self.y.holds(value);
            if let Some(y) = self.row(value).filter(|_| shown) {
                let style = look.theme.curve(curve.place).add_modifier(Modifier::BOLD);
                pen.glyph(self.column(at), y, look.glyphs.reading, style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_says_what_it_said_last() {
        let mut series = Series::default();
        for (step, value) in [(10, 1.0), (20, 2.0), (30, f64::NAN), (40, 4.0)] {
            series.push(step, value);
        }
        for (step, expected) in [
            (9, Reading::Nothing),
            (10, Reading::Value(10, 1.0)),
            (29, Reading::Value(20, 2.0)),
            (30, Reading::NotFinite),
            (39, Reading::NotFinite),
            (1000, Reading::Value(40, 4.0)),
        ] {
            assert_eq!(reading(&series, step), expected, "{step}");
        }
    }
}
