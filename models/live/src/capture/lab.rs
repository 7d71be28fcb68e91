//! The lab that records a network as burn sees it: operations, their shapes, and what they cost.

mod check;
mod graph;
mod panels;
mod record;
#[cfg(test)]
mod tests;

use std::time::Instant;

use mlsys_device as device;
use mlsys_lab::control::NextStep;
use mlsys_lab::report::{Change, FrameTrigger, Report};
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{DeviceId, LabError, Params, Run};
use mlsys_nn::capture::cost::{CostModel, Costs, Fusing};
use mlsys_nn::capture::lifetime::Recompute;
use mlsys_nn::capture::record::{RecordError, Rule};
use mlsys_nn::cases::{self, Model};
use mlsys_nn::networks::{
    Activation, Architecture, CnnConfig, MlpConfig, TransformerConfig, Variant,
};
use serde::Deserialize;

use self::check::{Real, Slopes};
use self::record::{PanelData, Record, Setup};
use crate::roof::{self, Roof};
use crate::sizes::sizes;
use crate::stepped::{LiveLab, known};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::new(include_str!("lab.toml"), |_, run| record_and_count(run))?.reading::<Fields>()
}

#[derive(Deserialize)]
struct Fields {
    model: Model,
    width: usize,
    depth: usize,
    heads: usize,
    kv_heads: usize,
    ffn: Option<usize>,
    vocab: usize,
    context: usize,
    activation: Activation,
    optimizer: Rule,
    batch_size: usize,
    seed: u64,
    bytes_per_element: u64,
    fuse: bool,
    recompute: Recompute,
    gpu: String,
    precision: String,
}

/// A layer, or a batch of them, must fit into the counts: no size is larger.
const LARGEST_SIZE: usize = 1_000_000;
/// With more units, 64 blocks and 4096 sequences of 4096 tokens, operations would pass 2⁶³.
const LARGEST_FFN: usize = 100_000;
/// Layers that a picture of the graph can still show.
const MOST_LAYERS: usize = 64;

impl Setup {
    fn read(params: &Params) -> Result<Self, LabError> {
        let fields: Fields = params.read()?;
        Ok(Self {
            architecture: architecture(params, &fields)?,
            activation: fields.activation,
            batch: fields.batch_size,
            rule: fields.optimizer,
            seed: fields.seed,
        })
    }
}

fn cost_model(params: &Params) -> Result<CostModel, LabError> {
    let fields: Fields = params.read()?;
    Ok(CostModel {
        bytes: fields.bytes_per_element,
        fusing: if fields.fuse { Fusing::Chains } else { Fusing::Apart },
        recompute: fields.recompute,
        roof: printed_roof(fields.gpu, &fields.precision)?,
        half: fields.precision.starts_with("fp16") || fields.precision.starts_with("bf16"),
    })
}

fn printed_roof(gpu: String, precision: &str) -> Result<Roof, LabError> {
    let Some(peak) = roof::printed_peak(&gpu, precision) else {
        let message = format!(
            "the table has no peak of {gpu} for {precision}; choose another precision or another gpu"
        );
        return Err(LabError::contradiction(["gpu", "precision"], message));
    };
    let Some(bandwidth) = roof::printed_bandwidth(&gpu) else {
        let message = format!("the table has no memory bandwidth of {gpu}; choose another gpu");
        return Err(LabError::contradiction(["gpu"], message));
    };
    Ok(Roof { name: gpu, peak, bandwidth })
}

fn architecture(params: &Params, fields: &Fields) -> Result<Architecture, LabError> {
    let &Fields { width, depth, heads, kv_heads, vocab, context, .. } = fields;
    match fields.model {
        Model::Mlp => {
            let sizes = layers(params)?;
            let [inputs, hidden @ .., outputs] = sizes.as_slice() else {
                return Err(LabError::contradiction(
                    ["layers"],
                    "an mlp needs at least two sizes, of its input and of its output, such as [784, 10]",
                ));
            };
            let hidden = hidden.to_vec();
            Ok(Architecture::Mlp(MlpConfig { inputs: *inputs, hidden, outputs: *outputs }))
        }
        Model::Transformer => {
            let ffn = fields.ffn.unwrap_or_else(|| TransformerConfig::gated(width));
            if ffn > LARGEST_FFN {
                let message = format!("{ffn} is too wide to be counted; at most {LARGEST_FFN}");
                return Err(LabError::contradiction(["ffn"], message));
            }
            let variant = Variant::default();
            let config =
                TransformerConfig { vocab, width, depth, heads, kv_heads, ffn, context, variant };
            cases::transformer(config)
        }
        Model::Cnn => Ok(Architecture::Cnn(CnnConfig { edge: 28, width, depth, outputs: 10 })),
    }
}

fn layers(params: &Params) -> Result<Vec<usize>, LabError> {
    let layers = sizes(params, "layers", "size", LARGEST_SIZE)?;
    if layers.len() > MOST_LAYERS + 1 {
        let message =
            format!("at most {MOST_LAYERS} layers can be recorded, not {}", layers.len() - 1);
        return Err(LabError::contradiction(["layers"], message));
    }
    Ok(layers)
}

// A run: record, count, do again, compare slopes; between the steps, knobs that only recount.

const DIRECTIONS: u64 = 8;

fn record_and_count(run: &mut Run<'_>) -> Result<(), LabError> {
    let started = Instant::now();
    let mut params = run.params.clone();
    let device = run.device;
    let failed = move |error: RecordError| LabError::Failed { device, reason: error.to_string() };
    let mut counting = cost_model(&params)?;
    let (mut record, forward) = Record::new(Setup::read(&params)?).map_err(failed)?;
    let mut count = record.count(&counting);
    report(run, &record, &count);
    panels::draw(run, (0, FrameTrigger::Final), shown(&record, &count, &counting));

    let too_large = check::too_large(&record.setup, &record.table);
    let real = if let Some(reason) = too_large {
        run.notice(reason);
        None
    } else {
        let (opened, host) = (device::open(device)?, device::open(DeviceId::CPU)?);
        Some(Real::new(&record.setup, &opened, &host))
    };
    let mut slopes: Option<Slopes<'_>> = None;
    let steps = if real.is_some() { 1 + DIRECTIONS } else { 1 };
    // Knobs that do not fit together, until they are turned on: between two turns they may contradict.
    let mut unfit: Option<LabError> = None;
    let mut done = 0;
    while done < steps {
        let (changes, goes) = match run.control.next_step(done) {
            NextStep::Go(changes) => (changes, true),
            NextStep::Redraw(changes) => (changes, false),
            NextStep::Stop(_) => break,
        };
        if !changes.is_empty() {
            for (name, value) in changes {
                params.change(&name, value.clone());
                run.sink.report(Report::Change(Change { step: done, name, value }));
            }
            let read = cost_model(&params);
            match read.and_then(|counting| Ok((counting, Setup::read(&params)?))) {
                Ok((turned, setup)) => {
                    unfit = None;
                    counting = turned;
                    if setup != record.setup {
                        (record, _) = Record::new(setup).map_err(failed)?;
                    }
                    count = record.count(&counting);
                    report(run, &record, &count);
                    if goes {
                        let at = (done, FrameTrigger::Running);
                        panels::draw(run, at, shown(&record, &count, &counting));
                    }
                }
                Err(error) => {
                    run.notice(format!("{error}. What is shown is counted as before."));
                    unfit = Some(error);
                }
            }
        }
        if !goes {
            let at = (done, FrameTrigger::Asked);
            panels::draw(run, at, shown(&record, &count, &counting));
            continue;
        }
        if let Some(real) = &real {
            if done == 0 {
                let difference = real.replay_difference(&forward).map_err(failed)?;
                run.scalar("replay_difference", difference);
            } else {
                let slopes = slopes.get_or_insert_with(|| real.slopes());
                slopes.compare();
                run.scalar("gradient_check_error", slopes.error());
            }
        }
        done += 1;
    }
    if let Some(error) = unfit {
        return Err(error);
    }
    panels::draw(run, (done, FrameTrigger::Final), shown(&record, &count, &counting));
    run.scalar("steps_done", done as i64);
    run.scalar("diverged", false);
    run.scalar("wall_seconds", started.elapsed().as_secs_f64());
    Ok(())
}

fn shown<'a>(record: &'a Record, count: &'a Costs, counting: &'a CostModel) -> PanelData<'a> {
    PanelData { record, count, counting }
}

fn report(run: &mut Run<'_>, record: &Record, count: &Costs) {
    let mut integer = |name: &str, number: u64| {
        run.scalar(name, i64::try_from(number).unwrap_or(i64::MAX));
    };
    for (name, number) in &count.operations {
        integer(&format!("operations.{name}"), *number);
    }
    for (name, number) in [
        ("operations", count.operations.values().sum()),
        ("parameters", record.setup.architecture.parameters()),
        ("matmul_flops", count.matmul_flops),
        ("other_flops", count.other_flops),
        ("backward_matmul_flops", count.backward_matmul_flops),
        ("moved_bytes", count.moved_bytes()),
        ("saved_bytes", count.saved_bytes),
        ("inference_peak_bytes", count.inference_peak_bytes),
        ("training_peak_bytes", count.training_peak_bytes),
        ("recomputed_flops", count.step.recomputed_flops),
        ("backward_operations", count.recorded.backward_operations),
        ("update_operations", count.recorded.update_operations),
        ("recorded_backward_matmul_flops", count.recorded.matmul_flops),
        ("recorded_saved_bytes", count.recorded.saved_bytes),
    ] {
        integer(name, number);
    }
    run.scalar("intensity", count.intensity());
    for (layer, intensity) in &count.products {
        run.scalar(&format!("intensity.{layer}"), *intensity);
    }
    run.scalar("memory_bound_share", count.memory_bound_share);
    known(run, "arithmetic_joules", count.arithmetic_joules);
    known(run, "memory_joules", count.memory_joules);
}
