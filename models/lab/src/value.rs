//! The values that parameters and metrics take.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use toml_writer::{ToTomlValue, TomlStringBuilder};

/// A parameter's or a metric's value; TOML reads into it and JSON is written from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    Bool(bool),
    /// An exact count.
    Int(i64),
    /// A real number; never NaN or infinite once it has left a lab.
    Float(f64),
    /// A name or free text.
    Text(String),
    /// A list, possibly nested.
    Array(Vec<Value>),
    /// Named values, in the order of their names.
    Table(BTreeMap<String, Value>),
}

impl Value {
    /// The value as a number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            // A count above 2^53 loses its last bits here; metrics that need them stay integers in the output.
            Self::Int(i) => Some(*i as f64),
            Self::Float(x) => Some(*x),
            Self::Bool(_) | Self::Text(_) | Self::Array(_) | Self::Table(_) => None,
        }
    }

    /// The value as text, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// A value inside, by a dotted path such as `path.fp32.clock_hertz`.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |value, part| {
            if let Self::Table(entries) = value { entries.get(part) } else { None }
        })
    }

    /// Whether every number in the value is finite.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Float(x) => x.is_finite(),
            Self::Array(items) => items.iter().all(Self::is_finite),
            Self::Table(entries) => entries.values().all(Self::is_finite),
            Self::Bool(_) | Self::Int(_) | Self::Text(_) => true,
        }
    }

    /// The value as TOML writes it, on one line.
    pub fn to_toml(&self) -> String {
        match self {
            Self::Bool(b) => b.to_string(),
            Self::Int(i) => i.to_string(),
            Self::Float(x) => format!("{x:?}"),
            Self::Text(text) => toml_string(text),
            Self::Array(items) => {
                format!("[{}]", joined(items.iter().map(Self::to_toml)))
            }
            Self::Table(entries) => {
                let entry = |(name, value): (&String, &Self)| {
                    format!("{} = {}", toml_string(name), value.to_toml())
                };
                format!("{{ {} }}", joined(entries.iter().map(entry)))
            }
        }
    }

    /// The name of the value's type, for messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(i) => write!(f, "{i}"),
            Self::Float(x) => f.write_str(&number(*x)),
            Self::Text(text) => f.write_str(text),
            Self::Array(items) => write!(f, "[{}]", joined(items)),
            Self::Table(entries) => {
                let entries = entries.iter().map(|(name, value)| format!("{name} = {value}"));
                write!(f, "{{ {} }}", joined(entries))
            }
        }
    }
}

fn joined(items: impl IntoIterator<Item = impl fmt::Display>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

macro_rules! from {
    ($($ty:ty => $variant:ident),*) => {$(
        impl From<$ty> for Value {
            fn from(value: $ty) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from!(bool => Bool, i64 => Int, f64 => Float, &str => Text, String => Text);

/// JSON has no NaN: what was not finite was written as null and is read as NaN.
pub(crate) fn gaps_as_nan<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + From<f32>,
{
    let values = Vec::<Option<T>>::deserialize(from)?;
    let gap = || T::from(f32::NAN);
    Ok(values.into_iter().map(|x| x.unwrap_or_else(gap)).collect())
}

/// A text as a TOML string on one line.
pub fn toml_string(text: &str) -> String {
    TomlStringBuilder::new(text).as_basic().to_toml_value()
}

/// A text as a TOML string, on several lines if it has several.
pub fn toml_lines(text: &str) -> String {
    if text.contains('\n') {
        TomlStringBuilder::new(text).as_ml_basic().to_toml_value()
    } else {
        toml_string(text)
    }
}

/// A number as a person writes it: plain between a thousandth and a million, with an exponent outside.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || (1e-3..1e6).contains(&size) {
        // Six significant digits, without the zeros that say nothing.
        let digits = (5 - size.max(1e-3).log10().floor() as i32).clamp(0, 8) as usize;
        let text = format!("{x:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        let text = format!("{x:.5e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) if mantissa.contains('.') => {
                let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
                format!("{mantissa}e{exponent}")
            }
            Some(_) | None => text,
        }
    }
}

/// How a unit of a schema stands behind a number: `FLOP/s` for `flop/s`, `B` for `bytes`; another one as it is.
pub fn unit_symbol(unit: &str) -> &str {
    match unit {
        "seconds" => "s",
        "joules" => "J",
        "bytes" => "B",
        "bytes/s" => "B/s",
        "flops" => "FLOP",
        "flop/s" => "FLOP/s",
        "flop/B" | "flops/byte" => "FLOP/B",
        other => other,
    }
}

/// A count with what is counted, such as `1 line` and `2 lines`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// The nearest number with `digits` significant digits.
pub fn significant(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x)
}

/// A share as a person says it, such as `70.2 %`, or `0.003 %` where that would round to nothing.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent == 0.0 || !percent.is_finite() || percent.abs() >= 0.995 {
        return format!("{percent:.1} %");
    }
    format!("{} %", number(significant(percent, 2)))
}

/// A length of time as a person says it, with three digits.
pub fn duration(seconds: f64) -> String {
    let (unit, length) = match seconds {
        s if s < 120.0 => ("s", 1.0),
        s if s < 7200.0 => ("min", 60.0),
        s if s < 172_800.0 => ("h", 3600.0),
        s if s < 63_115_200.0 => ("days", 86_400.0),
        _ => ("years", 31_557_600.0),
    };
    format!("{} {unit}", number(significant(seconds / length, 3)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{duration, number, percent, significant, toml_lines, toml_string};

    #[test]
    fn a_number_is_rounded_to_its_digits_whatever_its_size() {
        for (x, digits, rounded) in [
            (1234.5, 3, 1230.0),
            (-0.000_996, 2, -0.001),
            (1e300, 1, 1e300),
            (5e-324, 3, 5e-324),
            (0.0, 2, 0.0),
            (f64::INFINITY, 2, f64::INFINITY),
        ] {
            assert_eq!(significant(x, digits), rounded);
        }
        assert!(significant(f64::NAN, 3).is_nan());
    }

    #[test]
    fn texts_are_written_as_toml_reads_them() {
        for text in ["", "a \"b\" \\ \t", "two\nlines \"\"\" \\", "\u{1b}[31m", "é"] {
            for written in [toml_string(text), toml_lines(text)] {
                let read: BTreeMap<String, String> =
                    toml::from_str(&format!("text = {written}")).unwrap();
                assert_eq!(read["text"], text, "{written}");
            }
            assert!(!toml_string(text).contains('\n'));
        }
    }

    #[test]
    fn numbers_shares_and_durations_read_as_people_write_them() {
        for (x, text) in [
            (0.0, "0"),
            (0.95, "0.95"),
            (1218.0, "1218"),
            (0.001, "0.001"),
            (1e6, "1e6"),
            (1.5e12, "1.5e12"),
            (-0.25, "-0.25"),
            (1.0 / 3.0, "0.333333"),
            (123_456.0, "123456"),
            (1e-9, "1e-9"),
        ] {
            assert_eq!(number(x), text);
        }
        for (seconds, told) in [
            (0.5, "0.5 s"),
            (119.0, "119 s"),
            (817.377, "13.6 min"),
            (11135.0, "3.09 h"),
            (22_805_000.0, "264 days"),
            (1.8e8, "5.7 years"),
        ] {
            assert_eq!(duration(seconds), told, "{seconds}");
        }
        for (share, text) in [
            (0.701988, "70.2 %"),
            (0.0, "0.0 %"),
            (1.0, "100.0 %"),
            (0.000032644, "0.0033 %"),
            (5.1e-7, "5.1e-5 %"),
            (0.00096, "0.096 %"),
            (0.0013, "0.13 %"),
            (0.00996, "1.0 %"),
            (-0.25, "-25.0 %"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
    }
}
