//! The letters and numerals by which curves and runs are told apart without colour.

use crate::canvas::Canvas;
use ratatui::style::{Modifier, Style};

use super::chart::Chart;
use super::curves::{Curve, Curves, Kind};
use crate::canvas::{self as pen, Pen};
use crate::glyphs::GlyphSet;
use crate::theme::{ColorDepth, Look};

/// The names of curves in the legend, in the chart and at its right edge.
const LETTERS: [&str; 26] = [
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
    "t", "u", "v", "w", "x", "y", "z",
];

/// Columns between two marks on a curve.
const APART: u16 = 20;

/// The letter of a curve.
pub(super) fn letter(place: usize) -> &'static str {
    LETTERS[place % LETTERS.len()]
}

const NUMERALS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// The numeral of an earlier run.
pub(super) fn numeral(place: usize) -> &'static str {
    NUMERALS[place % NUMERALS.len()]
}

impl Chart {
    /// Numerals on the curves of earlier runs, with the curve's letter where there are several.
    pub(super) fn numerals(&self, canvas: &mut Canvas, curves: &Curves<'_>, look: &Look) {
        if look.glyphs.set == GlyphSet::Ascii {
            // There the curves are made of them.
            return;
        }
        let mut pen = Pen::new(self.plot, canvas, &look.glyphs);
        for (place, run) in curves.before.iter().enumerate() {
            for curve in run {
                let mut mark = numeral(place).to_owned();
                if curves.names.len() > 1 {
                    mark.push_str(letter(curve.place));
                }
                let start = 6 + 7 * place as u16 + 3 * curve.place as u16;
                self.strew(&mut pen, curve, start, &mark, look.theme.previous);
            }
        }
    }

    /// Letters at the right edge, where each curve ends; without colour on the curves themselves, too.
    pub(super) fn letters(&self, canvas: &mut Canvas, curves: &Curves<'_>, look: &Look) {
        let mut pen = Pen::new(self.area, canvas, &look.glyphs);
        for (y, place) in self.ends(curves) {
            let style = look.theme.curve(place).add_modifier(Modifier::BOLD);
            if self.plot.right() < self.area.right() {
                pen.glyph(self.area.right() - 1, y, letter(place), style);
            }
        }
        match (look.theme.depth, look.glyphs.set) {
            (ColorDepth::None, GlyphSet::Unicode) => {
                for curve in &curves.now {
                    let start = 3 + 5 * (curve.place as u16 % 4);
                    let style = look.theme.curve(curve.place);
                    self.strew(&mut pen, curve, start, letter(curve.place), style);
                }
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
            .filter_map(|curve| Some((1.0 - self.y.share(curve.shown_end()?)?, curve.place)))
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

    /// Puts a mark on a curve every few columns.
    fn strew(&self, pen: &mut Pen<'_>, curve: &Curve<'_>, start: u16, mark: &str, style: Style) {
        let Kind::Series { trace, .. } = &curve.kind else {
            return;
        };
        let width = pen::width(mark);
        let mut next = self.plot.x + start % self.plot.width.max(1);
        for bucket in &trace.buckets {
            let x = self.column(bucket.last.0);
            let value = if trace.smoothed { bucket.smooth } else { bucket.last.1 };
            let row = self.row(value).filter(|_| x >= next);
            // Where another curve lies over this one, the mark would be taken for that one's.
            if let Some(y) = row.filter(|y| pen.shows_dots(x, *y, width, style)) {
                pen.text(x, y, mark, style);
                next = x + APART;
            }
        }
    }
}
