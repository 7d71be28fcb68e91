//! The values behind bars, all in one form.

use mlsys_lab::frame::{Bar, Bars};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::Value;

use crate::panel::quantity;
use crate::quantity::column::{COUNTED, Column, Number, Scalable};
use crate::quantity::{NONE, Prefix, singular};
use crate::theme::Look;

/// Digits of a value that is not a short count.
const DIGITS: usize = 4;

/// A value as a bar has it: four digits, and all of a count that is short.
fn shortened(value: f64, unit: Option<&str>) -> Option<Number> {
    let is_count = scalable(unit) == Scalable::Count && value.fract() == 0.0;
    match is_count && value.abs() < COUNTED {
        true => Number::new(&Value::Int(value as i64)),
        false => Number::rounded(value, DIGITS),
    }
}

/// What may stand in front of a unit.
pub(super) fn scalable(unit: Option<&str>) -> Scalable<'_> {
    match unit {
        Some(unit) if Prefix::for_size(1e4, Some(unit)).letter().is_some() => Scalable::Unit(unit),
        Some(unit @ ("seconds" | "s" | "joules" | "J")) => Scalable::Unit(unit),
        Some("%") => Scalable::Not,
        Some(_) | None => Scalable::Count,
    }
}

/// The values, all in one form, with the unit where there is one.
pub(super) fn value_texts(bars: &Bars, unit: Option<&str>, look: &Look) -> Vec<String> {
    let is_drawn = |value: f64| value.is_finite() && (bars.scale == Scale::Linear || value > 0.0);
    let number = |bar: &Bar| {
        bar.value.filter(|value| is_drawn(*value)).and_then(|value| shortened(value, unit))
    };
    let scalable = scalable(unit);
    let column = |numbers: &[Option<Number>]| {
        let known: Vec<Number> = numbers.iter().flatten().cloned().collect();
        Column::with_prefix(&known, scalable)
    };
    let mut numbers: Vec<Option<Number>> = bars.bars.iter().map(number).collect();
    if column(&numbers).prefix().is_some() {
        // A count that is not written whole has as few digits as others.
        let rounded = |number: &Option<Number>| Number::rounded(number.as_ref()?.value, DIGITS);
        numbers = numbers.iter().map(rounded).collect();
    }
    let column = column(&numbers);
    let prefix = column.prefix();
    let text = |number: &Number| {
        let digits = column.text(number);
        let suffix = match (scalable, prefix) {
            (Scalable::Unit(_) | Scalable::Not, prefix) => {
                prefix.unwrap_or(NONE).suffix(unit, &look.glyphs)
            }
            (Scalable::Count, Some(prefix)) => {
                let letter = prefix.suffix(Some(""), &look.glyphs);
                return format!("{digits} {letter} {}", unit.unwrap_or("")).trim_end().to_owned();
            }
            (Scalable::Count, None) => NONE.suffix(unit, &look.glyphs),
        };
        let suffix = if digits.trim_end() == "1" { singular(&suffix) } else { suffix };
        // Without a unit the spaces behind a number keep its point in place.
        if suffix.is_empty() { digits } else { format!("{digits} {suffix}") }
    };
    let texts = bars.bars.iter().zip(&numbers).map(|(bar, known)| match (bar.value, known) {
        (Some(_), Some(number)) => text(number),
        (Some(x), None) if x.is_finite() => {
            format!("{} (not on a log axis)", quantity(x, unit, &look.glyphs))
        }
        (Some(_) | None, _) => format!("{} not finite", look.glyphs.not_finite),
    });
    texts.collect()
}
