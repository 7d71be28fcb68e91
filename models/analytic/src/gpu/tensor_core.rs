//! Kind `tensor-core`: a tile of a matrix product with short inputs and a longer sum.

mod format;

use mlsys_lab::frame::{Bars, HeatMap};
use mlsys_lab::schema::Scale;
use mlsys_lab::{Frame, LabError, Params, Run, picture, random};
use serde::Serialize;

use self::format::Format;
use crate::closed_form::Simulated;

/// Products that a core adds to a sum with one rounding.
const CORE: usize = 4;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let product = Product::read(&run.params)?;
    let outputs = product.outputs();
    let worst = |of: fn(&Output) -> f64| outputs.iter().map(of).fold(0.0, f64::max);
    let first = product.sum(0, 0, product.depth, product.accumulate);
    let found = Found {
        input_error: worst(|output| output.error(output.rounded, output.exact)),
        sum_error: worst(|output| output.error(output.value, output.rounded)),
        total_error: worst(|output| output.error(output.value, output.exact)),
        fp32_error: worst(|output| output.error(output.fp32, output.exact)),
        value: first.value,
        exact: first.exact,
        growth: product.growth(),
        input_spacing: product.inputs.epsilon(),
        sum_spacing: product.accumulate.epsilon(),
        first_spacing: product.accumulate.spacing(first.value),
    };
    picture::offer(run, "errors", || found.bars());
    picture::offer(run, "tile", || product.map(&outputs));
    Simulated::fields(&found)
}

/// What the file's formulas start from.
#[derive(Serialize)]
struct Found {
    input_error: f64,
    sum_error: f64,
    total_error: f64,
    fp32_error: f64,
    value: f64,
    exact: f64,
    /// The first element after some products: their number, in 64 bits, summed in FP32, summed in FP16.
    growth: Vec<(usize, [f64; 3])>,
    /// Between neighbouring numbers at 1, and of the sum's format at the first element.
    input_spacing: f64,
    sum_spacing: f64,
    first_spacing: f64,
}

struct Product {
    edge: usize,
    depth: usize,
    inputs: Format,
    accumulate: Format,
    /// `[edge, depth]`
    a: Vec<f64>,
    /// `[edge, depth]`: the columns of B, one after another.
    b: Vec<f64>,
}

struct Output {
    value: f64,
    /// In 64 bits from rounded inputs.
    rounded: f64,
    /// In 64 bits from the numbers themselves.
    exact: f64,
    /// In 32 bits throughout.
    fp32: f64,
    /// The sum of the absolute products, which errors are measured by.
    size: f64,
}

impl Output {
    fn error(&self, value: f64, of: f64) -> f64 {
        if self.size == 0.0 {
            return 0.0;
        }
        (value - of).abs() / self.size
    }
}

impl Found {
    fn bars(&self) -> Frame {
        let bar = |label: &str, error: f64, remark: &str| {
            let mut bar = picture::bar(label, error, remark);
            // There is no place for zero on a logarithmic axis.
            if error == 0.0 {
                (bar.value, bar.remark) = (None, "none".to_owned());
            }
            bar
        };
        Frame::Bars(Bars {
            quantity: "error".to_owned(),
            unit: "of the sum |a·b|".to_owned(),
            scale: Scale::Log,
            bars: vec![
                bar("rounding A and B", self.input_error, ""),
                bar("rounding the sums", self.sum_error, ""),
                bar("both", self.total_error, "this product"),
                bar("FP32 throughout", self.fp32_error, "for comparison"),
            ],
        })
    }
}

impl Product {
    fn read(params: &Params) -> Result<Self, LabError> {
        let edge = if params.text("tile")? == "4x4x4" { 4 } else { 16 };
        let depth = params.size("depth")?;
        let inputs = match params.text("inputs")? {
            "bf16" => Format::BF16,
            "tf32" => Format::TF32,
            _ => Format::FP16,
        };
        let accumulate = match params.text("accumulate")? {
            "fp16" => Format::FP16,
            _ => Format::FP32,
        };
        let seed = params.int("seed")?.unsigned_abs();
        let signed = params.text("numbers")? == "signed";
        let draw = |matrix: u64| {
            let one = |index: usize| {
                let unit = random::unit(2 * seed + matrix, index as u64);
                if signed { 2.0 * unit - 1.0 } else { unit }
            };
            (0..edge * depth).map(one).collect()
        };
        Ok(Self { edge, depth, inputs, accumulate, a: draw(0), b: draw(1) })
    }

    /// The element after the first `depth` products.
    fn sum(&self, row: usize, column: usize, depth: usize, accumulate: Format) -> Output {
        let a = &self.a[row * self.depth..][..depth];
        let b = &self.b[column * self.depth..][..depth];
        let mut output = Output { value: 0.0, rounded: 0.0, exact: 0.0, fp32: 0.0, size: 0.0 };
        for (a, b) in a.chunks(CORE).zip(b.chunks(CORE)) {
            // Products of short numbers are exact in 64 bits, and so, but for the last bits of a long sum, is theirs.
            let mut step = 0.0;
            for (&a, &b) in a.iter().zip(b) {
                let product = self.inputs.round(a) * self.inputs.round(b);
                step += product;
                output.rounded += product;
                output.exact += a * b;
                output.size += (a * b).abs();
                let (a, b) = (Format::FP32.round(a), Format::FP32.round(b));
                output.fp32 = Format::FP32.round(a * b + output.fp32);
            }
            output.value = accumulate.round(output.value + step);
        }
        output
    }

    fn outputs(&self) -> Vec<Output> {
        let places = (0..self.edge).flat_map(|row| (0..self.edge).map(move |column| (row, column)));
        places.map(|(row, column)| self.sum(row, column, self.depth, self.accumulate)).collect()
    }

    fn growth(&self) -> Vec<(usize, [f64; 3])> {
        let shorter = (0..).map(|power| CORE << power).take_while(|depth| *depth < self.depth);
        let row = |depth: usize| {
            let fp32 = self.sum(0, 0, depth, Format::FP32);
            let fp16 = self.sum(0, 0, depth, Format::FP16);
            (depth, [fp32.exact, fp32.value, fp16.value])
        };
        shorter.chain([self.depth]).map(row).collect()
    }

    fn map(&self, outputs: &[Output]) -> Frame {
        let errors = outputs.iter().map(|output| output.error(output.value, output.exact) as f32);
        let errors: Vec<f32> = errors.collect();
        let high = errors.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let legend = "error of each element, over the sum of its absolute products";
        Frame::HeatMap(HeatMap {
            y: (self.edge as f32, 0.0),
            row_labels: (0..self.edge).map(|row| format!("row {row}")).collect(),
            ..picture::heat_map([self.edge; 2], errors, (0.0, high), legend)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(
        edge: usize,
        depth: usize,
        accumulate: Format,
        draw: impl Fn(usize) -> f64,
    ) -> Product {
        let numbers: Vec<f64> = (0..edge * depth).map(draw).collect();
        Product { edge, depth, inputs: Format::FP16, accumulate, a: numbers.clone(), b: numbers }
    }

    #[test]
    fn whole_numbers_that_fit_are_exact_in_every_format() {
        for accumulate in [Format::FP16, Format::FP32] {
            let product = product(4, 16, accumulate, |i| (i % 3) as f64);
            for output in product.outputs() {
                assert_eq!((output.value, output.fp32), (output.exact, output.exact));
            }
        }
    }

    #[test]
    fn low_precision_sums_saturate() {
        // Steps of 1: from 2048 on FP16 counts in twos, and half of that, tied, goes to the even one.
        let ones = product(4, 16_384, Format::FP16, |i| if i % 4 == 0 { 1.0 } else { 0.0 });
        let first = |format| ones.sum(0, 0, ones.depth, format);
        assert_eq!(first(Format::FP16).value, 2048.0);
        assert_eq!((first(Format::FP16).exact, first(Format::FP32).value), (4096.0, 4096.0));
    }

    #[test]
    fn errors_stay_below_their_bounds() {
        let product = product(16, 64, Format::FP32, |i| random::unit(7, i as u64) - 0.5);
        for output in product.outputs() {
            // Two factors of 2^-11 each, and their product.
            let bound = 2.0 * Format::FP16.epsilon() / 2.0 * 1.001;
            assert!(output.error(output.rounded, output.exact) <= bound);
            let roundings = 16.0 * Format::FP32.epsilon();
            assert!(output.error(output.value, output.rounded) <= roundings);
        }
    }
}
