//! Parameters as the run needs them: the data, the network, and the knobs that may be turned between two steps.

use std::path::PathBuf;

use mlsys_lab::LabError;
use mlsys_nn::cases::Model;
use mlsys_nn::data::{DataConfig, Dataset, Form};
use mlsys_nn::networks::{
    Activation, Architecture, CnnConfig, Initialization, MlpConfig, TransformerConfig, Variant,
};
use mlsys_nn::train::{Activations, Knobs, Rule, Timing, UpdateKnobs, data_error};
use mlsys_nn::{cases, weights};
use serde::Deserialize;

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
    pub(super) initialization: Initialization,
    pub(super) load_weights: Option<PathBuf>,
    pub(super) save_weights: Option<PathBuf>,
    optimizer: Rule,
    update: UpdateKnobs,
    batch_size: usize,
    steps: u64,
    evaluate_every: u64,
    record_every: u64,
    recompute: bool,
    recompute_unit: RecomputeUnit,
    pub(super) peak_flops_per_second: Option<f64>,
    profile: bool,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RecomputeUnit {
    Elementwise,
    Blocks,
}

impl Fields {
    pub(super) fn data(&self) -> DataConfig {
        let defaults = DataConfig::new(self.dataset, self.seed);
        DataConfig {
            samples: self.samples.unwrap_or(defaults.samples),
            noise: self.noise.unwrap_or(defaults.noise),
            jitter: self.jitter,
            turns: self.turns,
            folder: self.data_dir.clone(),
            symbols: self.symbols,
            context: self.context,
            corpus: self.corpus.clone(),
            ..defaults
        }
    }

    pub(super) fn knobs(&self) -> Knobs {
        Knobs {
            noise: self.noise.unwrap_or(self.dataset.default_noise()),
            jitter: self.jitter,
            activation: self.activation,
            rule: self.optimizer,
            update: self.update,
            batch_size: self.batch_size,
            steps: self.steps,
            evaluate_every: self.evaluate_every,
            record_every: self.record_every,
            timing: if self.profile { Timing::Phases } else { Timing::Steps },
        }
    }

    /// Refuses a file that weights cannot be saved to, before anything is trained.
    pub(super) fn check_file(&self) -> Result<(), LabError> {
        if let Some(path) = &self.save_weights
            && weights::is_folder(path)
            && matches!(self.model, Model::Mlp | Model::Cnn)
        {
            let only = weights::WeightsError::NoFolder(path.clone());
            return Err(LabError::contradiction(["save_weights", "model"], only.to_string()));
        }
        let usable = self.save_weights.as_deref().map_or(Ok(()), weights::can_save);
        usable.map_err(|error| LabError::contradiction(["save_weights"], error.to_string()))
    }

    pub(super) fn activations(&self) -> Result<Activations, LabError> {
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

    pub(super) fn architecture(&self, data: &DataConfig) -> Result<Architecture, LabError> {
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
                    variant: Variant::default(),
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

    /// What training takes by these settings, in GB.
    fn needed(settings: &[&str]) -> f64 {
        let fields: Fields = params(&lab().unwrap(), settings).read().unwrap();
        let architecture = fields.architecture(&fields.data()).unwrap();
        training_bytes(&architecture, fields.activations().unwrap(), &fields.knobs()) as f64 / 1e9
    }

    fn of_transformer(more: &[&str]) -> f64 {
        needed(&[&["dataset=chain", "model=transformer", "batch_size=4096"], more].concat())
    }

    #[test]
    fn a_perceptron_takes_six_times_its_weights() {
        // 31 x 4096² weights and six copies of them, 4 bytes each, come to 12.5 GB.
        let needed = needed(&["width=4096", "depth=32", "dataset=digits"]);
        assert!((12.5..12.7).contains(&needed), "{needed}");
    }

    #[test]
    fn a_transformer_pays_for_the_square_of_its_context() {
        // 2 blocks of 4 heads keep 4096 x 1024 x 1024 weights of attention each, twice over: 275 GB besides the rest.
        let (short, long) = (of_transformer(&["context=512"]), of_transformer(&["context=1024"]));
        assert!(long > 275.0 && long > 2.5 * short, "{short} {long}");
    }

    #[test]
    fn blocks_that_run_again_take_little_more_than_one() {
        let again = ["recompute=true", "recompute_unit=blocks"];
        let of =
            |depth: &str, more: &[&str]| of_transformer(&[&["context=512", depth], more].concat());
        let (all, one) = (of("depth=16", &[]), of("depth=1", &[]));
        let blocks = of("depth=16", &again);
        assert!(all > 10.0 * one && blocks < 1.5 * one && blocks > one, "{all} {blocks} {one}");
    }
}
