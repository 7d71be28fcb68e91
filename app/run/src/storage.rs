//! Files: the learner's data folder with the log of progress, texts that are being written and exported pictures, and
//! reading of files that others wrote, up to a limit.

mod progress_log;

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use etcetera::base_strategy::{BaseStrategy, choose_base_strategy};
use mlsys_lesson::{CourseId, LessonId, Progress, Replay};
use tempfile::TempDir;

use crate::console::shown_path;
use crate::files;
use crate::process::Failure;
pub use progress_log::ProgressLog;

pub const DATA_VARIABLE: &str = "MLSYS_DATA_DIR";

#[derive(Clone, Debug)]
pub struct Paths {
    data: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no home directory to keep runs and progress in; set {DATA_VARIABLE} to a folder")]
pub struct NoDataFolder;

impl From<&NoDataFolder> for Failure {
    fn from(error: &NoDataFolder) -> Self {
        Self::Usage(error.to_string())
    }
}

impl Paths {
    /// `MLSYS_DATA_DIR`, else the platform's folder for the data of programs.
    pub fn find() -> Result<Self, NoDataFolder> {
        if let Some(folder) = env::var_os(DATA_VARIABLE).filter(|folder| !folder.is_empty()) {
            return Ok(Self::at(PathBuf::from(folder)));
        }
        let base = choose_base_strategy().map_err(|_| NoDataFolder)?;
        Ok(Self::at(base.data_dir().join("mlsys")))
    }

    /// The folder need not exist yet.
    pub fn at(data: PathBuf) -> Self {
        Self { data }
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    pub fn runs(&self) -> PathBuf {
        self.data.join("runs")
    }

    pub fn themes(&self) -> PathBuf {
        self.data.join("themes")
    }

    pub fn exports(&self) -> PathBuf {
        self.data.join("exports")
    }

    pub fn drafts(&self) -> PathBuf {
        self.data.join("drafts")
    }

    pub fn progress(&self) -> PathBuf {
        self.data.join("progress.jsonl")
    }
}

/// What the log says of a course, nothing if there is none, and a sentence about lines that were passed over.
pub fn read_progress(path: &Path, course: &CourseId) -> io::Result<(Replay, Option<String>)> {
    let log = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        log => log?,
    };
    let replay = Progress::replay_course(&log, course);
    let trouble = replay.warning();
    let trouble = trouble.map(|trouble| format!("progress in {}: {trouble}", path.display()));
    Ok((replay, trouble))
}

/// Bytes that a text may have: what the front end takes.
pub const MAX_DRAFT_BYTES: usize = mlsys_kernel::MOST_BYTES;

/// The name of a text that is kept as it is typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draft {
    pub lesson: LessonId,
    /// Its question, or its lab and the example there, of letters, digits, `_`, `-` and dots.
    pub name: String,
}

impl Draft {
    pub fn of_question(lesson: &LessonId, question: &str) -> Self {
        Self { lesson: lesson.clone(), name: question.to_owned() }
    }

    pub fn of_lab(lesson: &LessonId, lab: &str, example: &str) -> Self {
        Self { lesson: lesson.clone(), name: format!("{lab}.{example}") }
    }
}

/// A source text with Unix line ends and without other characters that steer a terminal.
pub fn clean(text: &str) -> String {
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    unix.chars()
        .filter(|c| matches!(c, '\n' | '\t') || !mlsys_lab::steers_terminal(*c) && *c != '\u{feff}')
        .collect()
}

/// The folder of texts that are being written, which survive a crash of the program.
#[derive(Debug)]
pub struct Drafts {
    folder: PathBuf,
    /// Holds a folder that is removed at exit, as in previews.
    _temporary: Option<TempDir>,
}

impl Drafts {
    pub fn in_folder(folder: &Path, course: &CourseId) -> Self {
        Self { folder: folder.join(course.as_str()), _temporary: None }
    }

    /// Drafts that are removed at exit, in a folder under a name that cannot be guessed.
    pub fn temporary() -> io::Result<Self> {
        let mut private = tempfile::Builder::new();
        private.prefix("mlsys-drafts-");
        #[cfg(unix)]
        private.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = private.tempdir()?;
        Ok(Self { folder: folder.path().to_owned(), _temporary: Some(folder) })
    }

    /// The file of a draft; its ending tells editors the language.
    pub fn path(&self, draft: &Draft) -> PathBuf {
        let folder = self.folder.join(draft.lesson.as_str());
        folder.join(format!("{}.cu", draft.name))
    }

    /// The text of a draft, if it was ever written.
    ///
    /// # Errors
    /// The file cannot be read, or is longer than a kernel may be: a part of it would be another text.
    pub fn read(&self, draft: &Draft) -> io::Result<Option<String>> {
        match fs::read(self.path(draft)) {
            Ok(bytes) => {
                let text = clean(&String::from_utf8_lossy(&bytes));
                if text.len() > MAX_DRAFT_BYTES {
                    let most = MAX_DRAFT_BYTES / 1024;
                    let why = format!("a kernel has at most {most} KiB of text");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
                Ok(Some(text))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Saves a draft; the file always holds the previous text or this one, whole.
    pub fn save(&self, draft: &Draft, text: &str) -> io::Result<()> {
        let path = self.path(draft);
        if let Some(folder) = path.parent() {
            files::create_folder(folder)?;
        }
        files::replace(&path, text.as_bytes())
    }
}

/// The letters of a name that are kept; a path may not be longer than file systems take.
const LONGEST: usize = 100;
/// A second in which more than this is exported under one name is a mistake.
const MOST: u32 = 1000;

/// A picture to be written as drawing and as values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Lesson or lab, and panel.
    pub name: String,
    pub svg: String,
    pub csv: String,
}

/// Writes drawing and values side by side into a folder and returns their path without the ending.
pub fn write_export(folder: &Path, export: &Export, now: SystemTime) -> io::Result<PathBuf> {
    files::create_folder(folder)?;
    let time = humantime::format_rfc3339_seconds(now).to_string();
    let name = format!("{}-{}", file_name(&export.name), time.replace(':', "-"));
    for count in 1..=MOST {
        let stem = folder.join(if count == 1 { name.clone() } else { format!("{name}-{count}") });
        let mut drawing = match create(&stem, "svg") {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        let mut values = match create(&stem, "csv") {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Ours and empty: without its values the drawing would be taken for a whole export.
                fs::remove_file(stem.with_extension("svg"))?;
                continue;
            }
            file => file?,
        };
        let written = drawing.write_all(export.svg.as_bytes());
        return match written.and_then(|()| values.write_all(export.csv.as_bytes())) {
            Ok(()) => Ok(stem),
            Err(error) => {
                // Half an export is none.
                let _ = fs::remove_file(stem.with_extension("svg"));
                let _ = fs::remove_file(stem.with_extension("csv"));
                Err(error)
            }
        };
    }
    Err(io::Error::other(format!("there are already {MOST} exports called {name}")))
}

fn create(stem: &Path, ending: &str) -> io::Result<File> {
    // The name has no dot of its own: what follows the time is the ending.
    File::options().write(true).create_new(true).open(stem.with_extension(ending))
}

fn file_name(name: &str) -> String {
    let letters = name.chars().take(LONGEST);
    let safe = letters.map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c,
        _ => '-',
    });
    let safe: String = safe.collect();
    match safe.trim_matches('-') {
        "" => "picture".to_owned(),
        safe => safe.to_owned(),
    }
}

/// Writes a new file and the folders it needs; a file that exists is left alone.
pub fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let create = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::options().write(true).create_new(true).open(path)?;
        file.write_all(text.as_bytes())
    };
    create().map_err(|error: io::Error| {
        let reason = if error.kind() == io::ErrorKind::AlreadyExists {
            "it exists, and nothing is overwritten".to_owned()
        } else {
            error.to_string()
        };
        Failure::Usage(format!("'{}' was not written: {reason}", path.display()))
    })
}

/// The bytes of a file of at most `max` bytes; `what` it is stands in the messages.
pub fn read_bounded(path: &Path, what: &str, max: u64) -> Result<Vec<u8>, Failure> {
    let failed = |reason: String| {
        Failure::Usage(format!("{what} '{}' cannot be read: {reason}", shown_path(path)))
    };
    match fs::metadata(path) {
        // A pipe or a device may never end.
        Ok(about) if !about.is_file() => return Err(failed("it is not a file".to_owned())),
        Ok(about) if about.len() > max => {
            return Err(failed(format!(
                "it has {} bytes, and a {what} has at most {max}",
                about.len()
            )));
        }
        Ok(_) => {}
        Err(error) => return Err(failed(error.to_string())),
    }
    fs::read(path).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn drafts_hold_the_last_text() {
        let folder = {
            let drafts = Drafts::temporary().unwrap();
            let draft = Draft { lesson: "gpu/threads".parse().unwrap(), name: "mine".to_owned() };
            assert_eq!(drafts.read(&draft).unwrap(), None);
            for text in ["first", "second, longer", "", "int i;\r\n"] {
                drafts.save(&draft, text).unwrap();
                let kept = text.replace('\r', "");
                assert_eq!(drafts.read(&draft).unwrap(), Some(kept));
            }
            let path = drafts.path(&draft);
            assert!(path.ends_with("gpu/threads/mine.cu"), "{path:?}");
            let count = fs::read_dir(path.parent().unwrap()).unwrap().count();
            assert_eq!(count, 1, "nothing else is left there");
            fs::write(&path, vec![b'x'; MAX_DRAFT_BYTES + 1]).unwrap();
            assert!(drafts.read(&draft).is_err(), "a part is another text");
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
            assert!(drafts.save(&draft, "in the place of a folder").is_err());
            let count = fs::read_dir(path.parent().unwrap()).unwrap().count();
            assert_eq!(count, 1, "nothing is left of what failed");
            drafts.folder.clone()
        };
        assert!(!folder.exists());
    }

    fn export(name: &str) -> Export {
        Export { name: name.to_owned(), svg: "<svg/>".to_owned(), csv: "a\r\n".to_owned() }
    }

    #[test]
    fn exports_never_overwrite_a_file() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().to_owned();
        let now = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let first = write_export(&folder, &export("a/b loss"), now).unwrap();
        assert!(first.ends_with("a-b-loss-2023-11-14T22-13-20Z"), "{first:?}");
        fs::write(folder.join("a-b-loss-2023-11-14T22-13-20Z-2.csv"), "kept").unwrap();
        let second = write_export(&folder, &export("a/b loss"), now).unwrap();
        assert!(second.ends_with("a-b-loss-2023-11-14T22-13-20Z-3"), "{second:?}");
        let kept = fs::read_to_string(folder.join("a-b-loss-2023-11-14T22-13-20Z-2.csv"));
        assert_eq!(kept.unwrap(), "kept");
        let mut names: Vec<_> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names.len(), 5, "{names:?}");
    }

    #[test]
    fn exported_names_are_safe_file_names() {
        for (name, expected) in [
            ("../../etc/passwd", "etc-passwd"),
            ("", "picture"),
            ("\u{1b}漢", "picture"),
            ("systems/training-loop loss.curve", "systems-training-loop-loss-curve"),
        ] {
            assert_eq!(file_name(name), expected);
        }
        assert!(file_name(&"x".repeat(5000)).len() <= LONGEST);
    }
}
