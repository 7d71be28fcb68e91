//! Finds a panel's metrics in a run, families included, and lists their latest values.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use mlsys_lab::frame::{Bar, Bars, Table};
use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Label, Panel, Schema};
use mlsys_lab::value::Value;

use crate::glyphs::Glyphs;
use crate::quantity::quantity;

/// The metrics of a panel that a run has, in the panel's order; `name.*` gives each member of a family.
pub fn expand<'a>(patterns: &'a [String], data: &'a RunData) -> Vec<&'a str> {
    let mut found = Vec::new();
    for pattern in patterns {
        match pattern.strip_suffix('*') {
            Some(stem) => {
                let names = data.series.keys().chain(data.scalars.keys()).map(AsRef::as_ref);
                let members: BTreeSet<&str> = names.filter(|n| n.starts_with(stem)).collect();
                let mut members: Vec<&str> = members.into_iter().collect();
                members.sort_by(|a, b| natural(a, b));
                found.extend(members);
            }
            None => {
                let known = data.series.contains_key(pattern.as_str())
                    || data.scalars.contains_key(pattern.as_str());
                if known {
                    found.push(pattern.as_str());
                }
            }
        }
    }
    found
}

/// Orders names so that `layer2` comes before `layer10`.
fn natural(a: &str, b: &str) -> Ordering {
    fn split(name: &str) -> (&str, u64) {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        (stem, name[stem.len()..].parse().unwrap_or(0))
    }
    split(a).cmp(&split(b)).then_with(|| a.cmp(b))
}

/// The part of the names that tells them apart: members of one family lose the family's name.
pub fn short_names<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let stem = names.first().and_then(|n| n.rfind('.')).map_or(0, |dot| dot + 1);
    let shared = names.len() > 1 && names.iter().all(|n| n.get(..stem) == names[0].get(..stem));
    let cut = if shared { stem } else { 0 };
    names.iter().map(|n| n.get(cut..).unwrap_or(n)).collect()
}

/// Where a metric's value comes from; nothing for one that no schema foresees.
pub fn label_of(schema: &Schema, metric: &str) -> Option<Label> {
    schema.metric(metric).map(|metric| schema.label(metric))
}

/// The word behind a metric's value in a panel; nothing where the panel's title has it.
pub fn own_label(schema: &Schema, panel: &Panel, metric: &str) -> Option<Label> {
    label_of(schema, metric).filter(|label| Some(*label) != schema.panel_label(panel))
}

pub fn unit<'a>(schema: &'a Schema, metric: &str) -> Option<&'a str> {
    schema.metric(metric)?.unit.as_deref()
}

/// Whether two values are equal, whole numbers and others alike.
pub(crate) fn is_same(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().is_some_and(|x| b.as_f64() == Some(x))
}

/// Whether the newest entry of a metric was not finite.
pub(crate) fn is_broken(data: &RunData, metric: &str) -> bool {
    data.series.get(metric).is_some_and(|s| s.ends_in_gap())
}

/// The step of the newest value of a panel's metrics; nothing where they are not over steps.
pub(crate) fn newest_step(panel: &Panel, data: &RunData) -> Option<u64> {
    let names = expand(&panel.metrics, data).into_iter();
    let series = names.filter_map(|name| data.series.get(name));
    series
        .filter_map(|of| of.points().last().map(|(step, _)| *step).max(of.gaps().last().copied()))
        .max()
}

/// What takes the time: `forward` of `forward_seconds`, whose unit stands behind the number.
fn timed_part<'a>(name: &'a str, unit: Option<&str>) -> &'a str {
    let part = name.strip_suffix("_seconds").filter(|_| unit == Some("seconds"));
    part.unwrap_or(name)
}

/// What metrics that differ after a dot have in common: `gradient norm` of `gradient_norm.layer1`.
fn quantity_of(names: &[&str]) -> String {
    let families = names.iter().map(|name| name.split_once('.').map(|(family, _)| family));
    let common = families.reduce(|one, other| one.filter(|family| Some(*family) == other));
    common.flatten().map_or_else(String::new, |family| family.replace('_', " "))
}

/// The latest values as bars. A series that ends in NaN or infinity has none.
pub fn bars(schema: &Schema, panel: &Panel, data: &RunData) -> Bars {
    let names = expand(&panel.metrics, data);
    let labels = short_names(&names);
    let unit = names.first().and_then(|n| unit(schema, n));
    let bars = names.iter().zip(labels).map(|(name, label)| {
        let value = data.metric(name).and_then(|v| v.as_f64());
        // The hatching of a modelled bar needs the word also where all bars are.
        let modelled = label_of(schema, name).filter(|label| *label == Label::Modelled);
        let remark = own_label(schema, panel, name).or(modelled);
        Bar {
            label: timed_part(label, unit).to_owned(),
            value: value.filter(|_| !is_broken(data, name)),
            remark: remark.map_or_else(String::new, |label| label.to_string()),
        }
    });
    Bars {
        quantity: quantity_of(&names),
        unit: unit.unwrap_or("").to_owned(),
        scale: panel.scale,
        bars: bars.collect(),
    }
}

pub fn table(schema: &Schema, panel: &Panel, data: &RunData, glyphs: &Glyphs) -> Table {
    let names = expand(&panel.metrics, data);
    let is_mixed = names.iter().any(|name| own_label(schema, panel, name).is_some());
    let rows = names.into_iter().map(|name| {
        let value = match data.metric(name) {
            Some(_) | None if is_broken(data, name) => Value::from("not finite"),
            Some(value) => match value.as_f64() {
                Some(x) => quantity(x, unit(schema, name), glyphs).into(),
                None => value,
            },
            None => Value::from("no value"),
        };
        let label = label_of(schema, name).filter(|_| is_mixed).map(|label| label.to_string());
        [Value::from(name), value].into_iter().chain(label.map(Value::from)).collect()
    });
    let mut columns = vec!["metric".to_owned(), "value".to_owned()];
    if is_mixed {
        columns.push("label".to_owned());
    }
    Table::new(columns, rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::fixtures;

    #[test]
    fn a_panel_is_as_new_as_its_newest_value() {
        let mut data = RunData { step: 9, ..RunData::default() };
        let schema = fixtures::schema();
        let mut panel = schema.panels[0].clone();
        panel.metrics = vec!["norm.*".to_owned()];
        assert_eq!(newest_step(&panel, &data), None);
        data.scalars.insert("norm.end".into(), Value::Float(1.0));
        assert_eq!(newest_step(&panel, &data), None);
        for (name, steps) in [("norm.a", &[1, 3][..]), ("norm.b", &[4]), ("loss", &[9])] {
            let series = data.series.entry(name.into()).or_default();
            steps.iter().for_each(|step| series.push(*step, f64::from(*step as u32)));
        }
        assert_eq!(newest_step(&panel, &data), Some(4));
        data.series.entry("norm.a".into()).or_default().push(5, f64::NAN);
        assert_eq!(newest_step(&panel, &data), Some(5));
    }

    #[test]
    fn families_expand_in_natural_order() {
        let mut data = RunData::default();
        for name in ["norm.layer10", "norm.layer2", "norm.layer1", "loss", "normal"] {
            data.scalars.insert(name.into(), Value::Float(1.0));
        }
        let patterns = ["loss".to_owned(), "absent".to_owned(), "norm.*".to_owned()];
        let names = expand(&patterns, &data);
        assert_eq!(names, ["loss", "norm.layer1", "norm.layer2", "norm.layer10"]);
        assert_eq!(short_names(&names[1..]), ["layer1", "layer2", "layer10"]);
        assert_eq!(short_names(&names), names);
        assert_eq!(short_names(&["norm.layer1"]), ["norm.layer1"]);
        for (name, unit, short) in [
            ("forward_seconds", Some("seconds"), "forward"),
            ("forward_seconds", Some("bytes"), "forward_seconds"),
            ("forward_seconds", None, "forward_seconds"),
            ("seconds", Some("seconds"), "seconds"),
        ] {
            assert_eq!(timed_part(name, unit), short);
        }
    }
}
