//! Trained networks that other labs start from: by a recipe, trained once in the process for all who ask.
//!
//! A [`Recipe`] says what to train, [`Trained`] is what comes of it, a row of numbers on the host that any device can be
//! given, and [`layers`](Trained::layers) names the matrices in that row.

mod adopt;
mod artifact;
mod cache;
mod layers;
mod recipe;
mod teach;
mod trained;

use std::sync::Arc;

use mlsys_lab::control::Turn;
use mlsys_lab::report::Report;
use mlsys_lab::{DeviceId, LabError, Params, Run};

pub use self::artifact::Unusable;
pub use self::layers::Layer;
pub use self::recipe::{Recipe, Sizes};
use self::trained::FRESH;
pub use self::trained::Trained;
use crate::data::DataConfig;
use crate::memory_budget::MemoryBudget;
use crate::nets::{Activation, Architecture};

/// The network that a lab starts from, before it is there: what it will be is known without training.
pub enum Source<'a> {
    /// That of the run which parameter `model_from` names. Sizes that nobody set follow it.
    Left(Arc<Trained>),
    /// One that is trained by a recipe.
    Learned(&'a Recipe),
}

impl<'a> Source<'a> {
    /// Where these parameters have the network from.
    ///
    /// # Errors
    /// If `model_from` names a network that is another than the parameters ask for.
    pub fn of(params: &Params, recipe: &'a Recipe) -> Result<Self, LabError> {
        let left = adopt::adopt(params, recipe)?;
        Ok(left.map_or(Self::Learned(recipe), |left| Self::Left(Arc::new(left))))
    }

    /// The network's sizes.
    pub fn architecture(&self) -> &Architecture {
        match self {
            Self::Left(trained) => &trained.architecture,
            Self::Learned(recipe) => &recipe.architecture,
        }
    }

    /// Its matrices, from the input on.
    pub fn layers(&self) -> Vec<Layer> {
        layers::of(self.architecture())
    }

    /// What it has learned, or will.
    pub fn data(&self) -> &DataConfig {
        match self {
            Self::Left(trained) => &trained.data,
            Self::Learned(recipe) => &recipe.data,
        }
    }

    /// The network; trained unless somebody in this process has done so on this device. None if the run was ended
    /// meanwhile, and then the lab has nothing left to do.
    ///
    /// # Errors
    /// If the data cannot be had, the device cannot be opened, memory is short, or training diverged.
    pub fn network(self, run: &mut Run<'_>) -> Result<Option<Arc<Trained>>, LabError> {
        let smaller = smaller(&run.params);
        match self {
            Self::Left(trained) => {
                must_be_judged(&trained.architecture, MemoryBudget::of(run.device), &smaller)?;
                Ok(Some(trained))
            }
            Self::Learned(recipe) => learn(run, recipe, &smaller),
        }
    }
}

/// The network that a lab starts from; see [`Source::network`].
///
/// # Errors
/// As for [`Source::of`] and [`Source::network`].
pub fn obtain(run: &mut Run<'_>, recipe: &Recipe) -> Result<Option<Arc<Trained>>, LabError> {
    Source::of(&run.params, recipe)?.network(run)
}

/// What a person can make smaller where memory does not hold the network that a lab starts from: what it names, or the
/// parameters that the lab has for its sizes.
pub fn smaller(params: &Params) -> String {
    /// The names that labs have for sizes of that network.
    const SIZES: [&str; 4] = ["teacher_width", "width", "depth", "context"];
    if params.get(adopt::MODEL_FROM).is_some() {
        return format!("the network that {} names", adopt::MODEL_FROM);
    }
    let sizes = SIZES.into_iter().filter(|name| params.get(name).is_some());
    let sizes: Vec<&str> = sizes.collect();
    match sizes.split_last() {
        None => "what else is in memory".to_owned(),
        Some((one, [])) => (*one).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// The network that a recipe leads to, whatever `model_from` says: a second one beside the network that a lab starts from.
/// `smaller` names the parameters that bear on its size. None if the run was ended meanwhile.
///
/// A pause is heard between two steps of the training; steps and knobs wait for the run's own (see [`Control::before`]).
///
/// [`Control::before`]: mlsys_lab::Control::before
///
/// # Errors
/// As for [`Source::network`].
pub fn learn(
    run: &mut Run<'_>,
    recipe: &Recipe,
    smaller: &str,
) -> Result<Option<Arc<Trained>>, LabError> {
    must_be_judged(&recipe.architecture, MemoryBudget::of(run.device), smaller)?;
    let Run { device, sink, control, .. } = run;
    let mut told = false;
    let network = recipe.architecture.in_words();
    let trained = control.before(|control| {
        cache::trained(recipe, *device, smaller, &mut |step| {
            let steps = recipe.steps;
            let status = format!("training {network} first: step {step} of {steps}");
            sink.report(Report::Status(status));
            told = true;
            match control.turn(step) {
                Turn::Go(_) | Turn::Redraw(_) => true,
                Turn::Stop(_) => false,
            }
        })
    });
    if told {
        run.sink.report(Report::Status(String::new()));
    }
    if matches!(trained, Ok(None)) {
        run.scalar("steps_done", 0_i64);
    }
    trained
}

/// Refuses a network that memory cannot hold while it answers to all fresh images at once, which are more than a batch of
/// training.
pub fn must_be_judged(
    architecture: &Architecture,
    budget: MemoryBudget,
    smaller: &str,
) -> Result<(), LabError> {
    let images = match architecture {
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => FRESH as u64,
        // Its tokens are judged a few thousand at a time.
        Architecture::Transformer(_) => return Ok(()),
    };
    // Of each layer what comes in and what goes out, and the weights twice; 4 bytes each.
    let numbers = architecture.kept_numbers(Activation::Relu, images) + architecture.parameters();
    let who = format!("the answers of {} to {images} images", architecture.in_words());
    budget.require(8 * numbers, &who, smaller)
}

/// The network that a recipe leads to, for whoever is no run; trained by whoever asks first, while others wait.
///
/// # Errors
/// As for [`Source::network`].
pub fn trained(recipe: &Recipe, device: DeviceId) -> Result<Arc<Trained>, LabError> {
    let trained = cache::trained(recipe, device, "what else is in memory", &mut |_| true)?;
    trained.ok_or_else(|| LabError::Failed {
        device,
        reason: "the training of its network was ended".to_owned(),
    })
}
