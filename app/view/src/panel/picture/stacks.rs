//! Stacked lengths on one linear axis, each part with a fill of its own, and the line that no stack should pass.

use mlsys_lab::frame::{Stack, Stacks};
use mlsys_lab::schema::Scale;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::canvas::{self as pen, Canvas, Pen};
use crate::csv::{self, Lines};
use crate::glyphs::Glyphs;
use crate::panel::legend::Item;
use crate::panel::picture::{At, LEAST, Picture, READ_LINES, RowNeed, page_rows};
use crate::panel::view::{AxisRange, FrameView};
use crate::panel::{legend, quantity};
use crate::quantity::unit;
use crate::text;
use crate::theme::Look;

/// Columns that the longest stack has at least where labels are long.
const SHORTEST: u16 = 10;

struct Columns {
    labels: u16,
    left: u16,
    right: u16,
    remarks: Remarks,
}

/// Where the remarks of stacks are; a marked stack tells its own in any case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remarks {
    AtRight,
    Below,
    LeftOut,
}

impl Columns {
    /// `pitch` is the rows from one stack to the next.
    fn new(area: Rect, stacks: &Stacks, totals: &[String], pitch: u16) -> Self {
        let labels = stacks.stacks.iter().map(|stack| &stack.label);
        let spare = area.width.saturating_sub(pen::widest(totals) + 2 + SHORTEST);
        let labels = pen::widest(labels).min(spare.max(area.width / 3));
        let left = area.x + labels + 1;
        let remarks = stacks.stacks.iter().map(|stack| pen::width(&stack.remark));
        let both = totals.iter().zip(remarks.clone()).map(|(total, remark)| match remark {
            0 => pen::width(total),
            remark => pen::width(total) + 1 + remark,
        });
        let (both, widest) = (both.max().unwrap_or(0), remarks.max().unwrap_or(0));
        let (columns, remarks) = if both <= area.width * 2 / 5 {
            (both, Remarks::AtRight)
        } else if pitch > 1 && left + widest <= area.right() {
            (pen::widest(totals), Remarks::Below)
        } else {
            (pen::widest(totals), Remarks::LeftOut)
        };
        let right = area.right().saturating_sub(columns + 1).max(left + 1);
        Self { labels, left, right, remarks }
    }

    fn exact(&self, share: f64) -> f64 {
        f64::from(self.left) + share.clamp(0.0, 1.0) * f64::from(self.right - self.left)
    }

    fn at(&self, share: f64) -> u16 {
        let wide = f64::from(self.right - self.left);
        let column = (share * wide).round().clamp(0.0, wide - 1.0);
        self.left + column as u16
    }
}

/// Whole columns for parts that are too many for one each: by their lengths rounded down, then one each to those that lost
/// most by that.
fn shared_out(lengths: &[f64], columns: u16) -> Vec<u16> {
    let mut widths: Vec<u16> = lengths.iter().map(|length| length.floor() as u16).collect();
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by(|a, b| lengths[*b].fract().total_cmp(&lengths[*a].fract()));
    let left = columns.saturating_sub(widths.iter().sum());
    for place in order.into_iter().take(usize::from(left)) {
        widths[place] += 1;
    }
    widths
}

/// The parts of a stack one after the other, together as long as their sum. A part of a fifth of a column or more has one, as
/// smaller ones would make the others shorter than they are; where there are too few columns for that, the longest parts have
/// one; a stack of one column is the end of one bar, in eighths of a cell where the glyphs have them.
fn lengths(pen: &mut Pen<'_>, y: u16, columns: &Columns, stack: &Stack, most: f64, look: &Look) {
    /// The part of a column that is seen.
    const SEEN: f64 = 0.2;
    let wide = f64::from(columns.right - columns.left);
    let longest = stack.lengths().fold(0.0, f64::max);
    let is_seen = |length: f64| length > 0.0 && (length / most * wide >= SEEN || length == longest);
    let parts: Vec<(usize, f64)> =
        stack.lengths().enumerate().filter(|(_, length)| is_seen(*length)).collect();
    let count = pen::cells(parts.len());
    let whole = (stack.total() / most * wide).round().min(wide) as u16;
    let has_room = whole >= count;
    let in_columns: Vec<f64> = parts.iter().map(|part| part.1 / most * wide).collect();
    let shared = (!has_room && whole > 1).then(|| shared_out(&in_columns, whole));
    let (mut sum, mut from) = (0.0, 0);
    for (place, (part, length)) in parts.iter().enumerate() {
        sum += length;
        let left = count - pen::cells(place + 1);
        let to = match &shared {
            Some(widths) => from + widths[place],
            None if has_room => ((sum / most * wide).round() as u16).clamp(from + 1, whole - left),
            None => from,
        };
        let (style, fill) = part_look(*part, look);
        let exact = |sum: f64| f64::from(columns.left) + sum / most * wide;
        let cells = columns.left + from..columns.left + to;
        pen.bar(y, cells, (exact(sum - length), exact(sum)), fill, style);
        from = to;
    }
    let largest = parts.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    if let (Some((part, _)), false) = (largest, has_room || shared.is_some()) {
        let ends = look.glyphs.lengths;
        let (style, fill) = part_look(*part, look);
        let end = (stack.total() / most * wide * ends.len() as f64).round().max(1.0) as usize;
        for x in 0..(end / ends.len()) as u16 {
            pen.cell(columns.left + x, y, fill, style);
        }
        if let Some(glyph) = (end % ends.len()).checked_sub(1).and_then(|rest| ends.get(rest)) {
            pen.end_of_bar(columns.left + (end / ends.len()) as u16, y, glyph, style);
        }
    }
}

fn part_look(place: usize, look: &Look) -> (Style, &'static str) {
    let (styles, fills) = (&look.theme.curves, &look.glyphs.fills);
    (styles[place % styles.len()], fills[place % fills.len()])
}

/// The legend's entries, of those parts that some stack has.
fn parts(stacks: &Stacks, look: &Look) -> Vec<Item> {
    let item = |(place, name): (usize, &String)| {
        let (style, fill) = part_look(place, look);
        Item::new(fill.repeat(2), style, name, look.theme.text)
    };
    present(stacks).map(item).collect()
}

fn present(stacks: &Stacks) -> impl Iterator<Item = (usize, &String)> {
    let has = |place: usize| {
        let mut lengths = stacks.stacks.iter().filter_map(move |stack| *stack.values.get(place)?);
        lengths.any(|length| length > 0.0)
    };
    stacks.parts.iter().enumerate().filter(move |(place, _)| has(*place))
}

fn total_text(stacks: &Stacks, stack: &Stack, look: &Look) -> String {
    let total = quantity(stack.total(), unit(&stacks.unit), &look.glyphs);
    let over = if stacks.is_over(stack) { " !" } else { "" };
    format!("{total}{over}")
}

impl Picture for Stacks {
    fn draw(&self, area: Rect, canvas: &mut Canvas, at: At<'_>, look: &Look) {
        let marked = at.view.mark.map(|mark| mark.within(1, self.stacks.len()).row);
        if area.is_empty() {
            return;
        }
        let theme = &look.theme;
        let Some(most) = self.extent() else {
            canvas.say(area, "all are empty", look);
            return;
        };
        let most = at.view.held.ends(0).fold(most, f64::max);
        let items = parts(self, look);
        let legend = match area.height {
            0..3 => 0,
            3..8 => legend::rows(&items, area.width, 1),
            _ => legend::rows(&items, area.width, 2),
        };
        let limited = u16::from(self.limit.is_some() && area.height >= legend + 3);
        let rest = area.height - legend - limited;
        // The sentence gives way to the stacks.
        let spare = rest - pen::cells(self.stacks.len()).min((3 * rest).div_ceil(4));
        let note = text::whole(&self.note, area.width, spare);
        let rows = rest - pen::cells(note.len());
        let texts: Vec<String> = self.stacks.iter().map(|of| total_text(self, of, look)).collect();
        let pitch = if self.stacks.len() * 2 <= usize::from(rows) { 2 } else { 1 };
        let columns = Columns::new(area, self, &texts, pitch);
        let fits = usize::from(rows / pitch);
        let shown = match self.stacks.len() {
            all if all <= fits => all,
            // A row is kept to say how many are left out.
            _ => fits.saturating_sub(1).max(1),
        };
        let first = marked.map_or(0, |marked| (marked + 1).saturating_sub(shown));
        let limit = self.limit.as_ref().filter(|limit| limit.at.is_finite());
        let limit =
            limit.map(|limit| (columns.at(limit.at / most), columns.exact(limit.at / most)));
        let mut y = area.y;
        let all = self.stacks.iter().zip(&texts).enumerate();
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        for (place, (stack, text)) in all.skip(first).take(shown) {
            let style = if marked == Some(place) { theme.selection } else { theme.text };
            pen.within(area.x, y, columns.labels, &stack.label, style);
            lengths(&mut pen, y, &columns, stack, most, look);
            let style = if self.is_over(stack) { theme.bad } else { theme.dim };
            let end = pen.text(columns.right + 1, y, text, style);
            if let Some((x, exact)) = limit {
                let rows = y..(y + pitch).min(area.y + rows);
                pen.upright(x, rows, exact, look.glyphs.change, theme.warn);
            }
            match columns.remarks {
                Remarks::AtRight => {
                    pen.text(end + 1, y, &stack.remark, style);
                }
                Remarks::Below => {
                    pen.text(columns.left, y + 1, &stack.remark, style);
                }
                Remarks::LeftOut => {}
            }
            y += pitch;
        }
        if shown < self.stacks.len() {
            let (below, all) = (first + shown, self.stacks.len());
            let more = format!("{} to {below} of {all}", first + 1);
            pen.text(area.x, y, &more, theme.dim);
            y += 1;
        }
        if let (Some((x, _)), Some(limit), 1) = (limit, &self.limit, limited) {
            let text = format!("{} {}", look.glyphs.change, limit.label);
            let wide = pen::width(&text);
            let x = x.min(area.right().saturating_sub(wide)).max(area.x);
            pen.text(x, y, &text, theme.warn);
            y += 1;
        }
        let last = area.bottom() - legend - pen::cells(note.len());
        let below = Rect { y: y.min(last), height: legend, ..area };
        legend::draw(below, canvas, &items, look);
        let mut pen = Pen::new(area, canvas, &look.glyphs);
        for (line, y) in note.iter().zip(below.bottom()..area.bottom()) {
            pen.text(area.x, y, line.trim_end(), theme.text);
        }
    }

    fn words(&self, _: &FrameView, glyphs: &Glyphs) -> String {
        let mut lines: Vec<String> = Vec::new();
        if !self.note.is_empty() {
            lines.push(self.note.clone());
        }
        let told = self.stacks.iter().take(READ_LINES);
        lines.extend(told.map(|of| stack(self, of, glyphs)));
        let more = self.stacks.len().saturating_sub(READ_LINES);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        if let Some(limit) = &self.limit {
            let at = quantity(limit.at, unit(&self.unit), glyphs);
            lines.push(format!("Limit: {at}, {}", limit.label));
        }
        lines.join("\n")
    }

    fn values(&self, lines: &mut Lines) {
        let parts = self.parts.iter().map(|part| csv::titled(part, &self.unit));
        let head = ["stack".to_owned()].into_iter().chain(parts);
        lines.line(head.chain(["remark".to_owned()]));
        for stack in &self.stacks {
            let value = |place: usize| csv::known(stack.values.get(place).copied().flatten());
            let values = (0..self.parts.len()).map(value);
            let head = [stack.label.clone()].into_iter().chain(values);
            lines.line(head.chain([stack.remark.clone()]));
        }
        if let Some(limit) = &self.limit {
            let none = self.parts.iter().skip(1).map(|_| String::new());
            let head = [format!("limit: {}", limit.label), csv::number(limit.at)].into_iter();
            lines.line(head.chain(none).chain([String::new()]));
        }
    }

    fn marked(&self, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
        let stack_at = self.stacks.get(view.mark?.within(1, self.stacks.len()).row)?;
        Some(stack(self, stack_at, glyphs))
    }

    fn places(&self, _: &FrameView) -> (usize, usize) {
        (1, self.stacks.len())
    }

    fn least(&self) -> (u16, u16) {
        (2 * LEAST.0, LEAST.1)
    }

    fn row_need(&self, _: At<'_>, width: u16, look: &Look) -> Option<RowNeed> {
        let around = legend::rows(&parts(self, look), width, 2) + u16::from(self.limit.is_some());
        Some(RowNeed::listed(self.stacks.len(), around).and(text::rows(&self.note, width)))
    }

    fn ranges(&self) -> Vec<AxisRange<'_>> {
        let range =
            |high| AxisRange { name: ("", &self.unit), scale: Scale::Linear, low: 0.0, high };
        self.extent().map(range).into_iter().collect()
    }

    fn page_size(&self, columns: u16) -> (u16, u16) {
        let rows = page_rows(self.stacks.len()).saturating_add(5);
        (columns, rows.saturating_add(text::rows(&self.note, columns)))
    }
}

/// One stack: its parts, what they come to, and whether that is too much.
fn stack(stacks: &Stacks, stack: &Stack, glyphs: &Glyphs) -> String {
    let unit = unit(&stacks.unit);
    let parts = stacks.parts.iter().zip(stack.lengths());
    let parts = parts.filter(|(_, length)| *length > 0.0);
    let parts: Vec<String> =
        parts.map(|(part, length)| format!("{part} {}", quantity(length, unit, glyphs))).collect();
    let total = quantity(stack.total(), unit, glyphs);
    let mut text = match parts.is_empty() {
        true => format!("{}: {total}", stack.label),
        false => format!("{}: {}; {total} in all", stack.label, parts.join(", ")),
    };
    if stacks.is_over(stack) {
        text.push_str(", over the limit");
    }
    if !stack.remark.is_empty() {
        text.push_str(&format!(", {}", stack.remark));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_too_many_parts_have_a_column() {
        assert_eq!(shared_out(&[1.33, 0.4, 0.39, 0.8], 3), [1, 1, 0, 1]);
        assert_eq!(shared_out(&[2.8, 0.03, 0.03, 0.03], 3), [3, 0, 0, 0]);
        assert_eq!(shared_out(&[0.5, 0.5, 0.5, 0.5], 2), [1, 1, 0, 0]);
    }

    #[test]
    fn the_legend_has_the_parts_that_some_stack_has() {
        let stack =
            |values: [f64; 3]| Stack { values: values.map(Some).to_vec(), ..Stack::default() };
        let stacks = Stacks {
            parts: ["weights", "optimizer state", "activations"].map(str::to_owned).to_vec(),
            stacks: vec![stack([1.0, 0.0, 0.0]), stack([1.0, 0.0, 2.0])],
            ..Stacks::default()
        };
        let names: Vec<_> = present(&stacks).collect();
        assert_eq!(names, [(0, &stacks.parts[0]), (2, &stacks.parts[2])]);
    }
}
