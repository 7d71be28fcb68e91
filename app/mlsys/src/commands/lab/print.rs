//! A finished run as a table.

use mlsys_lab::frame::Table;
use mlsys_lab::report::RunData;
use mlsys_lab::schema::Schema;

use mlsys_run::console::{Console, harmless};
use mlsys_run::exit::Failure;
use mlsys_view::table::{aligned, cell};

/// Longer values are cut: `--json` prints them whole.
const LONGEST: usize = 60;

/// Metrics with their units in the schema's order, then what the run had to say.
pub fn finished(schema: &Schema, data: &RunData, console: &mut Console) -> Result<(), Failure> {
    for line in aligned(&rows(schema, data)) {
        console.line(line)?;
    }
    if let Some(table) = printed(schema, data) {
        print_table(table, console)?;
    }
    if let Some((step, reason)) = &data.diverged {
        console.line(format_args!("\ndiverged at step {step}: {}", harmless(reason)))?;
    }
    for notice in &data.notices {
        console.line(format_args!("\n{}", harmless(notice)))?;
    }
    Ok(())
}

/// The table that the lab has for print.
fn printed<'a>(schema: &Schema, data: &'a RunData) -> Option<&'a Table> {
    let (_, frame) = data.frames.get(schema.prints.as_deref()?)?;
    frame.table()
}

/// All rows, and whose figures they are, by number.
fn print_table(table: &Table, console: &mut Console) -> Result<(), Failure> {
    let (table, notes) = table.numbered();
    let mut rows = vec![table.columns.clone()];
    rows.extend(table.rows.iter().map(|row| {
        let cells = row.iter().map(|value| cell(&value.to_string(), LONGEST));
        cells.collect()
    }));
    console.line("")?;
    for line in aligned(&rows) {
        console.line(line)?;
    }
    if !notes.is_empty() {
        console.line("")?;
    }
    for note in &notes {
        console.line(harmless(note))?;
    }
    Ok(())
}

fn rows(schema: &Schema, data: &RunData) -> Vec<Vec<String>> {
    let metrics = data.metrics();
    let place = |name: &str| {
        let family = schema.metric(name)?.name.as_str();
        schema.metrics.iter().position(|metric| metric.name == family)
    };
    let mut names: Vec<&str> = metrics.keys().copied().collect();
    // What no schema foresees comes last.
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    names
        .into_iter()
        .filter_map(|name| {
            let value = cell(&metrics.get(name)?.to_string(), LONGEST);
            let unit =
                schema.metric(name).and_then(|metric| metric.unit.clone()).unwrap_or_default();
            Some(vec![name.to_owned(), value, unit, remark(data, name)])
        })
        .collect()
}

/// How many values a series has, and whether it ends in one that is not finite.
fn remark(data: &RunData, name: &str) -> String {
    match data.series.get(name) {
        None => String::new(),
        Some(series) if series.ends_in_gap() => {
            format!("last finite of {} values, then not finite", series.points().len())
        }
        Some(series) => format!("last of {} values", series.points().len()),
    }
}
