//! Frames: sending those that are wanted, and constructors of common ones.

use crate::frame::{self, Bar, Cell, CellRow, Kind, Limit, Pane, Stack, Stacks, Table, Tone};
use crate::report::{FrameTrigger, Report};
use crate::schema::Scale;
use crate::{Frame, Run, Value};

/// Sends the frame of a panel if the sink wants it.
pub fn offer(run: &mut Run<'_>, panel: &str, draw: impl FnOnce() -> Frame) {
    if run.sink.wants_frame(panel, FrameTrigger::Final) {
        run.sink.report(Report::Frame { panel: panel.into(), step: 0, frame: Box::new(draw()) });
    }
}

/// A labelled length with a remark.
pub fn bar(label: impl Into<String>, value: f64, remark: impl Into<String>) -> Bar {
    Bar { label: label.into(), value: Some(value), remark: remark.into() }
}

/// Bars on a linear axis.
pub fn bars(unit: &str, bars: Vec<Bar>) -> Frame {
    Frame::Bars(frame::Bars { unit: unit.to_owned(), scale: Scale::Linear, bars })
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
    Frame::Table(Table {
        columns: titles.map(str::to_owned).to_vec(),
        rows: rows.into_iter().map(Vec::from).collect(),
        ..Table::default()
    })
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
        cells: kinds.into_iter().map(|kind| kind.map(Cell::of)).collect(),
        remark: remark.into(),
    }
}

/// Runs of cells of one kind in rows of `across`, each row labelled by its first place.
pub fn folded(kinds: &[usize], across: usize) -> Vec<CellRow> {
    let across = across.max(1);
    let rows = kinds.chunks(across).enumerate();
    let folded = rows.map(|(place, kinds)| {
        let label = format!("{} to {}", place * across, place * across + kinds.len() - 1);
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
