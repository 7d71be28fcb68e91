//! What the parameters ask for.

use mlsys_lab::{LabError, Params, Value};

use mlsys_device::choice::pick;
use mlsys_device::meter::Precision;

/// The largest dimension of a matrix.
const LARGEST: f64 = 16_384.0;

/// More sizes than this are not a sweep but a mistake.
const MOST_SIZES: usize = 64;

/// The parameters.
pub(super) struct Setup {
    pub(super) precision: Precision,
    pub(super) shapes: Vec<Shape>,
    pub(super) repetitions: usize,
    pub(super) seed: u64,
    /// The peak to compare with, in flop/s, if somebody has said so.
    pub(super) baseline: Option<f64>,
}

/// A product: (m x k) times (k x n).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The swept size.
    pub(super) size: usize,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
}

/// When the clock is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockStops {
    /// When the device has done its work.
    WhenDone,
    /// When the call returns: the classic mistake.
    WhenCalled,
}

impl ClockStops {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(match params.bool("synchronize")? {
            true => Self::WhenDone,
            false => Self::WhenCalled,
        })
    }
}

#[derive(Clone, Copy)]
enum Sweep {
    Batch,
    Square,
    Nothing,
}

const SWEEPS: [(&str, Sweep); 3] =
    [("batch", Sweep::Batch), ("square", Sweep::Square), ("none", Sweep::Nothing)];

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let [m, n, k] = [params.size("m")?, params.size("n")?, params.size("k")?];
        let shapes = match pick(params, "sweep", &SWEEPS)? {
            Sweep::Nothing => vec![Shape { size: m, m, n, k }],
            Sweep::Batch => {
                sizes(params)?.into_iter().map(|size| Shape { size, m: size, n, k }).collect()
            }
            Sweep::Square => sizes(params)?
                .into_iter()
                .map(|size| Shape { size, m: size, n: size, k: size })
                .collect(),
        };
        Ok(Self {
            precision: Precision::read(params)?,
            shapes,
            repetitions: params.size("repetitions")?,
            seed: params.int("seed")? as u64,
            baseline: params.optional_float("baseline_peak").filter(|peak| *peak > 0.0),
        })
    }
}

fn sizes(params: &Params) -> Result<Vec<usize>, LabError> {
    let wrong = |message: String| LabError::contradiction(["sizes"], message);
    let given = match params.get("sizes") {
        Some(Value::Array(given)) if !given.is_empty() => given,
        Some(_) | None => {
            return Err(wrong("a sweep needs at least one size, such as [512]".into()));
        }
    };
    if given.len() > MOST_SIZES {
        let message = format!("{} sizes are too many; at most {MOST_SIZES}", given.len());
        return Err(wrong(message));
    }
    let size = |(place, value): (usize, &Value)| {
        let whole = value.as_f64().filter(|x| x.fract() == 0.0);
        let fits = whole.filter(|x| (1.0..=LARGEST).contains(x));
        fits.map(|x| x as usize).ok_or_else(|| {
            wrong(format!(
                "size {} is {value}; each must be a whole number from 1 to {LARGEST}",
                place + 1
            ))
        })
    };
    given.iter().enumerate().map(size).collect()
}

impl Shape {
    /// A multiply-add is two: 2mnk.
    pub(super) fn flops(self) -> u64 {
        2 * self.m as u64 * self.n as u64 * self.k as u64
    }

    /// Every matrix moved once: element size * (mk + kn + mn).
    pub(super) fn bytes(self, precision: Precision) -> u64 {
        let [m, n, k] = [self.m as u64, self.n as u64, self.k as u64];
        precision.bytes() * (m * k + k * n + m * n)
    }

    /// flops / bytes
    pub(super) fn intensity(self, precision: Precision) -> f64 {
        self.flops() as f64 / self.bytes(precision) as f64
    }

    pub(super) fn name(self) -> String {
        format!("({} x {}) times ({} x {})", self.m, self.k, self.k, self.n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmul_bench::lab;
    use mlsys_device::choice::must_be_listed;
    use mlsys_device::meter::PRECISIONS;

    #[test]
    fn the_schema_lists_exactly_the_cases_that_are_read() {
        let lab = lab().unwrap();
        must_be_listed(&lab, "sweep", &SWEEPS);
        must_be_listed(&lab, "precision", &PRECISIONS);
    }

    #[test]
    fn operations_and_bytes_are_counted_by_the_formulas() {
        let shape = |m, n, k| Shape { size: m, m, n, k };
        for (shape, precision, flops, bytes) in [
            (shape(512, 512, 512), Precision::Fp32, 268_435_456, 3_145_728),
            (shape(1, 512, 512), Precision::Fp32, 524_288, 1_052_672),
            (shape(128, 8192, 8192), Precision::Fp16, 17_179_869_184, 138_412_032),
            (shape(16_384, 16_384, 16_384), Precision::Bf16, 8_796_093_022_208, 1_610_612_736),
        ] {
            assert_eq!((shape.flops(), shape.bytes(precision)), (flops, bytes));
            let intensity = shape.intensity(precision);
            assert!((intensity * bytes as f64 / flops as f64 - 1.0).abs() < 1e-12);
        }
    }
}
