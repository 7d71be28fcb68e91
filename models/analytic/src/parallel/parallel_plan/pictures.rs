//! What the lab draws of a plan and of all others, and the judgement written out.

use mlsys_lab::frame::{Better, Dimension as Axis, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::steps::{Steps, percent};
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, LabError, Value, picture};
use mlsys_sim::memory::Stage;

use super::Judgement;
use super::model::{activation_table, layer_activations, stage_memory};
use super::plan::{Dimension, Layout, Plan, Reach, Recompute};
use super::rules::gigabytes;
use super::search::{self, Counted, Judged};

/// Stages that a picture of memory shows.
const STAGES: i64 = 16;

/// A plan in one line.
pub(super) fn describe(plan: &Plan) -> String {
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
            let memory = stage_memory(&self.setting, &self.plan, stage);
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
        activation_table(&self.setting.model, &self.plan).unwrap_or_else(|| {
            let kept = layer_activations(&self.setting.model, &self.plan);
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

/// Rows of the table of layouts.
const BEST: usize = 16;

/// A layout this many times slower than the best, or larger than the memory, is left out of the picture.
const FAR: f64 = 8.0;

/// Published plans, what was measured, and what the model of time says.
///
/// # Errors
/// As for [`search::rows`].
pub(super) fn published(efficiency: f64) -> Result<Frame, LabError> {
    let row = |row: &search::Row| {
        let (measured, estimate) = (row.share_of_peak(), row.estimate());
        [
            Value::from(row.name),
            row.plan.layout.short().into(),
            significant(row.plan.bubble(), 2).into(),
            match row.counted {
                Counted::Model => "MFU".into(),
                Counted::Hardware => "HFU".into(),
            },
            percent(measured).into(),
            percent(estimate).into(),
            significant(estimate / measured, 3).into(),
        ]
    };
    Ok(picture::table(
        ["row", "TP.CP.PP.DP", "bubble", "counts", "measured", "estimated", "ratio"],
        search::rows(efficiency)?.iter().map(row).collect(),
    ))
}

impl Judgement {
    /// Memory against step time: this plan, and each layout run in its best way.
    pub(super) fn pareto(&self) -> Frame {
        let point = |judged: &Judged, label: String, series: usize| ScatterPoint {
            x: Some(judged.memory.bytes()),
            y: Some(judged.seconds),
            label,
            series,
        };
        let capacity = self.setting.cluster.capacity;
        let slowest = self
            .found
            .layouts
            .iter()
            .map(|judged| judged.seconds)
            .fold(self.step.seconds(), f64::min)
            * FAR;
        let near =
            |judged: &&Judged| judged.memory.bytes() <= FAR * capacity && judged.seconds <= slowest;
        let layouts = self.found.layouts.iter().filter(near);
        let mut points: Vec<ScatterPoint> = layouts
            .map(|judged| {
                let label = judged.plan.layout.short();
                point(judged, label, if judged.fits { 0 } else { 1 })
            })
            .collect();
        let own = ScatterPoint {
            x: Some(self.memory.bytes()),
            y: Some(self.step.seconds()),
            label: "this plan".to_owned(),
            series: 2,
        };
        points.push(own);
        if let Some(fastest) = &self.found.fastest_kept {
            points.push(point(fastest, "solves the puzzle".to_owned(), 3));
        }
        let of = |points: &[ScatterPoint]| {
            let values = points.iter().filter_map(|point| point.y);
            values.fold((f64::INFINITY, 0.0_f64), |(low, high), y| (low.min(y), high.max(y)))
        };
        let (low, high) = of(&points);
        let axis = |name: &str, unit: &str| Axis {
            name: name.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Log,
            better: Better::Less,
            ..Axis::default()
        };
        Frame::Scatter(Scatter {
            x: axis("memory of a device", "bytes"),
            y: axis("step", "seconds"),
            series: ["fits", "too large", "this plan", "fastest by the rules"]
                .map(str::to_owned)
                .to_vec(),
            points,
            lines: vec![ScatterLine {
                name: "capacity".to_owned(),
                points: vec![(capacity, low), (capacity, high)],
            }],
        })
    }

    /// The fastest layouts that fit, or the smallest ways if none does.
    pub(super) fn best(&self) -> Frame {
        let layouts = &self.found.layouts;
        if layouts.is_empty() {
            let text = "no layout: heads, tokens, layers and sequences do not divide among these devices, or there are too many to search";
            return Frame::Text(text.to_owned());
        }
        let row = |judged: &Judged| {
            let plan = &judged.plan;
            let recompute = match plan.recompute {
                Recompute::None => "",
                Recompute::Selective | Recompute::Full => plan.recompute.name(),
            };
            [
                Value::from(plan.layout.tensor),
                plan.layout.context.into(),
                plan.layout.pipeline.into(),
                plan.layout.data.into(),
                format!("{} x {}", plan.microbatches, plan.microbatch).into(),
                plan.chunks.into(),
                i64::from(plan.stage.number()).into(),
                recompute.into(),
                significant(plan.bubble(), 2).into(),
                significant(judged.memory.bytes() / 1e9, 3).into(),
                significant(judged.seconds, 3).into(),
                if judged.kept {
                    "keeps all rules"
                } else if judged.fits {
                    "fits"
                } else {
                    "too large"
                }
                .into(),
            ]
        };
        picture::table(
            [
                "TP",
                "CP",
                "PP",
                "DP",
                "microbatches",
                "chunks",
                "ZeRO",
                "recompute",
                "bubble",
                "GB",
                "seconds",
                "",
            ],
            layouts.iter().take(BEST).map(row).collect(),
        )
    }
}

impl Judgement {
    pub(super) fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let (plan, claim) = (&self.plan, &self.claim);
        let Layout { tensor: t, context: c, pipeline: p, data: d } = plan.layout;
        let numbers = format!("{t}*{c}*{p}*{d}");
        steps.add("devices", "t*c*p*d", numbers, claim.devices);
        let numbers = format!("{}*{}", claim.global_batch, claim.sequence);
        steps.add("tokens a step", "global_batch*sequence", numbers, claim.tokens);
        let (m, b, v) = (plan.microbatches, plan.microbatch, plan.chunks);
        let numbers = format!("{}/({d}*{b})", claim.global_batch);
        steps.add("m, microbatches", "global_batch/(d*b)", numbers, m);
        let numbers = format!("({p} - 1)/({m}*{v})");
        steps.add("bubble over ideal", "(p - 1)/(m*v)", numbers, plan.bubble());
        let (achieved, peak) = (number(self.achieved), number(self.setting.cluster.peak));
        let share = self.achieved / self.setting.cluster.peak;
        steps.add("mfu, measured", "achieved/peak", format!("{achieved}/{peak}"), share);
        self.memory_steps(&mut steps);
        self.time_steps(&mut steps);
        steps.table()
    }

    fn memory_steps(&self, steps: &mut Steps) {
        let (model, cluster) = (&self.setting.model, &self.setting.cluster);
        let (plan, stage) = (&self.plan, self.stage);
        let p = plan.layout.pipeline;
        let layers = model.layers_of(stage, p);
        let held = model.parameters_of(stage, p) / plan.layout.tensor as f64;
        steps.add(
            "parameters of a device",
            "(layers*layer + ends)/t",
            format!(
                "stage {stage}: {layers} layers of {}, over {}",
                number(model.layer),
                plan.layout.tensor
            ),
            held,
        );
        let replicas = number(plan.layout.replicas());
        let rank = |from: u8| {
            if plan.stage.number() >= from { format!("/{replicas}") } else { String::new() }
        };
        let n = number(held);
        let states = self.memory.states;
        for (name, bytes, from, value) in [
            ("weights", cluster.weight, 3, states.weights),
            ("gradients", cluster.gradient, 2, states.gradients),
            ("optimizer", cluster.optimizer, 1, states.optimizer),
        ] {
            // One layer at a time is gathered whole, weights and gradients.
            let gathered = from > 1 && plan.stage == Stage::Weights && plan.layout.replicas() > 1.0;
            let whole = if gathered {
                let layer = number(model.layer);
                format!(" + {layer}*{}/{}", number(bytes), plan.layout.tensor)
            } else {
                String::new()
            };
            let numbers = format!("{n}*{}{}{whole}", number(bytes), rank(from));
            steps.add(name, "parameters*bytes, sharded from its stage on", numbers, value);
        }
        let kept = layer_activations(model, plan);
        let formula = match plan.recompute {
            Recompute::None | Recompute::Selective => "in flight*layers*kept of a layer",
            Recompute::Full => "in flight*layers*2sbh",
        };
        let numbers = format!("{}*{layers}*{}", number(plan.in_flight(stage)), number(kept));
        let of_layers = plan.in_flight(stage) * layers as f64 * kept;
        steps.add("activations of layers", formula, numbers, of_layers);
        let of_head = self.memory.activations - of_layers;
        if of_head > 0.0 {
            let numbers = format!("{} + {}", number(of_layers), number(of_head));
            steps.add(
                "activations",
                "with those of the output head",
                numbers,
                self.memory.activations,
            );
        }
        let numbers = [states.weights, states.gradients, states.optimizer, self.memory.activations]
            .map(number)
            .join(" + ");
        steps.add("bytes of a device", "the sum", numbers, self.memory.bytes());
    }

    fn time_steps(&self, steps: &mut Steps) {
        let (step, cluster) = (&self.step, &self.setting.cluster);
        let devices = number(self.devices());
        let rate = format!("{}*{}", number(cluster.efficiency), number(cluster.peak));
        let p = self.plan.layout.pipeline;
        let (most, layers) = (self.setting.model.most_layers(p), self.setting.model.layers);
        let numbers =
            format!("{}/({devices}*{rate})*{most}*{p}/{layers}", number(step.hardware_flops));
        steps.add(
            "compute",
            "flops/(devices*share*peak), of the fullest stage",
            numbers,
            step.compute,
        );
        let wire = |bytes: f64, seconds: f64| match bytes {
            0.0 => "nothing is sent".to_owned(),
            _ => format!("{}/{}", number(bytes), number(bytes / seconds)),
        };
        for (name, traffic) in [
            ("tensor", step.tensor),
            ("context", step.context),
            ("pipeline", step.pipeline),
            ("data", step.data.all()),
        ] {
            let numbers = wire(traffic.bytes, traffic.seconds);
            steps.add(name, "bytes/rate of its link", numbers, traffic.seconds);
        }
        let busy = step.compute + step.tensor.seconds + step.context_exposed;
        let numbers = format!("{}*{}", number(busy), number(self.plan.bubble()));
        steps.add("bubble", "(compute + tensor + context)*bubble", numbers, step.bubble);
        let numbers = format!(
            "{} + {} + {}",
            number(step.compute),
            number(step.bubble),
            number(step.exposed())
        );
        steps.add("step", "compute + bubble + not hidden", numbers, step.seconds());
        let below = format!("({}*{devices}*{})", number(step.seconds()), number(cluster.peak));
        let numbers = format!("{}/{below}", number(step.model_flops));
        steps.add(
            "mfu, estimated",
            "model flops/(step*devices*peak)",
            numbers,
            self.estimated_mfu(),
        );
    }
}
