//! Numbers with units and prefixes, as learners write them, and as a screen rounds them.

use std::f64::consts::PI;

use mlsys_expr::{Dialect, Value, evaluate};
use mlsys_lab::schema::Range;
use mlsys_lab::value::number;

use crate::env::LessonEnv;

/// A text that is no number, or none in the unit that is asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReadNumberError {
    #[error(
        "write a number such as 4096, 1.5e14, 1.9G or 1_000, or an expression such as 2*512^3: {0}"
    )]
    NoNumber(String),
    #[error("separate the numbers by commas: {0}")]
    Unseparated(String),
    #[error("the answer is in {wanted}, and `{typed}` is another unit")]
    OtherUnit { typed: String, wanted: String },
    #[error("the answer has no unit: write it without `{0}`")]
    NoUnit(String),
    #[error("{} is outside of what this can be: {range}{}", number(*.given), meant(*.given, *.range))]
    Outside { given: f64, range: Range },
}

/// What a number that is no share is likely to have been meant as.
fn meant(given: f64, range: Range) -> String {
    let is_percentage = range == Range::SHARE && range.contains(given / 100.0);
    if is_percentage { format!("; did you mean {} %?", number(given)) } else { String::new() }
}

/// A number that was written, in the unit that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Written {
    pub(crate) value: f64,
    /// How it was rounded; none for an expression.
    rounding: Option<Rounding>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Rounding {
    /// Significant digits.
    digits: usize,
    /// Half a unit of the last digit.
    half: f64,
    /// Whether it has a prefix or an exponent, so that it is no count of ones.
    is_scaled: bool,
}

impl Written {
    /// The same in a unit that is smaller by this factor.
    pub(crate) fn times(self, factor: f64) -> Self {
        let scaled = |one: Rounding| Rounding { half: one.half * factor.abs(), ..one };
        Self { value: self.value * factor, rounding: self.rounding.map(scaled) }
    }

    /// Whether rounding this value to as many digits gives the number.
    pub(crate) fn rounds(self, exact: f64) -> bool {
        let distance = (self.value - exact).abs();
        self.rounding.is_some_and(|rounding| distance <= rounding.half * (1.0 + 1e-9))
    }

    /// Whether the number says as much of this value as a screen does: a count in full, or with a prefix or an exponent
    /// and four digits; any other number with two digits.
    pub(crate) fn displays(self, exact: f64) -> bool {
        let Some(Rounding { digits, is_scaled, .. }) = self.rounding else { return false };
        let is_enough = if exact.fract() == 0.0 { is_scaled && digits >= 4 } else { digits >= 2 };
        is_enough && self.rounds(exact)
    }

    /// Whether it is this count with a prefix or an exponent and too few digits.
    pub(crate) fn is_coarse(self, exact: f64) -> bool {
        let is_scaled = self.rounding.is_some_and(|one| one.is_scaled && one.digits >= 2);
        is_scaled && exact.fract() == 0.0 && self.rounds(exact)
    }

    /// Whether it is this value, or the value rounded to three digits or more.
    pub(crate) fn is(self, exact: f64) -> bool {
        let is_equal = (self.value - exact).abs() <= 1e-6 * exact.abs();
        is_equal || self.rounding.is_some_and(|one| one.digits >= 3) && self.rounds(exact)
    }
}

/// Reads a number with or without `_` between thousands, a prefix and a unit, or an expression of constants.
pub(crate) fn read(text: &str, asked: Option<&str>) -> Result<Written, ReadNumberError> {
    let text = plain(text);
    let whole = constant(&text);
    if let Ok(value) = whole {
        return Ok(Written { value, rounding: rounding(&text, 1.0, false) });
    }
    let end = text.rfind(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')'));
    let (digits, tail) = text.split_at(end.map_or(0, |end| end + 1));
    let Ok(value) = constant(digits) else {
        return whole.map(|value| Written { value, rounding: None });
    };
    let factor = factor(tail.trim(), asked)?;
    let is_scaled = prefix(tail).is_some() || (tail.trim(), factor) == BILLIONS;
    Ok(Written { value: value * factor, rounding: rounding(digits, factor, is_scaled) })
}

/// The same of a quantity with a range: a percentage is a share, whatever the unit of the share is called.
pub(crate) fn read_share(
    text: &str,
    asked: Option<&str>,
    range: Range,
) -> Result<Written, ReadNumberError> {
    match read(text, asked) {
        Err(ReadNumberError::OtherUnit { typed, .. })
            if range.max <= 1.0 && unit(&typed).is_some_and(|unit| unit.dimension.is_empty()) =>
        {
            read(text, None)
        }
        read => read,
    }
}

/// What is wrong with numbers between which there are spaces or semicolons in place of commas.
pub(crate) fn unseparated(texts: &[&str]) -> Option<ReadNumberError> {
    let parts = || texts.iter().flat_map(|text| text.split([' ', ';', '\t']));
    let parts: Vec<&str> = parts().filter(|part| !part.is_empty()).collect();
    let are_numbers =
        parts.len() > texts.len() && parts.iter().all(|part| read(part, None).is_ok());
    are_numbers.then(|| ReadNumberError::Unseparated(parts.join(", ")))
}

/// A number that a quantity with this range can be; one outside is refused.
pub(crate) fn read_within(
    text: &str,
    asked: Option<&str>,
    range: Range,
) -> Result<Written, ReadNumberError> {
    let written = read_share(text, asked, range)?;
    if range.contains(written.value) {
        Ok(written)
    } else {
        Err(ReadNumberError::Outside { given: written.value, range })
    }
}

/// The letter of billions, behind a count.
const BILLIONS: (&str, f64) = ("B", 1e9);

/// The value of an expression of constants.
fn constant(text: &str) -> Result<f64, ReadNumberError> {
    let fail = ReadNumberError::NoNumber;
    let expr = mlsys_expr::parse(text, Dialect::Lesson).map_err(|error| fail(error.to_string()))?;
    if let Some((name, _)) = expr.names().first() {
        // The answer must not be had from the lab that the question is about.
        return Err(fail(format!("`{name}` is a name; write its value")));
    }
    match evaluate(&expr, &LessonEnv::new()) {
        Ok(Value::Number(x)) => Ok(x),
        Ok(Value::Text(_) | Value::Bool(_) | Value::Series(_)) => {
            Err(fail("this is no number".to_owned()))
        }
        Err(error) => Err(fail(error.to_string())),
    }
}

/// A number as the expression language writes it: `2.1×` are times, `0,25` and `.25` have a point and a zero, and π, also
/// as the word `pi`, is written out.
fn plain(text: &str) -> String {
    let text = without_separators(text.trim()).replace('−', "-");
    let text = match text.strip_suffix('×') {
        Some(number) => format!("{number}x"),
        None => text.replace('×', "*"),
    };
    let text = with_pi(&text);
    with_point(&text).unwrap_or(text)
}

fn with_pi(text: &str) -> String {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut written = text.replace('π', &format!("({PI})"));
    let mut from = 0;
    while let Some(at) = written[from..].find("pi").map(|at| from + at) {
        let end = at + "pi".len();
        from = end;
        if !written[..at].ends_with(is_letter) && !written[end..].starts_with(is_letter) {
            let digits = format!("({PI})");
            written.replace_range(at..end, &digits);
            from = at + digits.len();
        }
    }
    written
}

/// A number with a decimal comma, or without a digit before its point; nothing for any other text. Three digits behind a
/// comma may be thousands.
fn with_point(text: &str) -> Option<String> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if digits.starts_with('.') {
        return Some(format!("{sign}0{digits}"));
    }
    let (whole, rest) = digits.split_once(',')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (fraction, tail) = rest.split_at(end);
    let is_decimal = are_digits(whole) && are_digits(fraction) && !tail.contains(',');
    (is_decimal && (fraction.len() != 3 || whole == "0"))
        .then(|| format!("{sign}{whole}.{fraction}{tail}"))
}

/// Drops `_` between digits, and nowhere else.
fn without_separators(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut previous_is_digit = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let between = previous_is_digit && rest.peek().is_some_and(char::is_ascii_digit);
        if c != '_' || !between {
            previous_is_digit = c.is_ascii_digit();
            plain.push(c);
        }
    }
    plain
}

/// How a literal such as `-1.50e9` is rounded; none if the text is another expression.
fn rounding(literal: &str, factor: f64, is_scaled: bool) -> Option<Rounding> {
    let (mantissa, exponent) = match literal.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (literal, 0),
    };
    let mantissa = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let places = i32::try_from(fraction.len()).ok()?;
    Some(Rounding {
        digits: digits.trim_start_matches('0').len().max(1),
        half: 0.5 * 10f64.powi(exponent.checked_sub(places)?) * factor.abs(),
        is_scaled: is_scaled || exponent != 0,
    })
}

/// A unit: what its prefix and its base multiply, and what it measures.
struct Unit {
    prefix: f64,
    base: f64,
    dimension: String,
}

/// Names of units, what one of them is of the first with the dimension, and the dimension.
const UNITS: [(&str, f64, &str); 12] = [
    ("B byte bytes", 1.0, "byte"),
    ("bit bits b", 0.125, "byte"),
    ("s sec second seconds", 1.0, "second"),
    ("min minute minutes", 60.0, "second"),
    ("h hour hours", 3600.0, "second"),
    ("d day days", 86_400.0, "second"),
    ("flop flops FLOP FLOPs FLOPS op ops OP OPs OPS operation operations", 1.0, "flop"),
    ("W watt watts", 1.0, "watt"),
    ("J joule joules", 1.0, "joule"),
    ("Wh", 3600.0, "joule"),
    ("% percent", 0.01, ""),
    ("x times", 1.0, ""),
];

/// Prefixes and the words for them.
const PREFIXES: [(&str, f64); 28] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("nano", 1e-9),
    ("micro", 1e-6),
    ("milli", 1e-3),
    ("kilo", 1e3),
    ("mega", 1e6),
    ("giga", 1e9),
    ("tera", 1e12),
    ("k", 1e3),
    ("K", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
    ("m", 1e-3),
    ("u", 1e-6),
    ("µ", 1e-6),
    ("μ", 1e-6),
    ("n", 1e-9),
    ("p", 1e-12),
    ("thousand", 1e3),
    ("million", 1e6),
    ("billion", 1e9),
    ("trillion", 1e12),
];

/// What a prefix alone, or one before a word, multiplies.
fn prefix(text: &str) -> Option<f64> {
    let text = text.trim();
    let first = text.split(' ').next().unwrap_or(text);
    if let Some(&(_, factor)) = PREFIXES.iter().find(|(name, _)| *name == first) {
        return Some(factor);
    }
    let unit = unit(text)?;
    (unit.prefix != 1.0).then_some(unit.prefix)
}

/// The unit of a text such as `GB/s`, `FLOP/byte` or `k tokens`; a word that is no unit measures itself.
fn unit(text: &str) -> Option<Unit> {
    let (over, under) = match ["/", " per ", " a "].iter().find_map(|sign| text.split_once(sign)) {
        Some((over, under)) => (simple(over)?, Some(simple(under)?)),
        None => (simple(text)?, None),
    };
    let Some(under) = under else { return Some(over) };
    Some(Unit {
        prefix: over.prefix,
        base: over.base / (under.prefix * under.base),
        dimension: format!("{}/{}", over.dimension, under.dimension),
    })
}

fn simple(text: &str) -> Option<Unit> {
    let text = text.trim();
    let known = |name: &str| {
        let found = UNITS.iter().find(|(names, ..)| names.split(' ').any(|known| known == name));
        found.map(|&(_, base, dimension)| (base, dimension.to_owned()))
    };
    if let Some((base, dimension)) = known(text) {
        return Some(Unit { prefix: 1.0, base, dimension });
    }
    for (name, prefix) in PREFIXES {
        let Some(rest) = text.strip_prefix(name) else { continue };
        if let Some((base, dimension)) = known(rest) {
            return Some(Unit { prefix, base, dimension });
        }
        if let Some(word) = rest.strip_prefix(' ').and_then(word) {
            return Some(Unit { prefix, base: 1.0, dimension: word });
        }
    }
    word(text).map(|dimension| Unit { prefix: 1.0, base: 1.0, dimension })
}

/// A word in the singular.
fn word(text: &str) -> Option<String> {
    let is_word = text.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-'));
    let text = text.trim().to_lowercase();
    let one = text.strip_suffix('s').unwrap_or(&text);
    (is_word && !text.is_empty()).then(|| if one == "tok" { "token" } else { one }.to_owned())
}

/// What a unit is in units without a prefix: 1e9 for GB, 0.01 for percent.
pub(crate) fn scale(text: &str) -> f64 {
    unit(text).map_or(1.0, |unit| unit.prefix * unit.base)
}

/// Whether a unit has others that differ from it by a prefix: those of the table, and what stands behind a prefix.
pub(crate) fn has_prefixes(text: &str) -> bool {
    unit(text).is_some_and(|unit| {
        let is_known = |part: &str| UNITS.iter().any(|(.., known)| *known == part);
        unit.prefix != 1.0
            || unit.dimension.split('/').any(|part| !part.is_empty() && is_known(part))
    })
}

/// What a number in a typed unit is multiplied by to be one in the unit that is asked for.
pub(crate) fn factor(typed: &str, asked: Option<&str>) -> Result<f64, ReadNumberError> {
    if asked.is_some_and(|asked| asked.eq_ignore_ascii_case(typed)) {
        return Ok(1.0);
    }
    let none = || Unit { prefix: 1.0, base: 1.0, dimension: String::new() };
    let wanted = asked.and_then(unit).unwrap_or_else(none);
    if let Some(&(_, factor)) = PREFIXES.iter().find(|(name, _)| *name == typed) {
        return Ok(factor / wanted.prefix);
    }
    let is_named = |dimension: &str| UNITS.iter().any(|(.., known)| *known == dimension);
    let parts = wanted.dimension.split('/');
    let counts =
        parts.clone().count() == 1 && !parts.clone().any(|part| !part.is_empty() && is_named(part));
    // 70B parameters: a count knows no bytes.
    if counts && typed == BILLIONS.0 {
        return Ok(BILLIONS.1);
    }
    let refused = || match asked {
        Some(wanted) => {
            ReadNumberError::OtherUnit { typed: typed.to_owned(), wanted: wanted.to_owned() }
        }
        None => ReadNumberError::NoUnit(typed.to_owned()),
    };
    let given = unit(typed).ok_or_else(refused)?;
    let is_rate =
        typed.ends_with("OPS") && wanted.dimension == format!("{}/second", given.dimension);
    // A word behind a number without a unit says what is counted.
    let is_count = asked.is_none() && !given.dimension.contains('/') && !is_named(&given.dimension);
    if given.dimension == wanted.dimension || is_rate || is_count {
        return Ok(given.prefix * given.base / (wanted.prefix * wanted.base));
    }
    Err(refused())
}
