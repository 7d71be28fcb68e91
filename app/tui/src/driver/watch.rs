//! Following files by looking at them again and again.
//!
//! Asking the system to tell of changes would save a look five times a second at a file or two, and would bring a
//! library with a back end for each system; it would still miss changes on network file systems and in shared folders
//! of virtual machines, and each editor replaces files in its own way: in place, by truncating first, by renaming a
//! new file over the old one, by moving the old one away first. What stands at the path tells all of these apart.

use std::fs::{self, Metadata};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{io, thread};

use super::Outbox;
use super::inputs::Input;
use crate::message::PreviewState;

/// Time from look to look: what an author has saved is on the screen within two of them.
const PERIOD: Duration = Duration::from_millis(150);

/// Looks for which an empty or a missing file is taken for one that is being replaced.
const TIMEOUT: u32 = 4;

/// A file younger than this may change again without a new date, where dates are coarse.
const COARSEST_DATE: Duration = Duration::from_secs(3);

pub struct Follow<T = PreviewState> {
    pub files: Vec<PathBuf>,
    pub read: Box<dyn Fn() -> T + Send>,
}

/// What tells one state of a file from another without reading it.
#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    length: u64,
    changed: Option<SystemTime>,
    file: (u64, u64),
}

/// What was last seen at the paths.
pub struct Watch<T = PreviewState> {
    follow: Follow<T>,
    /// The stamps at the last look, for files that were there.
    seen: Vec<Option<Stamp>>,
    /// The bytes that were last read and told.
    told: Vec<Option<Vec<u8>>>,
    /// Whether the stamps have changed since.
    pending: bool,
    /// For how many looks a file has been missing or empty.
    waited: u32,
}

impl<T> Watch<T> {
    /// Watches files with their present content known.
    pub fn new(follow: Follow<T>) -> Self {
        let files = &follow.files;
        Self {
            seen: files.iter().map(stamp).collect(),
            told: files.iter().map(|file| fs::read(file).ok()).collect(),
            follow,
            pending: false,
            waited: 0,
        }
    }

    pub fn name(&self) -> String {
        let first = self.follow.files.first();
        first.map_or_else(String::new, |file| file.display().to_string())
    }

    pub fn read(&self) -> T {
        (self.follow.read)()
    }

    /// Looks once; what is to be told, if the files have come to rest with another content than before.
    pub fn look(&mut self) -> Option<T> {
        let now: Vec<_> = self.follow.files.iter().map(stamp).collect();
        if now != self.seen {
            self.seen = now;
            self.pending = true;
            self.waited = 0;
            return None;
        }
        if !self.pending && !self.seen.iter().flatten().any(is_recent) {
            return None;
        }
        let content: Vec<_> = self.follow.files.iter().map(|file| fs::read(file).ok()).collect();
        if content == self.told {
            self.pending = false;
            return None;
        }
        let vanishing =
            content.iter().zip(&self.told).any(|(now, before)| is_empty(now) && !is_empty(before));
        if vanishing && self.waited < TIMEOUT {
            self.waited += 1;
            self.pending = true;
            return None;
        }
        self.pending = false;
        self.told = content;
        Some(self.read())
    }
}

fn is_empty(content: &Option<Vec<u8>>) -> bool {
    content.as_ref().is_none_or(Vec::is_empty)
}

fn stamp(file: &PathBuf) -> Option<Stamp> {
    let about = fs::metadata(file).ok()?;
    Some(Stamp { length: about.len(), changed: about.modified().ok(), file: identity(&about) })
}

/// Which file it is: another one may have been put in its place with the same date and length.
#[cfg(unix)]
fn identity(about: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (about.dev(), about.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

fn is_recent(stamp: &Stamp) -> bool {
    stamp.changed.and_then(|changed| changed.elapsed().ok()).is_none_or(|age| age < COARSEST_DATE)
}

/// Ends the following of files when it goes.
#[must_use]
pub struct Stop(#[expect(dead_code, reason = "that it lives is all it says")] Arc<()>);

/// Follows the files until stopped or the channel is closed; sends only changes.
pub fn start<T: 'static>(
    outbox: &Outbox,
    mut watch: Watch<T>,
    tell: impl Fn(T) -> Input + Send + 'static,
) -> io::Result<Stop> {
    let outbox = outbox.clone();
    let stop = Arc::new(());
    let wanted = Arc::downgrade(&stop);
    thread::Builder::new().name("following".to_owned()).spawn(move || {
        loop {
            thread::sleep(PERIOD);
            if wanted.strong_count() == 0 {
                return;
            }
            if let Some(seen) = watch.look()
                && outbox.send(tell(seen)).is_err()
            {
                return;
            }
        }
    })?;
    Ok(Stop(stop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_harness::sandbox::Sandbox;
    use std::path::Path;

    fn watch(file: &Path) -> Watch {
        let file = file.to_owned();
        Watch::new(Follow {
            files: vec![file.clone()],
            read: Box::new(move || {
                let text = fs::read_to_string(&file);
                PreviewState::Unreadable(text.unwrap_or_else(|_| "gone".to_owned()))
            }),
        })
    }

    fn told(watch: &mut Watch, looks: u32) -> Vec<String> {
        let text = |seen| match seen {
            PreviewState::Unreadable(text) => text,
            PreviewState::Read(_) => "a lesson".to_owned(),
        };
        (0..looks).filter_map(|_| watch.look().map(text)).collect()
    }

    #[test]
    fn each_file_replacement_is_seen_once() {
        let folder = Sandbox::new("");
        let file = folder.path("lesson.md");
        fs::write(&file, "one").unwrap();
        let mut watch = watch(&file);
        assert_eq!(told(&mut watch, 10), [""; 0], "nothing happened");

        fs::write(&file, "in place").unwrap();
        assert_eq!(told(&mut watch, 10), ["in place"]);

        // The same length within one tick of a coarse clock.
        fs::write(&file, "IN PLACE").unwrap();
        assert_eq!(told(&mut watch, 10), ["IN PLACE"]);

        // A new file over the old one, as atomic saves do.
        fs::write(folder.path("lesson.md.tmp"), "renamed").unwrap();
        fs::rename(folder.path("lesson.md.tmp"), &file).unwrap();
        assert_eq!(told(&mut watch, 10), ["renamed"]);

        // The old file moved away first, and the new one some looks later.
        fs::rename(&file, folder.path("lesson.md~")).unwrap();
        assert_eq!(told(&mut watch, 3), [""; 0]);
        fs::write(&file, "moved").unwrap();
        assert_eq!(told(&mut watch, 10), ["moved"]);

        // Truncated first, and written some looks later.
        fs::write(&file, "").unwrap();
        assert_eq!(told(&mut watch, 3), [""; 0]);
        fs::write(&file, "written").unwrap();
        assert_eq!(told(&mut watch, 10), ["written"]);

        // Touched, with the same content: nothing to tell.
        fs::write(&file, "written").unwrap();
        assert_eq!(told(&mut watch, 10), [""; 0]);
    }

    #[test]
    fn removed_and_restored_files_are_reported() {
        let folder = Sandbox::new("");
        let file = folder.path("lesson.md");
        fs::write(&file, "one").unwrap();
        let mut watch = watch(&file);
        fs::remove_file(&file).unwrap();
        assert_eq!(told(&mut watch, 20), ["gone"]);
        fs::write(&file, "one").unwrap();
        assert_eq!(told(&mut watch, 20), ["one"]);
        fs::write(&file, "").unwrap();
        assert_eq!(told(&mut watch, 20), [""], "an empty file is told in the end");
    }

    #[test]
    fn partial_writes_are_awaited() {
        let folder = Sandbox::new("");
        let file = folder.path("lesson.md");
        fs::write(&file, "one").unwrap();
        let mut watch = watch(&file);
        let mut text = String::new();
        for piece in ["first", " and", " last"] {
            text.push_str(piece);
            fs::write(&file, &text).unwrap();
            assert_eq!(told(&mut watch, 1), [""; 0]);
        }
        assert_eq!(told(&mut watch, 10), ["first and last"]);
    }
}
