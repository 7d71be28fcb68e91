//! A timeline in words.

use mlsys_lab::frame::{Span, Timeline, Total};
use mlsys_lab::value::{number, significant};

use crate::glyphs::Glyphs;
use crate::quantity::{quantity, unit};

/// The lines of text: each bar with where it begins and ends, then what is marked, then the total with its peak.
pub(super) fn outline(timeline: &Timeline, glyphs: &Glyphs) -> Vec<String> {
    let unit = &timeline.unit;
    let spans = timeline.spans.iter();
    let mut lines: Vec<String> = spans.map(|of| span(timeline, of, glyphs)).collect();
    for mark in &timeline.marks {
        lines.push(format!("{} at {}", mark.label, place(mark.at, unit, glyphs)));
    }
    let total = timeline.total.as_ref();
    lines.extend(total.and_then(|total| peak(total, unit, glyphs)));
    lines
}

/// One bar: its lane, where it begins and ends, what it is and what it adds.
pub(super) fn span(timeline: &Timeline, span: &Span, glyphs: &Glyphs) -> String {
    let mut line = format!(
        "{}: {}, {}",
        name(&timeline.lanes, span.lane),
        range(span.start, span.end, &timeline.unit),
        name(&timeline.classes, span.class)
    );
    if !span.label.is_empty() {
        line.push_str(&format!(", {}", span.label));
    }
    if let Some(amount) = span.amount {
        let unit = timeline.total.as_ref().and_then(|total| unit(&total.unit));
        line.push_str(&format!(", {}", quantity(amount, unit, glyphs)));
    }
    line
}

/// The largest value of a total and where it is.
pub(super) fn peak(total: &Total, along: &str, glyphs: &Glyphs) -> Option<String> {
    let (at, value) = total.peak()?;
    let value = quantity(value, unit(&total.unit), glyphs);
    let name = &total.name;
    Some(format!("{name}: peak {value} at {}", place(at, along, glyphs)))
}

pub(super) fn name(names: &[String], place: usize) -> String {
    names.get(place).map_or(String::new(), String::clone)
}

/// A place on an axis: "operation 3", but "3 ms" as the axis writes it.
pub(super) fn place(at: f64, unit: &str, glyphs: &Glyphs) -> String {
    match unit {
        "seconds" => quantity(significant(at, 4), Some(unit), glyphs),
        unit => with_unit(&number(at), unit),
    }
}

fn with_unit(at: &str, unit: &str) -> String {
    match unit {
        "" => at.to_owned(),
        unit if unit.ends_with('s') => format!("{at} {unit}"),
        unit => format!("{unit} {at}"),
    }
}

/// A stretch of an axis: "operation 3 to 9", but "3 to 9 seconds".
fn range(start: f64, end: f64, unit: &str) -> String {
    with_unit(&format!("{} to {}", number(start), number(end)), unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;
    use crate::panel::tests::structures::lifetimes;

    #[test]
    fn the_ends_of_a_bar_are_places_on_its_axis() {
        let glyphs = Glyphs::new(GlyphSet::Ascii);
        let mut of = lifetimes();
        assert_eq!(
            outline(&of, &glyphs)[2],
            "layer1.relu: operation 2 to 9, kept, relu 12 kB, 12.29 kB"
        );
        of.unit = "seconds".to_owned();
        assert!(outline(&of, &glyphs)[2].starts_with("layer1.relu: 2 to 9 seconds, kept"));
    }
}
