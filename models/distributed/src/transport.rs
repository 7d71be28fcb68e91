//! Transport between workers: point-to-point messages with a time limit on every wait and a count of every byte.
//!
//! Each worker has one [`Endpoint`]. A message has a [`Tag`] that both ends know: an early message is kept until it is
//! asked for, so that two workers need not agree on anything but tags. A worker that ends, in whatever way, says so to all
//! others by dropping its endpoint, and every worker that waits for it is told at once.

mod ledger;
mod payload;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use mlsys_nn::flat_params::ReadError;

pub use ledger::{Activity, Flow, Ledger, Traffic};
pub use payload::Payload;

/// What a message is about: the kind of thing, and which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
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
    TimedOut {
        from: usize,
        tag: Tag,
    },
    Disconnected {
        from: usize,
        tag: Tag,
    },
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

pub enum Packet {
    Message {
        from: usize,
        tag: Tag,
        payload: Payload,
    },
    /// A worker has ended; what it sent before still counts.
    Left(usize),
    Abort,
}

pub struct Endpoint {
    rank: usize,
    peers: Vec<Sender<Packet>>,
    inbox: Receiver<Packet>,
    early: VecDeque<(usize, Tag, Payload)>,
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
        early: VecDeque::new(),
        left: vec![false; workers],
        ledger: Arc::clone(&ledger),
    };
    let endpoints = inboxes.into_iter().enumerate().map(endpoint).collect();
    (endpoints, ledger, senders)
}

impl Endpoint {
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
        let _ = self.peers[to].send(Packet::Message { from: self.rank, tag, payload });
    }

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
    pub fn receive_floats(
        &mut self,
        from: usize,
        tag: Tag,
        count: usize,
    ) -> Result<Vec<f32>, CommError> {
        let payload = self.receive(from, tag)?;
        let what = match payload {
            Payload::Floats(numbers) if numbers.len() == count => return Ok(numbers),
            Payload::Floats(numbers) => format!("{} numbers where {count} belong", numbers.len()),
            Payload::Levels { .. } | Payload::Signs { .. } | Payload::Entries { .. } => {
                format!("compressed numbers where {count} plain ones belong")
            }
        };
        Err(CommError::Mismatch { from, tag, what })
    }

    fn wait(&mut self, from: usize, tag: Tag) -> Result<Payload, CommError> {
        let begun = Instant::now();
        loop {
            if let Some(payload) = self.take_early(from, tag) {
                return Ok(payload);
            }
            if self.left[from] {
                return Err(CommError::Disconnected { from, tag });
            }
            let left = self.ledger.timeout().saturating_sub(begun.elapsed());
            match self.inbox.recv_timeout(left) {
                Ok(Packet::Message { from, tag, payload }) => {
                    self.early.push_back((from, tag, payload));
                }
                Ok(Packet::Left(who)) => self.left[who] = true,
                Ok(Packet::Abort) => return Err(CommError::Aborted),
                Err(RecvTimeoutError::Timeout) => return Err(CommError::TimedOut { from, tag }),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(CommError::Disconnected { from, tag });
                }
            }
        }
    }

    fn take_early(&mut self, from: usize, tag: Tag) -> Option<Payload> {
        let place = self.early.iter().position(|early| (early.0, early.1) == (from, tag))?;
        self.early.remove(place).map(|(_, _, payload)| payload)
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

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn tag(index: usize) -> Tag {
        Tag { what: "chunk", index }
    }

    #[test]
    fn messages_match_by_sender_and_tag() {
        let (mut endpoints, ledger, _) = endpoints(3, LONG);
        endpoints[1].send(0, tag(2), vec![2.0, 3.0]);
        endpoints[2].send(0, tag(1), vec![9.0]);
        endpoints[1].send(0, tag(1), vec![1.0]);
        endpoints[1].send(0, tag(1), vec![1.5]);
        let zero = &mut endpoints[0];
        assert_eq!(zero.receive_floats(1, tag(1), 1).unwrap(), [1.0]);
        assert_eq!(zero.receive_floats(1, tag(1), 1).unwrap(), [1.5]);
        assert_eq!(zero.receive_floats(2, tag(1), 1).unwrap(), [9.0]);
        assert_eq!(zero.receive_floats(1, tag(2), 2).unwrap(), [2.0, 3.0]);
        let traffic = ledger.take();
        assert_eq!(traffic.flow(1, 0), Flow { messages: 3, bytes: 16 });
        assert_eq!((traffic.sent_by(0).messages, traffic.most_sent().bytes), (0, 16));
        assert_eq!(ledger.take().most_sent(), Flow::default());
    }

    #[test]
    fn a_wait_ends_at_the_time_limit_that_was_set_last() {
        let (mut endpoints, ledger, _) = endpoints(2, LONG);
        ledger.set_timeout(Duration::ZERO);
        for (rank, endpoint) in endpoints.iter_mut().enumerate() {
            let error = endpoint.receive(1 - rank, tag(7)).unwrap_err();
            assert!(matches!(error, CommError::TimedOut { tag: about, .. } if about == tag(7)));
        }
        assert_eq!(ledger.doing(0).to_string(), "it waited for chunk 7 from worker 1");
    }

    #[test]
    fn ended_workers_disconnect_after_their_messages() {
        let (mut endpoints, _, _) = endpoints(3, LONG);
        let one = endpoints.remove(1);
        one.send(0, tag(0), vec![4.0]);
        let ended = thread::spawn(move || drop(one));
        ended.join().unwrap();
        let zero = &mut endpoints[0];
        assert_eq!(zero.receive_floats(1, tag(0), 1).unwrap(), [4.0]);
        let error = zero.receive(1, tag(1)).unwrap_err();
        assert!(matches!(error, CommError::Disconnected { from: 1, .. }), "{error:?}");
    }

    #[test]
    fn a_wrong_shape_is_refused() {
        let (mut endpoints, _, _) = endpoints(2, LONG);
        endpoints[1].send(0, tag(0), vec![1.0; 7]);
        endpoints[1].send(0, tag(1), Payload::Levels { step: 1.0, levels: vec![1; 8] });
        let expected = ["7 numbers where 8 belong", "compressed numbers where 8 plain ones belong"];
        for (index, expected) in expected.into_iter().enumerate() {
            let error = endpoints[0].receive_floats(1, tag(index), 8).unwrap_err();
            let CommError::Mismatch { from: 1, what, .. } = error else { panic!("{error:?}") };
            assert_eq!(what, expected);
        }
    }

    #[test]
    fn an_end_of_the_run_ends_every_wait() {
        let (mut endpoints, _, senders) = endpoints(2, LONG);
        senders[0].send(Packet::Abort).unwrap();
        let error = endpoints[0].receive(1, tag(0)).unwrap_err();
        assert!(matches!(error, CommError::Aborted), "{error:?}");
    }

    #[test]
    fn compressed_numbers_are_added_as_what_they_stand_for() {
        let mut sum = vec![1.0; 4];
        let levels = Payload::Levels { step: 0.5, levels: vec![1, -2, 0, 127] };
        assert!(levels.add_to(&mut sum));
        assert_eq!(sum, [1.5, 0.0, 1.0, 64.5]);
        let signs = Payload::Signs { size: 2.0, count: 4, bits: vec![0b1010] };
        assert!(signs.add_to(&mut sum));
        assert_eq!(sum, [3.5, -2.0, 3.0, 62.5]);
        let entries = Payload::Entries { count: 4, places: vec![3, 0], values: vec![-62.5, 0.5] };
        assert!(entries.add_to(&mut sum));
        assert_eq!(sum, [4.0, -2.0, 3.0, 0.0]);
        assert_eq!((levels.bytes(), signs.bytes(), entries.bytes()), (8, 5, 16));
        assert!(!levels.add_to(&mut [0.0; 3]));
    }
}
