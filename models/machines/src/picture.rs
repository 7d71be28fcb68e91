//! Offering a lab's pictures to whoever listens.

use mlsys_lab::frame::{Bar, HeatMap, Table};
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::schema::Scale;
use mlsys_lab::{Frame, Run, Value, frame};

/// Sends the picture of a panel if somebody wants it.
pub(crate) fn offer(run: &mut Run<'_>, panel: &str, draw: impl FnOnce() -> Frame) {
    if run.sink.wants_frame(panel, Moment::Final) {
        run.sink.report(Report::Frame {
            panel: panel.into(),
            step: 0,
            frame: draw(),
        });
    }
}

/// A labelled length with a remark.
pub(crate) fn bar(label: impl Into<String>, value: f64, remark: impl Into<String>) -> Bar {
    Bar {
        label: label.into(),
        value: Some(value),
        remark: remark.into(),
    }
}

/// Bars on a linear axis.
pub(crate) fn bars(unit: &str, bars: Vec<Bar>) -> Frame {
    Frame::Bars(frame::Bars {
        unit: unit.to_owned(),
        scale: Scale::Linear,
        bars,
    })
}

/// Rows under titles.
pub(crate) fn table<const N: usize>(titles: [&str; N], rows: Vec<[Value; N]>) -> Frame {
    Frame::Table(Table {
        columns: titles.map(str::to_owned).to_vec(),
        rows: rows.into_iter().map(Vec::from).collect(),
    })
}

/// Cells of a few kinds in rows from the top, from 0 to `high`; NaN where there is none.
pub(crate) fn cells(
    columns: usize,
    cells: Vec<f32>,
    row_labels: Vec<String>,
    high: f32,
    legend: &str,
) -> Frame {
    let columns = columns.max(1);
    let rows = cells.len().div_ceil(columns);
    Frame::HeatMap(HeatMap {
        columns,
        rows,
        cells,
        low: 0.0,
        high,
        x: (0.0, columns as f32),
        y: (rows as f32, 0.0),
        column_labels: Vec::new(),
        row_labels,
        points: Vec::new(),
        legend: legend.to_owned(),
    })
}
