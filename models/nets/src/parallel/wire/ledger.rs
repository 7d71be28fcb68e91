//! What went over the wires, and what every worker is at.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Payload, Tag};

/// Numbers of a message that the log keeps.
const SAMPLE: usize = 4;

/// What one worker sent to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
}

/// One message, for pictures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) tag: Tag,
    pub(crate) bytes: u64,
    /// Its first numbers.
    pub(crate) sample: Vec<f32>,
}

/// Whether single messages are kept besides the counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Recording {
    /// Counts alone.
    #[default]
    Counts,
    /// Every message.
    Messages,
}

/// What was sent since it was last asked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Traffic {
    workers: usize,
    /// Row by row: the sender's rank times the workers, plus the receiver's.
    flows: Vec<Flow>,
    /// The messages in the order in which they were sent, if they were recorded.
    pub(crate) log: Vec<Sent>,
}

/// What a worker is at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Doing {
    /// It has answered.
    #[default]
    Nothing,
    /// It computes: the end of "it was ...".
    Working(&'static str),
    /// It waits for a message.
    Waiting {
        /// Whose.
        from: usize,
        /// What it is about.
        tag: Tag,
    },
}

/// Kept by all workers together.
pub(crate) struct Ledger {
    book: Mutex<Book>,
}

struct Book {
    traffic: Traffic,
    recording: Recording,
    doing: Vec<Doing>,
}

impl Traffic {
    fn none(workers: usize) -> Self {
        Self {
            workers,
            flows: vec![Flow::default(); workers * workers],
            log: Vec::new(),
        }
    }

    /// Workers there are.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// What one sent to another.
    pub(crate) fn flow(&self, from: usize, to: usize) -> Flow {
        let flow = self.flows.get(from * self.workers + to);
        flow.copied().unwrap_or_default()
    }

    /// What one sent in all.
    pub(crate) fn sent_by(&self, from: usize) -> Flow {
        let all = (0..self.workers).map(|to| self.flow(from, to));
        all.fold(Flow::default(), Flow::plus)
    }

    /// The most that any worker sent, messages and bytes each by themselves.
    pub(crate) fn most_sent(&self) -> Flow {
        let all = (0..self.workers).map(|from| self.sent_by(from));
        all.fold(Flow::default(), |most, flow| Flow {
            messages: most.messages.max(flow.messages),
            bytes: most.bytes.max(flow.bytes),
        })
    }
}

impl Flow {
    fn plus(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl Ledger {
    pub(super) fn new(workers: usize) -> Self {
        let book = Book {
            traffic: Traffic::none(workers),
            recording: Recording::Counts,
            doing: vec![Doing::Nothing; workers],
        };
        Self {
            book: Mutex::new(book),
        }
    }

    /// What was sent since the last time, and from now on whether single messages are kept.
    pub(crate) fn take(&self, next: Recording) -> Traffic {
        let mut book = self.open();
        book.recording = next;
        let none = Traffic::none(book.traffic.workers);
        std::mem::replace(&mut book.traffic, none)
    }

    /// What a worker is at.
    pub(crate) fn doing(&self, rank: usize) -> Doing {
        self.open().doing.get(rank).copied().unwrap_or_default()
    }

    /// What a worker is at from now on; gives back what it was at.
    pub(crate) fn set(&self, rank: usize, doing: Doing) -> Doing {
        let mut book = self.open();
        match book.doing.get_mut(rank) {
            Some(place) => std::mem::replace(place, doing),
            None => Doing::Nothing,
        }
    }

    pub(super) fn count(&self, from: usize, to: usize, tag: Tag, payload: &Payload) {
        let mut book = self.open();
        let bytes = payload.bytes();
        let workers = book.traffic.workers;
        if let Some(flow) = book.traffic.flows.get_mut(from * workers + to) {
            flow.messages += 1;
            flow.bytes += bytes;
        }
        if book.recording == Recording::Messages {
            let sample = payload.first(SAMPLE);
            book.traffic.log.push(Sent {
                from,
                to,
                tag,
                bytes,
                sample,
            });
        }
    }

    /// A worker that broke off while it wrote left whole numbers behind.
    fn open(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "it had begun nothing"),
            Self::Working(what) => write!(f, "it was {what}"),
            Self::Waiting { from, tag } => write!(f, "it waited for {tag} from worker {from}"),
        }
    }
}
