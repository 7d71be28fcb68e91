//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use std::path::PathBuf;

use mlsys_device::choice::pick;
use mlsys_lab::{LabError, Params};
use mlsys_nn::cases::{ACTIVATIONS, MODELS, Model};
use mlsys_nn::data::{DATASETS, DataConfig, Form};
use mlsys_nn::networks::{Architecture, CnnConfig, Initialization, MlpConfig, TransformerConfig};
use mlsys_nn::train::{Activations, Knobs, Rule, Timing, UpdateKnobs, data_error};
use mlsys_nn::{cases, weights};

/// What cannot change during a run.
pub(super) struct Setup {
    pub(super) data: DataConfig,
    pub(super) architecture: Architecture,
    pub(super) initialization: Initialization,
    pub(super) activations: Activations,
    /// The device's peak in flop/s, if given.
    pub(super) peak: Option<f64>,
    pub(super) seed: u64,
    pub(super) weights: WeightFiles,
}

/// Files of weights, if any.
#[derive(Clone, Debug, Default)]
pub(super) struct WeightFiles {
    /// To start from.
    pub(super) load: Option<PathBuf>,
    /// To write at the end.
    pub(super) save: Option<PathBuf>,
}

const INITIALIZATIONS: [(&str, Initialization); 3] = [
    ("he", Initialization::He),
    ("xavier", Initialization::Xavier),
    ("zeros", Initialization::Zeros),
];
const RULES: [(&str, Rule); 5] = [
    ("sgd", Rule::Sgd),
    ("momentum", Rule::Momentum),
    ("rmsprop", Rule::RmsProp),
    ("adam", Rule::Adam),
    ("adamw", Rule::AdamW),
];

const UNITS: [(&str, Activations); 2] =
    [("elementwise", Activations::Recomputed), ("blocks", Activations::OfBlocks)];

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let dataset = pick(params, "dataset", &DATASETS)?;
        let seed = params.int("seed")?.unsigned_abs();
        let defaults = DataConfig::new(dataset, seed);
        let knobs = read_knobs(params)?;
        let data = DataConfig {
            samples: size_or(params, "samples", defaults.samples)?,
            noise: knobs.noise,
            jitter: knobs.jitter,
            turns: params.float("turns")? as f32,
            folder: text(params, "data_dir").map(PathBuf::from),
            symbols: params.size("symbols")?,
            context: params.size("context")?,
            corpus: text(params, "corpus"),
            ..defaults
        };
        Ok(Self {
            activations: activations(params)?,
            architecture: architecture(params, &data)?,
            initialization: pick(params, "initialization", &INITIALIZATIONS)?,
            peak: params.optional_float("peak_flops_per_second"),
            weights: WeightFiles::read(params)?,
            data,
            seed,
        })
    }
}

impl WeightFiles {
    fn read(params: &Params) -> Result<Self, LabError> {
        let path = |name| text(params, name).map(PathBuf::from);
        let save = path("save_weights");
        if let Some(path) = &save {
            let usable = weights::can_save(path);
            usable.map_err(|error| LabError::contradiction(["save_weights"], error.to_string()))?;
        }
        Ok(Self { load: path("load_weights"), save })
    }
}

pub(super) fn read_knobs(params: &Params) -> Result<Knobs, LabError> {
    let dataset = pick(params, "dataset", &DATASETS)?;
    let count = |name| params.size(name).map(|count| count as u64);
    Ok(Knobs {
        noise: params.optional_float("noise").map_or(dataset.default_noise(), |noise| noise as f32),
        jitter: params.float("jitter")? as f32,
        activation: pick(params, "activation", &ACTIVATIONS)?,
        rule: pick(params, "optimizer", &RULES)?,
        update: UpdateKnobs {
            learning_rate: params.float("learning_rate")?,
            weight_decay: params.float("weight_decay")?,
            gradient_clip: params.optional_float("gradient_clip"),
        },
        batch_size: params.size("batch_size")?,
        steps: count("steps")?,
        evaluate_every: count("evaluate_every")?,
        record_every: count("record_every")?,
        timing: if params.bool("profile")? { Timing::Phases } else { Timing::Steps },
    })
}

fn activations(params: &Params) -> Result<Activations, LabError> {
    let recomputed = pick(params, "recompute_unit", &UNITS)?;
    if !params.bool("recompute")? {
        return Ok(Activations::Kept);
    }
    match (recomputed, pick(params, "model", &MODELS)?) {
        (Activations::OfBlocks, Model::Mlp | Model::Cnn) => Err(LabError::contradiction(
            ["recompute_unit", "model"],
            "only a transformer has blocks; take elementwise, or model=transformer",
        )),
        _ => Ok(recomputed),
    }
}

fn architecture(params: &Params, data: &DataConfig) -> Result<Architecture, LabError> {
    let form = data.dataset.form();
    let outputs = data.classes().map_err(data_error)?;
    match (pick(params, "model", &MODELS)?, form) {
        (Model::Mlp, Form::Points | Form::Images) => {
            let depth = size_or(params, "depth", if form == Form::Points { 2 } else { 1 })?;
            let width = size_or(params, "width", 32)?;
            Ok(Architecture::Mlp(MlpConfig {
                inputs: data.features(),
                hidden: vec![width; depth],
                outputs,
            }))
        }
        (Model::Cnn, Form::Images) => Ok(Architecture::Cnn(CnnConfig {
            edge: data.features().isqrt(),
            width: size_or(params, "width", 8)?,
            depth: size_or(params, "depth", 2)?,
            outputs,
        })),
        (Model::Transformer, Form::Tokens) => transformer(params, outputs),
        (Model::Cnn, Form::Points) => Err(LabError::contradiction(
            ["dataset", "model"],
            "a cnn slides windows over images, and this data set is points in the plane; \
             set dataset to digits, or model to mlp",
        )),
        (Model::Mlp | Model::Cnn, Form::Tokens) => Err(LabError::contradiction(
            ["dataset", "model"],
            "this data set is a sequence of tokens, and only a transformer reads those; set model to transformer, \
             or dataset to spiral or digits",
        )),
        (Model::Transformer, Form::Points | Form::Images) => Err(LabError::contradiction(
            ["dataset", "model"],
            "a transformer reads sequences of tokens, and this data set has none; set dataset to chain, sums or text, \
             or model to mlp",
        )),
    }
}

fn transformer(params: &Params, vocab: usize) -> Result<Architecture, LabError> {
    let width = size_or(params, "width", 32)?;
    let config = TransformerConfig {
        vocab,
        width,
        depth: size_or(params, "depth", 2)?,
        heads: params.size("heads")?,
        kv_heads: params.size("kv_heads")?,
        ffn: TransformerConfig::gated(width),
        context: params.size("context")?,
    };
    cases::transformer(config)
}

fn text(params: &Params, name: &str) -> Option<String> {
    let value = params.get(name)?;
    value.as_str().map(str::to_owned)
}

fn size_or(params: &Params, name: &str, default: usize) -> Result<usize, LabError> {
    match params.get(name) {
        Some(_) => params.size(name),
        None => Ok(default),
    }
}

// The memory that training takes.

/// The parameters of lab `train` that bear on it.
pub(super) fn smaller(architecture: &Architecture) -> &'static str {
    match architecture {
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {
            "width, depth or batch_size"
        }
        Architecture::Transformer(_) => "width, depth, context or batch_size",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_device::choice::assert_choices_listed;
    use mlsys_lab::{Lab, Params, Settings, Tables};
    use mlsys_nn::train::{Knobs, training_bytes};

    use crate::train::lab;

    #[test]
    fn the_schema_lists_exactly_the_cases_that_are_read() {
        let train = lab().unwrap();
        assert_choices_listed(&train, "dataset", &DATASETS);
        assert_choices_listed(&train, "model", &MODELS);
        assert_choices_listed(&train, "activation", &ACTIVATIONS);
        assert_choices_listed(&train, "initialization", &INITIALIZATIONS);
        assert_choices_listed(&train, "optimizer", &RULES);
        assert_choices_listed(&train, "recompute_unit", &UNITS);
    }

    fn read(settings: &[&str]) -> (Setup, Knobs) {
        let train = lab().unwrap();
        let settings = Settings::from_pairs(settings.iter().copied()).unwrap();
        let params = Params::resolve(train.schema(), &settings, Tables::builtin(), None).unwrap();
        (Setup::read(&params).unwrap(), read_knobs(&params).unwrap())
    }

    #[test]
    fn a_perceptron_takes_six_times_its_weights() {
        let (setup, knobs) = read(&["width=4096", "depth=32", "dataset=digits"]);
        // 31 x 4096² weights and six copies of them, 4 bytes each, come to 12.5 GB.
        let needed = training_bytes(&setup.architecture, setup.activations, &knobs);
        assert!((12.5e9..12.7e9).contains(&(needed as f64)), "{needed}");
    }

    /// What a transformer takes by these settings, in GB.
    fn needed(more: &[&str]) -> f64 {
        let settings = ["dataset=chain", "model=transformer", "batch_size=4096"];
        let (setup, knobs) = read(&[&settings, more].concat());
        assert_eq!(smaller(&setup.architecture), "width, depth, context or batch_size");
        training_bytes(&setup.architecture, setup.activations, &knobs) as f64 / 1e9
    }

    #[test]
    fn a_transformer_pays_for_the_square_of_its_context() {
        // 2 blocks of 4 heads keep 4096 x 1024 x 1024 weights of attention each, twice over: 275 GB besides the rest.
        let (short, long) = (needed(&["context=512"]), needed(&["context=1024"]));
        assert!(long > 275.0 && long > 2.5 * short, "{short} {long}");
    }

    #[test]
    fn blocks_that_run_again_take_little_more_than_one() {
        let again = ["recompute=true", "recompute_unit=blocks"];
        let of = |depth: &str, more: &[&str]| needed(&[&["context=512", depth], more].concat());
        let (all, one) = (of("depth=16", &[]), of("depth=1", &[]));
        let blocks = of("depth=16", &again);
        assert!(all > 10.0 * one && blocks < 1.5 * one && blocks > one, "{all} {blocks} {one}");
    }
}
