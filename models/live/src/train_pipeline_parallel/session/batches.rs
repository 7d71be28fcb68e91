//! Which examples a microbatch holds.

use std::collections::VecDeque;

use crate::train_pipeline_parallel::setup::Setup;
use mlsys_nn::data::Batches;

/// Microbatches in the order in which they are trained on.
pub(super) struct Microbatches {
    batches: Batches,
    sequences: usize,
    /// Of a step.
    each: usize,
    /// How many a stage runs ahead into the next step.
    ahead: usize,
    /// Whether they are counted through all steps.
    counting: Counting,
    drawn: VecDeque<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    Anew,
    Through,
}

impl Microbatches {
    pub(super) fn new(setup: &Setup, examples: usize) -> Self {
        let (ahead, counting) = if setup.is_asynchronous() {
            (setup.stages - 1, Counting::Through)
        } else {
            (0, Counting::Anew)
        };
        Self {
            batches: Batches::new(setup.seed, examples),
            sequences: setup.sequences,
            each: setup.microbatches,
            ahead,
            counting,
            drawn: VecDeque::new(),
        }
    }

    /// The number of the first microbatch of a step, counted from 0, and the examples of that and all others which the
    /// step touches. Steps are asked for one after the other.
    pub(super) fn of_step(&mut self, step: u64) -> (usize, Vec<Vec<usize>>) {
        while self.drawn.len() < self.each + self.ahead {
            let next = self.batches.next(self.sequences).to_vec();
            self.drawn.push_back(next);
        }
        let all: Vec<Vec<usize>> = self.drawn.iter().cloned().collect();
        self.drawn.drain(..self.each);
        let first = match self.counting {
            Counting::Anew => 0,
            Counting::Through => usize::try_from(step).unwrap_or(usize::MAX) * self.each,
        };
        (first, all)
    }
}
