//! A worker of the pipeline: the parts of the model that lie on its stage, and what it keeps of each microbatch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use mlsys_distributed::model::Model;
use mlsys_distributed::transport::{CommError, Endpoint, Tag};
use mlsys_distributed::worker_pool::{Worker, WorkerSpec};
use mlsys_nn::data::Data;
use mlsys_nn::flat_params::Optimizer;
use mlsys_nn::networks::{Network, Positions};
use mlsys_nn::train::batch;
use mlsys_nn::{divergence, flat_params};
use mlsys_sim::pipeline::{Operation, Slot, Work, waiting};

use super::params::Setup;
use super::saved_forward::{SavedForward, Tables};
use super::stage_model::{Input, Labels, Output, Pending, StageModel};

pub(super) type Diary = Arc<Mutex<Vec<Vec<Slot>>>>;

#[derive(Clone, Debug)]
pub(super) struct StageOrder {
    pub(super) operations: Vec<Operation>,
    /// The examples of each microbatch that the step touches, and the number of the first of them.
    pub(super) examples: Arc<(usize, Vec<Vec<usize>>)>,
    pub(super) rate: f64,
    pub(super) with_rows: bool,
    pub(super) begun: Instant,
}

pub(super) type Rows = Vec<Vec<f32>>;

#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// What it did, in seconds since the step began.
    pub(super) slots: Vec<Slot>,
    /// On the last stage, the mean loss of each microbatch.
    pub(super) losses: Vec<f64>,
    /// Of each part, the gradients of the step; none of an asynchronous pipeline.
    pub(super) gradients: Rows,
    /// Of each part, the weights after it.
    pub(super) weights: Rows,
    /// Most microbatches that were held at once, in parts.
    pub(super) peak: usize,
    /// Most numbers that waited for the second half of a backward pass.
    pub(super) waiting: usize,
    /// Most different versions of the weights that were held at once, those in use included.
    pub(super) versions: usize,
    /// Updates between forward and backward of the last microbatch.
    pub(super) staleness: u64,
    /// Why its weights are of no use any more.
    pub(super) broken: Option<&'static str>,
}

struct Chunk {
    part: StageModel,
    weights: Vec<f32>,
    gradient: Vec<f32>,
    optimizer: Optimizer,
}

pub(super) struct Stage {
    setup: Arc<Setup>,
    stage: usize,
    chunks: Vec<Chunk>,
    held: HashMap<(usize, usize), SavedForward>,
    pending: HashMap<(usize, usize), Pending>,
    /// What parts of the same stage pass each other.
    own_messages: HashMap<(usize, &'static str, usize), Vec<f32>>,
    positions: Tables,
    data: Arc<Data>,
    /// Without autodiff.
    device: Device,
    version: u64,
    diary: Diary,
}

impl Stage {
    pub(super) fn new(
        setup: Arc<Setup>,
        model: &Model,
        spec: WorkerSpec,
        diary: Diary,
    ) -> Result<Self, CommError> {
        let recording = spec.device.clone().autodiff();
        let Network::Transformer(network) = model.network(&recording) else {
            let what = "was given another model than a transformer".to_owned();
            return Err(CommError::Failed(what));
        };
        let positions = |device| {
            let (time, head) = (setup.config.context, setup.config.rotary());
            Positions::new(time, head, DType::F32, device)
        };
        let positions = Tables { recorded: positions(&recording), plain: positions(&spec.device) };
        let parts = StageModel::cut(network, setup.stages * setup.chunks);
        let own = parts.into_iter().skip(spec.rank).step_by(setup.stages);
        let chunk = |part| -> Result<Chunk, CommError> {
            let weights = flat_params::weights(&part)?;
            let gradient = vec![0.0; weights.len()];
            Ok(Chunk { part, weights, gradient, optimizer: Optimizer::new(setup.rule) })
        };
        let chunks = own.map(chunk).collect::<Result<_, _>>()?;
        Ok(Self {
            stage: spec.rank,
            setup,
            chunks,
            held: HashMap::new(),
            pending: HashMap::new(),
            own_messages: HashMap::new(),
            positions,
            data: Arc::clone(&model.data),
            device: spec.device,
            version: 0,
            diary,
        })
    }

    fn place(&self, chunk: usize) -> usize {
        chunk * self.setup.stages + self.stage
    }

    fn is_last(&self, chunk: usize) -> bool {
        self.place(chunk) + 1 == self.setup.stages * self.setup.chunks
    }

    fn forward(
        &mut self,
        operation: Operation,
        order: &StageOrder,
        endpoint: &mut Endpoint,
        answer: &mut Answer,
    ) -> Result<Instant, CommError> {
        let place = self.place(operation.chunk);
        let input = match place.checked_sub(1) {
            None => Input::Tokens(self.examples(operation, order)?.0),
            Some(before) => {
                Input::Vectors(self.receive_input(operation, ACTIVATIONS, before, endpoint)?)
            }
        };
        let begun = Instant::now();
        endpoint.doing("computing a forward pass");
        let share = self.setup.share();
        let is_last = self.is_last(operation.chunk);
        let examples = is_last.then(|| self.examples(operation, order)).transpose()?;
        let answers = examples.map(|(_, labels)| Labels { labels, share });
        let (setup, part) = (&self.setup, &self.chunks[operation.chunk].part);
        let (output, held) =
            SavedForward::forward(setup, part, input, answers, &self.positions, self.version);
        let key = (operation.chunk, operation.microbatch);
        self.held.insert(key, held);
        match output {
            Output::Loss(loss) => {
                let loss = flat_params::numbers(loss, 1)?;
                answer.losses.extend(loss.iter().map(|&x| f64::from(x) / share));
            }
            Output::Vectors(x) => {
                let row = flat_params::numbers(x, self.setup.numbers())?;
                self.send_on(operation, row, endpoint);
            }
        }
        Ok(begun)
    }

    fn backward(
        &mut self,
        operation: Operation,
        endpoint: &mut Endpoint,
        answer: &mut Answer,
    ) -> Result<Instant, CommError> {
        let slope = if self.is_last(operation.chunk) {
            None
        } else {
            let after = self.place(operation.chunk) + 1;
            Some(self.receive_input(operation, GRADIENTS, after, endpoint)?)
        };
        let begun = Instant::now();
        endpoint.doing("computing a backward pass");
        let key = (operation.chunk, operation.microbatch);
        let held = self.held.remove(&key).ok_or_else(|| {
            let microbatch = operation.microbatch;
            CommError::Failed(format!("has not run microbatch {microbatch} forward"))
        })?;
        answer.staleness = self.version - held.version();
        let chunk = &mut self.chunks[operation.chunk];
        let back = held.backward(&chunk.part, slope, &self.positions)?;
        if let Some(row) = back.gradients {
            add(&mut chunk.gradient, &row);
        }
        if let Some(by_input) = back.by_input
            && self.place(operation.chunk) > 0
        {
            let row = flat_params::numbers(by_input, self.setup.numbers())?;
            self.send_on(operation, row, endpoint);
        }
        if let Some(pending) = back.pending {
            self.pending.insert(key, pending);
            let waiting = self.pending.values().map(Pending::numbers).sum();
            answer.waiting = answer.waiting.max(waiting);
        }
        if operation.work == Work::Backward {
            self.second_half(operation, endpoint)?;
        }
        Ok(begun)
    }

    /// The gradients of the weights, where they have not been computed yet.
    fn second_half(&mut self, operation: Operation, endpoint: &Endpoint) -> Result<(), CommError> {
        let key = (operation.chunk, operation.microbatch);
        if let Some(pending) = self.pending.remove(&key) {
            endpoint.doing("computing gradients of weights");
            let chunk = &mut self.chunks[operation.chunk];
            let row = flat_params::gradients(&chunk.part, &mut pending.gradients())?;
            add(&mut chunk.gradient, &row);
        }
        Ok(())
    }

    fn update(&mut self, order: &StageOrder, answer: &mut Answer) {
        for chunk in &mut self.chunks {
            let gradient = std::mem::replace(&mut chunk.gradient, vec![0.0; chunk.weights.len()]);
            chunk.optimizer.update(&mut chunk.weights, &gradient, order.rate);
            // What is held keeps the part as it was.
            chunk.part = flat_params::with_weights(chunk.part.clone(), &chunk.weights);
            if order.with_rows && !self.setup.is_asynchronous() {
                answer.gradients.push(gradient);
            }
        }
        self.version += 1;
    }

    fn count(&self, answer: &mut Answer) {
        answer.peak = answer.peak.max(self.held.len());
        let mut versions: Vec<u64> = self.held.values().filter_map(SavedForward::stashed).collect();
        versions.push(self.version);
        versions.sort_unstable();
        versions.dedup();
        answer.versions = answer.versions.max(versions.len());
    }

    /// A tag for messages: each microbatch of each part has one of its own.
    fn index(&self, microbatch: usize, chunk: usize) -> usize {
        microbatch * self.setup.chunks + chunk
    }

    pub(super) fn send_on(&mut self, operation: Operation, row: Vec<f32>, endpoint: &Endpoint) {
        let (stages, chunks) = (self.setup.stages, self.setup.chunks);
        let Some((to, chunk)) = waiting(stages, chunks, self.stage, operation) else { return };
        let what = match operation.work {
            Work::Forward => ACTIVATIONS,
            Work::Backward | Work::BackwardInput | Work::BackwardWeight => GRADIENTS,
        };
        if to == self.stage {
            self.own_messages.insert((chunk, what, operation.microbatch), row);
        } else {
            let index = self.index(operation.microbatch, chunk);
            endpoint.send(to, Tag { what, index }, row);
        }
    }

    /// What the part at place `from` sent, `[sequences, time, width]`, without autodiff.
    pub(super) fn receive_input(
        &mut self,
        operation: Operation,
        what: &'static str,
        from: usize,
        endpoint: &mut Endpoint,
    ) -> Result<Tensor<3>, CommError> {
        let from = from % self.setup.stages;
        let count = self.setup.numbers();
        let row = if from == self.stage {
            let key = (operation.chunk, what, operation.microbatch);
            self.own_messages.remove(&key).ok_or_else(|| {
                CommError::Failed(format!("has no {what} {}", operation.microbatch))
            })?
        } else {
            let index = self.index(operation.microbatch, operation.chunk);
            endpoint.receive_floats(from, Tag { what, index }, count)?
        };
        let shape = [self.setup.sequences, self.setup.config.context, self.setup.config.width];
        Ok(Tensor::from_data(TensorData::new(row, shape), (&self.device, DType::F32)))
    }

    /// The tokens `[sequences, time]` and right answers `[sequences * time]` of a microbatch.
    pub(super) fn examples(
        &self,
        operation: Operation,
        order: &StageOrder,
    ) -> Result<(Tensor<2, Int>, Tensor<1, Int>), CommError> {
        let (first, all) = &*order.examples;
        let place = operation.microbatch.checked_sub(*first);
        let indices = place.and_then(|place| all.get(place)).ok_or_else(|| {
            let microbatch = operation.microbatch;
            CommError::Failed(format!("was not told the examples of microbatch {microbatch}"))
        })?;
        let (inputs, labels) = batch(&self.data.train, indices, &self.device);
        Ok((inputs.tokens(), labels))
    }
}

impl Worker for Stage {
    type Order = StageOrder;
    type Answer = Answer;

    fn act(&mut self, order: StageOrder, endpoint: &mut Endpoint) -> Result<Answer, CommError> {
        let mut answer = Answer::default();
        for &operation in &order.operations {
            let begun = match operation.work {
                Work::Forward => self.forward(operation, &order, endpoint, &mut answer)?,
                Work::Backward | Work::BackwardInput => {
                    self.backward(operation, endpoint, &mut answer)?
                }
                Work::BackwardWeight => {
                    let begun = Instant::now();
                    self.second_half(operation, endpoint)?;
                    begun
                }
            };
            self.count(&mut answer);
            if self.setup.is_asynchronous() && operation.work == Work::Backward {
                self.update(&order, &mut answer);
            }
            let slot = Slot {
                operation,
                start: begun.duration_since(order.begun).as_secs_f64(),
                end: order.begun.elapsed().as_secs_f64(),
            };
            let diary = self.diary.lock();
            diary.unwrap_or_else(PoisonError::into_inner)[self.stage].push(slot);
            answer.slots.push(slot);
        }
        if !self.setup.is_asynchronous() {
            self.update(&order, &mut answer);
        }
        let mut chunks = self.chunks.iter();
        answer.broken = chunks.find_map(|chunk| divergence::check_weights(&chunk.weights));
        if order.with_rows {
            answer.weights = self.chunks.iter().map(|chunk| chunk.weights.clone()).collect();
        }
        Ok(answer)
    }
}

fn add(sum: &mut [f32], row: &[f32]) {
    for (sum, number) in sum.iter_mut().zip(row) {
        *sum += number;
    }
}

pub(super) const ACTIVATIONS: &str = "activations of microbatch";
pub(super) const GRADIENTS: &str = "gradients of microbatch";
