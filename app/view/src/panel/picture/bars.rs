//! Labelled lengths on a linear axis, or marks on a logarithmic one.

mod values;

use mlsys_lab::frame::{Bar, Bars};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::number;
use ratatui::layout::Rect;

use crate::axis::{Axis, bounds, cell_at};
use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::{self, Lines};
use crate::glyphs::Glyphs;
use crate::panel::picture::bars::values::{scalable, value_texts};
use crate::panel::picture::{At, LEAST, Picture, RowNeed, page_rows};
use crate::panel::quantity;
use crate::panel::view::{AxisRange, FrameView};
use crate::quantity::column::Scalable;
use crate::quantity::unit;
use crate::theme::Look;

/// Columns that the longest bar has at least before remarks stand right of it.
const SHORTEST: u16 = 8;

/// The bars that fit; the last row is kept for the number of the others.
fn fitting(count: usize, rows: u16) -> usize {
    let rows = usize::from(rows);
    if count <= rows { count } else { rows.saturating_sub(1) }
}

/// The smallest and the largest value, and if the axis is linear, zero; turned round if there is none.
fn ends(bars: &Bars) -> (f64, f64) {
    let values = bars.bars.iter().filter_map(|b| b.value).filter(|x| x.is_finite());
    let values = values.filter(|x| match bars.scale {
        Scale::Linear => true,
        Scale::Log => *x > 0.0,
    });
    let (low, high) = bounds(values);
    match bars.scale {
        Scale::Linear if low <= high => (low.min(0.0), high.max(0.0)),
        Scale::Linear | Scale::Log => (low, high),
    }
}

/// The axis that holds all values and, if it is linear, zero; percentages are shares of a whole, which has its length.
fn axis(bars: &Bars, held: impl Iterator<Item = f64>) -> Axis {
    let (low, high) = ends(bars);
    let (low, high) = held.fold((low, high), |(low, high), x| (low.min(x), high.max(x)));
    match bars.scale {
        _ if low > high => Axis::around(0.0, 1.0, Scale::Linear),
        Scale::Linear if bars.unit == "%" && low >= 0.0 && high <= 100.0 => {
            Axis::exactly(0.0, 100.0)
        }
        Scale::Linear => Axis::around(low, high, Scale::Linear),
        // Half of the smallest, so that the smallest still has a length.
        Scale::Log => Axis::around(low / 2.0, high, Scale::Log),
    }
}

/// What is told of a remark.
#[derive(Clone, Copy)]
enum Part {
    Whole,
    /// Up to a colon or a comma.
    First,
}

/// What stands behind the bars.
struct Captions {
    values: Vec<String>,
    remarks: Vec<String>,
}

/// The values with their unit and the remarks. Where these have room neither behind the bars nor in rows below them, the
/// values do without a unit, or the remarks are cut after their first part.
fn captions(bars: &Bars, area: Rect, unit: Option<&str>, look: &Look) -> Captions {
    let values = |unit: Option<&str>| value_texts(bars, unit, look);
    let remarks = |part: Part| -> Vec<String> {
        let remarks = bars.bars.iter().map(|bar| match part {
            Part::Whole => bar.remark.as_str(),
            Part::First => bar.remark.split([':', ',']).next().unwrap_or_default(),
        });
        remarks.map(str::to_owned).collect()
    };
    let labels = pen::widest(bars.bars.iter().map(|bar| &bar.label));
    let fits = |captions: &Captions| {
        let behind = pen::widest(&captions.values) + pen::widest(&captions.remarks);
        labels + behind + 4 + SHORTEST <= area.width
    };
    // Without its unit a number that could have a prefix says nothing.
    let last = match scalable(unit) {
        Scalable::Unit(_) => [(unit, Part::First), (None, Part::Whole)],
        Scalable::Count | Scalable::Not => [(None, Part::Whole), (unit, Part::First)],
    };
    let forms = [(unit, Part::Whole)].into_iter().chain(last);
    let has_rows = bars.bars.len() * 2 <= usize::from(area.height);
    let mut all = forms.take(if has_rows { 1 } else { 3 });
    let found = all.find_map(|(unit, part)| {
        let captions = Captions { values: values(unit), remarks: remarks(part) };
        Some(captions).filter(fits)
    });
    found.unwrap_or_else(|| Captions { values: values(unit), remarks: remarks(Part::Whole) })
}

/// One bar, in eighths of a cell where the glyphs have them.
fn length(pen: &mut Pen<'_>, track: Rect, bar: &Bar, axis: &Axis, look: &Look) {
    let zero = axis.share(0.0).unwrap_or(0.0);
    if zero > 0.0 {
        let x = track.x + cell_at(zero, track.width);
        let exact = f64::from(track.x) + zero * f64::from(track.width);
        pen.upright(x, track.y..track.y + 1, exact, look.glyphs.vertical, look.theme.border);
    }
    let Some(share) = bar.value.filter(|x| x.is_finite()).and_then(|x| axis.share(x)) else {
        return;
    };
    let theme = &look.theme;
    let parts = look.glyphs.lengths;
    let per_cell = parts.len();
    let total = usize::from(track.width) * per_cell;
    let at = |share: f64| (share * total as f64).round() as usize;
    let (from, to) = (at(zero), at(share));
    let modelled = bar.remark == "modelled";
    let full = if modelled { look.glyphs.modelled } else { parts[per_cell - 1] };
    let (style, first) = if to >= from {
        (theme.curve(0), from.div_ceil(per_cell))
    } else {
        (theme.curve(1), to / per_cell)
    };
    let cells = (from.max(to) / per_cell).saturating_sub(first);
    let exact = |share: f64| f64::from(track.x) + share * f64::from(track.width);
    let columns = track.x + first as u16..track.x + (first + cells) as u16;
    pen.bar(track.y, columns, (exact(zero), exact(share)), full, style);
    // The end of a bar to the left cannot be finer than a cell.
    let rest = to % per_cell;
    if to >= from && rest > 0 && !modelled {
        let x = track.x + (to / per_cell) as u16;
        if x < track.right() {
            pen.end_of_bar(x, track.y, parts[rest - 1], style);
        }
    } else if to == from && total > 0 {
        let x = track.x + ((from / per_cell) as u16).min(track.width - 1);
        pen.glyph(x, track.y, look.glyphs.vertical, theme.border);
    }
}

/// A mark at a value on a logarithmic axis, with dots up to it: from no zero, a length says nothing.
fn mark(pen: &mut Pen<'_>, track: Rect, bar: &Bar, axis: &Axis, look: &Look) {
    let Some(share) = bar.value.filter(|x| x.is_finite()).and_then(|x| axis.share(x)) else {
        return;
    };
    let x = track.x + cell_at(share, track.width);
    let exact = f64::from(track.x) + share * f64::from(track.width);
    pen.run(track.x, track.y, x - track.x, look.glyphs.faint_point, look.theme.dim);
    let glyph = if bar.remark == "modelled" { look.glyphs.open } else { look.glyphs.classes[0] };
    pen.point((x, track.y), (exact, f64::from(track.y) + 0.5), glyph, look.theme.curve(0));
}

/// Decades below a logarithmic axis, and at the end of the row, or of the next one, what it measures.
fn ticks(
    pen: &mut Pen<'_>,
    (track, (right, bottom)): (Rect, (u16, u16)),
    axis: &Axis,
    (quantity, unit): (&str, Option<&str>),
    look: &Look,
) {
    let names = match quantity {
        "" => vec!["logarithmic".to_owned(), "log".to_owned()],
        _ => vec![format!("{quantity}, logarithmic"), format!("{quantity}, log"), "log".to_owned()],
    };
    // The values above leave room for some of it, and a third of the ticks for the rest.
    let room = right.saturating_sub(track.x + track.width * 2 / 3);
    // Below the ticks it takes the place of none.
    let has_row = track.y + 1 < bottom;
    let placed = |name: &str, wanted: u16| {
        let end = if has_row { right } else { right.saturating_sub(pen::width(name) + 1) };
        let mut free = track.x;
        let mut placed = Vec::new();
        for (value, label) in axis.ticks(wanted, unit, &look.glyphs) {
            let Some(share) = axis.share(value) else { continue };
            let x = track.x + (share * f64::from(track.width)) as u16;
            let wide = 1 + pen::width(&label);
            if x >= free && x + wide <= end {
                free = x + wide + 1;
                placed.push((x, share, label));
            }
        }
        placed
    };
    // From one tick no other value can be read: where few leave one there are finer ones, or the name gives way.
    let short = names.iter().filter(|name| pen::width(name) < room || *name == "log");
    let mut tries = short.flat_map(|name| {
        [10, 5, 2].map(|columns| (name.as_str(), placed(name, track.width / columns)))
    });
    let found = tries.find(|(_, ticks)| ticks.len() >= 2);
    let (name, ticks) = found.unwrap_or_else(|| ("log", placed("log", track.width / 10)));
    pen.ending(right, track.y + u16::from(has_row), name, look.theme.dim);
    for (x, share, label) in ticks {
        let exact = f64::from(track.x) + share * f64::from(track.width);
        let rows = track.y..track.y + 1;
        pen.upright(x, rows, exact, look.glyphs.vertical, look.theme.dim);
        pen.text(x + 1, track.y, &label, look.theme.dim);
    }
}

fn value_words(bar: &Bar, unit_name: &str, glyphs: &Glyphs) -> String {
    let value = bar.value.filter(|x| x.is_finite());
    value.map_or("not finite".to_owned(), |x| quantity(x, unit(unit_name), glyphs))
}

impl Picture for Bars {
    /// Draws the bars from the top, as many as there are rows; ticks stand below a logarithmic axis.
    ///
    /// The marked bar is always among them, and until one is marked that of the run itself.
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let marked = at.view.mark.map(|mark| mark.within(1, self.bars.len()).row);
        let unit = unit(&self.unit);
        let Captions { values: texts, remarks: captions } = captions(self, area, unit, look);
        let values = pen::widest(&texts).min(area.width / 2);
        let spare = area.width.saturating_sub(values + 2 + SHORTEST).max(area.width * 2 / 5);
        let labels = pen::widest(self.bars.iter().map(|bar| &bar.label)).min(spare);
        let remarks = pen::widest(&captions);
        // Lengths come first: next to remarks they would have no room. These go below their bars where there are rows
        // for them; otherwise a marked bar tells its remark.
        let crowded = labels + values + remarks + 4 + SHORTEST > area.width;
        let has_remarks = remarks > 0;
        let remarks = if crowded { 0 } else { remarks };
        let remark_columns = if remarks > 0 { remarks + 2 } else { 0 };
        let track = Rect {
            x: area.x + labels + 1,
            width: area.width.saturating_sub(labels + values + remark_columns + 2),
            ..area
        };
        let axis = axis(self, at.view.held.ends(0));
        // Where all bars have room but for the ticks, the bars are shown.
        let has_room = self.bars.len() != usize::from(area.height);
        let has_ticks =
            self.scale == Scale::Log && area.height > 3 && track.width >= 12 && has_room;
        let rows = area.height - u16::from(has_ticks);
        let shown = fitting(self.bars.len(), rows);
        // Room for air between the bars, if there is any.
        let pitch = if self.bars.len() * 2 <= usize::from(rows) { 2 } else { 1 };
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        let is_below = crowded && has_remarks && pitch == 2;
        let mut y = if is_below { area.y } else { area.y + pitch - 1 };
        let kept = marked.or_else(|| self.bars.iter().position(Bar::is_own));
        let first = kept.map_or(0, |kept| (kept + 1).saturating_sub(shown.max(1)));
        let all = self.bars.iter().zip(texts.iter().zip(&captions)).enumerate();
        for (place, (bar, (text, caption))) in all.skip(first).take(shown) {
            let style = if marked == Some(place) { look.theme.selection } else { look.theme.text };
            pen.within(area.x, y, labels, &bar.label, style);
            let row = Rect { y, height: 1, ..track };
            match self.scale {
                Scale::Linear => length(&mut pen, row, bar, &axis, look),
                Scale::Log => mark(&mut pen, row, bar, &axis, look),
            }
            let style = match bar.value {
                Some(_) => look.theme.dim,
                None => look.theme.bad,
            };
            let text = pen::cut(text, values, look.glyphs.ellipsis);
            pen.ending(area.right() - remark_columns, y, &text, style);
            if is_below {
                // The whole remark, or its first part.
                let first = |end: &str| bar.remark.split(end).next().unwrap_or_default();
                let remarks = [bar.remark.as_str(), first(": "), first(", ")];
                let fits = |remark: &&str| pen::width(remark) <= area.width;
                if let Some(remark) = remarks.into_iter().find(fits) {
                    let x = track.x.min(area.right() - pen::width(remark));
                    pen.text(x, y + 1, remark, look.theme.dim);
                }
            } else {
                pen.within(area.right() - remarks, y, remarks, caption, look.theme.dim);
            }
            y += pitch;
        }
        if shown < self.bars.len() && rows > 0 {
            let below = self.bars.len() - shown - first;
            let more = match first {
                0 => format!("{below} more below"),
                above => format!("{above} above, {below} below"),
            };
            pen.text(area.x, y, &more, look.theme.dim);
        }
        if has_ticks {
            let y = if pitch == 2 && !is_below { y - 1 } else { y }.min(area.bottom() - 1);
            let places =
                (Rect { y, height: 1, ..track }, (area.right() - remark_columns, area.bottom()));
            ticks(&mut pen, places, &axis, (&self.quantity, unit), look);
        }
    }

    fn words(&self, _: &FrameView, glyphs: &Glyphs) -> String {
        let texts = self.bars.iter().map(|bar| {
            let value = value_words(bar, &self.unit, glyphs);
            if bar.remark.is_empty() {
                format!("{} {value}", bar.label)
            } else {
                format!("{} {value} ({})", bar.label, bar.remark)
            }
        });
        format!("{}.", texts.collect::<Vec<_>>().join(", "))
    }

    fn values(&self, lines: &mut Lines) {
        lines.line(["label", &csv::titled("value", &self.unit), "remark"]);
        for bar in &self.bars {
            lines.line([&bar.label, &csv::known(bar.value), &bar.remark]);
        }
    }

    fn marked(&self, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
        let mark = view.mark?;
        let bar = self.bars.get(mark.within(1, self.bars.len()).row)?;
        let value = value_words(bar, &self.unit, glyphs);
        Some(match bar.remark.as_str() {
            "" => format!("{}: {value}", bar.label),
            remark => format!("{}: {value}, {remark}", bar.label),
        })
    }

    fn places(&self, _: &FrameView) -> (usize, usize) {
        (1, self.bars.len())
    }

    /// All bars told from each other, below the title of the pane.
    fn least(&self) -> (u16, u16) {
        /// The longest bar, and the gaps around it.
        const TRACK: u16 = 15;
        if self.bars.is_empty() {
            return LEAST;
        }
        let labels = pen::widest(self.bars.iter().map(|bar| &bar.label));
        let remarks = pen::widest(self.bars.iter().map(|bar| &bar.remark));
        let values = pen::widest(self.bars.iter().filter_map(|bar| bar.value.map(number)));
        let wide = [labels, values, pen::width(&self.unit), remarks];
        let wide = wide.into_iter().fold(TRACK, u16::saturating_add);
        // More than these are looked through by a mark.
        let high = pen::cells(self.bars.len()).saturating_add(1).clamp(LEAST.1, LEAST.1.max(11));
        (wide.clamp(LEAST.0, 2 * LEAST.0), high)
    }

    fn row_need(&self, _: At<'_>, _: u16, _: &Look) -> Option<RowNeed> {
        Some(RowNeed::listed(self.bars.len(), u16::from(self.scale == Scale::Log)))
    }

    fn ranges(&self) -> Vec<AxisRange<'_>> {
        let (low, high) = ends(self);
        let name = ("", self.unit.as_str());
        let range = AxisRange { name, scale: self.scale, low, high };
        if low <= high { vec![range] } else { Vec::new() }
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        (columns, page_rows(self.bars.len()).saturating_add(2))
    }
}
