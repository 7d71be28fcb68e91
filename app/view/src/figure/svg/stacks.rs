//! Stacked lengths on one axis, with the line that no stack should pass.

use mlsys_lab::frame::Stacks;

use super::page::{Anchor, LINE, MARGIN, Page, Sample, WIDTH, cut, short, width};
use crate::figure::axis::Axis;
use crate::figure::unit;
use crate::figure::{glyphs, ink, quantity};

/// Stacks of one figure; the file of values has them all.
const MOST: usize = 120;

/// Draws one row a stack: label, parts, what they come to; an axis below, then what the parts are.
pub(super) fn draw(page: &mut Page, stacks: &Stacks) {
    let unit = unit(&stacks.unit);
    let shown = &stacks.stacks[..stacks.stacks.len().min(MOST)];
    let said: Vec<String> = shown
        .iter()
        .map(|stack| {
            let total = quantity(stack.total(), unit, &glyphs());
            let over = if stacks.is_over(stack) { ", over the limit" } else { "" };
            match cut(&stack.remark, 24).as_str() {
                "" => format!("{total}{over}"),
                remark => format!("{total}{over} ({remark})"),
            }
        })
        .collect();
    let widest = |texts: &mut dyn Iterator<Item = String>| {
        texts.map(|text| width(&text)).fold(0.0, f64::max)
    };
    let labels = widest(&mut shown.iter().map(|stack| cut(&stack.label, 40)));
    let beside = widest(&mut said.iter().cloned());
    let left = MARGIN + labels + 10.0;
    let right = (WIDTH - MARGIN - beside - 10.0).max(left + 100.0);
    let axis = Axis::around(0.0, stacks.extent().unwrap_or(1.0), mlsys_lab::schema::Scale::Linear);
    let across = |value: f64| axis.share(value).map(|share| left + share * (right - left));
    let top = page.y;
    let bottom = top + shown.len() as f64 * (LINE + 4.0) + 6.0;
    let mut free = 0.0;
    for (value, label) in axis.ticks(6, unit, &glyphs()) {
        let Some(x) = across(value) else { continue };
        page.line((x, top), (x, bottom), ink::GRID, "none");
        if x - width(&label) / 2.0 > free {
            page.text((x, bottom + 16.0), Anchor::Middle, &label, ink::INK);
            free = x + width(&label) / 2.0 + 6.0;
        }
    }
    for (row, (stack, said)) in shown.iter().zip(&said).enumerate() {
        let y = top + 6.0 + row as f64 * (LINE + 4.0);
        page.text((left - 8.0, y + 12.0), Anchor::End, &cut(&stack.label, 40), ink::INK);
        let mut sum = 0.0;
        for (part, length) in stack.lengths().enumerate() {
            let ends = (across(sum), across(sum + length));
            sum += length;
            if let ((Some(from), Some(to)), true) = (ends, length > 0.0) {
                let (from, to, y) = (short(from), short(to), short(y));
                let d = format!("M{from} {y}H{to}v14H{from}z");
                page.shape(&d, ink::color(part), ink::PAPER);
                // The number that the part has in the legend: its colour alone says nothing to many.
                let number = (part + 1).to_string();
                if to - from >= width(&number) + 4.0 {
                    let middle = ((from + to) / 2.0, y + 11.0);
                    page.text(middle, Anchor::Middle, &number, ink::PAPER);
                }
            }
        }
        page.text((right + 10.0, y + 12.0), Anchor::Start, said, ink::INK);
    }
    let zero = across(0.0).unwrap_or(left);
    page.line((zero, top), (zero, bottom), ink::INK, "none");
    page.y = bottom + 34.0;
    if let Some(limit) = &stacks.limit
        && let Some(x) = across(limit.at)
    {
        page.line((x, top - 4.0), (x, bottom), ink::INK, "4 3");
        page.text((x, page.y), Anchor::Middle, &cut(&limit.label, 40), ink::INK);
        page.y += LINE;
    }
    let items = stacks.parts.iter().enumerate();
    let items: Vec<(Sample, String)> = items
        .map(|(part, name)| {
            let name = format!("{} {}", part + 1, cut(name, 40));
            (Sample::Field(ink::color(part)), name)
        })
        .collect();
    page.legend(&items);
    if !stacks.note.is_empty() {
        page.text((MARGIN, page.y), Anchor::Start, &cut(&stacks.note, 110), ink::INK);
        page.y += LINE;
    }
}
