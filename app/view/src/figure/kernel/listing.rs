//! The text of a kernel, line by line, with what each cost and which warps are there.

use std::collections::BTreeMap;

use mlsys_kernel::WarpState;
use mlsys_lab::frame::Table;
use mlsys_lab::frame::kernel::{Kernel, LineCost};
use mlsys_lab::value::Value;

use super::KernelDebugger;

/// A line of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u32,
    /// What stands there, without what steers a terminal.
    pub text: String,
    /// What it cost, so far or in the whole run.
    pub cost: LineCost,
    /// Whether the warp that is looked at comes here next; the column.
    pub current: Option<u32>,
    /// Other warps that come here next.
    pub others: usize,
    /// Whether warps stop here when they run on.
    pub breakpoint: bool,
    /// What went wrong here first, in the whole run.
    pub problem: Option<String>,
}

impl Line {
    /// Active lanes over 32 for each warp instruction; none where nothing ran.
    pub fn share(&self) -> Option<f64> {
        (self.cost.issues > 0).then(|| self.cost.lanes as f64 / (32 * self.cost.issues) as f64)
    }
}

/// The lines: at the beginning with what the whole run cost, later with what it cost so far.
pub fn listing(kernel: &Kernel, walk: &KernelDebugger) -> Vec<Line> {
    let mut costs: BTreeMap<u32, LineCost> = BTreeMap::new();
    let mut here: BTreeMap<u32, usize> = BTreeMap::new();
    let mut current = None;
    match walk.machine() {
        Ok(machine) if machine.clock() > 0 => {
            let lines = machine.lines().into_iter();
            costs.extend(lines.map(|(line, counts)| (line, counts.of_line(line))));
            let at = walk.here();
            for block in machine.blocks() {
                for (warp, (state, place)) in block.warps.iter().enumerate() {
                    match state {
                        WarpState::Done => {}
                        WarpState::Ready | WarpState::Waiting
                            if (block.block, warp) == (at.block, at.warp as usize) =>
                        {
                            current = Some(*place);
                        }
                        WarpState::Ready | WarpState::Waiting => {
                            *here.entry(place.line).or_default() += 1;
                        }
                    }
                }
            }
        }
        Ok(_) | Err(_) => {
            costs.extend(kernel.whole.lines.iter().map(|cost| (cost.line, *cost)));
        }
    }
    let breakpoints = walk.breakpoints();
    let lines = kernel.recipe.source.lines().zip(1_u32..);
    lines
        .map(|(text, number)| Line {
            number,
            text: plain(text),
            cost: costs.get(&number).copied().unwrap_or_default(),
            current: current.filter(|place| place.line == number).map(|place| place.column),
            others: here.get(&number).copied().unwrap_or_default(),
            breakpoint: breakpoints.contains(&number),
            problem: kernel
                .whole
                .problems
                .iter()
                .find(|problem| problem.line == number)
                .map(|problem| problem.sentence.clone()),
        })
        .collect()
}

/// A line without what a terminal would take for a command.
fn plain(line: &str) -> String {
    line.replace('\t', "    ").replace(|c: char| c.is_control(), " ")
}

pub(super) fn table(kernel: &Kernel, walk: &KernelDebugger) -> Table {
    let row = |line: Line| {
        let whole = |count: u64| match line.cost.issues {
            0 => Value::from(""),
            _ => Value::Int(count as i64),
        };
        let cost = line.cost;
        let warps = match (line.current, line.others) {
            (Some(_), others) => format!("this one and {others}"),
            (None, 0) => String::new(),
            (None, others) => others.to_string(),
        };
        vec![
            Value::Int(i64::from(line.number)),
            Value::from(line.text.as_str()),
            whole(cost.issues),
            line.share().map_or(Value::from(""), Value::Float),
            whole(cost.divergent),
            whole(cost.sectors),
            whole(cost.replays),
            Value::from(warps),
            Value::from(line.problem.as_deref().unwrap_or_default()),
        ]
    };
    Table {
        columns: [
            "line",
            "kernel",
            "warp instructions",
            "lanes",
            "divergent",
            "sectors",
            "bank replays",
            "warps",
            "problem",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: listing(kernel, walk).into_iter().map(row).collect(),
        ..Table::default()
    }
}
