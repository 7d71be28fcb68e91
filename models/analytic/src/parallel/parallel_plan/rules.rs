//! Whether a row of a table agrees with itself, which rules a plan breaks, and the puzzle's score.

use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, LabError, Params, Value, picture};
use mlsys_sim::integer::too_large;

use super::model::Memory;
use super::plan::{Dimension, Layout, Plan, Reach, Setting};
use super::read_layout;

/// What a row says and what its own numbers give.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) layout: Layout,
    /// Devices the row claims, or that are there.
    pub(super) claimed_devices: i64,
    /// tensor*context*pipeline*data.
    pub(super) devices: i64,
    pub(super) sequence: i64,
    pub(super) global_batch: i64,
    /// global_batch*sequence.
    pub(super) tokens: i64,
    pub(super) claimed_tokens: Option<i64>,
    batch: Batch,
}

/// How the batch is given.
#[derive(Clone, Copy, Debug)]
enum Batch {
    /// For all.
    Global,
    /// Sequences for each data-parallel rank.
    Rank(i64),
}

impl Claim {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let layout = read_layout(params)?;
        let devices = layout
            .devices()
            .ok_or_else(|| too_large(["tensor", "context", "pipeline", "data"], "devices"))?;
        let (batch, global_batch) = match params.optional_int("global_batch") {
            Some(batch) => (Batch::Global, Some(batch)),
            None => {
                let each = params.int("batch_per_data_rank")?;
                (Batch::Rank(each), each.checked_mul(layout.data))
            }
        };
        let global_batch = global_batch
            .ok_or_else(|| too_large(["batch_per_data_rank", "data"], "global_batch"))?;
        let sequence = params.int("sequence")?;
        let tokens = global_batch
            .checked_mul(sequence)
            .ok_or_else(|| too_large(["sequence", "global_batch"], "tokens_per_batch"))?;
        Ok(Self {
            layout,
            claimed_devices: params.int("devices")?,
            devices,
            sequence,
            global_batch,
            tokens,
            claimed_tokens: params.optional_int("claimed_tokens_per_batch"),
            batch,
        })
    }

    fn wrong_devices(&self) -> Option<String> {
        let Layout { tensor, context, pipeline, data } = self.layout;
        (self.devices != self.claimed_devices).then(|| {
            format!(
                "{tensor}*{context}*{pipeline}*{data} is {} devices, not {}",
                self.devices, self.claimed_devices
            )
        })
    }

    fn wrong_tokens(&self) -> Option<String> {
        let claimed = self.claimed_tokens.filter(|claimed| *claimed != self.tokens)?;
        Some(format!(
            "{}*{} is {} tokens, not {claimed}",
            self.global_batch, self.sequence, self.tokens
        ))
    }

    /// What of the row contradicts what; nothing if it agrees with itself.
    pub(super) fn wrong(&self) -> Option<String> {
        let all = [self.wrong_devices(), self.wrong_tokens()];
        let all: Vec<String> = all.into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Data-parallel ranks that the claimed devices need.
    fn data_for_devices(&self) -> Option<i64> {
        let ranks = self.layout.model_ranks()?;
        (self.claimed_devices % ranks == 0).then(|| self.claimed_devices / ranks)
    }

    /// Data-parallel ranks that the claimed tokens need.
    fn data_for_tokens(&self) -> Option<i64> {
        let Batch::Rank(each) = self.batch else {
            return None;
        };
        let of_rank = each.checked_mul(self.sequence)?;
        let claimed = self.claimed_tokens?;
        (claimed % of_rank == 0).then(|| claimed / of_rank)
    }

    /// The row multiplied out.
    pub(super) fn table(&self) -> Frame {
        let cure = |data: Option<i64>, wrong: &Option<String>| match (wrong, data) {
            (None, _) => "agrees".to_owned(),
            (Some(_), Some(data)) => format!("data = {data} would"),
            (Some(_), None) => "no number of data ranks would".to_owned(),
        };
        let Layout { tensor, context, pipeline, data } = self.layout;
        let mut rows = vec![[
            Value::from("devices"),
            self.claimed_devices.into(),
            format!("{tensor}*{context}*{pipeline}*{data}").into(),
            self.devices.into(),
            cure(self.data_for_devices(), &self.wrong_devices()).into(),
        ]];
        let of_batch = match self.batch {
            Batch::Global => "as given".to_owned(),
            Batch::Rank(each) => format!("{each}*{data}"),
        };
        rows.push([
            "sequences a step".into(),
            "".into(),
            of_batch.into(),
            self.global_batch.into(),
            "".into(),
        ]);
        rows.push([
            "tokens a step".into(),
            self.claimed_tokens.map_or_else(|| "".into(), Value::from),
            format!("{}*{}", self.global_batch, self.sequence).into(),
            self.tokens.into(),
            match self.claimed_tokens {
                Some(_) => cure(self.data_for_tokens(), &self.wrong_tokens()).into(),
                None => "".into(),
            },
        ]);
        picture::table(["what", "claimed", "with numbers", "comes to", ""], rows)
    }
}

/// Points for the rules, shared out evenly.
const FOR_RULES: f64 = 60.0;

/// Points for how near the step comes to the fastest that keeps to all rules.
const FOR_SPEED: f64 = 40.0;

/// Limits set in addition to those of the machines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Devices that are to be used, all of them.
    pub(super) devices: i64,
    /// Bubble over the ideal time must stay below it.
    pub(super) bubble: f64,
    /// Tokens of a step at most.
    pub(super) tokens: f64,
}

/// One rule and how a plan stands to it.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) limit: String,
    pub(super) plan: String,
    /// What is wrong, by how much; nothing if the rule is kept.
    pub(super) broken: Option<String>,
}

/// Every rule, in the order in which a plan is drawn up.
pub(super) fn rules(setting: &Setting, plan: &Plan, memory: &Memory, limits: &Limits) -> Vec<Rule> {
    vec![
        devices(plan, limits),
        divides(setting, plan),
        server(setting, plan),
        fits(setting, memory),
        bubble(plan, limits),
        tokens(setting, plan, limits),
    ]
}

fn devices(plan: &Plan, limits: &Limits) -> Rule {
    let devices = plan.layout.devices().unwrap_or(i64::MAX);
    let off = (devices - limits.devices).abs();
    let broken = match devices.cmp(&limits.devices) {
        std::cmp::Ordering::Less => Some(format!("{off} stand idle")),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(format!("{off} are not there")),
    };
    Rule { name: "devices", limit: limits.devices.to_string(), plan: devices.to_string(), broken }
}

/// What cannot be cut that finely.
pub(super) fn uncut(setting: &Setting, plan: &Plan) -> Option<String> {
    let model = &setting.model;
    let (heads, layout) = (model.heads.heads, plan.layout);
    let places = layout.pipeline.saturating_mul(plan.chunks);
    if heads % layout.tensor != 0 {
        let tensor = layout.tensor;
        return Some(format!("{heads} heads do not divide among {tensor} ranks"));
    }
    if model.sequence % layout.context as f64 != 0.0 {
        let context = layout.context;
        let tokens = number(model.sequence);
        return Some(format!("{tokens} tokens do not divide among {context} ranks"));
    }
    // The word table and the output head may have a chunk of their own.
    if places > model.layers + 2 || layout.pipeline > model.layers {
        let layers = model.layers;
        return Some(format!("{layers} layers for {places} places"));
    }
    if plan.chunks > 1 && plan.microbatches % layout.pipeline != 0 {
        let (m, p) = (plan.microbatches, layout.pipeline);
        return Some(format!("interleaving needs a multiple of {p} microbatches, not {m}"));
    }
    None
}

fn divides(setting: &Setting, plan: &Plan) -> Rule {
    let model = &setting.model;
    Rule {
        name: "can be cut",
        limit: format!("{} heads, {} layers", model.heads.heads, model.layers),
        plan: format!(
            "{} ranks, {} stages of {}",
            plan.layout.tensor, plan.layout.pipeline, plan.chunks
        ),
        broken: uncut(setting, plan),
    }
}

/// Whether tensor parallelism stays inside a server.
pub(super) fn inside(setting: &Setting, plan: &Plan) -> bool {
    plan.layout.reach(Dimension::Tensor, setting.cluster.server) != Reach::Network
}

fn server(setting: &Setting, plan: &Plan) -> Rule {
    let (tensor, server) = (plan.layout.tensor, setting.cluster.server);
    let broken = (!inside(setting, plan)).then(|| {
        if tensor > server {
            format!("{} ranks too many: its sums cross servers", tensor - server)
        } else {
            format!("{server} devices do not divide among groups of {tensor}")
        }
    });
    Rule {
        name: "tensor in a server",
        limit: format!("{server} devices"),
        plan: format!("{tensor} ranks"),
        broken,
    }
}

/// Bytes as gigabytes with three digits.
pub(super) fn gigabytes(bytes: f64) -> String {
    format!("{} GB", number(significant(bytes / 1e9, 3)))
}

fn fits(setting: &Setting, memory: &Memory) -> Rule {
    let capacity = setting.cluster.capacity;
    let over = memory.bytes() - capacity;
    Rule {
        name: "fits",
        limit: gigabytes(capacity),
        plan: gigabytes(memory.bytes()),
        broken: (over > 0.0).then(|| format!("{} too many", gigabytes(over))),
    }
}

fn bubble(plan: &Plan, limits: &Limits) -> Rule {
    let percent = |share: f64| format!("{}%", number(significant(100.0 * share, 3)));
    let bubble = plan.bubble();
    let broken = (bubble >= limits.bubble).then(|| {
        if limits.bubble == 0.0 {
            return "no share is below 0; allow more".to_owned();
        }
        let per_step = (plan.layout.pipeline - 1) as f64 / (limits.bubble * plan.chunks as f64);
        format!("{} microbatches; over {} would do", plan.microbatches, number(per_step.floor()))
    });
    Rule {
        name: "bubble of ideal",
        limit: format!("below {}", percent(limits.bubble)),
        plan: percent(bubble),
        broken,
    }
}

fn tokens(setting: &Setting, plan: &Plan, limits: &Limits) -> Rule {
    let tokens = plan.batch() * setting.model.sequence;
    let factor = tokens / limits.tokens;
    let broken = (tokens > limits.tokens)
        .then(|| format!("{} times as many", number(significant(factor, 3))));
    Rule {
        name: "tokens a step",
        limit: format!("{}", limits.tokens),
        plan: format!("{tokens}"),
        broken,
    }
}

/// Whether every rule is kept, from numbers alone: what the search asks of each of its plans.
pub(super) fn kept(setting: &Setting, plan: &Plan, bytes: f64, limits: &Limits) -> bool {
    plan.layout.devices() == Some(limits.devices)
        && uncut(setting, plan).is_none()
        && inside(setting, plan)
        && bytes <= setting.cluster.capacity
        && plan.bubble() < limits.bubble
        && plan.batch() * setting.model.sequence <= limits.tokens
}

/// 0 to 100: ten for each rule that is kept, and once all are, forty for a step as fast as the fastest plan's that
/// keeps to them, fewer for a slower one.
pub(super) fn score(rules: &[Rule], seconds: f64, fastest: Option<f64>) -> f64 {
    let kept = rules.iter().filter(|rule| rule.broken.is_none()).count();
    let share = kept as f64 / rules.len().max(1) as f64;
    let speed = match fastest {
        Some(fastest) if kept == rules.len() => (fastest / seconds).min(1.0),
        Some(_) | None => 0.0,
    };
    FOR_RULES * share + FOR_SPEED * speed
}

#[cfg(test)]
mod tests {
    use super::super::model::fullest_stage;
    use super::super::search::{llama_405b, llama_cluster, llama_row};
    use super::*;

    /// The row of an early version of the paper, which many slides copy.
    #[test]
    fn the_impossible_row_is_told_what_would_put_it_right() {
        let claim = |data: i64| Claim {
            layout: Layout { tensor: 8, context: 16, pipeline: 16, data },
            claimed_devices: 16_384,
            devices: 2048 * data,
            sequence: 131_072,
            global_batch: 16 * data,
            tokens: 16 * data * 131_072,
            claimed_tokens: Some(16_777_216),
            batch: Batch::Rank(16),
        };
        let wrong = claim(4).wrong().unwrap();
        assert_eq!(
            wrong,
            "8*16*16*4 is 8192 devices, not 16384; 64*131072 is 8388608 tokens, not 16777216"
        );
        assert_eq!(claim(4).data_for_devices(), Some(8));
        assert_eq!(claim(4).data_for_tokens(), Some(8));
        assert_eq!(claim(8).wrong(), None);
    }

    const LIMITS: Limits = Limits { devices: 16_384, bubble: 0.1, tokens: 16_777_216.0 };

    fn broken(change: impl FnOnce(&mut Plan)) -> Vec<&'static str> {
        let setting = Setting { model: llama_405b(8192.0), cluster: llama_cluster() };
        let (mut plan, _) = llama_row(1);
        change(&mut plan);
        let (_, memory) = fullest_stage(&setting, &plan);
        let rules = rules(&setting, &plan, &memory, &LIMITS);
        let broken: Vec<_> =
            rules.iter().filter(|rule| rule.broken.is_some()).map(|rule| rule.name).collect();
        assert_eq!(broken.is_empty(), kept(&setting, &plan, memory.bytes(), &LIMITS));
        broken
    }

    #[test]
    fn each_rule_is_broken_by_what_breaks_it_alone() {
        assert_eq!(broken(|_| ()), ["bubble of ideal"]);
        assert_eq!(broken(|plan| plan.layout.data = 64), ["devices", "bubble of ideal"]);
        assert_eq!(
            broken(|plan| {
                plan.layout.tensor = 16;
                plan.layout.data = 64;
                plan.microbatches = 32;
            }),
            ["tensor in a server", "bubble of ideal"]
        );
        assert_eq!(
            broken(|plan| plan.layout = Layout { tensor: 1, pipeline: 128, ..plan.layout }),
            ["can be cut", "fits", "bubble of ideal"]
        );
        assert_eq!(broken(|plan| plan.microbatches = 160), ["tokens a step"]);
    }

    #[test]
    fn full_marks_are_for_the_fastest_that_keeps_to_all() {
        let rule = |broken: bool| Rule {
            name: "",
            limit: String::new(),
            plan: String::new(),
            broken: broken.then(String::new),
        };
        let all = [rule(false), rule(false), rule(false)];
        assert_eq!(score(&all, 5.0, Some(5.0)), 100.0);
        assert_eq!(score(&all, 10.0, Some(5.0)), 80.0);
        assert_eq!(score(&[rule(false), rule(true), rule(true)], 1.0, Some(5.0)), 20.0);
    }
}
