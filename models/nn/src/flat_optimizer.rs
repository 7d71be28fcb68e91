//! How a row of gradients changes a row of weights: what each worker does to its own shard, be that all or a part.

use mlsys_device::Moments;

/// How a gradient becomes an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The gradient itself.
    Sgd,
    /// A running mean of gradients over the root of their running mean square.
    Adam,
}

/// The names of `optimizer`.
pub const RULES: [(&str, Rule); 2] = [("sgd", Rule::Sgd), ("adam", Rule::Adam)];

/// A rule with its state for one row of weights.
#[derive(Default)]
pub enum Optimizer {
    /// No state.
    #[default]
    Sgd,
    /// Both moments of each weight.
    Adam(Moments),
}

impl Rule {
    /// Numbers kept for every weight.
    pub fn moments(self) -> u64 {
        match self {
            Self::Sgd => 0,
            Self::Adam => 2,
        }
    }
}

impl Optimizer {
    /// The rule with fresh state.
    pub fn new(rule: Rule) -> Self {
        match rule {
            Rule::Sgd => Self::Sgd,
            Rule::Adam => Self::Adam(Moments::default()),
        }
    }

    /// One update of the weights in place. A row of the same length each time.
    pub fn update(&mut self, weights: &mut [f32], gradient: &[f32], rate: f64) {
        match self {
            Self::Sgd => {
                for (weight, slope) in weights.iter_mut().zip(gradient) {
                    *weight -= rate as f32 * slope;
                }
            }
            Self::Adam(moments) => moments.update(weights, gradient, rate as f32),
        }
    }

    /// What is kept of each of so many weights, a row each.
    pub fn state(&mut self, weights: usize) -> Vec<&mut [f32]> {
        match self {
            Self::Sgd => Vec::new(),
            Self::Adam(moments) => moments.rows(weights).into(),
        }
    }

    /// Bytes of the state that is held.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Sgd => 0,
            Self::Adam(moments) => moments.bytes(),
        }
    }
}
