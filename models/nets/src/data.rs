//! Data sets: points in the plane and handwritten digits that the program makes itself, and MNIST-format
//! files from a local folder.
//!
//! The same configuration gives the same bits on every machine. Shapes and noise have streams of their
//! own: a larger noise spreads the same points further, and more samples keep the first ones.

mod batches;
mod digits;
mod error;
mod idx;
mod points;

use std::path::PathBuf;

pub use batches::Batches;
pub use error::{DataError, IdxFault};

use crate::random::Stream;

/// The data sets of the training lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dataset {
    /// Two spiral arms around the origin.
    Spiral,
    /// Two half circles that reach into each other.
    Moons,
    /// A ring around another ring.
    Circles,
    /// Opposite quadrants of a square share a class.
    Xor,
    /// 28x28 grey images of the digits 0 to 9, drawn from strokes.
    Digits,
    /// 28x28 grey images of the digits 0 to 9, read from MNIST-format files.
    Idx,
}

impl Dataset {
    /// The number of classes; labels are 0 to this number less one.
    pub fn classes(self) -> usize {
        if self.is_points() { 2 } else { digits::CLASSES }
    }

    /// Numbers per example: 2 coordinates, or 784 pixels row by row from the top left.
    pub fn features(self) -> usize {
        if self.is_points() {
            points::FEATURES
        } else {
            digits::PIXELS
        }
    }

    /// Whether the examples are points in the plane rather than images.
    pub fn is_points(self) -> bool {
        match self {
            Self::Spiral | Self::Moons | Self::Circles | Self::Xor => true,
            Self::Digits | Self::Idx => false,
        }
    }

    /// Training examples where the learner does not say how many.
    pub fn default_samples(self) -> usize {
        if self.is_points() { 400 } else { 2000 }
    }

    /// Noise where the learner does not say how much; files are taken as they are.
    pub fn default_noise(self) -> f32 {
        match self {
            Self::Spiral | Self::Moons | Self::Circles | Self::Xor => 0.02,
            Self::Digits => 0.1,
            Self::Idx => 0.0,
        }
    }

    /// Examples held out of training; files may have fewer.
    pub fn held_out_samples(self) -> usize {
        if self.is_points() { 400 } else { 500 }
    }
}

/// What to make or read.
#[derive(Clone, Debug, PartialEq)]
pub struct DataConfig {
    /// Which data set.
    pub dataset: Dataset,
    /// Training examples; files may have fewer.
    pub samples: usize,
    /// Standard deviation added to coordinates, or to pixels, which then are cut to [0, 1].
    pub noise: f32,
    /// Digits: how far strokes are turned, scaled, sheared and shifted; 0 draws every 3 alike.
    pub jitter: f32,
    /// Spiral: revolutions of each arm.
    pub turns: f32,
    /// Chooses the examples.
    pub seed: u64,
    /// The folder of the MNIST-format files.
    pub folder: Option<PathBuf>,
}

impl DataConfig {
    /// The data set with its own defaults, from `seed`.
    pub fn new(dataset: Dataset, seed: u64) -> Self {
        Self {
            dataset,
            samples: dataset.default_samples(),
            noise: dataset.default_noise(),
            jitter: 1.0,
            turns: 1.75,
            seed,
            folder: None,
        }
    }
}

/// Examples to train on, and examples of the same distribution held out to judge by.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// To train on.
    pub train: Examples,
    /// Never trained on.
    pub held_out: Examples,
}

/// Labelled examples.
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    /// Inputs, row-major: `[len, features]`.
    pub inputs: Vec<f32>,
    /// The class of each example: `[len]`.
    pub labels: Vec<i32>,
    /// Numbers per example.
    pub features: usize,
}

impl Examples {
    /// The number of examples.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no example.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The inputs of one example.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn input(&self, index: usize) -> &[f32] {
        &self.inputs[index * self.features..][..self.features]
    }

    /// Inputs `[indices.len(), features]` and labels `[indices.len()]` of the examples named, in their order.
    ///
    /// # Panics
    /// If an index is not below [`len`](Self::len).
    pub fn gather(&self, indices: &[usize]) -> (Vec<f32>, Vec<i32>) {
        let mut inputs = Vec::with_capacity(indices.len() * self.features);
        for &index in indices {
            inputs.extend_from_slice(self.input(index));
        }
        let labels = indices.iter().map(|&index| self.labels[index]).collect();
        (inputs, labels)
    }
}

/// Makes or reads the data set. Only [`Dataset::Idx`] touches the disk, and only it can fail.
pub fn load(config: &DataConfig) -> Result<Data, DataError> {
    match config.dataset {
        Dataset::Spiral => Ok(both(config, |part| {
            points::generate(
                points::Shape::Spiral {
                    turns: config.turns,
                },
                part,
            )
        })),
        Dataset::Moons => Ok(both(config, |part| {
            points::generate(points::Shape::Moons, part)
        })),
        Dataset::Circles => Ok(both(config, |part| {
            points::generate(points::Shape::Circles, part)
        })),
        Dataset::Xor => Ok(both(config, |part| {
            points::generate(points::Shape::Xor, part)
        })),
        Dataset::Digits => Ok(both(config, |part| digits::generate(config.jitter, part))),
        Dataset::Idx => idx::load(config),
    }
}

/// One half of a data set to be generated: so many examples with noise, from streams of its own.
struct Part {
    samples: usize,
    noise: f32,
    /// Draws what an example is.
    shape: Stream,
    /// Draws the unit normals that `noise` scales.
    normals: Stream,
}

impl Part {
    fn new(config: &DataConfig, samples: usize, name: &str) -> Self {
        Self {
            samples,
            noise: config.noise,
            shape: Stream::new(config.seed, &format!("data/{name}/shape")),
            normals: Stream::new(config.seed, &format!("data/{name}/noise")),
        }
    }
}

fn both(config: &DataConfig, generate: impl Fn(Part) -> Examples) -> Data {
    Data {
        train: generate(Part::new(config, config.samples, "train")),
        held_out: generate(Part::new(
            config,
            config.dataset.held_out_samples(),
            "held-out",
        )),
    }
}

/// Adds noise to pixels, which stay within [0, 1]. Draws even where noise is 0, so that the draws of one
/// image do not depend on the knob.
fn add_pixel_noise(pixels: &mut [f32], noise: f32, normals: &mut Stream) {
    for pixel in pixels {
        *pixel = (*pixel + noise * normals.normal() as f32).clamp(0.0, 1.0);
    }
}

#[cfg(test)]
mod tests;
