//! The command line that opens what is on the screen.

use mlsys_lab::device::DeviceChoice;
use mlsys_lab::params::Origin;
use mlsys_lab::value::Value;

use super::own_page;
use crate::state::App;
use crate::state::lab::LabState;
use crate::state::page::Page;

/// The words of the line, as a program gets them.
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
    if let (true, Some(lab)) = (own_page::is_own(&page.lesson), page.lab()) {
        for (name, value) in set_values(lab) {
            set(name, &value);
        }
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
    ["open".to_owned(), name.to_owned()].into_iter().chain(words).collect()
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
                (false, _) => own_page::toml(value),
            }
        }
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Array(_) | Value::Table(_) => {
            own_page::toml(value)
        }
    }
}

/// A word as shells read it back whole.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=:,./@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
