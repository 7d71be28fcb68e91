//! What the stages of a pipeline did, as pictures.

use mlsys_distributed::transport::Traffic;
use mlsys_lab::frame::{Table, Timeline};
use mlsys_lab::picture::stacks;
use mlsys_lab::schema::Label;
use mlsys_lab::{Frame, Value};
use mlsys_sim::pipeline::{PipelineRun, label, lanes, places};

use super::Session;
use super::params::{Clock, Setup};
use crate::parallel;

/// Operations of a stage that the table of the order shows.
const SHOWN: usize = 400;

type Picture = fn(&Session) -> Option<Frame>;

pub(super) const ALL: [(&str, Picture); 5] = [
    ("timeline", |run| run.shown().map(|played| timeline(&run.setup, run.knobs.clock, played))),
    ("activations", |run| {
        run.shown().map(|played| activations(&run.setup, run.knobs.clock, played))
    }),
    ("traffic", |run| run.traffic.as_ref().map(traffic)),
    ("order", |run| run.traffic.as_ref().map(|_| order(&run.setup, &run.measured))),
    ("memory", |run| {
        run.traffic.as_ref()?;
        let (stages, alone) = run.memory();
        Some(memory(&run.setup, &stages, &alone))
    }),
];

fn by(clock: Clock, mut timeline: Timeline) -> Frame {
    let (label, clock) = match clock {
        Clock::Measured => (Label::Measured, "measured on this machine"),
        Clock::Modelled => (Label::Modelled, "modelled"),
    };
    timeline.label = Some(label);
    if let Some(total) = &mut timeline.total {
        total.name = format!("{}, {clock}", total.name);
    }
    Frame::Timeline(timeline)
}

pub(super) fn timeline(setup: &Setup, clock: Clock, played: &PipelineRun) -> Frame {
    by(clock, lanes("seconds", setup.schedule, setup.chunks, played))
}

fn activations(setup: &Setup, clock: Clock, played: &PipelineRun) -> Frame {
    by(clock, places("seconds", setup.chunks, played))
}

fn traffic(traffic: &Traffic) -> Frame {
    let names = (0..traffic.workers()).map(|stage| format!("stage {stage}")).collect();
    let legend = "bytes sent in a step, from the stage of the row to that of the column";
    parallel::traffic(traffic, names, legend)
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Memory {
    pub(super) weights: u64,
    /// Copies of the weights besides those in use.
    pub(super) stashed: u64,
    pub(super) activations: u64,
    /// What waits for the second half of a backward pass.
    pub(super) waiting: u64,
    pub(super) peak: f64,
}

fn memory(setup: &Setup, stages: &[Memory], alone: &Memory) -> Frame {
    let stack = |label: String, of: &Memory, remark: String| {
        let bytes = [of.weights, of.stashed, of.activations, of.waiting];
        (label, bytes.map(|bytes| bytes as f64).to_vec(), remark)
    };
    let mut rows =
        vec![stack("one worker".to_owned(), alone, "the whole batch at once".to_owned())];
    rows.extend(stages.iter().enumerate().map(|(stage, of)| {
        let kept = if setup.recompute { ", inputs alone" } else { "" };
        let remark = format!("{} in flight{kept}", mlsys_lab::value::number(of.peak));
        stack(format!("stage {stage}"), of, remark)
    }));
    let note = "Activations are counted by what each operation keeps. Gradients take as much as the weights, \
                the optimizer state twice as much; neither is shown.";
    let parts = ["weights", "stashed weights", "activations", "waiting for W"];
    stacks("bytes", parts, rows, None, note)
}

fn order(setup: &Setup, played: &PipelineRun) -> Frame {
    let name = |slot: &mlsys_sim::pipeline::Slot| {
        format!("{}{}", slot.operation.work.letter(), label(slot.operation, setup.chunks))
    };
    let longest = played.stages.iter().map(Vec::len).max().unwrap_or(0);
    let row = |at: usize| {
        let of = |slots: &Vec<_>| slots.get(at).map_or_else(String::new, name);
        let stages = played.stages.iter().map(of).map(Value::from);
        let number = Value::Int(i64::try_from(at + 1).unwrap_or(i64::MAX));
        std::iter::once(number).chain(stages).collect()
    };
    let stages = (0..played.stages.len()).map(|stage| format!("stage {stage}"));
    Frame::Table(Table {
        columns: std::iter::once("no.".to_owned()).chain(stages).collect(),
        rows: (0..longest.min(SHOWN)).map(row).collect(),
        ..Table::default()
    })
}
