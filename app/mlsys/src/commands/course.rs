//! `mlsys course`: new courses, packed courses, and checks of all lessons.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mlsys_lesson::{
    COURSE_FILE, Course, CourseId, Diagnostic, Key, LessonId, ParsedCourse, new_lesson,
};
use mlsys_run::archive::{Manifest, Withheld};
use mlsys_run::console::Console;
use mlsys_run::files;
use mlsys_run::library::{Library, labs, print_diagnostics};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::write_new;
use mlsys_run::submission::version_of;

use super::check::{self, Depth, Trial};
use crate::cli::{self, Ci, PackCourse};
use crate::context::Context;

pub fn run(asked: &cli::Course, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match asked {
        cli::Course::Check(options) => {
            let trial = Trial {
                depth: if options.no_run { Depth::Read } else { Depth::Run },
                machine: options.machine,
            };
            check::course(&context.open_course(&options.path)?, trial, context)
        }
        cli::Course::Pack(options) => pack(options, context),
        cli::Course::New { folder, ci } => write_course(folder, *ci, context.console),
    }
}

const COURSE: &str = include_str!("course/new/course.toml");
const README: &str = include_str!("course/new/README.md");
const IGNORED: &str = include_str!("course/new/gitignore");
const LAB: &str = include_str!("course/new/labs/transfer-time.toml");
/// The files of a service, by their paths in the course.
fn service_files(service: Ci) -> &'static [(&'static str, &'static str)] {
    match service {
        Ci::Github => &[(".github/workflows/lessons.yml", include_str!("course/new/github.yml"))],
        Ci::Gradescope => &[
            ("gradescope/Dockerfile", include_str!("course/new/gradescope/Dockerfile")),
            ("gradescope/setup.sh", include_str!("course/new/gradescope/setup.sh")),
            ("gradescope/run_autograder", include_str!("course/new/gradescope/run_autograder")),
            ("gradescope/pack.sh", include_str!("course/new/gradescope/pack.sh")),
            ("gradescope/README.md", include_str!("course/new/gradescope/README.md")),
            ("gradescope/.gitignore", include_str!("course/new/gradescope/gitignore")),
        ],
        Ci::Classroom => &[
            (
                "classroom/.github/workflows/classroom.yml",
                include_str!("course/new/classroom/classroom.yml"),
            ),
            ("classroom/.github/grade.sh", include_str!("course/new/classroom/grade.sh")),
            ("classroom/README.md", include_str!("course/new/classroom/README.md")),
        ],
    }
}

/// Writes the files of a course; if one of them exists, none is written.
pub fn write_course(folder: &Path, ci: Option<Ci>, console: &mut Console) -> Result<Exit, Failure> {
    let title = title_of(folder);
    let id = course_id(&title);
    let first: LessonId = "start/first-steps"
        .parse()
        .map_err(|error: mlsys_lesson::LessonIdError| Failure::Run(error.to_string()))?;
    let fill = |text: &str| {
        text.replace("@ID@", id.as_str())
            .replace("@TITLE@", &title)
            .replace("@LESSON@", first.as_str())
    };
    let mut files = vec![
        (COURSE_FILE.to_owned(), fill(COURSE)),
        (format!("{first}.md"), new_lesson(&first, "First steps")),
        ("labs/transfer-time.toml".to_owned(), LAB.to_owned()),
        ("README.md".to_owned(), fill(README)),
        (".gitignore".to_owned(), fill(IGNORED)),
    ];
    let service = ci.map_or(&[][..], service_files).iter();
    files.extend(service.map(|(path, text)| ((*path).to_owned(), fill(text))));
    if let Some((path, _)) = files.iter().find(|(path, _)| folder.join(path).exists()) {
        return Err(Failure::Usage(format!(
            "'{}' exists, and nothing is overwritten; no file was written",
            folder.join(path).display()
        )));
    }
    for (path, text) in &files {
        write_new(&folder.join(path), text)?;
        console.line(folder.join(path).display())?;
    }
    let shown = folder.display();
    console.line(format_args!(
        "What next:\n  mlsys course check {shown}\n  mlsys --course {shown}\n  mlsys course pack {shown} -o {id}.tar.gz"
    ))?;
    Ok(Exit::Passed)
}

/// The title that a folder's name makes: letters, digits and spaces.
fn title_of(folder: &Path) -> String {
    let whole = fs::canonicalize(folder);
    let named = whole.as_deref().unwrap_or(folder).file_name();
    let name = named.map_or("".into(), |name| name.to_string_lossy());
    let plain: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let text = words.join(" ");
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "My course".to_owned(),
    }
}

fn course_id(title: &str) -> CourseId {
    let plain: String = title
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    let id: String = words.join("-").chars().take(60).collect();
    let id = id.trim_matches('-');
    let is_own = |id: &CourseId| *id != CourseId::built_in();
    id.parse()
        .ok()
        .filter(is_own)
        .or_else(|| format!("course-{id}").trim_matches('-').parse().ok())
        .unwrap_or_default()
}

/// Packs the course; one with mistakes is not packed.
fn pack(options: &PackCourse, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let library = context.open_course(&options.path)?;
    let console = &mut *context.console;
    let parsed = library.parsed();
    print_diagnostics(parsed.all_diagnostics(), console);
    let sound = !parsed.all_diagnostics().any(Diagnostic::is_error);
    let Some(id) = parsed.id().filter(|_| sound).cloned() else {
        return Err(Failure::Usage(format!("{} is not valid; nothing was packed", library.name())));
    };
    let answers = if options.without_answers { Withheld::Withheld } else { Withheld::Included };
    let files = packed_files(&library, &parsed, answers, console);
    let manifest = Manifest::new(id, answers, &files, built_in_versions(&parsed));
    let packed = manifest.pack(&files).map_err(|refused| {
        Failure::Usage(format!("{} cannot be packed: {refused}", library.name()))
    })?;
    files::write_output(&options.output, &packed.bytes)?;
    if answers == Withheld::Withheld && !manifest.built_in.is_empty() {
        let ids: Vec<&str> = manifest.built_in.keys().map(LessonId::as_str).collect();
        console.warn(format_args!(
            "the answers to built-in lessons are in every copy of mlsys: {}",
            ids.join(", ")
        ));
    }
    if let (Some(file), Some(course)) = (&options.key, parsed.into_course()) {
        write_key(file, &course)?;
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

/// The built-in lessons of a course, which are not packed, by what they ask.
fn built_in_versions(parsed: &ParsedCourse) -> BTreeMap<LessonId, String> {
    let lessons = parsed.lessons.iter().filter_map(|(_, parsed)| parsed.lesson.as_ref());
    let included = lessons.filter(|lesson| lesson.included.is_some());
    included.map(|lesson| (lesson.front.id.clone(), version_of(lesson))).collect()
}

fn packed_files(
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
            packed.insert(path.clone(), file.bytes.to_vec());
        }
    }
    for (path, parsed) in &parsed.lessons {
        let (Some(file), Some(lesson)) = (library.files().get(path), &parsed.lesson) else {
            continue;
        };
        let bytes = match answers {
            Withheld::Included => file.bytes.to_vec(),
            Withheld::Withheld => mlsys_lesson::withheld(lesson).into_bytes(),
        };
        packed.insert(path.clone(), bytes);
    }
    packed
}

fn write_key(file: &Path, course: &Course) -> Result<(), Failure> {
    // A built-in lesson has its answers on the grader's machine.
    let own = course.lessons().iter().filter(|lesson| lesson.included.is_none());
    if let Some(lesson) =
        own.clone().find(|lesson| lesson.questions().any(|q| q.kind.is_withheld()))
    {
        return Err(Failure::Usage(format!(
            "the lesson {} has no answers to write a key of; pack the complete course",
            lesson.front.id
        )));
    }
    let key = Key::new(course.id.clone(), own);
    let text = key.to_json().map_err(|error| Failure::Run(error.to_string()))?;
    files::replace_on_disk(file, text.as_bytes())
        .map_err(|error| Failure::Usage(format!("'{}' cannot be written: {error}", file.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_names_its_course() {
        for (folder, title, id) in [
            ("my-course", "My course", "my-course"),
            ("/x/ML Systems_2027", "ML Systems 2027", "ml-systems-2027"),
            ("2027", "2027", "course-2027"),
            ("mlsys", "Mlsys", "course-mlsys"),
            ("été", "Été", "t"),
            ("...", "My course", "my-course"),
        ] {
            assert_eq!(title_of(Path::new(folder)), title);
            assert_eq!(course_id(title).as_str(), id, "{folder}");
        }
    }
}
