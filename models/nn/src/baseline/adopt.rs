//! The network that another run has left, in place of one of our own.

use mlsys_lab::params::Origin;
use mlsys_lab::{LabError, Params};

use super::artifact::{KIND, Unusable, name_of};
use super::{Recipe, Trained};
use crate::data::DATASETS;
use crate::nets::Architecture;

/// The parameter that names the other run.
pub(super) const MODEL_FROM: &str = "model_from";

/// One property of a network, as a parameter names it.
struct Property {
    param: &'static str,
    value: String,
    holds: Holds,
}

/// What a property that differs from the lab's means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// The lab can do nothing with the network.
    Always,
    /// The lab follows the network, unless somebody has set the parameter.
    IfSet,
}

/// The network that `model_from` names; none if it is not set.
pub(super) fn adopt(params: &Params, recipe: &Recipe) -> Result<Option<Trained>, LabError> {
    let Some(value) = params.get(MODEL_FROM) else {
        return Ok(None);
    };
    let source = value.as_str().unwrap_or_default();
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
    let trained = Trained::read(artifact, recipe).map_err(|unusable| match unusable {
        Unusable::Broken(reason) => refused(format!(
            "what '{source}' names is no whole file of a network: {reason}"
        )),
        Unusable::Other(differences) => refused(format!(
            "'{source}' holds the weights of another network than this {}; a file that does not say what it is must be of this \
             lab's own sizes:\n  {}",
            recipe.architecture.in_words(),
            differences.join("\n  ")
        )),
    })?;
    let theirs = properties(&name_of(&DATASETS, trained.data.dataset), &trained.architecture);
    let ours = properties(&name_of(&DATASETS, recipe.data.dataset), &recipe.architecture);
    let differences: Vec<String> = ours
        .iter()
        .filter(|own| own.holds == Holds::Always || is_set(params, own.param))
        .filter_map(|own| {
            let their = theirs.iter().find(|their| their.param == own.param)?;
            let differs = their.value != own.value;
            differs.then(|| format!("{} is {} there, {} here", own.param, their.value, own.value))
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

fn is_set(params: &Params, name: &str) -> bool {
    match params.origin(name) {
        Some(Origin::Set | Origin::Table(_)) => true,
        Some(Origin::Default | Origin::Seed) | None => false,
    }
}

/// What parameters say of a network.
fn properties(dataset: &str, architecture: &Architecture) -> Vec<Property> {
    let of = |param, value: String, holds| Property { param, value, holds };
    let size = |param, value: usize| of(param, value.to_string(), Holds::IfSet);
    let model = |name: &str| of("model", name.to_owned(), Holds::Always);
    let mut all = vec![of("dataset", dataset.to_owned(), Holds::Always)];
    match architecture {
        Architecture::Mlp(config) => {
            all.push(model("mlp"));
            all.push(size("depth", config.hidden.len()));
            let hidden: Vec<_> = config.hidden.iter().map(usize::to_string).collect();
            all.push(of("width", hidden.join("-"), Holds::IfSet));
        }
        Architecture::Cnn(config) => {
            all.push(model("cnn"));
            all.push(size("width", config.width));
            all.push(size("depth", config.depth));
        }
        Architecture::Filters(_) => all.push(model("filters")),
        Architecture::Transformer(config) => all.extend([
            model("transformer"),
            size("width", config.width),
            size("depth", config.depth),
            size("heads", config.heads),
            size("kv_heads", config.kv_heads),
            size("context", config.context),
        ]),
    }
    all
}
