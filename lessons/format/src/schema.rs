//! The lesson format as JSON Schema, for editors: `schema.json` with the labs, the names and the keys that are known here.

use mlsys_lab::Registry;
use mlsys_lab::schema::{Class, Schema, Type};
use serde_json::{Map, Value, json};

use crate::model::{DeviceName, QuestionType};
use crate::parse::{FORMAT, TYPED};

/// A JSON Schema (2020-12) with one definition for the front matter and one for each directive.
///
/// A lesson file is Markdown; an editor applies the definitions to the TOML between its fences.
#[expect(clippy::expect_used, reason = "the text is compiled in and read by a test")]
pub fn json_schema(registry: &Registry) -> Value {
    let text = include_str!("schema.json");
    let mut schema: Value = serde_json::from_str(text).expect("the built-in schema reads");
    let schemas = || registry.iter().map(|lab| lab.schema());
    let kinds = |is_listed: fn(&Schema) -> bool| {
        let listed = schemas().filter(|schema| is_listed(schema));
        json!(listed.map(|schema| schema.kind.as_str()).collect::<Vec<_>>())
    };
    // `withheld` excludes the keys with the answer: those of some types, except what the learner sees.
    let answer = TYPED.split(' ').filter(|key| !["unit", "min", "max", "starter"].contains(key));
    let never: Map<String, Value> = answer.map(|key| (key.to_owned(), json!(false))).collect();
    for (place, value) in [
        ("front_matter/properties/format/const", json!(FORMAT)),
        ("translation/properties/front_matter/properties/format/const", json!(FORMAT)),
        ("lab/properties/kind/enum", kinds(|_| true)),
        ("lab/properties/devices/items/enum", json!(DeviceName::ALL.map(DeviceName::name))),
        ("lab/allOf", schemas().map(case).collect()),
        ("question/properties/type/enum", json!(QuestionType::ALL.map(QuestionType::name))),
        ("question/properties/lab/enum", kinds(|schema| !schema.is_live())),
        ("question/then/properties", json!(never)),
        ("check/properties/class/enum", json!(Class::ALL.map(Class::name))),
    ] {
        let place = schema.pointer_mut(&format!("/$defs/{place}"));
        *place.expect("the built-in schema has the place") = value;
    }
    schema
}

/// The parameters and panels of one kind of lab, so that an editor completes them.
fn case(schema: &Schema) -> Value {
    let params: Vec<&str> = schema.params.iter().map(|param| param.name.as_str()).collect();
    // A table turns by its entries too, such as `inputs.x`.
    let tables = schema.params.iter().filter(|param| param.ty == Type::Table);
    let entries = tables.map(|table| json!({ "pattern": format!("^{}\\..", table.name) }));
    let knobs: Vec<Value> = [json!({ "enum": params })].into_iter().chain(entries).collect();
    let panels: Vec<&str> = schema.panels.iter().map(|panel| panel.name.as_str()).collect();
    json!({
        "if": { "properties": { "kind": { "const": schema.kind } } },
        "then": { "properties": {
            "set": { "propertyNames": { "enum": params } },
            "knob": { "propertyNames": { "anyOf": knobs } },
            "panel": { "items": { "properties": { "name": { "enum": panels } } } },
        } },
    })
}
