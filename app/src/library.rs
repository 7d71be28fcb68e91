//! Where lessons come from: the built-in ones, and files.

use std::fs;
use std::path::Path;

use mlsys_lab::nearest::nearest;
use mlsys_lesson::{Course, Lesson, Parsed};

use crate::console::Console;
use crate::exit::Failure;

/// The built-in lessons by id, with their texts.
pub static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// Reads a lesson that is named by its id or by the path of its file.
pub fn read(name: &str) -> Result<Parsed, Failure> {
    if let Some((id, text)) = BUILT_IN.iter().find(|(id, _)| *id == name) {
        return Ok(mlsys_lesson::read(
            id,
            text.as_bytes(),
            mlsys_registry::registry(),
        ));
    }
    let path = Path::new(name);
    if path.exists() {
        return read_file(path);
    }
    let shown = name.escape_debug();
    let looks_like_a_path =
        path.is_absolute() || name.starts_with('.') || path.extension().is_some();
    Err(Failure::Usage(if looks_like_a_path {
        format!("there is no file '{shown}'")
    } else {
        match nearest(name, BUILT_IN.iter().map(|(id, _)| *id)) {
            Some(id) => format!("there is no lesson '{shown}'; did you mean '{id}'?"),
            None => format!(
                "there is no lesson '{shown}', and no file of that name; `mlsys list` shows the lessons"
            ),
        }
    }))
}

/// Reads a lesson file.
pub fn read_file(path: &Path) -> Result<Parsed, Failure> {
    let failed = |reason: String| {
        Failure::Usage(format!(
            "lesson '{}' cannot be read: {reason}",
            path.display()
        ))
    };
    match fs::metadata(path) {
        // A pipe or a device may never end.
        Ok(about) if !about.is_file() => return Err(failed("it is not a file".to_owned())),
        Ok(about) if about.len() > mlsys_lesson::MAX_FILE_BYTES as u64 => {
            let limit = mlsys_lesson::MAX_FILE_BYTES;
            return Err(failed(format!(
                "it has {} bytes, and a lesson has at most {limit}",
                about.len()
            )));
        }
        Ok(_) => {}
        Err(error) => return Err(failed(error.to_string())),
    }
    let bytes = fs::read(path).map_err(|error| failed(error.to_string()))?;
    Ok(mlsys_lesson::read(
        &path.display().to_string(),
        &bytes,
        mlsys_registry::registry(),
    ))
}

/// The built-in lessons in the order of the course; the app lives on without one that is not valid.
pub fn course(console: &mut Console) -> Course {
    let mut lessons = Vec::new();
    for ((id, _), parsed) in BUILT_IN.iter().zip(built_in()) {
        if parsed.lesson.is_none() {
            console.warn(format_args!(
                "the built-in lesson {id} is not valid; `mlsys lesson check --library` tells why"
            ));
        }
        lessons.extend(parsed.lesson);
    }
    // What is wrong between built-in lessons is for their authors: `mlsys lesson check --library` tells.
    Course::new(lessons).0
}

/// The built-in lessons as they read.
pub fn built_in() -> impl Iterator<Item = Parsed> {
    BUILT_IN
        .iter()
        .map(|(id, text)| mlsys_lesson::read(id, text.as_bytes(), mlsys_registry::registry()))
}

/// Reads lessons that are to be run; whatever is wrong with any of them is told before anything runs.
pub fn valid<'a>(
    names: impl IntoIterator<Item = &'a str>,
    console: &mut Console,
) -> Result<Vec<Lesson>, Failure> {
    let mut lessons = Vec::new();
    let mut invalid = Vec::new();
    for name in names {
        let parsed = read(name)?;
        tell(&parsed, console);
        match parsed.lesson {
            Some(lesson) => lessons.push(lesson),
            None => invalid.push(name),
        }
    }
    if invalid.is_empty() {
        Ok(lessons)
    } else {
        let names = invalid.join(", ");
        Err(Failure::Usage(format!(
            "not a valid lesson: {}; nothing was run",
            names.escape_debug()
        )))
    }
}

/// Prints what is wrong with a lesson, as a compiler does.
pub fn tell(parsed: &Parsed, console: &mut Console) {
    for diagnostic in &parsed.diagnostics {
        console.note(format_args!("{diagnostic}\n"));
    }
}
