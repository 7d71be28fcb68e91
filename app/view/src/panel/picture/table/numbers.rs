//! How the numbers of a column are written: in one unit, and so that digits of the same worth stand below each other.

use mlsys_lab::frame::Table;
use mlsys_lab::value::{Value, number};

use crate::quantity::Prefix;
use crate::text;

/// Digits of the smallest number of a column.
const DIGITS: i32 = 4;
/// Digits that the largest has at most for the sake of the smallest.
const MOST: i32 = 7;
/// Rows that decide on the form of a column.
const READ: usize = 256;
/// How many times the smallest number the largest is at most, if both are written in one unit.
const RANGE: f64 = 1e4;

/// A number with decimals and what follows it, such as a unit.
#[derive(Clone, Debug, PartialEq)]
struct Quantity<'a> {
    value: f64,
    decimals: i32,
    space: &'static str,
    unit: &'a str,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Column {
    /// Whether all of its words are numbers, with the same unit or without one.
    pub(super) are_quantities: bool,
    decimals: Option<usize>,
    /// The unit in which all are written, and what the others are in it.
    unit: Option<String>,
    factors: Vec<(String, f64)>,
}

impl Column {
    pub(super) fn new(table: &Table, column: usize) -> Self {
        let cells = || table.rows.iter().take(READ).filter_map(|row| row.get(column));
        let words: Vec<String> =
            cells().filter(|value| value.as_f64().is_none()).map(Value::to_string).collect();
        let words: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !word.trim().is_empty()).collect();
        let has_numbers = cells().any(|value| value.as_f64().is_some());
        if words.is_empty() || has_numbers {
            let written: Vec<String> =
                cells().filter(|value| value.as_f64().is_some()).map(Value::to_string).collect();
            let numbers: Option<Vec<Quantity<'_>>> =
                written.iter().map(|text| plain(text)).collect();
            let decimals = numbers.and_then(|numbers| common(&numbers));
            return Self { decimals, ..Self::default() };
        }
        let read: Option<Vec<Quantity<'_>>> = words.iter().map(|word| quantity(word)).collect();
        let Some(mut read) = read else { return Self::default() };
        let Some((unit, factors)) = one_unit(&read) else { return Self::default() };
        for quantity in &mut read {
            let factor = factors.iter().find(|(other, _)| other == quantity.unit);
            let factor = factor.map_or(1.0, |(_, factor)| *factor);
            quantity.value *= factor;
            quantity.decimals = (quantity.decimals - factor.log10().round() as i32).max(0);
        }
        let decimals = common(&read);
        Self { are_quantities: true, decimals, unit: Some(unit), factors }
    }

    /// A cell as it is written where it has room.
    pub(super) fn text(&self, value: &Value) -> String {
        let text = value.to_string();
        if value.as_f64().is_some() {
            let Some(decimals) = self.decimals else { return text };
            return match plain(&text) {
                Some(of) => at(of.value, of.decimals, decimals, ""),
                None => text,
            };
        }
        let (true, Some(unit), Some(of)) = (self.are_quantities, &self.unit, quantity(&text))
        else {
            return text;
        };
        let factor = self.factors.iter().find(|(other, _)| other == of.unit);
        let value = of.value * factor.map_or(1.0, |(_, factor)| *factor);
        let end = format!("{}{unit}", of.space);
        match self.decimals {
            Some(decimals) if of.unit == unit => at(value, of.decimals, decimals, &end),
            None if of.unit == unit => text,
            Some(_) | None => format!("{}{end}", number(value)),
        }
    }
}

/// A number with at most these decimals. Those that it does not have are spaces: a zero behind a value that was rounded before
/// would be a wrong digit. Before a unit nothing is filled up.
fn at(value: f64, own: i32, decimals: usize, end: &str) -> String {
    let own = usize::try_from(own).unwrap_or(0).min(decimals);
    let text = format!("{value:.own$}");
    // What rounds to zero has no sign.
    let is_zero = text.chars().all(|letter| matches!(letter, '-' | '0' | '.'));
    let text = if is_zero { text.trim_start_matches('-') } else { &text };
    let missing = match (end.is_empty(), decimals - own) {
        (false, _) | (true, 0) => 0,
        (true, missing) => missing + usize::from(own == 0),
    };
    format!("{text}{end}{}", " ".repeat(missing))
}

/// A number alone, with the decimals that it has as it is written.
fn plain(text: &str) -> Option<Quantity<'_>> {
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    let power: i32 = power.parse().ok()?;
    let behind = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    (power <= 0).then_some(Quantity {
        value,
        decimals: i32::try_from(behind).ok()? - power,
        space: "",
        unit: "",
    })
}

/// A number and a word, or a number alone: "53.2%", "1.6 GB", "9.0".
fn quantity(text: &str) -> Option<Quantity<'_>> {
    let text = text.trim();
    let is_digit = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-');
    let end = text.find(|letter| !is_digit(letter)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let unit = rest.trim_start();
    let is_unit = unit.is_empty() || unit == "%" || unit.starts_with(char::is_alphabetic);
    if !is_unit || unit.contains(' ') || !digits.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let space = if rest.len() > unit.len() { " " } else { "" };
    Some(Quantity { space, unit, ..plain(digits)? })
}

/// The unit of all, or the one with the prefix of the smallest, with what each of the others is in it.
fn one_unit(of: &[Quantity<'_>]) -> Option<(String, Vec<(String, f64)>)> {
    let first = of.first()?;
    if of.iter().all(|other| other.unit == first.unit) {
        return Some((first.unit.to_owned(), Vec::new()));
    }
    let shortest = of.iter().map(|of| of.unit).min_by_key(|unit| unit.chars().count())?;
    let bases = [Some(shortest), Prefix::split(shortest).map(|(_, base)| base)];
    bases.into_iter().flatten().filter(|base| !base.is_empty()).find_map(|base| {
        let factor = |unit: &str| match unit == base {
            true => Some(1.0),
            false => Prefix::split(unit).filter(|(_, rest)| *rest == base).map(|(of, _)| of.factor),
        };
        let sizes = of.iter().map(|of| Some((of.value.abs() * factor(of.unit)?, of.unit)));
        let sizes: Vec<(f64, &str)> = sizes.collect::<Option<_>>()?;
        let sizes = || sizes.iter().filter(|(size, _)| *size > 0.0);
        let (least, unit) = sizes().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let most = sizes().map(|(size, _)| *size).fold(0.0, f64::max);
        let own = factor(unit)?;
        let factors = of.iter().filter_map(|of| Some((of.unit.to_owned(), factor(of.unit)? / own)));
        (most / least <= RANGE).then(|| ((*unit).to_owned(), factors.collect()))
    })
}

/// The decimals with which all are written, if that leaves enough of the smallest.
fn common(of: &[Quantity<'_>]) -> Option<usize> {
    let most = of.iter().map(|of| of.decimals).max().filter(|most| *most > 0)?;
    let sizes = || of.iter().filter(|of| of.value != 0.0);
    let power = |of: &Quantity<'_>| of.value.abs().log10().floor() as i32;
    let smallest = sizes().min_by(|a, b| a.value.abs().total_cmp(&b.value.abs()))?;
    let largest = sizes().map(power).max()?;
    let wanted = DIGITS - 1 - power(smallest);
    let decimals = most.min(wanted).min(MOST - 1 - largest.max(0));
    let enough = smallest.decimals.min(wanted - 1);
    usize::try_from(decimals).ok().filter(|_| decimals >= enough)
}

/// The longest part of a title that is not broken: no unit is.
pub(super) fn unbroken_title(title: &str) -> u16 {
    let parts = title.split(' ').map(|word| match word.contains('/') || word.starts_with('(') {
        true => crate::canvas::width(word),
        false => text::unbroken(word),
    });
    parts.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[Value]) -> Vec<String> {
        let rows = cells.iter().map(|cell| vec![cell.clone()]).collect();
        let table = Table::new(vec!["title".to_owned()], rows);
        let column = Column::new(&table, 0);
        cells.iter().map(|cell| column.text(cell)).collect()
    }

    #[test]
    fn numbers_of_a_column_have_the_same_decimals() {
        for (numbers, written) in [
            (&[2.249_42, 2.2385, 1.683][..], &["2.249", "2.239", "1.683"][..]),
            (&[246.679, 76.5, 240.0], &["246.68", "76.5 ", "240   "]),
            (&[0.010_923_9, -0.019_382], &["0.01092", "-0.01938"]),
            (&[12.549, 1.904_76, 15_564.8], &["12.55", "1.90", "15564.8 "]),
            (&[0.783_009, 15.9312, 0.0], &["0.7830", "15.9312", "0     "]),
            (&[7.485e-4, 0.001_359, 0.033_71], &["0.000749", "0.001359", "0.03371 "]),
            // Of so different sizes each is written for itself.
            (&[1850.0, 0.461, 9e-4, 1.41e-5], &["1850", "0.461", "9e-4", "1.41e-5"]),
            (&[640.0, 1024.0], &["640", "1024"]),
            // Few of many have decimals.
            (&[640.0, 12.5, 8.0], &["640  ", "12.5", "8  "]),
        ] {
            let cells: Vec<Value> = numbers.iter().map(|number| Value::Float(*number)).collect();
            assert_eq!(column(&cells), written, "{numbers:?}");
        }
        assert_eq!(column(&[Value::Int(8), Value::Float(0.25)]), ["8   ", "0.25"]);
    }

    #[test]
    fn quantities_of_a_column_have_one_unit() {
        for (words, written) in [
            (&["100.0%", "7.3%", "0.97%"][..], &["100.0%", "7.3%", "0.97%"][..]),
            (&["1206", "561.2", "442.01", ""], &["1206  ", "561.2", "442.0", ""]),
            (&["834.3 MB", "1.5 GB"], &["834.3 MB", "1500 MB"]),
            (&["6.0 kB", "2.5 GB"], &["6.0 kB", "2.5 GB"]),
            (&["9.0", "7.5"], &["9.0", "7.5"]),
            (&["12 ms", "1 s"], &["12 ms", "1000 ms"]),
            (&["1 GPU", "2 GPUs"], &["1 GPU", "2 GPUs"]),
            (&["4 of 8", "12.5"], &["4 of 8", "12.5"]),
            (&["2017-06", "2018-11"], &["2017-06", "2018-11"]),
            (&["3/4", "1.25"], &["3/4", "1.25"]),
            (&[" 2.09 -0.98", " 0.05 -1.08"], &[" 2.09 -0.98", " 0.05 -1.08"]),
        ] {
            let cells: Vec<Value> = words.iter().map(|word| Value::from(*word)).collect();
            assert_eq!(column(&cells), written, "{words:?}");
        }
    }

    #[test]
    fn a_unit_in_a_title_is_not_broken() {
        assert_eq!(unbroken_title("peak (TFLOP/s)"), 9);
        assert_eq!(unbroken_title("gradient_norm here"), text::unbroken("gradient_norm"));
    }
}
