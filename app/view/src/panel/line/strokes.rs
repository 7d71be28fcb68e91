//! The curves of a line chart.

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::axis::{cell_at, dot_at};
use crate::canvas::{self as pen, Canvas, DotGrid, Ink, Pen, Stroke};
use crate::glyphs::GlyphSet;
use crate::panel::downsample::{Bucket, Downsampled};
use crate::panel::line::chart::Chart;
use crate::panel::line::curves::{Curve, Curves, Kind, letter, numeral};
use crate::theme::{ColorDepth, Look};

mod rank {
    pub(super) const EARLIER: u8 = 1;
    pub(super) const RAW: u8 = 2;
    pub(super) const LEVEL: u8 = 3;
    pub(super) const CURVE: u8 = 4;
}

/// The lines of earlier runs, the newest first; taken in turn.
const STROKES: [Stroke; 4] =
    [Stroke::Dashed(3, 1), Stroke::Dashed(1, 1), Stroke::Dashed(5, 3), Stroke::Dashed(1, 3)];

#[derive(Clone, Copy)]
struct Inks {
    /// The curve, or the smoothed one if there is one.
    bright: Ink,
    /// The raw curve behind the smoothed one; none is drawn for an earlier run.
    raw: Option<Ink>,
}

const APART: u16 = 20;

impl Chart {
    /// Draws all curves, and the numerals and letters of the first ones, as many as the legend explains.
    pub(super) fn curves(
        &self,
        canvas: &mut Canvas,
        curves: &Curves<'_>,
        letters: usize,
        look: &Look,
    ) {
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
                self.draw_curve(&mut dots, curve, Inks { bright, raw: None });
            }
        }
        let several = curves.names.len() > 1;
        // The first curve is the one the panel is about: it is drawn last, over the others.
        for curve in curves.now.iter().rev() {
            let is_told = several && curve.place < letters;
            let marker = if is_told { letter(curve.place) } else { look.glyphs.point };
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
            self.draw_curve(&mut dots, curve, Inks { bright, raw });
        }
        dots.draw(canvas);
        self.points(canvas, curves, look);
        self.numerals(canvas, curves, letters, look);
        if several {
            self.letters(canvas, curves, letters, look);
        }
    }

    fn draw_curve(&self, dots: &mut DotGrid, curve: &Curve<'_>, inks: Inks) {
        let (series, downsampled) = match &curve.kind {
            Kind::Series { series, downsampled } => (series, downsampled),
            Kind::Level(value) => return self.level(dots, *value, inks.bright),
        };
        let raw = if downsampled.smoothed { inks.raw } else { Some(inks.bright) };
        let (first, last) = self.steps;
        let mut before: Option<&Bucket> = None;
        for bucket in &downsampled.buckets {
            let joined =
                before.filter(|b| !Downsampled::broken_between(series, b.last.0, bucket.first.0));
            if let Some(raw) = raw {
                let from = match before {
                    Some(_) => joined.map(|b| b.last),
                    None => downsampled.enters.map(|value| (first, value)),
                };
                self.join(dots, from, bucket.first, raw);
                let middle =
                    bucket.first.0 + (bucket.last.0 - bucket.first.0.min(bucket.last.0)) / 2;
                let low = Some((middle, bucket.low));
                self.join(dots, low, (middle, bucket.high), raw);
            }
            if downsampled.smoothed {
                let smooth = joined.map(|b| (b.last.0, b.smooth));
                self.join(dots, smooth, (bucket.last.0, bucket.smooth), inks.bright);
            }
            before = Some(bucket);
        }
        if let (Some(raw), Some(leaves)) = (raw, downsampled.leaves) {
            let from = match before {
                Some(bucket) => Some(bucket.last),
                None => downsampled.enters.map(|value| (first, value)),
            };
            self.join(dots, from, (last, leaves), raw);
        }
    }

    fn join(&self, dots: &mut DotGrid, from: Option<(u64, f64)>, to: (u64, f64), ink: Ink) {
        let (width, height) = dots.size();
        let (x_axis, y_axis) = self.measures;
        let dot = |(step, value): (u64, f64)| {
            let x = dot_at(x_axis.share(step as f64)?, width);
            Some((x, dot_at(1.0 - y_axis.share(value)?, height)))
        };
        if let Some(to) = dot(to) {
            dots.line(from.and_then(dot).unwrap_or(to), to, ink);
        }
    }

    fn level(&self, dots: &mut DotGrid, value: f64, ink: Ink) {
        let (_, height) = dots.size();
        let Some(share) = self.y.share(value) else { return };
        let y = dot_at(1.0 - share, height);
        let rank = rank::LEVEL.min(ink.rank);
        dots.level(y, Ink { rank, ..ink });
    }

    /// Marks at the values of curves that have few: the lines between were not measured.
    fn points(&self, canvas: &mut Canvas, curves: &Curves<'_>, look: &Look) {
        if look.glyphs.set == GlyphSet::Ascii {
            // There the curves are made of marks.
            return;
        }
        let mut pen = Pen::new(self.plot, canvas, &look.glyphs);
        for curve in curves.now.iter().rev() {
            let style = look.theme.curve(curve.place);
            let Some(few) = curve.downsampled().filter(|all| self.has_few(all)) else { continue };
            for (step, value) in few.buckets.iter().map(|bucket| bucket.last) {
                let Some(share) = self.y.share(value) else { continue };
                let at = (self.column(step), cell_at(1.0 - share, self.plot.height) + self.plot.y);
                let down = (1.0 - share) * f64::from(self.plot.height);
                let exact = (self.exact(step), f64::from(self.plot.y) + down);
                if pen.shows_dots(at.0, at.1, 1, style) {
                    pen.point(at, exact, look.glyphs.point, style);
                }
            }
        }
    }

    fn has_few(&self, curve: &Downsampled) -> bool {
        /// Columns between two marks, so that the line between them is seen.
        const APART: usize = 3;
        let count = curve.buckets.len();
        count > 1 && count * APART <= usize::from(self.plot.width) && !curve.smoothed
    }

    /// Numerals on the curves of earlier runs, with the curve's letter where there are several.
    fn numerals(&self, canvas: &mut Canvas, curves: &Curves<'_>, letters: usize, look: &Look) {
        if look.glyphs.set == GlyphSet::Ascii {
            // There the curves are made of them.
            return;
        }
        let mut pen = Pen::new(self.plot, canvas, &look.glyphs);
        for (place, run) in curves.before.iter().enumerate() {
            for curve in run {
                let mut mark = numeral(place).to_owned();
                if curves.names.len() > 1 && curve.place < letters {
                    mark.push_str(letter(curve.place));
                }
                let start = 6 + 7 * place as u16 + 3 * curve.place as u16;
                self.strew(&mut pen, curve, start, &mark, look.theme.previous);
            }
        }
    }

    /// Letters at the right edge, where each curve ends; without colour on the curves themselves, too.
    fn letters(&self, canvas: &mut Canvas, curves: &Curves<'_>, letters: usize, look: &Look) {
        let mut pen = Pen::new(self.area, canvas, &look.glyphs);
        for (y, place) in self.ends(curves).into_iter().filter(|(_, place)| *place < letters) {
            let style = look.theme.curve(place).add_modifier(Modifier::BOLD);
            if self.plot.right() < self.area.right() {
                pen.glyph(self.area.right() - 1, y, letter(place), style);
            }
        }
        match (look.theme.depth, look.glyphs.set) {
            (ColorDepth::None, GlyphSet::Unicode) => {
                for curve in curves.now.iter().filter(|curve| curve.place < letters) {
                    let start = 3 + 5 * (curve.place as u16 % 4);
                    let style = look.theme.curve(curve.place);
                    self.strew(&mut pen, curve, start, letter(curve.place), style);
                }
            }
            (ColorDepth::None, GlyphSet::Ascii)
            | (ColorDepth::TrueColor | ColorDepth::Ansi256 | ColorDepth::Ansi16, _) => {}
        }
    }

    /// The row of each letter: where its curve ends, or where another curve ends there too, the nearest row in which none does.
    fn ends(&self, curves: &Curves<'_>) -> Vec<(u16, usize)> {
        let mut ends: Vec<(f64, usize)> = curves
            .now
            .iter()
            .filter_map(|curve| Some((1.0 - self.y.share(curve.shown_end()?)?, curve.place)))
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let row = |(share, place)| (cell_at(share, self.plot.height) + self.plot.y, place);
        letter_rows(self.plot, &ends.into_iter().map(row).collect::<Vec<_>>())
    }

    fn strew(&self, pen: &mut Pen<'_>, curve: &Curve<'_>, start: u16, mark: &str, style: Style) {
        let Some(downsampled) = curve.downsampled() else { return };
        let width = pen::width(mark);
        let mut next = self.plot.x + start % self.plot.width.max(1);
        for bucket in &downsampled.buckets {
            let x = self.column(bucket.last.0);
            let value = if downsampled.smoothed { bucket.smooth } else { bucket.last.1 };
            let row = self.row(value).filter(|_| x >= next);
            // Where another curve lies over this one, the mark would be taken for that one's.
            if let Some(y) = row.filter(|y| pen.shows_dots(x, *y, width, style)) {
                pen.text(x, y, mark, style);
                next = x + APART;
            }
        }
    }
}

/// The rows of letters that would stand in these rows, from the top: those of one row go into free rows around it, in their
/// order. No letter stands where another curve ends or behind it: it would be taken for that one's. One without a row is left
/// out.
fn letter_rows(plot: Rect, own: &[(u16, usize)]) -> Vec<(u16, usize)> {
    let mut rows: Vec<(u16, usize)> = Vec::new();
    for group in own.chunk_by(|one, other| one.0 == other.0) {
        let row = group[0].0;
        let next = own.iter().map(|(other, _)| *other).find(|other| *other > row);
        let top = rows.last().map_or(plot.y, |(taken, _)| taken + 1);
        let others = group.len() as u16 - 1;
        let below = others.min(next.unwrap_or(plot.bottom()) - row - 1);
        let above = (others - below).min(row.saturating_sub(top));
        let places = group.iter().map(|(_, place)| *place);
        rows.extend((row - above..=row + below).zip(places));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_never_stands_where_another_curve_ends() {
        let plot = Rect::new(0, 0, 40, 6);
        for (own, rows) in [
            (&[(0, 0), (3, 1), (5, 2)][..], &[(0, 0), (3, 1), (5, 2)][..]),
            // Two end in one row: the second stands below, or above where the next curve ends below.
            (&[(1, 0), (1, 1), (4, 2)], &[(1, 0), (2, 1), (4, 2)]),
            (&[(3, 0), (3, 1), (4, 2)], &[(2, 0), (3, 1), (4, 2)]),
            // Between two others there is no place.
            (&[(0, 0), (1, 1), (1, 2), (2, 3)], &[(0, 0), (1, 1), (2, 3)]),
            (&[(5, 0), (5, 1), (5, 2)], &[(3, 0), (4, 1), (5, 2)]),
        ] {
            assert_eq!(letter_rows(plot, own), rows, "{own:?}");
        }
    }
}
