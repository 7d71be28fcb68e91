//! `mlsys lesson translate`: a file with all texts of a lesson, to be written over in another language.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use mlsys_lesson::translated;

use crate::commands::World;
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::library::{self, languages};

/// Writes the file beside the lesson; one that exists is left alone.
pub fn run(path: &Path, lang: &str, world: &mut World<'_>) -> Result<Exit, Failure> {
    let parsed = library::read_file(path)?;
    library::tell(&parsed, world.console);
    let Some(lesson) = parsed.lesson else {
        return Err(Failure::Usage(
            "a lesson is translated once it is valid; nothing was written".to_owned(),
        ));
    };
    let name = path.file_name().and_then(|name| name.to_str());
    let stem = name.and_then(|name| name.strip_suffix(".md")).ok_or_else(|| {
        Failure::Usage(format!("'{}' is not named like a lesson, such as warps.md", path.display()))
    })?;
    let file = path.with_file_name(format!("{stem}.{lang}.md"));
    let is_language =
        translated(&format!("{stem}.{lang}.md")).is_some_and(|(_, read)| read == lang);
    if !is_language {
        return Err(Failure::Usage(format!(
            "'{}' is no language; write one such as fr or pt-BR",
            lang.escape_debug()
        )));
    }
    let failed = |error: std::io::Error| {
        Failure::Usage(if error.kind() == ErrorKind::AlreadyExists {
            format!("'{}' was not written: it exists, and nothing is overwritten", file.display())
        } else {
            format!("'{}' was not written: {error}", file.display())
        })
    };
    let mut out = File::options().write(true).create_new(true).open(&file).map_err(failed)?;
    out.write_all(mlsys_lesson::skeleton(&lesson, lang).as_bytes()).map_err(failed)?;
    debug_assert!(languages::original_of(&file).is_some());
    let shown = file.display();
    world.console.line(format_args!(
        "{shown} has every text of {}, to be written over. What next:",
        lesson.front.id
    ))?;
    world.console.line(format_args!("  mlsys lesson preview {shown}"))?;
    world.console.line(format_args!("  mlsys lesson check {shown}"))?;
    Ok(Exit::Passed)
}
