//! A finished run as one JSON object.

use serde_json::{Map, Value as Json, json};

use crate::device::DeviceId;
use crate::params::{Origin, Params};
use crate::report::RunData;
use crate::schema::Schema;
use crate::value::Value;

/// The object that `mlsys lab KIND --json` prints: lab, params, device, seed, metrics, series, provenance.
///
/// `series` holds the values of each series and `series_steps` the steps they were taken at.
/// Analytic labs have no device and a seed only if they have the parameter. Numbers that are not finite are left out.
pub fn to_json(schema: &Schema, params: &Params, device: DeviceId, data: &RunData) -> Json {
    let set: Map<String, Json> = params
        .iter()
        .map(|(n, v)| (n.to_owned(), value(v)))
        .collect();
    let metrics: Map<String, Json> = data
        .metrics()
        .into_iter()
        .map(|(n, v)| (n.to_owned(), value(&v)))
        .collect();
    let listed = |pick: fn(&(u64, f64)) -> Json| -> Map<String, Json> {
        data.series
            .iter()
            .map(|(name, series)| (name.to_string(), series.points().iter().map(pick).collect()))
            .collect()
    };
    let mut object = json!({
        "lab": schema.kind,
        "params": set,
        "metrics": metrics,
        "provenance": provenance(schema, params),
    });
    if schema.is_live() {
        object["device"] = json!(device.to_string());
        object["series"] = Json::Object(listed(|&(_, value)| json!(value)));
        object["series_steps"] = Json::Object(listed(|&(step, _)| json!(step)));
        if let Some((step, reason)) = &data.diverged {
            object["divergence"] = json!({ "step": step, "reason": reason });
        }
        if !data.changes.is_empty() {
            let changes = data.changes.iter().map(|change| {
                json!({ "step": change.step, "name": change.name, "value": value(&change.value) })
            });
            object["changes"] = changes.collect();
        }
    } else {
        object["device"] = Json::Null;
    }
    object["seed"] = params.get("seed").map_or(Json::Null, value);
    object
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
        Value::Table(entries) => Json::Object(
            entries
                .iter()
                .map(|(name, v)| (name.clone(), self::value(v)))
                .collect(),
        ),
    }
}
