//! `mlsys model show`, and the model of `mlsys lab KIND --model`: a Hugging Face config.json.

use mlsys_lab::params::{Given, Settings};
use mlsys_lab::schema::Schema;
use mlsys_lab::{Lab, Registry, Tables};
use mlsys_run::model::{BITS, LabFit, ModelFile, Row, model_param, weight_bytes};
use mlsys_run::process::{Exit, Failure};
use mlsys_sim::model_config::{ADAM_BYTES, Part, Tensor};
use mlsys_view::text::{aligned, wrapped};
use serde_json::{Value as Json, json};

use crate::cli;
use crate::context::Context;
use crate::table::Width;

/// Columns where standard output is no terminal, and the most on a wide one.
const WIDTH: usize = 100;

pub fn run(asked: &cli::Model, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let cli::Model::Show(options) = asked;
    let file = ModelFile::read(&options.file, options.tokens)?;
    // Before any table is read: labs look the model up there.
    file.install()?;
    context.library()?;
    let labs = file.labs(Tables::builtin(), context.registry);
    if options.listing.json {
        context.console.line(json(&file, &labs))?;
    } else {
        let lines = lines(&file, &labs, Width::of_output().prose(WIDTH));
        context.console.lines(lines)?;
    }
    Ok(Exit::Passed)
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

fn command(name: &str, kind: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+".contains(c);
    if name.chars().all(plain) {
        format!("mlsys lab {kind} --model {name}")
    } else {
        format!("mlsys lab {kind} --model '{}'", name.replace('\'', r"'\''"))
    }
}

fn json(file: &ModelFile, labs: &[LabFit]) -> Json {
    let ModelFile { model, name, tokens } = file;
    let dimensions: serde_json::Map<String, Json> = file
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
        "file": name,
        "family": model.config.family.to_string(),
        "dimensions": dimensions,
        "tied_embeddings": model.config.tied,
        "parameters": { "total": model.parameters, "active": model.active, "parts": parts },
        "weight_bytes": Json::Object(
            BITS.iter().map(|bits| (bits.to_string(), weight_bytes(model, *bits).into())).collect(),
        ),
        "training_bytes": model.parameters as f64 * ADAM_BYTES as f64,
        "tokens": tokens,
        "forward_flops": model.forward_flops(*tokens) as f64,
        "training_flops": model.training_flops(*tokens),
        "cache_bytes_per_token": model.cache_bytes(1) as f64,
        "cache_bytes": model.cache_bytes(*tokens) as f64,
        "labs": labs.iter().map(|lab| json!({
            "kind": lab.kind, "command": command(name, &lab.kind), "lacks": lab.lacks,
        })).collect::<Vec<_>>(),
        "weights": model.tensors.iter().map(tensor).collect::<Vec<_>>(),
    })
}

fn lines(file: &ModelFile, labs: &[LabFit], width: usize) -> Vec<String> {
    let mut lines = wrapped(&format!("{}: {}", file.name, file.about()), width, "");
    for one in file.sections() {
        section(&mut lines, &one.title, &one.rows, width);
    }
    let row = |name: String, note: &str| Row { name, value: String::new(), note: note.to_owned() };
    let opens = labs.iter().filter(|lab| lab.lacks.is_none());
    let opens: Vec<_> = opens.map(|lab| row(command(&file.name, &lab.kind), &lab.title)).collect();
    section(&mut lines, "Labs that open with it", &opens, width);
    let others = labs.iter().filter_map(|lab| {
        Some(row(lab.kind.clone(), lab.lacks.as_deref()?.lines().next().unwrap_or("")))
    });
    section(&mut lines, "Labs that it does not fit", &others.collect::<Vec<_>>(), width);
    lines
}

/// A heading and rows in columns; the last column goes on below where it does not fit.
fn section(lines: &mut Vec<String>, title: &str, rows: &[Row], width: usize) {
    if rows.is_empty() {
        return;
    }
    lines.extend([String::new(), title.to_owned()]);
    let heads = rows.iter().map(|Row { name, value, .. }| match value.as_str() {
        "" => vec![name.clone()],
        value => vec![name.clone(), value.to_owned()],
    });
    let heads = aligned(&heads.collect::<Vec<_>>());
    let column = heads.iter().map(|head| head.chars().count()).max().unwrap_or(0) + 2;
    let room = width.saturating_sub(column + 2);
    for (head, Row { note: rest, .. }) in heads.iter().zip(rows) {
        if rest.chars().count() <= room {
            lines.push(format!("  {head:column$}{rest}").trim_end().to_owned());
        } else {
            lines.push(format!("  {head}"));
            lines.extend(wrapped(rest, width.saturating_sub(6), "      "));
        }
    }
}
