//! Kind `pipeline`: schedules of a pipeline of layers, simulated operation by operation.

use mlsys_lab::report::FrameTrigger;
use mlsys_lab::{Frame, LabError, Params, Run, Value, picture};
use mlsys_sim::pipeline::{PipelineRun, Plan, Schedule, Times, lanes, places, simulate};

use crate::closed_form::Simulated;

const COMPARED: [Schedule; 5] = [
    Schedule::GPipe,
    Schedule::OneForwardOneBackward,
    Schedule::Interleaved,
    Schedule::ZeroBubbleH1,
    Schedule::ZeroBubbleH2,
];

/// Chunks that interleaving is compared with where another schedule is chosen.
const CHUNKS: usize = 2;

/// Operations that a row of a comparison may cost.
const MOST_COMPARED: usize = 400_000;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let setup = Setup::read(&run.params)?;
    let outcome = setup.outcome()?;
    let stages = 0..setup.stages;
    let mut values = Simulated::default();
    values.set("makespan", outcome.makespan);
    values.list("stage_idle", stages.clone().map(|stage| outcome.played.idle(stage)));
    values.list("peak_activations", stages.map(|stage| outcome.peak(stage)));
    values.set("operations", outcome.plan.operations() as i64);
    let keys = ["name", "makespan", "wait", "keeps", "messages"];
    if run.sink.wants_frame("schedules", FrameTrigger::Final) {
        values.records("schedules", keys, COMPARED.into_iter().filter_map(|s| setup.compared(s)));
    }
    if run.sink.wants_frame("microbatches", FrameTrigger::Final) {
        values.records("counts", ["count", "makespan", "keeps"], setup.counts());
    }
    // Times beyond all numbers have no place on an axis.
    if outcome.makespan.is_finite() {
        picture::offer(run, "timeline", || {
            Frame::Timeline(lanes("time", setup.schedule, setup.chunks, &outcome.played))
        });
        picture::offer(run, "activations", || {
            Frame::Timeline(places("time", setup.chunks, &outcome.played))
        });
    }
    Ok(values)
}

#[derive(Clone, Copy, Debug)]
struct Setup {
    schedule: Schedule,
    stages: usize,
    microbatches: usize,
    /// 1 unless the schedule interleaves.
    chunks: usize,
    times: Times,
}

impl Setup {
    fn read(params: &Params) -> Result<Self, LabError> {
        // The schema knows no name but these.
        let schedule = params.text("schedule")?.parse().unwrap_or(Schedule::GPipe);
        let interleaves = schedule == Schedule::Interleaved;
        Ok(Self {
            schedule,
            stages: params.size("stages")?,
            microbatches: params.size("microbatches")?,
            chunks: if interleaves { params.size("chunks_per_stage")? } else { 1 },
            times: Times {
                forward: params.float("forward_time")?,
                backward_input: params.float("backward_input_time")?,
                backward_weight: params.float("backward_weight_time")?,
            },
        })
    }

    fn outcome(&self) -> Result<Outcome, LabError> {
        let plan = Plan::new(self.schedule, self.stages, self.microbatches, self.chunks)?;
        let played = simulate(&plan, self.times, None)
            .ok_or_else(|| LabError::Data("the stages wait for one another".to_owned()))?;
        Ok(Outcome { makespan: played.makespan(), plan, played })
    }

    /// Another schedule with the same stages, microbatches and times; none if it would take too long.
    fn compared(&self, schedule: Schedule) -> Option<[Value; 5]> {
        let chosen = self.schedule == schedule;
        let chunks = match (schedule == Schedule::Interleaved, chosen) {
            (true, true) => self.chunks,
            (true, false) => CHUNKS,
            (false, _) => 1,
        };
        let places = self.stages * chunks;
        if places.saturating_mul(self.microbatches) > MOST_COMPARED && !chosen {
            return None;
        }
        let outcome = Self { schedule, chunks, ..*self }.outcome().ok()?;
        let mut name = schedule.name().to_owned();
        if schedule == Schedule::Interleaved {
            name += &format!(", {chunks} chunks");
        }
        if chosen {
            name += " (this)";
        }
        let waits = (0..self.stages).map(|stage| outcome.played.idle(stage));
        let messages = 2 * (places - 1) * self.microbatches;
        Some([
            name.into(),
            outcome.makespan.into(),
            waits.fold(0.0, f64::max).into(),
            outcome.peak(0).into(),
            Value::Int(i64::try_from(messages).unwrap_or(i64::MAX)),
        ])
    }

    /// The same schedule with other numbers of microbatches.
    fn counts(&self) -> impl Iterator<Item = [Value; 3]> {
        let unit = if self.schedule == Schedule::Interleaved { self.stages } else { 1 };
        let mut counts: Vec<usize> = (0..9).map(|power| unit << power).collect();
        counts.push(self.microbatches);
        counts.sort_unstable();
        counts.dedup();
        counts.into_iter().filter_map(|microbatches| {
            let own = microbatches == self.microbatches;
            let operations = microbatches.saturating_mul(self.stages * self.chunks);
            if operations > MOST_COMPARED && !own {
                return None;
            }
            let outcome = Self { microbatches, ..*self }.outcome().ok()?;
            let count = Value::Int(microbatches as i64);
            Some([count, outcome.makespan.into(), outcome.peak(0).into()])
        })
    }
}

struct Outcome {
    plan: Plan,
    played: PipelineRun,
    makespan: f64,
}

impl Outcome {
    /// Most microbatches whose activations a stage keeps, in whole-stage units.
    fn peak(&self, stage: usize) -> f64 {
        self.plan.peak_chunks(stage) as f64 / self.plan.chunks() as f64
    }
}
