//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use std::ops::Range;
use std::sync::Arc;

use mlsys_device::choice::pick;
use mlsys_distributed::model;
use mlsys_distributed::model::Model;
use mlsys_lab::{LabError, Params};
use mlsys_nn::flat_params::{RULES, Rule};
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_sim::collective::{Algorithm, Plan};
use mlsys_sim::network::Network;

use super::exchange::Compression;

pub(super) struct Setup {
    pub(super) workers: usize,
    pub(super) model: Model,
    pub(super) task: Kind,
    pub(super) rule: Rule,
    pub(super) zero: Zero,
    pub(super) beside: ReferenceWorker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What symbol comes next.
    Chain,
    /// Which digit an image shows.
    Digits,
}

/// Whether a single worker runs for comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReferenceWorker {
    Nobody,
    OneWorker,
}

/// Whether gradients travel while the backward pass still runs, in the modelled clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// They wait for its end.
    Apart,
    /// They do.
    Together,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Knobs {
    /// Examples of a step over all workers.
    pub(super) batch: usize,
    /// Pieces in which each goes through its part.
    pub(super) pieces: usize,
    pub(super) steps: u64,
    pub(super) rate: f64,
    pub(super) algorithm: Algorithm,
    pub(super) compression: Compression,
    pub(super) left_out: LeftOut,
    /// Steps from one average to the next.
    pub(super) every: u64,
    pub(super) delay: usize,
    pub(super) slow: f64,
    pub(super) overlap: Overlap,
    pub(super) flops_per_second: f64,
    pub(super) network: Network,
}

pub(super) const KINDS: [(&str, Kind); 2] = [("transformer", Kind::Chain), ("mlp", Kind::Digits)];

pub(super) const COMPRESSIONS: [(&str, Compression); 4] = [
    ("none", Compression::None),
    ("int8", Compression::Int8),
    ("sign", Compression::Sign),
    ("top-k", Compression::TopK { share: 0.0 }),
];

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let seed = params.int("seed")?.unsigned_abs();
        let task = pick(params, "model", &KINDS)?;
        Ok(Self {
            workers: params.size("workers")?,
            model: match task {
                Kind::Chain => Model::transformer(model::transformer(params)?, seed)?,
                Kind::Digits => Model::digits(seed)?,
            },
            task,
            rule: pick(params, "optimizer", &RULES)?,
            zero: zero(params)?,
            beside: match params.bool("compare")? {
                true => ReferenceWorker::OneWorker,
                false => ReferenceWorker::Nobody,
            },
        })
    }

    /// The knobs as parameters give them.
    ///
    /// # Errors
    /// If they contradict each other, or if memory cannot hold what they ask for.
    pub(super) fn knobs(&self, params: &Params, budget: MemoryBudget) -> Result<Knobs, LabError> {
        let knobs = Knobs::read(params)?;
        let who = format!("{} workers with this model", self.workers);
        let smaller = "workers, hidden, layers, context, global_batch or delay";
        budget.require(self.bytes(&knobs), &who, smaller)?;
        Ok(knobs)
    }

    pub(super) fn bytes(&self, knobs: &Knobs) -> u64 {
        let alone = match self.beside {
            ReferenceWorker::OneWorker => 1,
            ReferenceWorker::Nobody => 0,
        };
        // Weights, gradients, the next weights and what is sent of them, besides the optimizer's moments.
        let copies = 6 + self.rule.moments() + knobs.delay as u64;
        let holders = self.workers as u64 + alone;
        let activations = self.model.activation_bytes(knobs.batch as u64) * (1 + alone);
        4 * copies * holders * self.model.parameters() + 2 * activations
    }

    /// What the workers agree on with these knobs.
    ///
    /// # Errors
    /// If the algorithm does not support this number of workers.
    pub(super) fn scheme(&self, knobs: &Knobs) -> Result<Scheme, LabError> {
        Scheme::new(
            knobs.algorithm,
            self.workers,
            self.model.parameters() as usize,
            knobs.compression,
            knobs.left_out,
            knobs.delay,
        )
    }
}

impl Knobs {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let workers = params.size("workers")?;
        let knobs = Self {
            batch: params.size("global_batch")?,
            pieces: params.size("accumulate")?,
            steps: params.size("steps")? as u64,
            rate: params.float("learning_rate")?,
            algorithm: algorithm(params)?,
            compression: match pick(params, "compression", &COMPRESSIONS)? {
                Compression::TopK { .. } => {
                    Compression::TopK { share: params.float("keep_fraction")? }
                }
                other @ (Compression::None | Compression::Int8 | Compression::Sign) => other,
            },
            left_out: match params.bool("error_feedback")? {
                true => LeftOut::Kept,
                false => LeftOut::Lost,
            },
            every: params.size("synchronize_every")? as u64,
            delay: params.size("delay")?,
            slow: params.float("slow_worker_factor")?,
            overlap: match params.bool("overlap")? {
                true => Overlap::Together,
                false => Overlap::Apart,
            },
            flops_per_second: params.float("worker_flops_per_second")?,
            network: Network::read(params)?,
        };
        knobs.must_divide(workers)?;
        knobs.must_agree(workers, zero(params)?)?;
        Ok(knobs)
    }

    fn must_divide(&self, workers: usize) -> Result<(), LabError> {
        let Self { batch, pieces, .. } = *self;
        if batch < workers {
            let message = format!(
                "{workers} workers cannot share {batch} {}: {} of them would have nothing to do; set global_batch to \
                 {workers} or more, or take fewer workers",
                if batch == 1 { "example" } else { "examples" },
                workers - batch
            );
            return Err(LabError::contradiction(["global_batch", "workers"], message));
        }
        if !batch.is_multiple_of(workers) {
            let message = format!(
                "{batch} examples do not divide evenly over {workers} workers, and then the mean of their gradients \
                 would not be that of the batch; set global_batch to {} or {}",
                batch / workers * workers,
                batch.next_multiple_of(workers)
            );
            return Err(LabError::contradiction(["global_batch", "workers"], message));
        }
        let each = batch / workers;
        if !each.is_multiple_of(pieces) {
            let message = format!(
                "each worker has {each} examples of a batch, which do not divide into {pieces} even pieces; set \
                 accumulate to a divisor of {each}"
            );
            return Err(LabError::contradiction(["accumulate", "global_batch"], message));
        }
        Ok(())
    }

    fn must_agree(&self, workers: usize, zero: Zero) -> Result<(), LabError> {
        if !self.algorithm.takes(workers) {
            let message = format!(
                "{} halves the workers in every round, so their number must be a power of two, and {workers} is none; \
                 take another algorithm, or {} workers",
                self.algorithm.name(),
                workers.next_power_of_two()
            );
            return Err(LabError::contradiction(["algorithm", "workers"], message));
        }
        if self.every > 1 && zero > Zero::Nothing {
            let message = "workers that step alone each need all of the optimizer's state, and with zero_stage above 0 \
                           nobody holds it; set synchronize_every to 1, or zero_stage to 0";
            return Err(LabError::contradiction(["synchronize_every", "zero_stage"], message));
        }
        if self.every > 1 && self.compression != Compression::None {
            let message = "with synchronize_every above 1 workers send weights and no gradients, and it is gradients \
                           that are compressed; set compression to none, or synchronize_every to 1";
            return Err(LabError::contradiction(["synchronize_every", "compression"], message));
        }
        Ok(())
    }
}

fn algorithm(params: &Params) -> Result<Algorithm, LabError> {
    let name = params.text("algorithm")?;
    Algorithm::named(name).ok_or_else(|| {
        let known = Algorithm::ALL.map(Algorithm::name);
        let message = format!("'{name}' is none of {}", known.join(", "));
        LabError::contradiction(["algorithm"], message)
    })
}

fn zero(params: &Params) -> Result<Zero, LabError> {
    Ok(match params.int("zero_stage")? {
        ..=0 => Zero::Nothing,
        1 => Zero::Optimizer,
        2 => Zero::Gradients,
        3.. => Zero::Weights,
    })
}

// Orders to the workers and their answers.

/// What is sharded over workers (Rajbhandari et al. 2020). Each stage shards what the one before does, and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Zero {
    Nothing,
    Optimizer,
    /// And gradients.
    Gradients,
    /// And weights.
    Weights,
}

/// What becomes of what compression leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// It is lost.
    Lost,
    /// It is added to the next step's gradient.
    Kept,
}

#[derive(Clone, Debug)]
pub(super) struct Scheme {
    /// The sum over all, to all.
    pub(super) all_reduce: Plan,
    /// The sum over all, to each its shard.
    pub(super) scatter: Plan,
    /// Everybody's shard to all.
    pub(super) gather: Plan,
    /// Everybody's compressed gradient to all; an element a worker.
    pub(super) share: Plan,
    pub(super) compression: Compression,
    pub(super) left_out: LeftOut,
    /// Steps that a gradient is late.
    pub(super) delay: usize,
}

/// What is averaged at the end of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Average {
    #[default]
    Gradients,
    /// Nothing: each goes its own way.
    Nothing,
    Weights,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    /// The examples of the whole batch; worker `r` of `p` takes the `r`th of `p` equal parts.
    pub(super) indices: Arc<Vec<usize>>,
    pub(super) rate: f64,
    /// Pieces in which a worker goes through its part.
    pub(super) pieces: usize,
    pub(super) scheme: Arc<Scheme>,
    pub(super) average: Average,
    pub(super) begin: Begin,
}

/// How the workers begin a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    AsTheyAre,
    /// Alike: they went their own ways, and from now on share gradients.
    Together,
}

/// Whether a step should tell more than its loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Want {
    #[default]
    No,
    Yes,
}

#[derive(Clone, Debug)]
pub(super) enum WorkerOrder {
    /// Do a step. What there is to say of it is asked for by itself, so that a step takes no longer for being watched.
    Train(Task),
    /// Tell of the last step, and of gradient and weights if they are wanted.
    Tell(Want),
    Show,
}

/// What a worker says; a server has nothing to say.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// The mean loss of its part, before the update.
    pub(super) loss: Option<f64>,
    /// A number that all weights together give: the same for the same bits, and hardly ever for others.
    pub(super) digest: Option<u64>,
    /// Whether a weight is no finite number any more.
    pub(super) broken: Broken,
    pub(super) held: HeldBytes,
    pub(super) row: Option<Row>,
    /// The first [`SAMPLED`] numbers of each chunk of what it gave into the sum, before it was summed.
    pub(super) samples: Vec<f32>,
}

/// Numbers of a chunk that pictures show.
pub(super) const SAMPLED: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Broken {
    #[default]
    No,
    Yes,
}

/// Bytes of the numbers that a worker really holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HeldBytes {
    /// Between steps.
    pub(super) weights: u64,
    /// Of this step, once it is summed.
    pub(super) gradient: u64,
    pub(super) optimizer: u64,
    pub(super) left_out: u64,
    /// Gradients that wait for their step.
    pub(super) late: u64,
}

/// A part of all weights.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) range: Range<usize>,
    pub(super) gradient: Vec<f32>,
    pub(super) weights: Vec<f32>,
}

impl Scheme {
    /// The plans for a number of workers and parameters.
    ///
    /// # Errors
    /// If the algorithm does not support this number of workers.
    pub(super) fn new(
        algorithm: Algorithm,
        workers: usize,
        parameters: usize,
        compression: Compression,
        left_out: LeftOut,
        delay: usize,
    ) -> Result<Self, LabError> {
        let plan = |plan: Result<Plan, mlsys_sim::collective::PlanError>| {
            plan.map_err(|error| error.told(["algorithm", "workers"]))
        };
        Ok(Self {
            all_reduce: plan(Plan::all_reduce(algorithm, workers, parameters))?,
            scatter: plan(Plan::reduce_scatter(workers, parameters))?,
            gather: plan(Plan::all_gather(workers, parameters))?,
            share: plan(Plan::all_gather(workers, workers))?,
            compression,
            left_out,
            delay,
        })
    }
}
