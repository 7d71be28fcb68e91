//! What a worker does in a step: forward and backward on its part, the exchange, the update of what it holds.

use std::collections::VecDeque;
use std::sync::Arc;

use burn::tensor::Device;
use mlsys_distributed::collective::carry_out;
use mlsys_distributed::model;
use mlsys_distributed::model::Model;
use mlsys_distributed::transport::{CommError, Endpoint};
use mlsys_distributed::worker_pool::{Worker, WorkerSpec};
use mlsys_nn::data::Data;
use mlsys_nn::flat_params::{Optimizer, Rule};
use mlsys_nn::networks::{Architecture, Network};
use mlsys_nn::{divergence, flat_params};

use super::exchange::Compression;
use super::params::{Answer, Average, Begin, HeldBytes, Row, Scheme, Task, WorkerOrder, Zero};

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

/// A worker that trains, with what it holds.
pub(super) struct Replica {
    pub(super) rank: usize,
    pub(super) workers: usize,
    pub(super) zero: Zero,
    architecture: Architecture,
    data: Arc<Data>,
    /// Without autodiff.
    plain: Device,
    /// With autodiff.
    device: Device,
    /// All weights; where weights are sharded, nothing between steps.
    pub(super) network: Option<Network>,
    /// Its own weights, where weights are sharded; else nothing.
    shard: Vec<f32>,
    pub(super) optimizer: Optimizer,
    pub(super) left_out: Vec<f32>,
    /// Gradients that wait for their step.
    pub(super) late: VecDeque<Vec<f32>>,
    left: LastStep,
}

impl Member {
    /// The member of that rank: the first `workers` train, one more serves.
    pub(super) fn new(
        spec: WorkerSpec,
        workers: usize,
        model: &Model,
        rule: Rule,
        zero: Zero,
    ) -> Result<Self, CommError> {
        if spec.rank >= workers {
            let parameters = model.parameters() as usize;
            return Ok(Self::Server { parameters, rule, zero });
        }
        let device = spec.device.clone().autodiff();
        let network = model.network(&device);
        let mut replica = Replica {
            rank: spec.rank,
            workers,
            zero,
            architecture: model.architecture.clone(),
            data: Arc::clone(&model.data),
            plain: spec.device,
            device,
            network: Some(network),
            shard: Vec::new(),
            optimizer: Optimizer::new(rule),
            left_out: Vec::new(),
            late: VecDeque::new(),
            left: LastStep::default(),
        };
        if zero == Zero::Weights
            && let Some(network) = replica.network.take()
        {
            let weights = flat_params::weights(&network)?;
            let split = mlsys_sim::collective::Split::new(weights.len(), workers);
            replica.shard = weights[split.piece(spec.rank)].to_vec();
        }
        Ok(Self::Replica(Box::new(replica)))
    }
}

impl Worker for Member {
    type Order = WorkerOrder;
    type Answer = Answer;

    fn act(&mut self, order: WorkerOrder, endpoint: &mut Endpoint) -> Result<Answer, CommError> {
        match (self, order) {
            (Self::Replica(replica), WorkerOrder::Train(task)) => {
                replica.train(&task, endpoint)?;
                Ok(Answer::default())
            }
            (Self::Replica(replica), WorkerOrder::Report { rows }) => replica.report(rows),
            (Self::Replica(replica), WorkerOrder::Show) => replica.show(),
            (Self::Server { parameters, rule, zero }, WorkerOrder::Train(task)) => {
                endpoint.doing("serving sums");
                for what in task.sums(*rule, *zero) {
                    serve(&task.scheme, *parameters, what, endpoint)?;
                }
                Ok(Answer::default())
            }
            (Self::Server { .. }, WorkerOrder::Show | WorkerOrder::Report { .. }) => {
                Ok(Answer::default())
            }
        }
    }
}

/// The server's part of a sum, if the algorithm has one.
fn serve(
    scheme: &Scheme,
    parameters: usize,
    what: &'static str,
    endpoint: &mut Endpoint,
) -> Result<(), CommError> {
    let plan = &scheme.all_reduce;
    if plan.server() != Some(endpoint.rank()) {
        return Ok(());
    }
    carry_out(plan, endpoint, what, &mut vec![0.0; parameters])
}

impl Task {
    /// The sums over all to all of the step by the scheme's plan, in their order: a server has a part in each.
    fn sums(&self, rule: Rule, zero: Zero) -> Vec<&'static str> {
        let mut sums = Vec::new();
        if self.begin == Begin::Together {
            sums.push(WEIGHTS);
            sums.extend((0..rule.moments()).map(|_| STATE));
        }
        match self.average {
            Average::Gradients => {
                if zero == Zero::Nothing && self.scheme.compression == Compression::None {
                    sums.push(GRADIENT);
                }
            }
            Average::Nothing => {}
            Average::Weights => sums.push(WEIGHTS),
        }
        sums
    }
}

impl Replica {
    /// Does a step and keeps what there is to tell of it.
    fn train(&mut self, task: &Task, endpoint: &mut Endpoint) -> Result<(), CommError> {
        let scheme = &*task.scheme;
        if scheme.compression == Compression::None {
            // What was left out of compressed gradients is lost once they are sent whole.
            self.left_out.clear();
        }
        if task.begin == Begin::Together {
            self.synchronize(scheme, endpoint)?;
        }
        let (loss, mut gradient, seen) = match self.zero {
            Zero::Nothing | Zero::Optimizer | Zero::Gradients => {
                endpoint.doing("computing its gradient");
                let network = self.network.as_ref().ok_or_else(lost_weights)?;
                let (loss, gradient) = self.gradient(network, task)?;
                (loss, gradient, None)
            }
            Zero::Weights => {
                let (loss, gradient, seen) = self.gradient_of_shards(task, endpoint)?;
                (loss, gradient, Some(seen))
            }
        };
        let mut samples = Vec::new();
        if task.average == Average::Gradients {
            samples = self.exchange(&mut gradient, scheme, endpoint)?;
        }
        let summed = bytes(gradient.len());
        let applied = self.update(gradient, task.rate, scheme, endpoint)?;
        if task.average == Average::Weights {
            samples = self.average_weights(scheme, endpoint)?;
        }
        self.left = LastStep {
            loss: Some(loss),
            average: task.average,
            samples,
            gradient: summed,
            applied,
            seen,
        };
        Ok(())
    }

    /// The mean loss of its part and the mean gradient, added up piece by piece.
    fn gradient(&self, network: &Network, task: &Task) -> Result<(f64, Vec<f32>), CommError> {
        let pieces = task.pieces.max(1);
        let (mut loss, mut sum): (f64, Vec<f32>) = (0.0, Vec::new());
        for piece in 0..pieces {
            let indices = self.part(task, piece);
            let (of_piece, gradient) =
                model::gradient(network, &self.data.train, indices, &self.device)?;
            loss += of_piece / pieces as f64;
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
        let scheme = &*task.scheme;
        let pieces = task.pieces.max(1);
        let (network, seen) =
            self.put_together(scheme, endpoint, "part of the weights, forward")?;
        endpoint.doing("computing its forward pass");
        let network = model::without_autodiff(&network);
        let mut loss = 0.0;
        for piece in 0..pieces {
            let indices = self.part(task, piece);
            loss += model::loss(&network, &self.data.train, indices, &self.plain)? / pieces as f64;
        }
        drop(network);
        let (network, _) = self.put_together(scheme, endpoint, "part of the weights, backward")?;
        endpoint.doing("computing its backward pass");
        let (_, gradient) = self.gradient(&network, task)?;
        Ok((loss, gradient, seen))
    }

    fn put_together(
        &self,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
        what: &'static str,
    ) -> Result<(Network, Vec<f32>), CommError> {
        let plan = &scheme.gather;
        let mut weights = vec![0.0; plan.elements()];
        if let Some(own) = weights.get_mut(plan.split().piece(self.rank)) {
            own.copy_from_slice(self.shard.get(..own.len()).ok_or_else(lost_weights)?);
        }
        carry_out(plan, endpoint, what, &mut weights)?;
        let network = flat_params::with_weights(self.architecture.shapes(&self.device), &weights);
        Ok((network, weights))
    }

    /// The examples of one piece of its part.
    fn part<'a>(&self, task: &'a Task, piece: usize) -> &'a [usize] {
        let each = task.indices.len() / self.workers / task.pieces.max(1);
        let begin = (self.rank * task.pieces.max(1) + piece) * each;
        &task.indices[begin..begin + each]
    }

    /// Applies what is due to what it holds, and makes weights whole again where they are held whole. Gives back the
    /// gradient that was applied last; nothing if none was due.
    fn update(
        &mut self,
        gradient: Vec<f32>,
        rate: f64,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<Option<Vec<f32>>, CommError> {
        endpoint.doing("updating its weights");
        let piece = scheme.gather.split().piece(self.rank);
        self.late.push_back(match self.zero {
            Zero::Nothing | Zero::Gradients | Zero::Weights => gradient,
            Zero::Optimizer => gradient[piece.clone()].to_vec(),
        });
        let mut weights = match &self.network {
            Some(network) => flat_params::weights(network)?,
            None => Vec::new(),
        };
        let own = match self.zero {
            Zero::Nothing => Some(&mut weights[..]),
            Zero::Optimizer | Zero::Gradients => weights.get_mut(piece),
            Zero::Weights => Some(&mut self.shard[..]),
        };
        let own = own.ok_or_else(lost_weights)?;
        let mut applied = None;
        while self.late.len() > scheme.delay
            && let Some(due) = self.late.pop_front()
        {
            self.optimizer.update(own, &due, rate);
            applied = Some(due);
        }
        match self.zero {
            Zero::Nothing | Zero::Weights => {}
            Zero::Optimizer | Zero::Gradients => {
                carry_out(&scheme.gather, endpoint, "part of the new weights", &mut weights)?;
            }
        }
        if let Some(network) = self.network.take() {
            self.network = Some(flat_params::with_weights(network, &weights));
        }
        Ok(applied)
    }
}

fn bytes(numbers: usize) -> u64 {
    4 * numbers as u64
}

fn lost_weights() -> CommError {
    CommError::Failed("has lost its weights".to_owned())
}

// What a worker reports of a step after the timed part.

/// What a step leaves to be told.
#[derive(Default)]
pub(super) struct LastStep {
    pub(super) loss: Option<f64>,
    pub(super) average: Average,
    pub(super) samples: Vec<f32>,
    /// Bytes of the gradient, once it was summed.
    pub(super) gradient: u64,
    /// The gradient that was applied last; nothing if none was due.
    pub(super) applied: Option<Vec<f32>>,
    /// All weights as they were put together for the forward pass, where they are sharded.
    pub(super) seen: Option<Vec<f32>>,
}

impl Replica {
    pub(super) fn report(&mut self, rows: bool) -> Result<Answer, CommError> {
        let left = std::mem::take(&mut self.left);
        let row = if rows { self.row(left.applied, left.average)? } else { None };
        let weights = match &self.network {
            Some(network) => flat_params::weights(network)?,
            None => self.shard.clone(),
        };
        Ok(Answer {
            loss: left.loss,
            digest: Some(hash(left.seen.as_ref().unwrap_or(&weights))),
            broken: divergence::check_weights(&weights),
            held: HeldBytes {
                weights: bytes(weights.len()),
                gradient: left.gradient,
                optimizer: self.optimizer.bytes(),
                left_out: bytes(self.left_out.len()),
                late: self.late.iter().map(|late| bytes(late.len())).sum(),
            },
            row,
            samples: left.samples,
        })
    }

    /// What it tells of gradient and weights: nothing where another tells the same.
    fn row(&self, applied: Option<Vec<f32>>, average: Average) -> Result<Option<Row>, CommError> {
        if self.zero == Zero::Nothing && average == Average::Gradients && self.rank > 0 {
            return Ok(None);
        }
        let mut row = self.own()?;
        row.gradient = applied.unwrap_or_else(|| vec![0.0; row.weights.len()]);
        Ok(Some(row))
    }

    /// The weights that it answers for.
    fn own(&self) -> Result<Row, CommError> {
        let weights = match &self.network {
            Some(network) => flat_params::weights(network)?,
            None => {
                let all = self.architecture.parameters() as usize;
                let split = mlsys_sim::collective::Split::new(all, self.workers);
                return Ok(Row {
                    range: split.piece(self.rank),
                    gradient: Vec::new(),
                    weights: self.shard.clone(),
                });
            }
        };
        let split = mlsys_sim::collective::Split::new(weights.len(), self.workers);
        Ok(match self.zero {
            Zero::Nothing => Row { range: 0..weights.len(), gradient: Vec::new(), weights },
            Zero::Optimizer | Zero::Gradients | Zero::Weights => Row {
                range: split.piece(self.rank),
                gradient: Vec::new(),
                weights: weights[split.piece(self.rank)].to_vec(),
            },
        })
    }

    pub(super) fn show(&self) -> Result<Answer, CommError> {
        Ok(Answer { row: Some(self.own()?), ..Answer::default() })
    }
}

/// FNV-1a over the bits of numbers.
fn hash(numbers: &[f32]) -> u64 {
    numbers.iter().fold(0xcbf2_9ce4_8422_2325, |hash, number| {
        (hash ^ u64::from(number.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
