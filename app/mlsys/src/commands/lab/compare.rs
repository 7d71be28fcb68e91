//! `mlsys lab KIND --compare FILE FILE`: one lab with each of several source texts, and what they cost side by side.

use std::path::Path;

use mlsys_lab::control::Limits;
use mlsys_lab::device::DeviceInfo;
use mlsys_lab::output;
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::report::RunData;
use mlsys_lab::schema::Schema;
use mlsys_lab::{Lab, Tables, Value};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::session::{RunRequest, execute};
use mlsys_run::settings;
use mlsys_run::sources::Sources;
use mlsys_view::text::one_line;
use serde_json::json;

use super::{MAX_VALUE, device_for};
use crate::cli;
use crate::context::Context;
use crate::table::Width;

struct Compared {
    file: String,
    params: Params,
    device: DeviceInfo,
    data: RunData,
}

/// Runs the lab once for each file; nothing is recorded.
pub(super) fn run(
    lab: &'static dyn Lab,
    given: &Settings,
    options: &cli::Lab,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let schema = lab.schema();
    if schema.param("source").is_none() {
        let kind = &schema.kind;
        let message =
            format!("--compare: the lab {kind} takes no source text; `mlsys lab kernel` does");
        return Err(Failure::usage(message));
    }
    context.listen();
    let mut compared = Vec::new();
    for file in &options.compare {
        match run_file(lab, given, file, options, context)? {
            Ok(one) => compared.push(one),
            Err(exit) => return Ok(exit),
        }
    }
    if options.json {
        let objects = compared.iter().map(|one| {
            let result = output::to_json(schema, &one.params, one.device.id, &one.data);
            json!({ "file": one.file, "result": result })
        });
        context.console.line(json!({ "compared": objects.collect::<Vec<_>>() }))?;
    } else {
        context.console.lines(table(schema, &compared))?;
    }
    Ok(Exit::Passed)
}

fn run_file(
    lab: &'static dyn Lab,
    given: &Settings,
    file: &Path,
    options: &cli::Lab,
    context: &mut Context<'_>,
) -> Result<Result<Compared, Exit>, Failure> {
    let schema = lab.schema();
    let source = settings::for_lab(&[format!("source=@{}", file.display())])?;
    let given = given.clone().overlaid(&source);
    let params = Params::resolve(schema, &given, Tables::builtin(), options.machine.seed)
        .map_err(|errors| settings::failure(&schema.kind, &errors))?;
    let device = device_for(schema, &params, options.machine.device, context)?;
    let order = RunRequest {
        label: &schema.kind,
        lab,
        params: params.clone(),
        device: device.clone(),
        limits: Limits::default(),
        lesson: None,
        runs: None,
        sources: Sources::new(context.registry),
    };
    let finished = execute(order, &context.interrupt, context.console);
    let file = file.display().to_string();
    Ok(match finished.trouble() {
        Some(trouble) => Err(context.failed(finished.exit(), &format!("{file}: {trouble}"))),
        None => Ok(Compared { file, params, device, data: finished.data }),
    })
}

/// The first metric, and those in which the runs differ; a column for each file.
fn table(schema: &Schema, compared: &[Compared]) -> Vec<String> {
    let width = Width::of_output();
    let names = compared.iter().map(|one| one_line(&one.file));
    let mut rows = vec![std::iter::once(String::new()).chain(names).collect::<Vec<_>>()];
    let mut equal = 0;
    for (place, metric) in schema.metrics.iter().enumerate() {
        let values: Vec<Option<Value>> =
            compared.iter().map(|one| one.data.metric(&metric.name)).collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        if values.windows(2).all(|pair| pair[0] == pair[1]) && place > 0 {
            equal += 1;
            continue;
        }
        let shown = values.iter().map(|value| match value {
            Some(value) => width.value(&value.to_string(), MAX_VALUE),
            None => "-".to_owned(),
        });
        rows.push(std::iter::once(metric.name.clone()).chain(shown).collect());
    }
    let mut lines = width.table(&rows, "");
    lines.push(match equal {
        1 => "1 metric is equal".to_owned(),
        equal => format!("{equal} metrics are equal"),
    });
    lines
}
