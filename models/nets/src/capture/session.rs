//! A run: record, count, do again, compare slopes; between the steps, knobs that only recount.

use mlsys_lab::control::Turn;
use mlsys_lab::report::{Change, Moment, Report};
use mlsys_lab::{DeviceId, LabError, Run, Value};
use std::time::Instant;

use super::check::{self, Real, Slopes};
use super::cost::Counting;
use super::count::Count;
use super::layers::Layers;
use super::pictures;
use super::record::{self, Forward, RecordError};
use super::saved::Needs;
use super::setup::Setup;
use super::table::Table;
use crate::device;

/// Directions along which slopes are compared.
const DIRECTIONS: u64 = 8;

/// What was recorded of a network at one batch size.
pub(super) struct Record {
    pub(super) setup: Setup,
    pub(super) table: Table,
    pub(super) layers: Layers,
    pub(super) needs: Needs,
}

impl Record {
    /// Records and counts; what burn recorded of the forward pass is given back besides.
    pub(super) fn new(setup: Setup) -> Result<(Self, Forward), RecordError> {
        let forward = record::forward(&setup.architecture, setup.input(), setup.activation)?;
        let training = record::training(&forward, &setup.architecture, setup.rule)?;
        let table = Table::new(&forward, &training);
        let record = Self {
            layers: Layers::of(&table),
            needs: Needs::of(&table),
            setup,
            table,
        };
        Ok((record, forward))
    }

    /// Counts by the knobs.
    pub(super) fn count(&self, counting: &Counting) -> Count {
        Count::new(&self.table, &self.needs, &self.layers, counting)
    }
}

/// Runs the lab.
pub(super) fn run(run: &mut Run<'_>) -> Result<(), LabError> {
    let started = Instant::now();
    let mut params = run.params.clone();
    let failed = |error: RecordError| LabError::Failed {
        device: run.device,
        reason: error.to_string(),
    };
    let id = run.device;
    let failed_on = move |error: RecordError| LabError::Failed {
        device: id,
        reason: error.to_string(),
    };
    let mut counting = Counting::read(&params)?;
    let (mut record, forward) = Record::new(Setup::read(&params)?).map_err(failed)?;
    let mut count = record.count(&counting);
    report(run, &record, &count);
    pictures::draw(run, &record, &count, &counting, 0, Moment::Final);

    let kept = record.table.tensors.iter();
    let activations: u64 = kept.map(|tensor| tensor.numbers()).max().unwrap_or(0);
    let left_out = check::too_large(&record.setup, activations);
    if let Some(reason) = &left_out {
        run.sink.report(Report::Notice(reason.clone()));
    }
    let opened = device::open(run.device)?;
    let real = match left_out {
        Some(_) => None,
        None => Some(Real::new(
            &record.setup,
            &opened,
            &device::open(DeviceId::CPU)?,
        )),
    };
    let mut slopes: Option<Slopes<'_>> = None;
    let steps = if real.is_some() { 1 + DIRECTIONS } else { 1 };
    let mut done = 0;
    while done < steps {
        let (changes, goes) = match run.control.turn(done) {
            Turn::Go(changes) => (changes, true),
            Turn::Redraw(changes) => (changes, false),
            Turn::Stop(_) => break,
        };
        if !changes.is_empty() {
            for (name, value) in changes {
                params.change(&name, value.clone());
                run.sink.report(Report::Change(Change {
                    step: done,
                    name,
                    value,
                }));
            }
            counting = Counting::read(&params)?;
            let setup = Setup::read(&params)?;
            if setup != record.setup {
                (record, _) = Record::new(setup).map_err(failed_on)?;
            }
            count = record.count(&counting);
            report(run, &record, &count);
            pictures::draw(run, &record, &count, &counting, done, Moment::Running);
        }
        if !goes {
            pictures::draw(run, &record, &count, &counting, done, Moment::Running);
            continue;
        }
        if let Some(real) = &real {
            if done == 0 {
                let difference = real.replay_difference(&forward).map_err(failed_on)?;
                run.scalar("replay_difference", difference);
            } else {
                let slopes = slopes.get_or_insert_with(|| real.slopes());
                slopes.compare();
                run.scalar("gradient_check_error", slopes.error());
            }
        }
        done += 1;
    }
    device::sync(&opened, run.device)?;
    pictures::draw(run, &record, &count, &counting, done, Moment::Final);
    run.scalar("steps_done", done as i64);
    run.scalar("diverged", false);
    run.scalar("wall_seconds", started.elapsed().as_secs_f64());
    Ok(())
}

/// Reports everything that is counted.
fn report(run: &mut Run<'_>, record: &Record, count: &Count) {
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
    whole(
        "recorded_backward_matmul_flops",
        count.recorded.matmul_flops,
    );
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
