//! A lab on a page of its own, with everything that can be turned as a knob.

use std::sync::Arc;

use mlsys_lab::Registry;
use mlsys_lab::params::{Origin, Params, Settings};
use mlsys_lab::schema::{Param, Schema, Type};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;
use mlsys_lesson::Lesson;

/// The module of the pages made here, which no lesson of a course has.
const MODULE: &str = "labs";

/// A lesson of one lab, with what was set set; none if a lesson may not say all of it.
pub fn lesson(schema: &Schema, params: &Params, registry: &Registry) -> Option<Arc<Lesson>> {
    let text = text(schema, params)?;
    let parsed = mlsys_lesson::read(&format!("lab {}", schema.kind), text.as_bytes(), registry);
    parsed.lesson.map(Arc::new)
}

pub fn is_own(lesson: &Lesson) -> bool {
    lesson.front.id.module() == MODULE
}

/// A lesson of one lab as it comes.
pub fn with_defaults(schema: &Schema, registry: &Registry) -> Option<Arc<Lesson>> {
    let params = Params::resolve(schema, &Settings::new(), Tables::builtin(), None).ok()?;
    lesson(schema, &params, registry)
}

fn text(schema: &Schema, params: &Params) -> Option<String> {
    let mut set = Vec::new();
    for (name, value) in params.iter().filter(|(name, _)| params.origin(name) == Some(&Origin::Set))
    {
        if schema.param(name)?.command_line_only {
            return None;
        }
        set.push(format!("{name} = {}", toml(value)));
    }
    let knobs = schema.params.iter();
    let knobs: Vec<String> = knobs
        .flat_map(|param| knob_names(param, params.get(&param.name)))
        .map(|name| format!("[knob.{name}]"))
        .collect();
    Some(format!(
        "+++\nformat = 1\nid = \"{MODULE}/{kind}\"\ntitle = {title}\nminutes = 1\n+++\n# {heading}\n\n{about}\n\n{presets}\
         ```{{lab}} run\nkind = \"{kind}\"\nset = {{ {set} }}\n{knobs}\n```\n",
        kind = schema.kind,
        title = quoted(&schema.title),
        heading = schema.title,
        about = schema.about,
        presets = presets(schema),
        set = set.join(", "),
        knobs = knobs.join("\n"),
    ))
}

fn presets(schema: &Schema) -> String {
    if schema.presets.is_empty() {
        return String::new();
    }
    let presets = schema.presets.iter();
    let lines = presets.map(|preset| format!("- **{}**: {}\n", preset.name, preset.about));
    format!("`P` takes one of these presets:\n\n{}\n", lines.collect::<String>())
}

/// The knobs of a parameter: itself if it is a text, or has a value and turns between two ends or among names; a table as a
/// whole and by its entries.
fn knob_names(param: &Param, value: Option<&Value>) -> Vec<String> {
    let is_knob = match param.ty {
        Type::Int | Type::Float => param.min.is_some() && param.max.is_some(),
        Type::Bool | Type::Enum | Type::String | Type::Table => !param.command_line_only,
        Type::Array => false,
    };
    match value {
        Some(Value::Table(entries)) if is_knob => {
            let entries = entries.keys();
            let entries = entries.map(|entry| quoted(&format!("{}.{entry}", param.name)));
            std::iter::once(param.name.clone()).chain(entries).collect()
        }
        Some(_) if is_knob => vec![param.name.clone()],
        // What can be typed can be typed where nothing stands yet.
        None if is_knob && param.ty == Type::String => vec![param.name.clone()],
        Some(_) | None => Vec::new(),
    }
}

/// A value as TOML.
pub fn toml(value: &Value) -> String {
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(x) => format!("{x:?}"),
        Value::Text(text) => quoted(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", "))
        }
        Value::Table(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(name, v)| format!("{} = {}", quoted(name), toml(v))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut safe = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => safe.extend(['\\', c]),
            c if c.is_control() => safe.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe.push('"');
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lab_has_a_page_of_its_own() {
        for lab in mlsys_registry::built_in().iter() {
            let schema = lab.schema();
            let page = with_defaults(schema, mlsys_registry::built_in());
            assert!(page.is_some_and(|page| page.labs().count() == 1), "{}", schema.kind);
        }
    }

    #[test]
    fn what_was_set_stands_on_the_page() {
        let schema = mlsys_registry::built_in().find("graph").unwrap().schema();
        let set =
            Settings::from_pairs(["expression=max(x, \"1\\2\")", "inputs.x=2", "inputs.y=1e300"])
                .unwrap();
        let params = Params::resolve(schema, &set, Tables::builtin(), None).unwrap();
        let page = lesson(schema, &params, mlsys_registry::built_in()).unwrap();
        let settings = page.lab("run").unwrap().settings();
        let again = Params::resolve(schema, &settings, Tables::builtin(), None).unwrap();
        assert!(again.iter().eq(params.iter()));
    }

    #[test]
    fn own_pages_take_no_local_folder() {
        let schema = mlsys_registry::built_in().find("train").unwrap().schema();
        let set = Settings::from_pairs(["data_dir=/data"]).unwrap();
        let params = Params::resolve(schema, &set, Tables::builtin(), None).unwrap();
        assert!(lesson(schema, &params, mlsys_registry::built_in()).is_none());
    }
}
