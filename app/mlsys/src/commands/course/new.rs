//! `mlsys course new`: a course to start from.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use mlsys_lesson::{COURSE_FILE, CourseId, LessonId, new_lesson};

use crate::cli::Ci;
use mlsys_run::console::Console;
use mlsys_run::exit::{Exit, Failure};

const COURSE: &str = include_str!("new/course.toml");
const README: &str = include_str!("new/README.md");
const IGNORED: &str = include_str!("new/gitignore");
const LAB: &str = include_str!("new/labs/transfer-time.toml");
const GITHUB: &str = include_str!("new/github.yml");

/// Where GitHub looks for workflows.
const GITHUB_FILE: &str = ".github/workflows/lessons.yml";

/// Writes the files of a course; if one of them exists, none is written.
pub fn write(folder: &Path, ci: Option<Ci>, console: &mut Console) -> Result<Exit, Failure> {
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
    match ci {
        Some(Ci::Github) => files.push((GITHUB_FILE.to_owned(), fill(GITHUB))),
        None => {}
    }
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
    console.line("What next:")?;
    console.line(format_args!("  mlsys course check {shown}"))?;
    console.line(format_args!("  mlsys --course {shown}"))?;
    console.line(format_args!("  mlsys course pack {shown} -o {id}.tar.gz"))?;
    Ok(Exit::Passed)
}

fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let reason = if error.kind() == ErrorKind::AlreadyExists {
            "it exists, and nothing is overwritten".to_owned()
        } else {
            error.to_string()
        };
        Failure::Usage(format!("'{}' was not written: {reason}", path.display()))
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = File::options().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

/// The title that a folder's name makes: letters, digits and spaces.
fn title_of(folder: &Path) -> String {
    let whole = fs::canonicalize(folder);
    let named = whole.as_deref().unwrap_or(folder).file_name();
    let name = named.unwrap_or_default().to_string_lossy();
    let plain: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let text = words.join(" ");
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "My course".to_owned(),
    }
}

/// The id that a title makes.
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
