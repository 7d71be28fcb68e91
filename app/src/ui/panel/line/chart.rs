//! The axes of a line chart and the curves between them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::curves::{Curve, Curves, Kind};
use super::letters::letter;
use crate::ui::glyphs::Glyphs;
use crate::ui::panel::axis::Axis;
use crate::ui::panel::canvas::{Canvas, Ink};
use crate::ui::panel::pen::{self, Pen};
use crate::ui::panel::trace::{Bucket, Trace};
use crate::ui::theme::Look;

/// What matters more covers what matters less.
mod rank {
    pub(super) const PREVIOUS: u8 = 1;
    pub(super) const RAW: u8 = 2;
    pub(super) const LEVEL: u8 = 3;
    pub(super) const CURVE: u8 = 4;
}

/// A chart laid out in an area.
pub(super) struct Chart {
    /// Where the curves are.
    pub(super) plot: Rect,
    /// The whole chart, labels included.
    pub(super) area: Rect,
    x: Axis,
    /// The axis of values.
    pub(super) y: Axis,
    ticks: Vec<(f64, String)>,
}

impl Chart {
    /// Lays a chart out: labels to the left, steps below, letters to the right if there are several curves.
    pub(super) fn new(
        area: Rect,
        x: Axis,
        y: Axis,
        unit: Option<&str>,
        curves: usize,
        glyphs: &Glyphs,
    ) -> Self {
        let below = if area.height >= 6 { 2 } else { 1 };
        let ticks = y.ticks(((area.height - below) / 3).max(2), unit, glyphs);
        let widest = ticks
            .iter()
            .map(|(_, label)| pen::width(label))
            .max()
            .unwrap_or(0);
        let left = (widest.max(4) + 1).min(area.width / 2);
        let right = if curves > 1 && area.width >= 30 { 2 } else { 0 };
        let plot = Rect {
            x: area.x + left,
            width: area.width - left - right,
            height: area.height - below,
            ..area
        };
        Self {
            plot,
            area,
            x,
            y,
            ticks,
        }
    }

    /// The column of a step.
    pub(super) fn column(&self, step: u64) -> u16 {
        self.place(self.x.share(step as f64).unwrap_or(0.0), self.plot.width) + self.plot.x
    }

    /// The row of a value.
    pub(super) fn row(&self, value: f64) -> Option<u16> {
        Some(self.place(1.0 - self.y.share(value)?, self.plot.height) + self.plot.y)
    }

    /// The cell at a share of so many.
    pub(super) fn place(&self, share: f64, cells: u16) -> u16 {
        let last = cells.saturating_sub(1);
        ((share * f64::from(cells)) as u16).min(last)
    }

    /// Draws both axes with their ticks.
    pub(super) fn axes(&self, buf: &mut Buffer, look: &Look) {
        let (plot, glyphs, theme) = (self.plot, &look.glyphs, &look.theme);
        let mut pen = Pen::new(self.area, buf, glyphs);
        let axis = plot.x.saturating_sub(1);
        for y in plot.y..plot.bottom() {
            pen.glyph(axis, y, glyphs.vertical, theme.border);
        }
        let mut taken = None;
        for (value, label) in &self.ticks {
            let Some(y) = self.row(*value).filter(|y| taken != Some(*y)) else {
                continue;
            };
            taken = Some(y);
            pen.ending(axis, y, label, theme.dim);
            pen.glyph(axis, y, glyphs.tick_left, theme.border);
        }
        let has_line = self.area.bottom() - plot.bottom() > 1;
        if has_line {
            pen.glyph(axis, plot.bottom(), glyphs.corners[2], theme.border);
            pen.run(
                plot.x,
                plot.bottom(),
                plot.width,
                glyphs.horizontal,
                theme.border,
            );
        }
        let labels = self.area.bottom() - 1;
        let word_end = pen.within(
            self.area.x,
            labels,
            axis.saturating_sub(self.area.x),
            "step",
            theme.dim,
        );
        let mut free = word_end;
        for (value, label) in self.x.ticks((plot.width / 10).max(2), None, glyphs) {
            let x = self.column(value as u64);
            let wide = pen::width(&label);
            let start = x
                .saturating_sub(wide / 2)
                .min(self.area.right().saturating_sub(wide));
            if start > free || (start == free && free == self.area.x) {
                free = pen.text(start, labels, &label, theme.dim);
                if has_line {
                    pen.glyph(x, plot.bottom(), glyphs.tick_below, theme.border);
                }
            }
        }
    }

    /// Draws all curves, and their letters at the right.
    pub(super) fn curves(&self, buf: &mut Buffer, curves: &Curves<'_>, look: &Look) {
        let theme = &look.theme;
        let mut canvas = Canvas::new(self.plot, &look.glyphs);
        for curve in curves.before.iter().flatten() {
            let ink = Ink {
                rank: rank::PREVIOUS,
                style: theme.previous,
                marker: look.glyphs.faint_point,
            };
            self.trace(&mut canvas, curve, ink, ink);
        }
        let several = curves.now.len() > 1;
        // The first curve is the one the panel is about: it is drawn last, over the others.
        for curve in curves.now.iter().rev() {
            let marker = if several {
                letter(curve.place)
            } else {
                look.glyphs.point
            };
            let bright = Ink {
                rank: rank::CURVE,
                style: theme.curve(curve.place),
                marker,
            };
            let faint = Ink {
                rank: rank::RAW,
                style: theme.faint[curve.place % theme.faint.len()],
                marker: look.glyphs.faint_point,
            };
            self.trace(&mut canvas, curve, bright, faint);
        }
        canvas.draw(buf);
        if several {
            self.letters(buf, curves, look);
        }
    }

    /// One curve: bright as it is, or faint with the smoothed curve bright on top.
    fn trace(&self, canvas: &mut Canvas, curve: &Curve<'_>, bright: Ink, faint: Ink) {
        let (series, trace) = match &curve.kind {
            Kind::Series { series, trace } => (series, trace),
            Kind::Level(value) => return self.level(canvas, *value, bright),
        };
        let raw = if trace.smoothed { faint } else { bright };
        let mut before: Option<&Bucket> = None;
        for bucket in &trace.buckets {
            let joined =
                before.filter(|b| !Trace::broken_between(series, b.last.0, bucket.first.0));
            self.join(canvas, joined.map(|b| b.last), bucket.first, raw);
            let middle = bucket.first.0 + (bucket.last.0 - bucket.first.0.min(bucket.last.0)) / 2;
            self.join(
                canvas,
                Some((middle, bucket.low)),
                (middle, bucket.high),
                raw,
            );
            if trace.smoothed {
                let smooth = joined.map(|b| (b.last.0, b.smooth));
                self.join(canvas, smooth, (bucket.last.0, bucket.smooth), bright);
            }
            before = Some(bucket);
        }
    }

    /// A straight line between two points, or the second alone.
    fn join(&self, canvas: &mut Canvas, from: Option<(u64, f64)>, to: (u64, f64), ink: Ink) {
        let (width, height) = canvas.size();
        let dot = |(step, value): (u64, f64)| {
            let x = self.x.share(step as f64)? * width.saturating_sub(1) as f64;
            let y = (1.0 - self.y.share(value)?) * height.saturating_sub(1) as f64;
            Some((x.round() as usize, y.round() as usize))
        };
        if let Some(to) = dot(to) {
            canvas.line(from.and_then(dot).unwrap_or(to), to, ink);
        }
    }

    /// A broken line across the chart.
    fn level(&self, canvas: &mut Canvas, value: f64, ink: Ink) {
        let (width, height) = canvas.size();
        let Some(share) = self.y.share(value) else {
            return;
        };
        let y = ((1.0 - share) * height.saturating_sub(1) as f64).round() as usize;
        for x in (0..width).filter(|x| x % 4 < 2) {
            canvas.dot(
                x,
                y,
                Ink {
                    rank: rank::LEVEL,
                    ..ink
                },
            );
        }
    }
}
