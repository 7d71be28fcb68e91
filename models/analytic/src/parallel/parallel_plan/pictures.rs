//! What the lab draws of a plan and of all others.

use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::percent;

use super::Judgement;
use super::activations;
use super::layout::{Dimension, Reach};
use super::memory;
use super::plan::Plan;
use super::rules::gigabytes;

/// Stages that a picture of memory shows.
const STAGES: i64 = 16;

/// A plan in one line.
pub(super) fn told(plan: &Plan) -> String {
    format!(
        "{}, {} x {} sequences, {} a stage, ZeRO {}, recompute {}",
        plan.layout.name(),
        plan.microbatches,
        plan.microbatch,
        match plan.chunks {
            1 => "1 chunk".to_owned(),
            chunks => format!("{chunks} chunks"),
        },
        plan.stage.number(),
        plan.recompute.name()
    )
}

/// Seconds with three digits.
fn seconds(seconds: f64) -> String {
    format!("{} s", number(significant(seconds, 3)))
}

impl Judgement {
    /// Every rule with what is wrong, and the score.
    pub(super) fn puzzle(&self) -> Frame {
        let mut rows: Vec<[Value; 4]> = self
            .rules
            .iter()
            .map(|rule| {
                let broken = rule.broken.clone();
                [
                    rule.name.into(),
                    rule.limit.clone().into(),
                    rule.plan.clone().into(),
                    broken.unwrap_or_else(|| "kept".to_owned()).into(),
                ]
            })
            .collect();
        let own = self.step.seconds();
        let (fastest, told) = match self.found.fastest_kept {
            Some(fastest) if self.broken() == 0 => {
                let share = percent((fastest.seconds / own).min(1.0));
                (seconds(fastest.seconds), format!("{share} of the fastest"))
            }
            Some(fastest) => (seconds(fastest.seconds), "counts once all are kept".to_owned()),
            None => ("none found".to_owned(), "no plan keeps to all".to_owned()),
        };
        rows.push(["step".into(), fastest.into(), seconds(own).into(), told.into()]);
        let told = match self.broken() {
            0 => "solved".to_owned(),
            1 => "one rule is broken".to_owned(),
            broken => format!("{broken} rules are broken"),
        };
        rows.push(["score".into(), "100".into(), significant(self.score(), 3).into(), told.into()]);
        picture::table(["rule", "limit", "this plan", "verdict"], rows)
    }

    /// A device of each pipeline stage, or of some of many.
    pub(super) fn memory_by_stage(&self) -> Frame {
        let stages = self.plan.layout.pipeline;
        let shown: Vec<i64> = if stages <= STAGES {
            (0..stages).collect()
        } else {
            let mut shown: Vec<i64> = (0..STAGES)
                .map(|i| {
                    (stages - 1) / (STAGES - 1) * i + (stages - 1) % (STAGES - 1) * i / (STAGES - 1)
                })
                .collect();
            shown.push(self.stage);
            shown.sort_unstable();
            shown.dedup();
            shown
        };
        let stack = |stage: i64| {
            let memory = memory::of_stage(&self.setting, &self.plan, stage);
            let states = memory.states;
            let over = memory.bytes() - self.setting.cluster.capacity;
            let remark = if over > 0.0 {
                format!("{} over", gigabytes(over))
            } else {
                let kept = self.plan.in_flight(stage);
                format!("{} in flight", number(kept))
            };
            let label = match stages {
                1 => "each device".to_owned(),
                _ => format!("stage {stage}"),
            };
            (
                label,
                vec![states.weights, states.gradients, states.optimizer, memory.activations],
                remark,
            )
        };
        picture::stacks(
            "bytes",
            ["weights", "gradients", "optimizer", "activations"],
            shown.into_iter().map(stack).collect(),
            Some((self.setting.cluster.capacity, "capacity")),
            &self.convention(),
        )
    }

    /// What a layer keeps for its backward pass.
    pub(super) fn layer(&self) -> Frame {
        activations::table(&self.setting.model, &self.plan).unwrap_or_else(|| {
            let kept = activations::of_layer(&self.setting.model, &self.plan);
            let kept = gigabytes(kept);
            Frame::Text(format!(
                "a layer keeps {kept} of a microbatch on each device: lab activation-memory shows its tensors"
            ))
        })
    }

    /// By which conventions memory is counted.
    fn convention(&self) -> String {
        let cluster = &self.setting.cluster;
        format!(
            "ZeRO stage {} over {} ranks, {} + {} + {} bytes a parameter; recompute {}; {}",
            self.plan.stage.number(),
            self.plan.layout.replicas(),
            number(cluster.weight),
            number(cluster.gradient),
            number(cluster.optimizer),
            self.plan.recompute.name(),
            match self.plan.chunks {
                1 => "1F1B".to_owned(),
                chunks => format!("interleaved 1F1B, {chunks} chunks a stage"),
            }
        )
    }

    /// Where a step's time goes.
    pub(super) fn time(&self) -> Frame {
        let step = &self.step;
        let all = step.seconds();
        let bar = |label: &str, seconds: f64, what: &str| {
            picture::bar(label, seconds, format!("{} {what}", percent(seconds / all)))
        };
        let own = percent(self.setting.cluster.efficiency);
        picture::bars(
            "seconds",
            vec![
                bar("computing", step.compute, &format!("at {own} of peak")),
                bar("tensor", step.tensor.seconds, "nothing hides it"),
                bar("context", step.context_exposed, "beyond attention"),
                bar("bubble", step.bubble, "waiting for other stages"),
                bar("pipeline", step.pipeline_exposed, "filling and draining"),
                bar("data", step.data_exposed, "beyond what hides it"),
                picture::bar("the step", all, format!("MFU {}", percent(self.estimated_mfu()))),
            ],
        )
    }

    /// The four dimensions, from the innermost.
    pub(super) fn traffic(&self) -> Frame {
        let step = &self.step;
        let row = |dimension: Dimension| {
            let (traffic, exposed, what) = match dimension {
                Dimension::Tensor => (step.tensor, step.tensor.seconds, "activations"),
                Dimension::Context => (step.context, step.context_exposed, "keys and values"),
                Dimension::Pipeline => (step.pipeline, step.pipeline_exposed, "activations"),
                Dimension::Data => (step.data.all(), step.data_exposed, "gradients"),
            };
            let layout = self.plan.layout;
            [
                Value::from(dimension.name()),
                layout.ranks(dimension).into(),
                match layout.reach(dimension, self.setting.cluster.server) {
                    Reach::Alone => "none".into(),
                    Reach::Server => "inside".into(),
                    Reach::Network => "between".into(),
                },
                what.into(),
                significant(traffic.bytes / 1e9, 3).into(),
                significant(traffic.seconds, 3).into(),
                significant(exposed, 3).into(),
            ]
        };
        picture::table(
            ["dimension", "ranks", "servers", "what", "GB a step", "seconds", "not hidden"],
            Dimension::ALL.map(row).to_vec(),
        )
    }
}
