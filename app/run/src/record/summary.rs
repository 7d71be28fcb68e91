//! What lists of runs show and search: the last values of metrics, and parameters.

use mlsys_lab::schema::Schema;

use super::read::{RunStatus, Summary, value_text};

impl Summary {
    /// The last values of the first metrics in the schema's order, or of the first by name; empty until it has ended.
    pub fn results(&self, schema: Option<&Schema>, most: usize) -> Vec<(&str, f64)> {
        let RunStatus::Ended(end) = &self.status else { return Vec::new() };
        let known = end["results"].as_object().into_iter().flatten();
        let numbers = known.filter_map(|(name, value)| Some((name.as_str(), value.as_f64()?)));
        let place = |name: &str| {
            let metrics = schema.into_iter().flat_map(|schema| &schema.metrics);
            metrics.clone().position(|metric| metric.name == name).unwrap_or(usize::MAX)
        };
        let mut results: Vec<_> = numbers.collect();
        results.sort_by_key(|(name, _)| place(name));
        results.truncate(most);
        results
    }

    /// Whether a parameter has a value, written as on the command line.
    pub fn has(&self, param: &str, value: &str) -> bool {
        let same = |text: &str| match (text.parse::<f64>(), value.parse::<f64>()) {
            (Ok(known), Ok(asked)) => known == asked,
            (Ok(_) | Err(_), Ok(_) | Err(_)) => text == value,
        };
        self.params_json().any(|(name, json)| name == param && same(&value_text(json)))
    }
}
