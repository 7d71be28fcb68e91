use crate::baseline::Trained;
use crate::cases::Model;
use crate::data::{Batches, DataConfig, Dataset};
use crate::memory_budget::MemoryBudget;
use crate::networks::{
    Activation, Architecture, CnnConfig, Initialization, MlpConfig, TransformerConfig, Variant,
};
use crate::train::{
    Activations, Knobs, Measuring, Rule, Timing, Trainer, UpdateKnobs, data_error, training_bytes,
};
use crate::{cases, data, flat_params};
use mlsys_device as device;
use mlsys_lab::{DeviceId, LabError};
use serde::Deserialize;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

/// Images that a network learns from, where a lab trains one before it changes it.
const IMAGES: usize = 4000;

const DIGITS: usize = 10;

/// What to train, and how: Adam on batches of one size, weights as He starts them.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    pub data: DataConfig,
    pub architecture: Architecture,
    pub activation: Activation,
    pub learning_rate: f64,
    pub batch_size: usize,
    pub steps: u64,
    /// Chooses initial weights and the order of examples; the data have their own, which is the same.
    pub seed: u64,
}

/// The sizes of a transformer that the data do not settle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Sizes {
    pub width: usize,
    pub depth: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub context: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { width: 32, depth: 2, heads: 4, kv_heads: 2, context: 32 }
    }
}

impl Sizes {
    /// A transformer of these sizes with a gated layer of the usual width.
    pub fn config(self, vocab: usize) -> TransformerConfig {
        let Self { width, depth, heads, kv_heads, context } = self;
        let ffn = TransformerConfig::gated(width);
        let variant = Variant::default();
        TransformerConfig { vocab, width, depth, heads, kv_heads, ffn, context, variant }
    }
}

impl Recipe {
    /// A reader of digits: a perceptron with one hidden layer of `width` neurons, or two convolutions of `width` and twice
    /// as many channels; 4000 images with jitter 1 and noise 0.1, batches of 64, rate 0.003.
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
        let (activation, learning_rate, batch_size) = (Activation::Relu, 0.003, 64);
        Ok(Self { data, architecture, activation, learning_rate, batch_size, steps, seed })
    }

    /// The same with this much noise on each pixel.
    pub fn with_noise(self, noise: f32) -> Self {
        Self { data: DataConfig { noise, ..self.data }, ..self }
    }

    /// A transformer that foretells the next token of a chain, sums or a text, trained as the presets of lab `train` do.
    pub fn tokens(dataset: Dataset, sizes: Sizes, steps: u64, seed: u64) -> Result<Self, LabError> {
        const SETTINGS: [(Dataset, f64, usize); 3] =
            [(Dataset::Chain, 0.003, 16), (Dataset::Sums, 0.002, 32), (Dataset::Text, 0.005, 16)];
        let settings = SETTINGS.into_iter().find(|(known, _, _)| *known == dataset);
        let Some((_, learning_rate, batch_size)) = settings else {
            return Err(LabError::contradiction(
                ["dataset", "model"],
                "a transformer reads sequences of tokens; set dataset to chain, or model to mlp",
            ));
        };
        let data = DataConfig { context: sizes.context, ..DataConfig::new(dataset, seed) };
        let config = sizes.config(data.classes().map_err(data_error)?);
        let (architecture, activation) = (cases::transformer(config)?, Activation::Relu);
        Ok(Self { data, architecture, activation, learning_rate, batch_size, steps, seed })
    }

    pub fn knobs(&self) -> Knobs {
        Knobs {
            noise: self.data.noise,
            jitter: self.data.jitter,
            activation: self.activation,
            rule: Rule::Adam,
            update: UpdateKnobs::at_rate(self.learning_rate),
            batch_size: self.batch_size,
            steps: self.steps,
            evaluate_every: self.steps.max(1),
            record_every: self.steps.max(1),
            timing: Timing::Steps,
        }
    }
}

// What has been trained in this process, by recipe and device. The first caller trains; the others wait.

/// Networks that are kept; the oldest goes first. A lesson has a few, and a small one takes half a megabyte.
const MOST: usize = 24;

/// How often a run that waits for another's training looks whether it is to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

static CACHE: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

struct Entry {
    recipe: Recipe,
    device: DeviceId,
    /// Locked while it is being trained; empty before that, and where training failed or was ended.
    trained: Arc<Mutex<Option<Arc<Trained>>>>,
}

/// The network of a recipe. `has_next` is asked before each step, and now and then while another thread trains it; none if
/// it says no. `smaller` names the parameters of its size, for the message that memory is short.
pub(super) fn cached(
    recipe: &Recipe,
    device: DeviceId,
    smaller: &str,
    has_next: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Arc<Trained>>, LabError> {
    let place = cache_place(recipe, device);
    let mut trained = loop {
        match place.try_lock() {
            Ok(trained) => break trained,
            // A training that panicked has left nothing.
            Err(TryLockError::Poisoned(empty)) => break empty.into_inner(),
            Err(TryLockError::WouldBlock) => {
                thread::sleep(POLL_INTERVAL);
                if !has_next(0) {
                    return Ok(None);
                }
            }
        }
    };
    if trained.is_none() {
        *trained = teach(recipe, device, smaller, has_next)?.map(Arc::new);
    }
    Ok((*trained).clone())
}

fn cache_place(recipe: &Recipe, device: DeviceId) -> Arc<Mutex<Option<Arc<Trained>>>> {
    // A panic while the lock was held leaves the entries consistent.
    let mut entries = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = entries.iter().find(|entry| entry.device == device && entry.recipe == *recipe);
    if let Some(known) = known {
        return Arc::clone(&known.trained);
    }
    let is_used = |entry: &Entry| Arc::strong_count(&entry.trained) > 1;
    // What failed or was ended takes no network's place.
    let is_empty = |entry: &Entry| entry.trained.try_lock().is_ok_and(|trained| trained.is_none());
    entries.retain(|entry| is_used(entry) || !is_empty(entry));
    let unused = entries.iter().position(|entry| !is_used(entry));
    if let (Some(oldest), true) = (unused, entries.len() >= MOST) {
        entries.remove(oldest);
    }
    let trained = Arc::default();
    entries.push(Entry { recipe: recipe.clone(), device, trained: Arc::clone(&trained) });
    trained
}

// Training by a recipe.

/// Trains. `has_next` is asked before each step with the number of steps done; none if it says no.
fn teach(
    recipe: &Recipe,
    id: DeviceId,
    smaller: &str,
    has_next: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Trained>, LabError> {
    let failed = |reason| LabError::Failed { device: id, reason };
    let knobs = recipe.knobs();
    let needed = training_bytes(&recipe.architecture, Activations::Kept, &knobs);
    let network = recipe.architecture.in_words();
    let who = format!("weights, gradients and activations of training {network} first");
    MemoryBudget::for_device(id).require(needed, &who, smaller)?;
    let device = device::open(id)?.autodiff();
    let examples = data::load(&recipe.data).map_err(data_error)?.train;
    let network = recipe.architecture.init(Initialization::He, recipe.seed, &device);
    let batches = Batches::new(recipe.seed, examples.len());
    let mut trainer = Trainer::new(network, &knobs, batches, (id, device), Activations::Kept)
        .spread(&recipe.architecture);
    for step in 0..recipe.steps {
        if !has_next(step) {
            return Ok(None);
        }
        trainer.step(&examples, &knobs, Measuring::Nothing);
    }
    let weights = flat_params::weights(&trainer.network())
        .map_err(|error| failed(format!("the run {error}")))?;
    if weights.iter().any(|weight| !weight.is_finite()) {
        return Err(failed(format!(
            "the training of {} that comes first diverged: some of its weights are no longer finite numbers",
            recipe.architecture.in_words()
        )));
    }
    Ok(Some(Trained {
        architecture: recipe.architecture.clone(),
        activation: recipe.activation,
        data: recipe.data.clone(),
        steps: recipe.steps,
        weights,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_trainings_take_no_networks_place() {
        let mut recipe = Recipe::images(Model::Mlp, 2, 1, 0).unwrap();
        recipe.data = DataConfig { samples: 4, ..DataConfig::new(Dataset::Spiral, 0) };
        let (inputs, hidden, outputs) = (2, vec![2], 2);
        recipe.architecture = Architecture::Mlp(MlpConfig { inputs, hidden, outputs });
        let mut learn = |seed, has_next| {
            recipe.seed = seed;
            cached(&recipe, DeviceId::CPU, "", &mut |_| has_next).unwrap()
        };
        let kept = learn(0, true).unwrap();
        for seed in 1..=2 * MOST as u64 {
            assert!(learn(seed, false).is_none());
        }
        assert!(Arc::ptr_eq(&kept, &learn(0, false).unwrap()));
    }
}
