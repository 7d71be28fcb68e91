//! What was done to a text, to be taken back and done again.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The byte at which it begins.
    pub at: usize,
    pub removed: String,
    pub inserted: String,
    pub cursor: usize,
    pub kind: Kind,
}

/// How a change came about: letters typed one after the other are taken back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Typed,
    Removed,
    Other,
}

/// Bytes that changes keep at most: far more than a learner undoes, far less than memory has.
const MOST: usize = 4 << 20;

/// The changes that can be taken back, and those that were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    past: Vec<Change>,
    future: Vec<Change>,
    bytes: usize,
    /// Whether the next change begins anew, whatever it is like.
    parted: bool,
}

impl History {
    /// Takes a change in; one like the last goes on with it.
    pub fn record(&mut self, change: Change) {
        self.future.clear();
        let parted = std::mem::take(&mut self.parted);
        self.bytes += change.removed.len() + change.inserted.len();
        match self.past.last_mut() {
            Some(last) if !parted && last.takes(&change) => last.take(change),
            Some(_) | None => self.past.push(change),
        }
        while self.bytes > MOST && self.past.len() > 1 {
            let oldest = self.past.remove(0);
            self.bytes -= oldest.removed.len() + oldest.inserted.len();
        }
    }

    /// The cursor was moved: what is typed now is another change.
    pub fn part(&mut self) {
        self.parted = true;
    }

    /// The last change, to be taken back.
    pub fn undo(&mut self) -> Option<Change> {
        let change = self.past.pop()?;
        self.bytes -= change.removed.len() + change.inserted.len();
        self.future.push(change.clone());
        self.parted = true;
        Some(change)
    }

    /// The change that was taken back last, to be done again.
    pub fn redo(&mut self) -> Option<Change> {
        let change = self.future.pop()?;
        self.bytes += change.removed.len() + change.inserted.len();
        self.past.push(change.clone());
        self.parted = true;
        Some(change)
    }
}

impl Change {
    /// Whether another change goes on where this one ended; a blank ends a word.
    fn takes(&self, next: &Self) -> bool {
        match (self.kind, next.kind) {
            (Kind::Typed, Kind::Typed) => {
                let ends_word = self.inserted.ends_with(' ') && next.inserted != " ";
                next.at == self.at + self.inserted.len() && !ends_word
            }
            (Kind::Removed, Kind::Removed) => {
                next.at + next.removed.len() == self.at && next.inserted.is_empty()
            }
            (Kind::Typed | Kind::Removed | Kind::Other, _) => false,
        }
    }

    fn take(&mut self, next: Self) {
        match self.kind {
            Kind::Typed => self.inserted.push_str(&next.inserted),
            Kind::Removed | Kind::Other => {
                self.removed.insert_str(0, &next.removed);
                self.at = next.at;
            }
        }
    }
}
