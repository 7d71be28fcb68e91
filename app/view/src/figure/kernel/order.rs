//! The instructions in the order they ran, with the place of the walk; and what went wrong, to go to.

use mlsys_lab::Value;
use mlsys_lab::frame::kernel::Kernel;
use mlsys_lab::frame::{Milestone, Table, Timeline};

use super::KernelDebugger;

/// The order by warp, with a line where the walk stands.
pub fn order(kernel: &Kernel, walk: &KernelDebugger) -> Timeline {
    let mut timeline = kernel.whole.order.clone();
    timeline.marks.push(Milestone {
        at: walk.clock() as f64,
        label: match walk.last() {
            Some(step) => format!(
                "step {}: block {} warp {}, line {}",
                walk.clock(),
                step.block,
                step.warp,
                step.place.line
            ),
            None => "before the first step".to_owned(),
        },
    });
    timeline
}

/// The bar that the last step belongs to.
pub fn current(timeline: &Timeline, walk: &KernelDebugger) -> Option<usize> {
    let step = walk.last()?;
    let lane = format!("block {} warp {}", step.block, step.warp);
    let lane = timeline.lanes.iter().position(|name| *name == lane)?;
    let at = walk.clock() as f64 - 0.5;
    timeline.spans.iter().position(|span| span.lane == lane && span.start <= at && at <= span.end)
}

/// What went wrong in the whole run.
pub fn problems(kernel: &Kernel) -> Table {
    let place = |[x, y, z]: [u32; 3]| Value::from(format!("({x},{y},{z})"));
    let row = |problem: &mlsys_lab::frame::kernel::Problem| {
        vec![
            Value::from(problem.fault.as_str()),
            Value::Int(problem.step as i64),
            Value::Int(i64::from(problem.line)),
            place(problem.block),
            place(problem.thread),
            Value::from(problem.sentence.as_str()),
        ]
    };
    let mut rows: Vec<Vec<Value>> = kernel.whole.problems.iter().map(row).collect();
    if rows.is_empty() {
        rows.push(["none", "", "", "", "", "nothing went wrong"].map(Value::from).to_vec());
    }
    let titles = ["problem", "step", "line", "block", "thread", "what happened"];
    Table { columns: titles.map(str::to_owned).to_vec(), rows, ..Table::default() }
}
