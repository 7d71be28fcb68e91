//! What went over the wires, and what every worker is at.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Payload, Tag};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub messages: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    workers: usize,
    /// Row by row: the sender's rank times the workers, plus the receiver's.
    flows: Vec<Flow>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Activity {
    /// It has answered.
    #[default]
    Nothing,
    /// It computes: the end of "it was ...".
    Working(&'static str),
    Waiting {
        from: usize,
        tag: Tag,
    },
}

pub struct Ledger {
    book: Mutex<Book>,
    /// Nanoseconds that anything is waited for at the most, by workers and by who gives them orders.
    timeout: AtomicU64,
}

struct Book {
    traffic: Traffic,
    doing: Vec<Activity>,
}

impl Traffic {
    fn none(workers: usize) -> Self {
        Self { workers, flows: vec![Flow::default(); workers * workers] }
    }

    pub fn workers(&self) -> usize {
        self.workers
    }

    pub fn flow(&self, from: usize, to: usize) -> Flow {
        self.flows[from * self.workers + to]
    }

    pub fn sent_by(&self, from: usize) -> Flow {
        (0..self.workers).map(|to| self.flow(from, to)).fold(Flow::default(), |sum, flow| Flow {
            messages: sum.messages + flow.messages,
            bytes: sum.bytes + flow.bytes,
        })
    }

    /// The most that any worker sent, messages and bytes each by themselves.
    pub fn most_sent(&self) -> Flow {
        let all = (0..self.workers).map(|from| self.sent_by(from));
        all.fold(Flow::default(), |most, flow| Flow {
            messages: most.messages.max(flow.messages),
            bytes: most.bytes.max(flow.bytes),
        })
    }
}

impl Ledger {
    pub(super) fn new(workers: usize, timeout: Duration) -> Self {
        let book =
            Book { traffic: Traffic::none(workers), doing: vec![Activity::Nothing; workers] };
        let ledger = Self { book: Mutex::new(book), timeout: AtomicU64::new(0) };
        ledger.set_timeout(timeout);
        ledger
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout.load(Ordering::Relaxed))
    }

    /// From now on nothing is waited for longer than this. A wait that has begun may still take as long as before.
    pub fn set_timeout(&self, timeout: Duration) {
        let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        self.timeout.store(nanos, Ordering::Relaxed);
    }

    pub fn take(&self) -> Traffic {
        let mut book = self.open();
        let none = Traffic::none(book.traffic.workers);
        std::mem::replace(&mut book.traffic, none)
    }

    pub fn doing(&self, rank: usize) -> Activity {
        self.open().doing[rank]
    }

    /// What a worker is at from now on; gives back what it was at.
    pub fn set(&self, rank: usize, doing: Activity) -> Activity {
        std::mem::replace(&mut self.open().doing[rank], doing)
    }

    pub(super) fn count(&self, from: usize, to: usize, payload: &Payload) {
        let mut book = self.open();
        let flow = from * book.traffic.workers + to;
        let flow = &mut book.traffic.flows[flow];
        flow.messages += 1;
        flow.bytes += payload.bytes();
    }

    /// A worker that broke off while it wrote left whole numbers behind.
    fn open(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "it had begun nothing"),
            Self::Working(what) => write!(f, "it was {what}"),
            Self::Waiting { from, tag } => write!(f, "it waited for {tag} from worker {from}"),
        }
    }
}
