//! What a launch reports: whether it is right, what went wrong, and what it cost.

use mlsys_lab::{Run, Value};

use super::Job;
use crate::machine::CellState;
use crate::{Fault, Machine};

/// Indices of wrong outputs that are listed.
const LISTED: usize = 1024;

/// Elements of a buffer that are reported.
const SHOWN: usize = 4096;

/// Reports the metrics of a machine that has ended.
pub(super) fn report(run: &mut Run<'_>, job: &Job, machine: &Machine, outputs: &[String]) {
    let mismatches = job.mismatches(machine);
    let cells: Vec<CellState> = outputs
        .iter()
        .flat_map(|name| (0..).map_while(|element| machine.cell(name, element)))
        .collect();
    let count =
        |holds: fn(&CellState) -> bool| cells.iter().filter(|cell| holds(cell)).count() as i64;
    let unwritten = count(|cell| !cell.written);
    let findings = machine.findings();
    let faults = |fault: Fault| findings.count(fault) as i64;
    // A kernel of one's own may leave a part of a buffer alone: only an example knows what it owes.
    let owed = if job.wanted.is_some() { unwritten } else { 0 };
    run.scalar("correct", mismatches.is_empty() && findings.is_clean() && owed == 0);
    run.scalar("mismatches", mismatches.len() as i64);
    let listed = mismatches.iter().take(LISTED).map(|index| Value::Int(*index as i64));
    run.scalar("mismatch_indices", Value::Array(listed.collect()));
    run.scalar("out_of_bounds", faults(Fault::OutOfBounds));
    run.scalar("uninitialized_reads", faults(Fault::Uninitialized));
    run.scalar("races", faults(Fault::Race));
    run.scalar("barrier_divergence", faults(Fault::BarrierDivergence));
    run.scalar("overflows", faults(Fault::Overflow));
    run.scalar("divisions_by_zero", faults(Fault::DivisionByZero));
    run.scalar("misaligned_accesses", faults(Fault::Misaligned));
    run.scalar("other_faults", faults(Fault::Shift) + faults(Fault::LostLane));
    if let Some(first) = findings.first() {
        let (line, block, thread) = (first.place.line, first.block, first.thread);
        run.scalar(
            "first_problem",
            format!("line {line}, block {block:?}, thread {thread:?}: {}", first.sentence),
        );
    }
    run.scalar("unwritten_outputs", unwritten);
    run.scalar("overwritten_outputs", count(|cell| cell.rewritten));
    let totals = machine.totals();
    run.scalar("threads", (job.launch.blocks() * job.launch.threads_per_block()) as i64);
    run.scalar("idle_threads", machine.idle_threads() as i64);
    run.scalar("warp_instructions", machine.clock() as i64);
    let slots = 32.0 * totals.issues.max(1) as f64;
    run.scalar("lane_efficiency", totals.lanes as f64 / slots);
    run.scalar("divergent_branches", totals.divergent as i64);
    run.scalar("global_loads", totals.load.elements as i64);
    run.scalar("global_load_sectors", totals.load.sectors as i64);
    run.scalar("global_store_sectors", totals.store.sectors as i64);
    run.scalar("load_efficiency", totals.load.efficiency());
    run.scalar("store_efficiency", totals.store.efficiency());
    run.scalar("sectors_per_load", totals.load.sectors_per_access());
    run.scalar("sectors_per_store", totals.store.sectors_per_access());
    run.scalar("bank_replays", totals.replays as i64);
    let (flops, moved) = (machine.flops(), totals.moved());
    run.scalar("flops", flops as i64);
    run.scalar("moved_bytes", moved as i64);
    run.scalar("intensity", flops as f64 / moved.max(1) as f64);
    run.scalar("shared_bytes_per_block", i64::from(machine.shared_bytes()));
    if job.example.is_none() {
        let names: Vec<String> = machine.buffers().map(|(name, ..)| name.to_owned()).collect();
        for name in names {
            run.scalar(&format!("buffer.{name}"), Value::Array(contents(machine, &name)));
        }
    }
}

/// The first elements of a buffer; no report holds a NaN, so that what is no number is a text.
fn contents(machine: &Machine, name: &str) -> Vec<Value> {
    let values = machine.contents(name, SHOWN).into_iter().enumerate();
    let told = |(element, value): (usize, Value)| {
        let defined = machine.cell(name, element).is_some_and(|cell| cell.defined);
        match value {
            _ if !defined => Value::from("poison"),
            Value::Float(x) if !x.is_finite() => Value::Text(x.to_string()),
            value @ (Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Array(_)
            | Value::Table(_)) => value,
        }
    };
    values.map(told).collect()
}
