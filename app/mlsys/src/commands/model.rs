//! `mlsys model show`, and the model of `mlsys lab KIND --model`: a Hugging Face config.json.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;

use mlsys_analytic::model_config::{ADAM_BYTES, Attention, MAX_BYTES, Model, Part, Tensor};
use mlsys_lab::control::{Control, Limits};
use mlsys_lab::params::{Given, ParamError, Params, Problem, Settings};
use mlsys_lab::schema::{Param, Schema};
use mlsys_lab::value::{percent, significant};
use mlsys_lab::{DeviceId, Lab, LabError, Registry, Run, RunData, Tables};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::read_bounded;
use mlsys_view::text::{aligned, wrapped};
use serde_json::{Value as Json, json};

use crate::cli;
use crate::context::Context;

/// The table whose entries are models.
const TABLE: &str = "model";

/// Tokens in the context where neither the command nor the file says how many.
const TOKENS: u64 = 2048;

/// Columns where standard output is no terminal, and the most on a wide one.
const WIDTH: usize = 100;

pub fn run(asked: &cli::Model, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let cli::Model::Show(options) = asked;
    let model = read(&options.file)?;
    let name = options.file.display().to_string();
    let tables = tables(&model, &name)?;
    let tokens = options.tokens.or(model.config.context).unwrap_or(TOKENS);
    let page = Page { model: &model, name: &name, tokens };
    context.library()?;
    let labs = page.labs(&tables, context.registry);
    if options.listing.json {
        context.console.line(page.json(&labs))?;
    } else {
        let lines = page.lines(&labs, width());
        context.console.lines(lines)?;
    }
    Ok(Exit::Passed)
}

/// Reads a configuration; of one with mistakes all of them are the message.
fn read(file: &Path) -> Result<Model, Failure> {
    let bytes = read_bounded(file, "model configuration", MAX_BYTES as u64)?;
    Model::read(&bytes).map_err(|problems| {
        let shown = problems.iter().map(|one| format!("{}: {}", file.display(), one.shown(&bytes)));
        Failure::usage(shown.collect::<Vec<_>>().join("\nerror: "))
    })
}

fn tables(model: &Model, name: &str) -> Result<Tables, Failure> {
    Tables::with(TABLE, &model.entry(name))
        .map_err(|error| Failure::usage(format!("{name}: {error}; write its path as ./{name}")))
}

/// Adds the configuration to the tables of this process, before any lab is built; the name it has there.
pub fn install(file: &Path) -> Result<Given, Failure> {
    let model = read(file)?;
    let name = file.display().to_string();
    let installed = tables(&model, &name)?.install();
    installed.map_err(|error| Failure::usage(format!("--model {name}: {error}")))?;
    Ok(Given::Text(name))
}

/// The parameter that takes a model's name.
fn model_param(schema: &Schema) -> Option<&Param> {
    schema.params.iter().find(|param| param.values_from.as_deref() == Some(TABLE))
}

/// Sets a lab's model; a lab that takes none refuses it and names those that do.
pub fn set(
    settings: &mut Settings,
    name: Given,
    schema: &Schema,
    registry: &Registry,
) -> Result<(), Failure> {
    let Some(param) = model_param(schema) else {
        let labs = registry.iter().map(Lab::schema).filter(|schema| model_param(schema).is_some());
        let kinds: Vec<&str> = labs.map(|schema| schema.kind.as_str()).collect();
        return Err(Failure::usage(format!(
            "lab {} has no parameter for a model; these have: {}",
            schema.kind,
            kinds.join(", ")
        )));
    };
    settings.push(&param.name, name);
    Ok(())
}

/// A lab that takes a model, and why it does not open with this one.
struct Opening {
    kind: String,
    about: String,
    lacks: Option<String>,
}

struct Page<'a> {
    model: &'a Model,
    name: &'a str,
    tokens: u64,
}

impl Page<'_> {
    /// Each lab that takes a model, run with this one.
    fn labs(&self, tables: &Tables, registry: &Registry) -> Vec<Opening> {
        let mut labs = Vec::new();
        for lab in registry.iter() {
            let schema = lab.schema();
            let Some(param) = model_param(schema) else { continue };
            let mut settings = Settings::new();
            settings.push(&param.name, Given::Text(self.name.to_owned()));
            let lacks = ran(lab, &settings, tables).err().map(|error| reason(&error));
            let (kind, about) = (schema.kind.clone(), schema.title.clone());
            labs.push(Opening { kind, about, lacks });
        }
        labs
    }

    fn command(&self, kind: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+".contains(c);
        if self.name.chars().all(plain) {
            format!("mlsys lab {kind} --model {}", self.name)
        } else {
            format!("mlsys lab {kind} --model '{}'", self.name.replace('\'', r"'\''"))
        }
    }

    /// Dimensions by name.
    fn dimensions(&self) -> Vec<(&'static str, u64)> {
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

    fn json(&self, labs: &[Opening]) -> Json {
        let (model, tokens) = (self.model, self.tokens);
        let dimensions: serde_json::Map<String, Json> = self
            .dimensions()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        let parts: serde_json::Map<String, Json> = Part::ALL
            .into_iter()
            .map(|part| (part.to_string(), model.parameters_of(part).into()))
            .collect();
        let tensor = |one: &Tensor| json!({ "name": one.name, "shape": one.shape, "layers": one.layers, "experts": one.experts });
        json!({
            "file": self.name,
            "family": model.config.family.to_string(),
            "dimensions": dimensions,
            "tied_embeddings": model.config.tied,
            "parameters": { "total": model.parameters, "active": model.active, "parts": parts },
            "weight_bytes": Json::Object(
                BITS.iter().map(|bits| (bits.to_string(), weight_bytes(model, *bits).into())).collect(),
            ),
            "training_bytes": model.parameters as f64 * ADAM_BYTES as f64,
            "tokens": tokens,
            "forward_flops": model.forward_flops(tokens) as f64,
            "training_flops": model.training_flops(tokens),
            "cache_bytes_per_token": model.cache_bytes(1) as f64,
            "cache_bytes": model.cache_bytes(tokens) as f64,
            "labs": labs.iter().map(|lab| json!({
                "kind": lab.kind, "command": self.command(&lab.kind), "lacks": lab.lacks,
            })).collect::<Vec<_>>(),
            "weights": model.tensors.iter().map(tensor).collect::<Vec<_>>(),
        })
    }

    fn lines(&self, labs: &[Opening], width: usize) -> Vec<String> {
        let config = &self.model.config;
        let tied = if config.tied { ", the output head is the embedding" } else { "" };
        let mut lines = wrapped(&format!("{}: {}{tied}", self.name, config.family), width, "");
        let dimensions = self.dimensions().into_iter();
        let dimensions: Vec<_> = dimensions
            .map(|(name, value)| (name.to_owned(), grouped(value), String::new()))
            .collect();
        section(&mut lines, "Dimensions", &dimensions, width);
        section(&mut lines, "Parameters", &self.parameters(), width);
        section(&mut lines, "Memory", &self.memory(), width);
        section(&mut lines, "FLOPs of a token", &self.flops(), width);
        section(&mut lines, "KV cache, 16 bits a number", &self.cache(), width);
        let opens: Vec<_> = labs
            .iter()
            .filter(|lab| lab.lacks.is_none())
            .map(|lab| (self.command(&lab.kind), String::new(), lab.about.clone()))
            .collect();
        section(&mut lines, "Labs that open with it", &opens, width);
        let others = labs.iter().filter_map(|lab| {
            let lacks = lab.lacks.as_deref()?.lines().next().unwrap_or("").to_owned();
            Some((lab.kind.clone(), String::new(), lacks))
        });
        section(&mut lines, "Labs that it does not fit", &others.collect::<Vec<_>>(), width);
        lines
    }

    fn parameters(&self) -> Vec<Row> {
        let model = self.model;
        let all = model.parameters as f64;
        let mut rows: Vec<Row> = Part::ALL
            .into_iter()
            .map(|part| (part, model.parameters_of(part)))
            .filter(|(_, count)| *count > 0)
            .map(|(part, count)| (part.to_string(), grouped(count), percent(count as f64 / all)))
            .collect();
        let weights: u128 =
            model.tensors.iter().map(|one| u128::from(one.layers) * u128::from(one.experts)).sum();
        rows.push((
            "all".to_owned(),
            grouped(model.parameters),
            format!("N, in {weights} tensors"),
        ));
        if let Some(experts) = model.config.experts {
            let of = format!("{} of {} experts in each layer", experts.active, experts.count);
            rows.push(("active".to_owned(), grouped(model.active), of));
        }
        rows
    }

    fn memory(&self) -> Vec<Row> {
        let n = self.model.parameters;
        let mut rows: Vec<Row> = BITS
            .iter()
            .map(|&bits| {
                let formula = format!("{bits}/8 * {}", grouped(n));
                (format!("weights, {bits} bits"), bytes(weight_bytes(self.model, bits)), formula)
            })
            .collect();
        let adam = format!(
            "({ADAM_BYTES} = 2 weight + 2 gradient + 4 master weight + 4 + 4 moments) * N, without activations"
        );
        rows.push((
            "training with Adam, mixed precision".to_owned(),
            bytes(n as f64 * ADAM_BYTES as f64),
            adam,
        ));
        rows
    }

    fn flops(&self) -> Vec<Row> {
        let (model, tokens) = (self.model, self.tokens);
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
            ("matrices".to_owned(), flops(2.0 * model.multiplied() as f64), matrices),
            (format!("attention, {} tokens", grouped(tokens)), flops(attention as f64), scores),
            ("forward".to_owned(), flops(model.forward_flops(tokens) as f64), "both".to_owned()),
            ("training".to_owned(), flops(model.training_flops(tokens)), training),
        ]
    }

    fn cache(&self) -> Vec<Row> {
        let (model, config) = (self.model, &self.model.config);
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
        let label = format!("{} tokens", grouped(self.tokens));
        vec![
            ("one token".to_owned(), bytes(model.cache_bytes(1) as f64), each),
            (label, bytes(model.cache_bytes(self.tokens) as f64), "one sequence".to_owned()),
        ]
    }
}

/// Runs a lab as it stands, without a record.
fn ran(lab: &dyn Lab, settings: &Settings, tables: &Tables) -> Result<(), LabError> {
    let params = Params::resolve(lab.schema(), settings, tables, None)
        .map_err(|errors| LabError::Param(errors[0].clone()))?;
    let control = Control::free(Limits::default(), Arc::default());
    let mut data = RunData::default();
    lab.run(&mut Run { params, device: DeviceId::CPU, sink: &mut data, control })
}

/// Why a lab does not open: in most cases a dimension that the model does not have.
fn reason(error: &LabError) -> String {
    if let LabError::Param(ParamError { param, problem: Problem::Unset { .. } }) = error {
        format!("it needs {param}, which is not defined for this model")
    } else {
        error.to_string()
    }
}

/// What it is, its value, and its formula or share.
type Row = (String, String, String);

/// A heading and rows in columns; the last column goes on below where it does not fit.
fn section(lines: &mut Vec<String>, title: &str, rows: &[Row], width: usize) {
    if rows.is_empty() {
        return;
    }
    lines.extend([String::new(), title.to_owned()]);
    let heads = rows.iter().map(|(name, value, _)| match value.as_str() {
        "" => vec![name.clone()],
        value => vec![name.clone(), value.to_owned()],
    });
    let heads = aligned(&heads.collect::<Vec<_>>());
    let column = heads.iter().map(|head| head.chars().count()).max().unwrap_or(0) + 2;
    let room = width.saturating_sub(column + 2);
    for (head, (_, _, rest)) in heads.iter().zip(rows) {
        if rest.chars().count() <= room {
            lines.push(format!("  {head:column$}{rest}").trim_end().to_owned());
        } else {
            lines.push(format!("  {head}"));
            lines.extend(wrapped(rest, width.saturating_sub(6), "      "));
        }
    }
}

const BITS: [u64; 4] = [32, 16, 8, 4];

fn weight_bytes(model: &Model, bits: u64) -> f64 {
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

/// Columns of the terminal, or of a file.
fn width() -> usize {
    let columns = || crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
    let terminal = if io::stdout().is_terminal() { columns() } else { None };
    terminal.map_or(WIDTH, |columns| columns.clamp(40, WIDTH))
}
