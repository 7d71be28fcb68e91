//! How the numbers of a column are written: all of them with one prefix, or all of them with powers of ten, and so that
//! their points stand below each other.

use std::ops::Range;

use mlsys_lab::value::{Value, number, significant};

use crate::quantity::{NONE, Prefix};

/// Digits of the smallest number where there is room.
const DIGITS: i32 = 4;
/// Decimals that a number has at most.
const MOST: i32 = 6;
/// Figures of a number that is read without counting them.
const LEGIBLE: usize = 12;
/// Whole numbers below this are written with all their figures.
pub(crate) const COUNTED: f64 = 1e7;
/// The sizes of numbers that are read better without a power of ten, also next to some with one.
const PLAIN: Range<f64> = 0.01..1e4;
/// How many times the smallest number the largest is at most, if both have one prefix.
const RANGE: f64 = 1e7;
/// The largest number is below this with a prefix that is chosen for the sake of the smallest.
const LARGE: f64 = 1e4;

/// A number, and the decimals that it has as it is written by itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) decimals: i32,
    text: String,
}

impl Number {
    /// Nothing for what is no finite number.
    pub(crate) fn new(value: &Value) -> Option<Self> {
        let size = value.as_f64().filter(|size| size.is_finite())?;
        let text = value.to_string();
        Some(Self { value: size, decimals: decimals(&text), text })
    }

    /// Rounded to a number of significant digits.
    pub(crate) fn rounded(value: f64, digits: usize) -> Option<Self> {
        Self::new(&Value::Float(significant(value, digits)))
    }

    /// Whether it is written without a power of ten, and with as few figures as can be read.
    pub(crate) fn is_read_at_a_glance(&self) -> bool {
        let has_power = self.value.abs() >= COUNTED && self.text.contains('e');
        !has_power && self.text.trim_start_matches('-').len() <= LEGIBLE
    }
}

/// The digits behind the point of a number as it is written; with a power of ten those that it would have without.
pub(crate) fn decimals(text: &str) -> i32 {
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    let behind = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    let power: i32 = power.parse().unwrap_or(0);
    (i32::try_from(behind).unwrap_or(i32::MAX)).saturating_sub(power).max(0)
}

/// What a column may have in front of its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalable<'a> {
    /// Nothing: its unit has a prefix, or takes none.
    Not,
    /// Thousands, millions and so on: it counts something.
    Count,
    /// The prefixes of a unit.
    Unit(&'a str),
}

impl Scalable<'_> {
    fn prefix(self, size: f64) -> Prefix {
        match self {
            Self::Not => NONE,
            Self::Count => Prefix::for_size(size, Some("B")),
            Self::Unit(unit) => Prefix::for_size(size, Some(unit)),
        }
    }
}

/// How each number of a column is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Divided by what the prefix stands for, with at most these decimals.
    Prefixed { prefix: Prefix, decimals: usize },
    /// Very small and very large ones with a power of ten each, with at most these decimals.
    Powers { decimals: usize },
    /// As it stands by itself: the rows are quantities of several kinds.
    Alone,
}

/// The form of a column's numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    form: Form,
    /// Columns from the point on.
    tail: usize,
}

impl Default for Column {
    fn default() -> Self {
        Self { form: Form::Alone, tail: 0 }
    }
}

impl Column {
    /// The form of numbers that have the room they like: as they are, where they are read so.
    pub(crate) fn new(numbers: &[Number], scalable: Scalable<'_>) -> Self {
        let own = plain(numbers).filter(|_| !is_tiny(numbers, scalable));
        Self::of(own.unwrap_or_else(|| shortest(numbers, scalable)), numbers)
    }

    /// As [`Column::new`], with the prefix of a unit where it has one for numbers of this size.
    pub(crate) fn with_prefix(numbers: &[Number], scalable: Scalable<'_>) -> Self {
        match (scalable, ends(numbers)) {
            (Scalable::Unit(_), Some((_, most))) if scalable.prefix(most) != NONE => {
                Self::of(shortest(numbers, scalable), numbers)
            }
            (Scalable::Unit(_) | Scalable::Count | Scalable::Not, _) => {
                Self::new(numbers, scalable)
            }
        }
    }

    /// Numbers that are quantities of several kinds, each as it stands by itself.
    pub(crate) fn of_several_kinds(numbers: &[Number]) -> Self {
        Self::of(Form::Alone, numbers)
    }

    /// The form that leaves most of them in a width; nothing where there is none.
    pub(crate) fn within(numbers: &[Number], scalable: Scalable<'_>, width: usize) -> Option<Self> {
        let natural = Self::new(numbers, scalable);
        if natural.width(numbers) <= width {
            return Some(natural);
        }
        let usual = (1..=DIGITS).rev().flat_map(|digits| forms(numbers, scalable, digits));
        let powers = [2, 1, 0].map(|decimals| Form::Powers { decimals }).into_iter();
        let mut all = usual.chain(powers).map(|form| Self::of(form, numbers));
        all.find(|column| column.width(numbers) <= width)
    }

    /// The least width in which the smallest number keeps some digits.
    pub(crate) fn least_width(numbers: &[Number], scalable: Scalable<'_>, digits: i32) -> usize {
        let forms = forms(numbers, scalable, digits).into_iter();
        let widths = forms.map(|form| Self::of(form, numbers).width(numbers));
        let natural = Self::new(numbers, scalable).width(numbers);
        widths.min().map_or(natural, |width| width.min(natural))
    }

    fn of(form: Form, numbers: &[Number]) -> Self {
        let tails = numbers.iter().map(|number| split(&written(form, number)).1.len());
        let tail = match form {
            Form::Prefixed { .. } | Form::Alone => tails.max().unwrap_or(0),
            // Next to powers of ten there is no point to stand below.
            Form::Powers { .. } => 0,
        };
        Self { form, tail }
    }

    pub(crate) fn width(&self, numbers: &[Number]) -> usize {
        numbers.iter().map(|number| self.text(number).len()).max().unwrap_or(0)
    }

    /// What all numbers are divided by, if that is to be said.
    pub(crate) fn prefix(&self) -> Option<Prefix> {
        match self.form {
            Form::Prefixed { prefix, .. } => Some(prefix).filter(|prefix| *prefix != NONE),
            Form::Powers { .. } | Form::Alone => None,
        }
    }

    /// A number. Digits that it does not have are spaces: a zero behind a value that was rounded before would be wrong.
    pub(crate) fn text(&self, number: &Number) -> String {
        let text = written(self.form, number);
        let missing = self.tail.saturating_sub(split(&text).1.len());
        text + &" ".repeat(missing)
    }
}

/// What stands before the point of a number, or its power, and the rest.
fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find(['.', 'e']).unwrap_or(text.len()))
}

fn written(form: Form, of: &Number) -> String {
    match form {
        Form::Alone => of.text.clone(),
        Form::Prefixed { prefix, decimals: most } if prefix == NONE => {
            let own = usize::try_from(of.decimals).unwrap_or(0);
            if own <= most && !of.text.contains('e') {
                return of.text.clone();
            }
            unsigned_zero(format!("{:.*}", own.min(most), of.value))
        }
        Form::Prefixed { prefix, decimals: most } => {
            let scaled = of.value / prefix.factor;
            let own = usize::try_from(decimals(&number(scaled))).unwrap_or(0);
            unsigned_zero(format!("{scaled:.*}", own.min(most)))
        }
        Form::Powers { .. } if of.value == 0.0 => "0".to_owned(),
        Form::Powers { decimals } if PLAIN.contains(&of.value.abs()) => {
            number(significant(of.value, decimals + 2))
        }
        Form::Powers { decimals } => {
            let text = format!("{:.decimals$e}", of.value);
            match text.split_once('e') {
                Some((digits, power)) if digits.contains('.') => {
                    let digits = digits.trim_end_matches('0').trim_end_matches('.');
                    format!("{digits}e{power}")
                }
                Some(_) | None => text,
            }
        }
    }
}

/// What rounds to zero has no sign.
pub(crate) fn unsigned_zero(text: String) -> String {
    let is_zero = text.chars().all(|letter| matches!(letter, '-' | '0' | '.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// The sizes of the smallest and of the largest number, without zeros.
fn ends(numbers: &[Number]) -> Option<(f64, f64)> {
    let sizes = numbers.iter().map(|number| number.value.abs()).filter(|size| *size > 0.0);
    sizes.fold(None, |ends, size| {
        let (least, most) = ends.unwrap_or((size, size));
        Some((least.min(size), most.max(size)))
    })
}

fn power(size: f64) -> i32 {
    size.log10().floor() as i32
}

/// Whether all numbers are so small that the unit with a prefix is read better.
fn is_tiny(numbers: &[Number], scalable: Scalable<'_>) -> bool {
    const SMALL: f64 = 0.01;
    ends(numbers).is_some_and(|(_, most)| most < SMALL && scalable.prefix(most) != NONE)
}

/// The numbers as they are, if that leaves enough of the smallest.
fn plain(numbers: &[Number]) -> Option<Form> {
    let all = numbers.iter().all(Number::is_read_at_a_glance);
    let decimals = common(numbers.iter().map(|number| (number.value, number.decimals)));
    decimals.filter(|_| all).map(|decimals| Form::Prefixed { prefix: NONE, decimals })
}

/// The decimals with which values of some decimals are written, if that leaves enough of the smallest.
pub(crate) fn common(of: impl Iterator<Item = (f64, i32)>) -> Option<usize> {
    let all: Vec<(f64, i32)> = of.collect();
    let Some(most) = all.iter().map(|(_, decimals)| *decimals).max().filter(|most| *most > 0)
    else {
        return Some(0);
    };
    let sizes = || all.iter().map(|(value, own)| (value.abs(), *own)).filter(|(x, _)| *x > 0.0);
    let Some((smallest, own)) = sizes().min_by(|a, b| a.0.total_cmp(&b.0)) else { return Some(0) };
    let largest = sizes().map(|(size, _)| power(size)).max().unwrap_or(0);
    let wanted = DIGITS - 1 - power(smallest);
    let room = LEGIBLE as i32 - 1 - largest.max(0);
    let decimals = most.min(wanted).min(MOST).min(room);
    let enough = own.min(wanted - 1);
    usize::try_from(decimals).ok().filter(|_| decimals >= enough)
}

/// The form with a prefix that leaves most digits, or powers of ten.
fn shortest(numbers: &[Number], scalable: Scalable<'_>) -> Form {
    let forms = (2..=DIGITS).rev().flat_map(|digits| forms(numbers, scalable, digits));
    let has_prefix = |form: &Form| match form {
        Form::Prefixed { prefix, .. } => *prefix != NONE,
        Form::Powers { .. } | Form::Alone => false,
    };
    let mut forms = forms.filter(has_prefix);
    forms
        .next()
        .or_else(|| plain(numbers))
        .unwrap_or(Form::Powers { decimals: DIGITS as usize - 1 })
}

/// The forms in which the smallest number has some digits, those without a prefix first.
fn forms(numbers: &[Number], scalable: Scalable<'_>, digits: i32) -> Vec<Form> {
    let Some((least, most)) = ends(numbers) else {
        return vec![Form::Prefixed { prefix: NONE, decimals: 0 }];
    };
    let of = |prefix: Prefix| {
        let (least, most) = (least / prefix.factor, most / prefix.factor);
        let decimals = (digits - 1 - power(least)).max(0);
        let is_read = decimals <= MOST && decimals + power(most).max(0) < LEGIBLE as i32;
        is_read.then_some(Form::Prefixed { prefix, decimals: decimals as usize })
    };
    let all_plain = numbers.iter().all(Number::is_read_at_a_glance);
    let own = Some(NONE).filter(|_| all_plain).into_iter();
    // The prefix that suits the smallest, if the largest is still read then; in less room one that suits the largest.
    let suits = |prefix: &Prefix| most / prefix.factor < LARGE;
    let scaled = [least, most / 10.0, most].map(|size| scalable.prefix(size));
    let scaled =
        scaled.into_iter().filter(suits).filter(|prefix| *prefix != NONE && most / least <= RANGE);
    let mut found: Vec<Form> = own.chain(scaled).filter_map(of).collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[Value]) -> Vec<Number> {
        values.iter().filter_map(Number::new).collect()
    }

    fn floats(values: &[f64]) -> Vec<Number> {
        numbers(&values.iter().map(|value| Value::Float(*value)).collect::<Vec<_>>())
    }

    fn texts(column: &Column, numbers: &[Number]) -> Vec<String> {
        numbers.iter().map(|number| column.text(number)).collect()
    }

    #[test]
    fn numbers_of_a_column_have_one_form() {
        for (values, scalable, letter, written) in [
            (&[2.249_42, 2.2385, 1.683][..], Scalable::Not, None, &["2.249", "2.239", "1.683"][..]),
            (&[246.679, 76.5, 240.0], Scalable::Not, None, &["246.68", " 76.5 ", "240   "]),
            (&[0.783_009, 15.9312, 0.0], Scalable::Not, None, &["0.7830", "15.9312", "0     "]),
            (&[640.0, 1024.0], Scalable::Not, None, &["640", "1024"]),
            // Of so different sizes the small ones have powers of ten.
            (
                &[1850.0, 0.461, 9e-4, 1.41e-5],
                Scalable::Not,
                None,
                &["1850", "0.461", "9e-4", "1.41e-5"],
            ),
            (&[1.57e13, 3.118_69e14], Scalable::Count, Some('T'), &["15.7 ", "311.87"]),
            (&[4.6e8, 7.3e9, 2e9], Scalable::Unit("flops"), Some('M'), &["460", "7300", "2000"]),
            (&[4.6e7, 7.3e9, 2e9], Scalable::Unit("flops"), Some('M'), &["46", "7300", "2000"]),
            (&[4.5e-6, 1.25e-5], Scalable::Unit("seconds"), Some('u'), &["4.5", "12.5"]),
            (&[1e6, 2e15], Scalable::Count, None, &["1e6", "2e15"]),
            (&[23.4, 0.833, 5.1e-5], Scalable::Not, None, &["23.4     ", "0.833   ", "0.000051"]),
            (&[5.7e7], Scalable::Not, None, &["5.7e7"]),
        ] {
            let numbers = floats(values);
            let column = Column::new(&numbers, scalable);
            let trimmed: Vec<&str> = written.iter().map(|text| text.trim_start()).collect();
            assert_eq!(texts(&column, &numbers), trimmed, "{values:?}");
            assert_eq!(column.prefix().and_then(Prefix::letter), letter, "{values:?}");
        }
    }

    #[test]
    fn a_narrow_column_has_one_prefix_or_fewer_decimals() {
        let counts = |values: &[i64]| {
            numbers(&values.iter().map(|value| Value::Int(*value)).collect::<Vec<_>>())
        };
        for (numbers, width, letter, written) in [
            (counts(&[561_408, 8_699_904]), 7, None, Some(&["561408", "8699904"][..])),
            (counts(&[561_408, 8_699_904]), 6, Some('k'), Some(&["561.4", "8699.9"])),
            (counts(&[561_408, 8_699_904]), 3, Some('M'), Some(&["0.6", "8.7"])),
            (counts(&[561_408, 8_699_904]), 4, Some('k'), Some(&["561", "8700"])),
            (counts(&[61_408, 8_699_904]), 4, Some('k'), Some(&["61", "8700"])),
            (counts(&[4_718_592, 18_870_000]), 5, Some('M'), Some(&["4.72", "18.87"])),
            (counts(&[257_000, 1280, 32]), 5, None, Some(&["2.6e5", "1280", "32"])),
            (counts(&[1218]), 1, Some('k'), Some(&["1"])),
            (counts(&[70_000_000_000, 12]), 2, None, None),
            (floats(&[0.642_857, -0.25]), 5, None, Some(&["0.64", "-0.25"])),
            (floats(&[0.642_857]), 5, None, Some(&["0.643"])),
            (floats(&[5.73208e-13]), 8, None, Some(&["5.73e-13"])),
            (floats(&[5.73208e-13]), 5, None, Some(&["6e-13"])),
        ] {
            let column = Column::within(&numbers, Scalable::Count, width);
            let found = column.as_ref().map(|column| texts(column, &numbers));
            let expected =
                written.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect());
            assert_eq!(found, expected, "{numbers:?} in {width}");
            let prefix = column.and_then(|column| column.prefix()).and_then(Prefix::letter);
            assert_eq!(prefix, letter, "{numbers:?} in {width}");
        }
    }

    #[test]
    fn a_number_is_near_what_is_written_for_it() {
        for exponent in -30..17 {
            for mantissa in [1.0, 1.5, 9.994, 9.996, -3.218_281] {
                let x = mantissa * 10_f64.powi(exponent);
                let numbers = floats(&[x]);
                let column = Column::within(&numbers, Scalable::Count, 9).unwrap();
                let factor = column.prefix().map_or(1.0, |prefix| prefix.factor);
                let text = column.text(&numbers[0]);
                let read = text.trim_end().parse::<f64>().unwrap() * factor;
                assert!((read - x).abs() <= 0.006 * x.abs(), "{x} as {text}");
            }
        }
    }
}
