//! Training: the loop of one step, its optimizers, clocks and measurements, and the evaluation of a network.

pub mod clock;
pub mod evaluate;
pub mod measure;
pub mod memory;
pub mod optimizer;
pub mod pass;
pub mod settings;
pub mod trainer;

pub use evaluate::{EvaluationSet, Verdict, batch};
pub use memory::training_bytes;
pub use optimizer::{Optimizer, Rule, UpdateKnobs};
pub use settings::{Activations, Knobs, Timing, unusable};
pub use trainer::{Measuring, Trainer};
