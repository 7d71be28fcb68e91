//! `mlsys bench load`: what it costs to record a report, and to read a long record back.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use clap::Args;
use mlsys_lab::Registry;
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::report::Report;
use mlsys_lab::tables::Tables;

use crate::bench::{Sample, Scratch, failed};
use mlsys_run::outcome::Outcome;
use mlsys_run::process::Failure;
use mlsys_run::record::{self, About, Pictures, Record};

/// Measures records.
#[derive(Debug, Args)]
pub struct Options {
    /// Steps of the run that is recorded
    #[arg(long, value_name = "N", default_value_t = 400_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub steps: u64,
    /// Metrics that it reports at every step
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=30))]
    pub metrics: u64,
    /// How often the record is loaded
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
}

/// Records and loads a long run, once as labs mostly report and once with as many digits as there can be.
pub fn run(options: &Options, registry: &Registry) -> Result<Vec<Sample>, Failure> {
    let scratch = Scratch::new("load")?;
    let mut samples = Vec::new();
    for precision in [Precision::Single, Precision::Double] {
        let bench = Bench { options, registry, precision };
        bench.measure(scratch.path(), &mut samples)?;
    }
    Ok(samples)
}

/// Which numbers the run reports.
#[derive(Clone, Copy)]
enum Precision {
    /// Those that a device computes with: some nine digits.
    Single,
    /// Those that a processor may add up: some seventeen digits.
    Double,
}

impl Precision {
    fn name(self) -> &'static str {
        match self {
            Self::Single => "single precision",
            Self::Double => "double precision",
        }
    }

    /// A number between 0 and 1 from random bits.
    fn number(self, bits: u64) -> f64 {
        match self {
            Self::Single => f64::from((bits >> 40) as f32 / (1_u64 << 24) as f32),
            Self::Double => (bits >> 11) as f64 / (1_u64 << 53) as f64,
        }
    }
}

struct Bench<'a> {
    options: &'a Options,
    registry: &'a Registry,
    precision: Precision,
}

impl Bench<'_> {
    fn measure(&self, scratch: &Path, samples: &mut Vec<Sample>) -> Result<(), Failure> {
        let name = |what: &str| format!("{what}, {}", self.precision.name());
        let mut record = self.start(scratch)?;
        let costs = self.append(&mut record)?;
        let folder = record.folder().to_owned();
        let closing = Instant::now();
        record.finish(&Pictures::new(), Outcome::Finished.recorded(), Duration::ZERO)?;
        let closing = closing.elapsed().as_secs_f64();
        let size = fs::metadata(folder.join("reports.jsonl"))?.len();
        let mut seconds = Vec::new();
        for _ in 0..self.options.rounds {
            let started = Instant::now();
            let past = record::open(&folder)?;
            seconds.push(started.elapsed().as_secs_f64());
            let count: usize = past.data.series.values().map(|series| series.points().len()).sum();
            if count != self.options.steps as usize * self.options.metrics as usize {
                return Err(failed(format!(
                    "{count} values were read, which is not what was written"
                )));
            }
            black_box(past);
        }
        fs::remove_dir_all(&folder)?;
        samples.push(Sample::new(name("record a value"), "ns", costs));
        samples.push(Sample::new(name("close the record"), "s", vec![closing]));
        samples.push(Sample::new(name("size"), "MB", vec![size as f64 / 1e6]));
        samples.push(Sample::new(name("load"), "s", seconds));
        Ok(())
    }

    fn start(&self, scratch: &Path) -> Result<Record, Failure> {
        let schema = self.registry.find("train")?.schema();
        let params = Params::resolve(schema, &Settings::new(), Tables::builtin(), None)
            .map_err(|_| failed("the lab has no defaults"))?;
        let about = About { schema, params: &params, device: None, lesson: None };
        Ok(Record::start(scratch, &about)?)
    }

    /// What a value costs the run, in nanoseconds, block by block.
    fn append(&self, record: &mut Record) -> io::Result<Vec<f64>> {
        /// Steps from one look at the clock to the next; no run reports as fast as this loop, so the writer may catch up.
        const BLOCK: u64 = 2000;
        let names: Vec<Arc<str>> =
            (0..self.options.metrics).map(|i| format!("metric.{i}").into()).collect();
        let mut bits = 88_172_645_463_325_252_u64;
        let mut costs = Vec::new();
        let mut step = 0;
        while step < self.options.steps {
            let steps = BLOCK.min(self.options.steps - step);
            let mut reports = Vec::new();
            for step in step + 1..=step + steps {
                for name in &names {
                    bits ^= bits << 13;
                    bits ^= bits >> 7;
                    bits ^= bits << 17;
                    let (name, value) = (Arc::clone(name), self.precision.number(bits));
                    reports.push(Report::Point { name, step, value });
                }
            }
            let started = Instant::now();
            for report in &reports {
                record.append(report)?;
            }
            costs.push(started.elapsed().as_secs_f64() * 1e9 / reports.len() as f64);
            step += steps;
            thread::sleep(Duration::from_millis(5));
        }
        Ok(costs)
    }
}
