use mlsys_lab::LabError;

use crate::cases::{self, Model};
use crate::data::{DataConfig, Dataset};
use crate::nets::{Activation, Architecture, CnnConfig, MlpConfig, TransformerConfig};
use crate::train::{Knobs, Rule, Timing, UpdateKnobs, unusable};

/// Images that a network learns from, where a lab trains one before it changes it.
const IMAGES: usize = 4000;

/// Classes of digits.
const DIGITS: usize = 10;

/// What to train, and how: Adam on batches of one size, weights as He starts them.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// What it learns.
    pub data: DataConfig,
    /// The network.
    pub architecture: Architecture,
    /// Between its layers.
    pub activation: Activation,
    /// Adam's.
    pub learning_rate: f64,
    /// Examples of a step.
    pub batch_size: usize,
    /// Steps.
    pub steps: u64,
    /// Chooses initial weights and the order of examples; the data have their own, which is the same.
    pub seed: u64,
}

/// The sizes of a transformer that the data do not settle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub width: usize,
    pub depth: usize,
    pub heads: usize,
    pub kv_heads: usize,
    /// Tokens of a training sequence.
    pub context: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { width: 32, depth: 2, heads: 4, kv_heads: 2, context: 32 }
    }
}

impl Recipe {
    /// A reader of digits: a perceptron with one hidden layer of `width` neurons, or two convolutions of `width` and twice
    /// as many channels; 4000 images with jitter 1 and noise 0.1, batches of 64, rate 0.003.
    ///
    /// # Errors
    /// If the model is one for tokens.
    pub fn images(model: Model, width: usize, steps: u64, seed: u64) -> Result<Self, LabError> {
        let data = DataConfig { samples: IMAGES, ..DataConfig::new(Dataset::Digits, seed) };
        let architecture = match model {
            Model::Mlp => Architecture::Mlp(MlpConfig {
                inputs: data.features(),
                hidden: vec![width],
                outputs: DIGITS,
            }),
            Model::Cnn => Architecture::Cnn(CnnConfig {
                edge: data.features().isqrt(),
                width,
                depth: 2,
                outputs: DIGITS,
            }),
            Model::Transformer => {
                return Err(LabError::contradiction(
                    ["dataset", "model"],
                    "a transformer reads sequences of tokens, and digits are images; set dataset to chain, or model to \
                     mlp",
                ));
            }
        };
        Ok(Self {
            data,
            architecture,
            activation: Activation::Relu,
            learning_rate: 0.003,
            batch_size: 64,
            steps,
            seed,
        })
    }

    /// A transformer that foretells the next token of a chain, sums or a text, trained as the presets of lab `train` do.
    ///
    /// # Errors
    /// If the sizes contradict one another, or the data set has no tokens.
    pub fn tokens(dataset: Dataset, sizes: Sizes, steps: u64, seed: u64) -> Result<Self, LabError> {
        let (learning_rate, batch_size) = match dataset {
            Dataset::Chain => (0.003, 16),
            Dataset::Sums => (0.002, 32),
            Dataset::Text => (0.005, 16),
            Dataset::Spiral
            | Dataset::Moons
            | Dataset::Circles
            | Dataset::Xor
            | Dataset::Digits
            | Dataset::Idx => {
                return Err(LabError::contradiction(
                    ["dataset", "model"],
                    "a transformer reads sequences of tokens; set dataset to chain, or model to mlp",
                ));
            }
        };
        let data = DataConfig { context: sizes.context, ..DataConfig::new(dataset, seed) };
        let architecture = cases::transformer(TransformerConfig {
            vocab: data.classes().map_err(unusable)?,
            width: sizes.width,
            depth: sizes.depth,
            heads: sizes.heads,
            kv_heads: sizes.kv_heads,
            ffn: TransformerConfig::gated(sizes.width),
            context: sizes.context,
        })?;
        Ok(Self {
            data,
            architecture,
            activation: Activation::Relu,
            learning_rate,
            batch_size,
            steps,
            seed,
        })
    }

    /// The recipe as the training lab's knobs.
    pub fn knobs(&self) -> Knobs {
        Knobs {
            noise: self.data.noise,
            jitter: self.data.jitter,
            activation: self.activation,
            rule: Rule::Adam,
            update: UpdateKnobs {
                learning_rate: self.learning_rate,
                weight_decay: 0.0,
                gradient_clip: None,
            },
            batch_size: self.batch_size,
            steps: self.steps,
            evaluate_every: self.steps.max(1),
            record_every: self.steps.max(1),
            timing: Timing::Steps,
        }
    }
}
