//! Texts that are being written, as files: kept as they are typed, and read again when another program saves them.

use std::io;
use std::path::PathBuf;

use super::Outbox;
use super::inputs::Input;
use super::watch::{Follow, Stop, Watch, start};
use crate::drafts::Drafts;
use crate::ui::editor::{Draft, Whence};
use crate::ui::message::Message;

/// The texts, and the one that is open.
pub(super) struct Desk {
    drafts: Drafts,
    open: Option<Open>,
}

/// The text that is followed.
struct Open {
    draft: Draft,
    /// What its file holds as far as we know: what we wrote or read last.
    known: Option<String>,
    /// Ends the following when it goes.
    _stop: Option<Stop>,
}

impl Desk {
    pub(super) fn new(drafts: Drafts) -> Self {
        Self { drafts, open: None }
    }

    /// The file of a text.
    pub(super) fn path(&self, draft: &Draft) -> PathBuf {
        self.drafts.path(draft)
    }

    /// Opens a text and follows its file; tells what is kept of it.
    pub(super) fn open(&mut self, draft: Draft, outbox: &Outbox) -> Message {
        self.open = None;
        let text = match self.drafts.read(&draft) {
            Ok(text) => text,
            Err(error) => {
                let path = self.path(&draft);
                return Message::NotSaved(format!(
                    "what you wrote cannot be read from {}: {error}",
                    path.display()
                ));
            }
        };
        let watch = Watch::new(Follow {
            files: vec![self.path(&draft)],
            read: Box::new(|| ()),
        });
        // Without a thread the text is kept all the same; what others save is read when it is opened again.
        let stop = start(outbox, watch, |()| Input::DraftSaved).ok();
        self.open = Some(Open {
            draft: draft.clone(),
            known: text.clone(),
            _stop: stop,
        });
        Message::Draft {
            draft,
            text,
            whence: Whence::Kept,
        }
    }

    /// Follows no text any more.
    pub(super) fn close(&mut self) {
        self.open = None;
    }

    /// Keeps a text.
    pub(super) fn keep(&mut self, draft: &Draft, text: &str) -> io::Result<()> {
        self.drafts.keep(draft, text)?;
        if let Some(open) = self.open.as_mut().filter(|open| open.draft == *draft) {
            open.known = Some(text.to_owned());
        }
        Ok(())
    }

    /// The file of the open text has changed: what another program has written, if it was one.
    pub(super) fn saved(&mut self) -> Option<Message> {
        let open = self.open.as_mut()?;
        let text = self.drafts.read(&open.draft).ok().flatten()?;
        // Our own writing is seen as well.
        if open.known.as_ref() == Some(&text) {
            return None;
        }
        open.known = Some(text.clone());
        Some(Message::Draft {
            draft: open.draft.clone(),
            text: Some(text),
            whence: Whence::Saved,
        })
    }
}
