//! Several runs as a picture: points between two axes, or a table.

use mlsys_lab::frame::{Better, Dimension, Frame, Scatter, ScatterLine, ScatterPoint, Table};
use mlsys_lab::picture::{line, reference};
use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Attempts, Form, Panel, Scale, Schema, Told};
use mlsys_lab::value::{Value, number, significant};
use mlsys_lesson::Goal;

use crate::attempts::{RunComparison, RunEnv, label};
use crate::axis::bounds;
use crate::glyphs::{GlyphSet, Glyphs};
use crate::quantity::{Prefix, quantity, unit};
use crate::text::aligned;

/// What one run, or what all are compared with, says.
struct Row {
    label: String,
    kind: RowKind,
    point: usize,
    values: Vec<Option<f64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RowKind {
    Own,
    Other(usize),
    /// What all are compared with.
    Reference,
}

/// The runs that a panel shows; nothing before one of them has found what it needs.
pub fn picture(
    schema: &Schema,
    panel: &Panel,
    data: &RunData,
    comparison: &RunComparison<'_>,
) -> Option<Frame> {
    let attempts = panel.attempts.as_ref()?;
    let rows = rows(schema, panel, attempts, data, comparison);
    if rows.is_empty() {
        return None;
    }
    Some(match attempts.form {
        Form::Scatter => Frame::Scatter(scatter(schema, attempts, &rows, comparison.goals)?),
        Form::Table => Frame::Table(comparison_table(attempts, &rows)),
    })
}

pub fn lines(schema: &Schema, panel: &Panel, comparison: &RunComparison<'_>) -> Vec<String> {
    let Some(attempts) = &panel.attempts else { return Vec::new() };
    let rows = rows(schema, panel, attempts, &RunData::default(), comparison);
    // As in the picture: runs of which none has both values are no points.
    let is_point = |row: &Row| row.values.iter().all(Option::is_some);
    if rows.is_empty() || attempts.form == Form::Scatter && !rows.iter().any(is_point) {
        return Vec::new();
    }
    aligned(&table(schema, attempts, &rows, comparison.goals))
}

/// What is told, the oldest run first, the one on the screen after the others, and last what all are compared with.
fn rows(
    schema: &Schema,
    panel: &Panel,
    attempts: &Attempts,
    data: &RunData,
    comparison: &RunComparison<'_>,
) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut reference = None;
    // Where neither a run nor a lesson says which, the picture is of those that are like the first.
    let same = attempts.same.as_deref();
    let params = comparison.own.map(|own| own.params).or(comparison.set);
    let mut wanted = params.zip(same).and_then(|(params, name)| params.get(name).cloned());
    for one in comparison.others(schema, &panel.name) {
        if let Some(theirs) = same.and_then(|name| one.params.get(name))
            && *theirs != *wanted.get_or_insert_with(|| theirs.clone())
        {
            continue;
        }
        let Some(theirs) = one.schema.attempts(&panel.name) else { continue };
        let mut kinds = kinds(schema, attempts).into_iter();
        let kind = kinds.position(|kind| *kind == one.schema.kind).unwrap_or(0);
        let param = |name: &str| one.params.get(name).cloned();
        let env = RunEnv { data: &one.data, param: &param };
        for row in point_rows(&env, &theirs.points, &one.label(), RowKind::Other(kind)) {
            // A run that was done twice is one point.
            rows.retain(|Row { label, point, values, .. }| {
                (label, point, values) != (&row.label, &row.point, &row.values)
            });
            rows.push(row);
        }
        reference = reference_row(&env, theirs.reference.as_ref()).or(reference);
    }
    if let Some(own) = comparison.own {
        let changed = |name: &str| {
            let changes = data.changes.iter().rev();
            changes.clone().find(|change| change.name == name).map(|change| change.value.clone())
        };
        let param = |name: &str| changed(name).or_else(|| own.params.get(name).cloned());
        let env = RunEnv { data, param: &param };
        let label = label(own.lab, own.turned, &data.changes);
        rows.extend(point_rows(&env, &attempts.points, &label, RowKind::Own));
        reference = reference_row(&env, attempts.reference.as_ref()).or(reference);
    }
    rows.extend(reference);
    rows
}

fn kinds<'a>(schema: &'a Schema, attempts: &'a Attempts) -> Vec<&'a str> {
    if attempts.kinds.is_empty() {
        return vec![&schema.kind];
    }
    attempts.kinds.iter().map(String::as_str).collect()
}

/// What a run has of a point or of what all are compared with; nothing without any value.
fn row(env: &RunEnv<'_>, told: &Told, label: &str, kind: RowKind, point: usize) -> Option<Row> {
    let values: Vec<Option<f64>> = told.values.iter().map(|term| env.number(term)).collect();
    values.iter().any(Option::is_some).then(|| Row { label: label.to_owned(), kind, point, values })
}

fn point_rows(env: &RunEnv<'_>, points: &[Told], label: &str, kind: RowKind) -> Vec<Row> {
    let rows = points.iter().enumerate();
    rows.filter_map(|(place, told)| row(env, told, label, kind, place)).collect()
}

fn reference_row(env: &RunEnv<'_>, reference: Option<&Told>) -> Option<Row> {
    reference.and_then(|told| row(env, told, &told.name, RowKind::Reference, 0))
}

fn point_name(attempts: &Attempts, row: &Row) -> String {
    attempts.points.get(row.point).map_or_else(String::new, |told| told.name.clone())
}

fn scatter(schema: &Schema, attempts: &Attempts, rows: &[Row], goals: &[Goal]) -> Option<Scatter> {
    let [x, y] = attempts.axes.as_slice() else { return None };
    let by_name = attempts.points.len() > 1;
    let kinds = kinds(schema, attempts);
    let group = |row: &Row| match (row.kind, by_name) {
        (RowKind::Reference, _) => row.label.clone(),
        (_, true) => point_name(attempts, row),
        (RowKind::Own, false) => "this run".to_owned(),
        (RowKind::Other(kind), false) => {
            let kind = kinds.get(kind).copied().unwrap_or("");
            if kinds.len() > 1 { kind.to_owned() } else { "earlier runs".to_owned() }
        }
    };
    // The same groups have the same colours whatever order runs came in.
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by_key(|row| (row.kind, row.point));
    let mut series: Vec<String> = Vec::new();
    for name in order.into_iter().map(group) {
        if !series.contains(&name) {
            series.push(name);
        }
    }
    let placed = rows.iter().filter_map(|row| {
        let [Some(x), Some(y)] = row.values.as_slice() else { return None };
        let name = group(row);
        Some(ScatterPoint {
            x: Some(*x),
            y: Some(*y),
            label: row.label.clone(),
            series: series.iter().position(|one| *one == name).unwrap_or(0),
        })
    });
    let points: Vec<ScatterPoint> = placed.collect();
    if points.is_empty() {
        return None;
    }
    let mut scatter = Scatter {
        x: x.clone(),
        y: Dimension { worst: worst(y, rows, goals), ..y.clone() },
        series,
        points,
        lines: Vec::new(),
    };
    scatter.lines = goal_lines(&scatter, rows, goals);
    if !scatter.has_front() {
        let joined: Vec<ScatterLine> =
            (0..scatter.series.len()).filter_map(|group| joined(&scatter, group)).collect();
        scatter.lines.extend(joined);
    }
    Some(scatter)
}

/// The points of a group from left to right; of those at one place across the newest.
fn joined(scatter: &Scatter, group: usize) -> Option<ScatterLine> {
    let points = scatter.points.iter().rev();
    let points = points.filter(|point| point.series == group);
    let mut places: Vec<(f64, f64)> = points.filter_map(ScatterPoint::place).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    places.dedup_by(|a, b| a.0 == b.0);
    let name = scatter.series.get(group)?.clone();
    (places.len() > 1).then(|| line(name, places))
}

/// A column a run, the current first, then the newest; a row a quantity, because its name is the longer one.
fn comparison_table(attempts: &Attempts, rows: &[Row]) -> Table {
    let shown: Vec<&Row> = ordered(rows).collect();
    let mut columns = vec!["".to_owned()];
    columns.extend(shown.iter().map(|row| match row.kind {
        RowKind::Own => "this run".to_owned(),
        RowKind::Other(_) | RowKind::Reference => row.label.clone(),
    }));
    let point_rows = attempts.axes.iter().enumerate().map(|(place, axis)| {
        let values = shown.iter().map(|row| row.values.get(place).copied().flatten());
        let (name, factor) = scaled(axis, values.clone().flatten());
        let values = values.map(|value| cell(value.map(|x| x / factor)));
        std::iter::once(Value::from(name)).chain(values).collect()
    });
    Table::new(columns, point_rows.collect())
}

/// The run on the screen, what all are compared with, and the others from the newest on.
fn ordered(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let rank = |row: &&Row| match row.kind {
        RowKind::Own => 0,
        RowKind::Reference => 1,
        RowKind::Other(_) => 2,
    };
    let mut ordered: Vec<&Row> = rows.iter().rev().collect();
    ordered.sort_by_key(rank);
    ordered.into_iter()
}

/// The title of a row with its unit, and what its values are divided by: small ones are all in milliseconds, or all in
/// microseconds.
fn scaled(axis: &Dimension, values: impl Iterator<Item = f64>) -> (String, f64) {
    let largest = values.map(f64::abs).fold(0.0, f64::max);
    let prefix = Prefix::for_size(largest, unit(&axis.unit));
    match axis.unit.as_str() {
        "" => (axis.name.clone(), 1.0),
        unit if largest == 0.0 || prefix.factor >= 1.0 => (format!("{}, {unit}", axis.name), 1.0),
        unit => {
            let unit = prefix.suffix(Some(unit), &Glyphs::new(GlyphSet::Ascii));
            (format!("{}, {unit}", axis.name), prefix.factor)
        }
    }
}

fn cell(value: Option<f64>) -> Value {
    match value {
        Some(x) if x.fract() == 0.0 && x.abs() < 1e15 => Value::Int(x as i64),
        Some(x) => Value::Float(significant(x, 4)),
        None => Value::from("no value"),
    }
}

/// A row a run with all that is told of it, below a row of titles.
fn table(schema: &Schema, attempts: &Attempts, rows: &[Row], goals: &[Goal]) -> Vec<Vec<String>> {
    let glyphs = Glyphs::new(GlyphSet::Ascii);
    let kinds = kinds(schema, attempts);
    let several = kinds.len() > 1;
    let by_name = attempts.points.len() > 1;
    let axes = match attempts.axes.as_slice() {
        [x, y] if !goals.is_empty() => Some((x, y)),
        _ => None,
    };
    let mut titles = vec!["run".to_owned()];
    titles.extend(several.then(|| "lab".to_owned()));
    titles.extend(by_name.then(|| "what".to_owned()));
    titles.extend(attempts.axes.iter().map(|axis| axis.name.clone()));
    titles.extend(axes.map(|_| "reaches".to_owned()));
    let point_rows = ordered(rows).map(|row| {
        let (kind, what) = match row.kind {
            RowKind::Own => (schema.kind.as_str(), point_name(attempts, row)),
            RowKind::Other(kind) => {
                (kinds.get(kind).copied().unwrap_or(""), point_name(attempts, row))
            }
            RowKind::Reference => ("", String::new()),
        };
        let mut cells = vec![row.label.clone()];
        cells.extend(several.then(|| kind.to_owned()));
        cells.extend(by_name.then_some(what));
        let values = attempts.axes.iter().zip(&row.values);
        cells.extend(values.map(|(axis, value)| match value {
            Some(x) => quantity(*x, unit(&axis.unit), &glyphs),
            None => "no value".to_owned(),
        }));
        cells.extend(axes.map(|axes| {
            let by_this = |goal: &&Goal| {
                let winners = winners(axes, rows, goal);
                winners.iter().any(|winner| std::ptr::eq(*winner, row))
            };
            let reached = goals.iter().rev().find(by_this);
            reached.map_or_else(String::new, |goal| goal.name.clone())
        }));
        cells
    });
    std::iter::once(titles).chain(point_rows).collect()
}

/// Where a goal begins: the place along both axes that a run must be at or beyond.
fn corner(axes: (&Dimension, &Dimension), rows: &[Row], goal: &Goal) -> Option<(f64, f64)> {
    let reference = rows.iter().find(|row| row.kind == RowKind::Reference)?;
    let [Some(x), Some(y)] = reference.values.as_slice() else { return None };
    let across = match axes.0.better {
        Better::Less => x / goal.ratio,
        Better::More => x * goal.ratio,
        Better::Neither => return None,
    };
    let upwards = match axes.1.better {
        Better::Less => y + goal.loss,
        Better::More => y - goal.loss,
        Better::Neither => return None,
    };
    Some((across, upwards))
}

/// The worst value that is drawn at its own place, where there are goals: a failed run must not flatten the rest.
fn worst(axis: &Dimension, rows: &[Row], goals: &[Goal]) -> Option<f64> {
    const FAR: f64 = 2.5;
    let reference = rows.iter().find(|row| row.kind == RowKind::Reference)?;
    let start = reference.values.get(1).copied().flatten()?;
    let most = goals.iter().map(|goal| goal.loss).reduce(f64::max)?;
    match axis.better {
        Better::More => Some(start - FAR * most),
        Better::Less => Some(start + FAR * most),
        Better::Neither => None,
    }
}

fn reaches(axes: (&Dimension, &Dimension), corner: (f64, f64), place: (f64, f64)) -> bool {
    /// What rounding may take: accuracies are shares of a thousand images.
    const SLACK: f64 = 1e-9;
    let is_there = |better: Better, limit: f64, value: f64| match better {
        Better::Less => value <= limit + SLACK * limit.abs().max(1.0),
        Better::More => value >= limit - SLACK * limit.abs().max(1.0),
        Better::Neither => false,
    };
    is_there(axes.0.better, corner.0, place.0) && is_there(axes.1.better, corner.1, place.1)
}

fn winners<'a>(axes: (&Dimension, &Dimension), rows: &'a [Row], goal: &Goal) -> Vec<&'a Row> {
    let Some(corner) = corner(axes, rows, goal) else { return Vec::new() };
    let reached = |row: &&Row| match (row.kind, row.values.as_slice()) {
        (RowKind::Own | RowKind::Other(_), [Some(x), Some(y)]) => reaches(axes, corner, (*x, *y)),
        (RowKind::Own | RowKind::Other(_) | RowKind::Reference, _) => false,
    };
    rows.iter().rev().filter(reached).collect()
}

/// The edges of what goals ask for: along from the better side to the corner, and up to the better side.
fn goal_lines(scatter: &Scatter, rows: &[Row], goals: &[Goal]) -> Vec<ScatterLine> {
    let axes = (&scatter.x, &scatter.y);
    let found: Vec<(&Goal, (f64, f64))> =
        goals.iter().filter_map(|goal| Some((goal, corner(axes, rows, goal)?))).collect();
    let mut places: Vec<(f64, f64)> = scatter.places().collect();
    places.extend(found.iter().map(|(_, corner)| *corner));
    let end = |dimension: &Dimension, of: fn(&(f64, f64)) -> f64| {
        let (low, high) = bounds(places.iter().map(of));
        match (dimension.better, dimension.scale) {
            (Better::Less, Scale::Log) => low / 1.3,
            (Better::Less, Scale::Linear) => low - (high - low) / 20.0,
            (Better::More | Better::Neither, Scale::Log) => high * 1.3,
            (Better::More | Better::Neither, Scale::Linear) => high + (high - low) / 20.0,
        }
    };
    let far = (end(&scatter.x, |place| place.0), end(&scatter.y, |place| place.1));
    let line = |(goal, corner): &(&Goal, (f64, f64))| {
        let winners = winners(axes, rows, goal);
        // The knobs that were turned are told with the point.
        let by = winners.first().and_then(|row| row.label.split(':').next());
        let name = format!("{} {}x: {}", goal.name, number(goal.ratio), by.unwrap_or("open"));
        // One colour in every run, however many groups there are.
        reference(name, [(far.0, corner.1), *corner, (corner.0, far.1)])
    };
    found.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::picture::axis;

    #[test]
    fn seconds_of_one_row_have_one_unit() {
        for (unit, values, title, factor) in [
            ("seconds", vec![7.485e-4, 0.001_359, 0.033_71], "step, ms", 1e-3),
            ("seconds", vec![2e-6], "step, us", 1e-6),
            ("seconds", vec![0.5, 2.0], "step, seconds", 1.0),
            ("seconds", vec![0.0], "step, seconds", 1.0),
            ("bytes", vec![0.5, 203_520.0], "step, bytes", 1.0),
            ("", vec![0.001], "step", 1.0),
        ] {
            let scaled = scaled(&axis("step", unit), values.into_iter());
            assert_eq!(scaled, (title.to_owned(), factor));
        }
    }
}
