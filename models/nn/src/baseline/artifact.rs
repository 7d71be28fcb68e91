//! A trained network as bytes and back: a safetensors file that says besides its weights what the network learned.

use std::collections::HashMap;
use std::path::PathBuf;
use std::str::FromStr;

use ::safetensors::SafeTensorError;
use mlsys_lab::Artifact;
use mlsys_sim::model_config::RotaryScaling;

use super::{Recipe, Trained};
use crate::data::{DataConfig, Dataset};
use crate::networks::{Activation, Architecture, CnnConfig, MlpConfig, TransformerConfig, Variant};
use crate::weights::safetensors::{self, Opened};
use crate::weights::{self, DecodeError, llama};

pub(crate) const KIND: &str = "network";

const FORMAT: &str = "1";

const PREFIX: &str = "mlsys.";

/// Larger networks are not kept for others: 16 MB.
const MOST_PARAMETERS: u64 = 4_000_000;

const LARGEST: usize = 1 << 21;

const DEEPEST: usize = 1024;

const MOST_SAMPLES: usize = 100_000;

impl Trained {
    /// The network for other runs; none if it is too large to be kept, or its numbers cannot be written.
    pub fn artifact(&self, unfinished: Option<String>) -> Option<Artifact> {
        if self.architecture.parameters() > MOST_PARAMETERS {
            return None;
        }
        Some(Artifact {
            kind: KIND.to_owned(),
            ending: "safetensors".to_owned(),
            about: self.architecture.in_words(),
            unfinished,
            bytes: self.encode().ok()?,
        })
    }

    /// The file that says what it is, for labs here and for other programs.
    pub fn encode(&self) -> Result<Vec<u8>, SafeTensorError> {
        safetensors::encode(&self.weights, &self.architecture, self.described())
    }

    fn described(&self) -> HashMap<String, String> {
        let data = &self.data;
        let mut pairs: Vec<(&str, String)> = vec![
            ("format", FORMAT.to_owned()),
            ("steps", self.steps.to_string()),
            ("activation", self.activation.to_string()),
            ("dataset", data.dataset.to_string()),
            ("noise", data.noise.to_string()),
            ("jitter", data.jitter.to_string()),
            ("turns", data.turns.to_string()),
            ("seed", data.seed.to_string()),
            ("symbols", data.symbols.to_string()),
            ("window", data.context.to_string()),
            ("model", self.architecture.kind().to_owned()),
        ];
        // A text is taken whole.
        let is_sampled = data.dataset != Dataset::Text;
        pairs.extend(is_sampled.then(|| ("samples", data.samples.to_string())));
        let folder = data.folder.as_ref().and_then(|folder| folder.to_str());
        pairs.extend(folder.map(|folder| ("folder", folder.to_owned())));
        pairs.extend(data.corpus.clone().map(|corpus| ("corpus", corpus)));
        let sizes = match &self.architecture {
            Architecture::Mlp(config) => {
                let hidden: Vec<_> = config.hidden.iter().map(usize::to_string).collect();
                pairs.push(("hidden", hidden.join(" ")));
                vec![("inputs", config.inputs), ("outputs", config.outputs)]
            }
            Architecture::Cnn(config) => vec![
                ("edge", config.edge),
                ("width", config.width),
                ("depth", config.depth),
                ("outputs", config.outputs),
            ],
            // The labs that train filter networks export none.
            Architecture::Filters(_) => Vec::new(),
            Architecture::Transformer(config) => vec![
                ("vocab", config.vocab),
                ("width", config.width),
                ("depth", config.depth),
                ("heads", config.heads),
                ("kv_heads", config.kv_heads),
                ("ffn", config.ffn),
                ("context", config.context),
            ],
        };
        if let Architecture::Transformer(config) = &self.architecture {
            let Variant { head, rotary_base, rotary_scaling, rms_epsilon } = config.variant;
            pairs.extend(head.map(|head| ("head", head.to_string())));
            pairs.push(("rotary_base", rotary_base.to_string()));
            let scaling = rotary_scaling.json();
            pairs.extend(scaling.map(|scaling| ("rotary_scaling", scaling.to_string())));
            pairs.push(("rms_epsilon", rms_epsilon.to_string()));
        }
        pairs.extend(sizes.into_iter().map(|(name, size)| (name, size.to_string())));
        let owned = pairs.into_iter().map(|(name, value)| (format!("{PREFIX}{name}"), value));
        owned.collect()
    }

    /// The network of an artifact. A file of another program, or one in burn's format, says nothing of data and sizes: then
    /// it must be the network that the recipe would train.
    pub(super) fn read(artifact: &Artifact, recipe: &Recipe) -> Result<Self, DecodeError> {
        if artifact.ending == llama::ENDING {
            return llama::unpack(&artifact.bytes);
        }
        if artifact.ending == weights::BURNS {
            let row = weights::row(&artifact.bytes, &recipe.architecture)?;
            return Ok(Self::of_recipe(recipe, row));
        }
        let file = safetensors::open(&artifact.bytes)?;
        if !file.metadata.contains_key(&format!("{PREFIX}format")) {
            return Ok(Self::of_recipe(recipe, file.row(&recipe.architecture)?));
        }
        Self::described_by(&file)
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::described_by(&safetensors::open(bytes)?)
    }

    /// What a file that mlsys has saved says of a network of this architecture: its data, its activation and its steps.
    pub(crate) fn description(
        file: &Opened<'_>,
        architecture: &Architecture,
    ) -> Option<Result<(DataConfig, Activation, u64), DecodeError>> {
        file.metadata.contains_key(&format!("{PREFIX}format")).then(|| {
            let description = Description(file);
            let data = description.data()?;
            must_agree(&data, architecture)?;
            Ok((data, description.parsed("activation")?, description.parsed("steps")?))
        })
    }

    fn described_by(file: &Opened<'_>) -> Result<Self, DecodeError> {
        let description = Description(file);
        let format = description.text("format")?;
        if format != FORMAT {
            return Err(DecodeError::Foreign(format!(
                "its description is of format {format}, and this program reads format {FORMAT}"
            )));
        }
        let (data, architecture) = (description.data()?, description.architecture()?);
        // Before anything is made by these sizes.
        let (claimed, there) = (architecture.parameters(), file.numbers() as u64);
        if claimed != there {
            return Err(DecodeError::Foreign(format!(
                "it says that it is a {}, which has {claimed} weights and biases, and holds {there} numbers",
                architecture.in_words()
            )));
        }
        must_agree(&data, &architecture)?;
        Ok(Self {
            weights: file.row(&architecture)?,
            architecture,
            activation: description.parsed("activation")?,
            data,
            steps: description.parsed("steps")?,
        })
    }

    fn of_recipe(recipe: &Recipe, weights: Vec<f32>) -> Self {
        Self {
            weights,
            architecture: recipe.architecture.clone(),
            activation: recipe.activation,
            data: recipe.data.clone(),
            steps: 0,
        }
    }
}

struct Description<'a>(&'a Opened<'a>);

impl Description<'_> {
    fn text(&self, name: &str) -> Result<&str, DecodeError> {
        let text = self.0.metadata.get(&format!("{PREFIX}{name}"));
        let text = text.map(String::as_str);
        text.ok_or_else(|| DecodeError::Foreign(format!("it does not say what its '{name}' is")))
    }

    fn parsed<T: FromStr>(&self, name: &str) -> Result<T, DecodeError> {
        let text = self.text(name)?;
        text.parse().map_err(|_| unreadable(name, text))
    }

    fn size(&self, name: &str, most: usize) -> Result<usize, DecodeError> {
        let size = self.parsed(name)?;
        bounded(name, size, most)
    }

    fn data(&self) -> Result<DataConfig, DecodeError> {
        let dataset: Dataset = self.parsed("dataset")?;
        let whole = DataConfig::new(dataset, self.parsed("seed")?);
        Ok(DataConfig {
            samples: match dataset == Dataset::Text {
                true => whole.samples,
                false => self.size("samples", MOST_SAMPLES)?,
            },
            noise: self.parsed("noise")?,
            jitter: self.parsed("jitter")?,
            turns: self.parsed("turns")?,
            symbols: self.size("symbols", LARGEST)?,
            context: self.size("window", LARGEST)?,
            folder: self.text("folder").ok().map(PathBuf::from),
            corpus: self.text("corpus").ok().map(str::to_owned),
            ..whole
        })
    }

    /// What files of earlier versions do not say is as it is by default.
    fn variant(&self) -> Result<Variant, DecodeError> {
        let says = |name: &str| self.0.metadata.contains_key(&format!("{PREFIX}{name}"));
        let positive = |name: &str, default: f64| match says(name) {
            false => Ok(default),
            true => match self.parsed::<f64>(name)? {
                number if number > 0.0 && number.is_finite() => Ok(number),
                number => Err(unreadable(name, &number.to_string())),
            },
        };
        let usual = Variant::default();
        let scaling = |text: &str| match serde_json::from_str(text) {
            Ok(object) => RotaryScaling::parse(&object, None).ok(),
            Err(_) => None,
        };
        let rotary_scaling = match self.text("rotary_scaling") {
            Ok(text) => scaling(text).ok_or_else(|| unreadable("rotary_scaling", text))?,
            Err(_) => usual.rotary_scaling,
        };
        Ok(Variant {
            head: says("head").then(|| self.size("head", LARGEST)).transpose()?,
            rotary_base: positive("rotary_base", usual.rotary_base)?,
            rotary_scaling,
            rms_epsilon: positive("rms_epsilon", usual.rms_epsilon)?,
        })
    }

    fn architecture(&self) -> Result<Architecture, DecodeError> {
        let size = |name| self.size(name, LARGEST);
        match self.text("model")? {
            "mlp" => {
                let text = self.text("hidden")?;
                let sizes = text.split_whitespace().map(|size| {
                    let size = size.parse().map_err(|_| unreadable("hidden", text))?;
                    bounded("hidden", size, LARGEST)
                });
                let hidden: Vec<usize> = sizes.collect::<Result<_, DecodeError>>()?;
                bounded("depth", hidden.len(), DEEPEST)?;
                let (inputs, outputs) = (size("inputs")?, size("outputs")?);
                Ok(Architecture::Mlp(MlpConfig { inputs, hidden, outputs }))
            }
            "cnn" => Ok(Architecture::Cnn(CnnConfig {
                edge: bounded("edge", size("edge")?, DEEPEST)?,
                width: bounded("width", size("width")?, 1 << 16)?,
                depth: self.size("depth", DEEPEST)?,
                outputs: size("outputs")?,
            })),
            "transformer" => {
                let config = TransformerConfig {
                    vocab: size("vocab")?,
                    width: size("width")?,
                    depth: self.size("depth", DEEPEST)?,
                    heads: size("heads")?.max(1),
                    kv_heads: size("kv_heads")?.max(1),
                    ffn: size("ffn")?,
                    context: size("context")?,
                    variant: self.variant()?,
                };
                let checked = config.check();
                checked.map_err(|(_, reason)| DecodeError::Foreign(reason))?;
                Ok(Architecture::Transformer(config))
            }
            other => Err(unreadable("model", other)),
        }
    }
}

/// Refuses a network that cannot read the data that it is said to have learned.
fn must_agree(data: &DataConfig, architecture: &Architecture) -> Result<(), DecodeError> {
    let classes = data.classes();
    let classes = classes.map_err(|error| DecodeError::Foreign(error.to_string()))?;
    let features = data.features();
    let reads = |inputs, outputs| (inputs, outputs) == (features, classes);
    let agrees = match architecture {
        Architecture::Mlp(config) => reads(config.inputs, config.outputs),
        Architecture::Cnn(config) => reads(config.edge * config.edge, config.outputs),
        Architecture::Filters(_) => false,
        Architecture::Transformer(config) => config.vocab == classes,
    };
    if agrees {
        return Ok(());
    }
    Err(DecodeError::Foreign(format!(
        "it says that it is a {} that learned {}, with examples of {features} numbers and {classes} classes",
        architecture.in_words(),
        data.dataset,
    )))
}

fn unreadable(name: &str, text: &str) -> DecodeError {
    let text: String = text.chars().take(40).collect();
    DecodeError::Foreign(format!(
        "it says that its '{name}' is '{}', which does not read",
        text.escape_debug()
    ))
}

fn bounded(name: &str, size: usize, most: usize) -> Result<usize, DecodeError> {
    if size <= most {
        return Ok(size);
    }
    Err(DecodeError::Foreign(format!(
        "it says that its '{name}' is {size}, and no network here has more than {most}"
    )))
}
