//! Bars over one axis, in lanes, and above them the total as a step curve with its peak.

mod tints;
mod total;

use crate::canvas::Canvas;
use mlsys_lab::frame::Timeline;
use ratatui::layout::Rect;

use super::legend::{self, Item};
use super::plane::tick_below;
use super::view::{Stretch, Tint};
use crate::canvas::{self as pen, Pen};
use crate::figure::axis::Axis;
use crate::theme::Look;
use tints::{by_label, class, classes, on_bar};
use total::{draw_total, say_peak};

/// Labels up to here are numbers of microbatches, or as short as these.
const SHORT: u16 = 3;

/// Where the parts are.
struct Parts {
    /// What happens where, in one row.
    marks: Rect,
    /// The total.
    total: Rect,
    /// The lanes, without their names.
    lanes: Rect,
    /// The names left of them.
    names: Rect,
    /// Rows from one lane to the next: two where there is room, so that bars stand apart.
    pitch: u16,
    /// The axis with its labels.
    axis: Rect,
    /// What the bars are.
    legend: Rect,
}

/// Draws a timeline; `marked` is the bar that is looked at.
pub(super) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    timeline: &Timeline,
    (window, tint): (Stretch, Tint),
    marked: Option<usize>,
    look: &Look,
) {
    let Some((low, high)) = window.of(timeline) else {
        Pen::new(area, canvas, &look.glyphs).text(
            area.x,
            area.y,
            "nothing happens",
            look.theme.dim,
        );
        return;
    };
    let items = classes(timeline, tint, look);
    let parts = parts(area, timeline, &items);
    let axis = Axis::exactly(low, high);
    let first = first_lane(timeline, marked, parts.lanes.height / parts.pitch);
    draw_axis(&parts, canvas, timeline, &axis, look);
    draw_milestones(&parts, canvas, timeline, &axis, look);
    if let Some(total) = &timeline.total {
        if parts.total.height > 0 {
            draw_total(&parts, canvas, total, &timeline.unit, &axis, look);
        } else {
            say_peak(&parts, canvas, total, &timeline.unit, look);
        }
    }
    draw_names(&parts, canvas, timeline, first, marked, look);
    let shown = Shown { first, marked, tint };
    draw_spans(&parts, canvas, timeline, &axis, &shown, look);
    legend::draw(parts.legend, canvas, &items, look);
}

/// What of the bars is in sight, and what they tell.
struct Shown {
    first: usize,
    marked: Option<usize>,
    tint: Tint,
}

fn parts(area: Rect, timeline: &Timeline, items: &[Item]) -> Parts {
    let names = timeline.lanes.iter().map(|name| pen::width(name)).max();
    let names = names.unwrap_or(0).min(area.width / 4);
    // A column between the names and the plot.
    let left = (names + 1).min(area.width);
    let legend = legend::rows(items, area.width, if area.height >= 14 { 2 } else { 1 });
    let legend = if area.height >= 6 { legend } else { 0 };
    let axis = if area.height >= 5 { 2 } else { 0 };
    let said = !timeline.marks.is_empty() || timeline.total.is_some();
    let marks = u16::from(said && area.height >= 7);
    let rest = area.height.saturating_sub(legend + axis + marks);
    let total = match timeline.total {
        Some(_) if rest >= 6 => (rest / 3).clamp(2, 10),
        Some(_) | None => 0,
    };
    let count = u16::try_from(timeline.lanes.len()).unwrap_or(u16::MAX);
    let pitch = if count.saturating_mul(2) <= rest - total { 2 } else { 1 };
    let lanes = (rest - total).min(count.saturating_mul(pitch));
    // What the lanes do not need the total gets.
    let total = if total > 0 { (rest - lanes).min(12) } else { 0 };
    let mut y = area.y;
    let mut take = |height: u16, x: u16, width: u16| {
        let part = Rect::new(x, y, width, height);
        y += height;
        part
    };
    let (plot, wide) = (area.x + left, area.width - left);
    let marks = take(marks, plot, wide);
    let total = take(total, plot, wide);
    let lanes = take(lanes, plot, wide);
    let axis = take(axis, plot, wide);
    Parts {
        names: Rect { x: area.x, width: names, ..lanes },
        legend: take(legend, area.x, area.width),
        marks,
        total,
        lanes,
        pitch,
        axis,
    }
}

/// The first lane in sight: that of the marked bar is.
fn first_lane(timeline: &Timeline, marked: Option<usize>, rows: u16) -> usize {
    let lane = marked.and_then(|marked| timeline.spans.get(marked));
    let lane = lane.map_or(0, |span| span.lane);
    let rows = usize::from(rows);
    let last = timeline.lanes.len().saturating_sub(rows);
    lane.saturating_sub(rows.saturating_sub(1).saturating_sub(rows / 4)).min(last)
}

/// The columns from one place on the axis to another, at least one if they are in sight at all.
fn columns(plot: Rect, axis: &Axis, start: f64, end: f64) -> Option<(u16, u16)> {
    let (start, end) = (start.min(end), start.max(end));
    let seen = start.is_finite() && end.is_finite() && end >= axis.low && start <= axis.high;
    if !seen || plot.width == 0 {
        return None;
    }
    let wide = f64::from(plot.width);
    let from = (axis.share(start)?.clamp(0.0, 1.0) * wide).round().min(wide - 1.0);
    let to = (axis.share(end)?.clamp(0.0, 1.0) * wide).round().max(from + 1.0);
    Some((plot.x + from as u16, plot.x + to as u16))
}

/// Where a place on the axis lies, in columns.
fn exact(plot: Rect, axis: &Axis, at: f64) -> f64 {
    let share = axis.share(at).filter(|share| share.is_finite()).unwrap_or(0.0);
    f64::from(plot.x) + share.clamp(0.0, 1.0) * f64::from(plot.width)
}

fn draw_axis(parts: &Parts, canvas: &mut Canvas, timeline: &Timeline, axis: &Axis, look: &Look) {
    let (area, glyphs, theme) = (parts.axis, &look.glyphs, &look.theme);
    if area.height < 2 {
        return;
    }
    let mut pen = Pen::new(area, canvas, glyphs);
    pen.run(area.x, area.y, area.width, glyphs.horizontal, theme.border);
    let unit = crate::figure::unit(&timeline.unit);
    let name = pen::cut(&timeline.unit, area.width / 3, glyphs.ellipsis);
    pen.ending(area.right(), area.y + 1, &name, theme.dim);
    let end = area.right().saturating_sub(pen::width(&name) + 1);
    let mut free = area.x;
    for (value, label) in axis.ticks((area.width / 10).max(2), unit, glyphs) {
        let Some((x, _)) = columns(area, axis, value, value) else {
            continue;
        };
        let wide = pen::width(&label);
        let start = x.saturating_sub(wide / 2).max(area.x);
        if start >= free && start.saturating_add(wide) <= end {
            let exact = exact(area, axis, value);
            free = pen.about(exact, start, area.y + 1, &label, theme.dim) + 1;
            tick_below(&mut pen, (x, area.y), exact, look);
        }
    }
}

/// A line down at each marked place, its name above where there is room.
fn draw_milestones(
    parts: &Parts,
    canvas: &mut Canvas,
    timeline: &Timeline,
    axis: &Axis,
    look: &Look,
) {
    let mut free = parts.marks.x;
    for mark in &timeline.marks {
        let Some((x, _)) = columns(parts.lanes, axis, mark.at, mark.at) else {
            continue;
        };
        let down = parts.total.y..parts.lanes.bottom();
        let area = parts.total.union(parts.lanes);
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        let exact = exact(parts.lanes, axis, mark.at);
        pen.upright(x, down, exact, look.glyphs.change, look.theme.warn);
        let wide = pen::width(&mark.label);
        let start = x.min(parts.marks.right().saturating_sub(wide)).max(parts.marks.x);
        if start >= free && parts.marks.height > 0 {
            let mut pen = Pen::new(parts.marks, canvas, &look.glyphs);
            free = pen.text(start, parts.marks.y, &mark.label, look.theme.warn) + 2;
        }
    }
}

fn draw_names(
    parts: &Parts,
    canvas: &mut Canvas,
    timeline: &Timeline,
    first: usize,
    marked: Option<usize>,
    look: &Look,
) {
    let marked = marked.and_then(|marked| timeline.spans.get(marked)).map(|span| span.lane);
    let mut pen = Pen::new(parts.names, canvas, &look.glyphs);
    let names = timeline.lanes.iter().enumerate().skip(first);
    for (y, (lane, name)) in
        (parts.names.y..parts.names.bottom()).step_by(usize::from(parts.pitch)).zip(names)
    {
        let style = if marked == Some(lane) { look.theme.accent } else { look.theme.text };
        let name = pen::cut_name(name, parts.names.width, look.glyphs.ellipsis);
        pen.text(parts.names.x, y, &name, style);
    }
    let below =
        timeline.lanes.len().saturating_sub(first + usize::from(parts.names.height / parts.pitch));
    if (below > 0 || first > 0) && parts.lanes.height > 0 {
        let said = format!(
            " lanes {} to {} of {} ",
            first + 1,
            timeline.lanes.len() - below,
            timeline.lanes.len()
        );
        let mut pen = Pen::new(parts.axis, canvas, &look.glyphs);
        pen.ending(parts.axis.right(), parts.axis.y, &said, look.theme.dim);
    }
}

fn draw_spans(
    parts: &Parts,
    canvas: &mut Canvas,
    timeline: &Timeline,
    axis: &Axis,
    &Shown { first, marked, tint }: &Shown,
    look: &Look,
) {
    let area = parts.lanes;
    let mut pen = Pen::new(area, canvas, &look.glyphs);
    let mut labels = Vec::new();
    for (index, span) in timeline.spans.iter().enumerate() {
        let row = span.lane.checked_sub(first).and_then(|row| u16::try_from(row).ok());
        let Some(row) =
            row.map(|row| row.saturating_mul(parts.pitch)).filter(|row| *row < area.height)
        else {
            continue;
        };
        let Some((from, to)) = columns(area, axis, span.start, span.end) else {
            continue;
        };
        let y = area.y + row;
        let (style, fill) = class(span.class, look);
        let style = match tint {
            Tint::Class => style,
            Tint::Label => by_label(&span.label, look),
        };
        pen.bar(
            y,
            from..to,
            (exact(area, axis, span.start), exact(area, axis, span.end)),
            fill,
            style,
        );
        let chosen = marked == Some(index);
        let label = pen::width(&span.label);
        let wide = label.saturating_add(2);
        if chosen {
            pen.glyph(from, y, look.glyphs.reading, look.theme.accent);
        }
        if label > 0 && label <= to - from {
            let style = if chosen { look.theme.selection } else { on_bar(style) };
            if label > SHORT && wide <= to - from {
                let text = format!(" {} ", span.label);
                labels.push((y, from + (to - from - wide) / 2, wide, text, style));
            } else {
                // A number stands at the beginning, where it parts the bar from an equal one before it.
                labels.push((y, from, label, span.label.clone(), style));
            }
        }
    }
    // After all bars, of which a lane may have several, and each clear of the one before.
    labels.sort_by_key(|label| (label.0, label.1));
    let mut free = (0, 0);
    for (y, x, wide, label, style) in labels {
        if (y, x) >= free {
            pen.within(x, y, wide, &label, style);
            free = (y, x + wide);
        }
    }
}
