//! The curves of a line chart.

use crate::canvas::Canvas;

use super::chart::Chart;
use super::curves::{Curve, Curves, Kind};
use super::letters::{letter, numeral};
use crate::canvas::{DotGrid, Ink, Stroke};
use crate::panel::trace::{Bucket, Trace};
use crate::theme::Look;

/// What matters more covers what matters less.
mod rank {
    pub(super) const EARLIER: u8 = 1;
    pub(super) const RAW: u8 = 2;
    pub(super) const LEVEL: u8 = 3;
    pub(super) const CURVE: u8 = 4;
}

/// The lines of earlier runs, the newest first; taken in turn.
const STROKES: [Stroke; 4] =
    [Stroke::Dashed(3, 1), Stroke::Dashed(1, 1), Stroke::Dashed(5, 3), Stroke::Dashed(1, 3)];

/// How a curve is drawn.
#[derive(Clone, Copy)]
struct Inks {
    /// The curve, or the smoothed one if there is one.
    bright: Ink,
    /// The raw curve behind the smoothed one; none is drawn for an earlier run.
    raw: Option<Ink>,
}

impl Chart {
    /// Draws all curves, and their letters and numerals.
    pub(super) fn curves(&self, canvas: &mut Canvas, curves: &Curves<'_>, look: &Look) {
        let theme = &look.theme;
        let mut dots = DotGrid::new(self.plot, canvas, &look.glyphs);
        // The newest of the earlier runs is drawn last, over the others.
        for (place, run) in curves.before.iter().enumerate().rev() {
            let bright = Ink {
                rank: rank::EARLIER,
                style: theme.previous,
                marker: numeral(place),
                stroke: STROKES[place % STROKES.len()],
                wide: 1.2,
            };
            for curve in run {
                self.trace(&mut dots, curve, Inks { bright, raw: None });
            }
        }
        let several = curves.names.len() > 1;
        // The first curve is the one the panel is about: it is drawn last, over the others.
        for curve in curves.now.iter().rev() {
            let marker = if several { letter(curve.place) } else { look.glyphs.point };
            let bright = Ink {
                rank: rank::CURVE,
                style: theme.curve(curve.place),
                marker,
                stroke: Stroke::Solid,
                wide: 2.0,
            };
            let faint = Ink {
                rank: rank::RAW,
                style: theme.faint[curve.place % theme.faint.len()],
                marker: look.glyphs.faint_point,
                stroke: Stroke::Solid,
                wide: 0.6,
            };
            let raw = Some(faint);
            self.trace(&mut dots, curve, Inks { bright, raw });
        }
        dots.draw(canvas);
        self.numerals(canvas, curves, look);
        if several {
            self.letters(canvas, curves, look);
        }
    }

    /// One curve: bright as it is, or faint with the smoothed curve bright on top.
    fn trace(&self, dots: &mut DotGrid, curve: &Curve<'_>, inks: Inks) {
        let (series, trace) = match &curve.kind {
            Kind::Series { series, trace } => (series, trace),
            Kind::Level(value) => return self.level(dots, *value, inks.bright),
        };
        let raw = if trace.smoothed { inks.raw } else { Some(inks.bright) };
        let (first, last) = self.steps;
        let mut before: Option<&Bucket> = None;
        for bucket in &trace.buckets {
            let joined =
                before.filter(|b| !Trace::broken_between(series, b.last.0, bucket.first.0));
            if let Some(raw) = raw {
                let from = match before {
                    Some(_) => joined.map(|b| b.last),
                    None => trace.enters.map(|value| (first, value)),
                };
                self.join(dots, from, bucket.first, raw);
                let middle =
                    bucket.first.0 + (bucket.last.0 - bucket.first.0.min(bucket.last.0)) / 2;
                let low = Some((middle, bucket.low));
                self.join(dots, low, (middle, bucket.high), raw);
            }
            if trace.smoothed {
                let smooth = joined.map(|b| (b.last.0, b.smooth));
                self.join(dots, smooth, (bucket.last.0, bucket.smooth), inks.bright);
            }
            before = Some(bucket);
        }
        if let (Some(raw), Some(leaves)) = (raw, trace.leaves) {
            let from = match before {
                Some(bucket) => Some(bucket.last),
                None => trace.enters.map(|value| (first, value)),
            };
            self.join(dots, from, (last, leaves), raw);
        }
    }

    /// A straight line between two points, or the second alone.
    fn join(&self, dots: &mut DotGrid, from: Option<(u64, f64)>, to: (u64, f64), ink: Ink) {
        let (width, height) = dots.size();
        let (x_axis, y_axis) = self.measures;
        let dot = |(step, value): (u64, f64)| {
            let x = x_axis.share(step as f64)? * width.saturating_sub(1) as f64;
            let y = (1.0 - y_axis.share(value)?) * height.saturating_sub(1) as f64;
            Some((x.round() as usize, y.round() as usize))
        };
        if let Some(to) = dot(to) {
            dots.line(from.and_then(dot).unwrap_or(to), to, ink);
        }
    }

    /// A broken line across the chart.
    fn level(&self, dots: &mut DotGrid, value: f64, ink: Ink) {
        let (_, height) = dots.size();
        let Some(share) = self.y.share(value) else {
            return;
        };
        let y = ((1.0 - share) * height.saturating_sub(1) as f64).round() as usize;
        let rank = rank::LEVEL.min(ink.rank);
        dots.level(y, Ink { rank, ..ink });
    }
}
