//! Numbers rounded to few levels and back: integer grids, the levels of 4-bit NormalFloat, and shared centroids.
//!
//! The labs `quantize`, `nf4` and `kmeans-quantize` show these functions on a handful of values, and networks are
//! rounded by the same ones. All of them answer whatever they are given: a value that is not finite takes the level zero
//! or the last one, and is left out where a range or centroids are sought.

mod calibrate;
mod codebook;
mod grid;
mod levels;
mod noise;
mod storage;
#[cfg(test)]
mod tests;

pub use calibrate::Calibration;
pub use codebook::{Codebook, cluster_sums};
pub use grid::{Grid, Scheme, Sign};
pub use levels::{Levels, Listed};
pub use noise::Noise;
pub use storage::{Bytes, Storage};

pub use grid::range;
pub use levels::nf4_levels;

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
    /// The weights of one input.
    Input,
    /// The weights of one output.
    Output,
}

/// Which weights share one scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// All of a matrix.
    Tensor,
    /// Those of one output.
    Channel,
    /// So many neighbours among those of one output; the last group of an output may be smaller.
    Group(usize),
}

/// A matrix rounded to few levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    /// What each weight is stored as: an integer of its grid, or the place of its level.
    pub codes: Vec<i32>,
    /// What comes back, in the order of the weights.
    pub back: Vec<f32>,
    /// The levels of each group.
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

    /// Weights of one output.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Outputs.
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

    /// The weight that joins an input and an output.
    pub fn index(&self, input: usize, output: usize) -> usize {
        match self.rows {
            Rows::Input => input * self.outputs + output,
            Rows::Output => output * self.inputs + input,
        }
    }
}

impl Granularity {
    /// By its name among parameters; `size` is that of a group.
    pub fn named(name: &str, size: usize) -> Option<Self> {
        match name {
            "tensor" => Some(Self::Tensor),
            "channel" => Some(Self::Channel),
            "group" => Some(Self::Group(size.max(1))),
            _ => None,
        }
    }

    /// Groups of one output; of all outputs together for [`Granularity::Tensor`].
    fn groups_each(self, matrix: Matrix) -> usize {
        match self {
            Self::Tensor | Self::Channel => 1,
            Self::Group(size) => matrix.inputs.div_ceil(size.max(1)),
        }
    }

    /// Scales of a matrix.
    pub fn groups(self, matrix: Matrix) -> usize {
        match self {
            Self::Tensor => 1,
            Self::Channel | Self::Group(_) => matrix.outputs * self.groups_each(matrix),
        }
    }

    /// The group that a weight belongs to.
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
        let mut all = Self::of(weights, matrix, granularity, grids.collect());
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
        let mut all = Self::of(weights, matrix, granularity, levels.collect());
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

    fn of(weights: &[f32], matrix: Matrix, granularity: Granularity, levels: Vec<Levels>) -> Self {
        let mut codes = Vec::with_capacity(weights.len());
        let mut back = Vec::with_capacity(weights.len());
        for (index, weight) in weights.iter().enumerate() {
            let Some(own) = levels.get(granularity.group(matrix, index)) else {
                break;
            };
            let code = own.code(*weight);
            codes.push(code);
            back.push(own.value(code));
        }
        Self { codes, back, levels, matrix, granularity, storage: Storage::default() }
    }

    /// The group that a weight belongs to.
    pub fn group(&self, index: usize) -> usize {
        self.granularity.group(self.matrix, index)
    }

    /// The levels that a weight may take.
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

    /// What has to be stored.
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
