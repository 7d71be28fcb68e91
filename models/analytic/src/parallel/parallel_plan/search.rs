//! The other plans: every layout of a number of devices with the best way to run each, and those that papers print with
//! the rates they measured.

use mlsys_lab::LabError;
use mlsys_sim::memory::Stage;
use mlsys_sim::network::Network;
use mlsys_sim::transformer::{Architecture, Heads, Transformer};

use super::model::{Memory, Model, fullest_stage};
use super::plan::{Cluster, Layout, Plan, Recompute, Setting};
use super::rules::{self, Limits};
use super::step::Step;

/// More devices than this are not searched: their divisors alone would take too long to find.
pub(super) const MOST_DEVICES: i64 = 1 << 24;

/// Plans that are judged at most.
const MOST_PLANS: usize = 1_000_000;

/// Sequences of a microbatch that are tried.
const MICROBATCHES: [i64; 4] = [1, 2, 4, 8];

/// Chunks of a stage that are tried.
const CHUNKS: [i64; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

/// A plan that was judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub(super) plan: Plan,
    /// Of the fullest stage.
    pub(super) memory: Memory,
    pub(super) seconds: f64,
    pub(super) fits: bool,
    /// Whether it keeps to every rule of the puzzle.
    pub(super) kept: bool,
}

impl Judged {
    pub(super) fn of(setting: &Setting, plan: Plan, limits: &Limits) -> Self {
        let (_, memory) = fullest_stage(setting, &plan);
        let bytes = memory.bytes();
        Self {
            plan,
            memory,
            seconds: Step::of(setting, &plan).seconds(),
            fits: bytes <= setting.cluster.capacity,
            kept: rules::kept(setting, &plan, bytes, limits),
        }
    }

    /// Whether it is a better way to run the same layout than another: one that fits, and of two of a kind the faster
    /// if they fit, else the smaller.
    fn beats(&self, other: &Self) -> bool {
        match (self.fits, other.fits) {
            (true, false) => true,
            (false, true) => false,
            (true, true) => self.seconds < other.seconds,
            (false, false) => self.memory.bytes() < other.memory.bytes(),
        }
    }
}

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    /// The best way to run each layout, the fastest that fits first.
    pub(super) layouts: Vec<Judged>,
    /// The fastest plan that keeps to every rule.
    pub(super) fastest_kept: Option<Judged>,
    /// Plans that were judged.
    pub(super) judged: usize,
    /// Of these, those that fit.
    pub(super) fitting: usize,
    /// Whether there were more plans than are judged.
    pub(super) cut_off: bool,
}

/// Divisors of a count, ascending.
fn divisors(count: i64) -> Vec<i64> {
    let root = (1..).take_while(|d| d * d <= count);
    let low: Vec<i64> = root.filter(|d| count % d == 0).collect();
    let high = low.iter().rev().map(|d| count / d);
    let mut all: Vec<i64> = low.iter().copied().chain(high).collect();
    all.dedup();
    all
}

/// Judges every plan on `devices` devices with `batch` sequences a step.
pub(super) fn search(setting: &Setting, batch: i64, devices: i64, limits: &Limits) -> Found {
    let mut found = Found::default();
    if devices > MOST_DEVICES {
        found.cut_off = true;
        return found;
    }
    for layout in layouts(setting, batch, devices) {
        let mut best: Option<Judged> = None;
        for plan in plans(setting, layout, batch / layout.data) {
            if found.judged == MOST_PLANS {
                found.cut_off = true;
                break;
            }
            let judged = Judged::of(setting, plan, limits);
            found.judged += 1;
            // With a latency of 1e308 a step never ends: there is nothing to compare.
            if !judged.seconds.is_finite() {
                continue;
            }
            found.fitting += usize::from(judged.fits);
            if judged.kept
                && found.fastest_kept.is_none_or(|fastest| judged.seconds < fastest.seconds)
            {
                found.fastest_kept = Some(judged);
            }
            if best.is_none_or(|best| judged.beats(&best)) {
                best = Some(judged);
            }
        }
        found.layouts.extend(best);
    }
    found.layouts.sort_by(|a, b| {
        let by_fit = b.fits.cmp(&a.fits);
        by_fit
            .then_with(|| a.seconds.total_cmp(&b.seconds))
            .then_with(|| a.plan.layout.cmp(&b.plan.layout))
    });
    found
}

/// Layouts whose product is the number of devices, and which heads, tokens, layers and sequences divide among.
fn layouts(setting: &Setting, batch: i64, devices: i64) -> Vec<Layout> {
    let model = &setting.model;
    let mut layouts = Vec::new();
    let all = divisors(devices);
    let among = |rest: i64| all.iter().copied().filter(move |d| rest % d == 0);
    for tensor in among(devices).filter(|t| model.heads.heads % t == 0) {
        for pipeline in among(devices / tensor).filter(|p| *p <= model.layers) {
            let rest = devices / tensor / pipeline;
            for data in among(rest).filter(|d| batch % d == 0) {
                let context = rest / data;
                if model.sequence % context as f64 == 0.0 {
                    layouts.push(Layout { tensor, context, pipeline, data });
                }
            }
        }
    }
    layouts
}

/// Ways to run a layout with a number of sequences for each data-parallel rank.
fn plans(setting: &Setting, layout: Layout, sequences: i64) -> impl Iterator<Item = Plan> {
    let layers = setting.model.layers;
    let microbatches = MICROBATCHES.into_iter().filter(move |b| sequences % b == 0);
    microbatches.flat_map(move |microbatch| {
        let microbatches = sequences / microbatch;
        let chunks = CHUNKS.into_iter().filter(move |&chunks| {
            let whole = layout.pipeline > 1 && microbatches % layout.pipeline == 0;
            chunks == 1 || (whole && layout.pipeline * chunks <= layers + 2)
        });
        chunks.flat_map(move |chunks| {
            Stage::ALL.into_iter().flat_map(move |stage| {
                let ways = [Recompute::None, Recompute::Selective, Recompute::Full];
                ways.map(move |recompute| Plan {
                    layout,
                    microbatch,
                    microbatches,
                    chunks,
                    stage,
                    recompute,
                })
            })
        })
    })
}

/// What a published rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// The model's FLOPs: MFU.
    Model,
    /// What is recomputed as well: HFU.
    Hardware,
}

/// A plan with the rate that was measured on it.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) setting: Setting,
    pub(super) plan: Plan,
    /// flop/s of one device.
    pub(super) measured: f64,
    pub(super) counted: Counted,
}

impl Row {
    pub(super) fn share_of_peak(&self) -> f64 {
        self.measured / self.setting.cluster.peak
    }

    /// The same share by the model of time.
    pub(super) fn estimate(&self) -> f64 {
        let step = Step::of(&self.setting, &self.plan);
        let flops = match self.counted {
            Counted::Model => step.model_flops,
            Counted::Hardware => step.hardware_flops,
        };
        let devices = self.plan.layout.devices().unwrap_or(i64::MAX) as f64;
        flops / (devices * self.setting.cluster.peak * step.seconds())
    }
}

/// Seconds of one message between servers, as kind `all-reduce` has it; the table models none for these links.
const LATENCY: f64 = 5e-6;

/// A link within a server, of the built-in table.
fn inside(name: &str) -> Network {
    Network::link(name).unwrap_or(Network::FREE)
}

/// A link between servers, of the built-in table.
fn between(name: &str) -> Network {
    let link = inside(name);
    Network::new(LATENCY, link.bandwidth()).unwrap_or(link)
}

/// Servers of eight H100 with NVLink 4, and 400 gigabits a second between them for each (Llama 3 herd, section 3.3.1).
pub(super) fn h100() -> Cluster {
    Cluster {
        capacity: 80e9,
        server: 8,
        inside: inside("nvlink4"),
        between: between("infiniband-ndr"),
        peak: 989.4e12,
        efficiency: EFFICIENCY,
        weight: 2.0,
        gradient: 2.0,
        optimizer: 12.0,
    }
}

/// Share of peak that a device reaches on wide layers without waiting.
pub(super) const EFFICIENCY: f64 = 0.5;

/// Servers of eight A100 with NVLink 3 and an HDR InfiniBand port for each (Narayanan et al. 2021, section 5).
fn a100() -> Cluster {
    Cluster {
        inside: inside("nvlink3"),
        between: between("infiniband-hdr"),
        peak: 312e12,
        ..h100()
    }
}

/// tensor, context, pipeline, data; tokens of a sequence; microbatches; TFLOP/s. Llama 3 herd (v3), Table 4.
const LLAMA: [(&str, [i64; 4], f64, i64, f64); 3] = [
    ("Llama 3, 8,192 GPUs", [8, 1, 16, 64], 8192.0, 32, 430e12),
    ("Llama 3, 16,384 GPUs", [8, 1, 16, 128], 8192.0, 16, 400e12),
    ("Llama 3, long", [8, 16, 16, 8], 131_072.0, 16, 380e12),
];

/// Name; hidden, heads, layers; tensor, pipeline, data; sequences; flop/s.
type Megatron = (&'static str, [i64; 3], [i64; 3], i64, f64);

/// Narayanan et al. 2021, Table 1: 2048 tokens a sequence, a vocabulary of 51,200, everything recomputed and counted.
const MEGATRON: [Megatron; 10] = [
    ("Megatron 1.7B", [2304, 24, 24], [1, 1, 32], 512, 137e12),
    ("Megatron 3.6B", [3072, 32, 30], [2, 1, 32], 512, 138e12),
    ("Megatron 7.5B", [4096, 32, 36], [4, 1, 32], 512, 142e12),
    ("Megatron 18.4B", [6144, 48, 40], [8, 1, 32], 1024, 135e12),
    ("Megatron 39.1B", [8192, 64, 48], [8, 2, 32], 1536, 138e12),
    ("Megatron 76.1B", [10_240, 80, 60], [8, 4, 32], 1792, 140e12),
    ("Megatron 145.6B", [12_288, 96, 80], [8, 8, 24], 2304, 148e12),
    ("Megatron 310.1B", [16_384, 128, 96], [8, 16, 15], 2160, 155e12),
    ("Megatron 529.6B", [20_480, 128, 105], [8, 35, 9], 2520, 163e12),
    ("Megatron 1008.0B", [25_600, 160, 128], [8, 64, 6], 3072, 163e12),
];

fn transformer(
    architecture: Architecture,
    [hidden, heads, layers]: [i64; 3],
    kv_heads: i64,
    ffn: i64,
    vocab: i64,
) -> Transformer {
    let head_dim = hidden / heads;
    Transformer {
        architecture,
        layers,
        hidden,
        heads: Heads {
            heads,
            kv_heads,
            head_dim,
            queries: heads * head_dim,
            keys: kv_heads * head_dim,
        },
        ffn,
        vocab,
        context: match architecture {
            Architecture::Gpt => 2048,
            Architecture::Llama => 0,
        },
        tied: architecture == Architecture::Gpt,
    }
}

/// Llama 3 405B as released.
fn llama() -> Transformer {
    transformer(Architecture::Llama, [16_384, 128, 126], 8, 53_248, 128_256)
}

/// Every row, at a share of peak for a device that does not wait.
///
/// # Errors
/// None: the dimensions are those above.
pub(super) fn rows(efficiency: f64) -> Result<Vec<Row>, LabError> {
    let cluster = |cluster: Cluster| Cluster { efficiency, ..cluster };
    let mut rows = Vec::new();
    for (name, [tensor, context, pipeline, data], sequence, microbatches, measured) in LLAMA {
        rows.push(Row {
            name,
            setting: Setting { model: Model::of(&llama(), sequence)?, cluster: cluster(h100()) },
            plan: Plan {
                layout: Layout { tensor, context, pipeline, data },
                microbatch: 1,
                microbatches,
                // One layer a chunk: why 126 layers and two ends make 128 places on 16 stages.
                chunks: 8,
                stage: Stage::Optimizer,
                recompute: Recompute::None,
            },
            measured,
            counted: Counted::Model,
        });
    }
    for (name, shape, [tensor, pipeline, data], batch, measured) in MEGATRON {
        let model = transformer(Architecture::Gpt, shape, shape[1], 4 * shape[0], 51_200);
        rows.push(Row {
            name,
            setting: Setting { model: Model::of(&model, 2048.0)?, cluster: cluster(a100()) },
            plan: Plan {
                layout: Layout { tensor, context: 1, pipeline, data },
                microbatch: 1,
                microbatches: batch / data,
                chunks: 1,
                stage: Stage::Whole,
                recompute: Recompute::Full,
            },
            measured,
            counted: Counted::Hardware,
        });
    }
    Ok(rows)
}

#[cfg(test)]
pub(super) fn llama_405b(sequence: f64) -> Model {
    Model::of(&llama(), sequence).unwrap()
}

#[cfg(test)]
pub(super) fn llama_cluster() -> Cluster {
    h100()
}

/// A row of Llama 3's table with the plain schedule, which keeps less than the interleaved one.
#[cfg(test)]
pub(super) fn llama_row(row: usize) -> (Plan, f64) {
    let mut rows = rows(EFFICIENCY).unwrap();
    let row = rows.swap_remove(row);
    let chunks = 1;
    (Plan { chunks, ..row.plan }, row.measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { devices: 16_384, bubble: 0.1, tokens: 16_777_216.0 };

    fn setting() -> Setting {
        Setting { model: llama_405b(8192.0), cluster: llama_cluster() }
    }

    #[test]
    fn divisors_are_all_and_each_once() {
        for count in 1..=400_i64 {
            let expected: Vec<i64> = (1..=count).filter(|d| count % d == 0).collect();
            assert_eq!(divisors(count), expected, "{count}");
        }
    }

    #[test]
    fn every_layout_uses_every_device_and_can_be_cut() {
        let found = search(&setting(), 2048, 16_384, &LIMITS);
        assert!(!found.cut_off && found.judged > 1000);
        for judged in &found.layouts {
            let plan = &judged.plan;
            assert_eq!(plan.layout.devices(), Some(16_384));
            assert_eq!(rules::uncut(&setting(), plan), None, "{plan:?}");
            assert_eq!(plan.batch(), 2048.0);
        }
    }

    #[test]
    fn what_is_best_is_beaten_by_none_that_fits() {
        let setting = setting();
        let found = search(&setting, 2048, 16_384, &LIMITS);
        let best = found.layouts[0];
        assert!(best.fits);
        for layout in layouts(&setting, 2048, 16_384) {
            for plan in plans(&setting, layout, 2048 / layout.data) {
                let judged = Judged::of(&setting, plan, &LIMITS);
                assert!(!judged.fits || judged.seconds >= best.seconds, "{plan:?}");
            }
        }
        let fastest = found.fastest_kept.unwrap();
        assert!(fastest.kept && fastest.plan.bubble() < 0.1 && fastest.plan.layout.tensor <= 8);
    }

    #[test]
    fn a_machine_of_one_device_has_one_layout() {
        let found = search(&setting(), 1, 1, &LIMITS);
        assert_eq!(found.layouts.len(), 1);
        assert_eq!(found.fitting, 0);
    }

    #[test]
    fn more_devices_than_are_searched_end_at_once() {
        assert!(search(&setting(), 2048, i64::MAX, &LIMITS).cut_off);
    }

    #[test]
    fn the_models_are_those_that_the_tables_name() {
        assert_eq!(llama_405b(8192.0).parameters, 405_853_388_800.0);
        let printed = [1.7, 3.6, 7.5, 18.4, 39.1, 76.1, 145.6, 310.1, 529.6, 1008.0];
        for (row, billions) in rows(0.5).unwrap().iter().skip(3).zip(printed) {
            let parameters = row.setting.model.parameters / 1e9;
            assert!((parameters - billions).abs() < 0.06, "{}: {parameters}", row.name);
        }
    }

    #[test]
    fn the_links_are_in_the_table() {
        for (cluster, inside, between) in [(h100(), 450e9, 50e9), (a100(), 300e9, 25e9)] {
            assert_eq!(cluster.inside.bandwidth(), inside);
            assert_eq!(cluster.between.bandwidth(), between);
        }
    }

    #[test]
    fn estimates_lie_within_a_fifth_of_what_was_measured() {
        for row in rows(EFFICIENCY).unwrap() {
            let ratio = row.estimate() / row.share_of_peak();
            assert!((0.8..1.2).contains(&ratio), "{}: {ratio}", row.name);
        }
    }
}
