//! What a worker does in a step: forward and backward on its part, the exchange, the update of what it holds.

use std::collections::VecDeque;
use std::sync::Arc;

use burn::tensor::Device;

use super::compress::Compression;
use super::task::{
    Answer, Average, Broken, Held, LeftOut, Order, Row, SAMPLED, Scheme, Task, Want, Zero,
};
use crate::data::Data;
use crate::nets::{Architecture, Network};
use crate::parallel::collective::{carry_out, share};
use crate::parallel::crew::{Berth, Worker};
use crate::parallel::flat;
use crate::parallel::model::{self, Model};
use crate::parallel::optimizer::{Optimizer, Rule};
use crate::parallel::wire::{Port, Tag, Trouble};

/// What messages carry, as they are called where one is missing.
const GRADIENT: &str = "part of the gradient";
const WEIGHTS: &str = "part of the weights";

/// One thread of the run.
pub(super) enum Member {
    /// It trains.
    Replica(Box<Replica>),
    /// It only sums what it is sent, where an algorithm asks for a server.
    Server { parameters: usize, zero: Zero },
}

/// A worker that trains, with what it holds.
pub(super) struct Replica {
    rank: usize,
    workers: usize,
    zero: Zero,
    architecture: Architecture,
    data: Arc<Data>,
    /// Without autodiff.
    plain: Device,
    /// With autodiff.
    device: Device,
    /// All weights; where weights are sharded, nothing between steps.
    network: Option<Network>,
    /// Its own weights, where weights are sharded; else nothing.
    shard: Vec<f32>,
    optimizer: Optimizer,
    /// What compression has left out so far.
    left_out: Vec<f32>,
    /// Gradients that wait for their step.
    late: VecDeque<Vec<f32>>,
}

impl Member {
    /// The member of that rank: the first `workers` train, one more serves.
    pub(super) fn new(
        berth: Berth,
        workers: usize,
        model: &Model,
        rule: Rule,
        zero: Zero,
    ) -> Result<Self, Trouble> {
        if berth.rank >= workers {
            let parameters = model.parameters() as usize;
            return Ok(Self::Server { parameters, zero });
        }
        let device = berth.device.clone().autodiff();
        let network = model.network(&device);
        let mut replica = Replica {
            rank: berth.rank,
            workers,
            zero,
            architecture: model.architecture.clone(),
            data: Arc::clone(&model.data),
            plain: berth.device,
            device,
            network: Some(network),
            shard: Vec::new(),
            optimizer: Optimizer::new(rule),
            left_out: Vec::new(),
            late: VecDeque::new(),
        };
        if zero == Zero::Weights
            && let Some(network) = replica.network.take()
        {
            let weights = flat::weights(&network)?;
            let split = mlsys_machines::collective::Split::new(weights.len(), workers);
            replica.shard = cut(&weights, split.piece(berth.rank));
        }
        Ok(Self::Replica(Box::new(replica)))
    }
}

impl Worker for Member {
    type Order = Order;
    type Answer = Answer;

    fn act(&mut self, order: Order, port: &mut Port) -> Result<Answer, Trouble> {
        match (self, order) {
            (Self::Replica(replica), Order::Train(task)) => replica.train(&task, port),
            (Self::Replica(replica), Order::Show) => replica.show(),
            (Self::Server { parameters, zero }, Order::Train(task)) => {
                let plan = &task.scheme.all_reduce;
                if plan.server() == Some(port.rank()) && task.reduces_all(*zero) {
                    port.doing("serving sums");
                    let what = match task.average {
                        Average::Gradients | Average::Nothing => GRADIENT,
                        Average::Weights => WEIGHTS,
                    };
                    carry_out(plan, port, what, &mut vec![0.0; *parameters])?;
                }
                Ok(Answer::default())
            }
            (Self::Server { .. }, Order::Show) => Ok(Answer::default()),
        }
    }
}

impl Replica {
    fn train(&mut self, task: &Task, port: &mut Port) -> Result<Answer, Trouble> {
        let scheme = &*task.scheme;
        let mut digest = None;
        let (loss, mut gradient) = match self.zero {
            Zero::Nothing | Zero::Optimizer | Zero::Gradients => {
                port.doing("computing its gradient");
                let network = self.network.as_ref().ok_or_else(nothing)?;
                self.gradient(network, task)?
            }
            Zero::Weights => {
                let (loss, gradient, seen) = self.gradient_of_shards(task, port)?;
                digest = Some(seen);
                (loss, gradient)
            }
        };
        let mut samples = Vec::new();
        if task.average == Average::Gradients {
            samples = self.exchange(&mut gradient, scheme, port)?;
        }
        let mut held = Held {
            gradient: bytes(gradient.len()),
            ..Held::default()
        };
        let applied = self.update(gradient, task.rate, scheme, port)?;
        if task.average == Average::Weights {
            samples = self.average_weights(scheme, port)?;
        }
        let row = match task.rows {
            Want::Yes => self.row(applied, task.average)?,
            Want::No => None,
        };
        let (weights, own) = match &self.network {
            Some(network) => (flat::weights(network)?, bytes(flat::len(network))),
            None => (self.shard.clone(), bytes(self.shard.len())),
        };
        held.weights = own;
        held.optimizer = self.optimizer.bytes();
        held.left_out = bytes(self.left_out.len());
        held.late = self.late.iter().map(|late| bytes(late.len())).sum();
        Ok(Answer {
            loss: Some(loss),
            digest: digest.or_else(|| Some(hash(&weights))),
            broken: if weights.iter().all(|weight| weight.is_finite()) {
                Broken::No
            } else {
                Broken::Yes
            },
            held,
            row,
            samples,
        })
    }

    /// The mean loss of its part and the mean gradient, added up piece by piece.
    fn gradient(&self, network: &Network, task: &Task) -> Result<(f64, Vec<f32>), Trouble> {
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
    /// the backward pass, which runs forward once more for what it needs. Also what the weights hash to.
    fn gradient_of_shards(
        &self,
        task: &Task,
        port: &mut Port,
    ) -> Result<(f64, Vec<f32>, u64), Trouble> {
        let scheme = &*task.scheme;
        let pieces = task.pieces.max(1);
        let (network, seen) = self.put_together(scheme, port, "part of the weights, forward")?;
        port.doing("computing its forward pass");
        let network = model::without_autodiff(&network);
        let mut loss = 0.0;
        for piece in 0..pieces {
            let indices = self.part(task, piece);
            loss += model::loss(&network, &self.data.train, indices, &self.plain)? / pieces as f64;
        }
        drop(network);
        let (network, _) = self.put_together(scheme, port, "part of the weights, backward")?;
        port.doing("computing its backward pass");
        let (_, gradient) = self.gradient(&network, task)?;
        Ok((loss, gradient, seen))
    }

    fn put_together(
        &self,
        scheme: &Scheme,
        port: &mut Port,
        what: &'static str,
    ) -> Result<(Network, u64), Trouble> {
        let plan = &scheme.gather;
        let mut weights = vec![0.0; plan.elements()];
        if let Some(own) = weights.get_mut(plan.split().piece(self.rank)) {
            own.copy_from_slice(self.shard.get(..own.len()).ok_or_else(nothing)?);
        }
        carry_out(plan, port, what, &mut weights)?;
        let network = flat::with_weights(self.architecture.shapes(&self.device), &weights);
        Ok((network, hash(&weights)))
    }

    /// The examples of one piece of its part.
    fn part<'a>(&self, task: &'a Task, piece: usize) -> &'a [usize] {
        let each = task.indices.len() / self.workers / task.pieces.max(1);
        let begin = (self.rank * task.pieces.max(1) + piece) * each;
        task.indices.get(begin..begin + each).unwrap_or_default()
    }

    /// From its own gradient to the mean of all, as far as it holds that. Gives back a few numbers of what it gave in.
    fn exchange(
        &mut self,
        gradient: &mut Vec<f32>,
        scheme: &Scheme,
        port: &mut Port,
    ) -> Result<Vec<f32>, Trouble> {
        let samples = if scheme.compression == Compression::None {
            self.left_out.clear();
            let samples = samples(scheme, gradient);
            let plan = match self.zero {
                Zero::Nothing => &scheme.all_reduce,
                Zero::Optimizer | Zero::Gradients | Zero::Weights => &scheme.scatter,
            };
            carry_out(plan, port, GRADIENT, gradient)?;
            samples
        } else {
            self.exchange_compressed(gradient, scheme, port)?
        };
        let workers = self.workers as f32;
        gradient.iter_mut().for_each(|sum| *sum /= workers);
        match self.zero {
            Zero::Nothing | Zero::Optimizer => {}
            Zero::Gradients | Zero::Weights => {
                *gradient = cut(gradient, scheme.gather.split().piece(self.rank));
            }
        }
        Ok(samples)
    }

    fn exchange_compressed(
        &mut self,
        gradient: &mut [f32],
        scheme: &Scheme,
        port: &mut Port,
    ) -> Result<Vec<f32>, Trouble> {
        port.doing("compressing its gradient");
        for (g, left) in gradient.iter_mut().zip(&self.left_out) {
            *g += left;
        }
        let packed = scheme.compression.pack(gradient);
        self.left_out = match scheme.left_out {
            LeftOut::Lost => Vec::new(),
            LeftOut::Kept => {
                let mut sent = vec![0.0; gradient.len()];
                packed.add_to(&mut sent);
                let pairs = gradient.iter().zip(sent);
                pairs.map(|(g, sent)| g - sent).collect()
            }
        };
        const WHAT: &str = "compressed gradient";
        let samples = packed.first(SAMPLED);
        let all = share(&scheme.share, port, WHAT, packed)?;
        gradient.fill(0.0);
        // In the order of ranks, so that all get the same bits.
        for (from, packed) in all.iter().enumerate() {
            if !packed.add_to(gradient) {
                let what = format!("it does not stand for {} numbers", gradient.len());
                let tag = Tag {
                    what: WHAT,
                    index: from,
                };
                return Err(Trouble::Wrong { from, tag, what });
            }
        }
        Ok(samples)
    }

    /// Applies what is due to what it holds, and makes weights whole again where they are held whole. Gives back the
    /// gradient that was applied last; nothing if none was due.
    fn update(
        &mut self,
        gradient: Vec<f32>,
        rate: f64,
        scheme: &Scheme,
        port: &mut Port,
    ) -> Result<Option<Vec<f32>>, Trouble> {
        port.doing("updating its weights");
        let piece = scheme.gather.split().piece(self.rank);
        self.late.push_back(match self.zero {
            Zero::Nothing | Zero::Gradients | Zero::Weights => gradient,
            Zero::Optimizer => cut(&gradient, piece.clone()),
        });
        let mut weights = match &self.network {
            Some(network) => flat::weights(network)?,
            None => Vec::new(),
        };
        let own = match self.zero {
            Zero::Nothing => Some(&mut weights[..]),
            Zero::Optimizer | Zero::Gradients => weights.get_mut(piece),
            Zero::Weights => Some(&mut self.shard[..]),
        };
        let own = own.ok_or_else(nothing)?;
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
                carry_out(
                    &scheme.gather,
                    port,
                    "part of the new weights",
                    &mut weights,
                )?;
            }
        }
        if let Some(network) = self.network.take() {
            self.network = Some(flat::with_weights(network, &weights));
        }
        Ok(applied)
    }

    /// Everybody's weights become the mean of all. Gives back a few of what they were.
    fn average_weights(&mut self, scheme: &Scheme, port: &mut Port) -> Result<Vec<f32>, Trouble> {
        let Some(network) = self.network.take() else {
            return Ok(Vec::new());
        };
        let mut weights = flat::weights(&network)?;
        let samples = samples(scheme, &weights);
        carry_out(&scheme.all_reduce, port, WEIGHTS, &mut weights)?;
        let workers = self.workers as f32;
        weights.iter_mut().for_each(|sum| *sum /= workers);
        self.network = Some(flat::with_weights(network, &weights));
        Ok(samples)
    }

    /// What it tells of gradient and weights: nothing where another tells the same.
    fn row(&self, applied: Option<Vec<f32>>, average: Average) -> Result<Option<Row>, Trouble> {
        if self.zero == Zero::Nothing && average == Average::Gradients && self.rank > 0 {
            return Ok(None);
        }
        let mut row = self.own()?;
        row.gradient = applied.unwrap_or_else(|| vec![0.0; row.weights.len()]);
        Ok(Some(row))
    }

    /// The weights that it answers for.
    fn own(&self) -> Result<Row, Trouble> {
        let weights = match &self.network {
            Some(network) => flat::weights(network)?,
            None => {
                let all = self.architecture.parameters() as usize;
                let split = mlsys_machines::collective::Split::new(all, self.workers);
                return Ok(Row {
                    range: split.piece(self.rank),
                    gradient: Vec::new(),
                    weights: self.shard.clone(),
                });
            }
        };
        let split = mlsys_machines::collective::Split::new(weights.len(), self.workers);
        Ok(match self.zero {
            Zero::Nothing => Row {
                range: 0..weights.len(),
                gradient: Vec::new(),
                weights,
            },
            Zero::Optimizer | Zero::Gradients | Zero::Weights => Row {
                range: split.piece(self.rank),
                gradient: Vec::new(),
                weights: cut(&weights, split.piece(self.rank)),
            },
        })
    }

    fn show(&self) -> Result<Answer, Trouble> {
        Ok(Answer {
            row: Some(self.own()?),
            ..Answer::default()
        })
    }
}

/// The first numbers of each chunk, gaps where there are fewer.
fn samples(scheme: &Scheme, gradient: &[f32]) -> Vec<f32> {
    let split = scheme.all_reduce.split();
    let chunk = |piece| {
        let chunk = gradient.get(split.piece(piece)).unwrap_or_default();
        (0..SAMPLED).map(|k| chunk.get(k).copied().unwrap_or(f32::NAN))
    };
    (0..split.pieces()).flat_map(chunk).collect()
}

fn cut(row: &[f32], range: std::ops::Range<usize>) -> Vec<f32> {
    row.get(range).unwrap_or_default().to_vec()
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

fn nothing() -> Trouble {
    Trouble::Failed("has lost its weights".to_owned())
}
