//! `mlsys lab list` and `mlsys lab show`.

use std::collections::BTreeMap;

use mlsys_lab::output;
use mlsys_lab::schema::{Metric, Panel, Param, Preset, Schema};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::number;
use serde_json::{Value as Json, json};

use crate::cli::Listing;
use mlsys_run::console::Console;
use mlsys_run::exit::{Exit, Failure};
use mlsys_view::table::{aligned, cell, wrapped};

/// Characters of a line of prose.
const WIDTH: usize = 96;

/// All labs, one a line.
pub fn list(listing: Listing, console: &mut Console) -> Result<Exit, Failure> {
    let schemas: Vec<&Schema> = mlsys_registry::registry().iter().map(|lab| lab.schema()).collect();
    if listing.json {
        let labs: Vec<Json> = schemas.iter().map(|schema| summary(schema)).collect();
        console.line(json!({ "labs": labs }))?;
        return Ok(Exit::Passed);
    }
    let row = |schema: &&Schema| {
        let pace = if schema.is_live() { "live" } else { "instant" };
        vec![schema.kind.clone(), pace.to_owned(), schema.module.clone(), schema.title.clone()]
    };
    for line in aligned(&schemas.iter().map(row).collect::<Vec<_>>()) {
        console.line(line)?;
    }
    Ok(Exit::Passed)
}

/// One lab: what goes in, what comes out, and where the numbers come from.
pub fn show(kind: &str, listing: Listing, console: &mut Console) -> Result<Exit, Failure> {
    let schema = mlsys_registry::registry().find(kind)?.schema();
    if listing.json {
        console.line(description(schema))?;
    } else {
        for line in page(schema) {
            console.line(line)?;
        }
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
    object["metrics"] = schema.metrics.iter().map(metric_json).collect();
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

fn metric_json(metric: &Metric) -> Json {
    json!({
        "name": metric.name,
        "type": metric.ty.to_string(),
        "unit": metric.unit,
        "class": metric.class.to_string(),
        "series": metric.series,
        "when": metric.when,
        "about": metric.about,
    })
}

fn page(schema: &Schema) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", schema.kind, schema.title), String::new()];
    lines.extend(wrapped(&schema.about, WIDTH, ""));
    section(&mut lines, "Parameters", schema.params.iter().map(param_row).collect());
    section(&mut lines, "Presets, for --preset", schema.presets.iter().map(preset_row).collect());
    section(&mut lines, "Metrics", schema.metrics.iter().map(metric_row).collect());
    let panel = |panel: &Panel| vec![panel.name.clone(), panel.shows.clone()];
    section(&mut lines, "Panels", schema.panels.iter().map(panel).collect());
    if let Some(formula) = &schema.formula {
        lines.extend([String::new(), "Formula".to_owned()]);
        lines.extend(formula.lines().map(|line| format!("  {line}").trim_end().to_owned()));
    }
    lines.extend([String::new(), "Source".to_owned()]);
    lines.extend(wrapped(&schema.source, WIDTH, "  "));
    for note in &schema.notes {
        lines.extend([String::new(), "Note".to_owned()]);
        lines.extend(wrapped(note, WIDTH, "  "));
    }
    lines
}

fn section(lines: &mut Vec<String>, title: &str, rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    lines.extend([String::new(), title.to_owned()]);
    lines.extend(aligned(&rows).into_iter().map(|line| format!("  {line}")));
}

fn param_row(param: &Param) -> Vec<String> {
    let default = match (&param.default, &param.from) {
        (Some(default), _) => format!("= {}", cell(&default.to_string(), 32)),
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
    let unit = param.unit.clone().unwrap_or_default();
    vec![param.name.clone(), param.ty.to_string(), default, unit, cell(&range(param), 48), about]
}

/// What a parameter takes: its names, or its range.
fn range(param: &Param) -> String {
    let values = values(param);
    match (param.min, param.max) {
        _ if !values.is_empty() => values.join("|"),
        (Some(min), Some(max)) => format!("{} to {}", number(min), number(max)),
        (Some(min), None) => format!("at least {}", number(min)),
        (None, Some(max)) => format!("at most {}", number(max)),
        (None, None) => String::new(),
    }
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
    let set = cell(&set.join(", "), 72);
    vec![preset.name.clone(), set, preset.about.clone()]
}

fn metric_row(metric: &Metric) -> Vec<String> {
    let kind = if metric.series { format!("{} series", metric.ty) } else { metric.ty.to_string() };
    let about = match &metric.when {
        Some(when) => format!("{} [when {when}]", metric.about),
        None => metric.about.clone(),
    };
    vec![
        metric.name.clone(),
        kind,
        metric.unit.clone().unwrap_or_default(),
        metric.class.to_string(),
        about,
    ]
}
