//! How the cells of a column are written: numbers in one form, whose prefix the title has, and words that are numbers in one
//! unit.

use std::borrow::Cow;
use std::ops::Range;

use mlsys_lab::frame::Table;
use mlsys_lab::value::{Value, number};

use crate::canvas as pen;
use crate::glyphs::Glyphs;
use crate::quantity::Prefix;
use crate::quantity::column::{Column as Form, Number, Scalable, common, decimals, unsigned_zero};
use crate::text;

/// First rows that decide on the form of a column.
const READ: usize = 256;
/// How many times the smallest number the largest is at most, if both are written in one unit.
const RANGE: f64 = 1e4;
/// The title of a column that has the unit of the number before it, row by row.
const UNIT: &str = "unit";
/// The title of a column before that of results.
const NUMBERS: &str = "with numbers";

/// How the cells of a column are written.
#[derive(Clone, Debug)]
pub(super) struct Column<'a> {
    title: &'a str,
    /// Its numbers, with their form where they have the room they like.
    numbers: Vec<Number>,
    form: Form,
    scalable: Scalable<'a>,
    /// Its words, if all of them are numbers with units.
    words: Option<Quantities>,
}

impl<'a> Column<'a> {
    /// The column as the first rows of a table and those near the screen need it.
    pub(super) fn new(table: &'a Table, column: usize, near: &[usize]) -> Self {
        let title = table.columns.get(column).map_or("", String::as_str);
        let near = || near.iter().filter(|row| **row >= READ);
        let rows = || (0..READ).chain(near().copied()).filter_map(|row| table.rows.get(row));
        let cells = || rows().filter_map(|row| row.get(column));
        let numbers: Vec<Number> = cells().filter_map(Number::new).collect();
        let words: Vec<String> =
            cells().filter(|value| value.as_f64().is_none()).map(Value::to_string).collect();
        let words: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !word.trim().is_empty()).collect();
        // Rows of a calculation are quantities of several kinds.
        let before = column.checked_sub(1).and_then(|before| table.columns.get(before));
        let has_units = table.columns.get(column + 1).is_some_and(|title| title == UNIT)
            || before.is_some_and(|title| title == NUMBERS);
        let scalable = if has_units { Scalable::Not } else { scalable(title) };
        let form = match has_units {
            true => Form::of_several_kinds(&numbers),
            false => Form::new(&numbers, scalable),
        };
        let is_worded = numbers.is_empty() && !words.is_empty();
        let words = is_worded.then(|| Quantities::new(&words)).flatten();
        Self { title, numbers, form, scalable, words }
    }

    /// Whether it has numbers, or words that are.
    pub(super) fn is_numeric(&self) -> bool {
        self.has_numbers() || self.are_quantities()
    }

    pub(super) fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Whether all of its words are numbers, with the same unit or without one.
    pub(super) fn are_quantities(&self) -> bool {
        self.words.is_some()
    }

    /// The column in a width: with fewer digits or a prefix where its numbers have no room as they are.
    pub(super) fn within(&self, width: u16) -> Self {
        let narrow = Form::within(&self.numbers, self.scalable, usize::from(width));
        let is_wide = self.form.width(&self.numbers) > usize::from(width);
        let form = narrow.filter(|_| is_wide).unwrap_or_else(|| self.form.clone());
        Self { form, ..self.clone() }
    }

    /// The width in which numbers keep some digits.
    pub(super) fn width_of(&self, digits: i32) -> u16 {
        pen::cells(Form::least_width(&self.numbers, self.scalable, digits))
    }

    /// The title with the prefix that all numbers below it have.
    pub(super) fn title(&self, glyphs: &Glyphs) -> String {
        let title = self.title;
        let Some(prefix) = self.form.prefix() else { return title.to_owned() };
        match (self.scalable, unit_of(title)) {
            (Scalable::Unit(unit), Some(place)) => {
                let unit = prefix.suffix(Some(unit), glyphs);
                format!("{}{unit}{}", &title[..place.start], &title[place.end..])
            }
            (Scalable::Unit(_) | Scalable::Count | Scalable::Not, _) => {
                format!("{title} ({})", prefix.suffix(Some(""), glyphs))
            }
        }
    }

    /// A cell as it is written where it has room.
    pub(super) fn text(&self, value: &Value) -> String {
        match (Number::new(value), &self.words) {
            (Some(number), _) => self.form.text(&number),
            (None, Some(words)) => words.text(&value.to_string()),
            (None, None) => value.to_string(),
        }
    }
}

/// What may stand in front of the unit of a title.
fn scalable(title: &str) -> Scalable<'_> {
    // Under a title that has a factor itself, a prefix would be read as another one.
    let has_factor =
        ["thousand", "million", "billion", "%"].iter().any(|word| title.contains(word));
    match unit_of(title).map(|place| &title[place]) {
        _ if has_factor || title.is_empty() => Scalable::Not,
        Some(unit) => base(unit).map_or(Scalable::Not, Scalable::Unit),
        None => Scalable::Count,
    }
}

/// Where the unit of a title is: in brackets or behind a comma at its end, or all of it.
fn unit_of(title: &str) -> Option<Range<usize>> {
    let bracket = title.rfind('(').filter(|_| title.ends_with(')'));
    let in_brackets = bracket.map(|open| open + 1..title.len() - 1);
    let behind = title.rfind(", ").map(|comma| comma + 2..title.len());
    in_brackets.or(behind).or_else(|| base(title).map(|_| 0..title.len()))
}

/// The name of a unit that takes prefixes.
fn base(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "s" | "seconds" => "seconds",
        "J" | "joules" => "joules",
        "B" | "bytes" => "bytes",
        "FLOP" | "flops" => "flops",
        "FLOP/s" | "flop/s" => "flop/s",
        "B/s" | "bytes/s" => "bytes/s",
        _ => return None,
    })
}

/// A table in which each row has its own unit, with numbers that are too long for a look in a larger or a smaller one.
pub(super) fn with_prefixes<'a>(table: &'a Table, glyphs: &Glyphs) -> Cow<'a, Table> {
    let place = table.columns.iter().position(|title| title == UNIT).filter(|place| *place > 0);
    let Some(place) = place else { return Cow::Borrowed(table) };
    let mut scaled = Cow::Borrowed(table);
    for (index, row) in table.rows.iter().enumerate() {
        let unit = row.get(place).and_then(Value::as_str).and_then(base);
        let Some((unit, number)) = unit.zip(row.get(place - 1).and_then(Number::new)) else {
            continue;
        };
        let prefix = Prefix::for_size(number.value.abs(), Some(unit));
        if number.is_read_at_a_glance() || prefix.letter().is_none() {
            continue;
        }
        let row = &mut scaled.to_mut().rows[index];
        row[place - 1] = Value::Float(number.value / prefix.factor);
        row[place] = Value::from(prefix.suffix(Some(unit), glyphs));
    }
    scaled
}

/// A number with decimals and what follows it, such as a unit.
#[derive(Clone, Debug, PartialEq)]
struct Quantity<'a> {
    value: f64,
    decimals: i32,
    space: &'static str,
    unit: &'a str,
}

/// Words that are numbers with units.
#[derive(Clone, Debug, PartialEq)]
struct Quantities {
    decimals: Option<usize>,
    /// The unit in which all are written, and what the others are in it.
    unit: String,
    factors: Vec<(String, f64)>,
}

impl Quantities {
    fn new(words: &[&str]) -> Option<Self> {
        let mut read: Vec<Quantity<'_>> =
            words.iter().map(|word| quantity(word)).collect::<Option<_>>()?;
        let (unit, factors) = one_unit(&read)?;
        for quantity in &mut read {
            let factor = factors.iter().find(|(other, _)| other == quantity.unit);
            let factor = factor.map_or(1.0, |(_, factor)| *factor);
            quantity.value *= factor;
            quantity.decimals = (quantity.decimals - factor.log10().round() as i32).max(0);
        }
        let decimals = common(read.iter().map(|of| (of.value, of.decimals)));
        Some(Self { decimals, unit, factors })
    }

    fn text(&self, text: &str) -> String {
        let Some(of) = quantity(text) else { return text.to_owned() };
        let factor = self.factors.iter().find(|(other, _)| other == of.unit);
        let value = of.value * factor.map_or(1.0, |(_, factor)| *factor);
        let end = format!("{}{}", of.space, self.unit);
        match self.decimals {
            Some(decimals) if of.unit == self.unit => at(value, of.decimals, decimals, &end),
            Some(decimals) => at(value, 0, decimals, &end),
            None if of.unit == self.unit => text.to_owned(),
            None => format!("{}{end}", number(value)),
        }
    }
}

/// A number with at most these decimals. Those that it does not have are spaces, but in front of a sign such as %.
fn at(value: f64, own: i32, decimals: usize, end: &str) -> String {
    let own = usize::try_from(own).unwrap_or(0).min(decimals);
    let text = unsigned_zero(format!("{value:.own$}"));
    let is_sign = !end.is_empty() && !end.starts_with(' ');
    let missing = match decimals - own {
        0 => 0,
        _ if is_sign => 0,
        missing => missing + usize::from(own == 0),
    };
    format!("{text}{}{end}", " ".repeat(missing))
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
    let value = digits.parse().ok().filter(|value: &f64| value.is_finite())?;
    Some(Quantity { value, decimals: decimals(digits), space, unit })
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

/// The longest part of a title that is not broken: no unit is.
pub(super) fn unbroken_title(title: &str) -> u16 {
    let parts = title.split(' ').map(|word| match word.contains('/') || word.starts_with('(') {
        true => pen::width(word),
        false => text::unbroken(word),
    });
    parts.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glyphs::GlyphSet;

    fn table(title: &str, cells: &[Value]) -> Table {
        let rows = cells.iter().map(|cell| vec![cell.clone()]).collect();
        Table::new(vec![title.to_owned()], rows)
    }

    #[test]
    fn quantities_of_a_column_have_one_unit() {
        for (words, written) in [
            (&["100.0%", "7.3%", "0.97%"][..], &["100.0%", "7.3%", "0.97%"][..]),
            (&["1206", "561.2", "442.01", ""], &["1206  ", "561.2", "442.0", ""]),
            (&["834.3 MB", "1.5 GB"], &["834.3 MB", "1500   MB"]),
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
            let table = table("title", &cells);
            let column = Column::new(&table, 0, &[]);
            let found: Vec<String> = cells.iter().map(|cell| column.text(cell)).collect();
            assert_eq!(found, written, "{words:?}");
        }
    }

    #[test]
    fn rows_on_the_screen_decide_on_the_form_wherever_they_are() {
        let last = Value::Int(4_362_076_160);
        let cells: Vec<Value> = (0..300).map(Value::Int).chain([last.clone()]).collect();
        let table = table("bytes", &cells);
        let width =
            |near: &[usize]| pen::width(&Column::new(&table, 0, near).within(6).text(&last));
        assert!(width(&[300]) <= 6 && width(&[]) > 6, "{} {}", width(&[300]), width(&[]));
    }

    #[test]
    fn a_title_has_the_prefix_of_its_numbers() {
        let glyphs = Glyphs::new(GlyphSet::Ascii);
        let many = [Value::Float(1.5e10), Value::Float(3.25e12)];
        let few = [Value::Float(1.5e-5)];
        for (title, cells, scaled, first) in [
            ("FLOP", &many[..], "GFLOP", "15"),
            ("peak (FLOP/s)", &many, "peak (GFLOP/s)", "15"),
            ("moved, bytes", &many, "moved, GB", "15"),
            ("weights", &many, "weights (G)", "15"),
            ("launch, s", &few, "launch, us", "15"),
            // These have a factor, or a unit that takes none.
            ("parameters, million", &many, "parameters, million", "1.5e10"),
            ("time, ms", &many, "time, ms", "1.5e10"),
            ("share, %", &few, "share, %", "0.000015"),
            ("loss", &few, "loss", "0.000015"),
        ] {
            let table = table(title, cells);
            let column = Column::new(&table, 0, &[]);
            assert_eq!(column.title(&glyphs), scaled);
            assert_eq!(column.text(&cells[0]).trim_end(), first, "{title}");
        }
        let counts = [Value::Int(561_408), Value::Int(8_699_904)];
        let table = table("cores", &counts);
        let column = Column::new(&table, 0, &[]);
        assert_eq!(
            (column.title(&glyphs).as_str(), column.text(&counts[0]).as_str()),
            ("cores", "561408")
        );
        let narrow = column.within(5);
        assert_eq!(
            (narrow.title(&glyphs).as_str(), narrow.text(&counts[0]).as_str()),
            ("cores (k)", "561")
        );
    }

    #[test]
    fn a_row_with_its_own_unit_has_its_own_prefix() {
        let row = |value: Value, unit: &str| vec![value, Value::from(unit)];
        let rows = vec![
            row(Value::Float(1.25e14), "FLOP/s"),
            row(Value::Int(5120), "B"),
            row(Value::Float(0.25), ""),
        ];
        let table = Table::new(["value", UNIT].map(str::to_owned).to_vec(), rows);
        let scaled = with_prefixes(&table, &Glyphs::new(GlyphSet::Ascii));
        let column = Column::new(&scaled, 0, &[]);
        let found: Vec<String> =
            scaled.rows.iter().map(|row| format!("{}|{}", column.text(&row[0]), row[1])).collect();
        assert_eq!(found, ["125   |TFLOP/s", "5120   |B", "0.25|"]);
    }

    #[test]
    fn a_unit_in_a_title_is_not_broken() {
        assert_eq!(unbroken_title("peak (TFLOP/s)"), 9);
        assert_eq!(unbroken_title("gradient_norm here"), text::unbroken("gradient_norm"));
    }
}
