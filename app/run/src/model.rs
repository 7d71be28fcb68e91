//! What a language model's `config.json` comes to: parameters, memory, FLOPs, cache, and the labs that open with it.
//!
//! `mlsys model show` prints it and the workbench shows it as a page.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use mlsys_lab::control::{Control, Limits};
use mlsys_lab::params::{Given, ParamError, Params, Problem, Settings};
use mlsys_lab::schema::{Param, Schema};
use mlsys_lab::value::{percent, significant};
use mlsys_lab::{DeviceId, Lab, LabError, Registry, Run, RunData, Tables};
use mlsys_sim::model_config::{Attention, ConfigProblem, MAX_BYTES, Model, Part, TRAINING};

use crate::process::Failure;
use crate::storage::read_bounded;

/// The table of models.
const TABLE: &str = "model";

/// Tokens in the context where neither the reader nor the file says how many.
const TOKENS: u64 = 2048;

/// A configuration that was read, under the name of its file.
pub struct ModelFile {
    pub model: Model,
    pub name: String,
    /// Tokens in the context, for attention and cache.
    pub tokens: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// All mistakes, each with its place in the file.
    #[error("{}", .0.join("\nerror: "))]
    Config(Vec<String>),
    #[error(transparent)]
    File(#[from] Failure),
    #[error("{0}")]
    Name(String),
}

/// A heading and what is said under it.
pub struct Section {
    pub title: String,
    pub rows: Vec<Row>,
}

pub struct Row {
    pub name: String,
    pub value: String,
    /// Its formula, or its share.
    pub note: String,
}

/// A lab that takes a model, and why it does not open with this one.
pub struct LabFit {
    pub kind: String,
    pub title: String,
    pub lacks: Option<String>,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::File(failure) => failure,
            ModelError::Config(_) | ModelError::Name(_) => Self::Usage(error.to_string()),
        }
    }
}

/// The parameter that takes a model's name.
pub fn model_param(schema: &Schema) -> Option<&Param> {
    schema.params.iter().find(|param| param.values_from.as_deref() == Some(TABLE))
}

impl ModelFile {
    /// Reads a configuration, in a folder its `config.json`; of one with mistakes all of them are the error.
    pub fn read(file: &Path, tokens: Option<u64>) -> Result<Self, ModelError> {
        let file = if file.is_dir() { &file.join("config.json") } else { file };
        let bytes = read_bounded(file, "model configuration", MAX_BYTES as u64)?;
        let model = Model::read(&bytes).map_err(|problems| {
            let said = |one: &ConfigProblem| format!("{}: {}", file.display(), one.shown(&bytes));
            ModelError::Config(problems.iter().map(said).collect())
        })?;
        let tokens = tokens.or(model.config.context).unwrap_or(TOKENS);
        Ok(Self { model, name: file.display().to_string(), tokens })
    }

    /// The tables of the program with this model.
    pub fn tables(&self) -> Result<Tables, ModelError> {
        let name = &self.name;
        let refused =
            |error| ModelError::Name(format!("{name}: {error}; write its path as ./{name}"));
        Tables::with(TABLE, &self.model.entry(name)).map_err(refused)
    }

    /// Adds the configuration to the tables of this process, before any lab is built; the name it has there.
    pub fn install(&self) -> Result<Given, ModelError> {
        let installed = self.tables()?.install();
        installed.map_err(|error| ModelError::Name(format!("--model {}: {error}", self.name)))?;
        Ok(Given::Text(self.name.clone()))
    }

    /// Each lab that takes a model, run with this one.
    pub fn labs(&self, tables: &Tables, registry: &Registry) -> Vec<LabFit> {
        let mut labs = Vec::new();
        for lab in registry.iter() {
            let schema = lab.schema();
            let Some(param) = model_param(schema) else { continue };
            let mut settings = Settings::new();
            settings.push(&param.name, Given::Text(self.name.clone()));
            let lacks = ran(lab, &settings, tables).err().map(|error| self.reason(&error));
            let (kind, title) = (schema.kind.clone(), schema.title.clone());
            labs.push(LabFit { kind, title, lacks });
        }
        labs
    }

    /// Why a lab does not open.
    fn reason(&self, error: &LabError) -> String {
        if let LabError::Contradiction { message, .. } = error {
            return message.clone();
        }
        let LabError::Param(ParamError { param, problem: Problem::Unset { .. } }) = error else {
            return error.to_string();
        };
        let why = match (param.as_str(), self.model.config.attention) {
            ("architecture", _) => "its weights are not those that the formulas count",
            ("kv_heads" | "head_dim", Attention::Latent { .. }) => {
                "its keys and values come from a latent"
            }
            (_, Attention::Heads { .. } | Attention::Latent { .. }) => {
                "the model has no such number"
            }
        };
        format!("it needs {param}, which is not defined for this model: {why}")
    }

    /// The family, and whether the output head is a weight of its own.
    pub fn about(&self) -> String {
        let config = &self.model.config;
        let tied = if config.tied { ", the output head is the embedding" } else { "" };
        format!("{}{tied}", config.family)
    }

    pub fn sections(&self) -> Vec<Section> {
        let dimensions = self.dimensions().into_iter();
        let dimensions = dimensions.map(|(name, value)| row(name, grouped(value), "")).collect();
        let section = |title: &str, rows| Section { title: title.to_owned(), rows };
        vec![
            section("Dimensions", dimensions),
            section("Parameters", self.parameters()),
            section("Memory", self.memory()),
            section("FLOPs of a token", self.flops()),
            section("KV cache, 16 bits a number", self.cache()),
        ]
    }

    /// Dimensions by name.
    pub fn dimensions(&self) -> Vec<(&'static str, u64)> {
        let config = &self.model.config;
        let mut all =
            vec![("layers", config.layers), ("hidden", config.hidden), ("heads", config.heads)];
        match config.attention {
            Attention::Heads { kv_heads, head_dim } => {
                all.extend([("kv_heads", kv_heads), ("head_dim", head_dim)]);
            }
            Attention::Latent { query_rank, rank, rope, nope, value } => {
                all.extend(query_rank.map(|rank| ("query_rank", rank)));
                all.extend([("latent_rank", rank), ("rope_dim", rope), ("nope_dim", nope)]);
                all.push(("value_dim", value));
            }
        }
        all.push(("ffn", config.ffn));
        if let Some(experts) = config.experts {
            all.extend([("experts", experts.count), ("active_experts", experts.active)]);
            all.extend([("expert_ffn", experts.width), ("expert_layers", experts.layers)]);
            all.extend((experts.shared > 0).then_some(("shared_ffn", experts.shared)));
        }
        if let Some(window) = config.window {
            all.extend([("window", window.tokens), ("window_layers", window.layers)]);
        }
        all.push(("vocab", config.vocab));
        all.extend(config.context.map(|context| ("context", context)));
        all
    }

    fn parameters(&self) -> Vec<Row> {
        let model = &self.model;
        let all = model.parameters as f64;
        let mut rows: Vec<Row> = Part::ALL
            .into_iter()
            .map(|part| (part, model.parameters_of(part)))
            .filter(|(_, count)| *count > 0)
            .map(|(part, count)| row(part.to_string(), grouped(count), percent(count as f64 / all)))
            .collect();
        let weights: u128 =
            model.tensors.iter().map(|one| u128::from(one.layers) * u128::from(one.experts)).sum();
        let note = format!("N, in {weights} tensors");
        rows.push(row("all", grouped(model.parameters), note));
        if let Some(experts) = model.config.experts {
            let of = format!("{} of {} experts in each layer", experts.active, experts.count);
            rows.push(row("active", grouped(model.active), of));
        }
        rows
    }

    fn memory(&self) -> Vec<Row> {
        let n = self.model.parameters;
        let weights = BITS.iter().map(|&bits| {
            let formula = format!("{bits}/8 * {}", grouped(n));
            row(format!("weights, {bits} bits"), bytes(weight_bytes(&self.model, bits)), formula)
        });
        let training = TRAINING.iter().map(|(how, each, formula)| {
            let formula = format!("({each} = {formula}) * N, without activations");
            row(format!("training with {how}"), bytes(n as f64 * *each as f64), formula)
        });
        weights.chain(training).collect()
    }

    fn flops(&self) -> Vec<Row> {
        let (model, tokens) = (&self.model, self.tokens);
        let matrices = format!(
            "2 * {} weights that multiply (active, with the output head, without the embedding)",
            grouped(model.multiplied())
        );
        let scores = format!(
            "{} for each of {} tokens attended to, over all layers",
            grouped(model.score_flops()),
            grouped(model.attended(tokens))
        );
        let training = format!("3 * forward, on average over a sequence of {}", grouped(tokens));
        let attention = u128::from(model.score_flops()) * model.attended(tokens);
        vec![
            row("matrices", flops(2.0 * model.multiplied() as f64), matrices),
            row(format!("attention, {} tokens", grouped(tokens)), flops(attention as f64), scores),
            row("forward", flops(model.forward_flops(tokens) as f64), "both"),
            row("training", flops(model.training_flops(tokens)), training),
        ]
    }

    fn cache(&self) -> Vec<Row> {
        let (model, config) = (&self.model, &self.model.config);
        let mut each = match config.attention {
            Attention::Heads { kv_heads, head_dim } => {
                format!("2 * {} layers * {kv_heads} heads * {head_dim} * 2 bytes", config.layers)
            }
            Attention::Latent { rank, rope, .. } => {
                format!("{} layers * ({rank} latent + {rope} rotary) * 2 bytes", config.layers)
            }
        };
        if let Some(window) = config.window {
            let _ = write!(each, "; {} layers keep {} tokens", window.layers, window.tokens);
        }
        let one = row("one token", bytes(model.cache_bytes(1) as f64), each);
        let contexts = CONTEXTS.into_iter().filter(|tokens| *tokens < self.tokens);
        let contexts = contexts.chain([self.tokens]).map(|tokens| {
            let label = format!("{} tokens", grouped(tokens));
            row(label, bytes(model.cache_bytes(tokens) as f64), "one sequence")
        });
        [one].into_iter().chain(contexts).collect()
    }
}

fn row(name: impl Into<String>, value: String, note: impl Into<String>) -> Row {
    Row { name: name.into(), value, note: note.into() }
}

/// Runs a lab as it stands, without a record.
fn ran(lab: &dyn Lab, settings: &Settings, tables: &Tables) -> Result<(), LabError> {
    let params = Params::resolve(lab.schema(), settings, tables, None)
        .map_err(|errors| LabError::Param(errors[0].clone()))?;
    let control = Control::free(Limits::default(), Arc::default());
    let mut data = RunData::default();
    lab.run(&mut Run { params, device: DeviceId::CPU, sink: &mut data, control })
}

/// Contexts that the cache is said of, up to the longest.
const CONTEXTS: [u64; 4] = [1024, 8192, 32_768, 131_072];

pub const BITS: [u64; 4] = [32, 16, 8, 4];

pub fn weight_bytes(model: &Model, bits: u64) -> f64 {
    model.parameters as f64 * bits as f64 / 8.0
}

/// A count with a comma every three digits.
fn grouped(count: impl Into<u128>) -> String {
    let digits = count.into().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Four digits with a decimal prefix.
fn scaled(value: f64, unit: &str) -> String {
    let prefixes = ["", "k", "M", "G", "T", "P", "E", "Z"];
    let step = (value.max(1.0).log10() / 3.0).floor().min(7.0) as usize;
    let value = significant(value / 1000_f64.powi(step as i32), 4);
    format!("{value} {}{unit}", prefixes[step])
}

fn bytes(value: f64) -> String {
    scaled(value, "B")
}

fn flops(value: f64) -> String {
    scaled(value, "FLOP")
}
