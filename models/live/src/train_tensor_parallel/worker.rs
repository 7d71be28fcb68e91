//! One rank: its part of the weights, and a step with them.

use std::sync::Arc;

use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor};
use mlsys_distributed::model;
use mlsys_distributed::transport::{CommError, Endpoint};
use mlsys_distributed::worker_pool::{Worker, WorkerSpec};
use mlsys_nn::data::Data;
use mlsys_nn::flat_params::Optimizer;
use mlsys_nn::networks::{Positions, Transformer, TransformerConfig, cross_entropy};
use mlsys_nn::train::batch;
use mlsys_nn::{divergence, flat_params};

use super::collectives::{CollectiveCounts, Collectives};
use super::cut_pass::{WeightSlopes, leaf, slope_of};
use super::layout::Layout;
use super::params::{Mode, Setup, Sums};
use super::{cut_pass, ring};

#[derive(Clone)]
pub(super) struct StepOrder {
    pub(super) indices: Arc<[usize]>,
    pub(super) learning_rate: f64,
    pub(super) sums: Sums,
    /// Whether the answer has all that can be compared.
    pub(super) with_details: bool,
    /// All weights to begin from, in place of those that it has.
    pub(super) from: Option<Arc<[f32]>>,
}

pub(super) struct Answer {
    /// The mean loss over its own tokens, times their share of all.
    pub(super) loss: f64,
    pub(super) done: CollectiveCounts,
    /// A few numbers of what it gave to the first sum of the step, where there is one.
    pub(super) samples: Vec<f32>,
    /// Why its weights are of no use any more.
    pub(super) broken: Option<&'static str>,
    pub(super) details: Option<StepDetails>,
}

pub(super) struct StepDetails {
    /// The scores of its tokens, `[batch, own, vocab]`.
    pub(super) logits: Vec<f32>,
    pub(super) gradient: Vec<f32>,
    pub(super) weights: Vec<f32>,
}

/// A rank. With a single one nothing is cut, and it runs the transformer as it is.
pub(super) struct Rank {
    rank: usize,
    ranks: usize,
    mode: Mode,
    config: TransformerConfig,
    layout: Layout,
    weights: Vec<f32>,
    network: Transformer,
    optimizer: Optimizer,
    /// Whether each rank has trained the weights that it has whole, and what the optimizer keeps of them, on rows of its own.
    are_apart: bool,
    data: Arc<Data>,
    /// With autodiff.
    device: Device,
}

/// The tokens of a step that a rank has, with what comes after each.
struct OwnTokens {
    /// `[batch, own]`
    tokens: Tensor<2, Int>,
    /// `[batch * own]`
    labels: Tensor<1, Int>,
    batch: usize,
    own: usize,
}

struct StepResult {
    loss: f64,
    logits: Tensor<2>,
    gradient: Vec<f32>,
}

impl Rank {
    pub(super) fn new(spec: &WorkerSpec, setup: &Setup, whole: &[f32], data: &Arc<Data>) -> Self {
        let layout = Layout::new(&setup.config, setup.mode, spec.workers);
        let device = spec.device.clone().autodiff();
        let weights = layout.part(whole, spec.rank);
        Self {
            rank: spec.rank,
            ranks: spec.workers,
            mode: setup.mode,
            config: setup.config.clone(),
            network: layout.build(&weights, &device),
            layout,
            weights,
            optimizer: Optimizer::new(setup.rule),
            are_apart: false,
            data: Arc::clone(data),
            device,
        }
    }

    fn own_tokens(&self, indices: &[usize]) -> OwnTokens {
        let (inputs, labels) = batch(&self.data.train, indices, &self.device);
        let tokens = inputs.tokens();
        let [batch, time] = tokens.dims();
        let is_cut = self.mode.cuts_tokens();
        let own = if is_cut { time / self.ranks } else { time };
        let first = if is_cut { self.rank * own } else { 0 };
        let labels = labels.reshape([batch, time]).narrow(1, first, own).flatten(0, 1);
        OwnTokens { tokens: tokens.narrow(1, first, own), labels, batch, own }
    }

    fn alone(&self, own: OwnTokens) -> Result<StepResult, CommError> {
        let logits = self.network.forward(own.tokens).flatten(0, 1);
        let loss = cross_entropy(logits.clone(), own.labels);
        let mut slopes = GradientsParams::from_grads(loss.backward(), &self.network);
        Ok(StepResult {
            loss: model::number(loss)?,
            logits: logits.without_autodiff(),
            gradient: flat_params::gradients(&self.network, &mut slopes)?,
        })
    }

    fn with_others(
        &self,
        own: OwnTokens,
        sums: Sums,
        collectives: &mut Collectives<'_>,
    ) -> Result<StepResult, CommError> {
        let network = &self.network;
        let OwnTokens { tokens, labels, batch, own } = own;
        let width = self.config.width;
        let embedded: Tensor<2> = network.embed(tokens).flatten(0, 1);
        let (first, time) = match self.mode {
            Mode::Tensor | Mode::TensorSequence => (0, self.config.context),
            Mode::Context => (self.rank * own, own),
        };
        let dtype = embedded.dtype();
        let at = Positions::from_position(first, time, self.config.rotary(), dtype, &self.device);
        let x = embedded.clone().without_autodiff();
        let mut slopes = WeightSlopes::none();

        // The end of the network is every rank's own: the mean over its tokens counts for their share.
        let share = if self.mode.cuts_tokens() { 1.0 / self.ranks as f64 } else { 1.0 };
        let mut end = |x: Tensor<2>| -> Result<(f64, Tensor<2>, Tensor<2>), CommError> {
            let last = leaf(x);
            let logits = network.read(last.clone().reshape([batch, own, width]));
            let logits: Tensor<2> = logits.flatten(0, 1);
            let loss = cross_entropy(logits.clone(), labels.clone()) * share;
            let mut gradients = loss.backward();
            let slope = slope_of(&last, &mut gradients)?;
            slopes.take(network, &mut gradients);
            Ok((model::number(loss)?, logits.without_autodiff(), slope))
        };
        let (loss, logits, slope) = match self.mode {
            Mode::Tensor | Mode::TensorSequence => {
                let mut pass =
                    cut_pass::CutPass { network, collectives, mode: self.mode, sums, batch };
                let (x, saved) = pass.forward(x, &at)?;
                let (loss, logits, slope) = end(x)?;
                (loss, logits, pass.backward(saved, slope, &mut slopes)?)
            }
            Mode::Context => {
                let mut pass = ring::ContextPass { network, collectives, batch };
                let (x, saved) = pass.forward(x, &at)?;
                let (loss, logits, slope) = end(x)?;
                (loss, logits, pass.backward(saved, slope, &mut slopes)?)
            }
        };
        slopes.take(network, &mut (embedded * slope).sum().backward());
        let mut gradient = slopes.row(network)?;
        self.sum_shared(&mut gradient, collectives)?;
        Ok(StepResult { loss, logits, gradient })
    }

    /// Makes the weights that each rank has whole the same on all again, once sums are done again: those of rank 0.
    /// Without sums each rank goes on with rows of its own, and finds another gradient by them than the others.
    fn agree(&mut self, sums: Sums, collectives: &mut Collectives<'_>) -> Result<(), CommError> {
        if sums == Sums::LeftOut {
            self.are_apart |= self.mode == Mode::Tensor;
        } else if std::mem::take(&mut self.are_apart) {
            collectives.doing("making the weights that all have the same again");
            let whole = self.layout.replicated();
            let state = self.optimizer.state(self.weights.len());
            for row in std::iter::once(self.weights.as_mut_slice()).chain(state) {
                let mut numbers = flat_params::gather(row, &whole);
                collectives.spread(&mut numbers)?;
                flat_params::scatter(row, &whole, &numbers);
            }
            self.network = flat_params::with_weights(self.network.clone(), &self.weights);
        }
        Ok(())
    }

    fn sum_shared(
        &self,
        gradient: &mut [f32],
        collectives: &mut Collectives<'_>,
    ) -> Result<(), CommError> {
        let shared = self.layout.shared();
        if shared.is_empty() {
            return Ok(());
        }
        collectives.doing("summing gradients of the weights that all have");
        let mut row = flat_params::gather(gradient, &shared);
        collectives.sum(&mut row)?;
        flat_params::scatter(gradient, &shared, &row);
        Ok(())
    }
}

impl Worker for Rank {
    type Order = StepOrder;
    type Answer = Answer;

    fn act(&mut self, order: StepOrder, endpoint: &mut Endpoint) -> Result<Answer, CommError> {
        if let Some(whole) = order.from {
            self.weights = self.layout.part(&whole, self.rank);
            self.network = flat_params::with_weights(self.network.clone(), &self.weights);
        }
        let own = self.own_tokens(&order.indices);
        let mut collectives = Collectives::new(endpoint, self.device.clone().without_autodiff());
        let passed = if self.ranks == 1 {
            collectives.doing("computing both passes of the whole batch");
            self.alone(own)?
        } else {
            self.agree(order.sums, &mut collectives)?;
            self.with_others(own, order.sums, &mut collectives)?
        };
        collectives.doing("changing its weights");
        let rate = order.learning_rate;
        self.optimizer.update(&mut self.weights, &passed.gradient, rate);
        self.network = flat_params::with_weights(self.network.clone(), &self.weights);
        let details = if order.with_details {
            let [rows, vocab] = passed.logits.dims();
            Some(StepDetails {
                logits: flat_params::numbers(passed.logits, rows * vocab)?,
                gradient: passed.gradient,
                weights: self.weights.clone(),
            })
        } else {
            None
        };
        Ok(Answer {
            loss: passed.loss,
            done: collectives.done,
            samples: collectives.samples,
            broken: divergence::check_weights(&self.weights),
            details,
        })
    }
}
