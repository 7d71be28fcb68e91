//! A finished run as one JSON object.

use serde_json::{Map, Value as Json, json};

use crate::device::DeviceId;
use crate::params::{Origin, Params};
use crate::report::RunData;
use crate::schema::{Schema, Type};
use crate::value::Value;

/// The object that `mlsys lab KIND --json` prints: lab, params, device, seed, metrics, series, provenance.
///
/// `series` holds the values of each series and `series_steps` the steps they were taken at.
/// Analytic labs have no device, but where a run was given one, and a seed only if they have the parameter. Numbers that are not finite are left out.
pub fn to_json(schema: &Schema, params: &Params, device: DeviceId, data: &RunData) -> Json {
    let set: Map<String, Json> =
        params.in_effect(schema).map(|(n, v)| (n.to_owned(), value(v))).collect();
    let metrics: Map<String, Json> = data
        .metrics()
        .into_iter()
        .map(|(n, v)| (n.to_owned(), value(&counted(schema, n, v))))
        .collect();
    let steps = data.series.iter().map(|(name, series)| {
        let steps = series.points().iter().map(|&(step, _)| json!(step));
        (name.to_string(), steps.collect())
    });
    let mut object = json!({
        "lab": schema.kind,
        "params": set,
        "metrics": metrics,
        "labels": labels(schema, data),
        "provenance": provenance(schema, params),
    });
    if schema.is_live() {
        object["device"] = json!(device.to_string());
        object["series"] = Json::Object(series(schema, data));
        object["series_steps"] = Json::Object(steps.collect());
        if let Some((step, reason)) = &data.diverged {
            object["divergence"] = json!({ "step": step, "reason": reason });
        }
        if !data.changes.is_empty() {
            let changes = data.changes.iter().map(|change| {
                json!({ "step": change.step, "name": change.name, "value": value(&change.value) })
            });
            object["changes"] = changes.collect();
        }
    } else if schema.uses_device(params) {
        object["device"] = json!(device.to_string());
    } else {
        object["device"] = Json::Null;
    }
    object["seed"] = params.get("seed").map_or(Json::Null, value);
    object
}

/// Where each metric's value comes from, in one word.
fn labels(schema: &Schema, data: &RunData) -> Map<String, Json> {
    let names = data.metrics().into_keys();
    let labelled = names.filter_map(|name| Some((name, schema.label(schema.metric(name)?))));
    labelled.map(|(name, label)| (name.to_owned(), json!(label.to_string()))).collect()
}

fn series(schema: &Schema, data: &RunData) -> Map<String, Json> {
    data.series
        .iter()
        .map(|(name, series)| {
            let values = series.points().iter();
            let values = values.map(|&(_, x)| value(&counted(schema, name, Value::Float(x))));
            (name.to_string(), values.collect())
        })
        .collect()
}

/// A series holds numbers; one that counts is printed as the integers that they are.
fn counted(schema: &Schema, name: &str, value: Value) -> Value {
    /// Up to here every whole number is a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_count = schema.metric(name).is_some_and(|metric| metric.ty == Type::Int);
    match value {
        Value::Float(x) if is_count && x.fract() == 0.0 && x.abs() <= EXACT => Value::Int(x as i64),
        Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Array(_)
        | Value::Table(_) => value,
    }
}

/// Where the numbers come from: formula, sources, and the table entry behind each parameter that has one.
fn provenance(schema: &Schema, params: &Params) -> Json {
    let tables: Map<String, Json> = params
        .iter()
        .filter_map(|(name, _)| match params.origin(name)? {
            Origin::Table(entry) => Some((name.to_owned(), json!(entry))),
            Origin::Set | Origin::Default | Origin::Seed => None,
        })
        .collect();
    json!({
        "mlsys": env!("CARGO_PKG_VERSION"),
        "formula": schema.formula,
        "source": schema.source,
        "tables": tables,
    })
}

/// A value as JSON; counts stay integers.
pub fn value(value: &Value) -> Json {
    match value {
        Value::Bool(b) => json!(b),
        Value::Int(i) => json!(i),
        Value::Float(x) => json!(x),
        Value::Text(text) => json!(text),
        Value::Array(items) => items.iter().map(self::value).collect(),
        Value::Table(entries) => {
            Json::Object(entries.iter().map(|(name, v)| (name.clone(), self::value(v))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Settings;
    use crate::report::Report;
    use crate::tables::Tables;

    #[test]
    fn counts_are_integers_and_series_come_with_their_steps() {
        let schema = Schema::parse(
            "kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\nbudget=1.0\n\
             [[metric]]\nname='seen'\ntype='int'\nseries=true\nabout='a count'\n\
             [[metric]]\nname='share'\ntype='float'\nseries=true\nabout='a share'",
        )
        .unwrap();
        let params = Params::resolve(&schema, &Settings::new(), Tables::builtin(), None).unwrap();
        let mut data = RunData::default();
        for (name, step, value) in [("seen", 1, 64.0), ("seen", 10, 640.0), ("share", 1, 2.0)] {
            data.apply(Report::Point { name: name.into(), step, value });
        }
        let json = to_json(&schema, &params, DeviceId::CPU, &data);
        assert_eq!(json["metrics"], json!({ "seen": 640, "share": 2.0 }));
        assert_eq!(json["labels"], json!({ "seen": "computed", "share": "computed" }));
        assert_eq!(json["series"], json!({ "seen": [64, 640], "share": [2.0] }));
        assert_eq!(json["series_steps"], json!({ "seen": [1, 10], "share": [1] }));
        assert!(json["metrics"]["seen"].is_i64() && json["metrics"]["share"].is_f64());
    }
}
