//! `mlsys lesson new`: a commented lesson to start from.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use mlsys_lesson::LessonId;

use mlsys_run::console::Console;
use mlsys_run::exit::{Exit, Failure};

/// The module that a lesson belongs to where its folder's name is none.
const MODULE: &str = "systems";

/// Writes the file; one that exists is left alone.
pub fn run(path: &Path, console: &mut Console) -> Result<Exit, Failure> {
    let failed =
        |reason: String| Failure::Usage(format!("'{}' was not written: {reason}", path.display()));
    let id = id_for(path).ok_or_else(|| {
        failed("the file's name becomes the lesson's id; write one such as my-lesson.md".to_owned())
    })?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
    }
    let mut file = File::options().write(true).create_new(true).open(path).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            failed("it exists, and nothing is overwritten".to_owned())
        } else {
            failed(error.to_string())
        }
    })?;
    file.write_all(mlsys_lesson::new_lesson(&id, &title_of(&id)).as_bytes())
        .map_err(|error| failed(error.to_string()))?;
    console.line(format_args!("{} is lesson {id}. What next:", path.display()))?;
    console.line(format_args!("  mlsys lesson check {}", path.display()))?;
    console.line(format_args!("  mlsys lesson preview {}", path.display()))?;
    Ok(Exit::Passed)
}

/// The id that a file's name and folder make: `gpu/My Lesson.md` is `gpu/my-lesson`.
fn id_for(path: &Path) -> Option<LessonId> {
    let name = part(path.file_stem()?.to_str()?);
    let folder =
        path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str()).map(part);
    let in_folder = folder.and_then(|folder| format!("{folder}/{name}").parse().ok());
    in_folder.or_else(|| format!("{MODULE}/{name}").parse().ok())
}

/// Lower-case letters, digits and single hyphens.
fn part(text: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }
    };
    let text: String = text.chars().map(plain).collect();
    text.split('-').filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join("-")
}

fn title_of(id: &LessonId) -> String {
    let words = id.name().replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_an_id() {
        for (path, id) in [
            ("gpu/warps.md", Some("gpu/warps")),
            ("/home/me/My Lessons/Why_it  stalls.md", Some("my-lessons/why-it-stalls")),
            ("roof.md", Some("systems/roof")),
            ("42/roof.md", Some("systems/roof")),
            ("gpu/1.md", None),
            ("---.md", None),
        ] {
            assert_eq!(id_for(Path::new(path)).map(|id| id.to_string()).as_deref(), id, "{path}");
        }
        assert_eq!(title_of(&"gpu/why-it-stalls".parse().unwrap()), "Why it stalls");
    }
}
