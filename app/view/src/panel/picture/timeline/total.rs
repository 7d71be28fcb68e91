//! The total of a timeline above its lanes.

use std::ops::Range;

use mlsys_lab::frame::Total;
use ratatui::layout::Rect;

use crate::axis::Axis;
use crate::canvas::{self as pen, Canvas, Pen};
use crate::panel::picture::timeline::words::peak;
use crate::panel::picture::timeline::{Parts, columns, exact};
use crate::quantity::quantity;
use crate::theme::Look;

/// The total as columns of its height, the peak named where it is.
pub(super) fn draw_total(
    parts: &Parts,
    canvas: &mut Canvas,
    total: &Total,
    unit: &str,
    axis: &Axis,
    look: &Look,
) {
    let area = parts.total;
    let Some((at, most)) = total.peak().filter(|_| area.height >= 2 && area.width > 0) else {
        return;
    };
    // The first row is kept for the peak's name.
    let rows = area.height - 1;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let steps = look.glyphs.heights;
    for column in 0..area.width {
        let place = |column: u16| {
            let share = f64::from(column) / f64::from(area.width);
            axis.low + (axis.high - axis.low) * share
        };
        let value = within(total, place(column)..place(column + 1));
        if total.points.first().is_none_or(|point| point.0 >= place(column + 1)) || most <= 0.0 {
            continue;
        }
        let cells = value / most * f64::from(rows);
        let whole = (cells as u16).min(rows);
        let x = area.x + column;
        let style = look.theme.faint[0];
        for y in area.bottom() - whole..area.bottom() {
            pen.end_of_bar(x, y, look.glyphs.fills[0], style);
        }
        let rest = cells - f64::from(whole);
        if rest > 0.1 && whole < rows {
            let step = (rest * steps.len() as f64) as usize;
            let glyph = steps[step.min(steps.len() - 1)];
            pen.end_of_bar(x, area.bottom() - whole - 1, glyph, style);
        }
    }
    let bottom = f64::from(area.bottom());
    let next = total.points.iter().skip(1).map(|point| point.0).chain([axis.high]);
    let points = total.points.iter().zip(next).filter(|(point, _)| point.1 > 0.0);
    let exact = points.map(|((from, value), to)| {
        let high = (value / most).min(1.0) * f64::from(rows);
        let (left, right) = (exact(area, axis, *from), exact(area, axis, to));
        [(left, bottom - high), (right, bottom)]
    });
    let exact: Vec<[(f64, f64); 2]> = exact.collect();
    canvas.blocks(&exact, look.glyphs.fills[0], look.theme.faint[0]);
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let to = quantity(most, crate::quantity::unit(&total.unit), &look.glyphs);
    let shorter = [format!("peak {to}"), to];
    let sentences = peak(total, unit, &look.glyphs).into_iter().chain(shorter);
    let mut sentences = sentences.map(|text| format!("{} {text}", look.glyphs.reading));
    let sentence = sentences.find(|text| pen::width(text) <= area.width);
    if let (Some((x, _)), Some(text)) = (columns(area, axis, at, at), sentence) {
        let room = area.right() - x;
        let start = if pen::width(&text) <= room {
            x
        } else {
            area.right().saturating_sub(pen::width(&text)).max(area.x)
        };
        pen.text(start, area.y, &text, look.theme.accent);
    } else {
        let most = quantity(most, crate::quantity::unit(&total.unit), &look.glyphs);
        let text = format!("{}: to {most}", total.name);
        pen.text(area.x, area.y, &text, look.theme.dim);
    }
}

/// What a column shows of the total: of memory the largest value within it, so that no peak is lost between two, and of
/// anything else the mean over its time.
fn within(total: &Total, Range { start, end }: Range<f64>) -> f64 {
    let first = total.points.partition_point(|point| point.0 <= start).saturating_sub(1);
    let points = &total.points[first..];
    let seen = points.iter().take_while(|point| point.0 < end && point.1.is_finite());
    if total.unit == "bytes" || start >= end {
        return seen.map(|point| point.1).fold(0.0, f64::max);
    }
    let next = points.iter().skip(1).map(|point| point.0).chain([f64::INFINITY]);
    let parts =
        seen.zip(next).map(|((at, value), next)| value * (next.min(end) - at.max(start)).max(0.0));
    parts.sum::<f64>() / (end - start)
}

/// The peak in words, in the row above the lanes where that is free, if there is no room for the total.
pub(super) fn draw_peak(
    parts: &Parts,
    canvas: &mut Canvas,
    total: &Total,
    unit: &str,
    look: &Look,
) {
    let Some(text) = peak(total, unit, &look.glyphs) else { return };
    // Over the names, too: in this row they are not.
    let area = Rect { x: parts.names.x, width: parts.marks.right() - parts.names.x, ..parts.marks };
    let wide = pen::width(&text);
    let free = |start: u16| {
        let mut cells = (start..start + wide).map(|x| canvas.cells.cell((x, area.y)));
        cells.all(|cell| cell.is_some_and(|cell| cell.symbol() == " "))
    };
    let ends = [Some(area.x), area.right().checked_sub(wide)];
    let mut ends = ends.into_iter().flatten();
    let Some(start) = ends.find(|start| area.width >= wide && free(*start)) else { return };
    if area.height > 0 {
        Pen::new(area, canvas, &look.glyphs).text(start, area.y, &text, look.theme.accent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_shows_the_peak_of_memory_and_the_mean_of_anything_else() {
        let total = |unit: &str| Total {
            name: "total".to_owned(),
            unit: unit.to_owned(),
            points: vec![(0.0, 4.0), (1.0, 0.0), (1.5, 2.0), (4.0, 0.0)],
        };
        for (range, peak, mean) in [
            (0.0..2.0, 4.0, 2.5),
            (1.25..1.75, 2.0, 1.0),
            (2.0..3.0, 2.0, 2.0),
            (3.5..5.0, 2.0, 1.0 / 1.5),
        ] {
            assert_eq!(within(&total("bytes"), range.clone()), peak, "{range:?}");
            assert!((within(&total("stages"), range.clone()) - mean).abs() < 1e-9, "{range:?}");
        }
    }
}
