//! A field of numbers: over the plane with points on it, or between categories with its numbers in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mlsys_lab::frame::HeatMap;
use mlsys_lab::value::number;

use super::marks::mark;
use super::page::{Anchor, LINE, MARGIN, Page, Sample, WIDTH, cut, short, width};
use crate::figure::ink;

/// Shades of a field: as many as the eye tells apart, and few enough to share paths.
const SHADES: u32 = 32;
/// Cells beyond this are not drawn; the file of values has them.
const MOST: usize = 250_000;
/// Between categories, numbers stand in the cells up to so many of them.
const NUMBERED: usize = 900;

/// Draws the field with its scale, its points and its labels.
pub(super) fn draw(page: &mut Page, map: &HeatMap) {
    let cells = map.columns.checked_mul(map.rows);
    if !cells.is_some_and(|cells| cells > 0 && cells <= map.cells.len().min(MOST)) {
        let text = "an empty field, or one too large to draw";
        page.text((MARGIN, page.y), Anchor::Start, text, ink::DIM);
        page.y += LINE;
        return;
    }
    let labels = map.row_labels.iter().take(map.rows).map(|l| width(&cut(l, 24)));
    let left = MARGIN + labels.fold(30.0, f64::max) + 10.0;
    let is_matrix = !map.column_labels.is_empty() && !map.row_labels.is_empty();
    /// The height of a field that is not wide.
    const HIGHEST: f64 = 420.0;
    let room = WIDTH - MARGIN - left;
    let ratio = proportion(map, is_matrix);
    let high = HIGHEST.min(room / ratio);
    let wide = high * ratio;
    let top = page.y + if is_matrix { LINE } else { 4.0 };
    let size = (wide / map.columns as f64, high / map.rows as f64);
    fields(page, map, (left, top), size);
    let frame = format!(
        "M{} {}h{}v{}h{}z",
        short(left),
        short(top),
        short(wide),
        short(high),
        short(-wide)
    );
    page.stroke(&frame, ink::INK, 1.0, "none");
    if is_matrix {
        categories(page, map, (left, top), size);
        page.y = top + high + LINE;
    } else {
        edges(page, map, (left, top), (wide, high));
        points(page, map, (left, top), (wide, high));
        page.y = top + high + 2.0 * LINE;
    }
    scale(page, map);
}

/// How wide the field is for its height.
fn proportion(map: &HeatMap, is_matrix: bool) -> f64 {
    let ratio = if is_matrix {
        map.columns as f64 / map.rows as f64
    } else {
        f64::from(map.x.1 - map.x.0).abs() / f64::from(map.y.1 - map.y.0).abs()
    };
    if ratio.is_finite() && ratio > 0.0 { ratio.clamp(0.4, 4.0) } else { 1.0 }
}

/// The share of the scale; absent for a value that is not finite.
fn share(map: &HeatMap, value: f32) -> Option<f32> {
    let share = (value - map.low) / (map.high - map.low);
    share.is_finite().then(|| share.clamp(0.0, 1.0))
}

/// The cells, those of one shade side by side as one rectangle, and all of one shade as one path.
fn fields(page: &mut Page, map: &HeatMap, (left, top): (f64, f64), (wide, high): (f64, f64)) {
    let shade = |value: f32| share(map, value).map(|s| (s * (SHADES - 1) as f32).round() as u32);
    let mut paths: BTreeMap<Option<u32>, String> = BTreeMap::new();
    for (row, cells) in map.cells.chunks(map.columns).take(map.rows).enumerate() {
        let mut column = 0;
        for run in cells.chunk_by(|a, b| shade(*a) == shade(*b)) {
            let d = paths.entry(run.first().and_then(|value| shade(*value))).or_default();
            let x = left + column as f64 * wide;
            let y = top + row as f64 * high;
            let (across, down) = (short(run.len() as f64 * wide), short(high));
            let _ = write!(d, "M{} {}h{across}v{down}h{}z", short(x), short(y), -across);
            column += run.len();
        }
    }
    for (shade, d) in paths {
        match shade {
            Some(shade) => page.fill(&d, &ink::amount(shade as f32 / (SHADES - 1) as f32)),
            None => page.shape(&d, ink::PAPER, ink::BAD),
        }
    }
}

/// Labels of rows and columns, and the numbers in the cells where there is room.
fn categories(page: &mut Page, map: &HeatMap, (left, top): (f64, f64), (wide, high): (f64, f64)) {
    let every = |size: f64, needed: f64| (needed / size.max(0.1)).ceil().max(1.0) as usize;
    let widest = map.column_labels.iter().take(map.columns).map(|l| width(&cut(l, 10)));
    let across = every(wide, widest.fold(8.0, f64::max) + 4.0);
    for (column, label) in map.column_labels.iter().take(map.columns).enumerate().step_by(across) {
        let x = left + (column as f64 + 0.5) * wide;
        page.text((x, top - 5.0), Anchor::Middle, &cut(label, 10), ink::INK);
    }
    for (row, label) in map.row_labels.iter().take(map.rows).enumerate().step_by(every(high, 14.0))
    {
        let y = top + (row as f64 + 0.5) * high + 4.0;
        page.text((left - 6.0, y), Anchor::End, &cut(label, 24), ink::INK);
    }
    if map.columns * map.rows > NUMBERED {
        return;
    }
    let cells = map.cells.iter().take(map.columns * map.rows);
    let texts: Vec<String> = cells.clone().map(|value| said(*value)).collect();
    // All or none: numbers that stand in some cells only would say something else.
    if high <= 11.0 || texts.iter().any(|text| width(text) >= wide) {
        return;
    }
    for (place, (value, text)) in cells.zip(&texts).enumerate() {
        let (row, column) = (place / map.columns, place % map.columns);
        let x = left + (column as f64 + 0.5) * wide;
        let y = top + (row as f64 + 0.5) * high + 4.0;
        let color = share(map, *value).map_or(ink::BAD, ink::on);
        page.text((x, y), Anchor::Middle, text, color);
    }
}

/// A cell's number, short; a dot for 0.
fn said(value: f32) -> String {
    if value == 0.0 { "·".to_owned() } else { number((f64::from(value) * 100.0).round() / 100.0) }
}

/// What the columns and rows span.
fn edges(page: &mut Page, map: &HeatMap, (left, top): (f64, f64), (wide, high): (f64, f64)) {
    let said = |x: f32| number((f64::from(x) * 100.0).round() / 100.0);
    let below = top + high + 16.0;
    page.text((left, below), Anchor::Start, &said(map.x.0), ink::INK);
    page.text((left + wide, below), Anchor::End, &said(map.x.1), ink::INK);
    page.text((left - 6.0, top + 10.0), Anchor::End, &said(map.y.1), ink::INK);
    page.text((left - 6.0, top + high), Anchor::End, &said(map.y.0), ink::INK);
}

/// The points, each the mark of its class.
fn points(page: &mut Page, map: &HeatMap, (left, top): (f64, f64), (wide, high): (f64, f64)) {
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    for point in map.points.iter().take(5000) {
        let x = (point.x - map.x.0) / (map.x.1 - map.x.0);
        let y = (map.y.1 - point.y) / (map.y.1 - map.y.0);
        *counts.entry(point.class).or_default() += 1;
        if (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y) {
            let at = (left + f64::from(x) * wide, top + f64::from(y) * high);
            let place = usize::from(point.class);
            page.shape(&mark(place, at), ink::color(place + 1), ink::PAPER);
        }
    }
    page.y = top + high + 2.0 * LINE;
    let entries = counts.iter().take(12).enumerate();
    for (column, (class, count)) in entries {
        let y = top + 10.0 + column as f64 * LINE;
        let x = left + wide + 16.0;
        let place = usize::from(*class);
        page.shape(&mark(place, (x, y - 4.0)), ink::color(place + 1), ink::PAPER);
        let text = format!("class {class}: {count} points");
        page.text((x + 10.0, y), Anchor::Start, &text, ink::INK);
    }
}

/// The scale from low to high with what it measures.
fn scale(page: &mut Page, map: &HeatMap) {
    const STEPS: u32 = 11;
    let mut x = MARGIN;
    let said = number(f64::from(map.low));
    page.text((x, page.y + 4.0), Anchor::Start, &said, ink::INK);
    x += width(&said) + 6.0;
    for step in 0..STEPS {
        let d = format!("M{} {}h16v12h-16z", short(x), short(page.y - 6.0));
        page.fill(&d, &ink::amount(step as f32 / (STEPS - 1) as f32));
        x += 16.0;
    }
    let said = format!("{}   {}", number(f64::from(map.high)), cut(&map.legend, 80));
    page.text((x + 6.0, page.y + 4.0), Anchor::Start, &said, ink::INK);
    page.y += LINE;
    let holes = map.cells.iter().filter(|x| !x.is_finite()).count();
    if holes > 0 {
        let text = format!("{holes} cells are not finite: white with a red edge");
        page.legend(&[(Sample::Field(ink::PAPER), text)]);
    }
}
