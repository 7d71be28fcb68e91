//! The lab's pictures.

use mlsys_lab::frame::kernel::{Kernel as KernelFrame, Problem, Recipe, View, Whole};
use mlsys_lab::frame::{HeatMap, Pane, Span, Timeline};
use mlsys_lab::{Frame, Value};

use crate::kernel::machine::CellState;
use crate::kernel::{Counts, Event, Machine, Traffic};
use crate::picture;
use crate::steps::percent;

/// Warp instructions of the timeline.
const DRAWN_STEPS: usize = 4096;

/// Warps of it.
const DRAWN_WARPS: usize = 32;

/// Cells in a row of the picture of memory.
const ACROSS: usize = 64;

/// Rows of it.
const DOWN: usize = 64;

/// Problems that are marked in the text.
const MARKED: usize = 64;

/// A picture that can be stepped through.
pub(super) fn steps(view: View, recipe: &Recipe, machine: &Machine) -> Frame {
    let told = machine.findings().told().iter().take(MARKED);
    let problems = told.map(|finding| Problem {
        step: finding.step,
        line: finding.place.line,
        sentence: finding.sentence.clone(),
    });
    let lines = machine.lines().into_iter();
    Frame::Kernel(Box::new(KernelFrame {
        view,
        recipe: recipe.clone(),
        whole: Whole {
            steps: machine.clock(),
            lines: lines.map(|(line, counts)| counts.of_line(line)).collect(),
            problems: problems.collect(),
        },
    }))
}

/// Lines that access memory, with what moves.
pub(super) fn sectors(text: &str, machine: &Machine) -> Frame {
    let accesses = |counts: &Counts| {
        counts.load.accesses + counts.store.accesses + counts.atomic.accesses + counts.shared
    };
    let row = |(line, counts): (u32, Counts)| {
        let global = [counts.load, counts.store, counts.atomic];
        let sum = |of: fn(&Traffic) -> u64| global.iter().map(of).sum::<u64>();
        let (warps, sectors) = (sum(|t| t.accesses), sum(|t| t.sectors));
        let each = if warps == 0 {
            Value::from("")
        } else {
            Value::Float(sectors as f64 / warps as f64)
        };
        let used = if sectors == 0 {
            String::new()
        } else {
            percent(sum(|t| t.used) as f64 / (32 * sectors) as f64)
        };
        let text = text.lines().nth(line.saturating_sub(1) as usize);
        [
            Value::Int(i64::from(line)),
            Value::from(plain(text.unwrap_or_default().trim())),
            Value::Int(warps as i64),
            Value::Int(sectors as i64),
            each,
            Value::from(used),
            Value::Int(counts.shared as i64),
            Value::Int(counts.replays as i64),
        ]
    };
    let lines = machine.lines().into_iter();
    let mut rows: Vec<_> = lines
        .filter(|(_, counts)| accesses(counts) > 0)
        .map(row)
        .collect();
    if rows.is_empty() {
        rows.push(["", "no memory is accessed", "", "", "", "", "", ""].map(Value::from));
    }
    picture::table(
        [
            "line",
            "kernel",
            "warp accesses",
            "sectors",
            "sectors each",
            "used",
            "shared accesses",
            "bank replays",
        ],
        rows,
    )
}

/// The first instructions in the order they ran: a lane a warp, a bar a stretch on one line.
pub(super) fn timeline(machine: Option<Machine>) -> Frame {
    let mut timeline = Timeline {
        unit: "warp instructions".to_owned(),
        classes: ["runs", "waits at a barrier"].map(str::to_owned).to_vec(),
        ..Timeline::default()
    };
    let Some(mut machine) = machine else {
        return Frame::Timeline(timeline);
    };
    let mut lanes: Vec<(u32, u32)> = Vec::new();
    // Of each lane the bar that may still grow, and since when it waits.
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut waiting: Vec<Option<f64>> = Vec::new();
    for _ in 0..DRAWN_STEPS {
        let before = machine.clock() as f64;
        let Some(step) = machine.step() else {
            break;
        };
        let after = machine.clock() as f64;
        let known = lanes
            .iter()
            .position(|lane| *lane == (step.block, step.warp));
        let lane = match known {
            Some(lane) => lane,
            None if lanes.len() == DRAWN_WARPS => continue,
            None => {
                lanes.push((step.block, step.warp));
                open.push(None);
                waiting.push(None);
                lanes.len() - 1
            }
        };
        if let Some(since) = waiting[lane].take()
            && since < before
        {
            timeline.spans.push(Span {
                lane,
                start: since,
                end: before,
                class: 1,
                ..Span::default()
            });
        }
        let label = format!("line {}", step.place.line);
        let grows = open[lane].filter(|&at| {
            let span = &timeline.spans[at];
            span.end == before && span.label == label
        });
        match grows {
            Some(at) => timeline.spans[at].end = after,
            None => {
                open[lane] = Some(timeline.spans.len());
                timeline.spans.push(Span {
                    lane,
                    start: before,
                    end: after,
                    label,
                    ..Span::default()
                });
            }
        }
        if matches!(step.event, Event::Arrived | Event::Released) {
            waiting[lane] = Some(after);
        }
    }
    let name = |(block, warp): (u32, u32)| format!("block {block} warp {warp}");
    timeline.lanes = lanes.into_iter().map(name).collect();
    Frame::Timeline(timeline)
}

/// The kernel in both languages.
pub(super) fn translation(text: &str, wgsl: Result<String, String>) -> Frame {
    let lines = |text: &str| text.lines().map(plain).collect::<Vec<_>>().join("\n");
    let pane = |title: &str, text: &str| Pane {
        title: title.to_owned(),
        frame: Frame::Text(lines(text)),
    };
    let other = match wgsl {
        Ok(text) => pane("WGSL", &text),
        Err(reasons) => pane("WGSL: no translation", &reasons),
    };
    Frame::Panes(vec![pane("CUDA C", text), other])
}

/// A line without what a terminal would take for a command.
fn plain(line: &str) -> String {
    line.replace('\t', "    ")
        .replace(|c: char| c.is_control(), " ")
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
