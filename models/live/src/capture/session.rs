//! A run: record, count, do again, compare slopes; between the steps, knobs that only recount.

use mlsys_lab::control::Turn;
use mlsys_lab::report::{Change, Moment, Report};
use mlsys_lab::{DeviceId, LabError, Run, Value};
use std::time::Instant;

use super::check::{self, Real, Slopes};
use super::pictures;
use super::setup::{Setup, read_counting};
use mlsys_device as device;
use mlsys_nn::capture::cost::Counting;
use mlsys_nn::capture::count::Count;
use mlsys_nn::capture::layers::Layers;
use mlsys_nn::capture::record::{self, Forward, RecordError};
use mlsys_nn::capture::saved::Needs;
use mlsys_nn::capture::table::Table;

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
        let record = Self { layers: Layers::of(&table), needs: Needs::of(&table), setup, table };
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
    let device = run.device;
    let failed = move |error: RecordError| LabError::Failed { device, reason: error.to_string() };
    let mut counting = read_counting(&params)?;
    let (mut record, forward) = Record::new(Setup::read(&params)?).map_err(failed)?;
    let mut count = record.count(&counting);
    report(run, &record, &count);
    pictures::draw(run, &record, &count, &counting, 0, Moment::Final);

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
        let (changes, goes) = match run.control.turn(done) {
            Turn::Go(changes) => (changes, true),
            Turn::Redraw(changes) => (changes, false),
            Turn::Stop(_) => break,
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
                        pictures::draw(run, &record, &count, &counting, done, Moment::Running);
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
            pictures::draw(run, &record, &count, &counting, done, Moment::Asked);
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
