//! One worker that does everything, on a thread of its own, and how far another run is from it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use burn::tensor::Device;
use mlsys_lab::{DeviceId, LabError};

use super::model::{self, Model};
use super::transport::{CommError, Endpoint};
use super::worker_pool::{Worker, WorkerContext, WorkerPool, WorkerSpec};
use crate::StepError;
use mlsys_nn::data::Data;
use mlsys_nn::flat_params::{self, Optimizer, Rule};
use mlsys_nn::networks::Network;

pub struct Reference {
    pool: WorkerPool<SingleWorker>,
}

pub struct Step {
    /// Mean over the whole batch, before the update.
    pub loss: f64,
    pub gradient: Vec<f32>,
    pub weights: Vec<f32>,
    pub seconds: f64,
}

struct SingleWorker {
    network: Network,
    weights: Vec<f32>,
    optimizer: Optimizer,
    data: Arc<Data>,
    /// With autodiff.
    device: Device,
}

impl Reference {
    pub fn start(
        id: DeviceId,
        context: WorkerContext,
        model: &Model,
        rule: Rule,
        timeout: Duration,
    ) -> Result<Self, LabError> {
        let model = model.clone();
        let make = move |spec: WorkerSpec| {
            let device = spec.device.autodiff();
            let network = model.network(&device);
            Ok(SingleWorker {
                weights: flat_params::weights(&network)?,
                network,
                optimizer: Optimizer::new(rule),
                data: Arc::clone(&model.data),
                device,
            })
        };
        Ok(Self { pool: WorkerPool::start(id, vec![context], timeout, make)? })
    }

    pub fn set_timeout(&self, timeout: Duration) {
        self.pool.set_timeout(timeout);
    }

    pub fn step(
        &mut self,
        step: u64,
        indices: &[usize],
        rate: f64,
        interrupted: impl Fn() -> bool,
    ) -> Result<Step, StepError> {
        let mut answers = self.pool.act(step, [(indices.to_vec(), rate)], interrupted)?;
        answers.pop().ok_or(StepError::Stopped)
    }
}

impl Worker for SingleWorker {
    /// The examples of the whole batch, and the step size.
    type Order = (Vec<usize>, f64);
    type Answer = Step;

    fn act(
        &mut self,
        (indices, rate): (Vec<usize>, f64),
        endpoint: &mut Endpoint,
    ) -> Result<Step, CommError> {
        endpoint.doing("computing the gradient of the whole batch");
        let begun = Instant::now();
        let (loss, gradient) =
            model::gradient(&self.network, &self.data.train, &indices, &self.device)?;
        self.optimizer.update(&mut self.weights, &gradient, rate);
        self.network = flat_params::with_weights(self.network.take(), &self.weights);
        Ok(Step {
            loss,
            gradient,
            weights: self.weights.clone(),
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}

/// The largest |difference| of two rows; infinite where one of them has no number, or where they are not of one length.
pub fn difference(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    a.iter().zip(b).fold(0.0, |most: f64, (a, b)| {
        let difference = (f64::from(*a) - f64::from(*b)).abs();
        if difference.is_nan() { f64::INFINITY } else { most.max(difference) }
    })
}

/// The largest |difference| of `a` to `b`, over the largest |b|; 0 where both are zero.
pub fn relative_difference(a: &[f32], b: &[f32]) -> f64 {
    let largest = b.iter().fold(0.0, |most: f64, b| most.max(f64::from(*b).abs()));
    let difference = difference(a, b);
    if difference == 0.0 { 0.0 } else { difference / largest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_maxima_and_nan_is_infinite() {
        assert_eq!(difference(&[1.0, 5.0], &[1.5, 2.0]), 3.0);
        assert_eq!(relative_difference(&[1.0, 5.0], &[1.5, -6.0]), 11.0 / 6.0);
        assert_eq!(relative_difference(&[0.0], &[0.0]), 0.0);
        assert_eq!(difference(&[f32::NAN], &[1.0]), f64::INFINITY);
        assert_eq!(difference(&[1.0], &[1.0, 2.0]), f64::INFINITY);
    }
}
