//! Kind `parallel-plan`: tensor, context, pipeline and data parallelism multiplied out, judged, and searched for.
//!
//! `plan` has the layout and the machines, `model` parameters, layers and memory by stage, `step` traffic and time.
//! `search` judges every way to run every layout with the same functions, `published` has rows of papers. The file
//! holds the row against itself, has the rules of the puzzle and draws everything.

mod model;
mod plan;
mod published;
mod search;
mod step;

use mlsys_lab::{LabError, Run};
use serde::Serialize;

use crate::closed_form::Simulated;
use model::{LLAMA, Model, Setting, StageMemory, fullest_stage, layer_activations, stage_memory};
use plan::{Batch, Cluster, Dimension, Plan, Reach};
use search::{Found, Judged, Limits};
use step::Step;

const STAGES: i64 = 16;

/// A layout this many times slower than the best, or larger than the memory, is left out of the picture.
const FAR: f64 = 8.0;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let params = &run.params;
    let setting = Setting { model: Model::read(params)?, cluster: Cluster::read(params)? };
    let batch = Batch::read(params)?;
    let plan = Plan::read(params, &batch)?;
    let limits = Limits {
        devices: params.int("devices")?,
        bubble: params.float("bubble_limit")?,
        tokens: params.float("tokens_limit")?,
    };
    let found = search::search(&setting, batch.sequences, &limits);
    let step = Step::new(&setting, &plan);
    let fullest = fullest_stage(&setting, &plan);
    let drawn = Drawn::new(&found, setting.cluster.capacity, step.seconds());
    Simulated::fields(&Judgement {
        devices: batch.devices,
        global_batch: batch.sequences,
        tokens_per_batch: batch.tokens,
        parameters: setting.model.parameters as i64,
        layer: setting.model.layer,
        most_layers: setting.model.most_layers(plan.layout.pipeline),
        layer_bytes: layer_activations(&setting.model, &plan),
        tensors: LLAMA.map(|(name, bytes)| Tensor { name, bytes: bytes(&setting.model) }).to_vec(),
        reach: Dimension::ALL.map(|dimension| plan.layout.reach(dimension, setting.cluster.server)),
        obstacle: search::obstacle(&setting, &plan),
        own: Judged::new(&setting, plan, &limits),
        fullest,
        stages: shown_stages(plan.layout.pipeline, fullest.stage)
            .into_iter()
            .map(|stage| stage_memory(&setting, &plan, stage))
            .collect(),
        published: published::rows(setting.cluster.efficiency)?,
        step,
        drawn,
        found,
    })
}

/// What the file's formulas start from.
#[derive(Serialize)]
struct Judgement {
    devices: i64,
    global_batch: i64,
    tokens_per_batch: i64,
    parameters: i64,
    layer: f64,
    most_layers: i64,
    layer_bytes: f64,
    tensors: Vec<Tensor>,
    /// In the order of [`Dimension::ALL`].
    reach: [Reach; 4],
    obstacle: Option<String>,
    own: Judged,
    fullest: StageMemory,
    stages: Vec<StageMemory>,
    published: Vec<published::Row>,
    step: Step,
    drawn: Drawn,
    found: Found,
}

/// A tensor that a layer keeps, and its bytes for each token.
#[derive(Clone, Serialize)]
struct Tensor {
    name: &'static str,
    bytes: f64,
}

/// The layouts that the picture of memory against time has room for, and the range of their times.
#[derive(Serialize)]
struct Drawn {
    layouts: Vec<Judged>,
    low: f64,
    high: f64,
}

impl Drawn {
    fn new(found: &Found, capacity: f64, own: f64) -> Self {
        let slowest = FAR * found.layouts.iter().map(|judged| judged.seconds).fold(own, f64::min);
        let is_near =
            |judged: &&Judged| judged.bytes <= FAR * capacity && judged.seconds <= slowest;
        let layouts: Vec<Judged> = found.layouts.iter().filter(is_near).copied().collect();
        let seconds = layouts.iter().chain(&found.fastest_kept).map(|judged| judged.seconds);
        let ends = (own.min(f64::INFINITY), own.max(0.0));
        let (low, high) = seconds.fold(ends, |(low, high), s| (low.min(s), high.max(s)));
        Self { layouts, low, high }
    }
}

/// All stages, or some of many with the fullest among them.
fn shown_stages(stages: i64, fullest: i64) -> Vec<i64> {
    if stages <= STAGES {
        return (0..stages).collect();
    }
    let (apart, rest) = ((stages - 1) / (STAGES - 1), (stages - 1) % (STAGES - 1));
    let mut shown: Vec<i64> = (0..STAGES).map(|i| apart * i + rest * i / (STAGES - 1)).collect();
    shown.push(fullest);
    shown.sort_unstable();
    shown.dedup();
    shown
}
