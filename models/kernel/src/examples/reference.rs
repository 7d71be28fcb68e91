//! What the built-in kernels should write, computed the plain way in 64 bits.

use crate::examples::{Example, Problem, Sizes};
use crate::types::Scalar;
use crate::{Launch, recipe};

/// What should be in each element of an output.
pub(crate) struct Reference {
    pub(crate) count: usize,
    element: Box<dyn Fn(usize) -> f64 + Sync>,
}

impl Reference {
    fn new(count: usize, element: impl Fn(usize) -> f64 + Sync + 'static) -> Self {
        Self { count, element: Box::new(element) }
    }

    pub(crate) fn listed(elements: Vec<f64>) -> Self {
        Self::new(elements.len(), move |i| elements[i])
    }

    /// An element below `count`.
    pub(crate) fn element(&self, index: usize) -> f64 {
        (self.element)(index)
    }
}

impl Example {
    pub(crate) fn reference(&self, sizes: Sizes, launch: &Launch) -> Reference {
        let Sizes { rows, columns, radius, .. } = sizes;
        let count = self.outputs(sizes, launch);
        let inputs = self.inputs(sizes).into_iter();
        let mut inputs =
            inputs.map(|(count, fill)| recipe::values(&fill, Scalar::Float, count).numbers());
        let a = inputs.next().unwrap_or_default();
        // An example of one input has no `b`.
        let b = inputs.next().unwrap_or_default();
        match self.problem {
            Problem::VectorAdd => Reference::new(count, move |i| a[i] + b[i]),
            Problem::Brighten => Reference::new(count, move |i| (1.5 * a[i]).min(255.0)),
            Problem::WindowSum | Problem::SharedWindowSum => {
                Reference::new(count, move |i| a[i..=i + 2 * radius].iter().sum())
            }
            Problem::Reduce => {
                let block = launch.threads_per_block() as usize;
                Reference::new(count, move |i| a.iter().skip(i * block).take(block).sum())
            }
            Problem::Transpose => Reference::new(count, move |i| a[i % rows * columns + i / rows]),
            Problem::Matmul => Reference::new(count, move |i| {
                (0..columns).map(|k| a[i / rows * columns + k] * b[k * rows + i % rows]).sum()
            }),
            Problem::Softmax => {
                let row = |row: &[f64]| -> Vec<f64> {
                    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
                    row.iter().map(|x| (x - largest).exp() / sum).collect()
                };
                Reference::listed(a.chunks(columns).flat_map(row).collect())
            }
        }
    }
}
