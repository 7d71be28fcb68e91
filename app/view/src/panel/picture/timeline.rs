//! Bars over one axis, in lanes, and above them the total as a step curve with its peak.

mod bars;
mod fit;
mod labels;
mod total;
mod words;

use mlsys_lab::frame::{Milestone, Timeline};
use ratatui::layout::Rect;

use crate::axis::Axis;
use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::{self, Lines};
use crate::glyphs::Glyphs;
use crate::panel::legend::{self, Item};
use crate::panel::picture::cells::Legend;
use crate::panel::picture::timeline::bars::{classes, draw_spans};
use crate::panel::picture::timeline::total::{draw_peak, draw_total};
use crate::panel::picture::timeline::words::{name, outline, place, span};
use crate::panel::picture::{At, Picture, RowNeed, page_rows};
use crate::panel::plane::tick_below;
use crate::panel::view::{FrameView, Inspect, Tint, Way};
use crate::quantity::unit;
use crate::theme::Look;

struct Parts {
    marks: Rect,
    total: Rect,
    lanes: Rect,
    names: Rect,
    /// Rows from one lane to the next: two where there is room, so that bars stand apart.
    pitch: u16,
    axis: Rect,
    legend: Rect,
}

struct Shown {
    first: usize,
    marked: Option<usize>,
    tint: Tint,
}

/// Rows of a legend for which lanes leave room.
const MOST_LEGEND: u16 = 4;

fn parts(area: Rect, timeline: &Timeline, items: &[Item]) -> Parts {
    let names = pen::widest(&timeline.lanes).min(area.width / 3);
    // A column between the names and the plot.
    let left = (names + 1).min(area.width);
    let axis = if area.height >= 5 { 2 } else { 0 };
    let text = !timeline.marks.is_empty() || timeline.total.is_some();
    let marks = u16::from(text && area.height >= 7);
    // More rows where lanes leave them blank.
    let blank = match timeline.total {
        Some(_) => 0,
        None => area.height.saturating_sub(axis + marks + pen::cells(timeline.lanes.len())),
    };
    let most = if area.height >= 14 { 2 } else { 1 };
    let legend = legend::rows(items, area.width, most.max(blank.min(MOST_LEGEND)));
    let legend = if area.height >= 6 { legend } else { 0 };
    let rest = area.height.saturating_sub(legend + axis + marks);
    let total = match timeline.total {
        Some(_) if rest >= 6 => (rest / 3).clamp(2, 10),
        Some(_) | None => 0,
    };
    let count = pen::cells(timeline.lanes.len());
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
    // A place between two columns is the right one, whatever its rounding error.
    let column = |share: f64| (share.clamp(0.0, 1.0) * wide + 1e-6).round();
    let from = column(axis.share(start)?).min(wide - 1.0);
    let to = column(axis.share(end)?).max(from + 1.0);
    Some((plot.x + from as u16, plot.x + to as u16))
}

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
    let unit = unit(&timeline.unit);
    // Its ticks have the unit.
    let name = if timeline.unit == "seconds" { "time" } else { &timeline.unit };
    let name = pen::cut(name, area.width / 2, glyphs.ellipsis);
    pen.ending(area.right(), area.y + 1, &name, theme.dim);
    let end = area.right().saturating_sub(pen::width(&name) + 1);
    let mut free = area.x;
    for (value, label) in axis.ticks((area.width / 10).max(2), unit, glyphs) {
        let Some((x, _)) = columns(area, axis, value, value) else { continue };
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
        let Some((x, _)) = columns(parts.lanes, axis, mark.at, mark.at) else { continue };
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

/// The nearest marked place on each side of the stretch in sight, for the legend.
fn out_of_sight(timeline: &Timeline, low: f64, high: f64, look: &Look) -> Vec<Item> {
    let marks = || timeline.marks.iter().filter(|mark| mark.at.is_finite());
    let before = marks().filter(|mark| mark.at < low).max_by(|a, b| a.at.total_cmp(&b.at));
    let behind = marks().filter(|mark| mark.at > high).min_by(|a, b| a.at.total_cmp(&b.at));
    let item = |mark: &Milestone| {
        let text = format!("{} at {}", mark.label, place(mark.at, &timeline.unit, &look.glyphs));
        Item::new(look.glyphs.change, look.theme.warn, text, look.theme.text)
    };
    before.into_iter().chain(behind).map(item).collect()
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
        let name = pen::cut_name(name, parts.names.width, look.glyphs.more);
        pen.text(parts.names.x, y, &name, style);
    }
    let below =
        timeline.lanes.len().saturating_sub(first + usize::from(parts.names.height / parts.pitch));
    if (below > 0 || first > 0) && parts.lanes.height > 0 {
        let text = format!(
            " rows {} to {} of {} ",
            first + 1,
            timeline.lanes.len() - below,
            timeline.lanes.len()
        );
        let mut pen = Pen::new(parts.axis, canvas, &look.glyphs);
        pen.ending(parts.axis.right(), parts.axis.y, &text, look.theme.dim);
    }
}

/// What fills and colours mean, where nothing is tinted by its label.
pub(in crate::panel) fn kinds(timeline: &Timeline, look: &Look) -> Vec<Item> {
    classes(timeline, Tint::default(), look)
}

pub(crate) fn draw(
    area: Rect,
    canvas: &mut Canvas,
    timeline: &Timeline,
    view: &FrameView,
    legend: Legend,
    look: &Look,
) {
    let (window, tint) = (view.stretch, view.tint);
    let marked = view.mark.map(|mark| mark.column);
    let Some((low, high)) = window.range(timeline) else {
        canvas.say(area, "nothing happens", look);
        return;
    };
    let mut items = match legend {
        Legend::Own => classes(timeline, tint, look),
        Legend::Shared => Vec::new(),
    };
    if legend == Legend::Own
        && fit::has_low_bars(timeline, (high - low) / f64::from(area.width.max(1)))
    {
        let low = look.glyphs.heights[look.glyphs.heights.len() / 2];
        items.push(Item::new(low, look.theme.dim, "in part of the time", look.theme.text));
    }
    items.extend(out_of_sight(timeline, low, high, look));
    let mut parts = parts(area, timeline, &items);
    // Timelines below each other keep their columns in line.
    let (wide, high) = match legend {
        Legend::Own => fit::even(parts.lanes.width, timeline, (low, high)),
        Legend::Shared => (parts.lanes.width, high),
    };
    for part in [&mut parts.marks, &mut parts.total, &mut parts.lanes, &mut parts.axis] {
        part.width = wide;
    }
    let axis = Axis::exactly(low, high);
    let first = first_lane(timeline, marked, parts.lanes.height / parts.pitch);
    draw_axis(&parts, canvas, timeline, &axis, look);
    draw_milestones(&parts, canvas, timeline, &axis, look);
    if let Some(total) = &timeline.total {
        if parts.total.height > 0 {
            draw_total(&parts, canvas, total, &timeline.unit, &axis, look);
        } else {
            draw_peak(&parts, canvas, total, &timeline.unit, look);
        }
    }
    draw_names(&parts, canvas, timeline, first, marked, look);
    let shown = Shown { first, marked, tint };
    draw_spans(&parts, canvas, timeline, &axis, &shown, look);
    legend::draw(parts.legend, canvas, &items, look);
}

/// The rows of the lanes with the axis, the names of marked places, and the classes; with a total as many as it gets.
pub(crate) fn row_need(
    timeline: &Timeline,
    view: &FrameView,
    width: u16,
    legend: Legend,
    look: &Look,
) -> Option<RowNeed> {
    if timeline.total.is_some() {
        return None;
    }
    let legend = match legend {
        Legend::Own => legend::rows(&classes(timeline, view.tint, look), width, MOST_LEGEND),
        Legend::Shared => 0,
    };
    let around = 2 + u16::from(!timeline.marks.is_empty()) + legend;
    Some(RowNeed::listed(timeline.lanes.len(), around))
}

impl Picture for Timeline {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        draw(area, canvas, self, at.view, Legend::Own, look);
    }

    fn words(&self, _: &FrameView, glyphs: &Glyphs) -> String {
        outline(self, glyphs).join("\n")
    }

    /// One line a bar, then one line a marked place, then one line a point of the total.
    fn values(&self, lines: &mut Lines) {
        let total = self.total.as_ref();
        let amount = csv::titled("amount", total.map_or("", |total| total.unit.as_str()));
        let along = |name: &str| csv::titled(name, &self.unit);
        lines.line(["lane", "class", "label", &along("from"), &along("to"), &amount]);
        for span in &self.spans {
            lines.line([
                name(&self.lanes, span.lane),
                name(&self.classes, span.class),
                span.label.clone(),
                csv::number(span.start),
                csv::number(span.end),
                csv::known(span.amount),
            ]);
        }
        for mark in &self.marks {
            let at = csv::number(mark.at);
            lines.line(["", "mark", &mark.label, &at, &at, ""]);
        }
        if let Some(total) = total {
            for (place, (from, value)) in total.points.iter().enumerate() {
                let to = total.points.get(place + 1).map_or(*from, |next| next.0);
                let cells = ["", "total", &total.name];
                let values = [csv::number(*from), csv::number(to), csv::number(*value)];
                lines.line(cells.map(str::to_owned).into_iter().chain(values));
            }
        }
    }

    fn marked(&self, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
        Some(span(self, self.spans.get(view.mark?.column)?, glyphs))
    }

    fn go(&self, view: &mut FrameView, way: Way) {
        view.mark = bars::go(self, view.mark, way);
        let marked = view.mark.and_then(|mark| self.spans.get(mark.column));
        if let Some(span) = marked {
            view.stretch = view.stretch.around(self, span.start);
        }
    }

    fn inspect(&self, view: &mut FrameView, inspect: Inspect) {
        if inspect == Inspect::Smooth {
            view.tint = view.tint.next();
            return;
        }
        let marked = view.mark.and_then(|mark| self.spans.get(mark.column));
        let about = marked.map(|span| f64::midpoint(span.start, span.end));
        view.stretch = view.stretch.inspect(self, about, inspect);
    }

    fn row_need(&self, at: At<'_>, width: u16, look: &Look) -> Option<RowNeed> {
        row_need(self, at.view, width, Legend::Own, look)
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        let total = if self.total.is_some() { 9 } else { 0 };
        (columns, page_rows(self.lanes.len()).saturating_add(6 + total))
    }
}
