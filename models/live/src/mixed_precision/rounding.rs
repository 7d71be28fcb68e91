//! Forward and backward on the host, for running sums that no device keeps so short: in every product, there and back, each
//! addition is rounded to the format of sums.

use mlsys_nn::random::Stream;
use mlsys_sim::formats::Format;

use crate::sampling::likeliest;

pub(super) struct Layers<'a> {
    /// Inputs and outputs of each, from the input on.
    pub(super) sizes: &'a [[usize; 2]],
    /// Of each the weights, row by row of inputs, then the biases.
    pub(super) weights: &'a [f32],
    pub(super) sums: Format,
    pub(super) activations: Format,
}

pub(super) struct Rows<'a> {
    pub(super) inputs: &'a [f32],
    pub(super) labels: &'a [i32],
}

impl Layers<'_> {
    fn each(
        &self,
    ) -> impl DoubleEndedIterator<Item = ([usize; 2], &[f32], &[f32])> + ExactSizeIterator {
        let mut begin = 0;
        let layer = |&[inputs, outputs]: &[usize; 2]| {
            let (weights, end) = (begin, begin + inputs * outputs);
            begin = end + outputs;
            ([inputs, outputs], &self.weights[weights..end], &self.weights[end..begin])
        };
        self.sizes.iter().map(layer).collect::<Vec<_>>().into_iter()
    }

    /// What goes into each layer, and the logits last.
    fn forward(&self, inputs: &[f32], rows: usize, rounder: &mut Rounder) -> Vec<Vec<f32>> {
        let mut all = vec![inputs.to_vec()];
        for (layer, ([inputs, outputs], weights, biases)) in self.each().enumerate() {
            let x = &all[layer];
            let mut out = vec![0.0; rows * outputs];
            for (x, out) in x.chunks(inputs).zip(out.chunks_mut(outputs)) {
                for (x, weights) in x.iter().zip(weights.chunks(outputs)) {
                    add_scaled(self.sums, out, *x, weights);
                }
                out.iter_mut().zip(biases).for_each(|(out, bias)| *out += bias);
            }
            rounder.round(self.activations, &mut out);
            if layer + 1 < self.sizes.len() {
                out.iter_mut().for_each(|x| *x = x.max(0.0));
            }
            all.push(out);
        }
        all
    }

    pub(super) fn classes(&self, inputs: &[f32], rows: usize, rounder: &mut Rounder) -> Vec<i32> {
        let all = self.forward(inputs, rows, rounder);
        let classes = self.sizes.last().map_or(1, |[_, outputs]| *outputs);
        let class = |row: &[f32]| likeliest(row) as i32;
        all.last().map_or_else(Vec::new, |logits| logits.chunks(classes).map(class).collect())
    }

    /// The mean loss of a batch, and the gradient of `scale` times it.
    pub(super) fn gradient(
        &self,
        batch: &Rows<'_>,
        scale: f32,
        rounder: &mut Rounder,
    ) -> (f64, Vec<f32>) {
        let rows = batch.labels.len();
        let all = self.forward(batch.inputs, rows, rounder);
        let classes = self.sizes.last().map_or(1, |[_, outputs]| *outputs);
        let (mut loss, mut slopes) = (0.0, all[self.sizes.len()].clone());
        for (row, label) in slopes.chunks_mut(classes).zip(batch.labels) {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f32 = row.iter().map(|x| (x - largest).exp()).sum();
            let right = usize::try_from(*label).unwrap_or(0);
            loss += f64::from(sum.ln() - (row[right] - largest));
            for (class, x) in row.iter_mut().enumerate() {
                let wanted = if class == right { 1.0 } else { 0.0 };
                *x = ((*x - largest).exp() / sum - wanted) / rows as f32 * scale;
            }
        }
        // From the last layer to the first; each part goes before what is there.
        let mut parts: Vec<Vec<f32>> = Vec::new();
        for (layer, ([inputs, outputs], weights, _)) in self.each().enumerate().rev() {
            let x = &all[layer];
            let mut of_weights = vec![0.0; inputs * outputs];
            let mut of_biases = vec![0.0_f32; outputs];
            for (x, slopes) in x.chunks(inputs).zip(slopes.chunks(outputs)) {
                for (x, sums) in x.iter().zip(of_weights.chunks_mut(outputs)) {
                    add_scaled(self.sums, sums, *x, slopes);
                }
                of_biases.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
            }
            parts.extend([of_biases, of_weights]);
            if layer > 0 {
                slopes = self.back(&slopes, [inputs, outputs], weights);
                let active = slopes.iter_mut().zip(x);
                active.for_each(|(slope, x)| *slope = if *x > 0.0 { *slope } else { 0.0 });
            }
        }
        parts.reverse();
        (loss / rows as f64, parts.concat())
    }

    /// Slopes of a layer's outputs to those of its inputs.
    fn back(&self, slopes: &[f32], [inputs, outputs]: [usize; 2], weights: &[f32]) -> Vec<f32> {
        let mut turned = vec![0.0; weights.len()];
        for (input, row) in weights.chunks(outputs).enumerate() {
            for (output, weight) in row.iter().enumerate() {
                turned[output * inputs + input] = *weight;
            }
        }
        let mut back = vec![0.0; slopes.len() / outputs * inputs];
        for (slopes, back) in slopes.chunks(outputs).zip(back.chunks_mut(inputs)) {
            for (slope, weights) in slopes.iter().zip(turned.chunks(inputs)) {
                add_scaled(self.sums, back, *slope, weights);
            }
        }
        back
    }
}

#[derive(Clone, Debug)]
pub(super) struct Rounder {
    stream: Stream,
    pub(super) is_stochastic: bool,
}

impl Rounder {
    pub(super) fn new(seed: u64) -> Self {
        Self { stream: Stream::new(seed, "rounding"), is_stochastic: false }
    }

    pub(super) fn nearest(&self) -> Self {
        Self { is_stochastic: false, ..self.clone() }
    }

    pub(super) fn round(&mut self, format: Format, numbers: &mut [f32]) {
        if format == Format::Fp32 || !self.is_stochastic {
            return nearest(format, numbers);
        }
        for number in numbers {
            *number = format.round_by(*number, self.stream.uniform());
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

/// Adds `by` times each of `row` to each of `sums`, and rounds every sum: a step of a matrix product in short sums.
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
