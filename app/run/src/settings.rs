//! `--set`: from what was typed to settings of labs.

use std::collections::BTreeMap;
use std::path::Path;
use std::string::FromUtf8Error;
use std::{fs, io};

use mlsys_lab::LabError;
use mlsys_lab::params::{Given, ParamError, Settings};
use mlsys_lab::schema::Schema;

use crate::process::Failure;

// The parameters that options set: `--data-dir`, `--load-weights`, `--save-weights`, `--workers`.
const DATA_DIR: &str = "data_dir";
const LOAD_WEIGHTS: &str = "load_weights";
const SAVE_WEIGHTS: &str = "save_weights";
const WORKER_URLS: &str = mlsys_device::workers::PARAM;

/// The largest file that `@` reads, in bytes.
const MAX_FILE: u64 = 1 << 20;

pub struct KnobTurn {
    pub lab: String,
    pub knob: String,
    pub value: String,
}

/// Reads `name=value` texts for one lab.
pub fn for_lab(pairs: &[String]) -> Result<Settings, Failure> {
    let mut settings = Settings::new();
    for pair in pairs {
        let (name, value) = split(pair, "NAME=VALUE")?;
        settings.push(name, given(name, value)?);
    }
    Ok(settings)
}

/// Reads `lab.name=value` texts for the labs of a lesson.
pub fn for_lesson(pairs: &[String]) -> Result<BTreeMap<String, Settings>, Failure> {
    let mut settings: BTreeMap<String, Settings> = BTreeMap::new();
    for pair in pairs {
        let (lab, param, value) = split_lab(pair, "LAB.PARAM=VALUE")?;
        let given = given(&format!("{lab}.{param}"), value)?;
        settings.entry(lab.to_owned()).or_default().push(param, given);
    }
    Ok(settings)
}

/// Reads `lab.knob=value` texts for the knobs of a lesson.
pub fn for_knobs(pairs: &[String]) -> Result<Vec<KnobTurn>, Failure> {
    let mut turns = Vec::new();
    for pair in pairs {
        let (lab, knob, value) = split_lab(pair, "LAB.KNOB=VALUE")?;
        turns.push(KnobTurn {
            lab: lab.to_owned(),
            knob: knob.to_owned(),
            value: content(&format!("--set {lab}.{knob}"), value)?,
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

/// Adds the addresses of `--workers`; a lab that splits nothing refuses them.
pub fn set_workers(settings: &mut Settings, urls: Option<&str>) {
    if let Some(urls) = urls {
        settings.push(WORKER_URLS, Given::Text(urls.to_owned()));
    }
}

/// The addresses of `--workers` as they are typed, or `@` and the file that has them, a line each; without their tokens,
/// which are kept for when the workers are reached.
pub fn workers(text: &str) -> Result<String, Failure> {
    let list = content("--workers", text)?;
    let lines: Vec<&str> = list.trim().lines().collect();
    mlsys_device::workers::urls(&lines.join(",")).map_err(|error| Failure::usage(error.to_string()))
}

/// Whether a lab splits its work over workers, which may be other processes.
pub fn takes_workers(schema: &Schema) -> bool {
    schema.param(WORKER_URLS).is_some()
}

fn set_path(settings: &mut Settings, name: &str, path: Option<&Path>) {
    if let Some(path) = path {
        settings.push(name, Given::Text(path.display().to_string()));
    }
}

pub fn takes_data_dir(schema: &Schema) -> bool {
    schema.param(DATA_DIR).is_some()
}

pub fn failure(lab: &str, errors: &[ParamError]) -> Failure {
    let lines: Vec<String> = errors.iter().map(|error| format!("lab {lab}: {error}")).collect();
    Failure::usage(lines.join("\nerror: "))
}

fn split<'a>(pair: &'a str, shape: &str) -> Result<(&'a str, &'a str), Failure> {
    match pair.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim(), value)),
        Some(_) | None => {
            Err(Failure::usage(format!("--set {}: write {shape}", pair.escape_debug())))
        }
    }
}

/// As [`split`], and the name before the first dot, which is the lab's.
fn split_lab<'a>(pair: &'a str, shape: &str) -> Result<(&'a str, &'a str, &'a str), Failure> {
    let (name, value) = split(pair, shape)?;
    let (lab, param) = name.split_once('.').ok_or_else(|| {
        let pair = pair.escape_debug();
        Failure::Usage(format!(
            "--set {pair}: write {shape}, with the lab's name in the lesson before the dot"
        ))
    })?;
    Ok((lab, param, value))
}

/// A typed value, with the file's name if it stands for a file's content.
fn given(name: &str, value: &str) -> Result<Given, Failure> {
    let option = format!("--set {name}");
    let text = content(&option, value)?;
    if name.rsplit('.').next() == Some(WORKER_URLS) {
        // Tokens must not be recorded with the run.
        let urls = workers(&text).map_err(|error| Failure::Usage(format!("{option}: {error}")))?;
        return Ok(Given::Text(urls));
    }
    Ok(match value.strip_prefix('@') {
        Some(file) if !file.starts_with('@') => {
            Given::File { name: file.escape_debug().to_string(), text }
        }
        Some(_) | None => Given::Text(text),
    })
}

/// What the value of an option stands for: `@file` the file's content, `@@` one at sign.
fn content(option: &str, value: &str) -> Result<String, Failure> {
    let Some(rest) = value.strip_prefix('@') else { return Ok(value.to_owned()) };
    if rest.starts_with('@') {
        return Ok(rest.to_owned());
    }
    let failed = |reason: String| {
        Failure::usage(format!("{option}: file '{}' {reason}", rest.escape_debug()))
    };
    let unreadable = |error: io::Error| {
        failed(format!("cannot be read: {error}; name a file that is there and that you may read"))
    };
    let about = fs::metadata(rest).map_err(unreadable)?;
    if about.is_dir() {
        return Err(failed("is a folder; name a file in it".to_owned()));
    }
    if !about.is_file() {
        return Err(failed("is not a file; name a plain one".to_owned()));
    }
    if about.len() > MAX_FILE {
        return Err(failed(format!("is larger than {MAX_FILE} bytes; give a part of it")));
    }
    let bytes = fs::read(rest).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| failed(not_text(&error)))
}

fn not_text(error: &FromUtf8Error) -> String {
    let (before, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
    let line = before.split(|&byte| byte == b'\n').next_back();
    // The bytes before it are whole characters.
    let column = line.map_or(0, |line| line.iter().filter(|&byte| byte & 0xc0 != 0x80).count());
    format!(
        "is not text: line {}, column {} holds the byte 0x{:02X}, which UTF-8 does not have there; \
         give a plain text, saved as UTF-8",
        before.iter().filter(|&&byte| byte == b'\n').count() + 1,
        column + 1,
        rest.first().unwrap_or(&0),
    )
}

/// Names the files that the parameters in an error were read from, as a suffix of its message.
pub fn read_from(pairs: &[String], error: &LabError) -> String {
    // Another error of one parameter names its file itself.
    let params: &[String] = if let LabError::Contradiction { params, .. } = error {
        params
    } else if let LabError::Expression { param, .. } = error {
        std::slice::from_ref(param)
    } else {
        &[]
    };
    let files = pairs.iter().filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let file = value.strip_prefix('@')?;
        let is_meant = !file.starts_with('@') && params.iter().any(|param| param == name.trim());
        is_meant.then(|| format!(" ({} is the file '{}')", name.trim(), file.escape_debug()))
    });
    files.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[&str]) -> Result<Settings, Failure> {
        let pairs: Vec<String> = pairs.iter().map(ToString::to_string).collect();
        for_lab(&pairs)
    }

    #[test]
    fn values_stay_as_typed_and_two_at_signs_are_one() {
        let settings = read(&["a=1", "b=x=y", " c =@@home", "d="]).unwrap();
        let typed: Vec<_> = settings.iter().map(|(name, given)| (name, given.clone())).collect();
        let text = |text: &str| Given::Text(text.to_owned());
        assert_eq!(
            typed,
            [("a", text("1")), ("b", text("x=y")), ("c", text("@home")), ("d", text(""))]
        );
    }

    #[test]
    fn a_text_from_a_file_knows_its_file() {
        let settings = read(&["a=@Cargo.toml"]).unwrap();
        let (_, given) = settings.iter().next().unwrap();
        assert!(
            matches!(given, Given::File { name, text } if name == "Cargo.toml" && text.contains("[package]")),
            "{given:?}"
        );
    }

    #[test]
    fn malformed_settings_are_refused_with_the_right_form() {
        assert!(read(&["steps"]).unwrap_err().to_string().contains("write NAME=VALUE"));
        assert!(read(&["=1"]).unwrap_err().to_string().contains("write NAME=VALUE"));
        let error = read(&["a=@/no/such/file"]).unwrap_err().to_string();
        assert!(error.contains("--set a: file '/no/such/file' cannot be read"), "{error}");
        assert!(read(&["a=@/"]).unwrap_err().to_string().contains("is a folder"));
    }

    #[test]
    fn settings_of_a_lesson_go_to_their_labs() {
        let pairs =
            ["run.steps=5".to_owned(), "slow.inputs.x=2".to_owned(), "run.noise=0".to_owned()];
        let settings = for_lesson(&pairs).unwrap();
        assert_eq!(
            settings["run"].iter().map(|(name, _)| name).collect::<Vec<_>>(),
            ["steps", "noise"]
        );
        assert_eq!(settings["slow"].iter().map(|(name, _)| name).collect::<Vec<_>>(), ["inputs.x"]);
        assert!(for_lesson(&["steps=5".to_owned()]).is_err());
    }

    #[test]
    fn invalid_utf8_is_reported_by_its_place() {
        let message = |bytes: &[u8]| not_text(&String::from_utf8(bytes.to_vec()).unwrap_err());
        assert!(message(b"ab\nc\xc3\xa9\xe9").contains("line 2, column 3 holds the byte 0xE9"));
        assert!(message(b"\xff").contains("line 1, column 1 holds the byte 0xFF"));
    }

    #[test]
    fn errors_name_the_file_of_a_value() {
        let pairs = ["corpus=@a.txt", "width=3", "name=@@a"].map(str::to_owned);
        let error = LabError::contradiction(["corpus", "width", "name"], "no");
        assert_eq!(read_from(&pairs, &error), " (corpus is the file 'a.txt')");
        let error = LabError::Expression { param: "corpus".to_owned(), message: "no".to_owned() };
        assert_eq!(read_from(&pairs, &error), " (corpus is the file 'a.txt')");
        assert_eq!(read_from(&pairs, &LabError::contradiction(["width"], "")), "");
    }
}
