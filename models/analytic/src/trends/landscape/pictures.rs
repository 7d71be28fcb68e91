//! Two columns against each other, and where the values come from.

use mlsys_lab::Value;
use mlsys_lab::frame::{Dimension, Scatter, ScatterPoint, Table};
use mlsys_lab::schema::Scale;

/// Groups that have a mark of their own; the others share one.
const GROUPS: usize = 7;

pub(super) struct Chosen {
    pub(super) column: usize,
    /// How it divides; nothing where the values are to say.
    pub(super) scale: Option<Scale>,
}

/// The rows as points between two columns; texts stand on the axis as names, in the order in which they come.
pub(super) fn plot(rows: &Table, x: &Chosen, y: &Chosen, group: Option<usize>) -> Scatter {
    let has = |row: usize, chosen: &Chosen| rows.cell(row, chosen.column).is_some();
    let shown: Vec<usize> =
        (0..rows.rows.len()).filter(|row| has(*row, x) && has(*row, y)).collect();
    let (across, up) = (axis(rows, &shown, x), axis(rows, &shown, y));
    let mut series: Vec<String> = Vec::new();
    let points = shown.into_iter().filter_map(|row| {
        let place = |axis: &Dimension, column| value(axis, rows.cell(row, column)?);
        let (x, y) = (place(&across, x.column)?, place(&up, y.column)?);
        let series = group.map_or(0, |column| {
            let name = rows.cell(row, column).map_or("not known".to_owned(), Value::to_string);
            if let Some(known) = series.iter().position(|other| *other == name) {
                return known;
            }
            if series.len() < GROUPS {
                series.push(name);
                return series.len() - 1;
            }
            if series.len() == GROUPS {
                series.push("others".to_owned());
            }
            GROUPS
        });
        Some(ScatterPoint {
            x: Some(x),
            y: Some(y),
            label: rows.cell(row, 0).map_or(String::new(), Value::to_string),
            series,
        })
    });
    let points = points.collect();
    Scatter { x: across, y: up, series, points, lines: Vec::new() }
}

/// A column of the rows that are plotted as an axis: of numbers if it has any, else of names.
fn axis(rows: &Table, shown: &[usize], chosen: &Chosen) -> Dimension {
    let title = rows.columns.get(chosen.column).map_or("", String::as_str);
    let values = || {
        let cells = shown.iter();
        cells.filter_map(|row| rows.cell(*row, chosen.column))
    };
    let numbers: Vec<f64> = values().filter_map(Value::as_f64).collect();
    let mut categories: Vec<String> = Vec::new();
    if numbers.is_empty() {
        for name in values().map(Value::to_string) {
            if !categories.contains(&name) {
                categories.push(name);
            }
        }
    }
    // Names stand side by side, the first at 0, which has no logarithm.
    let scale = match categories.is_empty() {
        true => chosen.scale.unwrap_or_else(|| fitting(&numbers)),
        false => Scale::Linear,
    };
    Dimension { name: title.to_owned(), scale, categories, ..Dimension::default() }
}

/// Logarithmic where values lie so far apart that most would crowd at one end.
fn fitting(numbers: &[f64]) -> Scale {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    match low > 0.0 && high > 30.0 * low {
        true => Scale::Log,
        false => Scale::Linear,
    }
}

fn value(axis: &Dimension, cell: &Value) -> Option<f64> {
    if axis.categories.is_empty() {
        return cell.as_f64();
    }
    let name = cell.to_string();
    let place = axis.categories.iter().position(|other| *other == name)?;
    Some(place as f64)
}

/// How many cells each note is on, the most frequent first.
pub(super) fn sources(rows: &Table) -> Vec<(usize, &str)> {
    let count = |note: &str| {
        let cells =
            (0..rows.rows.len()).flat_map(|row| (0..rows.columns.len()).map(move |c| (row, c)));
        cells.filter(|(row, column)| rows.notes.at(*row, *column) == Some(note)).count()
    };
    let notes = rows.notes.all().iter();
    let mut counted: Vec<_> = notes.map(|note| (count(note), note.as_str())).collect();
    counted.sort_by(|(a, _), (b, _)| b.cmp(a));
    counted
}
