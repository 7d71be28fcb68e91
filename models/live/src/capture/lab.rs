//! The lab that records a network as burn sees it: operations, their shapes, and what they cost.

mod check;
mod graph;
mod panels;
#[cfg(test)]
mod tests;

use std::time::Instant;

use mlsys_device as device;
use mlsys_device::choice::pick;
use mlsys_lab::control::NextStep;
use mlsys_lab::report::{Change, FrameTrigger, Report};
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{DeviceId, LabError, Params, Run, Tables, Value};
use mlsys_nn::capture::cost::Costs;
use mlsys_nn::capture::cost::{CostModel, Fusing, Recompute};
use mlsys_nn::capture::layers::Layers;
use mlsys_nn::capture::record;
use mlsys_nn::capture::record::{Forward, RecordError, Rule};
use mlsys_nn::capture::saved::GradientNeeds;
use mlsys_nn::capture::table::Table;
use mlsys_nn::cases;
use mlsys_nn::cases::{ACTIVATIONS, MODELS, Model};
use mlsys_nn::networks::{Activation, Architecture, CnnConfig, MlpConfig, TransformerConfig};
use mlsys_sim::roof::Roof;

use self::check::{Real, Slopes};
use crate::stepped::LiveLab;

/// Lab `capture`: records a forward pass and a training step, counts them, and proves the record true.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::new(include_str!("lab.toml"), |_, run| record_and_count(run))
}

// Parameters.

/// What is recorded.
#[derive(Clone, Debug, PartialEq)]
struct Setup {
    architecture: Architecture,
    activation: Activation,
    /// Examples, or sequences.
    batch: usize,
    rule: Rule,
    seed: u64,
}

/// A layer, or a batch of them, must fit into the counts: no size is larger.
const LARGEST_SIZE: i64 = 1_000_000;
/// With more units, 64 blocks and 4096 sequences of 4096 tokens, operations would pass 2⁶³.
const LARGEST_FFN: usize = 100_000;
/// Layers that a picture of the graph can still show.
const MOST_LAYERS: usize = 64;

const RULES: [(&str, Rule); 2] = [("sgd", Rule::Sgd), ("adam", Rule::Adam)];
const RECOMPUTES: [(&str, Recompute); 3] = [
    ("none", Recompute::Nothing),
    ("elementwise", Recompute::Elementwise),
    ("blocks", Recompute::Blocks),
];

impl Setup {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            architecture: architecture(params)?,
            activation: pick(params, "activation", &ACTIVATIONS)?,
            batch: params.size("batch_size")?,
            rule: pick(params, "optimizer", &RULES)?,
            seed: params.int("seed")?.unsigned_abs(),
        })
    }

    /// What the network is given: examples and numbers of each, or sequences and tokens of each.
    fn input(&self) -> [usize; 2] {
        let of_one = match &self.architecture {
            Architecture::Mlp(config) => config.inputs,
            Architecture::Cnn(config) => config.edge * config.edge,
            Architecture::Filters(config) => config.edge * config.edge,
            Architecture::Transformer(config) => config.context,
        };
        [self.batch, of_one]
    }

    /// What it tells apart.
    fn classes(&self) -> usize {
        match &self.architecture {
            Architecture::Mlp(config) => config.outputs,
            Architecture::Cnn(config) => config.outputs,
            Architecture::Filters(config) => config.outputs,
            Architecture::Transformer(config) => config.vocab,
        }
    }
}

fn read_counting(params: &Params) -> Result<CostModel, LabError> {
    let precision = params.text("precision")?;
    Ok(CostModel {
        bytes: params.size("bytes_per_element")? as u64,
        fusing: if params.bool("fuse")? { Fusing::Chains } else { Fusing::Apart },
        recompute: pick(params, "recompute", &RECOMPUTES)?,
        roof: roof(params.text("gpu")?, precision)?,
        half: precision.starts_with("fp16") || precision.starts_with("bf16"),
    })
}

fn roof(machine: &str, precision: &str) -> Result<Roof, LabError> {
    let tables = Tables::builtin();
    let field = |path: &str| tables.field("gpu", machine, path).and_then(|value| value.as_f64());
    let peak = field(&format!("path.{precision}.peak_flops_per_second"));
    let bandwidth = field("bandwidth_bytes_per_second");
    match (peak, bandwidth) {
        (Some(peak), Some(bandwidth)) => Ok(Roof { name: machine.to_owned(), peak, bandwidth }),
        (None, _) => Err(LabError::contradiction(
            ["gpu", "precision"],
            format!(
                "the table has no peak of {machine} for {precision}; choose another precision or another gpu"
            ),
        )),
        (Some(_), None) => Err(LabError::contradiction(
            ["gpu"],
            format!("the table has no memory bandwidth of {machine}; choose another gpu"),
        )),
    }
}

fn architecture(params: &Params) -> Result<Architecture, LabError> {
    match pick(params, "model", &MODELS)? {
        Model::Mlp => {
            let sizes = layers(params)?;
            let (inputs, rest) = sizes.split_first().ok_or_else(too_few)?;
            let (outputs, hidden) = rest.split_last().ok_or_else(too_few)?;
            Ok(Architecture::Mlp(MlpConfig {
                inputs: *inputs,
                hidden: hidden.to_vec(),
                outputs: *outputs,
            }))
        }
        Model::Transformer => {
            let width = params.size("width")?;
            let ffn = match params.get("ffn") {
                Some(_) => params.size("ffn")?,
                None => TransformerConfig::gated(width),
            };
            if ffn > LARGEST_FFN {
                let message = format!("{ffn} is too wide to be counted; at most {LARGEST_FFN}");
                return Err(LabError::contradiction(["ffn"], message));
            }
            cases::transformer(TransformerConfig {
                vocab: params.size("vocab")?,
                width,
                depth: params.size("depth")?,
                heads: params.size("heads")?,
                kv_heads: params.size("kv_heads")?,
                ffn,
                context: params.size("context")?,
            })
        }
        Model::Cnn => {
            let (width, depth) = (params.size("width")?, params.size("depth")?);
            Ok(Architecture::Cnn(CnnConfig { edge: 28, width, depth, outputs: 10 }))
        }
    }
}

fn too_few() -> LabError {
    LabError::contradiction(
        ["layers"],
        "an mlp needs at least two sizes, of its input and of its output, such as [784, 10]",
    )
}

/// The sizes of an mlp, from the input to the output.
fn layers(params: &Params) -> Result<Vec<usize>, LabError> {
    let Some(Value::Array(given)) = params.get("layers") else {
        return Err(too_few());
    };
    if given.len() > MOST_LAYERS + 1 {
        let message =
            format!("at most {MOST_LAYERS} layers can be recorded, not {}", given.len() - 1);
        return Err(LabError::contradiction(["layers"], message));
    }
    let size = |(place, value): (usize, &Value)| {
        let whole = value.as_f64().filter(|x| x.fract() == 0.0);
        let fits = whole.filter(|x| (1.0..=LARGEST_SIZE as f64).contains(x));
        fits.map(|x| x as usize).ok_or_else(|| {
            let message = format!(
                "size {} is {value}; each must be a whole number from 1 to {LARGEST_SIZE}",
                place + 1
            );
            LabError::contradiction(["layers"], message)
        })
    };
    given.iter().enumerate().map(size).collect()
}

// A run: record, count, do again, compare slopes; between the steps, knobs that only recount.

/// Directions along which slopes are compared.
const DIRECTIONS: u64 = 8;

/// What was recorded of a network at one batch size.
struct Record {
    setup: Setup,
    table: Table,
    layers: Layers,
    needs: GradientNeeds,
}

impl Record {
    /// Records and counts; what burn recorded of the forward pass is given back besides.
    fn new(setup: Setup) -> Result<(Self, Forward), RecordError> {
        let forward = record::forward(&setup.architecture, setup.input(), setup.activation)?;
        let training = record::training(&forward, &setup.architecture, setup.rule)?;
        let table = Table::new(&forward, &training);
        let record =
            Self { layers: Layers::of(&table), needs: GradientNeeds::of(&table), setup, table };
        Ok((record, forward))
    }

    /// Counts by the knobs.
    fn count(&self, counting: &CostModel) -> Costs {
        Costs::new(&self.table, &self.needs, &self.layers, counting)
    }
}

/// Runs the lab.
fn record_and_count(run: &mut Run<'_>) -> Result<(), LabError> {
    let started = Instant::now();
    let mut params = run.params.clone();
    let device = run.device;
    let failed = move |error: RecordError| LabError::Failed { device, reason: error.to_string() };
    let mut counting = read_counting(&params)?;
    let (mut record, forward) = Record::new(Setup::read(&params)?).map_err(failed)?;
    let mut count = record.count(&counting);
    report(run, &record, &count);
    panels::draw(run, &record, &count, &counting, 0, FrameTrigger::Final);

    let real = match check::too_large(&record.setup, &record.table) {
        Some(reason) => {
            run.sink.report(Report::Notice(reason));
            None
        }
        None => {
            let (opened, host) = (device::open(device)?, device::open(DeviceId::CPU)?);
            Some(Real::new(&record.setup, &opened, &host))
        }
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
            let read = read_counting(&params);
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
                        panels::draw(run, &record, &count, &counting, done, FrameTrigger::Running);
                    }
                }
                Err(error) => {
                    let said = format!("{error}. What is shown is counted as before.");
                    run.sink.report(Report::Notice(said));
                    unfit = Some(error);
                }
            }
        }
        if !goes {
            panels::draw(run, &record, &count, &counting, done, FrameTrigger::Asked);
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
    panels::draw(run, &record, &count, &counting, done, FrameTrigger::Final);
    run.scalar("steps_done", done as i64);
    run.scalar("diverged", false);
    run.scalar("wall_seconds", started.elapsed().as_secs_f64());
    Ok(())
}

/// Reports everything that is counted.
fn report(run: &mut Run<'_>, record: &Record, count: &Costs) {
    let mut whole = |name: &str, number: u64| {
        run.scalar(name, Value::Int(i64::try_from(number).unwrap_or(i64::MAX)));
    };
    whole("operations", count.operations.values().sum());
    for (name, number) in &count.operations {
        whole(&format!("operations.{name}"), *number);
    }
    whole("parameters", record.setup.architecture.parameters());
    whole("matmul_flops", count.matmul_flops);
    whole("other_flops", count.other_flops);
    whole("backward_matmul_flops", count.backward_matmul_flops);
    whole("moved_bytes", count.moved_bytes());
    whole("saved_bytes", count.saved_bytes);
    whole("inference_peak_bytes", count.inference_peak_bytes);
    whole("training_peak_bytes", count.training_peak_bytes);
    whole("recomputed_flops", count.step.recomputed_flops);
    whole("backward_operations", count.recorded.backward_operations);
    whole("update_operations", count.recorded.update_operations);
    whole("recorded_backward_matmul_flops", count.recorded.matmul_flops);
    whole("recorded_saved_bytes", count.recorded.saved_bytes);
    run.scalar("intensity", count.intensity());
    for (layer, intensity) in &count.products {
        run.scalar(&format!("intensity.{layer}"), *intensity);
    }
    run.scalar("memory_bound_share", count.memory_bound_share);
    if let Some(joules) = count.arithmetic_joules {
        run.scalar("arithmetic_joules", joules);
    }
    if let Some(joules) = count.memory_joules {
        run.scalar("memory_joules", joules);
    }
}
