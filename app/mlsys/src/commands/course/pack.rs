//! `mlsys course pack`: a course in one file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mlsys_lesson::{COURSE_FILE, Course, Diagnostic, Key, ParsedCourse};

use crate::cli::PackCourse;
use mlsys_run::archive::{Manifest, Withheld};
use mlsys_run::console::Console;
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::library::{Library, labs};

/// Packs the course; one with mistakes is not packed.
pub fn run(options: &PackCourse, console: &mut Console) -> Result<Exit, Failure> {
    let library = Library::open(&options.path)?;
    let parsed = library.parsed();
    for diagnostic in parsed.all_diagnostics() {
        console.note(format_args!("{diagnostic}\n"));
    }
    let sound = !parsed.all_diagnostics().any(Diagnostic::is_error);
    let Some(course) = parsed.course.as_ref().filter(|_| sound) else {
        return Err(Failure::Usage(format!("{} is not valid; nothing was packed", library.name())));
    };
    let answers = if options.without_answers { Withheld::Withheld } else { Withheld::Included };
    let files = files(&library, &parsed, answers, console);
    let manifest = Manifest::new(course.id.clone(), answers, &files);
    let packed = manifest.pack(&files).map_err(|refused| {
        Failure::Usage(format!("{} cannot be packed: {refused}", library.name()))
    })?;
    write(&options.output, &packed.bytes)?;
    if let Some(file) = &options.key {
        write_key(file, course)?;
    }
    console.line(format_args!(
        "{}: {} files, {} bytes, content sha256:{}",
        options.output.display(),
        files.len(),
        packed.bytes.len(),
        packed.hash
    ))?;
    Ok(Exit::Passed)
}

/// The files that belong to the course, as they are packed.
fn files(
    library: &Library,
    parsed: &ParsedCourse,
    answers: Withheld,
    console: &mut Console,
) -> BTreeMap<String, Vec<u8>> {
    let mut packed = BTreeMap::new();
    for (path, file) in library.files() {
        let translates = mlsys_lesson::translated(path)
            .filter(|(lesson, _)| parsed.lessons.iter().any(|(listed, _)| listed == lesson));
        let is_about = path == COURSE_FILE
            || path == "README.md"
            || path.starts_with("LICENSE")
            || labs::is_lab(path);
        if translates.is_some() && answers == Withheld::Withheld {
            console.warn(format_args!("the translation {path} may tell answers, and was left out"));
        } else if translates.is_some() || is_about {
            packed.insert(path.clone(), file.bytes.clone());
        }
    }
    for (path, parsed) in &parsed.lessons {
        let (Some(file), Some(lesson)) = (library.files().get(path), &parsed.lesson) else {
            continue;
        };
        let bytes = match answers {
            Withheld::Included => file.bytes.clone(),
            Withheld::Withheld => mlsys_lesson::withheld(lesson).into_bytes(),
        };
        packed.insert(path.clone(), bytes);
    }
    packed
}

fn write_key(file: &Path, course: &Course) -> Result<(), Failure> {
    if let Some(lesson) =
        course.lessons().iter().find(|lesson| lesson.questions().any(|q| q.kind.is_withheld()))
    {
        return Err(Failure::Usage(format!(
            "the lesson {} has no answers to write a key of; pack the complete course",
            lesson.front.id
        )));
    }
    let key = Key::of(course.id.clone(), course.lessons());
    let text = key.to_json().map_err(|error| Failure::Run(error.to_string()))?;
    write(file, text.as_bytes())
}

/// Writes a file beside its place first, so that one that was there stays whole until the new one is.
fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::Usage(format!("'{}' cannot be written: {error}", file.display()))
    };
    if file.is_dir() {
        return Err(Failure::Usage(format!(
            "'{}' is a folder; name a file such as course.tar.gz",
            file.display()
        )));
    }
    let mut beside = file.as_os_str().to_owned();
    beside.push(".part");
    fs::write(&beside, bytes).map_err(failed)?;
    fs::rename(&beside, file).map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}
