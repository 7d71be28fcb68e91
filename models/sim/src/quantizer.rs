//! Numbers rounded to few levels and back: integer grids, the levels of 4-bit NormalFloat, and shared centroids; the
//! noise of rounding, and the bytes of rounded weights.
//!
//! The labs `quantize`, `nf4` and `kmeans-quantize` show these functions on a handful of values, and networks are
//! rounded by the same ones. All of them answer for any input: a value that is not finite takes the level zero or the
//! last one, and is left out of ranges and centroids.

mod grid;
mod levels;
#[cfg(test)]
mod tests;

use std::ops::Add;

pub use crate::quantizer::grid::{Calibration, Grid, Scheme, Sign, range};
pub use crate::quantizer::levels::{Codebook, Levels, Listed, cluster_sums, nf4_levels};

/// A matrix of weights as it lies in memory, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    inputs: usize,
    outputs: usize,
    rows: Rows,
}

/// What a row of the memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    Input,
    Output,
}

/// Which weights share one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    Tensor,
    Channel,
    /// Groups of this many neighbours along one output; the last group of an output may be smaller.
    Group(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    /// What each weight is stored as: an integer of its grid, or the place of its level.
    pub codes: Vec<i32>,
    /// What comes back, in the order of the weights.
    pub back: Vec<f32>,
    pub levels: Vec<Levels>,
    matrix: Matrix,
    granularity: Granularity,
    storage: Storage,
}

impl Matrix {
    /// `[inputs, outputs]`, row-major, as layers of neurons and of transformers keep their weights.
    pub fn by_inputs(inputs: usize, outputs: usize) -> Self {
        let rows = Rows::Input;
        Self { inputs, outputs, rows }
    }

    /// `[outputs, inputs]`, row-major, as convolutions keep their weights. Keys and values of a cache lie so too, if a
    /// token's head counts as an output.
    pub fn by_outputs(inputs: usize, outputs: usize) -> Self {
        let rows = Rows::Output;
        Self { inputs, outputs, rows }
    }

    pub fn inputs(&self) -> usize {
        self.inputs
    }

    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The input and the output that a weight joins.
    pub fn place(&self, index: usize) -> (usize, usize) {
        let width = match self.rows {
            Rows::Input => self.outputs,
            Rows::Output => self.inputs,
        };
        let (row, column) = (index / width.max(1), index % width.max(1));
        match self.rows {
            Rows::Input => (row, column),
            Rows::Output => (column, row),
        }
    }

    pub fn index(&self, input: usize, output: usize) -> usize {
        match self.rows {
            Rows::Input => input * self.outputs + output,
            Rows::Output => output * self.inputs + input,
        }
    }
}

impl Granularity {
    /// Groups of one output; of all outputs together for [`Granularity::Tensor`].
    fn groups_each(self, matrix: Matrix) -> usize {
        match self {
            Self::Tensor | Self::Channel => 1,
            Self::Group(size) => matrix.inputs.div_ceil(size.max(1)),
        }
    }

    pub fn groups(self, matrix: Matrix) -> usize {
        match self {
            Self::Tensor => 1,
            Self::Channel | Self::Group(_) => matrix.outputs * self.groups_each(matrix),
        }
    }

    pub fn group(self, matrix: Matrix, index: usize) -> usize {
        let (input, output) = matrix.place(index);
        match self {
            Self::Tensor => 0,
            Self::Channel => output,
            Self::Group(size) => output * self.groups_each(matrix) + input / size.max(1),
        }
    }
}

impl Quantized {
    /// Weights rounded to the integers of `bits` bits, each group with a step of its own that just covers it.
    pub fn linear(
        weights: &[f32],
        matrix: Matrix,
        bits: u32,
        scheme: Scheme,
        granularity: Granularity,
    ) -> Self {
        let grids = ranges(weights, matrix, granularity)
            .into_iter()
            .map(|range| Levels::Even(Grid::over(range, bits, scheme)));
        let mut all = Self::new(weights, matrix, granularity, grids.collect());
        let scales = all.levels.len();
        all.storage = Storage {
            weights: weights.len(),
            bits: grid::usable(bits),
            scales,
            zeros: if scheme == Scheme::Affine { scales } else { 0 },
            centroids: 0,
        };
        all
    }

    /// Weights rounded to the 16 levels of 4-bit NormalFloat (Dettmers et al. 2023), each group divided by its largest.
    pub fn nf4(weights: &[f32], matrix: Matrix, granularity: Granularity) -> Self {
        let levels = ranges(weights, matrix, granularity)
            .into_iter()
            .map(|(least, most)| Levels::Listed(Listed::nf4(most.max(-least))));
        let mut all = Self::new(weights, matrix, granularity, levels.collect());
        all.storage = Storage {
            weights: weights.len(),
            bits: 4,
            scales: all.levels.len(),
            zeros: 0,
            centroids: 0,
        };
        all
    }

    /// Weights that share the centroids of their clusters, one codebook for all of the matrix (Han et al. 2016).
    pub fn kmeans(weights: &[f32], matrix: Matrix, clusters: usize, iterations: usize) -> Self {
        let exact: Vec<f64> = weights.iter().map(|weight| f64::from(*weight)).collect();
        let codebook = Codebook::fit(&exact, Codebook::spread(&exact, clusters), iterations);
        let codes: Vec<i32> = codebook.indices.iter().map(|at| *at as i32).collect();
        let back = codebook.indices.iter();
        let back = back.map(|at| codebook.centroids[*at] as f32).collect();
        let (bits, centroids) = (codebook.index_bits(), codebook.centroids.len());
        Self {
            codes,
            back,
            levels: vec![Levels::Listed(Listed::codebook(codebook.centroids))],
            matrix,
            granularity: Granularity::Tensor,
            storage: Storage { weights: weights.len(), bits, scales: 0, zeros: 0, centroids },
        }
    }

    fn new(weights: &[f32], matrix: Matrix, granularity: Granularity, levels: Vec<Levels>) -> Self {
        let mut codes = Vec::with_capacity(weights.len());
        let mut back = Vec::with_capacity(weights.len());
        for (index, weight) in weights.iter().enumerate() {
            let Some(own) = levels.get(granularity.group(matrix, index)) else { break };
            let code = own.code(*weight);
            codes.push(code);
            back.push(own.value(code));
        }
        Self { codes, back, levels, matrix, granularity, storage: Storage::default() }
    }

    pub fn group(&self, index: usize) -> usize {
        self.granularity.group(self.matrix, index)
    }

    pub fn levels_of(&self, index: usize) -> Option<&Levels> {
        self.levels.get(self.group(index))
    }

    /// The scale of each group; 1 where the levels are the values themselves.
    pub fn scales(&self) -> Vec<f32> {
        self.levels.iter().map(Levels::scale).collect()
    }

    /// The values of a codebook, in the order of the codes; none of other levels.
    pub fn centroids(&self) -> Vec<f64> {
        (0..self.storage.centroids)
            .filter_map(|at| match self.levels.first()? {
                Levels::Even(_) => None,
                Levels::Listed(listed) => Some(listed.value(at)),
            })
            .collect()
    }

    /// Other values for the levels of a codebook, as training moves centroids: each weight keeps its code. Of levels
    /// that are no codebook nothing changes.
    pub fn with_centroids(mut self, centroids: Vec<f64>) -> Self {
        if self.storage.centroids != centroids.len() || centroids.is_empty() {
            return self;
        }
        let value = |code: &i32| centroids.get(*code as usize).map_or(0.0, |c| *c as f32);
        self.back = self.codes.iter().map(value).collect();
        self.levels = vec![Levels::Listed(Listed::codebook(centroids))];
        self
    }

    /// What rounding did to the weights it was made from.
    pub fn noise(&self, weights: &[f32]) -> Noise {
        let mut noise = Noise::default();
        for (index, (weight, back)) in weights.iter().zip(&self.back).enumerate() {
            if let Some(levels) = self.levels_of(index) {
                noise.add(*weight, *back, levels);
            }
        }
        noise
    }

    pub fn storage(&self) -> Storage {
        self.storage
    }
}

/// The least and the greatest value of each group, zero among them.
fn ranges(weights: &[f32], matrix: Matrix, granularity: Granularity) -> Vec<(f64, f64)> {
    let mut ranges = vec![(0.0_f64, 0.0_f64); granularity.groups(matrix)];
    for (index, weight) in weights.iter().enumerate() {
        let weight = f64::from(*weight);
        if let Some((least, most)) = ranges.get_mut(granularity.group(matrix, index))
            && weight.is_finite()
        {
            *least = least.min(weight);
            *most = most.max(weight);
        }
    }
    ranges
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Noise {
    /// Of the squares of the weights.
    pub signal: f64,
    /// Of the squares of the errors.
    pub error: f64,
    /// Of the squares of the steps that weights lie in.
    pub steps: f64,
    /// The largest error in half steps, of weights that are not cut off.
    pub worst: f64,
    /// Weights that lie beyond the last level by more than half a step.
    pub clipped: usize,
    pub weights: usize,
}

impl Noise {
    /// Counts a weight and what came back of it.
    pub fn add(&mut self, weight: f32, back: f32, levels: &Levels) {
        let (exact, error) = (f64::from(weight), f64::from(back) - f64::from(weight));
        if !error.is_finite() {
            return;
        }
        let step = levels.step(weight);
        self.signal += exact * exact;
        self.error += error * error;
        self.steps += step * step;
        self.weights += 1;
        if levels.clips(weight) {
            self.clipped += 1;
        } else if step > 0.0 {
            self.worst = self.worst.max(2.0 * error.abs() / step);
        }
    }

    pub fn and(self, other: Self) -> Self {
        Self {
            signal: self.signal + other.signal,
            error: self.error + other.error,
            steps: self.steps + other.steps,
            worst: self.worst.max(other.worst),
            clipped: self.clipped + other.clipped,
            weights: self.weights + other.weights,
        }
    }

    /// Signal-to-noise ratio in decibels; None if all weights are zero or there is no error.
    pub fn sqnr_db(&self) -> Option<f64> {
        decibels(self.signal, self.error)
    }

    /// The same if errors were uniform over a step, with the variance step²/12.
    pub fn predicted_db(&self) -> Option<f64> {
        decibels(self.signal, self.steps / 12.0)
    }
}

fn decibels(signal: f64, noise: f64) -> Option<f64> {
    let ratio = 10.0 * (signal / noise).log10();
    ratio.is_finite().then_some(ratio)
}

/// Bytes of a scale, a zero point, a centroid.
const NUMBER: usize = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    pub weights: usize,
    pub bits: u32,
    pub scales: usize,
    /// Zero points, one a group if there are any.
    pub zeros: usize,
    pub centroids: usize,
}

/// Bytes of what is stored, kind by kind; matrices of different widths add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    pub weights: usize,
    pub scales: usize,
}

impl Storage {
    /// Packed weights, up to whole bytes, and 4 bytes for each other number.
    pub fn parts(&self) -> Bytes {
        Bytes {
            weights: (self.weights * self.bits as usize).div_ceil(8),
            scales: NUMBER * (self.scales + self.zeros + self.centroids),
        }
    }

    pub fn bytes(&self) -> usize {
        self.parts().all()
    }

    /// Stored bits over weights; 0 without any.
    pub fn bits_per_weight(&self) -> f64 {
        8.0 * self.bytes() as f64 / self.weights.max(1) as f64
    }
}

impl Bytes {
    pub fn all(&self) -> usize {
        self.weights + self.scales
    }
}

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { weights: self.weights + other.weights, scales: self.scales + other.scales }
    }
}
