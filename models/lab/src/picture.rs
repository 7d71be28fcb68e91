//! Frames: sending those that are wanted, and constructors of common ones.

use crate::frame::{
    self, Bar, Cell, CellRow, Dimension, FrameSequence, HeatMap, Image, Images, Kind, Level, Limit,
    LineRole, Pane, Scatter, ScatterLine, ScatterPoint, Stack, Stacks, Table, Tone, Verdict,
};
use crate::report::FrameTrigger;
use crate::schema::Scale;
use crate::{Frame, Run, Value};

/// Sends the frame of a panel if the sink wants it.
pub fn offer(run: &mut Run<'_>, panel: &str, draw: impl FnOnce() -> Frame) {
    if run.sink.wants_frame(panel, FrameTrigger::Final) {
        run.frame(panel, draw());
    }
}

/// A labelled length with a remark.
pub fn bar(label: impl Into<String>, value: f64, remark: impl Into<String>) -> Bar {
    Bar { label: label.into(), value: Some(value), remark: remark.into() }
}

/// Bars on a linear axis.
pub fn bars(unit: &str, bars: Vec<Bar>) -> Frame {
    Frame::Bars(frame::Bars {
        quantity: String::new(),
        unit: unit.to_owned(),
        scale: Scale::Linear,
        bars,
    })
}

/// Labelled lengths made of parts, with a remark each, and a line that they are to stay under.
pub fn stacks<const N: usize>(
    unit: &str,
    parts: [&str; N],
    stacks: Vec<(String, Vec<f64>, String)>,
    limit: Option<(f64, &str)>,
    note: &str,
) -> Frame {
    let stack = |(label, values, remark): (String, Vec<f64>, String)| Stack {
        label,
        values: values.into_iter().map(Some).collect(),
        remark,
    };
    Frame::Stacks(Stacks {
        unit: unit.to_owned(),
        parts: parts.map(str::to_owned).to_vec(),
        stacks: stacks.into_iter().map(stack).collect(),
        limit: limit.map(|(at, label)| Limit { at, label: label.to_owned() }),
        note: note.to_owned(),
    })
}

/// Rows under titles.
pub fn table<const N: usize>(titles: [&str; N], rows: Vec<[Value; N]>) -> Frame {
    let rows = rows.into_iter().map(Vec::from).collect();
    Frame::Table(Table::new(titles.map(str::to_owned).to_vec(), rows))
}

/// Points and lines between two axes; `series` names the groups of the points.
pub fn scatter<S: AsRef<str>>(
    [x, y]: [Dimension; 2],
    series: &[S],
    points: Vec<ScatterPoint>,
    lines: Vec<ScatterLine>,
) -> Frame {
    let series = series.iter().map(|name| name.as_ref().to_owned()).collect();
    Frame::Scatter(Scatter { x, y, series, points, lines })
}

/// A linear axis.
pub fn axis(name: &str, unit: &str) -> Dimension {
    Dimension { name: name.to_owned(), unit: unit.to_owned(), ..Dimension::default() }
}

/// A logarithmic axis.
pub fn log_axis(name: &str, unit: &str) -> Dimension {
    Dimension { scale: Scale::Log, ..axis(name, unit) }
}

/// A point of a scatter plot; a coordinate that is not finite is absent.
pub fn point(x: f64, y: f64, label: impl Into<String>, series: usize) -> ScatterPoint {
    let [x, y] = [x, y].map(|value| Some(value).filter(|value| value.is_finite()));
    ScatterPoint { x, y, label: label.into(), series }
}

/// A line of a scatter plot.
pub fn line(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> ScatterLine {
    let points = points.into_iter().collect();
    ScatterLine { name: name.into(), points, role: LineRole::Own }
}

/// A line to compare others with, such as a slope.
pub fn reference(
    name: impl Into<String>,
    points: impl IntoIterator<Item = (f64, f64)>,
) -> ScatterLine {
    ScatterLine { role: LineRole::Reference, ..line(name, points) }
}

/// A heat map of `[rows, columns]` cells, row-major, each one unit wide and high, without labels and points.
pub fn heat_map(
    [rows, columns]: [usize; 2],
    cells: Vec<f32>,
    (low, high): (f32, f32),
    legend: impl Into<String>,
) -> HeatMap {
    HeatMap {
        columns,
        rows,
        cells,
        low,
        high,
        x: (0.0, columns as f32),
        y: (0.0, rows as f32),
        column_labels: Vec::new(),
        row_labels: Vec::new(),
        points: Vec::new(),
        legend: legend.into(),
    }
}

/// A grey image that is not judged.
pub fn image(pixels: Vec<u8>, label: impl Into<String>) -> Image {
    Image { pixels, label: label.into(), verdict: Verdict::Unjudged }
}

/// Grey images of one size, `[width, height]`.
pub fn images([width, height]: [usize; 2], images: Vec<Image>) -> Images {
    Images { width, height, images, blank: None, together: 1 }
}

/// Frames that can be stepped through, the first as the cover.
pub fn sequence(stills: Vec<Pane>) -> Frame {
    Frame::FrameSequence(Box::new(FrameSequence { stills, cover: 0 }))
}

/// Marked values of a histogram, without names.
pub fn marks(values: impl IntoIterator<Item = f64>) -> Vec<Level> {
    values.into_iter().map(|at| Level { at, label: String::new() }).collect()
}

/// The kinds of a picture made of cells, in the order in which cells name them.
pub fn kinds<const N: usize>(kinds: [(&str, Tone); N]) -> Vec<Kind> {
    let kind = |(name, tone): (&str, Tone)| Kind { name: name.to_owned(), tone };
    kinds.map(kind).to_vec()
}

/// A row of cells by their kinds; none where there is no cell.
pub fn row(
    label: impl Into<String>,
    kinds: impl IntoIterator<Item = Option<usize>>,
    remark: impl Into<String>,
) -> CellRow {
    CellRow {
        label: label.into(),
        cells: kinds.into_iter().map(|kind| kind.map(Cell::new)).collect(),
        remark: remark.into(),
    }
}

/// Runs of cells of one kind in rows of `across`, each row labelled by its first place.
pub fn folded(kinds: &[usize], across: usize) -> Vec<CellRow> {
    let across = across.max(1);
    let rows = kinds.chunks(across).enumerate();
    let folded = rows.map(|(place, kinds)| {
        let (first, last) = (place * across, place * across + kinds.len() - 1);
        let label = if first == last { first.to_string() } else { format!("{first} to {last}") };
        row(label, kinds.iter().copied().map(Some), "")
    });
    folded.collect()
}

/// A pane: one frame of several side by side.
pub fn pane(title: impl Into<String>, frame: Frame) -> Pane {
    Pane { title: title.into(), frame }
}

/// Ascending indices as ranges: `lanes 0 to 7, 16`.
pub fn index_ranges(name: &str, indices: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &index in indices {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            Some(_) | None => parts.push((index, index)),
        }
    }
    let part = |&(first, last): &(usize, usize)| match last - first {
        0 => first.to_string(),
        _ => format!("{first} to {last}"),
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    match indices.len() {
        0 => format!("no {name}"),
        1 => format!("{name} {}", parts.concat()),
        _ => format!("{name}s {}", parts.join(", ")),
    }
}
