//! Kind `gpu-peak`: units, multiply-adds per clock and clock rate make the peak a datasheet prints.

mod die;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Tables};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite};
use mlsys_sim::integer::too_large;

/// A fused multiply-add counts twice.
const FLOPS_PER_FMA: i64 = 2;

/// 2:4 structured sparsity skips every second product.
const SPARSE: f64 = 2.0;

/// The lab `gpu-peak`.
pub struct GpuPeak {
    schema: Schema,
}

impl GpuPeak {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/gpu-peak.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for GpuPeak {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let peak = Peak::read(&run.params)?;
        if let Source::Product { units, per_sm, .. } = peak.source {
            run.scalar("units", units);
            run.scalar("flops_per_sm_per_clock", per_sm);
        }
        let large = || "the factors are too large for their product".to_owned();
        let (dense, devices) = (peak.dense, peak.devices as f64);
        finite(run, "flops_per_second", dense, large)?;
        finite(run, "sparse_flops_per_second", SPARSE * dense, large)?;
        finite(run, "total_flops_per_second", devices * dense, large)?;
        finite(run, "total_sparse_flops_per_second", devices * SPARSE * dense, large)?;
        if let Some(baseline) = peak.baseline {
            let none = || format!("the baseline is {} flop/s", number(baseline));
            finite(run, "ratio", dense / baseline, none)?;
            finite(run, "sparse_ratio", SPARSE * dense / baseline, none)?;
        }
        let chosen = |name: &str| run.params.text(name).unwrap_or_default().to_owned();
        let (gpu, precision) = (chosen("gpu"), chosen("precision"));
        picture::offer(run, "die", || die::die(&peak, &gpu, &precision));
        picture::offer(run, "paths", || paths(&gpu, &precision));
        picture::offer(run, "machines", || machines(&gpu, &precision));
        picture::offer(run, "steps", || peak.steps());
        Ok(())
    }
}

/// Where the peak of one chip comes from.
enum Source {
    /// The chip's geometry and clock.
    Product { sms: i64, units_per_sm: i64, fma: i64, clock: f64, units: i64, per_sm: i64 },
    /// A datasheet, dense or with sparsity counted in.
    Quoted { rate: f64, divisor: f64 },
}

struct Peak {
    source: Source,
    /// Dense peak of one chip, flop/s.
    dense: f64,
    devices: i64,
    baseline: Option<f64>,
}

impl Peak {
    fn read(params: &Params) -> Result<Self, LabError> {
        let (source, dense) = match params.optional_float("quoted_flops_per_second") {
            Some(rate) => {
                let sparse = params.bool("quoted_with_sparsity")?;
                let divisor = if sparse { SPARSE } else { 1.0 };
                (Source::Quoted { rate, divisor }, rate / divisor)
            }
            None => Self::product(params)?,
        };
        Ok(Self {
            source,
            dense,
            devices: params.int("devices")?,
            baseline: params.optional_float("baseline_flops_per_second"),
        })
    }

    fn product(params: &Params) -> Result<(Source, f64), LabError> {
        let sms = params.int("sms")?;
        let units_per_sm = params.int("units_per_sm")?;
        let fma = params.int("fma_per_unit_per_clock")?;
        let clock = params.float("clock_hertz")?;
        // units = sms*units_per_sm
        let units = sms
            .checked_mul(units_per_sm)
            .ok_or_else(|| too_large(["sms", "units_per_sm"], "units"))?;
        // flops_per_sm_per_clock = units_per_sm*fma_per_unit_per_clock*2
        let per_sm = units_per_sm
            .checked_mul(fma)
            .and_then(|fma| fma.checked_mul(FLOPS_PER_FMA))
            .ok_or_else(|| {
            too_large(["units_per_sm", "fma_per_unit_per_clock"], "flops_per_sm_per_clock")
        })?;
        // flops_per_second = sms*flops_per_sm_per_clock*clock_hertz
        let dense = sms as f64 * per_sm as f64 * clock;
        let source = Source::Product { sms, units_per_sm, fma, clock, units, per_sm };
        Ok((source, dense))
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        match self.source {
            Source::Product { sms, units_per_sm, fma, clock, units, per_sm } => {
                let numbers = format!("{sms}*{units_per_sm}");
                steps.add("units", "sms*units_per_sm", numbers, units);
                steps.add(
                    "flops_per_sm_per_clock",
                    "units_per_sm*fma_per_unit_per_clock*2",
                    format!("{units_per_sm}*{fma}*2"),
                    per_sm,
                );
                steps.add(
                    "flops_per_second",
                    "sms*flops_per_sm_per_clock*clock_hertz",
                    format!("{sms}*{per_sm}*{}", number(clock)),
                    self.dense,
                );
            }
            Source::Quoted { rate, divisor } => {
                let formula = "quoted/(2 if sparsity is counted in, else 1)";
                let numbers = format!("{}/{divisor}", number(rate));
                steps.add("flops_per_second", formula, numbers, self.dense);
            }
        }
        let dense = number(self.dense);
        let sparse = SPARSE * self.dense;
        steps.add("sparse_flops_per_second", "2*dense", format!("2*{dense}"), sparse);
        let devices = self.devices as f64;
        let numbers = format!("{devices}*{dense}");
        let total = devices * self.dense;
        steps.add("total_flops_per_second", "devices*dense", numbers, total);
        let numbers = format!("{devices}*{}", number(sparse));
        steps.add("total_sparse_flops_per_second", "devices*sparse", numbers, devices * sparse);
        if let Some(baseline) = self.baseline {
            let by = number(baseline);
            let ratio = self.dense / baseline;
            steps.add("ratio", "dense/baseline", format!("{dense}/{by}"), ratio);
            let numbers = format!("{}/{by}", number(sparse));
            steps.add("sparse_ratio", "sparse/baseline", numbers, sparse / baseline);
        }
        steps.table()
    }
}

/// Peaks of one chip's data paths, as its datasheet has them.
fn paths(gpu: &str, chosen: &str) -> Frame {
    let bar = |path: &&str| {
        let peak = quoted(gpu, path)?;
        let remark = if *path == chosen { "this one" } else { "" };
        Some(picture::bar(*path, peak, remark))
    };
    picture::bars("flop/s", PATHS.iter().filter_map(bar).collect())
}

/// Peaks of one data path on every chip that has it.
fn machines(chosen: &str, path: &str) -> Frame {
    let bar = |gpu: &str| {
        let remark = if gpu == chosen { "this one" } else { "" };
        Some(picture::bar(gpu, quoted(gpu, path)?, remark))
    };
    let names = Tables::builtin().names("gpu");
    picture::bars("flop/s", names.into_iter().filter_map(bar).collect())
}

/// Every data path that a table may have.
const PATHS: [&str; 9] = [
    "fp64",
    "fp64-tensor",
    "fp32",
    "tf32-tensor",
    "fp16-tensor",
    "bf16-tensor",
    "fp8-tensor",
    "int8-tensor",
    "int4-tensor",
];

fn quoted(gpu: &str, path: &str) -> Option<f64> {
    let field = format!("path.{path}.peak_flops_per_second");
    Tables::builtin().field("gpu", gpu, &field)?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_datasheet_peak_can_be_rebuilt_from_its_geometry() {
        let tables = Tables::builtin();
        let mut rebuilt = 0;
        for gpu in tables.names("gpu") {
            let field = |path: &str| tables.field("gpu", gpu, path).and_then(|x| x.as_f64());
            for path in PATHS {
                let of = |name: &str| field(&format!("path.{path}.{name}"));
                let (Some(units), Some(fma), Some(clock), Some(sms), Some(peak)) = (
                    of("units_per_sm"),
                    of("fma_per_unit_per_clock"),
                    of("clock_hertz"),
                    field("sms"),
                    quoted(gpu, path),
                ) else {
                    continue;
                };
                let product = sms * units * fma * 2.0 * clock;
                assert!(
                    (product - peak).abs() < 0.01 * peak,
                    "{gpu} {path}: {product} is not {peak}"
                );
                rebuilt += 1;
            }
        }
        assert!(rebuilt > 20, "{rebuilt}");
    }
}
