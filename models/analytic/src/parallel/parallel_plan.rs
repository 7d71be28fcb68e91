//! Kind `parallel-plan`: tensor, context, pipeline and data parallelism multiplied out, judged, and searched for.
//!
//! `plan` has the layout and the machines, `model` parameters, layers and memory by stage, `step` traffic and time, `rules`
//! the puzzle and whether a row agrees with itself. `search` judges every way to run every layout with the same
//! functions, and holds rows of papers that tests compare the model with.

mod model;
mod pictures;
mod plan;
mod rules;
mod search;
mod step;

use mlsys_lab::report::Report;
use mlsys_lab::value::number;
use mlsys_lab::{LabError, Params, Run, picture};
use mlsys_sim::integer::too_large;
use mlsys_sim::memory::Stage;
use model::{Memory, Model, fullest_stage};
use plan::{Cluster, Layout, Plan, Recompute, Setting};
use rules::{Claim, Limits, Rule};
use search::Found;
use step::Step;

use crate::closed_form::Values;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let judgement = Judgement::of(&run.params)?;
    judgement.report_row(&mut values)?;
    judgement.report_memory(&mut values)?;
    judgement.report_time(&mut values)?;
    judgement.report_search(&mut values, run);
    if let Some(wrong) = judgement.claim.wrong() {
        run.sink.report(Report::Notice(format!("the row contradicts itself: {wrong}")));
    }
    picture::offer(run, "puzzle", || judgement.puzzle());
    picture::offer(run, "memory", || judgement.memory_by_stage());
    picture::offer(run, "time", || judgement.time());
    picture::offer(run, "traffic", || judgement.traffic());
    picture::offer(run, "pareto", || judgement.pareto());
    picture::offer(run, "best", || judgement.best());
    let published = pictures::published(judgement.setting.cluster.efficiency)?;
    picture::offer(run, "published", || published);
    picture::offer(run, "layer", || judgement.layer());
    picture::offer(run, "check", || judgement.claim.table());
    picture::offer(run, "steps", || judgement.steps());
    Ok(values)
}

/// A plan with everything that is said about it.
struct Judgement {
    setting: Setting,
    plan: Plan,
    claim: Claim,
    stage: i64,
    memory: Memory,
    step: Step,
    rules: Vec<Rule>,
    found: Found,
    /// Measured, in flop/s of a device.
    achieved: f64,
}

impl Judgement {
    fn of(params: &Params) -> Result<Self, LabError> {
        let setting = Setting { model: Model::read(params)?, cluster: Cluster::read(params)? };
        let claim = Claim::read(params)?;
        let plan = read_plan(params, &claim)?;
        let limits = Limits {
            devices: claim.claimed_devices,
            bubble: params.float("bubble_limit")?,
            tokens: params.float("tokens_limit")?,
        };
        let (stage, memory) = fullest_stage(&setting, &plan);
        Ok(Self {
            step: Step::of(&setting, &plan),
            rules: rules::rules(&setting, &plan, &memory, &limits),
            found: search::search(&setting, claim.global_batch, claim.claimed_devices, &limits),
            achieved: params.float("achieved_flops_per_second")?,
            setting,
            plan,
            claim,
            stage,
            memory,
        })
    }

    fn devices(&self) -> f64 {
        self.claim.devices as f64
    }

    fn broken(&self) -> i64 {
        self.rules.iter().filter(|rule| rule.broken.is_some()).count() as i64
    }

    fn score(&self) -> f64 {
        let fastest = self.found.fastest_kept.map(|judged| judged.seconds);
        rules::score(&self.rules, self.step.seconds(), fastest)
    }

    fn estimated_mfu(&self) -> f64 {
        let peak = self.devices() * self.setting.cluster.peak;
        self.step.model_flops / (self.step.seconds() * peak)
    }

    /// What the contract of a published row is held against.
    fn report_row(&self, values: &mut Values) -> Result<(), LabError> {
        let peak = self.setting.cluster.peak;
        values.set("data", self.plan.layout.data);
        values.set("devices", self.claim.devices);
        values.set("global_batch", self.claim.global_batch);
        values.set("tokens_per_batch", self.claim.tokens);
        values.set("microbatches", self.plan.microbatches);
        values.set("bubble_over_ideal", self.plan.bubble());
        let reason =
            || format!("a measured {} over a peak of {}", number(self.achieved), number(peak));
        values.finite("mfu", self.achieved / peak, reason)?;
        let total = self.devices() * self.achieved;
        values.finite("total_flops_per_second", total, reason)?;
        values.set("consistent", self.claim.wrong().is_none());
        let verdict = self.claim.wrong().unwrap_or_else(|| "consistent".to_owned());
        values.set("verdict", verdict);
        Ok(())
    }

    fn report_memory(&self, values: &mut Values) -> Result<(), LabError> {
        let large = || "the model's dimensions are too large for their product".to_owned();
        let Memory { states, activations } = self.memory;
        values.set("parameters", self.setting.model.parameters as i64);
        values.finite("weight_bytes", states.weights, large)?;
        values.finite("gradient_bytes", states.gradients, large)?;
        values.finite("optimizer_bytes", states.optimizer, large)?;
        values.finite("activation_bytes", activations, large)?;
        values.finite("bytes_per_device", self.memory.bytes(), large)?;
        values.set("fullest_stage", self.stage);
        values.set("fits", self.memory.bytes() <= self.setting.cluster.capacity);
        Ok(())
    }

    fn report_time(&self, values: &mut Values) -> Result<(), LabError> {
        let step = &self.step;
        let slow = || {
            let Cluster { peak, efficiency, inside, between, .. } = self.setting.cluster;
            format!(
                "{} of {} flop/s, {} and {} bytes/s finish nothing",
                number(efficiency),
                number(peak),
                number(inside.bandwidth()),
                number(between.bandwidth())
            )
        };
        let data = step.data.all();
        for (name, traffic) in [
            ("tensor", &step.tensor),
            ("context", &step.context),
            ("pipeline", &step.pipeline),
            ("data", &data),
        ] {
            values.finite(format!("{name}_bytes"), traffic.bytes, slow)?;
            values.finite(format!("{name}_seconds"), traffic.seconds, slow)?;
        }
        values.finite("compute_seconds", step.compute, slow)?;
        values.finite("bubble_seconds", step.bubble, slow)?;
        values.finite("exposed_seconds", step.exposed(), slow)?;
        values.finite("step_seconds", step.seconds(), slow)?;
        values.finite("estimated_mfu", self.estimated_mfu(), slow)
    }

    fn report_search(&self, values: &mut Values, run: &mut Run<'_>) {
        values.set("tensor_inside_server", rules::inside(&self.setting, &self.plan));
        values.set("rules_broken", self.broken());
        values.set("puzzle_solved", self.broken() == 0);
        values.set("score", self.score());
        values.set("plans_searched", self.found.judged as i64);
        values.set("plans_fitting", self.found.fitting as i64);
        if let Some(best) = self.found.layouts.first().filter(|best| best.fits) {
            values.set("best_plan", pictures::describe(&best.plan));
            values.set("best_step_seconds", best.seconds);
        }
        if let Some(fastest) = self.found.fastest_kept {
            values.set("solution_step_seconds", fastest.seconds);
        }
        if self.found.cut_off {
            run.sink.report(Report::Notice(format!(
                "the search ended after {} plans; it is for at most {} devices",
                self.found.judged,
                search::MOST_DEVICES
            )));
        }
    }
}

/// The plan among the parameters, its row multiplied out.
fn read_plan(params: &Params, claim: &Claim) -> Result<Plan, LabError> {
    let microbatch = params.int("microbatch")?;
    let of_rank = claim.layout.data.checked_mul(microbatch);
    let of_rank = of_rank.ok_or_else(|| too_large(["data", "microbatch"], "sequences"))?;
    if claim.global_batch % of_rank != 0 {
        return Err(LabError::contradiction(
            ["global_batch", "data", "microbatch"],
            format!(
                "{} sequences do not divide into microbatches of {microbatch} on {} data-parallel ranks; choose a multiple of {of_rank}",
                claim.global_batch, claim.layout.data
            ),
        ));
    }
    Ok(Plan {
        layout: claim.layout,
        microbatch,
        microbatches: claim.global_batch / of_rank,
        chunks: params.int("chunks_per_stage")?,
        stage: Stage::of(params.int("zero_stage")?),
        recompute: match params.text("recompute")? {
            "selective" => Recompute::Selective,
            "full" => Recompute::Full,
            _ => Recompute::None,
        },
    })
}

/// The four dimensions among the parameters.
fn read_layout(params: &Params) -> Result<Layout, LabError> {
    let (tensor, context) = (params.int("tensor")?, params.int("context")?);
    let pipeline = params.int("pipeline")?;
    let one = Layout { tensor, context, pipeline, data: 1 };
    if let Some(data) = params.optional_int("data") {
        return Ok(Layout { data, ..one });
    }
    let devices = params.int("devices")?;
    let ranks = one
        .model_ranks()
        .ok_or_else(|| too_large(["tensor", "context", "pipeline"], "the ranks of one copy"))?;
    if devices % ranks != 0 {
        return Err(LabError::contradiction(
            ["devices", "tensor", "context", "pipeline"],
            format!(
                "{devices} devices do not divide into copies of {tensor}*{context}*{pipeline} = {ranks}; set data, or choose a multiple of {ranks} devices"
            ),
        ));
    }
    Ok(Layout { data: devices / ranks, ..one })
}
