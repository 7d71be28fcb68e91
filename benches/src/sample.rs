//! Measured values, and the table and the JSON they are shown as.

use serde_json::{Value as Json, json};

use mlsys_run::console::Console;
use mlsys_run::process::Failure;
use mlsys_view::text::aligned;

/// One figure: what it is, its unit, and every value measured.
pub struct Sample {
    /// What was measured.
    pub name: String,
    /// The unit of the values.
    pub unit: &'static str,
    /// All values, in the order they were measured.
    pub values: Vec<f64>,
}

impl Sample {
    /// A figure of values.
    pub fn new(name: impl Into<String>, unit: &'static str, values: Vec<f64>) -> Self {
        Self { name: name.into(), unit, values }
    }

    /// The value that a share of all values does not exceed; NaN if there is none.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let at = (share * last as f64).ceil() as usize;
        sorted.get(at).copied().unwrap_or(f64::NAN)
    }

    /// The middle value.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }
}

/// Prints figures as a table, or as one JSON object.
pub fn show(
    bench: &str,
    samples: &[Sample],
    json: bool,
    console: &mut Console,
) -> Result<(), Failure> {
    if json {
        let figures: serde_json::Map<String, Json> =
            samples.iter().map(|sample| (sample.name.clone(), object(sample))).collect();
        return console.line(json!({ "bench": bench, "figures": figures }));
    }
    let head = ["", "median", "least", "99 %", "most", "unit", "values"].map(str::to_owned);
    let mut rows = vec![head.to_vec()];
    rows.extend(samples.iter().map(row));
    aligned(&rows).into_iter().try_for_each(|line| console.line(line))
}

fn row(sample: &Sample) -> Vec<String> {
    let figure = |share| format!("{:.4}", sample.quantile(share));
    vec![
        sample.name.clone(),
        figure(0.5),
        figure(0.0),
        figure(0.99),
        figure(1.0),
        sample.unit.to_owned(),
        sample.values.len().to_string(),
    ]
}

fn object(sample: &Sample) -> Json {
    json!({
        "unit": sample.unit,
        "median": sample.median(),
        "least": sample.quantile(0.0),
        "p99": sample.quantile(0.99),
        "most": sample.quantile(1.0),
        "values": sample.values,
    })
}

#[cfg(test)]
mod tests {
    use super::Sample;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let sample = Sample::new("x", "s", vec![4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!((sample.median(), sample.quantile(0.0)), (3.0, 1.0));
        assert_eq!((sample.quantile(0.99), sample.quantile(1.0)), (5.0, 5.0));
        assert!(Sample::new("none", "s", vec![]).median().is_nan());
    }
}
