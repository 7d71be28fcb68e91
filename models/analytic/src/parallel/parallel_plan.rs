//! Kind `parallel-plan`: tensor, context, pipeline and data parallelism multiplied out, judged, and searched for.
//!
//! Each aspect of a layout stands alone: which dimension runs over which network (`layout`), layers and parameters by stage
//! (`model`), memory, traffic, time, broken rules (`rules`), and whether a row agrees with itself (`check`). `search` judges every
//! way to run every layout with the same functions; `published` holds rows of papers that tests compare the model with.

mod activations;
mod check;
mod layout;
mod memory;
mod model;
mod others;
mod pictures;
mod plan;
mod published;
mod rules;
mod search;
mod steps;
mod time;
mod traffic;

use mlsys_lab::report::Report;
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::finite;
use mlsys_sim::integer::too_large;
use mlsys_sim::memory::Stage;

use check::Claim;
use layout::Layout;
use memory::Memory;
use model::Model;
use plan::{Cluster, Plan, Recompute, Setting};
use rules::{Limits, Rule};
use search::Found;
use time::Step;

/// The lab `parallel-plan`.
pub struct ParallelPlan {
    schema: Schema,
}

impl ParallelPlan {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/parallel-plan.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for ParallelPlan {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let judgement = Judgement::of(&run.params)?;
        judgement.report_row(run)?;
        judgement.report_memory(run)?;
        judgement.report_time(run)?;
        judgement.report_search(run);
        if let Some(wrong) = judgement.claim.wrong() {
            run.sink.report(Report::Notice(format!("the row contradicts itself: {wrong}")));
        }
        picture::offer(run, "puzzle", || judgement.puzzle());
        picture::offer(run, "memory", || judgement.memory_by_stage());
        picture::offer(run, "time", || judgement.time());
        picture::offer(run, "traffic", || judgement.traffic());
        picture::offer(run, "pareto", || judgement.pareto());
        picture::offer(run, "best", || judgement.best());
        let published = others::published(judgement.setting.cluster.efficiency)?;
        picture::offer(run, "published", || published);
        picture::offer(run, "layer", || judgement.layer());
        picture::offer(run, "check", || judgement.claim.table());
        picture::offer(run, "steps", || judgement.steps());
        Ok(())
    }
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
        let (stage, memory) = memory::fullest(&setting, &plan);
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
    fn report_row(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let peak = self.setting.cluster.peak;
        run.scalar("data", self.plan.layout.data);
        run.scalar("devices", self.claim.devices);
        run.scalar("global_batch", self.claim.global_batch);
        run.scalar("tokens_per_batch", self.claim.tokens);
        run.scalar("microbatches", self.plan.microbatches);
        run.scalar("bubble_over_ideal", self.plan.bubble());
        let reason =
            || format!("a measured {} over a peak of {}", number(self.achieved), number(peak));
        finite(run, "mfu", self.achieved / peak, reason)?;
        let total = self.devices() * self.achieved;
        finite(run, "total_flops_per_second", total, reason)?;
        run.scalar("consistent", self.claim.wrong().is_none());
        let verdict = self.claim.wrong().unwrap_or_else(|| "consistent".to_owned());
        run.scalar("verdict", verdict);
        Ok(())
    }

    fn report_memory(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let large = || "the model's dimensions are too large for their product".to_owned();
        let Memory { states, activations } = self.memory;
        run.scalar("parameters", self.setting.model.parameters as i64);
        finite(run, "weight_bytes", states.weights, large)?;
        finite(run, "gradient_bytes", states.gradients, large)?;
        finite(run, "optimizer_bytes", states.optimizer, large)?;
        finite(run, "activation_bytes", activations, large)?;
        finite(run, "bytes_per_device", self.memory.bytes(), large)?;
        run.scalar("fullest_stage", self.stage);
        run.scalar("fits", self.memory.bytes() <= self.setting.cluster.capacity);
        Ok(())
    }

    fn report_time(&self, run: &mut Run<'_>) -> Result<(), LabError> {
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
            finite(run, &format!("{name}_bytes"), traffic.bytes, slow)?;
            finite(run, &format!("{name}_seconds"), traffic.seconds, slow)?;
        }
        finite(run, "compute_seconds", step.compute, slow)?;
        finite(run, "bubble_seconds", step.bubble, slow)?;
        finite(run, "exposed_seconds", step.exposed(), slow)?;
        finite(run, "step_seconds", step.seconds(), slow)?;
        finite(run, "estimated_mfu", self.estimated_mfu(), slow)
    }

    fn report_search(&self, run: &mut Run<'_>) {
        run.scalar("tensor_inside_server", rules::inside(&self.setting, &self.plan));
        run.scalar("rules_broken", self.broken());
        run.scalar("puzzle_solved", self.broken() == 0);
        run.scalar("score", self.score());
        run.scalar("plans_searched", self.found.judged as i64);
        run.scalar("plans_fitting", self.found.fitting as i64);
        if let Some(best) = self.found.layouts.first().filter(|best| best.fits) {
            run.scalar("best_plan", pictures::told(&best.plan));
            run.scalar("best_step_seconds", best.seconds);
        }
        if let Some(fastest) = self.found.fastest_kept {
            run.scalar("solution_step_seconds", fastest.seconds);
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
