//! `mlsys lesson`: lessons written, translated, previewed and checked.

use std::path::Path;

use mlsys_lab::Registry;
use mlsys_lesson::{LessonId, Sheet, translated};
use mlsys_run::console::Console;
use mlsys_run::library::{self, languages};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::write_new;
use mlsys_tui::Follow;
use mlsys_tui::message::PreviewState;

use super::check;
use super::course::write_course;
use crate::cli::{self, Machine};
use crate::commands::open;
use crate::context::Context;

pub fn run(asked: &cli::Lesson, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match asked {
        cli::Lesson::Check(options) => check::lessons(options, context),
        cli::Lesson::New { path, ci } => match (path, &context.course) {
            (Some(path), _) => write_lesson(path, context.console),
            (None, Some(course)) => write_course(course, *ci, context.console),
            (None, None) => Err(Failure::usage(
                "name the file to write, such as `mlsys lesson new my-lesson.md`, or a course's folder, as in `mlsys lesson new --course DIR`",
            )),
        },
        cli::Lesson::Schema => {
            let schema = mlsys_lesson::json_schema(context.registry);
            context.console.line(format_args!("{schema:#}"))?;
            Ok(Exit::Passed)
        }
        cli::Lesson::Translate { path, lang } => translate(path, lang, context),
        cli::Lesson::Preview { path, machine } => preview(path, *machine, context),
    }
}

/// The module that a lesson belongs to where its folder's name is none.
const MODULE: &str = "systems";

/// Writes the file; one that exists is left alone.
pub fn write_lesson(path: &Path, console: &mut Console) -> Result<Exit, Failure> {
    let id = id_for(path).ok_or_else(|| {
        Failure::Usage(format!(
            "'{}' was not written: the file's name becomes the lesson's id; write one such as my-lesson.md",
            path.display()
        ))
    })?;
    write_new(path, &mlsys_lesson::new_lesson(&id, &title_of(&id)))?;
    let shown = path.display();
    console.line(format_args!(
        "{shown} is lesson {id}. What next:\n  mlsys lesson check {shown}\n  mlsys lesson preview {shown}"
    ))?;
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

/// Opens it; a file with mistakes too, since they are mended while it is open.
pub fn preview(path: &Path, machine: Machine, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let original = languages::original_of(path);
    let file = original.clone().unwrap_or_else(|| path.to_owned());
    // What cannot be read at all was most likely misspelt.
    let parsed = library::read_file(&file, context.registry)?;
    if !open::on_a_terminal() {
        return Err(Failure::Usage(format!(
            "the preview needs a terminal; `mlsys lesson check {}` tells without one what is wrong",
            path.display()
        )));
    }
    let translation = match (original, parsed.lesson) {
        (Some(_), _) => Some(path.to_owned()),
        (None, Some(lesson)) => context.languages.file_for(&lesson),
        (None, None) => None,
    };
    let files = [Some(file.clone()), translation.clone()];
    let (registry, sheet) = (context.registry, context.sheet()?);
    let follow = Follow {
        files: files.into_iter().flatten().collect(),
        read: Box::new(move || {
            preview_state(&file, translation.as_deref(), registry, sheet.as_ref())
        }),
    };
    open::start(machine, None, Some(follow), context)
}

/// The lesson in its file, or in its translation, with the mistakes of both.
fn preview_state(
    file: &Path,
    translation: Option<&Path>,
    registry: &Registry,
    sheet: Option<&Sheet>,
) -> PreviewState {
    if !file.exists() {
        return PreviewState::Unreadable(format!("{} is not there any more", file.display()));
    }
    let read = library::read_file(file, registry).and_then(|mut parsed| {
        if let (Some(lesson), Some(translation)) = (&parsed.lesson, translation) {
            let translated = languages::read_file(translation, lesson)?;
            parsed.diagnostics.extend(translated.diagnostics);
            parsed.lesson = translated.lesson;
        }
        if let (Some(lesson), Some(sheet)) = (&parsed.lesson, sheet) {
            parsed.lesson = Some(lesson.drawn(sheet));
        }
        Ok(parsed)
    });
    match read {
        Ok(parsed) => PreviewState::Read(Box::new(parsed)),
        Err(failure) => PreviewState::Unreadable(failure.to_string()),
    }
}

/// Writes the file into the folder of the lesson; an existing file is left alone.
pub fn translate(path: &Path, lang: &str, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let parsed = library::read_file(path, context.registry)?;
    library::print_diagnostics(&parsed.diagnostics, context.console);
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
    write_new(&file, &mlsys_lesson::skeleton(&lesson, lang))?;
    debug_assert!(languages::original_of(&file).is_some());
    let shown = file.display();
    context.console.line(format_args!(
        "{shown} has every text of {}, to be written over. What next:\n  mlsys lesson preview {shown}\n  mlsys lesson check {shown}",
        lesson.front.id
    ))?;
    Ok(Exit::Passed)
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
