//! The root cause of a failed step among all the errors reported, as a sentence.

use std::time::Duration;

use crate::transport::{Activity, CommError};

pub(super) struct FailureReport {
    pub(super) step: u64,
    pub(super) waited: Duration,
    /// The first worker that had not answered.
    pub(super) missing: Option<usize>,
    /// What workers said, in the order in which they said it.
    pub(super) errors: Vec<(usize, CommError)>,
    pub(super) doing: Vec<Activity>,
}

impl FailureReport {
    /// The sentence; `name` is what a worker is called.
    pub(super) fn sentence(&self, name: impl Fn(usize) -> String) -> String {
        let step = self.step;
        // A worker's own failure or a wrong message explains more than a timeout of another.
        for (rank, error) in &self.errors {
            if let CommError::Failed(what) = error {
                return format!(
                    "{} {what} (step {step}); what the others computed since step {} is lost: run it again, and if it \
                     happens again take fewer workers or a smaller model",
                    name(*rank),
                    step.saturating_sub(1)
                );
            }
            if let CommError::Mismatch { from, tag, what } = error {
                return format!(
                    "{} sent {} something of the wrong shape for {tag} at step {step}: {what}; the two work on different \
                     models: start all workers from the same version with the same parameters",
                    name(*from),
                    name(*rank)
                );
            }
        }
        for (rank, error) in &self.errors {
            // Who gave up waiting for another ended as well, and has said why.
            if let CommError::Disconnected { from, tag } = error
                && !self.errors.iter().any(|(other, _)| other == from)
            {
                return format!(
                    "{} ended at step {step} without a word, and {} waited for {tag} from it; run it again",
                    name(*from),
                    name(*rank)
                );
            }
        }
        let culprit = self.silent();
        let doing = self.doing[culprit];
        // A waiting worker began later than the lab's thread, and need not have timed out yet.
        let waits = |(rank, doing): (usize, &Activity)| match doing {
            Activity::Waiting { from, tag } if *from == culprit => Some((rank, *tag)),
            Activity::Waiting { .. } | Activity::Working(_) | Activity::Nothing => None,
        };
        let gave_up = |(rank, error): &(usize, CommError)| {
            if let CommError::TimedOut { from, tag } = error
                && *from == culprit
            {
                return Some((*rank, *tag));
            }
            None
        };
        let waiting = self.doing.iter().enumerate().find_map(waits);
        let waiting = waiting.or_else(|| self.errors.iter().find_map(gave_up));
        let waiting = waiting.map_or_else(String::new, |(rank, tag)| {
            format!(", and {} waited for {tag} from it", name(rank))
        });
        format!(
            "{} did not answer within {} s at step {step}: {doing}{}; it is left behind: run it again, with fewer workers \
             or a smaller batch if it was only slow",
            name(culprit),
            self.waited.as_secs_f64().round(),
            waiting
        )
    }

    /// The missing worker that waits for no other missing one, found along the chain of who waits for whom.
    fn silent(&self) -> usize {
        let first = self.errors.first().map(|(rank, _)| *rank);
        let mut at = first.or(self.missing).unwrap_or(0);
        for _ in 0..self.doing.len() {
            match self.doing.get(at) {
                Some(Activity::Waiting { from, .. }) => at = *from,
                Some(Activity::Working(_) | Activity::Nothing) | None => break,
            }
        }
        at
    }
}
