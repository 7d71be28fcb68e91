//! `mlsys runs export`: a run's series as CSV, as lines of JSON, or as an event file of TensorBoard.

mod tensorboard;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use mlsys_lab::Registry;
use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Label, Schema};
use mlsys_run::console::Console;
use mlsys_run::files;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::record::RecordedRun;
use mlsys_view::csv::{cell, titled};
use mlsys_view::metrics;

use crate::cli::{ExportRun, RunFormat};

pub fn run(
    past: &RecordedRun,
    options: &ExportRun,
    registry: &Registry,
    console: &mut Console,
) -> Result<Exit, Failure> {
    let is_standard = options.output == Path::new("-");
    if options.format == RunFormat::Tensorboard && is_standard {
        return Err(Failure::usage(
            "an event file is not text: name the folder for it with -o FOLDER, then `tensorboard --logdir FOLDER`",
        ));
    }
    let mut bytes = Vec::new();
    // Of a lab that is not known here the record does not say where its numbers come from.
    let schema = registry.find(past.summary.lab()).ok().map(|lab| lab.schema());
    write(past, options.format, schema, &mut bytes)?;
    if is_standard {
        console.raw(&String::from_utf8_lossy(&bytes))?;
        return Ok(Exit::Passed);
    }
    let path = match options.format {
        RunFormat::Csv | RunFormat::Jsonl => options.output.clone(),
        RunFormat::Tensorboard => {
            // A folder a run, so that TensorBoard tells runs apart.
            let folder = options.output.join(&past.summary.name);
            fs::create_dir_all(&folder).map_err(|error| {
                Failure::Usage(format!("'{}' cannot be created: {error}", folder.display()))
            })?;
            folder.join(tensorboard::file_name(&past.summary))
        }
    };
    files::write_output(&path, &bytes)?;
    console.note(format_args!("{} is written", path.display()));
    Ok(Exit::Passed)
}

fn write(
    past: &RecordedRun,
    format: RunFormat,
    schema: Option<&Schema>,
    out: &mut impl Write,
) -> io::Result<()> {
    match format {
        RunFormat::Csv => csv(&past.data, schema, out),
        RunFormat::Jsonl => jsonl(&past.data, schema, out),
        RunFormat::Tensorboard => tensorboard::write(past, schema, out),
    }
}

/// Where a metric's numbers come from.
fn label(schema: Option<&Schema>, name: &str) -> Option<Label> {
    metrics::label_of(schema?, name)
}

/// The values of all series by step; NaN where one was not finite.
fn by_step(data: &RunData) -> BTreeMap<u64, Vec<Option<f64>>> {
    let mut steps: BTreeMap<u64, Vec<Option<f64>>> = BTreeMap::new();
    let count = data.series.len();
    for (index, series) in data.series.values().enumerate() {
        let gaps = series.gaps().iter().map(|&step| (step, f64::NAN));
        for (step, value) in series.points().iter().copied().chain(gaps) {
            let row = steps.entry(step).or_insert_with(|| vec![None; count]);
            if let Some(cell) = row.get_mut(index) {
                *cell = Some(value);
            }
        }
    }
    steps
}

/// A header of names with unit and label, then a row a step; a cell without a measurement is empty.
fn csv(data: &RunData, schema: Option<&Schema>, out: &mut impl Write) -> io::Result<()> {
    write!(out, "step")?;
    for name in data.series.keys() {
        let unit = schema.and_then(|schema| metrics::unit(schema, name)).unwrap_or("");
        let label = label(schema, name).map_or_else(String::new, |label| format!(" {label}"));
        write!(out, ",{}", cell(&format!("{}{label}", titled(name, unit))))?;
    }
    writeln!(out)?;
    for (step, row) in by_step(data) {
        write!(out, "{step}")?;
        for value in row {
            match value {
                Some(value) => write!(out, ",{value}")?,
                None => write!(out, ",")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// An object a step with its measurements; null where one was not finite. The first has the labels of all.
fn jsonl(data: &RunData, schema: Option<&Schema>, out: &mut impl Write) -> io::Result<()> {
    let names: Vec<&str> = data.series.keys().map(AsRef::as_ref).collect();
    let labels = names.iter().filter_map(|name| Some((*name, label(schema, name)?)));
    let mut labels: BTreeMap<&str, Label> = labels.collect();
    for (step, row) in by_step(data) {
        write!(out, "{{\"step\":{step}")?;
        for (name, value) in names.iter().zip(row) {
            if let Some(value) = value {
                write!(
                    out,
                    ",{}:{}",
                    serde_json::to_string(name)?,
                    serde_json::to_string(&value)?
                )?;
            }
        }
        if !labels.is_empty() {
            write!(out, ",\"labels\":{}", serde_json::to_string(&std::mem::take(&mut labels))?)?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use mlsys_lab::report::Report;

    use super::*;

    #[test]
    fn a_step_is_a_row_and_what_was_not_measured_is_empty() {
        let mut data = RunData::default();
        for (name, step, value) in
            [("loss", 1, 0.1 + 0.2), ("a,\"b\"", 1, f64::NAN), ("loss", 2, 1e-9)]
        {
            data.apply(Report::Point { name: name.into(), step, value });
        }
        let schema = Schema::parse(
            "kind='k'\ntitle=''\nmodule='gpu'\nabout=''\nsource=''\nbudget=1.0\n\
             [[metric]]\nname='loss'\ntype='float'\nunit='nats'\nclass='seeded'\nseries=true\nabout=''\n",
        )
        .unwrap();
        type Form = fn(&RunData, Option<&Schema>, &mut Vec<u8>) -> io::Result<()>;
        let text = |write: Form, schema: Option<&Schema>| {
            let mut text = Vec::new();
            write(&data, schema, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let rows = "\n1,NaN,0.30000000000000004\n2,,0.000000001\n";
        let names = "step,\"a,\"\"b\"\"\",loss";
        assert_eq!(text(csv, None), format!("{names}{rows}"));
        assert_eq!(text(csv, Some(&schema)), format!("{names} (nats) measured{rows}"));
        let first = "{\"step\":1,\"a,\\\"b\\\"\":null,\"loss\":0.30000000000000004";
        let second = "{\"step\":2,\"loss\":1e-9}";
        assert_eq!(text(jsonl, None), format!("{first}}}\n{second}\n"));
        let labels = "\"labels\":{\"loss\":\"measured\"}";
        assert_eq!(text(jsonl, Some(&schema)), format!("{first},{labels}}}\n{second}\n"));
    }
}
