//! Transport between workers: point-to-point messages with a time limit on every wait and a count of every byte.
//!
//! Each worker has one [`Endpoint`]. A message has a [`Tag`] that both ends know: an early message is kept until it is
//! asked for, so that two workers need not agree on anything but tags. A worker that ends, in whatever way, says so to all
//! others by dropping its endpoint, and every worker that waits for it is told at once.

mod ledger;
mod payload;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use mlsys_nn::flat_params::ReadError;

pub use ledger::{Activity, Flow, Ledger, Traffic};
pub use payload::Payload;

/// What a message is about: the kind of thing, and which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tag {
    /// Such as "chunk of the gradient".
    pub what: &'static str,
    /// Which one: with sender, receiver and `what` it names one message of a step.
    pub index: usize,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.what, self.index)
    }
}

#[derive(Debug)]
pub enum CommError {
    /// A message did not come in time.
    TimedOut { from: usize, tag: Tag },
    /// The sender has ended.
    Disconnected { from: usize, tag: Tag },
    /// A message holds something else than was agreed.
    Mismatch {
        from: usize,
        tag: Tag,
        /// What came instead of what, such as "7 numbers where 8 belong".
        what: String,
    },
    /// The run ends, and this worker with it.
    Aborted,
    /// Anything else: what happened, as the end of a sentence that begins with the worker.
    Failed(String),
}

impl From<ReadError> for CommError {
    fn from(error: ReadError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// An item of an inbox.
pub enum Packet {
    /// Numbers from a worker.
    Message {
        from: usize,
        tag: Tag,
        payload: Payload,
    },
    /// A worker has ended; what it sent before still counts.
    Left(usize),
    Abort,
}

/// A worker's connection to all others.
pub struct Endpoint {
    rank: usize,
    peers: Vec<Sender<Packet>>,
    inbox: Receiver<Packet>,
    /// Messages that came before they were received.
    early: HashMap<(usize, Tag), VecDeque<Payload>>,
    left: Vec<bool>,
    ledger: Arc<Ledger>,
}

/// All ports of `workers` workers, the ledger that they share, and senders that reach each inbox from outside. No wait
/// takes longer than `timeout`, which the ledger keeps.
pub fn endpoints(
    workers: usize,
    timeout: Duration,
) -> (Vec<Endpoint>, Arc<Ledger>, Vec<Sender<Packet>>) {
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..workers).map(|_| mpsc::channel()).unzip();
    let ledger = Arc::new(Ledger::new(workers, timeout));
    let endpoint = |(rank, inbox)| Endpoint {
        rank,
        peers: senders.clone(),
        inbox,
        early: HashMap::new(),
        left: vec![false; workers],
        ledger: Arc::clone(&ledger),
    };
    let endpoints = inboxes.into_iter().enumerate().map(endpoint).collect();
    (endpoints, ledger, senders)
}

impl Endpoint {
    /// The worker's number, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn workers(&self) -> usize {
        self.peers.len()
    }

    /// Sets the worker's activity for timeout messages; as the end of "it was ...".
    pub fn doing(&self, what: &'static str) {
        self.ledger.set(self.rank, Activity::Working(what));
    }

    /// Sends numbers; never blocks. A message to an ended worker is dropped; its absence is reported elsewhere.
    pub fn send(&self, to: usize, tag: Tag, payload: impl Into<Payload>) {
        let payload = payload.into();
        self.ledger.count(self.rank, to, &payload);
        if let Some(peer) = self.peers.get(to) {
            let _ = peer.send(Packet::Message { from: self.rank, tag, payload });
        }
    }

    /// The message from a worker about a thing.
    ///
    /// # Errors
    /// If it does not come in time, if the sender has ended, or if the run ends.
    pub fn receive(&mut self, from: usize, tag: Tag) -> Result<Payload, CommError> {
        let before = self.ledger.set(self.rank, Activity::Waiting { from, tag });
        let found = self.wait(from, tag);
        if found.is_ok() {
            // Where it failed, what it waited for is what there is to tell.
            self.ledger.set(self.rank, before);
        }
        found
    }

    /// The message, which must be `count` f32 numbers.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive), and if something else came.
    pub fn receive_floats(
        &mut self,
        from: usize,
        tag: Tag,
        count: usize,
    ) -> Result<Vec<f32>, CommError> {
        let payload = self.receive(from, tag)?;
        let wrong = |what| CommError::Mismatch { from, tag, what };
        match payload {
            Payload::Floats(numbers) if numbers.len() == count => Ok(numbers),
            Payload::Floats(numbers) => {
                Err(wrong(format!("{} numbers where {count} belong", numbers.len())))
            }
            Payload::Levels { .. } | Payload::Signs { .. } | Payload::Entries { .. } => {
                Err(wrong(format!("compressed numbers where {count} plain ones belong")))
            }
        }
    }

    fn wait(&mut self, from: usize, tag: Tag) -> Result<Payload, CommError> {
        let begun = Instant::now();
        loop {
            if let Some(payload) = self.take_early(from, tag) {
                return Ok(payload);
            }
            if self.left.get(from).copied().unwrap_or(true) {
                return Err(CommError::Disconnected { from, tag });
            }
            let left = self.ledger.timeout().saturating_sub(begun.elapsed());
            match self.inbox.recv_timeout(left) {
                Ok(Packet::Message { from, tag, payload }) => {
                    self.early.entry((from, tag)).or_default().push_back(payload);
                }
                Ok(Packet::Left(who)) => {
                    if let Some(left) = self.left.get_mut(who) {
                        *left = true;
                    }
                }
                Ok(Packet::Abort) => return Err(CommError::Aborted),
                Err(RecvTimeoutError::Timeout) => return Err(CommError::TimedOut { from, tag }),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(CommError::Disconnected { from, tag });
                }
            }
        }
    }

    fn take_early(&mut self, from: usize, tag: Tag) -> Option<Payload> {
        let queue = self.early.get_mut(&(from, tag))?;
        let payload = queue.pop_front();
        if queue.is_empty() {
            self.early.remove(&(from, tag));
        }
        payload
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        for (rank, peer) in self.peers.iter().enumerate() {
            if rank != self.rank {
                let _ = peer.send(Packet::Left(self.rank));
            }
        }
    }
}
