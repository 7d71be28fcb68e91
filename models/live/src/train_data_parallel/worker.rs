//! What a worker does in a step: forward and backward on its part, the exchange, the update of what it holds.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use burn::module::Module;
use burn::tensor::Device;
use mlsys_distributed::collective::carry_out;
use mlsys_distributed::model::{self, Model};
use mlsys_distributed::transport::{CommError, Endpoint};
use mlsys_distributed::worker_pool::{Worker, WorkerSpec};
use mlsys_nn::flat_params::{Optimizer, Rule};
use mlsys_nn::networks::Network;
use mlsys_nn::{divergence, flat_params};
use mlsys_sim::collective::Split;

use super::compression::Compression;
use super::params::{Answer, Average, HeldBytes, Knobs, Row, Scheme, Task, WorkerOrder, Zero};

/// What messages carry, as they are called where one is missing.
pub(super) const GRADIENT: &str = "part of the gradient";
pub(super) const WEIGHTS: &str = "part of the weights";
pub(super) const STATE: &str = "part of the optimizer's state";

pub(super) enum Member {
    Replica(Box<Replica>),
    /// It only sums what it is sent, where an algorithm asks for a server.
    Server {
        parameters: usize,
        rule: Rule,
        zero: Zero,
    },
}

pub(super) struct Replica {
    rank: usize,
    pub(super) workers: usize,
    pub(super) zero: Zero,
    pub(super) scheme: Arc<Scheme>,
    model: Model,
    /// With autodiff.
    device: Device,
    /// All weights; where weights are sharded, nothing between steps.
    pub(super) network: Option<Network>,
    /// Its own weights, where weights are sharded; else nothing.
    shard: Vec<f32>,
    pub(super) optimizer: Optimizer,
    /// What compression left out of its last gradient.
    pub(super) left_out: Vec<f32>,
    pub(super) late: VecDeque<Vec<f32>>,
    last: LastStep,
}

/// What is known of a step after its timed part.
#[derive(Default)]
struct LastStep {
    loss: Option<f64>,
    average: Average,
    samples: Vec<f32>,
    /// Bytes of the gradient, once it was summed.
    gradient: u64,
    /// The gradient that was applied last; nothing if none was due.
    applied: Option<Vec<f32>>,
    /// All weights as they were put together for the forward pass, where they are sharded.
    gathered: Option<Vec<f32>>,
}

impl Member {
    /// The member of that rank: the first `workers` train, one more serves.
    pub(super) fn new(
        spec: WorkerSpec,
        workers: usize,
        model: &Model,
        scheme: &Arc<Scheme>,
        rule: Rule,
        zero: Zero,
    ) -> Result<Self, CommError> {
        if spec.rank >= workers {
            let parameters = model.parameters() as usize;
            return Ok(Self::Server { parameters, rule, zero });
        }
        let device = spec.device.autodiff();
        let network = model.network(&device);
        let mut replica = Replica {
            rank: spec.rank,
            workers,
            zero,
            scheme: Arc::clone(scheme),
            model: model.clone(),
            device,
            network: None,
            shard: Vec::new(),
            optimizer: Optimizer::new(rule),
            left_out: Vec::new(),
            late: VecDeque::new(),
            last: LastStep::default(),
        };
        if zero == Zero::Weights {
            replica.shard = flat_params::weights(&network)?[replica.shard_range()].to_vec();
        } else {
            replica.network = Some(network);
        }
        Ok(Self::Replica(Box::new(replica)))
    }
}

impl Worker for Member {
    type Order = WorkerOrder;
    type Answer = Answer;

    fn act(&mut self, order: WorkerOrder, endpoint: &mut Endpoint) -> Result<Answer, CommError> {
        match (self, order) {
            (Self::Replica(replica), WorkerOrder::Train(task)) => replica.train(task, endpoint)?,
            (Self::Replica(replica), WorkerOrder::Report { rows }) => return replica.report(rows),
            (Self::Server { parameters, rule, zero }, WorkerOrder::Train(task)) => {
                endpoint.doing("serving sums");
                let plan = &task.scheme.all_reduce;
                if plan.server() == Some(endpoint.rank()) {
                    for what in task.sums(*rule, *zero) {
                        carry_out(plan, endpoint, what, &mut vec![0.0; *parameters])?;
                    }
                }
            }
            (Self::Server { .. }, WorkerOrder::Report { .. }) => {}
        }
        Ok(Answer::default())
    }
}

impl Task {
    /// The sums over all to all of the step by the scheme's plan, in their order: a server has a part in each.
    fn sums(&self, rule: Rule, zero: Zero) -> Vec<&'static str> {
        let mut sums = Vec::new();
        if self.synchronize_first {
            sums.push(WEIGHTS);
            sums.extend((0..rule.moments()).map(|_| STATE));
        }
        let is_whole = zero == Zero::Nothing && self.scheme.knobs.compression == Compression::None;
        match self.average {
            Average::Gradients => sums.extend(is_whole.then_some(GRADIENT)),
            Average::Nothing => {}
            Average::Weights => sums.push(WEIGHTS),
        }
        sums
    }
}

impl Replica {
    /// Its part of a row of all numbers, where those are sharded.
    pub(super) fn shard_range(&self) -> Range<usize> {
        Split::new(self.model.parameters() as usize, self.workers).piece(self.rank)
    }

    /// Does a step and keeps what its report needs.
    fn train(&mut self, task: Task, endpoint: &mut Endpoint) -> Result<(), CommError> {
        self.scheme = Arc::clone(&task.scheme);
        if self.scheme.knobs.compression == Compression::None {
            // What was left out of compressed gradients is lost once they are sent whole.
            self.left_out.clear();
        }
        if task.synchronize_first {
            self.synchronize(endpoint)?;
        }
        let (loss, mut gradient, gathered) = if let Some(network) = &self.network {
            endpoint.doing("computing its gradient");
            let (loss, gradient) = self.gradient(network, &task)?;
            (loss, gradient, None)
        } else {
            let (loss, gradient, gathered) = self.gradient_of_shards(&task, endpoint)?;
            (loss, gradient, Some(gathered))
        };
        let mut samples = Vec::new();
        if task.average == Average::Gradients {
            samples = self.exchange(&mut gradient, endpoint)?;
        }
        let summed = bytes(gradient.len());
        let applied = self.update(gradient, endpoint)?;
        if task.average == Average::Weights {
            samples = self.average_weights(endpoint)?;
        }
        self.last = LastStep {
            loss: Some(loss),
            average: task.average,
            samples,
            gradient: summed,
            applied,
            gathered,
        };
        Ok(())
    }

    /// The mean loss of its part and the mean gradient, added up piece by piece.
    fn gradient(&self, network: &Network, task: &Task) -> Result<(f64, Vec<f32>), CommError> {
        let pieces = self.scheme.knobs.pieces;
        let (mut loss, mut sum): (f64, Vec<f32>) = (0.0, Vec::new());
        for piece in 0..pieces {
            let (indices, train) = (self.examples(task, piece), &self.model.data.train);
            let (own, gradient) = model::gradient(network, train, indices, &self.device)?;
            loss += own / pieces as f64;
            if sum.is_empty() {
                sum = gradient;
            } else {
                sum.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g);
            }
        }
        if pieces > 1 {
            sum.iter_mut().for_each(|sum| *sum /= pieces as f32);
        }
        Ok((loss, sum))
    }

    /// The same with weights that are put together before the forward pass, given up, and put together again before
    /// the backward pass, which runs forward once more for what it needs. Also all weights, as they were put together.
    fn gradient_of_shards(
        &self,
        task: &Task,
        endpoint: &mut Endpoint,
    ) -> Result<(f64, Vec<f32>, Vec<f32>), CommError> {
        let (network, gathered) = self.gather(endpoint, "part of the weights, forward")?;
        endpoint.doing("computing its forward pass");
        let (network, plain) = (network.valid(), self.device.clone().without_autodiff());
        let (mut loss, pieces) = (0.0, self.scheme.knobs.pieces);
        for piece in 0..pieces {
            let (indices, train) = (self.examples(task, piece), &self.model.data.train);
            loss += model::loss(&network, train, indices, &plain)? / pieces as f64;
        }
        drop(network);
        let (network, _) = self.gather(endpoint, "part of the weights, backward")?;
        endpoint.doing("computing its backward pass");
        let (_, gradient) = self.gradient(&network, task)?;
        Ok((loss, gradient, gathered))
    }

    /// The network of all workers' shards, and its weights.
    fn gather(
        &self,
        endpoint: &mut Endpoint,
        what: &'static str,
    ) -> Result<(Network, Vec<f32>), CommError> {
        let plan = &self.scheme.gather;
        let mut weights = vec![0.0; plan.elements()];
        weights[self.shard_range()].copy_from_slice(&self.shard);
        carry_out(plan, endpoint, what, &mut weights)?;
        let shapes = self.model.architecture.shapes(&self.device);
        Ok((flat_params::with_weights(shapes, &weights), weights))
    }

    fn examples<'a>(&self, task: &'a Task, piece: usize) -> &'a [usize] {
        let pieces = self.scheme.knobs.pieces;
        let each = task.indices.len() / self.workers / pieces;
        let begin = (self.rank * pieces + piece) * each;
        &task.indices[begin..begin + each]
    }

    /// Applies what is due to what it holds, and makes weights whole again where they are held whole. Returns the
    /// gradient that was applied last; nothing if none was due.
    fn update(
        &mut self,
        gradient: Vec<f32>,
        endpoint: &mut Endpoint,
    ) -> Result<Option<Vec<f32>>, CommError> {
        endpoint.doing("updating its weights");
        let Knobs { rate, delay, .. } = self.scheme.knobs;
        let range = self.shard_range();
        self.late.push_back(match self.zero {
            Zero::Nothing | Zero::Gradients | Zero::Weights => gradient,
            Zero::Optimizer => gradient[range.clone()].to_vec(),
        });
        let mut weights = self.weights()?;
        let own = match self.zero {
            Zero::Nothing | Zero::Weights => &mut weights[..],
            Zero::Optimizer | Zero::Gradients => &mut weights[range],
        };
        let mut applied = None;
        while self.late.len() > delay
            && let Some(due) = self.late.pop_front()
        {
            self.optimizer.update(own, &due, rate);
            applied = Some(due);
        }
        if matches!(self.zero, Zero::Optimizer | Zero::Gradients) {
            carry_out(&self.scheme.gather, endpoint, "part of the new weights", &mut weights)?;
        }
        match self.network.take() {
            Some(network) => self.network = Some(flat_params::with_weights(network, &weights)),
            None => self.shard = weights,
        }
        Ok(applied)
    }

    /// The weights that it holds: all, or its shard.
    fn weights(&self) -> Result<Vec<f32>, CommError> {
        match &self.network {
            Some(network) => Ok(flat_params::weights(network)?),
            None => Ok(self.shard.clone()),
        }
    }

    fn report(&mut self, rows: bool) -> Result<Answer, CommError> {
        let last = &mut self.last;
        // Rows as long as the model: not to be held through the next step.
        let (applied, gathered) = (last.applied.take(), last.gathered.take());
        let samples = std::mem::take(&mut last.samples);
        let weights = self.weights()?;
        Ok(Answer {
            loss: self.last.loss,
            digest: Some(hash(gathered.as_ref().unwrap_or(&weights))),
            broken: divergence::check_weights(&weights),
            held: HeldBytes {
                weights: bytes(weights.len()),
                gradient: self.last.gradient,
                optimizer: self.optimizer.bytes(),
                left_out: bytes(self.left_out.len()),
                late: self.late.iter().map(|late| bytes(late.len())).sum(),
            },
            row: if rows { self.row(applied, weights) } else { None },
            samples,
        })
    }

    /// What it tells of gradient and weights: nothing where another tells the same.
    fn row(&self, applied: Option<Vec<f32>>, held: Vec<f32>) -> Option<Row> {
        let is_alike = self.zero == Zero::Nothing && self.last.average == Average::Gradients;
        if is_alike && self.rank > 0 {
            return None;
        }
        let (range, weights) = match self.zero {
            Zero::Nothing => (0..held.len(), held),
            Zero::Optimizer | Zero::Gradients => {
                (self.shard_range(), held[self.shard_range()].to_vec())
            }
            Zero::Weights => (self.shard_range(), held),
        };
        let gradient = applied.unwrap_or_else(|| vec![0.0; weights.len()]);
        Some(Row { range, gradient, weights })
    }
}

fn bytes(numbers: usize) -> u64 {
    4 * numbers as u64
}

/// FNV-1a over the bits of numbers.
fn hash(numbers: &[f32]) -> u64 {
    numbers.iter().fold(0xcbf2_9ce4_8422_2325, |hash, number| {
        (hash ^ u64::from(number.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
