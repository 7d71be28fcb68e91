//! Simulation of a pipeline: when each operation runs, and when each message travels.

use crate::pipeline::order::{Operation, Plan, Work};
use std::collections::VecDeque;

/// How long one microbatch takes on one whole stage, in any unit; a chunk takes its share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    pub forward: f64,
    pub backward_input: f64,
    /// Backward for the weights; a backward in one go takes both.
    pub backward_weight: f64,
}

impl Times {
    /// Of one operation of a chunk, one of `chunks` of its stage.
    pub fn duration(self, work: Work, chunks: usize) -> f64 {
        let whole = match work {
            Work::Forward => self.forward,
            Work::Backward => self.backward_input + self.backward_weight,
            Work::BackwardInput => self.backward_input,
            Work::BackwardWeight => self.backward_weight,
        };
        whole / chunks as f64
    }

    /// One microbatch on one stage, forward and back.
    pub fn microbatch(self) -> f64 {
        self.forward + self.backward_input + self.backward_weight
    }
}

/// What a message costs between two stages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkTimes {
    /// How long a message keeps its directed link busy: bytes/bandwidth.
    pub transfer: f64,
    pub latency: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slot {
    pub operation: Operation,
    pub start: f64,
    pub end: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    pub from: usize,
    pub to: usize,
    pub operation: Operation,
    /// When its first byte is on the link.
    pub start: f64,
    pub arrival: f64,
}

/// When each operation and message of a plan runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineRun {
    /// By stage, in the order in which it works.
    pub stages: Vec<Vec<Slot>>,
    /// The messages; those of one link in the order in which they go over it.
    pub transfers: Vec<Transfer>,
}

impl PipelineRun {
    /// When the last operation ends; 0 if there is none.
    pub fn makespan(&self) -> f64 {
        let ends = self.stages.iter().flatten().map(|slot| slot.end);
        ends.fold(0.0, f64::max)
    }

    pub fn busy(&self, stage: usize) -> f64 {
        let slots = self.stages.get(stage).into_iter().flatten();
        slots.map(|slot| slot.end - slot.start).sum()
    }

    /// How long a stage waits between its first start and its last end.
    pub fn idle(&self, stage: usize) -> f64 {
        let slots = self.stages.get(stage);
        let ends = slots.and_then(|slots| Some((slots.first()?.start, slots.last()?.end)));
        ends.map_or(0.0, |(start, end)| end - start - self.busy(stage))
    }
}

/// Order of chunks: chunk c of stage s is followed by chunk c of stage s+1, after the last by chunk c+1 of the first.
#[derive(Clone, Copy, Debug)]
struct Line {
    stages: usize,
    chunks: usize,
}

/// The stage and chunk that wait for the result of an operation on `stage`; none for the last forward, the last
/// backward, and a backward for weights.
pub fn waiting(
    stages: usize,
    chunks: usize,
    stage: usize,
    operation: Operation,
) -> Option<(usize, usize)> {
    Line { stages, chunks }.waiting(stage, operation)
}

impl Line {
    fn place(self, stage: usize, chunk: usize) -> usize {
        chunk * self.stages + stage
    }

    fn at(self, place: usize) -> (usize, usize) {
        (place % self.stages, place / self.stages)
    }

    /// Which of a stage's links a result goes over; with two stages the next is the one before, and the link one.
    fn link(self, work: Work) -> usize {
        usize::from(work != Work::Forward && self.stages > 2)
    }

    fn waiting(self, stage: usize, operation: Operation) -> Option<(usize, usize)> {
        let place = self.place(stage, operation.chunk);
        let next = match operation.work {
            Work::Forward => Some(place + 1).filter(|&next| next < self.stages * self.chunks),
            Work::Backward | Work::BackwardInput => place.checked_sub(1),
            Work::BackwardWeight => None,
        };
        next.map(|next| self.at(next))
    }
}

/// When the results that others wait for are there, by place in the line and microbatch; NaN while they are not.
struct Ready {
    line: Line,
    microbatches: usize,
    /// Inputs of forwards.
    activations: Vec<f64>,
    /// Inputs of backwards from the next place.
    gradients: Vec<f64>,
    /// Ends of forwards on the same place.
    forwards: Vec<f64>,
    /// Ends of backwards for inputs on the same place.
    backwards: Vec<f64>,
}

impl Ready {
    fn new(line: Line, microbatches: usize) -> Self {
        let places = line.stages * line.chunks;
        let none = || vec![f64::NAN; places * microbatches];
        let mut ready = Self {
            line,
            microbatches,
            activations: none(),
            gradients: none(),
            forwards: none(),
            backwards: none(),
        };
        // The data is available from the start, and the loss depends on no other stage.
        ready.activations[..microbatches].fill(0.0);
        ready.gradients[(places - 1) * microbatches..].fill(0.0);
        ready
    }

    fn index(&self, stage: usize, chunk: usize, microbatch: usize) -> usize {
        self.line.place(stage, chunk) * self.microbatches + microbatch
    }

    /// When all that an operation needs is there; none if that is not known yet.
    fn when(&self, stage: usize, operation: Operation) -> Option<f64> {
        let at = self.index(stage, operation.chunk, operation.microbatch);
        let when = match operation.work {
            Work::Forward => self.activations[at],
            Work::Backward | Work::BackwardInput => {
                let (own, given) = (self.forwards[at], self.gradients[at]);
                if own.is_nan() || given.is_nan() {
                    return None;
                }
                own.max(given)
            }
            Work::BackwardWeight => self.backwards[at],
        };
        Some(when).filter(|when| !when.is_nan())
    }

    fn ended(&mut self, stage: usize, operation: Operation, end: f64) {
        let at = self.index(stage, operation.chunk, operation.microbatch);
        match operation.work {
            Work::Forward => self.forwards[at] = end,
            Work::Backward | Work::BackwardInput => self.backwards[at] = end,
            Work::BackwardWeight => {}
        }
    }

    fn arrives(&mut self, to: (usize, usize), operation: Operation, when: f64) {
        let at = self.index(to.0, to.1, operation.microbatch);
        match operation.work {
            Work::Forward => self.activations[at] = when,
            Work::Backward | Work::BackwardInput => self.gradients[at] = when,
            Work::BackwardWeight => {}
        }
    }
}

/// Simulates a plan: each stage runs its operations in order, each as soon as the stage is free and its inputs have
/// arrived. A directed link between stages carries one message at a time, for `link.transfer`; the message arrives
/// `link.latency` later. Without link times results are there at once.
///
/// Nothing if the orders wait for one another, which no order of [`Plan::new`] does.
pub fn simulate(plan: &Plan, times: Times, wire: Option<LinkTimes>) -> Option<PipelineRun> {
    let line = Line { stages: plan.stages(), chunks: plan.chunks() };
    let mut ready = Ready::new(line, plan.microbatches());
    let mut free = vec![0.0_f64; line.stages];
    // Of each stage, when the link to the next is free, and when the one to the stage before.
    let mut links = vec![[0.0_f64; 2]; line.stages];
    let mut played = PipelineRun {
        stages: (0..line.stages).map(|stage| Vec::with_capacity(plan.stage(stage).len())).collect(),
        transfers: Vec::new(),
    };
    // Stages where the next operation may have become ready.
    let mut woken: VecDeque<usize> = (0..line.stages).collect();
    while let Some(stage) = woken.pop_front() {
        let done = played.stages[stage].len();
        for &operation in &plan.stage(stage)[done..] {
            let Some(when) = ready.when(stage, operation) else { break };
            let start = when.max(free[stage]);
            let end = start + times.duration(operation.work, line.chunks);
            free[stage] = end;
            played.stages[stage].push(Slot { operation, start, end });
            ready.ended(stage, operation, end);
            let Some(to) = line.waiting(stage, operation) else { continue };
            let arrival = match wire {
                Some(wire) if to.0 != stage => {
                    let link = &mut links[stage][line.link(operation.work)];
                    let sent = link.max(end) + wire.transfer;
                    *link = sent;
                    let arrival = sent + wire.latency;
                    played.transfers.push(Transfer {
                        from: stage,
                        to: to.0,
                        operation,
                        start: sent - wire.transfer,
                        arrival,
                    });
                    arrival
                }
                Some(_) | None => end,
            };
            ready.arrives(to, operation, arrival);
            if to.0 != stage {
                woken.push_back(to.0);
            }
        }
    }
    let over = (0..line.stages).all(|stage| played.stages[stage].len() == plan.stage(stage).len());
    over.then_some(played)
}
