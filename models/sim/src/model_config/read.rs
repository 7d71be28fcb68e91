//! Reading `config.json`: its object, the one of the language model, and where its fields stand.

use std::ops::Range;

use serde_json::Value as Json;

use super::dimensions::dimensions;
use super::fields::{ConfigProblem, Fields};
use super::{Family, ModelConfig};

/// The largest file that is read; the public ones have a few KB.
pub const MAX_BYTES: usize = 1 << 20;

const TOO_LARGE: &str = "a model's config.json has a few KB; name that file";

/// Reads a configuration. In a multimodal model it is the object `text_config`.
pub(super) fn config(bytes: &[u8]) -> Result<ModelConfig, Vec<ConfigProblem>> {
    let problem = |message: String, place: Range<usize>, help: &str| {
        Err(vec![ConfigProblem { message, place: Some(place), help: help.to_owned() }])
    };
    if bytes.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, at most {MAX_BYTES} are read", bytes.len());
        return Err(vec![ConfigProblem { message, place: None, help: TOO_LARGE.to_owned() }]);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            let message = format!("byte {} is not UTF-8", at + 1);
            return problem(message, at..at, "config.json is text; is this another file?");
        }
    };
    // Windows editors begin a file with a byte order mark.
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let text = &text[start..];
    let root = match serde_json::from_str(text) {
        Ok(Json::Object(root)) => root,
        Ok(_) => {
            let message = "the file is not a JSON object".to_owned();
            return problem(message, start..start + 1, "it begins with { and has named fields");
        }
        Err(error) => {
            let at = start + offset(text, error.line(), error.column());
            return problem(error.to_string(), at..at, "mend the JSON at this place");
        }
    };
    let inner = match (root.get("model_type").and_then(Json::as_str), root.get("text_config")) {
        (Some(name), Some(Json::Object(inner))) if name.parse::<Family>().is_err() => Some(inner),
        (_, _) => None,
    };
    let places = places(text, inner.map(|_| "text_config"));
    let places =
        places.into_iter().map(|(key, at)| (key, start + at.start..start + at.end)).collect();
    let is_inner = inner.is_some();
    let mut fields = Fields::new(inner.unwrap_or(&root), start, places, is_inner);
    let config = fields.family().map(|family| dimensions(&mut fields, family));
    match config {
        Some(config) if fields.problems().is_empty() => Ok(config),
        Some(_) | None => Err(fields.problems().to_vec()),
    }
}

/// The byte of a line and a column that count from 1, as `serde_json` counts them: the column in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut at = (before + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Where the keys of an object stand, quotes included: of the whole file, or of the object `inside` in it. The text has
/// been read as JSON before, so that strings and brackets close.
fn places<'t>(text: &'t str, inside: Option<&str>) -> Vec<(&'t str, Range<usize>)> {
    let bytes = text.as_bytes();
    let (mut found, mut outer, mut depth, mut at) = (Vec::new(), "", 0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let start = at;
                at += 1;
                while bytes.get(at).is_some_and(|&byte| byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let key = text.get(start + 1..at).unwrap_or("");
                let is_key =
                    text.get(at + 1..).is_some_and(|rest| rest.trim_start().starts_with(':'));
                if is_key && depth == 1 {
                    outer = key;
                }
                let is_here = match inside {
                    None => depth == 1,
                    Some(inside) => depth == 2 && outer == inside,
                };
                if is_key && is_here {
                    found.push((key, start..at + 1));
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}
