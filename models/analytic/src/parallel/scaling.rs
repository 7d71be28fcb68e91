//! Kind `scaling`: speedup by Amdahl's and Gustafson's laws, and the serial share that a measurement implies.

mod picture;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use mlsys_lab::picture::offer;
use mlsys_lab::steps::{Steps, finite};

/// The lab `scaling`.
pub struct Scaling {
    schema: Schema,
}

impl Scaling {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/scaling.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Scaling {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let laws = Laws { parallel: run.params.float("parallel_fraction")? };
        let processors = run.params.float("processors")?;
        run.scalar("amdahl_speedup", laws.amdahl(processors));
        run.scalar("amdahl_efficiency", laws.amdahl(processors) / processors);
        if let Some(limit) = laws.limit() {
            run.scalar("amdahl_limit", limit);
        }
        run.scalar("gustafson_speedup", laws.gustafson(processors));
        run.scalar("gustafson_efficiency", laws.gustafson(processors) / processors);
        let measured = Measured::read(&run.params, processors)?;
        if let Some(measured) = &measured {
            let told = || measured.told();
            finite(run, "measured_speedup", measured.speedup, told)?;
            finite(run, "measured_efficiency", measured.efficiency(), told)?;
            if let Some(serial) = measured.serial() {
                finite(run, "karp_flatt_serial_fraction", serial, told)?;
            }
        }
        offer(run, "speedup", || picture::speedup(&laws, processors, measured.as_ref()));
        offer(run, "measured", || picture::measured(measured.as_ref()));
        offer(run, "processors", || picture::processors(&laws, processors));
        offer(run, "steps", || steps(&laws, processors, measured.as_ref()));
        Ok(())
    }
}

/// A program of which a share runs on all processors.
struct Laws {
    /// f, from 0 to 1: of the time on one processor for Amdahl, of the time on all for Gustafson.
    parallel: f64,
}

impl Laws {
    /// amdahl = 1/((1 - f) + f/n): the work stays, its serial part takes as long as ever.
    fn amdahl(&self, n: f64) -> f64 {
        1.0 / ((1.0 - self.parallel) + self.parallel / n)
    }

    /// limit = 1/(1 - f); none where nothing is serial.
    fn limit(&self) -> Option<f64> {
        (self.parallel < 1.0).then(|| 1.0 / (1.0 - self.parallel))
    }

    /// gustafson = n - (1 - f)*(n - 1): the time stays, the parallel part of the work grows.
    fn gustafson(&self, n: f64) -> f64 {
        n - (1.0 - self.parallel) * (n - 1.0)
    }
}

/// A speedup that somebody measured, over a number of processors that need not be one.
struct Measured {
    processors: f64,
    baseline: f64,
    speedup: f64,
    from: Source,
}

/// Where a measured speedup comes from; the first that is complete counts.
enum Source {
    Given,
    Seconds { baseline: f64, now: f64 },
    Throughput { baseline: f64, now: f64 },
}

impl Measured {
    fn read(params: &Params, processors: f64) -> Result<Option<Self>, LabError> {
        let pair =
            |before, now| Some((params.optional_float(before)?, params.optional_float(now)?));
        let (speedup, from) = if let Some(speedup) = params.optional_float("measured_speedup") {
            (speedup, Source::Given)
        } else if let Some((baseline, now)) = pair("baseline_seconds", "seconds") {
            (baseline / now, Source::Seconds { baseline, now })
        } else if let Some((baseline, now)) = pair("baseline_throughput", "throughput") {
            (now / baseline, Source::Throughput { baseline, now })
        } else {
            return Ok(None);
        };
        Ok(Some(Self { processors, baseline: params.float("baseline_processors")?, speedup, from }))
    }

    /// r: how many times the processors of the baseline.
    fn ratio(&self) -> f64 {
        self.processors / self.baseline
    }

    fn efficiency(&self) -> f64 {
        self.speedup / self.ratio()
    }

    /// karp_flatt = (1/S - 1/r)/(1 - 1/r); none without more processors than the baseline's.
    fn serial(&self) -> Option<f64> {
        let r = self.ratio();
        (r > 1.0).then(|| (1.0 / self.speedup - 1.0 / r) / (1.0 - 1.0 / r))
    }

    /// How the speedup came about, for errors.
    fn told(&self) -> String {
        let on =
            format!("on {} processors against {}", number(self.processors), number(self.baseline));
        match self.from {
            Source::Given => format!("a speedup of {} {on}", number(self.speedup)),
            Source::Seconds { baseline, now } => {
                format!("{} s after {} s {on}", number(now), number(baseline))
            }
            Source::Throughput { baseline, now } => {
                format!("a rate of {} after {} {on}", number(now), number(baseline))
            }
        }
    }
}

fn steps(laws: &Laws, processors: f64, measured: Option<&Measured>) -> Frame {
    let mut steps = Steps::default();
    // Whoever measured something wants to know about that first.
    if let Some(measured) = measured {
        measured.steps(&mut steps);
    }
    let (f, n) = (number(laws.parallel), number(processors));
    let amdahl = laws.amdahl(processors);
    steps.add("amdahl_speedup", "1/((1 - f) + f/n)", format!("1/((1 - {f}) + {f}/{n})"), amdahl);
    let numbers = format!("{}/{n}", number(amdahl));
    steps.add("amdahl_efficiency", "amdahl/n", numbers, amdahl / processors);
    if let Some(limit) = laws.limit() {
        steps.add("amdahl_limit", "1/(1 - f)", format!("1/(1 - {f})"), limit);
    }
    let gustafson = laws.gustafson(processors);
    steps.add(
        "gustafson_speedup",
        "n - (1 - f)*(n - 1)",
        format!("{n} - (1 - {f})*({n} - 1)"),
        gustafson,
    );
    steps.add(
        "gustafson_efficiency",
        "gustafson/n",
        format!("{}/{n}", number(gustafson)),
        gustafson / processors,
    );
    steps.table()
}

impl Measured {
    fn steps(&self, steps: &mut Steps) {
        let (formula, numbers) = match self.from {
            Source::Given => ("as given", String::new()),
            Source::Seconds { baseline, now } => {
                ("baseline_seconds/seconds", format!("{}/{}", number(baseline), number(now)))
            }
            Source::Throughput { baseline, now } => {
                ("throughput/baseline_throughput", format!("{}/{}", number(now), number(baseline)))
            }
        };
        steps.add("measured_speedup S", formula, numbers, self.speedup);
        let (s, r) = (number(self.speedup), number(self.ratio()));
        steps.add(
            "times the processors r",
            "processors/baseline_processors",
            format!("{}/{}", number(self.processors), number(self.baseline)),
            self.ratio(),
        );
        let numbers = format!("{s}/{r}");
        steps.add("measured_efficiency", "S/r", numbers, self.efficiency());
        if let Some(serial) = self.serial() {
            steps.add(
                "karp_flatt_serial_fraction",
                "(1/S - 1/r)/(1 - 1/r)",
                format!("(1/{s} - 1/{r})/(1 - 1/{r})"),
                serial,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_share_that_is_read_back_is_the_one_that_went_in() {
        for parallel in [0.0, 0.3, 0.95, 0.999_999, 1.0] {
            for processors in [2.0, 8.0, 1024.0, 16384.0] {
                let measured = Measured {
                    processors,
                    baseline: 1.0,
                    speedup: Laws { parallel }.amdahl(processors),
                    from: Source::Given,
                };
                let serial = measured.serial().unwrap();
                let error = (serial - (1.0 - parallel)).abs();
                assert!(error < 1e-9, "{parallel} {processors}: {serial}");
            }
        }
    }

    #[test]
    fn both_laws_lie_between_one_and_the_number_of_processors() {
        for parallel in [0.0, 0.01, 0.5, 0.95, 1.0] {
            for n in [1.0, 2.0, 7.0, 1e6] {
                let laws = Laws { parallel };
                let (amdahl, gustafson) = (laws.amdahl(n), laws.gustafson(n));
                assert!(1.0 <= amdahl + 1e-12 && amdahl <= gustafson + 1e-9, "{parallel} {n}");
                assert!(gustafson <= n && laws.limit().is_none_or(|l| amdahl <= l));
            }
        }
    }
}
