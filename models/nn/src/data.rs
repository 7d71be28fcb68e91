//! Data sets: points in the plane, handwritten digits and sequences that the program makes itself, MNIST-format
//! files from a local folder, and text.
//!
//! The same configuration gives the same bits on every machine. Shapes and noise have streams of their
//! own: a larger noise spreads the same points further, and more samples keep the first ones.

pub use crate::data::error::{CorpusFault, DataError, IdxFault};
pub use crate::data::examples::{Batch, Batches, Examples, Labelled, Numbers, Sequence};
pub use crate::data::language::{Language, Vocabulary};
pub use crate::data::sequences::Answers;
use crate::random::{Stream, exact};
use mlsys_lab::named_enum;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::path::PathBuf;
use std::sync::Arc;

mod digits;
mod error;
mod examples;
mod idx;
mod language;
mod sequences;
pub mod tokenizer;

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Dataset {
        Spiral = "spiral",
        /// Two half circles that reach into each other.
        Moons = "moons",
        Circles = "circles",
        /// Opposite quadrants of a square share a class.
        Xor = "xor",
        /// 28x28 grey images of the digits 0 to 9, drawn from strokes.
        Digits = "digits",
        /// 28x28 grey images of the digits 0 to 9, read from MNIST-format files.
        Idx = "idx",
        /// Symbols, each drawn by the one before it.
        Chain = "chain",
        /// Lines such as 17+25=42.
        Sums = "sums",
        Text = "text",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    Points,
    Images,
    /// Tokens in a row, each to be foretold from those before it.
    Tokens,
}

impl Dataset {
    pub fn form(self) -> Form {
        match self {
            Self::Spiral | Self::Moons | Self::Circles | Self::Xor => Form::Points,
            Self::Digits | Self::Idx => Form::Images,
            Self::Chain | Self::Sums | Self::Text => Form::Tokens,
        }
    }

    pub fn is_points(self) -> bool {
        self.form() == Form::Points
    }

    /// Training examples (tokens for sequences, where a text is taken whole) and noise where the learner does not say how
    /// much; files and sequences are taken as they are.
    fn defaults(self) -> (usize, f32) {
        match self {
            Self::Spiral | Self::Moons | Self::Circles | Self::Xor => (400, 0.02),
            Self::Digits => (2000, 0.1),
            Self::Idx => (2000, 0.0),
            Self::Chain => (20_000, 0.0),
            Self::Sums => (100_000, 0.0),
            Self::Text => (usize::MAX, 0.0),
        }
    }

    pub fn default_noise(self) -> f32 {
        self.defaults().1
    }

    /// Examples held out of training, tokens for sequences; files may have fewer, and of a text it is the last tenth.
    pub fn held_out_samples(self) -> usize {
        match self.form() {
            Form::Points => 400,
            Form::Images => 500,
            Form::Tokens => 5000,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct DataConfig {
    pub dataset: Dataset,
    /// Training examples; files may have fewer.
    pub samples: usize,
    /// Standard deviation added to coordinates, or to pixels, which then are cut to [0, 1].
    pub noise: f32,
    /// Digits: how far strokes are turned, scaled, sheared and shifted; 0 draws every 3 alike.
    pub jitter: f32,
    /// Spiral: revolutions of each arm.
    pub turns: f32,
    pub seed: u64,
    pub folder: Option<PathBuf>,
    pub symbols: usize,
    pub context: usize,
    /// Text: another text than the program's own.
    pub corpus: Option<String>,
    /// Text: the tokens of a model that was trained elsewhere; without one each character is a token.
    pub tokenizer: Option<Arc<Vocabulary>>,
}

impl DataConfig {
    pub fn new(dataset: Dataset, seed: u64) -> Self {
        let (samples, noise) = dataset.defaults();
        Self {
            dataset,
            samples,
            noise,
            jitter: 1.0,
            turns: 1.75,
            seed,
            folder: None,
            symbols: 64,
            context: 32,
            corpus: None,
            tokenizer: None,
        }
    }

    /// Numbers per example: 2 coordinates, 784 pixels row by row from the top left, or `context` tokens.
    pub fn features(&self) -> usize {
        match self.dataset.form() {
            Form::Points => FEATURES,
            Form::Images => digits::PIXELS,
            Form::Tokens => self.context,
        }
    }

    /// The number of classes, which are the vocabulary of a sequence; labels are 0 to this number less one.
    pub fn classes(&self) -> Result<usize, DataError> {
        Ok(match self.dataset {
            Dataset::Spiral | Dataset::Moons | Dataset::Circles | Dataset::Xor => 2,
            Dataset::Digits | Dataset::Idx => digits::CLASSES,
            Dataset::Chain => self.symbols,
            Dataset::Sums => sequences::sums_vocabulary().len(),
            Dataset::Text => match &self.tokenizer {
                Some(tokenizer) => tokenizer.len(),
                None => sequences::text_vocabulary(self.corpus.as_deref())?.len(),
            },
        })
    }
}

/// Examples to train on, and examples of the same distribution held out to judge by.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    pub train: Examples,
    pub held_out: Examples,
    /// What is known of a sequence's tokens.
    pub language: Option<Language>,
}

impl Data {
    fn labelled(train: Labelled, held_out: Labelled) -> Self {
        let [train, held_out] = [train, held_out].map(Examples::Labelled);
        Self { train, held_out, language: None }
    }
}

/// Makes or reads the data set. Only [`Dataset::Idx`] touches the disk; it can fail, and sequences can be too short.
pub fn load(config: &DataConfig) -> Result<Data, DataError> {
    match config.dataset {
        Dataset::Spiral | Dataset::Moons | Dataset::Circles | Dataset::Xor | Dataset::Digits => {
            let train = generate(config, config.samples, "train");
            let held_out = generate(config, config.dataset.held_out_samples(), "held-out");
            Ok(Data::labelled(train, held_out))
        }
        Dataset::Idx => idx::load(config),
        Dataset::Chain => language::data(config, sequences::chain(config)),
        Dataset::Sums => language::data(config, sequences::sums(config)),
        Dataset::Text => language::data(config, sequences::text(config)?),
    }
}

/// `count` examples that are in no training set: the first of them are those held out of `load`. Of files and sequences,
/// whose held-out half is all there is, that half.
pub fn fresh(config: &DataConfig, count: usize) -> Result<Examples, DataError> {
    match config.dataset {
        Dataset::Spiral | Dataset::Moons | Dataset::Circles | Dataset::Xor | Dataset::Digits => {
            Ok(Examples::Labelled(generate(config, count, "held-out")))
        }
        Dataset::Idx | Dataset::Chain | Dataset::Sums | Dataset::Text => Ok(load(config)?.held_out),
    }
}

fn generate(config: &DataConfig, samples: usize, name: &str) -> Labelled {
    let part = SplitSpec {
        samples,
        noise: config.noise,
        shape: Stream::new(config.seed, &format!("data/{name}/shape")),
        normals: Stream::new(config.seed, &format!("data/{name}/noise")),
    };
    let shape = match config.dataset {
        Dataset::Spiral => Shape::Spiral { turns: config.turns },
        Dataset::Moons => Shape::Moons,
        Dataset::Circles => Shape::Circles,
        Dataset::Xor => Shape::Xor,
        Dataset::Digits | Dataset::Idx | Dataset::Chain | Dataset::Sums | Dataset::Text => {
            return digits::generate(config.jitter, part);
        }
    };
    generate_points(shape, part)
}

struct SplitSpec {
    samples: usize,
    noise: f32,
    /// Draws what an example is.
    shape: Stream,
    /// Draws the unit normals that `noise` scales.
    normals: Stream,
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

// Two classes of points in the plane, within about [-1, 1] before noise; classes alternate, for balance.

const FEATURES: usize = 2;

#[derive(Clone, Copy)]
enum Shape {
    Spiral { turns: f32 },
    Moons,
    Circles,
    Xor,
}

fn generate_points(shape: Shape, mut part: SplitSpec) -> Labelled {
    let noise = f64::from(part.noise);
    let mut inputs = Vec::with_capacity(part.samples * FEATURES);
    let mut labels = Vec::with_capacity(part.samples);
    for index in 0..part.samples {
        let class = index % 2;
        for coordinate in point(shape, class, &mut part.shape) {
            inputs.push((coordinate + noise * part.normals.normal()) as f32);
        }
        labels.push(class as i32);
    }
    Labelled { inputs, labels, features: FEATURES }
}

fn point(shape: Shape, class: usize, stream: &mut Stream) -> [f64; 2] {
    let second = class as f64;
    match shape {
        Shape::Spiral { turns } => {
            // An arm's length grows as the square of the radius: the root spreads points evenly along it.
            let along = stream.uniform().sqrt();
            // The arms would touch at the origin.
            let radius = SPIRAL_HOLE + (1.0 - SPIRAL_HOLE) * along;
            on_circle(radius, 2.0 * PI * f64::from(turns) * along + PI * second)
        }
        Shape::Moons => {
            let [x, y] = on_circle(1.0, PI * stream.uniform());
            let [x, y] = if class == 0 { [x, y] } else { [1.0 - x, 0.5 - y] };
            // Together the moons span [-1, 2] x [-0.5, 1].
            [(x - 0.5) / 1.5, (y - 0.25) / 1.5]
        }
        Shape::Circles => on_circle(1.0 - 0.5 * second, 2.0 * PI * stream.uniform()),
        Shape::Xor => {
            let right = stream.below(2) == 1;
            let [x, y] = [(); 2].map(|()| stream.uniform_in(XOR_GAP, 1.0));
            let above = right == (class == 0);
            [if right { x } else { -x }, if above { y } else { -y }]
        }
    }
}

const SPIRAL_HOLE: f64 = 0.1;
const XOR_GAP: f64 = 0.06;

fn on_circle(radius: f64, angle: f64) -> [f64; 2] {
    let (sine, cosine) = exact::sin_cos(angle);
    [radius * cosine, radius * sine]
}
