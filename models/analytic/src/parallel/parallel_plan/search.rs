//! The other plans: every layout of a number of devices with the best way to run each.

use mlsys_lab::value::number;
use mlsys_sim::memory::Stage;
use serde::Serialize;

use super::model::{Setting, fullest_stage};
use super::plan::{Dimension, Layout, Plan, Reach};
use super::step::Step;

/// More devices than this are not searched: their divisors alone would take too long to find.
const MOST_DEVICES: i64 = 1 << 24;

const MOST_PLANS: usize = 1_000_000;

const MICROBATCHES: [i64; 4] = [1, 2, 4, 8];

const CHUNKS: [i64; 8] = [1, 2, 3, 4, 6, 8, 12, 16];

/// What the rules of the puzzle set in addition to the machines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Devices that are to be used, all of them.
    pub(super) devices: i64,
    /// Bubble over the ideal time must stay below it.
    pub(super) bubble: f64,
    /// Tokens of a step at most.
    pub(super) tokens: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Judged {
    pub(super) plan: Plan,
    /// Of a device of the fullest stage.
    pub(super) bytes: f64,
    pub(super) seconds: f64,
    pub(super) fits: bool,
    /// Whether it keeps to every rule of the puzzle.
    pub(super) kept: bool,
}

impl Judged {
    pub(super) fn new(setting: &Setting, plan: Plan, limits: &Limits) -> Self {
        let bytes = fullest_stage(setting, &plan).bytes();
        let fits = bytes <= setting.cluster.capacity;
        let kept = fits
            && plan.layout.devices() == Some(limits.devices)
            && plan.layout.reach(Dimension::Tensor, setting.cluster.server) != Reach::Network
            && plan.bubble() < limits.bubble
            && plan.batch() * setting.model.sequence <= limits.tokens
            && obstacle(setting, &plan).is_none();
        Self { plan, bytes, seconds: Step::new(setting, &plan).seconds(), fits, kept }
    }

    /// Whether it is better than another for the same layout: a fitting one first, then the faster, else the smaller.
    fn beats(&self, other: &Self) -> bool {
        match (self.fits, other.fits) {
            (true, false) => true,
            (false, true) => false,
            (true, true) => self.seconds < other.seconds,
            (false, false) => self.bytes < other.bytes,
        }
    }
}

#[derive(Default, Serialize)]
pub(super) struct Found {
    /// The best way to run each layout, the fastest that fits first.
    pub(super) layouts: Vec<Judged>,
    pub(super) best: Option<Judged>,
    pub(super) fastest_kept: Option<Judged>,
    pub(super) judged: usize,
    /// Of these, those that fit.
    pub(super) fitting: usize,
    /// Whether there were more plans than are judged.
    pub(super) cut_off: bool,
}

fn divisors(count: i64) -> Vec<i64> {
    let root = (1..).take_while(|d| d * d <= count);
    let low: Vec<i64> = root.filter(|d| count % d == 0).collect();
    let high = low.iter().rev().map(|d| count / d);
    let mut all: Vec<i64> = low.iter().copied().chain(high).collect();
    all.dedup();
    all
}

/// Judges every plan on all devices with `batch` sequences a step.
pub(super) fn search(setting: &Setting, batch: i64, limits: &Limits) -> Found {
    let mut found = Found::default();
    if limits.devices > MOST_DEVICES {
        found.cut_off = true;
        return found;
    }
    for layout in layouts(setting, batch, limits.devices) {
        let mut best: Option<Judged> = None;
        for plan in plans(setting, layout, batch / layout.data) {
            if found.judged == MOST_PLANS {
                found.cut_off = true;
                break;
            }
            let judged = Judged::new(setting, plan, limits);
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
    found.best = found.layouts.first().filter(|best| best.fits).copied();
    found
}

/// Layouts with the number of devices as product, and which heads, tokens, layers and sequences divide among.
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
                setting.model.recomputations().iter().map(move |&recompute| Plan {
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

/// Why the model cannot be cut that finely.
pub(super) fn obstacle(setting: &Setting, plan: &Plan) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::super::published::{h100, llama_405b};
    use super::*;

    const LIMITS: Limits = Limits { devices: 16_384, bubble: 0.1, tokens: 16_777_216.0 };

    fn setting() -> Setting {
        Setting { model: llama_405b(8192.0), cluster: h100() }
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
        let found = search(&setting(), 2048, &LIMITS);
        assert!(!found.cut_off && found.judged > 1000);
        for judged in &found.layouts {
            let plan = &judged.plan;
            assert_eq!(plan.layout.devices(), Some(16_384));
            assert_eq!(obstacle(&setting(), plan), None, "{plan:?}");
            assert_eq!(plan.batch(), 2048.0);
        }
    }

    #[test]
    fn what_is_best_is_beaten_by_none_that_fits() {
        let setting = setting();
        let found = search(&setting, 2048, &LIMITS);
        let best = found.best.unwrap();
        for layout in layouts(&setting, 2048, 16_384) {
            for plan in plans(&setting, layout, 2048 / layout.data) {
                let judged = Judged::new(&setting, plan, &LIMITS);
                assert!(!judged.fits || judged.seconds >= best.seconds, "{plan:?}");
            }
        }
        let fastest = found.fastest_kept.unwrap();
        assert!(fastest.kept && fastest.plan.bubble() < 0.1 && fastest.plan.layout.tensor <= 8);
    }

    #[test]
    fn a_machine_of_one_device_has_one_layout() {
        let found = search(&setting(), 1, &Limits { devices: 1, ..LIMITS });
        assert_eq!(found.layouts.len(), 1);
        assert_eq!(found.fitting, 0);
    }

    #[test]
    fn more_devices_than_are_searched_end_at_once() {
        assert!(search(&setting(), 2048, &Limits { devices: i64::MAX, ..LIMITS }).cut_off);
    }
}
