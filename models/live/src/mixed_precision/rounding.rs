//! Rounding many numbers to a format, by a rule and, where it is by chance, from a stream of its own.

use mlsys_sim::formats::Format;

use super::setup::Rounding;
use mlsys_nn::random::Stream;

/// A rule with its stream.
#[derive(Clone, Debug)]
pub(super) struct Rounder {
    stream: Stream,
    pub(super) how: Rounding,
}

impl Rounder {
    /// Draws of its own for each run.
    pub(super) fn new(seed: u64) -> Self {
        Self { stream: Stream::new(seed, "rounding"), how: Rounding::Nearest }
    }

    /// Rounds all of them.
    pub(super) fn round(&mut self, format: Format, numbers: &mut [f32]) {
        match (format, self.how) {
            (Format::Fp32, _) => {}
            (_, Rounding::Nearest) => nearest(format, numbers),
            (_, Rounding::AtRandom) => {
                for number in numbers {
                    *number = format.round_by(*number, self.stream.uniform());
                }
            }
        }
    }
}

/// Rounds all of them to the nearest; a loop for each format, so that its constants are in the code.
fn nearest(format: Format, numbers: &mut [f32]) {
    fn all(numbers: &mut [f32], round: impl Fn(f32) -> f32) {
        numbers.iter_mut().for_each(|number| *number = round(*number));
    }
    match format {
        Format::Fp32 => {}
        Format::Bf16 => all(numbers, |x| Format::Bf16.round(x)),
        Format::Fp16 => all(numbers, |x| Format::Fp16.round(x)),
        Format::E4m3 => all(numbers, |x| Format::E4m3.round(x)),
        Format::E5m2 => all(numbers, |x| Format::E5m2.round(x)),
    }
}

/// Adds `by` times each of `row` to each of `sums`, and rounds every sum to a format: one step of a matrix product whose
/// running sums have no more bits.
pub(super) fn add_scaled(format: Format, sums: &mut [f32], by: f32, row: &[f32]) {
    fn all(sums: &mut [f32], by: f32, row: &[f32], round: impl Fn(f32) -> f32) {
        for (sum, number) in sums.iter_mut().zip(row) {
            *sum = round(*sum + by * number);
        }
    }
    // Nothing is added, and a sum is rounded already: most pixels of a digit are black.
    if by == 0.0 {
        return;
    }
    match format {
        Format::Fp32 => all(sums, by, row, |x| x),
        Format::Bf16 => all(sums, by, row, |x| Format::Bf16.round(x)),
        Format::Fp16 => all(sums, by, row, |x| Format::Fp16.round(x)),
        Format::E4m3 => all(sums, by, row, |x| Format::E4m3.round(x)),
        Format::E5m2 => all(sums, by, row, |x| Format::E5m2.round(x)),
    }
}
