//! A line chart laid out, and its axes.

use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::axis::{Axis, Measure, cell_at};
use crate::canvas::{self as pen, Canvas, Pen};
use crate::glyphs::Glyphs;
use crate::panel::Scene;
use crate::panel::line::curves::{Curves, Kind, Reading, reading, shown_changes};
use crate::panel::plane::{left_ticks, tick_below};
use crate::theme::Look;

pub(super) struct Chart {
    pub(super) plot: Rect,
    pub(super) area: Rect,
    pub(super) x: Axis,
    pub(super) y: Axis,
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
        let widest = pen::widest(ticks.iter().map(|(_, label)| label));
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

    pub(super) fn column(&self, step: u64) -> u16 {
        cell_at(self.x.share(step as f64).unwrap_or(0.0), self.plot.width) + self.plot.x
    }

    pub(super) fn exact(&self, step: u64) -> f64 {
        let share = self.x.share(step as f64).unwrap_or(0.0);
        f64::from(self.plot.x) + share * f64::from(self.plot.width)
    }

    pub(super) fn row(&self, value: f64) -> Option<u16> {
        Some(cell_at(1.0 - self.y.share(value)?, self.plot.height) + self.plot.y)
    }

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
            let Kind::Series { series, .. } = &curve.kind else { continue };
            let Reading::Value(at, value) = reading(series, step) else { continue };
            // A value from before a zoomed window is said in the legend only.
            let shown = at >= self.steps.0 && self.y.holds(value);
            if let Some(y) = self.row(value).filter(|_| shown) {
                let style = look.theme.curve(curve.place).add_modifier(Modifier::BOLD);
                pen.glyph(self.column(at), y, look.glyphs.reading, style);
            }
        }
    }
}

/// Draws a line at each knob turn and at each step where values stopped being finite, behind the curves.
pub(super) fn draw_marks(
    chart: &Chart,
    canvas: &mut Canvas,
    scene: &Scene<'_>,
    curves: &Curves<'_>,
    look: &Look,
) {
    let (plot, glyphs) = (chart.plot, &look.glyphs);
    let mut pen = Pen::new(plot, canvas, glyphs);
    for change in shown_changes(scene, curves) {
        let (x, exact) = (chart.column(change.step), chart.exact(change.step));
        pen.upright(x, plot.y..plot.bottom(), exact, glyphs.change, look.theme.warn);
    }
    for (from, _) in curves.gaps() {
        pen.column(chart.column(from), plot.y..foot(chart), glyphs.change, look.theme.bad);
    }
}

/// Draws crosses along the foot of each stretch without finite values, over the curves of earlier runs but not their names.
pub(super) fn draw_gaps(chart: &Chart, canvas: &mut Canvas, curves: &Curves<'_>, look: &Look) {
    let y = foot(chart);
    for (from, to) in curves.gaps() {
        for x in chart.column(from)..=chart.column(to) {
            let symbol = canvas.cells.cell((x, y)).map_or("", |cell| cell.symbol());
            if !symbol.contains(char::is_alphanumeric) {
                let mut pen = Pen::new(chart.plot, canvas, &look.glyphs);
                pen.glyph(x, y, look.glyphs.not_finite, look.theme.bad);
            }
        }
    }
}

fn foot(chart: &Chart) -> u16 {
    chart.plot.bottom().saturating_sub(1)
}
