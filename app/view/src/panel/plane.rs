//! Two axes and the field between them, for pictures that are not over steps.

use ratatui::layout::Rect;

use crate::axis::{Axis, cell_at};
use crate::canvas::{self as pen, Canvas, Pen};
use crate::glyphs::Glyphs;
use crate::theme::Look;

/// The smallest area with room for axes.
pub(super) const SMALLEST: (u16, u16) = (16, 4);

/// Cuts an area in two, the lower `below` rows high, or all of it if it has fewer.
pub(super) fn split(area: Rect, below: u16) -> [Rect; 2] {
    let below = below.min(area.height);
    let height = area.height - below;
    [Rect { height, ..area }, Rect { y: area.y + height, height: below, ..area }]
}

#[derive(Clone)]
pub(super) struct Side<'a> {
    /// The range and how it divides.
    pub(super) axis: Axis,
    pub(super) name: &'a str,
    pub(super) unit: Option<&'a str>,
}

pub(super) struct Plane<'a> {
    pub(super) plot: Rect,
    area: Rect,
    x: Side<'a>,
    y: Side<'a>,
    ticks: Vec<(f64, String)>,
    name: NamePlace,
}

/// Where the name of the horizontal axis is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamePlace {
    /// At the end of the row of its ticks.
    AmongTicks,
    /// In a row of its own.
    BelowTicks,
}

/// Ticks below a field, and what is left of the name of their axis at the end of their row.
struct Ruler {
    name: String,
    /// The value, the column of its label, and the label.
    ticks: Vec<(f64, u16, String)>,
}

impl Ruler {
    /// At least two ticks, from which others can be read: where the name leaves room for fewer, there are finer ones, or only
    /// the unit stands there, or nothing.
    fn new(
        (area, plot): (Rect, Rect),
        (axis, unit, name): (&Axis, Option<&str>, &str),
        glyphs: &Glyphs,
    ) -> Self {
        let whole = if name.is_empty() { String::new() } else { axis.title(name, unit) };
        let short = if name.is_empty() { String::new() } else { axis.title("", unit) };
        let wanted = (plot.width / TICK).max(2);
        let of = |(name, gap, wanted): (&str, u16, u16)| {
            let name = pen::cut(name, plot.width * 4 / 5, glyphs.ellipsis).into_owned();
            let end = area.right().saturating_sub(pen::width(&name) + gap);
            let mut free = area.x;
            let mut ticks = Vec::new();
            for (value, label) in axis.ticks(wanted, unit, glyphs) {
                let share = axis.share(value).unwrap_or(0.0);
                let wide = pen::width(&label);
                let middle = plot.x + cell_at(share, plot.width);
                let last = area.right().saturating_sub(wide);
                let start = middle.saturating_sub(wide / 2).min(last).max(area.x);
                if start >= free && start.saturating_add(wide) <= end {
                    free = start + wide + 1;
                    ticks.push((value, start, label));
                }
            }
            Self { name, ticks }
        };
        let names = [(whole.as_str(), GAP), (&whole, 1), (&short, GAP), ("", 0)];
        let tries = names.into_iter().flat_map(|(name, gap)| {
            [1, 2, 4].map(|finer| (name, gap, wanted.saturating_mul(finer)))
        });
        let mut all = tries.map(of);
        all.find(|ruler| ruler.ticks.len() >= 2).unwrap_or_else(|| of((&whole, 1, wanted)))
    }
}

impl<'a> Plane<'a> {
    /// Lays axes out: labels to the left and below, a line for the name of the vertical axis where there is room, and one for
    /// the name of the horizontal axis where it would hide ticks in theirs.
    pub(super) fn new(area: Rect, x: Side<'a>, y: Side<'a>, look: &Look) -> Self {
        /// Rows from which on one is spared for the name of an axis: of a large chart for the sake of one tick.
        const SPARED: u16 = 10;
        const LARGE: u16 = 16;
        let plane = Self::with_name(NamePlace::AmongTicks, area, x, y, look);
        let [named, all] = [plane.tick_count(plane.x.name, look), plane.tick_count("", look)];
        let is_apart = match all.saturating_sub(named) {
            0 => false,
            1 if named >= 2 => area.height >= LARGE,
            1.. => area.height >= SPARED,
        };
        if !is_apart {
            return plane;
        }
        let Self { x, y, .. } = plane;
        Self::with_name(NamePlace::BelowTicks, area, x, y, look)
    }

    fn with_name(name: NamePlace, area: Rect, x: Side<'a>, y: Side<'a>, look: &Look) -> Self {
        let below = match name {
            NamePlace::BelowTicks => 3,
            NamePlace::AmongTicks if area.height >= 6 => 2,
            NamePlace::AmongTicks => 1,
        };
        let above = u16::from(area.height >= 8);
        let height = area.height.saturating_sub(below + above);
        let ticks = y.axis.ticks((height / 3).max(2), y.unit, &look.glyphs);
        let widest = pen::widest(ticks.iter().map(|(_, label)| label));
        let left = (widest.max(2) + 1).min(area.width / 2);
        let plot = Rect { x: area.x + left, y: area.y + above, width: area.width - left, height };
        Self { plot, area, x, y, ticks, name }
    }

    /// The ticks that are left below the field next to a name; none next to one that is cut.
    fn tick_count(&self, name: &str, look: &Look) -> usize {
        let side = (&self.x.axis, self.x.unit, name);
        let ruler = Ruler::new((self.area, self.plot), side, &look.glyphs);
        let is_cut = ruler.name.len() < self.x.axis.title(name, self.x.unit).len();
        if is_cut && !name.is_empty() { 0 } else { ruler.ticks.len() }
    }

    /// Where a place lies in the field, as shares from its left and from its top; absent off a logarithmic axis.
    pub(super) fn shares(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.x.axis.share(x)?, 1.0 - self.y.axis.share(y)?))
    }

    pub(super) fn cell(&self, place: (f64, f64)) -> Option<(u16, u16)> {
        let (x, y) = self.shares(place)?;
        let plot = self.plot;
        let cell = (plot.x + cell_at(x, plot.width), plot.y + cell_at(y, plot.height));
        (!plot.is_empty()).then_some(cell)
    }

    /// Where a value lies across, in columns.
    pub(super) fn across(&self, value: f64) -> Option<f64> {
        Some(f64::from(self.plot.x) + self.x.axis.share(value)? * f64::from(self.plot.width))
    }

    /// Where a place lies, in columns and rows.
    pub(super) fn exact(&self, place: (f64, f64)) -> Option<(f64, f64)> {
        let (x, y) = self.shares(place)?;
        let (left, top) = (f64::from(self.plot.x), f64::from(self.plot.y));
        Some((left + x * f64::from(self.plot.width), top + y * f64::from(self.plot.height)))
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, look: &Look) {
        let (plot, glyphs, theme) = (self.plot, &look.glyphs, &look.theme);
        let mut pen = Pen::new(self.area, canvas, glyphs);
        let axis = plot.x.saturating_sub(1);
        if plot.y > self.area.y {
            let name = self.y.axis.title(self.y.name, self.y.unit);
            pen.text(self.area.x, self.area.y, &name, theme.dim);
        }
        pen.column(axis, plot.y..plot.bottom(), glyphs.vertical, theme.border);
        left_ticks(&mut pen, plot, &self.y.axis, &self.ticks, look);
        let below = u16::from(self.name == NamePlace::BelowTicks);
        let labels = self.area.bottom().saturating_sub(1 + below);
        let has_line = labels > plot.bottom();
        if has_line {
            pen.glyph(axis, plot.bottom(), glyphs.corners[2], theme.border);
            let line = glyphs.horizontal;
            pen.run(plot.x, plot.bottom(), plot.width, line, theme.border);
        }
        let name = match self.name {
            NamePlace::AmongTicks => self.x.name,
            NamePlace::BelowTicks => {
                let title = self.x.axis.title(self.x.name, self.x.unit);
                pen.ending(self.area.right(), labels + 1, &title, theme.dim);
                ""
            }
        };
        ticks_below(&mut pen, (self.area, plot), labels, (&self.x.axis, self.x.unit, name), look);
    }
}

/// Columns of a tick with its label.
const TICK: u16 = 10;

/// Columns between the last tick and the name, so that it is not read as the name of what the tick counts: where there is room.
const GAP: u16 = 2;

/// Ticks, labels and the name of the axis below a field; the name takes the end of the row, the ticks what is left of it.
pub(super) fn ticks_below(
    pen: &mut Pen<'_>,
    (area, plot): (Rect, Rect),
    labels: u16,
    (axis, unit, name): (&Axis, Option<&str>, &str),
    look: &Look,
) {
    let ruler = Ruler::new((area, plot), (axis, unit, name), &look.glyphs);
    pen.ending(area.right(), labels, &ruler.name, look.theme.dim);
    for (value, start, label) in &ruler.ticks {
        let share = axis.share(*value).unwrap_or(0.0);
        let exact = f64::from(plot.x) + share * f64::from(plot.width);
        pen.about(exact, *start, labels, label, look.theme.dim);
        if labels > plot.bottom() {
            let at = (plot.x + cell_at(share, plot.width), plot.bottom());
            tick_below(pen, at, exact, look);
        }
    }
}

/// Ticks and their labels on the axis left of a field, no two in one row.
pub(super) fn left_ticks(
    pen: &mut Pen<'_>,
    plot: Rect,
    axis: &Axis,
    ticks: &[(f64, String)],
    look: &Look,
) {
    let left = plot.x.saturating_sub(1);
    let mut taken = None;
    for (value, label) in ticks {
        let Some(share) = axis.share(*value) else { continue };
        let y = plot.y + cell_at(1.0 - share, plot.height);
        if taken == Some(y) || plot.is_empty() {
            continue;
        }
        taken = Some(y);
        let exact = f64::from(plot.y) + (1.0 - share) * f64::from(plot.height);
        pen.ending_at(left, y, exact, label, look.theme.dim);
        pen.end_of_bar(left, y, look.glyphs.tick_left, look.theme.border);
        pen.level(plot.x..plot.right(), exact, look.theme.border);
    }
}

pub(super) fn tick_below(pen: &mut Pen<'_>, (x, y): (u16, u16), exact: f64, look: &Look) {
    pen.end_of_bar(x, y, look.glyphs.tick_below, look.theme.border);
    pen.notch(exact, y, look.theme.border);
}
