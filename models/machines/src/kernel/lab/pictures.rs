//! The lab's pictures.

use mlsys_lab::frame::HeatMap;
use mlsys_lab::{Frame, Value};

use crate::kernel::Machine;
use crate::kernel::machine::CellState;
use crate::picture;

/// Cells in a row of the picture of memory.
const ACROSS: usize = 64;

/// Rows of it.
const DOWN: usize = 64;

/// The kernel with what each line cost.
pub(super) fn source(text: &str, machine: &Machine) -> Frame {
    let lines = machine.lines();
    let row = |(index, line): (usize, &str)| {
        let counts = lines.get(&(index as u32 + 1)).copied().unwrap_or_default();
        let whole = |count: u64| {
            if counts.issues == 0 {
                Value::from("")
            } else {
                Value::Int(count as i64)
            }
        };
        let share = match counts.issues {
            0 => Value::from(""),
            issues => Value::Float(counts.lanes as f64 / (32 * issues) as f64),
        };
        [
            Value::Int(index as i64 + 1),
            Value::from(
                line.replace('\t', "    ")
                    .replace(|c: char| c.is_control(), " "),
            ),
            whole(counts.issues),
            share,
            whole(counts.divergent),
            whole(counts.load.sectors + counts.store.sectors + counts.atomic.sectors),
            whole(counts.replays),
        ]
    };
    let rows = text.lines().enumerate().map(row).collect();
    picture::table(
        [
            "line",
            "kernel",
            "warp instructions",
            "lanes",
            "divergent",
            "sectors",
            "bank replays",
        ],
        rows,
    )
}

/// What went wrong.
pub(super) fn problems(machine: &Machine) -> Frame {
    let place = |[x, y, z]: [u32; 3]| Value::from(format!("{x}, {y}, {z}"));
    let told = machine.findings().told().iter().map(|finding| {
        [
            Value::from(finding.fault.name()),
            Value::Int(i64::from(finding.place.line)),
            place(finding.block),
            place(finding.thread),
            Value::from(finding.sentence.as_str()),
        ]
    });
    let mut rows: Vec<_> = told.collect();
    if rows.is_empty() {
        rows.push(["none", "", "", "", "nothing went wrong"].map(Value::from));
    }
    picture::table(
        ["problem", "line", "block", "thread", "what happened"],
        rows,
    )
}

/// Cells of the buffers that were to be filled; of all buffers if there is none.
pub(super) fn memory(machine: &Machine, outputs: &[String]) -> Frame {
    let named: Vec<String> = match outputs {
        [] => machine
            .buffers()
            .map(|(name, ..)| name.to_owned())
            .collect(),
        outputs => outputs.to_vec(),
    };
    let code = |cell: CellState| match cell {
        CellState { raced: true, .. } => 5.0,
        CellState {
            rewritten: true, ..
        } => 4.0,
        CellState { written: true, .. } => 3.0,
        CellState { read: true, .. } => 2.0,
        CellState { defined: true, .. } => 1.0,
        CellState { .. } => 0.0,
    };
    let cells = named
        .iter()
        .flat_map(|name| (0..).map_while(|element| machine.cell(name, element)));
    let mut cells: Vec<f32> = cells.take(ACROSS * DOWN).map(code).collect();
    let columns = cells.len().clamp(1, ACROSS);
    let rows = cells.len().div_ceil(columns).max(1);
    cells.resize(columns * rows, -1.0);
    Frame::HeatMap(HeatMap {
        columns,
        rows,
        cells,
        low: -1.0,
        high: 5.0,
        x: (0.0, columns as f32),
        y: (rows as f32, 0.0),
        column_labels: Vec::new(),
        row_labels: (0..rows).map(|row| format!("{}[{}]", named.first().map_or("", String::as_str), row * columns)).collect(),
        points: Vec::new(),
        legend: "0: untouched, 1: given, 2: read, 3: written, 4: written more than once, 5: racing, -1: no cell".to_owned(),
    })
}
