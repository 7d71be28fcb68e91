//! Texts that are being written, as files: kept as they are typed, read again when another program saves them, and
//! opened in the learner's own editor.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use mlsys_run::child;
use mlsys_run::process::Loss;
use mlsys_run::storage::{Draft, Drafts};

use super::Outbox;
use super::inputs::Input;
use super::watch::{Follow, Stop, Watch, start};
use crate::editor::DraftOrigin;
use crate::message::Message;

pub(super) struct DraftStore {
    drafts: Drafts,
    open: Option<Open>,
    /// The draft's file could not be read, so it is never overwritten.
    unread: Option<Draft>,
    /// What could not be written: there is no other copy.
    unkept: BTreeMap<Draft, String>,
}

struct Open {
    draft: Draft,
    /// What its file holds as far as we know: what we wrote or read last.
    known: Option<String>,
    /// Ends the following when it goes.
    _stop: Option<Stop>,
}

impl DraftStore {
    pub(super) fn new(drafts: Drafts) -> Self {
        Self { drafts, open: None, unread: None, unkept: BTreeMap::new() }
    }

    pub(super) fn path(&self, draft: &Draft) -> PathBuf {
        self.drafts.path(draft)
    }

    pub(super) fn open(&mut self, draft: Draft, outbox: &Outbox) -> Vec<Message> {
        self.close();
        let watch = Watch::new(Follow { files: vec![self.path(&draft)], read: Box::new(|| ()) });
        // Without a thread the text is kept all the same; what others save is read when it is opened again.
        let stop = start(outbox, watch, |()| Input::DraftSaved).ok();
        let told =
            |text: Option<String>, whence| Message::Draft { draft: draft.clone(), text, whence };
        let (kept, failed) = match self.drafts.read(&draft) {
            Ok(text) => (text, None),
            Err(error) => {
                self.unread = Some(draft.clone());
                (None, Some(self.unreadable(&draft, &error)))
            }
        };
        let mut messages = vec![told(kept.clone(), DraftOrigin::Kept)];
        // It comes over what stands in the file, so that undoing brings that back.
        if let Some(text) = self.unkept.get(&draft) {
            messages.push(told(Some(text.clone()), DraftOrigin::Saved));
        }
        messages.extend(failed);
        self.open = Some(Open { draft, known: kept, _stop: stop });
        messages
    }

    fn unreadable(&self, draft: &Draft, error: &io::Error) -> Message {
        let path = self.path(draft);
        Message::NotSaved(format!("what you wrote cannot be read from {}: {error}", path.display()))
    }

    pub(super) fn close(&mut self) {
        self.open = None;
        self.unread = None;
    }

    /// Keeps a text, or holds it until it can be kept.
    pub(super) fn keep(&mut self, draft: &Draft, text: &str) -> io::Result<()> {
        let kept = if self.unread.as_ref() == Some(draft) {
            Err(io::Error::other("its file holds what cannot be read"))
        } else {
            self.drafts.save(draft, text)
        };
        if kept.is_err() {
            self.unkept.insert(draft.clone(), text.to_owned());
            return kept;
        }
        self.unkept.remove(draft);
        if let Some(open) = self.open.as_mut().filter(|open| open.draft == *draft) {
            open.known = Some(text.to_owned());
        }
        Ok(())
    }

    /// Tries once more to write the texts that could not be written.
    pub(super) fn close_files(&mut self) -> Vec<Loss> {
        let held = std::mem::take(&mut self.unkept);
        let lost = held.into_iter().filter_map(|(draft, text)| {
            let error = self.keep(&draft, &text).err()?;
            let path = self.path(&draft);
            let sentence =
                format!("what you wrote is lost: {} cannot be written: {error}", path.display());
            Some(Loss::new(sentence, &error))
        });
        lost.collect()
    }

    /// The file of the open text has changed: what another program has written, if it was one.
    pub(super) fn saved(&mut self) -> Option<Message> {
        let draft = self.open.as_ref()?.draft.clone();
        let text = match self.drafts.read(&draft) {
            Ok(text) => text,
            Err(error) => {
                let failed = self.unreadable(&draft, &error);
                self.unread = Some(draft);
                return Some(failed);
            }
        };
        self.unread = None;
        let text = text?;
        let open = self.open.as_mut()?;
        // Our own writing is seen as well.
        if open.known.as_ref() == Some(&text) {
            return None;
        }
        open.known = Some(text.clone());
        Some(Message::Draft { draft, text: Some(text), whence: DraftOrigin::Saved })
    }
}

const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

/// What every system of the kind has.
const USUAL: &str = if cfg!(windows) { "notepad" } else { "vi" };

#[derive(Debug, thiserror::Error)]
pub(super) enum EditorError {
    #[error("there is no editor '{0}'; {ADVICE}")]
    Missing(String),
    #[error("the editor '{0}' ended with {1}")]
    Failed(String, ExitStatus),
    #[error("the editor '{0}' cannot be started: {1}; {ADVICE}")]
    NotStarted(String, io::Error),
}

const ADVICE: &str = "the variables VISUAL and EDITOR name another; your text is as it was";

pub(super) fn edit(path: &Path) -> Result<(), EditorError> {
    let mut named = VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
    let editor = named.find(|value| !value.trim().is_empty()).unwrap_or_else(|| USUAL.to_owned());
    match child::start(&mut command(&editor, path)).and_then(|mut editor| editor.wait()) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) if status.code() == Some(127) => Err(EditorError::Missing(editor)),
        Ok(status) => Err(EditorError::Failed(editor, status)),
        Err(error) => Err(EditorError::NotStarted(editor, error)),
    }
}

/// The value may hold arguments, as in `code --wait`: a shell reads it, as other programs have it read.
#[cfg(unix)]
fn command(editor: &str, path: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh");
    command.arg(path);
    command
}

#[cfg(not(unix))]
fn command(editor: &str, path: &Path) -> Command {
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(editor));
    command.args(words).arg(path);
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_harness::sandbox::Sandbox;
    use mlsys_run::storage::MAX_DRAFT_BYTES;
    use std::fs;
    use std::sync::mpsc;

    fn texts(messages: &[Message]) -> Vec<&str> {
        let mut texts = Vec::new();
        for message in messages {
            if let Message::Draft { text, .. } = message {
                texts.extend(text.as_deref());
            }
        }
        texts
    }

    #[test]
    fn unreadable_drafts_are_not_overwritten() {
        let folder = Sandbox::new("");
        let drafts = Drafts::in_folder(&folder.path("drafts"), &"a-course".parse().unwrap());
        let mut draft_store = DraftStore::new(drafts);
        let draft = Draft { lesson: "gpu/threads".parse().unwrap(), name: "mine".to_owned() };
        let (outbox, _inbox) = mpsc::channel();
        assert!(texts(&draft_store.open(draft.clone(), &outbox)).is_empty());
        draft_store.keep(&draft, "first").unwrap();

        // Longer than a kernel may be.
        let path = draft_store.path(&draft);
        fs::write(&path, "x".repeat(MAX_DRAFT_BYTES + 1)).unwrap();
        let messages = draft_store.open(draft.clone(), &outbox);
        assert!(matches!(messages.last(), Some(Message::NotSaved(_))));
        assert!(draft_store.keep(&draft, "typed").is_err());
        assert_eq!(fs::read(&path).unwrap().len(), MAX_DRAFT_BYTES + 1);

        // What was typed is there when the text is opened again, over what the file holds.
        fs::write(&path, "mended").unwrap();
        let messages = draft_store.open(draft.clone(), &outbox);
        assert_eq!(texts(&messages), ["mended", "typed"]);
        draft_store.keep(&draft, "typed more").unwrap();
        let messages = draft_store.open(draft.clone(), &outbox);
        assert_eq!(texts(&messages), ["typed more"]);

        // Where nothing can be written the text is held.
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(draft_store.keep(&draft, "held").is_err());
        fs::remove_dir(&path).unwrap();
        let messages = draft_store.open(draft, &outbox);
        assert_eq!(texts(&messages), ["held"]);
    }
}
