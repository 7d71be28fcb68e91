//! Trained networks that other labs start from: described by a recipe and trained once in the process.
//!
//! A [`Recipe`] says what to train, [`Trained`] is what comes of it, a row of numbers on the host that any device can be
//! given, and [`layers`](Trained::layers) names the matrices in that row.

use crate::baseline::artifact::KIND;
use crate::baseline::trained::FRESH;
pub use crate::baseline::trained::{Layer, Trained};
pub use crate::baseline::training::{Recipe, Sizes};
use crate::data::{DataConfig, Dataset};
use crate::memory_budget::MemoryBudget;
use crate::networks::{Activation, Architecture};
use crate::weights::{DecodeError, llama};
use mlsys_lab::control::NextStep;
use mlsys_lab::params::Origin;
use mlsys_lab::report::Report;
use mlsys_lab::{DeviceId, LabError, Params, Run};
use std::sync::Arc;

mod artifact;
pub(crate) mod trained;
mod training;

/// The network that a lab starts from, before it is there: what it will be is known without training.
pub enum NetworkSource<'a> {
    /// That of the run which parameter `model_from` names. Sizes that are not set follow it.
    Left(Arc<Trained>),
    Learned(&'a Recipe),
}

impl<'a> NetworkSource<'a> {
    /// Where these parameters have the network from; an error if `model_from` names another than they ask for.
    pub fn from_params(params: &Params, recipe: &'a Recipe) -> Result<Self, LabError> {
        let left = adopt(params, recipe)?;
        Ok(left.map_or(Self::Learned(recipe), |left| Self::Left(Arc::new(left))))
    }

    pub fn architecture(&self) -> &Architecture {
        match self {
            Self::Left(trained) => &trained.architecture,
            Self::Learned(recipe) => &recipe.architecture,
        }
    }

    pub fn layers(&self) -> Vec<Layer> {
        trained::layers_of(self.architecture())
    }

    pub fn data(&self) -> &DataConfig {
        match self {
            Self::Left(trained) => &trained.data,
            Self::Learned(recipe) => &recipe.data,
        }
    }

    /// The network; trained unless this process has done so on this device. None if the run was ended
    /// meanwhile, and then the lab has nothing left to do.
    pub fn network(self, run: &mut Run<'_>) -> Result<Option<Arc<Trained>>, LabError> {
        let smaller = smaller(&run.params);
        match self {
            Self::Left(trained) => {
                let budget = MemoryBudget::for_device(run.device);
                require_evaluation_memory(&trained.architecture, budget, &smaller)?;
                Ok(Some(trained))
            }
            Self::Learned(recipe) => learn(run, recipe, &smaller),
        }
    }
}

pub fn obtain(run: &mut Run<'_>, recipe: &Recipe) -> Result<Option<Arc<Trained>>, LabError> {
    NetworkSource::from_params(&run.params, recipe)?.network(run)
}

/// What a person can make smaller where memory does not hold the network that a lab starts from: what it names, or the
/// parameters that the lab has for its sizes.
pub fn smaller(params: &Params) -> String {
    /// The names that labs have for sizes of that network.
    const SIZES: [&str; 4] = ["teacher_width", "width", "depth", "context"];
    if params.get(MODEL_FROM).is_some() {
        return format!("the network that {MODEL_FROM} names");
    }
    let sizes = SIZES.into_iter().filter(|name| params.get(name).is_some());
    let sizes: Vec<&str> = sizes.collect();
    match sizes.split_last() {
        None => "what else is in memory".to_owned(),
        Some((one, [])) => (*one).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// The network that a recipe leads to, whatever `model_from` says. `smaller` names the parameters that bear on its size.
/// None if the run was ended meanwhile. Training can be paused between steps; steps and knobs wait for the run.
pub fn learn(
    run: &mut Run<'_>,
    recipe: &Recipe,
    smaller: &str,
) -> Result<Option<Arc<Trained>>, LabError> {
    require_evaluation_memory(&recipe.architecture, MemoryBudget::for_device(run.device), smaller)?;
    let Run { device, sink, control, .. } = run;
    let mut has_reported = false;
    let network = recipe.architecture.in_words();
    let trained = control.warm_up(|control| {
        training::cached(recipe, *device, smaller, &mut |step| {
            let status = format!("training {network} first: step {step} of {}", recipe.steps);
            sink.report(Report::Status(status));
            has_reported = true;
            !matches!(control.next_step(step), NextStep::Stop(_))
        })
    });
    if has_reported {
        run.sink.report(Report::Status(String::new()));
    }
    if matches!(trained, Ok(None)) {
        run.scalar("steps_done", 0_i64);
    }
    trained
}

/// Refuses a network that does not fit into memory with all fresh images, more than a batch of training.
pub fn require_evaluation_memory(
    architecture: &Architecture,
    budget: MemoryBudget,
    smaller: &str,
) -> Result<(), LabError> {
    // A transformer's tokens are judged a few thousand at a time.
    if matches!(architecture, Architecture::Transformer(_)) {
        return Ok(());
    }
    let images = FRESH as u64;
    // Of each layer what comes in and what goes out, and the weights twice; 4 bytes each.
    let numbers = architecture.kept_numbers(Activation::Relu, images) + architecture.parameters();
    let who = format!("the answers of {} to {images} images", architecture.in_words());
    budget.require(8 * numbers, &who, smaller)
}

/// The network that a recipe leads to, outside a run. The first caller trains it; later callers wait for the result.
pub fn trained(recipe: &Recipe, device: DeviceId) -> Result<Arc<Trained>, LabError> {
    let trained = training::cached(recipe, device, "what else is in memory", &mut |_| true)?;
    let reason = || "the training of its network was ended".to_owned();
    trained.ok_or_else(|| LabError::Failed { device, reason: reason() })
}

// The network that another run has left, in place of one of our own.

const MODEL_FROM: &str = "model_from";

fn adopt(params: &Params, recipe: &Recipe) -> Result<Option<Trained>, LabError> {
    if params.get(MODEL_FROM).is_none() {
        return Ok(None);
    }
    let source = params.text(MODEL_FROM)?;
    let refused = |reason: String| LabError::contradiction([MODEL_FROM], reason);
    let Some(artifact) = params.artifact(MODEL_FROM) else {
        return Err(refused(format!("'{source}' has left no network")));
    };
    if artifact.kind != KIND {
        let kind = &artifact.kind;
        return Err(refused(format!("'{source}' has left a {kind}, no network")));
    }
    if let Some(why) = &artifact.unfinished {
        return Err(refused(format!("the network of '{source}' is not finished: {why}")));
    }
    let is_folder = artifact.ending == llama::ENDING;
    let trained = Trained::read(artifact, recipe).map_err(|unusable| match unusable {
        DecodeError::Foreign(reason) => refused(format!(
            "what '{source}' names is no whole file of a network: {reason}"
        )),
        DecodeError::Misfit(differences) if !is_folder => refused(format!(
            "'{source}' holds the weights of another network than this {}; a file that does not say what it is must be of this \
             lab's own sizes:\n  {}",
            recipe.architecture.in_words(),
            differences.join("\n  ")
        )),
        DecodeError::Misfit(reasons) | DecodeError::Unfit(reasons) => refused(format!(
            "the model in the folder '{source}' does not run here:\n  {}",
            reasons.join("\n  ")
        )),
    })?;
    let theirs = properties(trained.data.dataset, &trained.architecture);
    let ours = properties(recipe.data.dataset, &recipe.architecture);
    // The lab can do nothing with another kind of network; other properties follow it unless they are set. In a folder
    // is a transformer, with a text of its own.
    let must_agree = |param: &str| {
        (!is_folder && ["dataset", "model"].contains(&param)) || is_set(params, param)
    };
    let differences: Vec<String> = ours
        .iter()
        .filter(|(param, _)| must_agree(param))
        .filter_map(|(param, own)| {
            let (_, their) = theirs.iter().find(|(name, _)| name == param)?;
            (their != own).then(|| format!("{param} is {their} there, {own} here"))
        })
        .collect();
    if differences.is_empty() {
        return Ok(Some(trained));
    }
    Err(refused(format!(
        "the network of '{source}', {}, is another than this lab is set to:\n  {}\nset those of them that are \
         parameters of this lab to what they are there, name another run, or leave model_from unset",
        trained.architecture.in_words(),
        differences.join("\n  ")
    )))
}

/// Whether `model_from` names a folder with a Llama.
pub fn is_folder(params: &Params) -> bool {
    params.artifact(MODEL_FROM).is_some_and(|artifact| artifact.ending == llama::ENDING)
}

/// Refuses a network with more parameters than a lab can go through again and again.
pub fn require_at_most(trained: &Trained, most: usize) -> Result<(), LabError> {
    let count = trained.weights.len();
    if count <= most {
        return Ok(());
    }
    let message = format!(
        "the network has {count} parameters, and this lab tries all of them again and again: at most {most}; name a \
         smaller one"
    );
    Err(LabError::contradiction([MODEL_FROM], message))
}

fn is_set(params: &Params, name: &str) -> bool {
    matches!(params.origin(name), Some(Origin::Set | Origin::Table(_)))
}

fn properties(dataset: Dataset, architecture: &Architecture) -> Vec<(&'static str, String)> {
    let size = |param, value: usize| (param, value.to_string());
    let mut all = vec![("dataset", dataset.to_string()), ("model", architecture.kind().to_owned())];
    match architecture {
        Architecture::Mlp(config) => {
            let hidden: Vec<_> = config.hidden.iter().map(usize::to_string).collect();
            all.extend([size("depth", config.hidden.len()), ("width", hidden.join("-"))]);
        }
        Architecture::Cnn(config) => {
            all.extend([size("width", config.width), size("depth", config.depth)]);
        }
        Architecture::Filters(_) => {}
        Architecture::Transformer(config) => all.extend([
            size("width", config.width),
            size("depth", config.depth),
            size("heads", config.heads),
            size("kv_heads", config.kv_heads),
            size("context", config.context),
        ]),
    }
    all
}
