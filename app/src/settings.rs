//! `--set`: from what was typed to settings of labs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mlsys_lab::params::{Given, ParamError, Settings};
use mlsys_lab::schema::Schema;

use crate::exit::Failure;
use crate::ui::KnobTurn;

/// The parameter that `--data-dir` sets.
const DATA_DIR: &str = "data_dir";

/// The parameter that `--load-weights` sets.
const LOAD_WEIGHTS: &str = "load_weights";

/// The parameter that `--save-weights` sets.
const SAVE_WEIGHTS: &str = "save_weights";

/// The largest file that `@` reads, in bytes.
const LARGEST: u64 = 1 << 20;

/// Reads `name=value` texts for one lab.
pub fn of_lab(pairs: &[String]) -> Result<Settings, Failure> {
    let mut settings = Settings::new();
    for pair in pairs {
        let (name, value) = split(pair, "NAME=VALUE")?;
        settings.push(name, Given::Text(content(name, value)?));
    }
    Ok(settings)
}

/// Reads `lab.name=value` texts for the labs of a lesson.
pub fn of_lesson(pairs: &[String]) -> Result<BTreeMap<String, Settings>, Failure> {
    let mut settings: BTreeMap<String, Settings> = BTreeMap::new();
    for pair in pairs {
        let (name, value) = split(pair, "LAB.PARAM=VALUE")?;
        let Some((lab, param)) = name.split_once('.') else {
            return Err(Failure::usage(format!(
                "--set {}: write LAB.PARAM=VALUE, with the lab's name in the lesson before the dot",
                pair.escape_debug()
            )));
        };
        let given = Given::Text(content(name, value)?);
        settings
            .entry(lab.to_owned())
            .or_default()
            .push(param, given);
    }
    Ok(settings)
}

/// Reads `lab.knob=value` texts for the knobs of a lesson.
pub fn of_knobs(pairs: &[String]) -> Result<Vec<KnobTurn>, Failure> {
    let mut turns = Vec::new();
    for pair in pairs {
        let (name, value) = split(pair, "LAB.KNOB=VALUE")?;
        let Some((lab, knob)) = name.split_once('.') else {
            return Err(Failure::usage(format!(
                "--set {}: write LAB.KNOB=VALUE, with the lab's name in the lesson before the dot",
                pair.escape_debug()
            )));
        };
        turns.push(KnobTurn {
            lab: lab.to_owned(),
            knob: knob.to_owned(),
            value: content(name, value)?,
        });
    }
    Ok(turns)
}

/// Adds the folder of `--data-dir`; a lab that reads no files refuses it.
pub fn set_data_dir(settings: &mut Settings, folder: Option<&Path>) {
    set_path(settings, DATA_DIR, folder);
}

/// Adds the files of `--load-weights` and `--save-weights`; a lab that trains nothing refuses them.
pub fn set_weights(settings: &mut Settings, load: Option<&Path>, save: Option<&Path>) {
    set_path(settings, LOAD_WEIGHTS, load);
    set_path(settings, SAVE_WEIGHTS, save);
}

fn set_path(settings: &mut Settings, name: &str, path: Option<&Path>) {
    if let Some(path) = path {
        settings.push(name, Given::Text(path.display().to_string()));
    }
}

/// Whether a lab reads data files.
pub fn takes_data_dir(schema: &Schema) -> bool {
    schema.param(DATA_DIR).is_some()
}

/// All that is wrong with a lab's parameters.
pub fn failure(lab: &str, errors: &[ParamError]) -> Failure {
    let lines: Vec<String> = errors
        .iter()
        .map(|error| format!("lab {lab}: {error}"))
        .collect();
    Failure::usage(lines.join("\nerror: "))
}

fn split<'a>(pair: &'a str, shape: &str) -> Result<(&'a str, &'a str), Failure> {
    match pair.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim(), value)),
        Some(_) | None => Err(Failure::usage(format!(
            "--set {}: write {shape}",
            pair.escape_debug()
        ))),
    }
}

/// What a typed value stands for: `@file` the file's content, `@@` one at sign.
fn content(name: &str, value: &str) -> Result<String, Failure> {
    let Some(rest) = value.strip_prefix('@') else {
        return Ok(value.to_owned());
    };
    if rest.starts_with('@') {
        return Ok(rest.to_owned());
    }
    let failed = |reason: String| {
        Failure::usage(format!(
            "--set {name}: file '{}' {reason}",
            rest.escape_debug()
        ))
    };
    match fs::metadata(rest) {
        Ok(about) if !about.is_file() => return Err(failed("is not a file".to_owned())),
        Ok(about) if about.len() > LARGEST => {
            return Err(failed(format!("is larger than {LARGEST} bytes")));
        }
        Ok(_) => {}
        Err(error) => return Err(failed(format!("cannot be read: {error}"))),
    }
    fs::read_to_string(rest).map_err(|error| failed(format!("cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[&str]) -> Result<Settings, String> {
        let pairs: Vec<String> = pairs.iter().map(ToString::to_string).collect();
        of_lab(&pairs).map_err(|failure| failure.to_string())
    }

    #[test]
    fn values_stand_as_typed_and_two_at_signs_are_one() {
        let settings = read(&["a=1", "b=x=y", " c =@@home", "d="]).unwrap();
        let typed: Vec<_> = settings
            .iter()
            .map(|(name, given)| (name, given.clone()))
            .collect();
        let text = |text: &str| Given::Text(text.to_owned());
        assert_eq!(
            typed,
            [
                ("a", text("1")),
                ("b", text("x=y")),
                ("c", text("@home")),
                ("d", text(""))
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_says_what_to_write() {
        assert!(read(&["steps"]).unwrap_err().contains("write NAME=VALUE"));
        assert!(read(&["=1"]).unwrap_err().contains("write NAME=VALUE"));
        let error = read(&["a=@/no/such/file"]).unwrap_err();
        assert!(
            error.contains("--set a: file '/no/such/file' cannot be read"),
            "{error}"
        );
        assert!(read(&["a=@/"]).unwrap_err().contains("is not a file"));
    }

    #[test]
    fn settings_of_a_lesson_go_to_their_labs() {
        let pairs = [
            "run.steps=5".to_owned(),
            "slow.inputs.x=2".to_owned(),
            "run.noise=0".to_owned(),
        ];
        let settings = of_lesson(&pairs).unwrap();
        assert_eq!(
            settings["run"]
                .iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>(),
            ["steps", "noise"]
        );
        assert_eq!(
            settings["slow"]
                .iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>(),
            ["inputs.x"]
        );
        assert!(of_lesson(&["steps=5".to_owned()]).is_err());
    }
}
