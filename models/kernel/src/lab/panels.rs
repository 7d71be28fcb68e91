//! The lab's pictures.

use crate::bytecode::WARP;
use crate::lab::Job;
use crate::{Counts, Diagnostic, Event, Fault, Finding, Machine, Step, Traffic};
use mlsys_lab::Run;
use mlsys_lab::frame::kernel::{Claim, Issue, Kernel as KernelFrame, Problem, View, Whole};
use mlsys_lab::frame::{Pane, Span, Table, Timeline};
use mlsys_lab::picture::{line, log_axis, point, scatter};
use mlsys_lab::value::{percent, significant};
use mlsys_lab::{Frame, Tables, Value, picture};
use std::collections::BTreeMap;

/// Warp instructions of the timeline.
const DRAWN_STEPS: usize = 4096;

const DRAWN_WARPS: usize = 32;

/// Problems that are marked in the text.
const MARKED: usize = 64;

/// Places and claims that the pictures show.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) claim: Option<Claim>,
    pub(super) watched: Option<Problem>,
    /// Where a run was when it had used all its instructions.
    pub(super) stopped: Option<Problem>,
}

/// The pictures that can be stepped through.
pub(super) fn offer_steps(run: &mut Run<'_>, job: &Job, machine: &Machine, marks: Marks) {
    let Marks { claim, watched, stopped } = marks;
    for view in View::ALL {
        picture::offer(run, view.name(), || {
            let again = |of: View| if view == of { job.start().ok() } else { None };
            let mut whole = whole(machine);
            whole.problems.extend(stopped.clone());
            Frame::Kernel(Box::new(KernelFrame {
                view,
                recipe: job.recipe.clone(),
                whole: Whole {
                    claim: claim.clone().filter(|_| view == View::Source),
                    watched: watched.clone(),
                    order: again(View::Timeline).map_or_else(Timeline::default, order),
                    issues: again(View::Divergence).map_or_else(Vec::new, issues),
                    ..whole
                },
            }))
        });
    }
}

/// What a run came to.
pub(super) fn whole(machine: &Machine) -> Whole {
    let findings = machine.findings();
    let listed = findings.listed().iter().take(MARKED);
    let found: u64 = Fault::ALL.iter().map(|fault| findings.count(*fault)).sum();
    let lines = machine.lines().into_iter();
    Whole {
        steps: machine.clock(),
        lines: lines.map(|(line, counts)| counts.of_line(line)).collect(),
        unlisted: found - listed.len() as u64,
        problems: listed.map(problem).collect(),
        ..Whole::default()
    }
}

pub(super) fn problem(finding: &Finding) -> Problem {
    Problem {
        step: finding.step,
        fault: finding.fault.name().to_owned(),
        line: finding.place.line,
        block: finding.block,
        thread: finding.thread,
        sentence: finding.sentence.clone(),
        outside: finding.outside.clone(),
    }
}

/// The last step of a run that was stopped as endless.
pub(super) fn stopped(machine: &Machine, step: Step) -> Problem {
    let lane = step.mask.trailing_zeros() % WARP as u32;
    Problem {
        step: machine.clock().saturating_sub(1),
        fault: "endless".to_owned(),
        line: step.place.line,
        block: machine.block_id(step.block),
        thread: machine.thread(step.warp * WARP as u32 + lane),
        sentence: format!("still runs after {} warp instructions", machine.clock() - 1),
        outside: None,
    }
}

/// Lines that access memory, with what moves.
pub(super) fn accesses(text: &str, machine: &Machine) -> Frame {
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
            Value::Float(hundredths(sectors as f64 / warps as f64))
        };
        let used = if sectors == 0 {
            Value::from("")
        } else {
            let share = sum(|t| t.used) as f64 / (32 * sectors) as f64;
            Value::Float(significant(100.0 * share, 3))
        };
        let moved = |traffic: Traffic| match traffic.accesses {
            0 => Value::from(""),
            _ => Value::Int(traffic.sectors as i64),
        };
        let text = text.lines().nth(line.saturating_sub(1) as usize);
        [
            Value::Int(i64::from(line)),
            Value::from(plain(text.map_or("", str::trim))),
            Value::Int(warps as i64),
            moved(counts.load),
            moved(counts.store),
            moved(counts.atomic),
            Value::Int(counts.shared as i64),
            Value::Int(counts.replays as i64),
            used,
            each,
        ]
    };
    let lines = machine.lines().into_iter();
    let rows: Vec<_> = lines.filter(|(_, counts)| accesses(counts) > 0).map(row).collect();
    if rows.is_empty() {
        return picture::table(
            ["line", "kernel"],
            vec![["", "no memory is accessed"].map(Value::from)],
        );
    }
    let titles = [
        "line", "kernel", "global", "loaded", "stored", "atomic", "shared", "replays", "used, %",
        "each",
    ];
    // What no line of this kernel does takes no room from the others.
    let says = |column: &usize| {
        rows.iter()
            .any(|row| !matches!(&row[*column], Value::Int(0)) && row[*column] != Value::from(""))
    };
    let columns: Vec<usize> = (0..titles.len()).filter(says).collect();
    let cells = |row: &[Value; 10]| columns.iter().map(|at| row[*at].clone()).collect::<Vec<_>>();
    let cells = rows.iter().map(cells).collect();
    Frame::Table(Table::new(columns.iter().map(|at| titles[*at].to_owned()).collect(), cells))
}

fn hundredths(x: f64) -> f64 {
    (100.0 * x).round() / 100.0
}

/// The first instructions in the order they ran: a lane a warp, a bar a stretch on one line.
pub(super) fn order(mut machine: Machine) -> Timeline {
    let mut timeline = Timeline {
        unit: "warp instructions".to_owned(),
        classes: ["runs", "waits at a barrier"].map(str::to_owned).to_vec(),
        ..Timeline::default()
    };
    /// A warp by block and number, its bar that may still grow, and since when it waits.
    struct Lane {
        warp: (u32, u32),
        open: Option<usize>,
        waiting: Option<f64>,
    }
    let mut lanes: Vec<Lane> = Vec::new();
    for _ in 0..DRAWN_STEPS {
        let before = machine.clock() as f64;
        let Some(step) = machine.step() else { break };
        let after = machine.clock() as f64;
        let warp = (step.block, step.warp);
        let lane = lanes.iter().position(|lane| lane.warp == warp).unwrap_or(lanes.len());
        if lane == DRAWN_WARPS {
            continue;
        }
        if lane == lanes.len() {
            lanes.push(Lane { warp, open: None, waiting: None });
        }
        let Lane { open, waiting, .. } = &mut lanes[lane];
        if let Some(start) = waiting.take()
            && start < before
        {
            timeline.spans.push(Span { lane, start, end: before, class: 1, ..Span::default() });
        }
        let label = format!("line {}", step.place.line);
        let grows = open.filter(|&at| {
            let span = &timeline.spans[at];
            span.end == before && span.label == label
        });
        if let Some(at) = grows {
            timeline.spans[at].end = after;
        } else {
            *open = Some(timeline.spans.len());
            let (start, end) = (before, after);
            timeline.spans.push(Span { lane, start, end, label, ..Span::default() });
        }
        if matches!(step.event, Event::Arrived | Event::Released) {
            *waiting = Some(after);
        }
    }
    let mut warps: Vec<(u32, u32)> = lanes.iter().map(|lane| lane.warp).collect();
    warps.sort_unstable();
    let places = lanes.iter().map(|lane| warps.partition_point(|warp| *warp < lane.warp));
    let places: Vec<usize> = places.collect();
    for span in &mut timeline.spans {
        span.lane = places[span.lane];
    }
    let name = |(block, warp): &(u32, u32)| format!("block {block} warp {warp}");
    timeline.lanes = warps.iter().map(name).collect();
    timeline
}

/// The first instructions by warp, line and active lanes.
pub(super) fn issues(mut machine: Machine) -> Vec<Issue> {
    let mut issues: Vec<Issue> = Vec::new();
    let mut open: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for step in 0..DRAWN_STEPS as u64 {
        let Some(Step { block, warp, place, mask, .. }) = machine.step() else { break };
        let grows = open.get(&(block, warp)).filter(|&&at| {
            let last: &Issue = &issues[at];
            (last.line, last.mask) == (place.line, mask)
        });
        if let Some(&at) = grows {
            issues[at].instructions += 1;
        } else {
            open.insert((block, warp), issues.len());
            issues.push(Issue { block, warp, line: place.line, mask, instructions: 1, step });
        }
    }
    issues
}

pub(super) fn translation(text: &str, wgsl: Result<String, Vec<Diagnostic>>) -> Frame {
    let lines = |text: &str| text.lines().map(plain).collect::<Vec<_>>().join("\n");
    let pane =
        |title: &str, text: &str| Pane { title: title.to_owned(), frame: Frame::Text(lines(text)) };
    let other = match wgsl {
        Ok(text) => pane("WGSL", &text),
        Err(diagnostics) => {
            let line = |Diagnostic { place, message, .. }: &Diagnostic| {
                format!("line {}, column {}: {message}", place.line, place.column)
            };
            let reasons: Vec<String> = diagnostics.iter().map(line).collect();
            pane("WGSL: no translation", &reasons.join("\n"))
        }
    };
    Frame::Panes(vec![pane("CUDA C", text), other])
}

/// A line without what a terminal would take for a command.
fn plain(line: &str) -> String {
    line.replace('\t', "    ").replace(mlsys_expr::steers_terminal, " ")
}

const ROOFS: [(&str, &str); 3] =
    [("V100", "v100-sxm2-16gb"), ("A100", "a100-sxm4-80gb"), ("H100", "h100-sxm5-80gb")];

/// The kernel under the roofs of tabled GPUs: FP32 peak and memory bandwidth.
pub(super) fn roofline(flops: u64, bytes: u64) -> Frame {
    let field = |gpu: &str, name: &str| Tables::builtin().field("gpu", gpu, name)?.as_f64();
    let own = (flops > 0 && bytes > 0).then(|| flops as f64 / bytes as f64);
    let (mut points, mut lines) = (Vec::new(), Vec::new());
    for (name, gpu) in ROOFS {
        let peak = field(gpu, "path.fp32.peak_flops_per_second");
        let (Some(peak), Some(bandwidth)) = (peak, field(gpu, "bandwidth_bytes_per_second")) else {
            continue;
        };
        let rate = |intensity: f64| peak.min(intensity * bandwidth);
        let ridge = peak / bandwidth;
        let at = |intensity: f64| (intensity, rate(intensity));
        // One scale for nearly every kernel, so that a turned knob moves the point and not the axes.
        let (least, most) = own.map_or((0.01, 1e3), |own| (own.min(0.01), own.max(1e3)));
        let ends = [at(least), at(ridge), at(most)];
        lines.push(line(format!("{name} FP32"), ends));
        points.push(point(ridge, rate(ridge), format!("ridge of {name}"), 0));
        if let Some(own) = own {
            let share = percent(rate(own) / peak);
            let label = format!("this kernel on {name}: {share} of its peak");
            points.push(point(own, rate(own), label, 1));
        }
    }
    let axes = [log_axis("intensity", "flops/byte"), log_axis("attainable", "flop/s")];
    scatter(axes, &["ridge", "this kernel"], points, lines)
}
