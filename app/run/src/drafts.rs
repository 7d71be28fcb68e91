//! Texts that a learner is writing, each in a file of its own that is there after whatever ended the program.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mlsys_lesson::{CourseId, LessonId};

/// Bytes that a text may have: what the front end takes.
pub const MOST_BYTES: usize = mlsys_kernel::MOST_BYTES;

/// The name of a text that is kept as it is typed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draft {
    /// The lesson it belongs to.
    pub lesson: LessonId,
    /// Its question, or its lab and the example there, of letters, digits, `_`, `-` and dots.
    pub name: String,
}

impl Draft {
    /// The answer to a question.
    pub fn of_question(lesson: &LessonId, question: &str) -> Self {
        Self { lesson: lesson.clone(), name: question.to_owned() }
    }

    /// A lab's kernel, by the example that it began as.
    pub fn of_lab(lesson: &LessonId, lab: &str, example: &str) -> Self {
        Self { lesson: lesson.clone(), name: format!("{lab}.{example}") }
    }
}

/// A text without what no source has: line ends of other systems become ours, other control characters go.
pub fn clean(text: &str) -> String {
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    unix.chars()
        .filter(|c| matches!(c, '\n' | '\t') || !c.is_control() && *c != '\u{feff}')
        .collect()
}

/// The folder of texts that are being written.
#[derive(Debug)]
pub struct Drafts {
    folder: PathBuf,
    /// Whether the folder is removed at exit, as in previews.
    passing: bool,
}

impl Drafts {
    /// The drafts of a course in a data folder.
    pub fn kept(folder: &Path, course: &CourseId) -> Self {
        Self { folder: folder.join(course.as_str()), passing: false }
    }

    /// Drafts that go with the program.
    pub fn passing() -> Self {
        let name = format!("mlsys-drafts-{}", std::process::id());
        Self { folder: std::env::temp_dir().join(name), passing: true }
    }

    /// The file of a draft; its ending tells editors the language.
    pub fn path(&self, draft: &Draft) -> PathBuf {
        let folder = self.folder.join(draft.lesson.as_str());
        folder.join(format!("{}.cu", draft.name))
    }

    /// What is kept of a draft; nothing if it was never written.
    ///
    /// # Errors
    /// The file is there and cannot be read, or is longer than a kernel may be: a part of it would be another text.
    pub fn read(&self, draft: &Draft) -> io::Result<Option<String>> {
        match fs::read(self.path(draft)) {
            Ok(bytes) => {
                let text = clean(&String::from_utf8_lossy(&bytes));
                if text.len() > MOST_BYTES {
                    let most = MOST_BYTES / 1024;
                    let why = format!("a kernel has at most {most} KiB of text");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
                Ok(Some(text))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps a draft: there is always the text before or this one, whole.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, draft: &Draft, text: &str) -> io::Result<()> {
        let path = self.path(draft);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let fresh = path.with_extension(format!("cu.{}", std::process::id()));
        let kept = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, &path));
        if kept.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        kept
    }
}

impl Drop for Drafts {
    fn drop(&mut self) {
        if self.passing {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_keep_the_last_text() {
        let folder = {
            let drafts = Drafts::passing();
            let draft = Draft { lesson: "gpu/threads".parse().unwrap(), name: "mine".to_owned() };
            assert_eq!(drafts.read(&draft).unwrap(), None);
            for text in ["first", "second, longer", "", "int i;\r\n"] {
                drafts.keep(&draft, text).unwrap();
                let kept = text.replace('\r', "");
                assert_eq!(drafts.read(&draft).unwrap(), Some(kept));
            }
            let path = drafts.path(&draft);
            assert!(path.ends_with("gpu/threads/mine.cu"), "{path:?}");
            let count = fs::read_dir(path.parent().unwrap()).unwrap().count();
            assert_eq!(count, 1, "nothing else is left there");
            fs::write(&path, vec![b'x'; MOST_BYTES + 1]).unwrap();
            assert!(drafts.read(&draft).is_err(), "a part is another text");
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
            assert!(drafts.keep(&draft, "in the place of a folder").is_err());
            let count = fs::read_dir(path.parent().unwrap()).unwrap().count();
            assert_eq!(count, 1, "nothing is left of what failed");
            drafts.folder.clone()
        };
        assert!(!folder.exists());
    }
}
