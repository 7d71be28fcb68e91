//! The lesson format as JSON Schema, for editors; written by hand, since a lesson is read key by key, not by serde.

use mlsys_lab::Registry;
use mlsys_lab::schema::{Class, Type};
use serde_json::{Value, json};

use crate::model::{DeviceName, QuestionType};
use crate::parse::{FORMAT, TYPED};

/// A JSON Schema (2020-12) with one definition for the front matter and one for each directive.
///
/// A lesson file is Markdown; an editor applies the definitions to the TOML between its fences.
pub fn json_schema(registry: &Registry) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mlsys lesson",
        "description": "The TOML parts of a lesson file: its front matter, and its directives by name. {notes} holds Markdown.",
        "type": "object",
        "properties": {
            "front_matter": { "$ref": "#/$defs/front_matter" },
            "lab": { "$ref": "#/$defs/lab" },
            "predict": { "$ref": "#/$defs/predict" },
            "question": { "$ref": "#/$defs/question" },
            "check": { "$ref": "#/$defs/check" },
            "notes": { "type": "string" },
            "translation": { "$ref": "#/$defs/translation" },
        },
        "additionalProperties": false,
        "$defs": {
            "front_matter": front_matter(),
            "lab": lab(registry),
            "predict": predict(),
            "question": question(registry),
            "check": check(),
            "translation": translation(),
            "lesson_id": { "type": "string", "pattern": "^[a-z][a-z0-9-]*/[a-z][a-z0-9-]*$" },
            "text": { "type": "string", "pattern": "\\S" },
            "texts": { "type": "array", "items": { "$ref": "#/$defs/text" } },
            "expression": {
                "type": ["string", "number"],
                "description": "a number, or an expression over lab.metric and device.*",
            },
        },
    })
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn text() -> Value {
    json!({ "$ref": "#/$defs/text" })
}

fn texts() -> Value {
    json!({ "$ref": "#/$defs/texts" })
}

fn expression() -> Value {
    json!({ "$ref": "#/$defs/expression" })
}

fn front_matter() -> Value {
    object(
        &["format", "id", "title", "minutes"],
        json!({
            "format": { "const": FORMAT },
            "id": { "$ref": "#/$defs/lesson_id" },
            "title": text(),
            "minutes": { "type": "integer", "minimum": 1, "maximum": 600 },
            "requires": { "type": "array", "items": { "$ref": "#/$defs/lesson_id" } },
            "teaches": texts(),
            "term": { "type": "array", "items": object(
                &["name", "about"],
                json!({ "name": text(), "aliases": texts(), "about": { "type": "string", "maxLength": 300 } }),
            ) },
            "seed": { "type": "integer", "minimum": 0 },
        }),
    )
}

/// For each kind its parameters, so that an editor completes them.
fn lab(registry: &Registry) -> Value {
    let kinds: Vec<&str> = registry.iter().map(|lab| lab.schema().kind.as_str()).collect();
    let cases: Vec<Value> = registry
        .iter()
        .map(|lab| {
            let schema = lab.schema();
            let params: Vec<&str> = schema.params.iter().map(|param| param.name.as_str()).collect();
            // A table turns by its entries too, such as `inputs.x`.
            let tables = schema.params.iter().filter(|param| param.ty == Type::Table);
            let entries = tables.map(|table| json!({ "pattern": format!("^{}\\..", table.name) }));
            let knobs: Vec<Value> =
                std::iter::once(json!({ "enum": params })).chain(entries).collect();
            let panels: Vec<&str> = schema.panels.iter().map(|panel| panel.name.as_str()).collect();
            json!({
                "if": { "properties": { "kind": { "const": schema.kind } } },
                "then": { "properties": {
                    "set": { "propertyNames": { "enum": params } },
                    "knob": { "propertyNames": { "anyOf": knobs } },
                    "panel": { "items": { "properties": { "name": { "enum": panels } } } },
                } },
            })
        })
        .collect();
    let mut lab = object(
        &["kind"],
        json!({
            "kind": { "enum": kinds },
            "title": text(),
            "devices": {
                "type": "array",
                "items": { "enum": DeviceName::ALL.map(DeviceName::name) },
                "minItems": 1,
                "uniqueItems": true,
            },
            "set": { "type": "object" },
            "knob": { "type": "object", "additionalProperties": object(&[], json!({
                "values": { "type": "array", "minItems": 1 },
                "min": { "type": "number" },
                "max": { "type": "number" },
                "default": {},
            })) },
            "panel": { "type": "array", "items": object(&["name"], json!({
                "name": text(),
                "title": text(),
                "goal": { "type": "array", "items": object(&["name", "ratio", "loss"], json!({
                    "name": text(),
                    "ratio": { "type": "number", "exclusiveMinimum": 0 },
                    "loss": { "type": "number", "minimum": 0 },
                })) },
            })) },
        }),
    );
    lab["allOf"] = Value::Array(cases);
    lab
}

fn predict() -> Value {
    let mut predict = object(
        &["type", "prompt"],
        json!({
            "type": { "enum": ["numeric", "choice"] },
            "prompt": text(),
            "metric": expression(),
            "answer": expression(),
            "theory": expression(),
            "choices": texts(),
            "unit": text(),
            "explain": text(),
        }),
    );
    predict["oneOf"] = json!([{ "required": ["metric"] }, { "required": ["answer"] }]);
    predict
}

fn question(registry: &Registry) -> Value {
    let instant = registry.iter().map(|lab| lab.schema()).filter(|schema| !schema.is_live());
    let kinds: Vec<&str> = instant.map(|schema| schema.kind.as_str()).collect();
    let mut question = object(
        &["type", "prompt"],
        json!({
            "type": { "enum": QuestionType::ALL.map(QuestionType::name) },
            "prompt": text(),
            "points": { "type": "integer", "minimum": 0, "maximum": 1000 },
            "hints": texts(),
            "explain": text(),
            "answer": { "anyOf": [expression(), { "type": "array", "items": expression() }] },
            "tolerance": {
                "type": "object",
                "properties": {
                    "rel": { "type": "number", "minimum": 0 },
                    "abs": { "type": "number", "minimum": 0 },
                },
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
            },
            "unit": text(),
            "wrong": { "type": "array", "items": object(&["value", "say"], json!({
                "value": { "anyOf": [expression(), { "type": "array", "items": expression() }] },
                "say": text(),
            })) },
            "pair": { "type": "array", "items": object(&["left", "right"], json!({
                "left": text(),
                "right": text(),
            })) },
            "extra": texts(),
            "lab": { "enum": kinds },
            "param": text(),
            "set": { "type": "object" },
            "accept": { "anyOf": [expression(), texts()] },
            "starter": { "type": "string", "description": "type kernel: what stands in the editor at first" },
            "reference": { "type": "string", "description": "type kernel: the kernel whose outputs are wanted; the answer if left out" },
            "test": { "type": "array", "items": object(&["set"], json!({
                "name": text(),
                "set": { "type": "object" },
                "expect": { "type": "object", "additionalProperties": expression() },
            })) },
            "limit": { "type": "array", "items": object(&["assert", "say"], json!({
                "assert": expression(),
                "say": text(),
            })) },
            "withheld": {
                "type": "boolean",
                "description": "the answer is kept elsewhere, as `mlsys course pack --without-answers` writes it",
            },
            "choices": { "$ref": "#/$defs/texts", "description": "withheld: what is chosen from, put in order or matched" },
            "left": { "$ref": "#/$defs/texts", "description": "withheld, type match: the left sides" },
        }),
    );
    // `withheld` excludes the keys of the answer.
    let withheld =
        json!({ "properties": { "withheld": { "const": true } }, "required": ["withheld"] });
    let never: serde_json::Map<String, Value> =
        right().map(|key| (key.to_owned(), Value::Bool(false))).collect();
    question["if"] = withheld;
    question["then"] = json!({ "properties": never });
    question["else"] = json!({ "properties": { "choices": false, "left": false } });
    question
}

/// Keys with the answer, which a withheld question does not have: those of some types, except
/// those that the learner sees.
fn right() -> impl Iterator<Item = &'static str> {
    let shown = ["unit", "starter"];
    TYPED.into_iter().filter(move |key| !shown.contains(key))
}

fn check() -> Value {
    object(
        &["assert"],
        json!({
            "assert": expression(),
            "class": { "enum": Class::ALL.map(Class::name) },
            "why": text(),
        }),
    )
}

/// The TOML parts of a translation: texts alone.
fn translation() -> Value {
    let optional = |properties| object(&[], properties);
    let mut translation = optional(json!({
        "front_matter": object(&["format", "id", "lang", "title"], json!({
            "format": { "const": FORMAT },
            "id": { "$ref": "#/$defs/lesson_id" },
            "lang": { "type": "string", "pattern": "^[a-z]{2,3}(-[A-Za-z0-9]+)*$" },
            "title": text(),
            "of": { "type": "string", "description": "the fingerprint of the original when it was translated" },
        })),
        "lab": optional(json!({
            "title": text(),
            "panel": { "type": "array", "items": object(&["name", "title"], json!({
                "name": text(),
                "title": text(),
            })) },
        })),
        "predict": optional(json!({
            "prompt": text(),
            "choices": texts(),
            "unit": text(),
            "explain": text(),
        })),
        "question": optional(json!({
            "prompt": text(),
            "choices": texts(),
            "left": texts(),
            "right": texts(),
            "extra": texts(),
            "accept": texts(),
            "unit": text(),
            "say": texts(),
            "hints": texts(),
            "explain": text(),
        })),
        "check": optional(json!({ "why": text() })),
        "notes": { "type": "string" },
    }));
    translation["description"] =
        "The TOML parts of a translation, LESSON.LANG.md beside LESSON.md: texts alone, all else is the original's.".into();
    translation
}
