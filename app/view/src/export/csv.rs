//! A figure's values as comma-separated values.

use std::collections::BTreeMap;

use mlsys_lab::report::RunData;
use mlsys_lab::schema::Draw;

use crate::csv::{Lines, exact, known, number, titled};
use crate::export::{Nothing, nothing};
use crate::glyphs::{GlyphSet, Glyphs};
use crate::metrics;
use crate::panel::picture::{self, kernel};
use crate::panel::{Scene, extent};

/// The values of a picture: series side by side by step, pictures by their kind. Empty cells are values there are none of.
pub fn csv(scene: &Scene<'_>) -> Result<String, Nothing> {
    let mut lines = Lines::default();
    let names = metrics::expand(&scene.panel.metrics, scene.data);
    let is_absent = |data| metrics::expand(&scene.panel.metrics, data).is_empty();
    match scene.panel.draw {
        Draw::Line if names.is_empty() && scene.earlier.iter().all(|run| is_absent(&run.data)) => {
            return Err(nothing(scene));
        }
        Draw::Table | Draw::Bars if names.is_empty() => return Err(nothing(scene)),
        Draw::Line => series(&mut lines, scene, &names),
        // The screen's table of metrics is rounded for people; the file has the values.
        Draw::Table => values(&mut lines, scene),
        Draw::Frame | Draw::Bars | Draw::Attempts => {
            let frame =
                scene.frame(&Glyphs::new(GlyphSet::Unicode)).ok_or_else(|| nothing(scene))?;
            match frame.kernel() {
                Some(kernel) => {
                    picture::drawn(&kernel::picture(kernel, scene.walk, None)).values(&mut lines)
                }
                None => picture::drawn(frame.as_ref()).values(&mut lines),
            }
        }
    }
    Ok(lines.text)
}

/// One line a step, one column a metric; `NaN` where a value was not finite. Earlier runs have columns of their own.
fn series(lines: &mut Lines, scene: &Scene<'_>, names: &[&str]) {
    let titled = |name: &str| {
        let title = titled(name, metrics::unit(scene.schema, name).unwrap_or(""));
        metrics::label_of(scene.schema, name)
            .map_or(title.clone(), |label| format!("{title} {label}"))
    };
    let mut titles = vec!["step".to_owned()];
    let mut columns: Vec<(&RunData, &str)> = Vec::new();
    for name in names {
        titles.push(titled(name));
        columns.push((scene.data, name));
    }
    for run in scene.earlier {
        for name in metrics::expand(&scene.panel.metrics, &run.data) {
            titles.push(format!("{} of {}", titled(name), run.label));
            columns.push((&run.data, name));
        }
    }
    let (from, to) =
        extent(scene).map_or((0, scene.data.step), |there| scene.view.chart.window.steps(there));
    let mut rows: BTreeMap<u64, Vec<Option<f64>>> = BTreeMap::new();
    for (place, (data, name)) in columns.iter().enumerate() {
        let Some(series) = data.series.get(*name) else { continue };
        let gaps = series.gaps().iter().map(|step| (*step, f64::NAN));
        for (step, value) in series.points().iter().copied().chain(gaps) {
            if (from..=to).contains(&step) {
                let row = rows.entry(step).or_insert_with(|| vec![None; columns.len()]);
                if let Some(cell) = row.get_mut(place) {
                    *cell = Some(value);
                }
            }
        }
    }
    lines.line(&titles);
    for (step, row) in rows {
        let cells = row.iter().zip(&columns).map(|(cell, (data, name))| match cell {
            Some(x) if x.is_finite() => number(*x),
            Some(_) => "NaN".to_owned(),
            // What is the same at every step is there at every step.
            None if !data.series.contains_key(*name) => {
                known(data.metric(name).and_then(|value| value.as_f64()))
            }
            None => String::new(),
        });
        lines.line([step.to_string()].into_iter().chain(cells));
    }
}

fn values(lines: &mut Lines, scene: &Scene<'_>) {
    let label =
        |name| metrics::label_of(scene.schema, name).map_or_else(String::new, |l| l.to_string());
    lines.line(["metric", "value", "unit", "label"]);
    for name in metrics::expand(&scene.panel.metrics, scene.data) {
        let value = scene.data.metric(name).filter(|_| !metrics::is_broken(scene.data, name));
        let value = value.map_or(String::new(), |value| exact(&value));
        let unit = metrics::unit(scene.schema, name).unwrap_or("");
        lines.line([name, &value, unit, &label(name)]);
    }
}
