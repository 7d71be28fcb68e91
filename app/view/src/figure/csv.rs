//! A figure's values as comma-separated values after RFC 4180: a header, lines that end in CR LF, quotes where needed.

mod structures;

use std::collections::BTreeMap;

use mlsys_lab::frame::{
    Bars, Dimension, Frame, HeatMap, Histogram, Images, Scatter, Table, Verdict,
};
use mlsys_lab::report::RunData;
use mlsys_lab::schema::Draw;
use mlsys_lab::value::Value;

use super::metrics;
use crate::export::{Nothing, nothing};
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
            let picture = scene.frame(&super::glyphs()).ok_or_else(|| nothing(scene))?;
            match picture.kernel() {
                Some(kernel) => frame(&mut lines, &super::kernel::picture(kernel, scene.walk)),
                None => frame(&mut lines, picture.as_ref()),
            }
        }
    }
    Ok(lines.text)
}

/// The lines of a picture.
fn frame(lines: &mut Lines, frame: &Frame) {
    match frame {
        Frame::HeatMap(map) => field(lines, map),
        Frame::Bars(bars) => self::bars(lines, bars),
        Frame::Stacks(stacks) => structures::stacks(lines, stacks),
        Frame::Histogram(histogram) => self::histogram(lines, histogram),
        Frame::Scatter(scatter) => self::scatter(lines, scatter),
        Frame::Table(table) => self::table(lines, table),
        Frame::Cells(cells) => structures::cells(lines, cells),
        Frame::Images(images) => self::images(lines, images),
        Frame::Graph(graph) => structures::graph(lines, graph),
        Frame::Timeline(timeline) => structures::timeline(lines, timeline),
        Frame::Exchange(exchange) => structures::exchange(lines, exchange),
        Frame::Kernel(kernel) => self::frame(lines, &super::kernel::picture(kernel, None)),
        Frame::Film(film) => structures::panes(lines, &film.stills),
        Frame::Panes(panes) => structures::panes(lines, panes),
        Frame::Passage(passage) => structures::passage(lines, passage),
        Frame::Text(text) => {
            lines.line(["text"]);
            text.lines().for_each(|line| lines.line([line]));
        }
    }
}

/// A document being written.
#[derive(Default)]
struct Lines {
    text: String,
    /// What stands before the next line and before those after it.
    before: Option<(String, String)>,
}

impl Lines {
    /// One line of cells.
    fn line<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let before = self.before.as_mut();
        let before = before.map(|(next, later)| std::mem::replace(next, later.clone()));
        if let Some(cell) = before {
            self.cell(&cell);
            self.text.push(',');
        }
        for (place, cell) in cells.into_iter().enumerate() {
            if place > 0 {
                self.text.push(',');
            }
            self.cell(cell.as_ref());
        }
        self.text.push_str("\r\n");
    }

    fn cell(&mut self, cell: &str) {
        if cell.contains([',', '"', '\r', '\n']) {
            self.text.push('"');
            self.text.push_str(&cell.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(cell);
        }
    }
}

/// The shortest text that reads back as the same number; empty if it is not finite.
fn number(x: f64) -> String {
    if x.is_finite() {
        let text = format!("{x:?}");
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    } else {
        String::new()
    }
}

/// The same for a number of single precision, whose shortest text is shorter.
fn single(x: f32) -> String {
    if x.is_finite() {
        let text = format!("{x:?}");
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    } else {
        String::new()
    }
}

/// A value that is not rounded.
fn exact(value: &Value) -> String {
    match value {
        Value::Float(x) => number(*x),
        Value::Bool(_) | Value::Int(_) | Value::Text(_) | Value::Array(_) | Value::Table(_) => {
            value.to_string()
        }
    }
}

fn known(x: Option<f64>) -> String {
    x.map_or(String::new(), number)
}

/// `name (unit)`, or the name alone.
fn titled(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") }
}

/// One line a step, one column a metric; `NaN` where a value was not finite. Earlier runs have columns of their own.
fn series(lines: &mut Lines, scene: &Scene<'_>, names: &[&str]) {
    let unit = |name: &str| metrics::unit(scene.schema, name).unwrap_or_default();
    let mut titles = vec!["step".to_owned()];
    let mut columns: Vec<(&RunData, &str)> = Vec::new();
    for name in names {
        titles.push(titled(name, unit(name)));
        columns.push((scene.data, name));
    }
    for run in scene.earlier {
        for name in metrics::expand(&scene.panel.metrics, &run.data) {
            titles.push(format!("{} of {}", titled(name, unit(name)), run.label));
            columns.push((&run.data, name));
        }
    }
    let (from, to) =
        extent(scene).map_or((0, scene.data.step), |there| scene.view.chart.window.steps(there));
    let mut rows: BTreeMap<u64, Vec<Option<f64>>> = BTreeMap::new();
    for (place, (data, name)) in columns.iter().enumerate() {
        let Some(series) = data.series.get(*name) else {
            continue;
        };
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

/// The latest values of metrics, not rounded.
fn values(lines: &mut Lines, scene: &Scene<'_>) {
    lines.line(["metric", "value", "unit"]);
    for name in metrics::expand(&scene.panel.metrics, scene.data) {
        let broken = scene.data.series.get(name).is_some_and(|s| s.ends_in_gap());
        let value = scene.data.metric(name).filter(|_| !broken);
        let value = value.map_or(String::new(), |value| exact(&value));
        let unit = metrics::unit(scene.schema, name).unwrap_or_default();
        lines.line([name, &value, unit]);
    }
}

fn bars(lines: &mut Lines, bars: &Bars) {
    lines.line(["label", &titled("value", &bars.unit), "remark"]);
    for bar in &bars.bars {
        lines.line([&bar.label, &known(bar.value), &bar.remark]);
    }
}

/// A matrix keeps its shape; a field is one line a cell with its middle, then one line a point with its class.
fn field(lines: &mut Lines, map: &HeatMap) {
    let columns = map.columns.max(1);
    if !map.column_labels.is_empty() && !map.row_labels.is_empty() {
        let shown = columns.min(map.column_labels.len());
        let titles = map.column_labels.iter().take(shown).map(String::as_str);
        lines.line([map.legend.as_str()].into_iter().chain(titles));
        for (row, label) in map.cells.chunks(columns).zip(&map.row_labels) {
            let cells = row.iter().take(shown).map(|x| single(*x));
            lines.line([label.clone()].into_iter().chain(cells));
        }
        return;
    }
    lines.line(["x", "y", &titled("value", &map.legend), "class"]);
    for (row, cells) in map.cells.chunks(columns).take(map.rows).enumerate() {
        for (column, value) in cells.iter().enumerate() {
            let across = (column as f32 + 0.5) / columns as f32;
            let down = (row as f32 + 0.5) / map.rows as f32;
            let x = map.x.0 + (map.x.1 - map.x.0) * across;
            let y = map.y.1 + (map.y.0 - map.y.1) * down;
            lines.line([single(x), single(y), single(*value), String::new()]);
        }
    }
    for point in &map.points {
        let class = point.class.to_string();
        lines.line([single(point.x), single(point.y), String::new(), class]);
    }
}

fn histogram(lines: &mut Lines, histogram: &Histogram) {
    let named = |name: &str, otherwise: &str| match name {
        "" => otherwise.to_owned(),
        name => name.to_owned(),
    };
    let mut titles = vec![
        titled(&format!("{} from", histogram.quantity), &histogram.unit),
        titled("to", &histogram.unit),
        named(&histogram.first.name, "count"),
    ];
    titles.extend(histogram.second.iter().map(|second| named(&second.name, "second count")));
    titles.push("marked".to_owned());
    lines.line(&titles);
    let last = histogram.edges.len().saturating_sub(2);
    for (bin, (from, to)) in histogram.ranges().enumerate() {
        let count = |counts: &[u64]| counts.get(bin).map_or(String::new(), u64::to_string);
        let mut cells = vec![number(from), number(to), count(&histogram.first.counts)];
        cells.extend(histogram.second.iter().map(|second| count(&second.counts)));
        let inside = histogram
            .levels
            .iter()
            .filter(|level| (from..to).contains(&level.at) || (bin == last && level.at == to));
        let marked: Vec<String> = inside
            .map(|level| match level.label.as_str() {
                "" => number(level.at),
                label => format!("{label} at {}", number(level.at)),
            })
            .collect();
        cells.push(marked.join("; "));
        lines.line(&cells);
    }
}

fn scatter(lines: &mut Lines, scatter: &Scatter) {
    let (x, y) = (&scatter.x, &scatter.y);
    let titles = [
        "label".to_owned(),
        "group".to_owned(),
        titled(&x.name, &x.unit),
        titled(&y.name, &y.unit),
        "on front".to_owned(),
    ];
    lines.line(&titles[..if scatter.has_front() { 5 } else { 4 }]);
    let front = scatter.front();
    for (index, point) in scatter.points.iter().enumerate() {
        let group = scatter.series.get(point.series).cloned();
        let mut cells = vec![point.label.clone(), group.unwrap_or_default()];
        let place = |axis: &Dimension, value: Option<f64>| {
            let name = value.and_then(|value| axis.category(value));
            name.map_or_else(|| known(value), str::to_owned)
        };
        cells.extend([place(x, point.x), place(y, point.y)]);
        if scatter.has_front() {
            cells.push(front.contains(&index).to_string());
        }
        lines.line(&cells);
    }
    for line in &scatter.lines {
        for (x, y) in &line.points {
            let place = [known(Some(*x)), known(Some(*y))];
            let mut cells = vec![line.name.clone(), "line".to_owned()];
            cells.extend(place);
            if scatter.has_front() {
                cells.push(String::new());
            }
            lines.line(&cells);
        }
    }
}

fn table(lines: &mut Lines, table: &Table) {
    let table = &table.annotated();
    lines.line(&table.columns);
    for row in &table.rows {
        lines.line(row.iter().map(exact));
    }
}

fn images(lines: &mut Lines, images: &Images) {
    let pixels = images.images.iter().map(|image| image.pixels.len()).max().unwrap_or(0);
    let titles = ["label".to_owned(), "verdict".to_owned()];
    lines.line(titles.into_iter().chain((0..pixels).map(|i| format!("pixel{i}"))));
    for image in &images.images {
        let verdict = match image.verdict {
            Verdict::Right => "right",
            Verdict::Wrong => "wrong",
            Verdict::Unjudged => "",
        };
        let cells = [image.label.clone(), verdict.to_owned()];
        lines.line(cells.into_iter().chain(image.pixels.iter().map(|level| match images.blank {
            Some(blank) if blank == *level => String::new(),
            Some(_) | None => level.to_string(),
        })));
    }
}
