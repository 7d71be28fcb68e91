//! The learner's progress on disk: one event a line, only ever appended.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use mlsys_lesson::{CourseId, Event, Progress, Record};

/// The open log.
pub struct ProgressLog {
    file: File,
    course: CourseId,
}

impl ProgressLog {
    /// Reads what the log says of a course and opens it for more; what cannot be read or written becomes a sentence, never a failure.
    pub fn open(path: &Path, course: &CourseId) -> (Option<Self>, Progress, Option<String>) {
        let (progress, torn) = match fs::read(path) {
            Ok(bytes) => {
                let replay = Progress::replay_course(&bytes, course);
                let trouble = replay
                    .trouble()
                    .map(|trouble| format!("progress in {}: {trouble}", path.display()));
                (replay.progress, (replay.needs_newline, trouble))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                (Progress::of_course(course.clone()), (false, None))
            }
            Err(error) => {
                let sentence = format!("progress cannot be read from {}: {error}", path.display());
                return (None, Progress::of_course(course.clone()), Some(sentence));
            }
        };
        let (torn, trouble) = torn;
        match Self::append_to(path, course, torn) {
            Ok(log) => (Some(log), progress, trouble),
            Err(error) => {
                let sentence =
                    format!("progress is not kept: {} cannot be written ({error})", path.display());
                (None, progress, Some(sentence))
            }
        }
    }

    fn append_to(path: &Path, course: &CourseId, torn: bool) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::options().create(true).append(true).open(path)?;
        if torn {
            // Ends the torn line, so that the next event does not become part of it.
            file.write_all(b"\n")?;
        }
        Ok(Self { file, course: course.clone() })
    }

    /// Appends one event; it is written when this returns.
    pub fn append(&mut self, event: &Event) -> io::Result<()> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let record = Record::new(since_1970.as_secs(), event.clone());
        let line = record.in_course(self.course.clone()).line()?;
        // One write a line: two apps that append at once do not mix their lines.
        self.file.write_all(line.as_bytes())
    }
}
