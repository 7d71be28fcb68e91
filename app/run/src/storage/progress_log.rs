//! The log of answers and progress, which is appended to.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use mlsys_lesson::{CourseId, Event, Progress, Record};

use super::read_progress;
use crate::files;
use crate::process::Loss;

/// The log of answers and progress: one event a line, only ever appended.
///
/// An event that the disk does not take is held and tried again with the next one, and when the log is closed.
pub struct ProgressLog {
    path: PathBuf,
    course: CourseId,
    file: Option<SyncedFile>,
    /// Lines that are not in the file.
    held: Vec<String>,
}

impl ProgressLog {
    /// Reads what the log says of a course and opens it for more; what cannot be read or written becomes a sentence, never a failure.
    pub fn open(path: &Path, course: &CourseId) -> (Self, Progress, Option<String>) {
        let mut log =
            Self { path: path.to_owned(), course: course.clone(), file: None, held: Vec::new() };
        let shown = path.display();
        let (progress, trouble) = match read_progress(path, course) {
            Ok((replay, trouble)) => (replay.progress, trouble),
            Err(error) => {
                let sentence = format!("progress cannot be read from {shown}: {error}");
                (Progress::of_course(course.clone()), Some(sentence))
            }
        };
        let unwritable = log.write().err().map(|error| {
            format!("{shown} cannot be written ({error}): progress is held until it can")
        });
        (log, progress, unwritable.or(trouble))
    }

    /// # Errors
    /// The event is held, and not on the disk yet.
    pub fn append(&mut self, event: &Event) -> io::Result<()> {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = since_1970.map_or(0, |since| since.as_secs());
        let record = Record::new(seconds, event.clone());
        self.held.push(record.in_course(self.course.clone()).line()?);
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => SyncedFile::open(&self.path)?,
        };
        file.append(self.held.concat().as_bytes())?;
        self.held.clear();
        self.file = Some(file);
        Ok(())
    }

    /// Writes what is held and waits for the disk.
    pub fn close(mut self) -> Option<Loss> {
        let written =
            self.write().and_then(|()| self.file.take().map_or(Ok(()), SyncedFile::close));
        written.err().map(|error| {
            let path = self.path.display();
            let lost = match self.held.len() {
                1 => "1 answer or other event is".to_owned(),
                count => format!("{count} answers and other events are"),
            };
            let sentence =
                format!("progress: {lost} lost, because {path} cannot be written: {error}");
            Loss::new(sentence, &error)
        })
    }
}

/// A file that grows, with a thread that waits for the disk in place of the one that appends.
struct SyncedFile {
    file: File,
    /// Asks for what was appended to be on the disk; the thread ends when it is dropped.
    ask: mpsc::Sender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl SyncedFile {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            files::create_folder(folder)?;
        }
        let file = files::options().create(true).read(true).append(true).open(path)?;
        let (ask, asked) = mpsc::channel();
        let own = file.try_clone()?;
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(move || {
            while asked.recv().is_ok() {
                own.sync_data()?;
            }
            Ok(())
        })?;
        Ok(Self { file, ask, thread })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        files::append_lines(&mut self.file, bytes)?;
        self.ask.send(()).map_err(|_| io::Error::other("the disk did not take what was written"))
    }

    fn close(self) -> io::Result<()> {
        drop(self.ask);
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| {
            Err(io::Error::other("the thread that waits for the disk panicked"))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::*;

    fn answer(lesson: &str) -> Event {
        Event::LessonOpened { lesson: lesson.parse().unwrap() }
    }

    #[test]
    fn progress_that_cannot_be_written_is_held_until_it_can() {
        let folder = tempfile::tempdir().unwrap();
        let (blocked, course) = (folder.path().join("data"), CourseId::built_in());
        let path = blocked.join("progress.jsonl");
        fs::write(&blocked, "a file in the place of the folder").unwrap();
        let (mut log, _, trouble) = ProgressLog::open(&path, &course);
        assert!(trouble.unwrap().contains("progress is held until it can"));
        assert!(log.append(&answer("a/first")).is_err());
        fs::remove_file(&blocked).unwrap();
        log.append(&answer("a/second")).unwrap();
        assert_eq!(log.close(), None);
        let (replay, trouble) = read_progress(&path, &course).unwrap();
        assert!(trouble.is_none() && replay.skipped == 0);
        for id in ["a/first", "a/second"] {
            assert!(replay.progress.lesson(&id.parse().unwrap()).is_some(), "{id}");
        }
    }

    #[test]
    fn leaving_says_what_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("data"), "a file in the place of the folder").unwrap();
        let path = folder.path().join("data/progress.jsonl");
        let (mut log, _, _) = ProgressLog::open(&path, &CourseId::built_in());
        assert!(log.append(&answer("a/first")).is_err());
        assert!(log.close().unwrap().to_string().contains("1 answer or other event is lost"));
    }

    #[test]
    fn a_line_that_was_cut_off_is_ended_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("progress.jsonl");
        fs::write(&path, "{\"v\":1,\"at\":").unwrap();
        let (mut log, _, _) = ProgressLog::open(&path, &CourseId::built_in());
        log.append(&answer("a/first")).unwrap();
        assert_eq!(log.close(), None);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.lines().count() == 2 && text.ends_with('\n'), "{text}");
    }

    #[test]
    fn a_line_that_another_process_leaves_unfinished_takes_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (path, course) = (folder.path().join("progress.jsonl"), CourseId::built_in());
        let (mut log, _, _) = ProgressLog::open(&path, &course);
        log.append(&answer("a/first")).unwrap();
        let mut other = fs::OpenOptions::new().append(true).open(&path).unwrap();
        other.write_all(b"{\"v\":1,\"at\":").unwrap();
        log.append(&answer("a/second")).unwrap();
        assert_eq!(log.close(), None);
        let (replay, _) = read_progress(&path, &course).unwrap();
        assert_eq!((replay.progress.lessons().count(), replay.skipped), (2, 1));
    }
}
