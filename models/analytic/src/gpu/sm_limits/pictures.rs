//! One multiprocessor unfolded, and its scheduler cycle by cycle as warps are added.

use mlsys_lab::frame::{CellRow, Cells, Pane, Tone};
use mlsys_lab::{Frame, Tables};

use super::Limits;
use mlsys_lab::picture;
use mlsys_sim::multiprocessor::WARP;

/// Multiprocessors drawn of a chip, and in a row.
const CHIP: (i64, usize) = (256, 16);

/// Cycles drawn.
const CYCLES: i64 = 32;

/// Warps drawn of one scheduler.
const WARPS: i64 = 8;

/// From the chip to one multiprocessor, to its sub-cores with their lanes, to the warps each chooses from.
pub(super) fn unfolded(limits: &Limits, gpu: Option<&str>, sms: Option<i64>) -> Frame {
    let mut panes: Vec<Pane> = Vec::new();
    panes.extend(sms.map(chip));
    panes.extend(gpu.and_then(|gpu| lanes(limits, gpu)));
    panes.push(slots(limits));
    match <[Pane; 1]>::try_from(panes) {
        Ok([only]) => only.frame,
        Err(panes) => Frame::Panes(panes),
    }
}

fn chip(sms: i64) -> Pane {
    let drawn = sms.min(CHIP.0);
    // One of them is looked into.
    let kinds: Vec<usize> = (0..drawn).map(|sm| usize::from(sm > 0)).collect();
    let frame = Frame::Cells(Cells {
        across: "SM".to_owned(),
        group: 4,
        first: 0,
        kinds: picture::kinds([("unfolded beside", Tone::First), ("the same again", Tone::Second)]),
        rows: picture::folded(&kinds, CHIP.1),
        note: format!(
            "{sms} multiprocessors, each with warps, registers and shared memory of its own."
        ),
        ..Cells::default()
    });
    picture::pane(format!("the chip: {sms} SMs"), frame)
}

/// The FP32 lanes of each sub-core, if the chip is tabled.
fn lanes(limits: &Limits, gpu: &str) -> Option<Pane> {
    let field = "path.fp32.units_per_sm";
    let units = Tables::builtin().field("gpu", gpu, field)?.as_f64()? as i64;
    let cores = limits.sm.sub_cores;
    let each = units / cores;
    let row = |core: i64| {
        let lanes = (0..each.min(2 * WARP)).map(|_| Some(0));
        let cycles = (WARP + each - 1) / each.max(1);
        let remark = match cycles {
            1 => "a warp in 1 cycle".to_owned(),
            cycles => format!("a warp in {cycles} cycles"),
        };
        picture::row(format!("sub-core {core}"), lanes, remark)
    };
    let frame = Frame::Cells(Cells {
        across: "lane".to_owned(),
        group: 8,
        first: 0,
        kinds: picture::kinds([("FP32 lane", Tone::First)]),
        rows: (0..cores).map(row).collect(),
        note: format!(
            "{cores} sub-cores with {each} lanes and one warp scheduler each. A lane is not a core: 32 threads share one instruction."
        ),
        ..Cells::default()
    });
    Some(picture::pane(format!("one SM: {units} lanes"), frame))
}

/// The resident warps of each scheduler, those that hide the latency lit.
fn slots(limits: &Limits) -> Pane {
    let (sm, need) = (&limits.sm, limits.latency);
    let row = |core: i64| {
        let slot = |slot: i64| Some(usize::from(slot >= need));
        let cells = (0..limits.warps_per_sub_core).map(slot);
        picture::row(format!("scheduler {core}"), cells, "")
    };
    let enough = if need <= limits.warps_per_sub_core {
        "the others are there for memory, which takes longer".to_owned()
    } else {
        format!("only {} fit", limits.warps_per_sub_core)
    };
    let frame = Frame::Cells(Cells {
        across: "warp".to_owned(),
        group: 4,
        first: 0,
        kinds: picture::kinds([
            ("needed to hide the latency", Tone::First),
            ("resident beyond that", Tone::Second),
        ]),
        rows: (0..sm.sub_cores).map(row).collect(),
        note: format!(
            "Room for {} warps, {} threads. A result takes {need} cycles, so {need} warps keep a scheduler busy: {enough}.",
            sm.max_warps, limits.threads
        ),
        ..Cells::default()
    });
    picture::pane(format!("its warps: {} slots", sm.max_warps), frame)
}

/// One scheduler cycle by cycle, with ever more warps: the gaps fill.
pub(super) fn scheduler(limits: &Limits) -> Frame {
    let (need, most) = (limits.latency, limits.warps_per_sub_core);
    let mut counts = vec![1, 2, need / 2, need, need.saturating_mul(2), most];
    counts.retain(|warps| (1..=most).contains(warps));
    counts.sort_unstable();
    counts.dedup();
    let pane = |warps: i64| {
        let busy = need.min(warps) as f64 / need as f64;
        let title = match warps {
            1 => format!("1 warp: busy {}", mlsys_lab::steps::percent(busy)),
            warps => format!("{warps} warps: busy {}", mlsys_lab::steps::percent(busy)),
        };
        picture::pane(title, cycles(warps, need))
    };
    Frame::Panes(counts.into_iter().map(pane).collect())
}

/// The cycles of a scheduler with so many warps, each of whose instructions waits for its last.
fn cycles(warps: i64, latency: i64) -> Frame {
    // In turn: a warp is next when all others had theirs, or when its result is there, whichever is later.
    let period = warps.max(latency);
    let row = |warp: i64| {
        let cell = |cycle: i64| {
            let since = (cycle - warp).rem_euclid(period);
            Some(match since {
                _ if cycle < warp => 2,
                0 => 0,
                since if since < latency => 1,
                _ => 2,
            })
        };
        picture::row(format!("warp {warp}"), (0..CYCLES).map(cell), "")
    };
    let shown = warps.min(WARPS);
    let issues = |cycle: i64| Some(if cycle % period < warps { 0 } else { 3 });
    let mut rows: Vec<CellRow> = vec![picture::row("scheduler", (0..CYCLES).map(issues), "")];
    rows.extend((0..shown).map(row));
    let cut = match warps - shown {
        0 => String::new(),
        more => format!(" {more} more warps are not drawn."),
    };
    let note = match latency - warps {
        gap if gap > 0 => format!(
            "Every {latency} cycles it issues {warps} and has nothing for {gap}: {gap} more warps would fill the gap.{cut}"
        ),
        0 => format!("When the last warp has issued, the first one's result is there.{cut}"),
        _ => format!("Always one is ready; a warp waits for its turn, not for its result.{cut}"),
    };
    Frame::Cells(Cells {
        across: "cycle".to_owned(),
        group: 8,
        first: 0,
        kinds: picture::kinds([
            ("issues", Tone::First),
            ("waits for its result", Tone::Faint),
            ("ready, waits for its turn", Tone::Third),
            ("nothing to issue", Tone::Bad),
        ]),
        rows,
        note,
        ..Cells::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_issues_one_warp_a_cycle_and_is_busy_from_the_latency_on() {
        for (warps, latency) in [(1, 4), (3, 4), (4, 4), (8, 4), (16, 1), (2, 400)] {
            let Frame::Cells(cells) = cycles(warps, latency) else {
                panic!("cycles are cells");
            };
            let (scheduler, all) = cells.rows.split_first().unwrap();
            for cycle in 0..CYCLES as usize {
                let issuing = all
                    .iter()
                    .filter(|row| row.cells[cycle].as_ref().is_some_and(|cell| cell.kind == 0));
                let busy = scheduler.cells[cycle].as_ref().is_some_and(|cell| cell.kind == 0);
                // Of many warps some are not drawn.
                let drawn = cycle as i64 % warps.max(latency) < WARPS;
                assert_eq!(
                    issuing.count(),
                    usize::from(busy && drawn),
                    "{warps} {latency} {cycle}"
                );
                assert!(busy || warps < latency);
            }
        }
    }
}
