//! The lab `kernel`: one launch, whether it is right, what went wrong, and what it cost.

mod arguments;
mod cost;
mod device;
pub(crate) mod network;
mod outputs;
mod panels;
mod proof;
mod scoreboard;
mod watch;

use crate::examples::{Example, Sizes};
use crate::lab::cost::Cost;
use crate::lab::device::Execution;
use crate::lab::network::{BufferRoles, PluggedKernel};
use crate::lab::panels::Marks;
use crate::machine::CellState;
use crate::{
    Argument, Diagnostic, Extensions, Fault, Kernel, Launch, LaunchError, Machine, NanWatch,
    Progress, Schedule, Subgroups, Target, recipe,
};
use mlsys_lab::frame::kernel::{Problem, Recipe};
use mlsys_lab::params::Origin;
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{DeviceId, Frame, Lab, LabError, Params, Run, Value, picture};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;

pub struct KernelLab {
    schema: Schema,
    extensions: Extensions,
}

impl KernelLab {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../labs/kernel.toml"))?;
        Ok(Self { schema, extensions: Extensions::default() })
    }

    /// The same with a device launcher and a classifier.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }
}

struct Job {
    source: String,
    file: String,
    kernel: Kernel,
    launch: Launch,
    arguments: Vec<Argument>,
    /// All of these, for pictures that can be stepped through.
    recipe: Recipe,
    /// The buffer to be filled; nothing for a custom kernel outside a network.
    output: Option<String>,
    example: Option<&'static Example>,
    /// The forward pass that it is a part of.
    plugged: Option<PluggedKernel>,
    sizes: Sizes,
}

impl Lab for KernelLab {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let execution = Execution::read(&run.params)?;
        let launcher = self.extensions.launcher.as_deref();
        execution.check(run, launcher)?;
        let plugged = PluggedKernel::open(&run.params, &self.extensions, run.device)?;
        let job = Job::read(&run.params, plugged)?;
        let mut machine = job.launched()?;
        let budget = run.params.int("max_instructions")?.max(0) as u64;
        let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        machine.run_on(threads, budget, &mut || run.control.interrupted());
        if machine.progress() == Progress::Going && machine.clock() >= budget {
            // One more instruction shows where it goes on; what it did so far can be stepped through.
            let stopped = machine.step().map(|step| panels::stopped(&machine, step));
            let error = endless(&machine, stopped.as_ref(), budget);
            let marks = Marks { stopped, ..Marks::default() };
            panels::offer_steps(run, &job, &machine, marks);
            return Err(error);
        }
        let watched = watch::report(run, &job, &machine)?;
        execution.carry_out(run, launcher, &job, &mut machine)?;
        let outputs = job.outputs(&machine);
        let mismatches = job.mismatches(&machine);
        report(run, &job, &machine, &outputs, &mismatches);
        let claim = run.params.bool("proof")?.then(|| job.claim(&run.params));
        if let Some(claim) = &claim {
            proof::report(run, claim);
        }
        let classes = match (&job.plugged, &job.output) {
            (Some(plugged), Some(output)) => {
                let classes = plugged.classes(&machine, output);
                let failed = |error: crate::NetworkError| LabError::Failed {
                    device: run.device,
                    reason: error.to_string(),
                };
                let [with, without] = classes.map_err(failed)?;
                plugged.report(run, &[&with, &without], mismatches.len());
                Some((plugged, with))
            }
            (None, _) | (_, None) => None,
        };
        picture::offer(run, "network", || network::picture(classes));
        let marks = Marks { claim, watched, stopped: None };
        panels::offer_steps(run, &job, &machine, marks);
        picture::offer(run, "schedulers", || {
            job.start().map_or_else(
                |error| Frame::Text(error.message),
                |start| Frame::Timeline(scoreboard::schedule(start)),
            )
        });
        picture::offer(run, "accesses", || panels::accesses(&job.source, &machine));
        picture::offer(run, "roofline", || {
            panels::roofline(machine.flops(), machine.totals().moved())
        });
        picture::offer(run, "translation", || panels::translation(&job.source, job.translation()));
        Ok(())
    }
}

/// A run that used all its instructions: where it was, what had gone wrong before, and what to do.
fn endless(machine: &Machine, stopped: Option<&Problem>, budget: u64) -> LabError {
    let line = stopped.map_or_else(String::new, |stopped| format!(" in line {}", stopped.line));
    // Often a loop does not end because of a value that was read wrongly.
    let before = machine
        .findings()
        .first_problem()
        .map_or_else(String::new, |problem| format!("; before that, {problem}"));
    LabError::Failed {
        // Wherever the run takes place: it is the interpreter that stopped.
        device: DeviceId::CPU,
        reason: format!(
            "stopped after {budget} warp instructions{line}: a loop that never ends, or more work than max_instructions allows{before}"
        ),
    }
}

impl Job {
    fn read(params: &Params, plugged: Option<PluggedKernel>) -> Result<Self, LabError> {
        let name = params.text("example")?;
        let sizes = Sizes {
            elements: match &plugged {
                Some(plugged) => plugged.elements,
                None => params.size("elements")?,
            },
            rows: params.size("rows")?,
            columns: params.size("columns")?,
            radius: params.size("radius")?,
        };
        let chosen =
            |name: &str| params.origin(name).is_some_and(|origin| *origin != Origin::Default);
        let example = Example::find(name);
        let block_dim = match example {
            Some(example) if !chosen("block_dim") => example.usual_block(),
            Some(_) | None => arguments::extents(params, "block_dim")?,
        };
        if let Some(wanted) =
            example.and_then(|example| example.block).filter(|wanted| *wanted != block_dim)
        {
            let [x, y, _] = wanted;
            return Err(LabError::contradiction(
                ["block_dim"],
                format!("{name} is written for blocks of [{x}, {y}]; its tile has that size"),
            ));
        }
        let grid_dim = match (params.get("grid_dim"), example) {
            (Some(_), _) => arguments::extents(params, "grid_dim")?,
            (None, Some(example)) => example.covering(sizes, block_dim),
            (None, None) => {
                let threads: u32 =
                    block_dim.iter().fold(1, |product, extent| product.saturating_mul(*extent));
                [(sizes.elements as u32).div_ceil(threads.max(1)).max(1), 1, 1]
            }
        };
        let dynamic_shared = match example {
            Some(example) if !chosen("dynamic_shared_bytes") => {
                example.dynamic_shared(sizes, block_dim)
            }
            Some(_) | None => params.size("dynamic_shared_bytes")? as u32,
        };
        let launch = Launch {
            grid_dim,
            block_dim,
            dynamic_shared,
            schedule: match params.text("schedule")? {
                "in-order" => Schedule::InOrder,
                "random" => Schedule::Random,
                _ => Schedule::RoundRobin,
            },
            concurrent_blocks: params.size("concurrent_blocks")?,
            seed: params.int("seed")? as u64,
            nan: NanWatch::Off,
        };
        // A source given with an example replaces the example's own: the same arguments, the same reference.
        let own = params.get("source").and_then(Value::as_str);
        let (source, file) = match (own, example) {
            (Some(source), _) => {
                // A text that was typed has no name.
                (source.to_owned(), params.file("source").unwrap_or_default().to_owned())
            }
            (None, Some(example)) => (example.source.to_owned(), format!("{name}.cu")),
            (None, None) => {
                return Err(LabError::contradiction(
                    ["source"],
                    "example = custom needs the text of a kernel",
                ));
            }
        };
        let source = match params.get("kernel").and_then(Value::as_str) {
            // Behind the text, so that every line keeps its number.
            Some(name) => format!("{source}\n#pragma kernel {name}\n"),
            None => source,
        };
        let parsed = Kernel::parse(&file, &source);
        let kernel = parsed.map_err(|refused| LabError::Expression {
            param: "source".into(),
            message: refused.to_string(),
        })?;
        let described = |held| arguments::given(&kernel, params, sizes.elements, held);
        let (given, output) = match (&plugged, example) {
            (Some(plugged), _) => {
                let BufferRoles { buffers, output } = plugged.roles(&kernel)?;
                (described(&buffers)?, Some(output))
            }
            (None, Some(example)) => {
                (example.given(sizes, &launch), Some(example.output().to_owned()))
            }
            (None, None) => (described(&BTreeMap::new())?, None),
        };
        arguments::check_elements(&given, example)?;
        let arguments = recipe::arguments(&kernel, &given);
        Ok(Self {
            recipe: recipe::recipe(&source, &kernel, &launch, given),
            source,
            file,
            kernel,
            launch,
            arguments,
            output,
            example,
            plugged,
            sizes,
        })
    }

    fn start(&self) -> Result<Machine, LaunchError> {
        self.kernel.launch(self.launch.clone(), &self.arguments)
    }

    fn launched(&self) -> Result<Machine, LabError> {
        self.start()
            .map_err(|error| LabError::contradiction(error.params.iter().copied(), error.message))
    }

    /// The kernel in WGSL, for a device with groups of 32 threads; else what stands in the way.
    fn translation(&self) -> Result<String, Vec<Diagnostic>> {
        let target = Target {
            block_dim: self.launch.block_dim,
            dynamic_shared: self.launch.dynamic_shared,
            subgroups: Subgroups::Of32,
        };
        Ok(self.kernel.wgsl(target)?.text)
    }
}

/// Indices of wrong outputs that are listed.
const LISTED: usize = 1024;

/// Elements of a buffer that are reported.
const SHOWN: usize = 4096;

fn report(
    run: &mut Run<'_>,
    job: &Job,
    machine: &Machine,
    outputs: &[String],
    mismatches: &[usize],
) {
    let cells = outputs.iter().flat_map(|name| machine.cells(name));
    let (unwritten, overwritten) = cells.fold((0_i64, 0_i64), |(unwritten, overwritten), cell| {
        (unwritten + i64::from(!cell.written), overwritten + i64::from(cell.rewritten))
    });
    let findings = machine.findings();
    let faults = |fault: Fault| findings.count(fault) as i64;
    // A kernel of one's own may leave a part of a buffer alone: only an example knows what it owes.
    let owed = if job.output.is_some() { unwritten } else { 0 };
    run.scalar("correct", mismatches.is_empty() && findings.is_clean() && owed == 0);
    run.scalar("mismatches", mismatches.len() as i64);
    let listed = mismatches.iter().take(LISTED).map(|index| Value::Int(*index as i64));
    run.scalar("mismatch_indices", Value::Array(listed.collect()));
    run.scalar("out_of_bounds", faults(Fault::OutOfBounds));
    run.scalar("uninitialized_reads", faults(Fault::Uninitialized));
    run.scalar("races", faults(Fault::Race));
    run.scalar("equal_writes", faults(Fault::EqualWrites));
    run.scalar("barrier_divergence", faults(Fault::BarrierDivergence));
    run.scalar("overflows", faults(Fault::Overflow));
    run.scalar("divisions_by_zero", faults(Fault::DivisionByZero));
    run.scalar("misaligned_accesses", faults(Fault::Misaligned));
    run.scalar("other_faults", faults(Fault::Shift) + faults(Fault::LostLane));
    if let Some(problem) = machine.findings().first_problem() {
        run.scalar("first_problem", problem);
    }
    run.scalar("unwritten_outputs", unwritten);
    run.scalar("overwritten_outputs", overwritten);
    let totals = machine.totals();
    let threads = job.launch.blocks() * job.launch.threads_per_block();
    run.scalar("threads", threads as i64);
    run.scalar("idle_threads", machine.idle_threads() as i64);
    run.scalar("active_threads", threads.saturating_sub(machine.idle_threads()) as i64);
    run.scalar("warp_instructions", machine.clock() as i64);
    let slots = 32.0 * totals.issues.max(1) as f64;
    run.scalar("lane_efficiency", totals.lanes as f64 / slots);
    run.scalar("divergent_branches", totals.divergent as i64);
    run.scalar("global_loads", totals.load.elements as i64);
    run.scalar("global_load_sectors", totals.load.sectors as i64);
    run.scalar("global_store_sectors", totals.store.sectors as i64);
    run.scalar("global_atomics", totals.atomic.elements as i64);
    run.scalar("shared_atomics", totals.shared_atomics as i64);
    run.scalar("load_efficiency", totals.load.efficiency());
    run.scalar("store_efficiency", totals.store.efficiency());
    run.scalar("sectors_per_load", totals.load.sectors_per_access());
    run.scalar("sectors_per_store", totals.store.sectors_per_access());
    run.scalar("bank_replays", totals.replays as i64);
    let (flops, moved) = (machine.flops(), totals.moved());
    run.scalar("flops", flops as i64);
    run.scalar("moved_bytes", moved as i64);
    run.scalar("intensity", flops as f64 / moved.max(1) as f64);
    run.scalar("shared_bytes_per_block", i64::from(machine.shared_bytes()));
    let cost = Cost::of(&totals, &job.launch);
    run.scalar("modelled_cycles", cost.cycles as i64);
    run.scalar("limited_by", cost.bound.to_string());
    if job.example.is_none() {
        let names: Vec<String> = machine.buffers().map(|(name, ..)| name.to_owned()).collect();
        for name in names {
            run.scalar(&format!("buffer.{name}"), Value::Array(contents(machine, &name)));
        }
    }
}

/// The first elements of a buffer; no report holds a NaN, so that what is no number is a text.
fn contents(machine: &Machine, name: &str) -> Vec<Value> {
    let values = machine.contents(name, SHOWN).into_iter().zip(machine.cells(name));
    let shown = |(value, cell): (Value, CellState)| {
        if !cell.defined {
            return Value::from("poison");
        }
        match value.as_f64() {
            Some(x) if !x.is_finite() => Value::Text(x.to_string()),
            Some(_) | None => value,
        }
    };
    values.map(shown).collect()
}
