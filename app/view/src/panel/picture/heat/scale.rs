//! The scale of a heat map: its ends, the colours between them, and what they stand for.

use mlsys_lab::frame::HeatMap;
use mlsys_lab::value::{number, significant};
use ratatui::layout::Rect;

use super::color_of;
use crate::canvas::{self as pen, Canvas, Pen};
use crate::glyphs::{GlyphSet, Glyphs};
use crate::theme::Look;

/// The columns of the colours of a scale, between its ends.
fn steps(width: u16, map: &HeatMap) -> u16 {
    let ends = ends(width, map).iter().map(|end| pen::width(end)).sum::<u16>() + 2;
    (width / 6).clamp(4, 16).min(width.saturating_sub(ends)).max(2)
}

/// The ends of a scale, with as many digits as there is room for.
fn ends(width: u16, map: &HeatMap) -> [String; 2] {
    let rounded =
        |digits: usize| [map.low, map.high].map(|end| number(significant(f64::from(end), digits)));
    let fits = |ends: &[String; 2]| pen::width(&ends[0]) + pen::width(&ends[1]) + 4 <= width;
    [3, 2].into_iter().map(rounded).find(fits).unwrap_or_else(|| rounded(1))
}

/// The columns of a scale with its ends, and the gap behind it.
pub(super) fn width(width: u16, map: &HeatMap) -> u16 {
    let [low, high] = ends(width, map);
    pen::width(&low) + 1 + steps(width, map) + 1 + pen::width(&high) + 2
}

pub(super) fn draw(area: Rect, canvas: &mut Canvas, map: &HeatMap, legend: &str, look: &Look) {
    let theme = &look.theme;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let [low, high] = ends(area.width, map);
    let mut x = pen.text(area.x, area.y, &low, theme.dim) + 1;
    let steps = steps(area.width, map);
    for step in 0..steps {
        let share = f32::from(step) / f32::from(steps - 1);
        match color_of(map, look, share) {
            Some(color) => pen.glyph(x, area.y, " ", theme.text.bg(color)),
            None => pen.glyph(x, area.y, look.glyphs.shade(share), theme.dim),
        }
        x += 1;
    }
    x = pen.text(x + 1, area.y, &high, theme.dim);
    x = pen.text(x.saturating_add(2), area.y, legend, theme.text);
    let edges = format!("x {}  y {}", span(map.x, &look.glyphs), span(map.y, &look.glyphs));
    let wide = pen::width(&edges);
    let has_names = !map.row_labels.is_empty() || !map.column_labels.is_empty();
    if !has_names && x.saturating_add(2 + wide) <= area.right() {
        pen.ending(area.right(), area.y, &edges, theme.dim);
    }
}

fn span((low, high): (f32, f32), glyphs: &Glyphs) -> String {
    let short = |x: f32| number((f64::from(x) * 100.0).round() / 100.0);
    match glyphs.set {
        GlyphSet::Unicode => format!("{}…{}", short(low), short(high)),
        GlyphSet::Ascii => format!("{}..{}", short(low), short(high)),
    }
}
