//! A lab on a page of its own, with all its knobs; and the command line that opens what is on the screen.

use std::sync::Arc;

use mlsys_lab::Registry;
use mlsys_lab::device::DeviceChoice;
use mlsys_lab::params::{Origin, Params, Settings};
use mlsys_lab::schema::{Param, Schema, Type};
use mlsys_lab::tables::{TEXT, Tables};
use mlsys_lab::value::{Value, toml_string};
use mlsys_lesson::Lesson;

use crate::state::{App, LabState, Page};

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

/// The module of the pages of models, which are lessons made from a file.
pub const MODELS: &str = "models";

pub fn is_model(lesson: &Lesson) -> bool {
    lesson.front.id.module() == MODELS
}

pub fn with_defaults(schema: &Schema, registry: &Registry) -> Option<Arc<Lesson>> {
    let params = Params::resolve(schema, &Settings::new(), Tables::builtin(), None).ok()?;
    lesson(schema, &params, registry)
}

fn text(schema: &Schema, params: &Params) -> Option<String> {
    Some(format!(
        "+++\nformat = 1\nid = \"{MODULE}/{kind}\"\ntitle = {title}\nminutes = 1\n+++\n# {heading}\n\n{about}\n\n{presets}{lab}",
        kind = schema.kind,
        title = toml_string(&schema.title),
        heading = schema.title,
        about = schema.about,
        presets = presets(schema),
        lab = directive("run", schema, params)?,
    ))
}

/// A lab with what was set set, and all its knobs; none if a lesson may not say all of it.
pub fn directive(id: &str, schema: &Schema, params: &Params) -> Option<String> {
    let mut set = Vec::new();
    for (name, value) in params.iter().filter(|(name, _)| params.origin(name) == Some(&Origin::Set))
    {
        if schema.param(name)?.command_line_only {
            return None;
        }
        set.push(format!("{name} = {}", value.to_toml()));
    }
    let knobs = schema.params.iter();
    let knobs: Vec<String> = knobs
        .flat_map(|param| knob_names(param, params.get(&param.name)))
        .map(|name| format!("[knob.{name}]"))
        .collect();
    Some(format!(
        "```{{lab}} {id}\nkind = \"{kind}\"\nset = {{ {set} }}\n{knobs}\n```\n",
        kind = schema.kind,
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

/// The knobs of a parameter: a text, a value that can be turned, or a table as a whole and by its entries.
fn knob_names(param: &Param, value: Option<&Value>) -> Vec<String> {
    let is_knob = match param.ty {
        Type::Int | Type::Float => param.min.is_some() && param.max.is_some(),
        Type::Bool | Type::Enum | Type::String | Type::Table => !param.command_line_only,
        Type::Array => false,
    };
    match value {
        Some(Value::Table(entries)) if is_knob => {
            let entries = entries.keys();
            let entries = entries.map(|entry| toml_string(&format!("{}.{entry}", param.name)));
            std::iter::once(param.name.clone()).chain(entries).collect()
        }
        Some(_) if is_knob => vec![param.name.clone()],
        // What can be typed can be typed where nothing stands yet.
        None if is_knob && param.ty == Type::String => vec![param.name.clone()],
        Some(_) | None => Vec::new(),
    }
}

pub fn words(app: &App) -> Vec<String> {
    let mut words = vec!["mlsys".to_owned()];
    match &app.page {
        None => {}
        Some(page) => words.extend(of_page(app, page)),
    }
    if app.hardware.choice != DeviceChoice::Auto {
        words.extend(["--device".to_owned(), app.hardware.choice.to_string()]);
    }
    if let Some(seed) = app.session.seed {
        words.extend(["--seed".to_owned(), seed.to_string()]);
    }
    words
}

pub fn line(app: &App) -> String {
    let words: Vec<String> = words(app).iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

fn of_page(app: &App, page: &Page) -> Vec<String> {
    let id = page.lesson.front.id.as_str();
    let mut words = Vec::new();
    let mut set = |name: String, value: &Value| {
        words.extend(["--set".to_owned(), format!("{name}={}", typed(value))]);
    };
    if let (true, Some(lab)) = (is_own(&page.lesson), page.lab()) {
        let mut model = Vec::new();
        for (name, value) in set_values(lab) {
            match lab.schema.param(&name).and_then(|param| own_model(param, &value)) {
                Some(file) => model = vec!["--model".to_owned(), file.to_owned()],
                None => set(name, &value),
            }
        }
        words.extend(model);
        return ["lab".to_owned(), lab.schema.kind.clone()].into_iter().chain(words).collect();
    }
    for lab in &page.labs {
        for knob in lab.controls.knobs.iter().filter(|knob| knob.value != knob.initial) {
            if let Some(value) = &knob.value {
                set(format!("{}.{}", lab.id, knob.name), value);
            }
        }
    }
    let name = app.course.sources.get(id).map_or(id, String::as_str);
    let option = is_model(&page.lesson).then(|| "--model".to_owned());
    ["open".to_owned()].into_iter().chain(option).chain([name.to_owned()]).chain(words).collect()
}

/// The file that `--model` added to a table: a value that the tables of the program do not have.
fn own_model<'v>(param: &Param, value: &'v Value) -> Option<&'v str> {
    let shipped = Tables::parse(TEXT).ok()?;
    let (table, name) = (param.values_from.as_deref()?, value.as_str()?);
    (!shipped.names(table).contains(&name)).then_some(name)
}

/// What was set on a lab's own page.
///
/// A value that is the default as well stays: a table entry may supply another one where none is set.
fn set_values(lab: &LabState) -> Vec<(String, Value)> {
    let Ok(params) = lab.params() else { return Vec::new() };
    let set = params.iter().filter(|(name, _)| params.origin(name) == Some(&Origin::Set));
    set.map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// A value as `--set` reads it: text stands as it is where that is read back as the same text.
fn typed(value: &Value) -> String {
    match value {
        Value::Text(text) => {
            let plain = text.trim() == text && !text.starts_with('"');
            match (plain, text.strip_prefix('@')) {
                (true, None) => text.clone(),
                (true, Some(rest)) => format!("@@{rest}"),
                (false, _) => value.to_toml(),
            }
        }
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Array(_) | Value::Table(_) => {
            value.to_toml()
        }
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=:,./@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
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
