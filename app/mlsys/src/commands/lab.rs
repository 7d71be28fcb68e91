//! `mlsys lab`: one lab run and printed, or labs listed and explained.

mod compare;

use std::collections::BTreeMap;

use mlsys_lab::control::Limits;
use mlsys_lab::device::{Backend, DeviceChoice, DeviceId, DeviceInfo};
use mlsys_lab::frame::Table;
use mlsys_lab::output;
use mlsys_lab::params::{Given, Params, Settings};
use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Metric, Panel, Param, Preset, Range, Schema};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;
use mlsys_run::console::Console;
use mlsys_run::model::ModelFile;
use mlsys_run::outcome::Outcome;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::session::{RunRequest, execute};
use mlsys_run::settings;
use mlsys_run::sources::Sources;
use mlsys_tui::{Opening, own_page};
use mlsys_view::text::{one_line, wrapped};
use serde_json::{Value as Json, json};

use super::{check, model, open};
use crate::cli::{self, AboutLabs, Listing};
use crate::context::Context;
use crate::table::{Width, numbered};

pub fn run(options: &cli::Lab, context: &mut Context<'_>) -> Result<Exit, Failure> {
    // The labs read the tables when they are built, so the model comes first.
    let model = options.model.as_deref().map(|file| ModelFile::read(file, None)?.install());
    let model = model.transpose()?;
    let named = match (&options.about, &options.kind) {
        (Some(AboutLabs::Show { kind, .. }), _) | (None, Some(kind)) => Some(kind),
        (Some(AboutLabs::List(_) | AboutLabs::Check { .. }), _) | (None, None) => None,
    };
    // A course may bring labs of its own; a built-in lab runs also where the course cannot be opened.
    if named.is_none_or(|kind| context.built_in.find(kind).is_err()) {
        context.library()?;
    }
    match (&options.about, &options.kind) {
        (Some(AboutLabs::List(listing)), _) => list_labs(*listing, context),
        (Some(AboutLabs::Check { paths }), _) => check::labs(paths, context),
        (Some(AboutLabs::Show { kind, listing }), _) => show_lab(kind, *listing, context),
        (None, Some(kind)) => run_one(kind, model, options, context),
        (None, None) => Err(Failure::usage("name a lab; `mlsys lab list` shows them all")),
    }
}

fn run_one(
    kind: &str,
    model: Option<Given>,
    options: &cli::Lab,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let lab = context.registry.find(kind)?;
    let schema = lab.schema();
    let mut given = settings::for_lab(&options.set)?;
    if let Some(name) = model {
        model::set(&mut given, name, schema, context.registry)?;
    }
    if let Some(name) = &options.preset {
        let preset = schema.preset(name).map_err(|error| Failure::usage(error.to_string()))?;
        given = preset.settings().overlaid(&given);
    }
    settings::set_data_dir(&mut given, options.data_dir.as_deref());
    settings::set_weights(
        &mut given,
        options.load_weights.as_deref(),
        options.save_weights.as_deref(),
    );
    if !options.compare.is_empty() {
        return compare::run(lab, &given, options, context);
    }
    let resolve = |given: &Settings| {
        Params::resolve(schema, given, Tables::builtin(), options.machine.seed)
            .map_err(|errors| settings::failure(kind, &errors))
    };
    let params = resolve(&given)?;
    // A lab that splits nothing refuses worker processes, with a screen as without one.
    settings::set_workers(&mut given, context.workers.as_deref());
    let with_workers = resolve(&given)?;
    if !options.json
        && open::on_a_terminal()
        && let Some(page) = own_page::lesson(schema, &params, context.registry)
    {
        let opening = Opening { lesson: page, source: None, turns: Vec::new() };
        return open::start(options.machine, Some(opening), None, context);
    }
    let params = with_workers;
    let device = device_for(schema, &params, options.machine.device, context)?;

    context.listen();
    let runs = context.runs();
    let order = RunRequest {
        label: kind,
        lab,
        params: params.clone(),
        device: device.clone(),
        limits: Limits::default(),
        lesson: None,
        runs: runs.as_deref(),
        sources: Sources {
            runs: context.runs(),
            store: context.store.clone(),
            ..Sources::new(context.registry)
        },
    };
    let finished = execute(order, &context.interrupt, context.console);
    if let Some(trouble) = finished.trouble() {
        let files = match &finished.outcome {
            Outcome::Failed(error) => settings::read_from(&options.set, error),
            Outcome::Finished
            | Outcome::Diverged(..)
            | Outcome::Stopped(_)
            | Outcome::Panicked(_) => String::new(),
        };
        return Ok(context.failed(finished.exit(), &format!("lab {kind}: {trouble}{files}")));
    }
    if options.json {
        context.console.line(output::to_json(schema, &params, device.id, &finished.data))?;
    } else {
        print_finished(schema, &finished.data, context.console)?;
    }
    Ok(finished.exit())
}

/// The device of a run; an instant lab needs none, but a requested device must exist.
fn device_for(
    schema: &Schema,
    params: &Params,
    choice: DeviceChoice,
    context: &Context<'_>,
) -> Result<DeviceInfo, Failure> {
    let at_once = choice == DeviceChoice::Auto && !schema.uses_device(params);
    let choice = if at_once { DeviceChoice::Exactly(DeviceId::CPU) } else { choice };
    Ok(context.devices.choose(choice, &Backend::ALL)?)
}

/// Characters of a line of prose.
const WIDTH: usize = 96;

fn list_labs(listing: Listing, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let console = &mut *context.console;
    let schemas: Vec<&Schema> = context.registry.iter().map(|lab| lab.schema()).collect();
    if listing.json {
        let labs: Vec<Json> = schemas.iter().map(|schema| summary(schema)).collect();
        console.line(json!({ "labs": labs }))?;
        return Ok(Exit::Passed);
    }
    let row = |schema: &&Schema| {
        let pace = if schema.is_live() { "live" } else { "instant" };
        vec![schema.kind.clone(), pace.to_owned(), schema.module.clone(), schema.title.clone()]
    };
    let rows: Vec<_> = schemas.iter().map(row).collect();
    console.lines(Width::of_output().table(&rows, ""))?;
    Ok(Exit::Passed)
}

fn show_lab(kind: &str, listing: Listing, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let console = &mut *context.console;
    let schema = context.registry.find(kind)?.schema();
    if listing.json {
        console.line(description(schema))?;
    } else {
        console.lines(page(schema, Width::of_output()))?;
    }
    Ok(Exit::Passed)
}

fn summary(schema: &Schema) -> Json {
    json!({
        "kind": schema.kind,
        "title": schema.title,
        "module": schema.module,
        "live": schema.is_live(),
        "about": schema.about,
    })
}

fn description(schema: &Schema) -> Json {
    let mut object = summary(schema);
    object["params"] = schema.params.iter().map(param_json).collect();
    object["metrics"] = schema.metrics.iter().map(|m| metric_json(schema, m)).collect();
    object["panels"] =
        schema.panels.iter().map(|p| json!({ "name": p.name, "shows": p.shows })).collect();
    object["presets"] = schema.presets.iter().map(preset_json).collect();
    object["budget_seconds"] = json!(schema.budget);
    object["formula"] = json!(schema.formula);
    object["source"] = json!(schema.source);
    object["notes"] = json!(schema.notes);
    object
}

fn param_json(param: &Param) -> Json {
    json!({
        "name": param.name,
        "type": param.ty.to_string(),
        "unit": param.unit,
        "default": param.default.as_ref().map(output::value),
        "from": param.from,
        "min": param.min,
        "max": param.max,
        "values": values(param),
        "optional": param.optional,
        "live": param.live,
        "command_line_only": param.command_line_only,
        "artifact": param.artifact,
        "about": param.about,
    })
}

fn preset_json(preset: &Preset) -> Json {
    let set: BTreeMap<&str, Json> =
        preset.set.iter().map(|(name, value)| (name.as_str(), output::value(value))).collect();
    json!({ "name": preset.name, "about": preset.about, "set": set })
}

fn metric_json(schema: &Schema, metric: &Metric) -> Json {
    json!({
        "name": metric.name,
        "type": metric.ty.to_string(),
        "unit": metric.unit,
        "min": metric.range().min,
        "max": metric.range().max,
        "class": metric.class.to_string(),
        "label": schema.label(metric).to_string(),
        "series": metric.series,
        "when": metric.when,
        "about": metric.about,
    })
}

fn page(schema: &Schema, width: Width) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", schema.kind, schema.title), String::new()];
    let prose = width.prose(WIDTH);
    lines.extend(wrapped(&schema.about, prose, ""));
    let mut section = |title, rows| section(&mut lines, title, rows, width);
    section("Parameters", schema.params.iter().map(param_row).collect());
    section("Presets, for --preset", schema.presets.iter().map(preset_row).collect());
    section("Metrics", schema.metrics.iter().map(|m| metric_row(schema, m)).collect());
    let panel = |panel: &Panel| vec![panel.name.clone(), panel.shows.clone()];
    section("Panels", schema.panels.iter().map(panel).collect());
    if let Some(formula) = &schema.formula {
        lines.extend([String::new(), "Formula".to_owned()]);
        let most = width.prose(usize::MAX) - 2;
        lines.extend(formula.lines().flat_map(|line| match line.chars().count() > most {
            true => wrapped(line, most, "  "),
            false => vec![format!("  {line}").trim_end().to_owned()],
        }));
    }
    lines.extend([String::new(), "Source".to_owned()]);
    lines.extend(wrapped(&schema.source, prose.saturating_sub(2), "  "));
    for note in &schema.notes {
        lines.extend([String::new(), "Note".to_owned()]);
        lines.extend(wrapped(note, prose.saturating_sub(2), "  "));
    }
    lines
}

fn section(lines: &mut Vec<String>, title: &str, rows: Vec<Vec<String>>, width: Width) {
    if rows.is_empty() {
        return;
    }
    lines.extend([String::new(), title.to_owned()]);
    lines.extend(width.table(&rows, "  "));
}

fn param_row(param: &Param) -> Vec<String> {
    let default = match (&param.default, &param.from) {
        (Some(default), _) => format!("= {}", one_line(&default.to_string())),
        (None, Some(from)) => format!("= {from}"),
        (None, None) if param.optional => "unset".to_owned(),
        (None, None) => String::new(),
    };
    let mut about = param.about.clone();
    if param.live {
        about.push_str(" [live: may change during a run]");
    }
    if param.command_line_only {
        about.push_str(" [command line only]");
    }
    let unit = param.unit.as_deref().unwrap_or("").to_owned();
    vec![param.name.clone(), param.ty.to_string(), default, unit, one_line(&range(param)), about]
}

/// What a parameter takes: its names, or its range.
fn range(param: &Param) -> String {
    let values = values(param);
    if values.is_empty() { bounds(Range::between(param.min, param.max)) } else { values.join("|") }
}

/// A range in words; empty where there is none.
fn bounds(range: Range) -> String {
    if range == Range::ALL { String::new() } else { range.to_string() }
}

fn values(param: &Param) -> Vec<String> {
    match &param.values_from {
        Some(table) => Tables::builtin().names(table).into_iter().map(str::to_owned).collect(),
        None => param.values.clone(),
    }
}

fn preset_row(preset: &Preset) -> Vec<String> {
    let set: Vec<String> =
        preset.set.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let set = one_line(&set.join(", "));
    vec![preset.name.clone(), set, preset.about.clone()]
}

fn metric_row(schema: &Schema, metric: &Metric) -> Vec<String> {
    let kind = if metric.series { format!("{} series", metric.ty) } else { metric.ty.to_string() };
    let about = match &metric.when {
        Some(when) => format!("{} [when {when}]", metric.about),
        None => metric.about.clone(),
    };
    vec![
        metric.name.clone(),
        kind,
        metric.unit.as_deref().unwrap_or("").to_owned(),
        bounds(metric.range()),
        metric.class.to_string(),
        schema.label(metric).to_string(),
        about,
    ]
}

/// On a terminal longer values are cut: a pipe and `--json` have them whole.
const MAX_VALUE: usize = 60;

/// Metrics with their units in the schema's order, then the table, divergence and notices.
pub fn print_finished(
    schema: &Schema,
    data: &RunData,
    console: &mut Console,
) -> Result<(), Failure> {
    let width = Width::of_output();
    console.lines(width.table(&metric_rows(schema, data, width), ""))?;
    let printed = schema.prints.as_deref().and_then(|panel| data.frames.get(panel));
    if let Some(table) = printed.and_then(|(_, frame)| frame.table()) {
        print_table(table, console)?;
    }
    if let Some((step, reason)) = &data.diverged {
        console.line(format_args!("\ndiverged at step {step}: {reason}"))?;
    }
    for notice in &data.notices {
        console.line(format_args!("\n{notice}"))?;
    }
    Ok(())
}

/// All rows, and their notes by number.
fn print_table(table: &Table, console: &mut Console) -> Result<(), Failure> {
    let width = Width::of_output();
    let (table, notes) = table.numbered();
    let mut rows = vec![table.columns.clone()];
    let cell = |value: &Value| width.value(&value.to_string(), MAX_VALUE);
    rows.extend(table.rows.iter().map(|row| row.iter().map(cell).collect()));
    console.line("")?;
    console.lines(width.table(&rows, ""))?;
    if !notes.is_empty() {
        console.line("")?;
    }
    console.lines(notes)
}

fn metric_rows(schema: &Schema, data: &RunData, width: Width) -> Vec<Vec<String>> {
    let metrics = data.metrics();
    let place = |name: &str| {
        let family = schema.metric(name)?.name.as_str();
        schema.metrics.iter().position(|metric| metric.name == family)
    };
    let mut names: Vec<&str> = metrics.keys().copied().collect();
    // What no schema foresees comes last.
    names.sort_by_key(|name| (place(name).unwrap_or(usize::MAX), numbered(name)));
    let row = |name: &str| {
        let value = width.value(&metrics.get(name)?.to_string(), MAX_VALUE);
        let metric = schema.metric(name);
        let unit = metric.iter().flat_map(|metric| &metric.unit).cloned().collect();
        let label = metric.map_or_else(String::new, |one| schema.label(one).to_string());
        Some(vec![name.to_owned(), value, unit, label, remark(data, name)])
    };
    names.into_iter().filter_map(row).collect()
}

/// How many values a series has, and whether it ends in one that is not finite.
fn remark(data: &RunData, name: &str) -> String {
    let Some(series) = data.series.get(name) else { return String::new() };
    let count = series.points().len();
    if series.ends_in_gap() {
        format!("last finite of {count} values, then not finite")
    } else {
        format!("last of {count} values")
    }
}
