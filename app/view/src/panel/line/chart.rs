//! A line chart laid out, and its axes.

use crate::canvas::Canvas;
use ratatui::layout::Rect;

use super::curves::Curves;
use crate::canvas::{self as pen, Pen};
use crate::glyphs::Glyphs;
use crate::panel::axis::{Axis, Measure};
use crate::panel::plane::{left_ticks, tick_below};
use crate::theme::Look;

/// A chart laid out in an area.
pub(super) struct Chart {
    /// Where the curves are.
    pub(super) plot: Rect,
    /// The whole chart, labels included.
    pub(super) area: Rect,
    /// The axis of steps.
    pub(super) x: Axis,
    /// The axis of values.
    pub(super) y: Axis,
    /// The first and the last step.
    pub(super) steps: (u64, u64),
    /// Both axes, for the many points of curves.
    pub(super) measures: (Measure, Measure),
    ticks: Vec<(f64, String)>,
}

impl Chart {
    /// Lays a chart out: labels to the left, steps below, letters to the right if there are several curves.
    pub(super) fn new(
        area: Rect,
        curves: &Curves<'_>,
        y: Axis,
        unit: Option<&str>,
        glyphs: &Glyphs,
    ) -> Self {
        let below = if area.height >= 6 { 2 } else { 1 };
        let ticks = y.ticks(((area.height - below) / 3).max(2), unit, glyphs);
        let widest = ticks.iter().map(|(_, label)| pen::width(label)).max().unwrap_or(0);
        let left = (widest.max(4) + 1).min(area.width / 2);
        let right = if curves.names.len() > 1 && area.width >= 30 { 2 } else { 0 };
        let plot = Rect {
            x: area.x + left,
            width: area.width - left - right,
            height: area.height - below,
            ..area
        };
        Self {
            plot,
            area,
            measures: (curves.axis.measure(), y.measure()),
            x: curves.axis.clone(),
            y,
            steps: curves.steps,
            ticks,
        }
    }

    /// The column of a step.
    pub(super) fn column(&self, step: u64) -> u16 {
        self.place(self.x.share(step as f64).unwrap_or(0.0), self.plot.width) + self.plot.x
    }

    /// Where a step lies, in columns.
    pub(super) fn exact(&self, step: u64) -> f64 {
        let share = self.x.share(step as f64).unwrap_or(0.0);
        f64::from(self.plot.x) + share * f64::from(self.plot.width)
    }

    /// The row of a value.
    pub(super) fn row(&self, value: f64) -> Option<u16> {
        Some(self.place(1.0 - self.y.share(value)?, self.plot.height) + self.plot.y)
    }

    /// The cell at a share of `cells`.
    pub(super) fn place(&self, share: f64, cells: u16) -> u16 {
        let last = cells.saturating_sub(1);
        ((share * f64::from(cells)) as u16).min(last)
    }

    /// Draws both axes with their ticks.
    pub(super) fn axes(&self, canvas: &mut Canvas, look: &Look) {
        let (plot, glyphs, theme) = (self.plot, &look.glyphs, &look.theme);
        let mut pen = Pen::new(self.area, canvas, glyphs);
        let axis = plot.x.saturating_sub(1);
        pen.column(axis, plot.y..plot.bottom(), glyphs.vertical, theme.border);
        left_ticks(&mut pen, plot, &self.y, &self.ticks, look);
        let has_line = self.area.bottom() - plot.bottom() > 1;
        if has_line {
            pen.glyph(axis, plot.bottom(), glyphs.corners[2], theme.border);
            pen.run(plot.x, plot.bottom(), plot.width, glyphs.horizontal, theme.border);
        }
        let labels = self.area.bottom() - 1;
        let word_end =
            pen.within(self.area.x, labels, axis.saturating_sub(self.area.x), "step", theme.dim);
        let mut free = word_end;
        for (value, label) in self.x.ticks((plot.width / 10).max(2), None, glyphs) {
            let x = self.column(value as u64);
            let wide = pen::width(&label);
            let start = x.saturating_sub(wide / 2).min(self.area.right().saturating_sub(wide));
            if start > free || (start == free && free == self.area.x) {
                let exact = self.exact(value as u64);
                free = pen.about(exact, start, labels, &label, theme.dim);
                if has_line {
                    tick_below(&mut pen, (x, plot.bottom()), exact, look);
                }
            }
        }
    }
}
