//! Kind `quantization-noise`: noise power and signal-to-noise ratio of an ideal uniform quantizer.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite};

/// The lab `quantization-noise`.
pub struct QuantizationNoise {
    schema: Schema,
}

impl QuantizationNoise {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/quantization-noise.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for QuantizationNoise {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let bits = run.params.int("bits")?;
        let levels = 1_i64 << bits;
        let full = run.params.float("full_scale")?;
        let given = run.params.optional_float("step");
        let step = given.unwrap_or(full / levels as f64);
        // A uniform error of one step has the variance step^2/12.
        let power = step * step / 12.0;
        let signal = Signal::named(run.params.text("signal")?);
        let ratio = signal.ratio(bits);
        run.scalar("levels", levels);
        let sizes = || format!("full_scale {} and step {}", number(full), number(step));
        finite(run, "step_size", step, sizes)?;
        finite(run, "noise_power", power, sizes)?;
        finite(run, "noise_rms", power.sqrt(), sizes)?;
        run.scalar("sqnr_db", ratio);
        picture::offer(run, "bits", || signal.widths(bits));
        picture::offer(run, "steps", || {
            let mut steps = Steps::default();
            steps.add("levels", "2^bits", format!("2^{bits}"), levels);
            let numbers = match given {
                Some(step) => number(step),
                None => format!("{}/{levels}", number(full)),
            };
            let formula = if given.is_some() { "given" } else { "full_scale/2^bits" };
            steps.add("step_size", formula, numbers, step);
            steps.add("noise_power", "step_size^2/12", format!("{}^2/12", number(step)), power);
            steps.add(
                "noise_rms",
                "sqrt(noise_power)",
                format!("sqrt({})", number(power)),
                power.sqrt(),
            );
            let (formula, numbers) = match signal {
                Signal::Uniform => ("20*bits*log10(2)", format!("20*{bits}*0.30103")),
                Signal::Sine => {
                    ("20*bits*log10(2) + 10*log10(1.5)", format!("20*{bits}*0.30103 + 1.76091"))
                }
            };
            steps.add("sqnr_db", formula, numbers, ratio);
            steps.table()
        });
        Ok(())
    }
}

/// The full-scale test signal.
#[derive(Clone, Copy)]
enum Signal {
    Uniform,
    Sine,
}

impl Signal {
    fn named(name: &str) -> Self {
        if name == "sine" { Self::Sine } else { Self::Uniform }
    }

    /// A full-scale uniform signal has the power (levels*step)^2/12, a sine 1.5 times as much: the ratio over step^2/12.
    fn ratio(self, bits: i64) -> f64 {
        let uniform = 20.0 * bits as f64 * 2.0_f64.log10();
        match self {
            Self::Uniform => uniform,
            Self::Sine => uniform + 10.0 * 1.5_f64.log10(),
        }
    }

    fn widths(self, own: i64) -> Frame {
        let mut widths = vec![1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32];
        if !widths.contains(&own) {
            widths.push(own);
            widths.sort_unstable();
        }
        let bar = |bits: i64| {
            let remark = if bits == own { "this one" } else { "" };
            picture::bar(format!("{bits} bits"), self.ratio(bits), remark)
        };
        picture::bars("dB", widths.into_iter().map(bar).collect())
    }
}
