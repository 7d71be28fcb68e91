//! Numbers with units, short enough for a chart.

pub(crate) mod column;

use mlsys_lab::value::{number, significant, unit_symbol};

use crate::glyphs::Glyphs;

/// A value with its unit to four significant digits, such as `12.5 ms`, `4.87 kB` or `0.031 nats`; a count in a unit
/// that takes no prefix keeps all its digits.
pub fn quantity(value: f64, unit: Option<&str>, glyphs: &Glyphs) -> String {
    /// Up to here every whole number is a number of its own.
    const COUNTED: f64 = 9_007_199_254_740_992.0;
    let prefix = Prefix::for_size(value.abs(), unit);
    let text = if prefix == NONE && value.fract() == 0.0 && value.abs() < COUNTED {
        format!("{:.0}", value + 0.0)
    } else {
        number(significant(value / prefix.factor, 4))
    };
    match prefix.suffix(unit, glyphs) {
        suffix if suffix.is_empty() => text,
        suffix if text == "1" && prefix == NONE => format!("{text} {}", singular(&suffix)),
        suffix => format!("{text} {suffix}"),
    }
}

/// A share as its percentage to three significant digits, such as `12.5 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", number(significant(100.0 * share, 3)))
}

/// What one of a unit is called whose name, or its part before ` a `, is a single word in the plural.
pub(crate) fn singular(unit: &str) -> String {
    let (counted, each) = unit.split_at(unit.find(" a ").unwrap_or(unit.len()));
    let one = match counted.strip_suffix('s') {
        Some(stem) if stem.len() < 3 || !counted.chars().all(char::is_alphabetic) => counted,
        Some(stem) => stem.strip_suffix("se").map_or(stem, |_| &stem[..stem.len() - 1]),
        None => counted,
    };
    format!("{one}{each}")
}

/// The unit of a frame, where an empty text stands for none.
pub(crate) fn unit(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prefix {
    /// What the value is divided by.
    pub factor: f64,
    letter: char,
}

pub(crate) const NONE: Prefix = Prefix { factor: 1.0, letter: ' ' };

/// From the smallest; the blank stands for none.
const PREFIXES: [(f64, char); 10] = [
    (1e-9, 'n'),
    (1e-6, 'u'),
    (1e-3, 'm'),
    (1.0, ' '),
    (1e3, 'k'),
    (1e6, 'M'),
    (1e9, 'G'),
    (1e12, 'T'),
    (1e15, 'P'),
    (1e18, 'E'),
];

impl Prefix {
    /// The prefix for values up to a size. Units that do not take prefixes keep none.
    pub fn for_size(size: f64, unit: Option<&str>) -> Self {
        let steps = match unit {
            Some("seconds" | "s" | "joules" | "J") => &PREFIXES[..4],
            Some("bytes" | "B" | "flops") => &PREFIXES[3..9],
            Some(unit) if unit.ends_with("/s") => &PREFIXES[3..9],
            Some(_) | None => return NONE,
        };
        let fitting = steps.iter().rev().find(|(factor, _)| size >= *factor);
        let smallest = if size == 0.0 { None } else { steps.first() };
        match fitting.or(smallest) {
            Some(&(factor, letter)) => Self { factor, letter },
            None => NONE,
        }
    }

    /// The prefix that a written unit begins with, and the rest of it.
    pub(crate) fn split(unit: &str) -> Option<(Self, &str)> {
        let first = unit.chars().next()?;
        let letter = if first == 'µ' { 'u' } else { first };
        let (factor, letter) = PREFIXES.into_iter().find(|(_, other)| *other == letter)?;
        (letter != ' ').then(|| (Self { factor, letter }, &unit[first.len_utf8()..]))
    }

    pub fn letter(self) -> Option<char> {
        (self.letter != ' ').then_some(self.letter)
    }

    /// The unit with the prefix, as it stands behind a number.
    pub fn suffix(self, unit: Option<&str>, glyphs: &Glyphs) -> String {
        let Some(unit) = unit.map(unit_symbol) else { return String::new() };
        match self.letter {
            ' ' => unit.to_owned(),
            'u' => format!("{}{unit}", glyphs.micro),
            letter => format!("{letter}{unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;

    #[test]
    fn units_take_the_prefix_that_people_use() {
        let glyphs = Glyphs::new(GlyphSet::Unicode);
        for (value, unit, text) in [
            (0.0125, Some("seconds"), "12.5 ms"),
            (0.000_001_5, Some("seconds"), "1.5 µs"),
            (90.0, Some("seconds"), "90 s"),
            (0.0125, Some("s"), "12.5 ms"),
            (3.078e-6, Some("joules"), "3.078 µJ"),
            (0.0, Some("seconds"), "0 s"),
            (4872.0, Some("bytes"), "4.872 kB"),
            (53248.0, Some("B"), "53.25 kB"),
            (9.1e13, Some("flop/s"), "91 TFLOP/s"),
            (0.031_249_9, Some("nats"), "0.03125 nats"),
            (-0.5, None, "-0.5"),
            (262_144.0, Some("parameters"), "262144 parameters"),
            (-0.0, Some("parameters"), "0 parameters"),
            (1.0, Some("tokens"), "1 token"),
            (1.0, Some("passes"), "1 pass"),
            (1.0, Some("flops"), "1 FLOP"),
            (1.0, Some("seconds"), "1 s"),
            (1.0, Some("hertz"), "1 hertz"),
            (76.5, Some("flops/byte"), "76.5 FLOP/B"),
            (1.0, Some("slots used"), "1 slots used"),
            (1.0, Some("bits a weight"), "1 bit a weight"),
            (1.5, Some("days"), "1.5 days"),
            (f64::MAX, Some("bytes"), "1.798e293 PB"),
        ] {
            assert_eq!(quantity(value, unit, &glyphs), text);
        }
        let ascii = Glyphs::new(GlyphSet::Ascii);
        assert_eq!(quantity(2e-6, Some("seconds"), &ascii), "2 us");
    }
}
