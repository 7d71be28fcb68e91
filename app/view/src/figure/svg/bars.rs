//! Labelled lengths on one axis.

use mlsys_lab::frame::{Bar, Bars};
use mlsys_lab::schema::Scale;

use super::page::{Anchor, LINE, MARGIN, Page, WIDTH, cut, short, width};
use super::plot::named;
use crate::figure::axis::Axis;
use crate::figure::unit;
use crate::figure::{glyphs, ink, quantity};

/// The bars of one figure; the file of values has them all.
const MOST: usize = 120;

/// Draws one row a bar: label, length, value and remark, and an axis below.
pub(super) fn draw(page: &mut Page, bars: &Bars) {
    let unit = unit(&bars.unit);
    let shown: Vec<&Bar> = bars.bars.iter().take(MOST).collect();
    let label = |bar: &Bar| cut(&bar.label, 40);
    let widest = shown.iter().map(|bar| width(&label(bar))).fold(0.0, f64::max);
    let said: Vec<String> = shown.iter().map(|bar| said(bar, bars.scale, unit)).collect();
    let beside = said.iter().map(|text| width(text)).fold(0.0, f64::max);
    let left = MARGIN + widest + 10.0;
    let right = (WIDTH - MARGIN - beside - 10.0).max(left + 100.0);
    let axis = axis(&shown, bars.scale);
    let top = page.y;
    let bottom = top + shown.len() as f64 * (LINE + 4.0) + 6.0;
    let across = |value: f64| Some(left + axis.share(value)? * (right - left));
    let mut free = 0.0;
    for (value, label) in axis.ticks(6, unit, &glyphs()) {
        let Some(x) = across(value) else { continue };
        page.line((x, top), (x, bottom), ink::GRID, "none");
        if x - width(&label) / 2.0 > free {
            page.text((x, bottom + 16.0), Anchor::Middle, &label, ink::INK);
            free = x + width(&label) / 2.0 + 6.0;
        }
    }
    let zero = across(0.0).unwrap_or(left);
    for (row, (bar, said)) in shown.iter().zip(&said).enumerate() {
        let y = top + 6.0 + row as f64 * (LINE + 4.0);
        page.text((left - 8.0, y + 12.0), Anchor::End, &label(bar), ink::INK);
        if let Some(x) = bar.value.filter(|x| x.is_finite()).and_then(across) {
            let (from, to) = (zero.min(x), zero.max(x));
            let d = format!("M{} {}H{}v14H{}z", short(from), short(y), short(to), short(from));
            if bar.remark == "modelled" {
                page.shape(&d, ink::PAPER, ink::color(0));
            } else {
                page.fill(&d, ink::color(usize::from(x < zero)));
            }
        }
        page.text((right + 10.0, y + 12.0), Anchor::Start, said, ink::INK);
    }
    page.line((zero, top), (zero, bottom), ink::INK, "none");
    page.y = bottom + 34.0;
    let axis_name = named("", unit);
    if !axis_name.is_empty() {
        page.text((f64::midpoint(left, right), page.y), Anchor::Middle, &axis_name, ink::DIM);
        page.y += LINE;
    }
    if bars.bars.len() > MOST {
        let more = format!("and {} more bars", bars.bars.len() - MOST);
        page.text((MARGIN, page.y), Anchor::Start, &more, ink::DIM);
        page.y += LINE;
    }
}

/// The axis that holds all values and, if it is linear, zero.
fn axis(bars: &[&Bar], scale: Scale) -> Axis {
    let values = bars.iter().filter_map(|bar| bar.value).filter(|x| x.is_finite());
    let values = values.filter(|x| match scale {
        Scale::Linear => true,
        Scale::Log => *x > 0.0,
    });
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    match scale {
        _ if low > high => Axis::around(0.0, 1.0, Scale::Linear),
        Scale::Linear => Axis::around(low.min(0.0), high.max(0.0), Scale::Linear),
        // Half of the smallest, so that the smallest still has a length.
        Scale::Log => Axis::around(low / 2.0, high, Scale::Log),
    }
}

/// The value beside a bar, and its remark.
fn said(bar: &Bar, scale: Scale, unit: Option<&str>) -> String {
    let value = match (bar.value.filter(|x| x.is_finite()), scale) {
        (None, _) => "not finite".to_owned(),
        (Some(x), Scale::Log) if x <= 0.0 => {
            format!("{} (not on a log axis)", quantity(x, unit, &glyphs()))
        }
        (Some(x), Scale::Linear | Scale::Log) => quantity(x, unit, &glyphs()),
    };
    match cut(&bar.remark, 24).as_str() {
        "" => value,
        remark => format!("{value} ({remark})"),
    }
}
