//! What a quantity can be: an interval that its unit implies, or that its schema states.

use std::fmt;

use crate::report::RunData;
use crate::schema::{Metric, Schema, SchemaError, Type};
use crate::value::{Value, number};

/// An interval with both of its ends; an infinite end bounds nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub min: f64,
    pub max: f64,
}

/// Units of shares, in the singular. A percentage is none: 150 percent more is a number too.
const SHARES: &[&str] = &["share", "fraction", "probability", "occupancy"];

/// Units of amounts, in the singular: what is counted, or measured from zero. A level (dB) or a price may be negative.
const AMOUNTS: &[&str] = &[
    "activation",
    "batch",
    "bit",
    "block",
    "byte",
    "chip",
    "core",
    "cycle",
    "day",
    "doubling",
    "element",
    "epoch",
    "example",
    "flop",
    "gpu",
    "gram",
    "head",
    "hertz",
    "hour",
    "image",
    "instruction",
    "joule",
    "kernel",
    "kg",
    "lane",
    "launch",
    "layer",
    "load",
    "message",
    "meter",
    "microbatch",
    "minute",
    "month",
    "multiplication",
    "multiply-add",
    "nat",
    "node",
    "number",
    "op",
    "operation",
    "parameter",
    "pass",
    "point",
    "product",
    "rank",
    "register",
    "request",
    "sample",
    "sec",
    "second",
    "sector",
    "sequence",
    "slot",
    "stage",
    "step",
    "store",
    "thread",
    "tick",
    "tile",
    "time",
    "token",
    "tonne",
    "transaction",
    "update",
    "value",
    "warp",
    "watt",
    "week",
    "weight",
    "word",
    "year",
];

/// The same as symbols, which may have a prefix.
const SYMBOLS: &[&str] =
    &["B", "b", "s", "min", "h", "d", "W", "Wh", "J", "Hz", "FLOP", "FLOPS", "OPS", "F", "x"];

const PREFIXES: &[&str] =
    &["Ki", "Mi", "Gi", "Ti", "k", "K", "M", "G", "T", "P", "E", "m", "u", "µ", "n", "p"];

impl Range {
    pub const ALL: Self = Self { min: f64::NEG_INFINITY, max: f64::INFINITY };

    /// What is counted, or measured from zero.
    pub const AMOUNT: Self = Self { min: 0.0, max: f64::INFINITY };

    pub const SHARE: Self = Self { min: 0.0, max: 1.0 };

    /// Between two ends, either of which may be open.
    pub fn between(min: Option<f64>, max: Option<f64>) -> Self {
        Self { min: min.unwrap_or(Self::ALL.min), max: max.unwrap_or(Self::ALL.max) }
    }

    /// What a unit such as `GB`, `tokens/s` or `share` implies; a unit that is not known implies nothing.
    pub fn of_unit(unit: &str) -> Self {
        let per = [" per ", " a ", "/"].into_iter().filter_map(|per| unit.find(per)).min();
        let counted = unit.get(..per.unwrap_or(unit.len())).unwrap_or(unit);
        // The noun stands last in "million parameters" and first in "times as fast".
        let mut words = counted.split_whitespace();
        let ends = [words.next_back(), words.next()].into_iter().flatten();
        ends.map(Self::of_word).find(|range| *range != Self::ALL).unwrap_or(Self::ALL)
    }

    fn of_word(word: &str) -> Self {
        let lower = word.to_lowercase();
        let is_one_of = |nouns: &[&str]| {
            nouns.iter().any(|noun| {
                lower.strip_prefix(noun).is_some_and(|end| matches!(end, "" | "s" | "es"))
            })
        };
        let is_symbol = |text: &str| SYMBOLS.contains(&text);
        let is_prefixed = PREFIXES.iter().any(|one| word.strip_prefix(one).is_some_and(is_symbol));
        if is_one_of(SHARES) {
            Self::SHARE
        } else if is_one_of(AMOUNTS) || is_symbol(word) || is_prefixed {
            Self::AMOUNT
        } else {
            Self::ALL
        }
    }

    /// Whether a number lies in it, up to what arithmetic rounds.
    pub fn contains(self, x: f64) -> bool {
        const ARITHMETIC: f64 = 1e-9;
        let slack = |end: f64| ARITHMETIC * end.abs().max(1.0);
        x >= self.min - slack(self.min) && x <= self.max + slack(self.max)
    }
}

/// In words that follow "outside": `0 to 1`, `0 and above`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (min, max) = (number(self.min), number(self.max));
        match (self.min.is_finite(), self.max.is_finite()) {
            (true, true) => write!(f, "{min} to {max}"),
            (true, false) => write!(f, "{min} and above"),
            (false, true) => write!(f, "{max} and below"),
            (false, false) => f.write_str("the finite numbers"),
        }
    }
}

impl Metric {
    /// What its values, of a list its numbers, can be: as its schema states, otherwise as its unit implies. A whole
    /// number counts something.
    pub fn range(&self) -> Range {
        let implied = match (&self.unit, self.ty) {
            (Some(unit), _) => Range::of_unit(unit),
            (None, Type::Int) => Range::AMOUNT,
            (None, _) => Range::ALL,
        };
        Range { min: self.min.unwrap_or(implied.min), max: self.max.unwrap_or(implied.max) }
    }

    /// What contradicts itself in its range.
    pub fn range_problem(&self) -> Option<String> {
        let Self { min, max, ty, .. } = self;
        let has_numbers = match ty {
            Type::Int | Type::Float | Type::Array => true,
            Type::Bool | Type::String | Type::Enum | Type::Table => false,
        };
        if !has_numbers && (min.is_some() || max.is_some()) {
            return Some(format!("a metric of type {ty} has no `min` and no `max`"));
        }
        if [min, max].into_iter().flatten().any(|end| end.is_nan()) {
            return Some("`min` and `max` are numbers, and nan is none".to_owned());
        }
        let Range { min, max } = self.range();
        (min > max)
            .then(|| format!("`min` is {}, which is above `max`, {}", number(min), number(max)))
    }
}

/// A number that a run reported and that its metric cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("metric {metric}: {value} is outside {range}")]
pub struct OutOfRange {
    pub metric: String,
    pub value: f64,
    pub range: Range,
}

impl Schema {
    /// The first number of a run outside of what its metric can be; one that is not finite is told elsewhere.
    pub fn out_of_range(&self, data: &RunData) -> Option<OutOfRange> {
        let points = data.series.iter().flat_map(|(name, series)| {
            series.points().iter().map(move |(_, value)| (&**name, *value))
        });
        let scalars = data.scalars.iter();
        let scalars = scalars.flat_map(|(name, value)| {
            numbers(value).into_iter().map(move |value| (&**name, value))
        });
        points.chain(scalars).filter(|(_, value)| value.is_finite()).find_map(|(name, value)| {
            let range = self.metric(name)?.range();
            let outside = || OutOfRange { metric: name.to_owned(), value, range };
            (!range.contains(value)).then(outside)
        })
    }

    pub(super) fn check_ranges(&self) -> Result<(), SchemaError> {
        self.metrics.iter().try_for_each(|metric| match metric.range_problem() {
            Some(problem) => Err(self.error(format!("metric {}: {problem}", metric.name))),
            None => Ok(()),
        })
    }
}

/// The numbers of a value, nested or not.
fn numbers(value: &Value) -> Vec<f64> {
    if let Value::Array(items) = value {
        items.iter().flat_map(numbers).collect()
    } else {
        value.as_f64().into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Report;

    #[test]
    fn units_imply_ranges() {
        for (unit, range) in [
            ("bytes", Range::AMOUNT),
            ("GiB", Range::AMOUNT),
            ("MWh", Range::AMOUNT),
            ("flop/s", Range::AMOUNT),
            ("GB a sequence", Range::AMOUNT),
            ("million parameters", Range::AMOUNT),
            ("times as fast", Range::AMOUNT),
            ("batches", Range::AMOUNT),
            ("share", Range::SHARE),
            ("share taken", Range::SHARE),
            ("probability", Range::SHARE),
            ("dB", Range::ALL),
            ("%", Range::ALL),
            ("degrees", Range::ALL),
            ("", Range::ALL),
        ] {
            assert_eq!(Range::of_unit(unit), range, "{unit}");
        }
    }

    #[test]
    fn ends_belong_to_a_range_and_rounding_does_no_harm() {
        for (range, inside, outside, words) in [
            (
                Range::SHARE,
                &[0.0, 1.0, 1.0 + 1e-12, -1e-12][..],
                &[-0.1, 1.001, 93.0, f64::NAN][..],
                "0 to 1",
            ),
            (Range::AMOUNT, &[0.0, 1e300, f64::INFINITY], &[-1e-3, f64::NAN], "0 and above"),
            (Range::between(None, Some(2.5)), &[-1e9, 2.5], &[2.6], "2.5 and below"),
            (Range::ALL, &[-1e300, 0.0], &[f64::NAN], "the finite numbers"),
        ] {
            assert!(inside.iter().all(|x| range.contains(*x)), "{range:?}");
            assert!(!outside.iter().any(|x| range.contains(*x)), "{range:?}");
            assert_eq!(range.to_string(), words);
        }
    }

    fn schema(metric: &str) -> Result<Schema, SchemaError> {
        Schema::parse(&format!(
            "kind='k'\ntitle=''\nmodule='gpu'\nabout=''\nsource=''\n\
             [[metric]]\nname='m'\nabout=''\n{metric}\n"
        ))
    }

    #[test]
    fn what_a_schema_states_comes_before_what_its_unit_implies() {
        for (metric, range) in [
            ("type='float'\nunit='bytes'", Range::AMOUNT),
            ("type='float'\nunit='bytes'\nmin=-inf", Range::ALL),
            ("type='float'\nunit='share'\nmax=2", Range { min: 0.0, max: 2.0 }),
            ("type='array'\nmin=-1\nmax=1", Range { min: -1.0, max: 1.0 }),
            ("type='float'", Range::ALL),
            ("type='int'", Range::AMOUNT),
            ("type='int'\nmin=-inf", Range::ALL),
            ("type='int'\nunit='dB'", Range::ALL),
        ] {
            assert_eq!(schema(metric).unwrap().metrics[0].range(), range, "{metric}");
        }
        for (metric, complaint) in [
            ("type='float'\nmin=2\nmax=1", "metric m: `min` is 2, which is above `max`, 1"),
            ("type='float'\nunit='share'\nmin=2", "`min` is 2, which is above `max`, 1"),
            ("type='bool'\nmax=1", "type bool has no `min`"),
            ("type='float'\nmax=nan", "nan is none"),
            ("type='float'\nmax='1'", "invalid type"),
        ] {
            let error = schema(metric).unwrap_err().to_string();
            assert!(error.contains(complaint), "{metric}: {error}");
        }
    }

    #[test]
    fn a_run_is_held_against_the_ranges() {
        let schema = schema("type='array'\nunit='share'").unwrap();
        let outside = |values: &[f64]| {
            let mut data = RunData::default();
            let value = Value::Array(values.iter().map(|x| Value::Float(*x)).collect());
            data.apply(Report::Scalar { name: "m".into(), value });
            schema.out_of_range(&data).map(|outside| outside.to_string())
        };
        assert_eq!(outside(&[0.0, 1.0, f64::NAN]), None);
        assert_eq!(outside(&[0.5, 1.5]).unwrap(), "metric m: 1.5 is outside 0 to 1");
        let mut data = RunData::default();
        data.apply(Report::Point { name: "m".into(), step: 1, value: -0.5 });
        data.apply(Report::Point { name: "m".into(), step: 2, value: 0.5 });
        assert_eq!(schema.out_of_range(&data).map(|outside| outside.value), Some(-0.5));
    }
}
