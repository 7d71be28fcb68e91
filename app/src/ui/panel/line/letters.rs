//! The letters by which curves are told apart without colour.

use ratatui::buffer::Buffer;
use ratatui::style::Modifier;

use super::chart::Chart;
use super::curves::{Curve, Curves, Kind};
use crate::ui::glyphs::GlyphSet;
use crate::ui::panel::pen::Pen;
use crate::ui::theme::{ColorDepth, Look};

/// The names of curves in the legend, in the chart and at its right edge.
const LETTERS: [&str; 26] = [
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
    "t", "u", "v", "w", "x", "y", "z",
];

/// The letter of a curve.
pub(super) fn letter(place: usize) -> &'static str {
    LETTERS[place % LETTERS.len()]
}

impl Chart {
    /// Letters at the right edge, where each curve ends; without colour on the curves themselves, too.
    pub(super) fn letters(&self, buf: &mut Buffer, curves: &Curves<'_>, look: &Look) {
        let mut pen = Pen::new(self.area, buf, &look.glyphs);
        for (y, place) in self.ends(curves) {
            let style = look.theme.curve(place).add_modifier(Modifier::BOLD);
            if self.plot.right() < self.area.right() {
                pen.glyph(self.area.right() - 1, y, letter(place), style);
            }
        }
        match (look.theme.depth, look.glyphs.set) {
            (ColorDepth::None, GlyphSet::Unicode) => {
                curves
                    .now
                    .iter()
                    .for_each(|curve| self.strew(&mut pen, curve, look));
            }
            (ColorDepth::None, GlyphSet::Ascii)
            | (ColorDepth::TrueColor | ColorDepth::Ansi256 | ColorDepth::Ansi16, _) => {}
        }
    }

    /// The row of each letter: where its curve ends, moved just so far that no two share a row.
    fn ends(&self, curves: &Curves<'_>) -> Vec<(u16, usize)> {
        let mut ends: Vec<(f64, usize)> = curves
            .now
            .iter()
            .filter_map(|curve| Some((1.0 - self.y.share(curve.latest()?)?, curve.place)))
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        ends.truncate(usize::from(self.plot.height));
        let mut rows: Vec<(u16, usize)> = Vec::new();
        for (share, place) in ends {
            let row = self.place(share, self.plot.height) + self.plot.y;
            let above = rows.last().map_or(self.plot.y, |(above, _)| above + 1);
            rows.push((row.max(above), place));
        }
        let mut lowest = self.plot.bottom();
        for (row, _) in rows.iter_mut().rev() {
            lowest = (*row).min(lowest.saturating_sub(1));
            *row = lowest;
        }
        rows
    }

    /// Puts a curve's letter on it every few columns.
    fn strew(&self, pen: &mut Pen<'_>, curve: &Curve<'_>, look: &Look) {
        let Kind::Series { trace, .. } = &curve.kind else {
            return;
        };
        let mut next = self.plot.x + 3 + 5 * (curve.place as u16 % 4);
        for bucket in &trace.buckets {
            let x = self.column(bucket.last.0);
            let value = if trace.smoothed {
                bucket.smooth
            } else {
                bucket.last.1
            };
            if let Some(y) = self.row(value).filter(|_| x >= next) {
                pen.glyph(x, y, letter(curve.place), look.theme.curve(curve.place));
                next = x + 20;
            }
        }
    }
}
