//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two steps.

use std::path::PathBuf;

use mlsys_lab::{LabError, Params};
use mlsys_nn::cases::Model;
use mlsys_nn::data::{DataConfig, Dataset, Form};
use mlsys_nn::networks::{
    Activation, Architecture, CnnConfig, Initialization, MlpConfig, TransformerConfig,
};
use mlsys_nn::train::{Activations, Knobs, Rule, Timing, UpdateKnobs, data_error};
use mlsys_nn::{cases, weights};
use serde::Deserialize;

/// The parameters.
#[derive(Deserialize)]
pub(super) struct Fields {
    dataset: Dataset,
    data_dir: Option<PathBuf>,
    samples: Option<usize>,
    noise: Option<f32>,
    jitter: f32,
    turns: f32,
    symbols: usize,
    corpus: Option<String>,
    model: Model,
    width: Option<usize>,
    depth: Option<usize>,
    heads: usize,
    kv_heads: usize,
    context: usize,
    activation: Activation,
    initialization: Initialization,
    load_weights: Option<PathBuf>,
    save_weights: Option<PathBuf>,
    optimizer: Rule,
    update: UpdateKnobs,
    batch_size: usize,
    steps: u64,
    evaluate_every: u64,
    record_every: u64,
    recompute: bool,
    recompute_unit: RecomputeUnit,
    peak_flops_per_second: Option<f64>,
    profile: bool,
    seed: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RecomputeUnit {
    Elementwise,
    Blocks,
}

/// What cannot change during a run.
pub(super) struct Setup {
    pub(super) data: DataConfig,
    pub(super) architecture: Architecture,
    pub(super) initialization: Initialization,
    pub(super) activations: Activations,
    /// The device's peak in flop/s, if given.
    pub(super) peak: Option<f64>,
    pub(super) seed: u64,
    pub(super) load_weights: Option<PathBuf>,
    pub(super) save_weights: Option<PathBuf>,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let fields: Fields = params.read()?;
        if let Some(path) = &fields.save_weights {
            let usable = weights::can_save(path);
            usable.map_err(|error| LabError::contradiction(["save_weights"], error.to_string()))?;
        }
        let defaults = DataConfig::new(fields.dataset, fields.seed);
        let data = DataConfig {
            samples: fields.samples.unwrap_or(defaults.samples),
            noise: fields.noise.unwrap_or(defaults.noise),
            jitter: fields.jitter,
            turns: fields.turns,
            folder: fields.data_dir.clone(),
            symbols: fields.symbols,
            context: fields.context,
            corpus: fields.corpus.clone(),
            ..defaults
        };
        Ok(Self {
            activations: fields.activations()?,
            architecture: fields.architecture(&data)?,
            initialization: fields.initialization,
            peak: fields.peak_flops_per_second,
            load_weights: fields.load_weights,
            save_weights: fields.save_weights,
            seed: fields.seed,
            data,
        })
    }
}

pub(super) fn read_knobs(params: &Params) -> Result<Knobs, LabError> {
    let fields: Fields = params.read()?;
    Ok(Knobs {
        noise: fields.noise.unwrap_or(fields.dataset.default_noise()),
        jitter: fields.jitter,
        activation: fields.activation,
        rule: fields.optimizer,
        update: fields.update,
        batch_size: fields.batch_size,
        steps: fields.steps,
        evaluate_every: fields.evaluate_every,
        record_every: fields.record_every,
        timing: if fields.profile { Timing::Phases } else { Timing::Steps },
    })
}

impl Fields {
    fn activations(&self) -> Result<Activations, LabError> {
        match (self.recompute, self.recompute_unit, self.model) {
            (false, _, _) => Ok(Activations::Kept),
            (true, RecomputeUnit::Elementwise, _) => Ok(Activations::Recomputed),
            (true, RecomputeUnit::Blocks, Model::Transformer) => Ok(Activations::OfBlocks),
            (true, RecomputeUnit::Blocks, Model::Mlp | Model::Cnn) => Err(LabError::contradiction(
                ["recompute_unit", "model"],
                "only a transformer has blocks; take elementwise, or model=transformer",
            )),
        }
    }

    fn architecture(&self, data: &DataConfig) -> Result<Architecture, LabError> {
        let form = data.dataset.form();
        let outputs = data.classes().map_err(data_error)?;
        let mismatch = |message| LabError::contradiction(["dataset", "model"], message);
        match (self.model, form) {
            (Model::Mlp, Form::Points | Form::Images) => {
                let depth = self.depth.unwrap_or(if form == Form::Points { 2 } else { 1 });
                let hidden = vec![self.width.unwrap_or(32); depth];
                Ok(Architecture::Mlp(MlpConfig { inputs: data.features(), hidden, outputs }))
            }
            (Model::Cnn, Form::Images) => Ok(Architecture::Cnn(CnnConfig {
                edge: data.features().isqrt(),
                width: self.width.unwrap_or(8),
                depth: self.depth.unwrap_or(2),
                outputs,
            })),
            (Model::Transformer, Form::Tokens) => {
                let width = self.width.unwrap_or(32);
                cases::transformer(TransformerConfig {
                    vocab: outputs,
                    width,
                    depth: self.depth.unwrap_or(2),
                    heads: self.heads,
                    kv_heads: self.kv_heads,
                    ffn: TransformerConfig::gated(width),
                    context: self.context,
                })
            }
            (Model::Cnn, Form::Points) => Err(mismatch(
                "a cnn slides windows over images, and this data set is points in the plane; \
             set dataset to digits, or model to mlp",
            )),
            (Model::Mlp | Model::Cnn, Form::Tokens) => Err(mismatch(
                "this data set is a sequence of tokens, and only a transformer reads those; set model to transformer, \
             or dataset to spiral or digits",
            )),
            (Model::Transformer, Form::Points | Form::Images) => Err(mismatch(
                "a transformer reads sequences of tokens, and this data set has none; set dataset to chain, sums or text, \
             or model to mlp",
            )),
        }
    }
}

/// The parameters that bear on the memory that training takes.
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
    use mlsys_nn::train::training_bytes;

    use crate::train::lab;
    use crate::trial::params;

    fn read(settings: &[&str]) -> (Setup, Knobs) {
        let params = params(&lab().unwrap(), settings);
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
