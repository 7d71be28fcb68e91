//! The matrices, their product as work to be timed, and the proof that it is right.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use burn::tensor::{Tensor, TensorData};
use mlsys_device as device;
use mlsys_device::meter::{Meter, Precision, Workload};
use mlsys_lab::{DeviceId, LabError};
use mlsys_nn::random::Stream;

use super::{Knobs, Shape};

/// Larger than most caches, for a device that does not report the size of its last cache.
const POOL: u64 = 256 << 20;

const MOST_COPIES: u64 = 256;

/// Rows and columns of the sampled entries: 64 in all.
const SAMPLED: usize = 8;

pub(super) struct Matrices {
    id: DeviceId,
    shape: Shape,
    activations: Tensor<2>,
    pub(super) weights: Weights,
}

/// One matrix of weights in several places of the memory, together larger than the last cache. A product takes the next
/// each time, so that its weights come from memory, as in a network of many layers.
#[derive(Clone)]
pub(super) struct Weights {
    rows: usize,
    columns: usize,
    copies: Rc<[Tensor<2>]>,
}

impl Matrices {
    /// Draws them in a precision by a seed; weights of the same shape are taken over.
    pub(super) fn new(
        meter: &Meter,
        id: DeviceId,
        from: (Precision, u64),
        shape: Shape,
        known: Option<Weights>,
    ) -> Result<Self, LabError> {
        let known = known.filter(|w| (w.rows, w.columns) == (shape.k, shape.n));
        let weights = match known {
            Some(weights) => weights,
            None => Weights::new(meter, from, shape)?,
        };
        // The activations on the host and on the device, and the result.
        let (precision, seed) = from;
        meter.must_fit(2 * shape.bytes(precision))?;
        let drawn = draw(seed, "products/activations", shape.m, shape.k);
        let place = (meter.device(), precision.dtype());
        Ok(Self { id, shape, activations: Tensor::from_data(drawn, place), weights })
    }

    /// The largest difference of 64 entries from a product in double precision, over the sum of the terms' sizes.
    pub(super) fn error(&self, seed: u64) -> f64 {
        let Shape { m, n, k, .. } = self.shape;
        let mut stream = Stream::new(seed, "products/sample");
        let mut sample = |of: usize| [(); SAMPLED].map(|()| stream.below(of));
        let (rows, columns) = (sample(m), sample(n));
        let Some(weights) = self.weights.copies.first() else { return 0.0 };
        let result = self.activations.clone().matmul(weights.clone());
        // What the device holds: numbers of 16 bits were rounded on their way there.
        let values = |part: Tensor<2>| part.into_data().iter::<f64>().collect::<Vec<f64>>();
        let columns = columns.map(|j| (j, values(weights.clone().slice([0..k, j..j + 1]))));
        let mut worst = 0.0_f64;
        for i in rows {
            let row = values(self.activations.clone().slice([i..i + 1, 0..k]));
            let found = values(result.clone().slice([i..i + 1, 0..n]));
            for (j, column) in &columns {
                let terms = row.iter().zip(column).map(|(a, b)| a * b);
                let (sum, size) =
                    terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + f64::abs(term)));
                let found = found.get(*j).copied().unwrap_or(f64::NAN);
                let error = (found - sum).abs() / f64::max(size, f64::MIN_POSITIVE);
                // An entry that is no number is as wrong as can be.
                worst = worst.max(if error.is_finite() { error } else { f64::MAX });
            }
        }
        worst
    }

    pub(super) fn work(&self, meter: &Meter, knobs: Rc<Cell<Knobs>>) -> Box<dyn Workload> {
        Box::new(Product {
            device: meter.device().clone(),
            id: self.id,
            activations: self.activations.clone(),
            weights: Rc::clone(&self.weights.copies),
            next: 0,
            flops: self.shape.flops() as f64,
            knobs,
        })
    }
}

impl Weights {
    fn new(
        meter: &Meter,
        (precision, seed): (Precision, u64),
        shape: Shape,
    ) -> Result<Self, LabError> {
        let (rows, columns) = (shape.k, shape.n);
        let bytes = precision.bytes() * rows as u64 * columns as u64;
        let pool = meter.last_cache().map_or(POOL, |cache| 2 * cache);
        let copies = pool.div_ceil(bytes).clamp(1, MOST_COPIES);
        meter.must_fit(copies * bytes + 4 * rows as u64 * columns as u64)?;
        let drawn = draw(seed, "products/weights", rows, columns);
        let place = (meter.device(), precision.dtype());
        Ok(Self {
            rows,
            columns,
            copies: (0..copies).map(|_| Tensor::from_data(drawn.clone(), place)).collect(),
        })
    }
}

fn draw(seed: u64, purpose: &str, rows: usize, columns: usize) -> TensorData {
    let mut stream = Stream::new(seed, purpose);
    let numbers = (0..rows * columns).map(|_| stream.uniform_in(-1.0, 1.0) as f32);
    TensorData::new(numbers.collect::<Vec<f32>>(), [rows, columns])
}

struct Product {
    device: burn::tensor::Device,
    id: DeviceId,
    activations: Tensor<2>,
    weights: Rc<[Tensor<2>]>,
    next: usize,
    flops: f64,
    knobs: Rc<Cell<Knobs>>,
}

impl Workload for Product {
    fn amount(&self) -> f64 {
        self.flops
    }

    fn time(&mut self, passes: u64) -> Result<f64, LabError> {
        device::sync(&self.device, self.id)?;
        let started = Instant::now();
        for _ in 0..passes {
            let weights = self.weights[self.next].clone();
            drop(std::hint::black_box(self.activations.clone().matmul(weights)));
            self.next = (self.next + 1) % self.weights.len();
        }
        let called = started.elapsed();
        device::sync(&self.device, self.id)?;
        let done = started.elapsed();
        let seconds = if self.knobs.get().synchronize { done } else { called };
        Ok(seconds.as_secs_f64())
    }
}
