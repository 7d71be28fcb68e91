//! What is marked in a picture, named: the line below it, and the end of its words.

use mlsys_lab::frame::{Bars, Frame, HeatMap, Images, Table, Verdict};
use mlsys_lab::value::number;

use super::table::order::rows;
use super::view::{FrameView, Mark};
use super::{histogram, matrix, quantity, scatter};
use crate::figure::{outline, unit};
use crate::glyphs::Glyphs;

/// What is marked, with its labels and its value; nothing if nothing is.
pub(super) fn said(frame: &Frame, view: &FrameView, glyphs: &Glyphs) -> Option<String> {
    let mark = view.mark?;
    match frame {
        Frame::HeatMap(map) => cell(map, mark, glyphs),
        Frame::Bars(bars) => bar(bars, mark, glyphs),
        Frame::Histogram(of) => {
            let bins = of.edges.len().saturating_sub(1);
            histogram::said(of, mark.within(bins, 1).column, glyphs)
        }
        Frame::Scatter(of) => {
            let index = mark.within(of.points.len(), 1).column;
            scatter::said(of, index, &of.front(), glyphs)
        }
        Frame::Table(table) => row(table, view, mark),
        Frame::Cells(cells) => {
            let Mark { column, row } = mark.within(cells.columns(), cells.rows.len());
            outline::cell(cells, row, column)
        }
        Frame::Images(images) => image(images, mark),
        Frame::Timeline(timeline) => {
            let span = timeline.spans.get(mark.column)?;
            Some(outline::span(timeline, span, glyphs))
        }
        Frame::Panes(panes) => {
            let index = mark.within(panes.len(), 1).column;
            let title = &panes.get(index)?.title;
            Some(format!("{} of {}: {title}", index + 1, panes.len()))
        }
        Frame::Stacks(stacks) => {
            let stack = stacks.stacks.get(mark.within(1, stacks.stacks.len()).row)?;
            Some(outline::stack(stacks, stack, glyphs))
        }
        // What is marked in it stands in its own lines.
        // What is marked in one of them stands below that one.
        Frame::Exchange(_) | Frame::Film(_) => None,
        Frame::Graph(_) | Frame::Kernel(_) | Frame::Passage(_) | Frame::Text(_) => None,
    }
}

/// What is known of the marked cell of a table besides its value, in at most so many lines of a width; where no cell is
/// marked, how to mark one. The lines of a table are equally many whatever is marked, so that its rows stand still.
pub(super) fn noted(frame: &Frame, view: &FrameView, width: u16, most: u16) -> Vec<String> {
    let Some(table) = sourced(frame) else {
        return Vec::new();
    };
    let wrapped = |note: &str| {
        let lines = super::text::wrap(note, width);
        let left_out = lines.len().saturating_sub(usize::from(most));
        let mut lines: Vec<String> = lines.into_iter().take(usize::from(most)).collect();
        if let Some(last) = lines.last_mut().filter(|_| left_out > 0) {
            last.push_str(" ...");
        }
        lines
    };
    let notes = table.notes.all().iter();
    let longest = notes.map(|note| wrapped(note).len()).max().unwrap_or(0);
    let said = match view.mark {
        Some(mark) => note(table, view, mark).unwrap_or("no value, so no source"),
        None => "arrows mark a cell; its source stands here",
    };
    let mut lines = wrapped(said);
    lines.resize(longest.max(lines.len()), String::new());
    lines
}

/// The note of the marked cell of a table, if the picture is one; for the end of its words.
pub(super) fn source<'a>(frame: &'a Frame, view: &FrameView) -> Option<&'a str> {
    note(sourced(frame)?, view, view.mark?)
}

fn note<'a>(table: &'a Table, view: &FrameView, mark: Mark) -> Option<&'a str> {
    let shown = rows(table, view);
    let mark = mark.within(table.columns.len(), shown.len());
    table.notes.of(*shown.get(mark.row)?, mark.column)
}

/// The table, if the picture is one that says something of its cells.
fn sourced(frame: &Frame) -> Option<&Table> {
    frame.table().filter(|table| !table.notes.is_empty())
}

/// How a table is sorted and filtered, in words; nothing if it is as the lab sent it.
pub(super) fn ordered(table: &Table, view: &FrameView) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(filter) = &view.filter {
        let shown = rows(table, view).len();
        parts.push(format!("{shown} of {} rows: {}", table.rows.len(), filter.text));
    }
    if let Some(sort) = view.sort {
        let name = table.columns.get(sort.column).map_or("", String::as_str);
        parts.push(format!("sorted by {name}, {}", sort.order.said()));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn cell(map: &HeatMap, mark: Mark, glyphs: &Glyphs) -> Option<String> {
    let Mark { column, row } = mark.within(map.columns, map.rows);
    let value = matrix::value(map, row, column)?;
    let value = if value.is_finite() {
        match matrix::unit(map) {
            Some(unit) => quantity(f64::from(value), Some(unit), glyphs),
            None => number(f64::from(value)),
        }
    } else {
        "not finite".to_owned()
    };
    if matrix::is_matrix(map) {
        let label = |labels: &[String], place: usize| {
            labels.get(place).cloned().unwrap_or_else(|| place.to_string())
        };
        let (row, column) = (label(&map.row_labels, row), label(&map.column_labels, column));
        return Some(format!("row {row}, column {column}: {value}"));
    }
    let middle = |(low, high): (f32, f32), place: usize, cells: usize| {
        let at =
            f64::from(low) + f64::from(high - low) * (place as f64 + 0.5) / cells.max(1) as f64;
        number((at * 1000.0).round() / 1000.0)
    };
    let x = middle(map.x, column, map.columns);
    let y = middle((map.y.1, map.y.0), row, map.rows);
    Some(format!("x {x}, y {y}: {value}"))
}

fn bar(bars: &Bars, mark: Mark, glyphs: &Glyphs) -> Option<String> {
    let bar = bars.bars.get(mark.within(1, bars.bars.len()).row)?;
    let unit = unit(&bars.unit);
    let value = match bar.value.filter(|x| x.is_finite()) {
        Some(x) => quantity(x, unit, glyphs),
        None => "not finite".to_owned(),
    };
    Some(match bar.remark.as_str() {
        "" => format!("{}: {value}", bar.label),
        remark => format!("{}: {value}, {remark}", bar.label),
    })
}

fn row(table: &Table, view: &FrameView, mark: Mark) -> Option<String> {
    let shown = rows(table, view);
    let mark = mark.within(table.columns.len(), shown.len());
    let row = table.rows.get(*shown.get(mark.row)?)?;
    let value = row.get(mark.column)?;
    let title = table.columns.get(mark.column)?;
    let of = format!("row {} of {}", mark.row + 1, shown.len());
    match row.first().filter(|_| mark.column > 0) {
        Some(name) => Some(format!("{name}, {title}: {value} ({of})")),
        None => Some(format!("{title}: {value} ({of})")),
    }
}

fn image(images: &Images, mark: Mark) -> Option<String> {
    let index = mark.within(images.images.len(), 1).column;
    let image = images.images.get(index)?;
    let verdict = match image.verdict {
        Verdict::Right => ", right",
        Verdict::Wrong => ", wrong",
        Verdict::Unjudged => "",
    };
    let count = images.images.len();
    Some(format!("image {} of {count}: {}{verdict}", index + 1, image.label))
}
