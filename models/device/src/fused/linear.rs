//! A layer of neurons. A small one is computed whole, as a general product takes longer to begin than to compute; a large
//! one on few rows is burn's, but for the gradient of its input, t Wᵀ.
//!
//! Where rows are few, most of that product is reading W on its side, which burn does at the pace of one core, whatever
//! the others do: it took a quarter of a step of 784-512-512-10.

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::ops::ModuleOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Flex, TensorMetadata};
use macerator::{AutoArch, Scalar, Simd, WithSimd};

use super::vector::{LANES, ROWS, add_small_product, add_small_transposed_product, tile};
use super::{Forward, Operation, contiguous, numbers, tensor};

/// Rows up to which reading W takes most of it.
const FEW: usize = 128;

/// Multiply-adds from which on burn divides a product among cores.
const LARGE: usize = 192 * 192 * 192;

/// Multiply-adds that another core is given no fewer of.
const LEAST_EACH: usize = 1 << 21;

/// Terms of a sum taken at a time, so that what is read of W stays in the first cache.
const TERMS: usize = 256;

/// Multiply-adds up to which a general product takes longer to begin than to compute.
const SMALL: usize = 1 << 18;

/// Whether dividing the product pays.
pub(super) fn is_worth_it([rows, inputs, outputs]: [usize; 3]) -> bool {
    rows <= FEW && rows * inputs * outputs >= LARGE
}

pub(super) fn is_small([rows, inputs, outputs]: [usize; 3]) -> bool {
    (1..=SMALL).contains(&(rows * inputs * outputs))
}

/// Of x `[rows, inputs]`, W `[inputs, outputs]` and b `[outputs]`: y = x W + b; it keeps nothing.
///
/// With the slope t of y: ∂x = t Wᵀ, ∂W = xᵀ t, and ∂b is the sum of the rows of t.
#[derive(Clone, Debug)]
pub(super) struct Small {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
}

impl Operation<3> for Small {
    #[inline(always)]
    fn forward<S: Simd>(&self, [x, weight, bias]: [&[f32]; 3]) -> Forward {
        let Self { inputs, outputs } = *self;
        let rows = x.len() / inputs;
        let mut result = bias.repeat(rows);
        let sizes = [rows, inputs, outputs];
        add_small_product::<S>((&mut result, outputs), x, (weight, outputs), sizes);
        Forward { result, kept: Vec::new() }
    }

    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        [x, weight, _]: [&[f32]; 3],
        _: &[f32],
        slope: &[f32],
        [is_by_x_wanted, ..]: [bool; 3],
    ) -> [Vec<f32>; 3] {
        let Self { inputs, outputs } = *self;
        let rows = x.len() / inputs;
        let mut by_x = Vec::new();
        if is_by_x_wanted {
            let turned: Vec<f32> =
                (0..outputs).flat_map(|o| weight[o..].iter().step_by(outputs).copied()).collect();
            by_x.resize(x.len(), 0.0);
            let sizes = [rows, outputs, inputs];
            add_small_product::<S>((&mut by_x, inputs), slope, (&turned, inputs), sizes);
        }
        let mut by_weight = vec![0.0; weight.len()];
        let to = (&mut *by_weight, outputs);
        add_small_transposed_product::<S>(to, (x, inputs), (slope, outputs), outputs);
        let mut by_bias = vec![0.0; outputs];
        for slope in slope.chunks_exact(outputs) {
            by_bias.iter_mut().zip(slope).for_each(|(sum, t)| *sum += t);
        }
        [by_x, by_weight, by_bias]
    }
}

/// x W + b with the way back on the tape.
pub(super) fn recorded<C: CheckpointStrategy>(
    [x, weight, bias]: [FloatTensor<Autodiff<Flex>>; 3],
) -> FloatTensor<Autodiff<Flex>> {
    let nodes = [&x, &weight, &bias].map(|tensor| tensor.node());
    match Linear.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(mut tape) => {
            let kept = [&x, &weight].map(|tensor| tape.checkpoint(tensor));
            tape.finish(kept, forward([x, weight, bias]))
        }
        OpsKind::UnTracked(tape) => tape.finish(forward([x, weight, bias])),
    }
}

fn forward(tensors: [FloatTensor<Autodiff<Flex>>; 3]) -> FlexTensor {
    let [x, weight, bias] = tensors.map(|tensor| tensor.primitive().clone());
    Flex::linear(x, weight, Some(bias))
}

#[derive(Debug)]
struct Linear;

impl Backward<Flex, 3> for Linear {
    /// Input and weights.
    type State = [NodeId; 2];

    fn backward(
        self,
        ops: Ops<Self::State, 3>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let [x, weight] = ops.state.map(|id| checkpointer.retrieve_node_output::<FlexTensor>(id));
        let [by_x, by_weight, by_bias] = ops.parents;
        let [slope, weight] = contiguous([grads.consume::<Flex>(&ops.node), weight]);
        if let Some(node) = by_x {
            let gradient = on_its_side(numbers(&slope), numbers(&weight), slope.shape()[1]);
            grads.register::<Flex>(node.id, tensor(gradient, x.shape()));
        }
        if let Some(node) = by_weight {
            let gradient = Flex::linear_weight_backward(x, slope.clone());
            grads.register::<Flex>(node.id, gradient);
        }
        if let Some(node) = by_bias {
            grads.register::<Flex>(node.id, Flex::linear_bias_backward(slope));
        }
    }
}

/// t Wᵀ of t `[rows, outputs]` and W `[inputs, outputs]`. Sums are taken in one order, however many cores divide it.
fn on_its_side(t: &[f32], weight: &[f32], outputs: usize) -> Vec<f32> {
    divided(t, weight, outputs, rayon::current_num_threads())
}

fn divided(t: &[f32], weight: &[f32], outputs: usize, cores: usize) -> Vec<f32> {
    let inputs = weight.len() / outputs;
    let most = (t.len() * inputs / LEAST_EACH).min(inputs / (2 * LANES)).min(cores);
    if most < 2 {
        return AutoArch::new().dispatch(OnItsSide { t, weight, outputs });
    }
    let middle = (inputs / 2).next_multiple_of(2 * LANES).min(inputs - 1);
    let (left, right) = weight.split_at(middle * outputs);
    let (left, right) = rayon::join(
        || divided(t, left, outputs, cores / 2),
        || divided(t, right, outputs, cores - cores / 2),
    );
    let mut joined = Vec::with_capacity(left.len() + right.len());
    for (left, right) in left.chunks_exact(middle).zip(right.chunks_exact(inputs - middle)) {
        joined.extend_from_slice(left);
        joined.extend_from_slice(right);
    }
    joined
}

struct OnItsSide<'a> {
    t: &'a [f32],
    weight: &'a [f32],
    outputs: usize,
}

impl WithSimd for OnItsSide<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self) -> Vec<f32> {
        // Only the widest vectors come with registers for twice as many sums.
        match f32::lanes::<S>() {
            LANES => self.in_panels::<S, 2>(),
            _ => self.in_panels::<S, 1>(),
        }
    }
}

impl OnItsSide<'_> {
    /// Panels are C vectors of inputs wide.
    #[inline(always)]
    fn in_panels<S: Simd, const C: usize>(self) -> Vec<f32> {
        let Self { t, weight, outputs } = self;
        let (rows, inputs) = (t.len() / outputs, weight.len() / outputs);
        let width = C * f32::lanes::<S>();
        let mut result = vec![0.0; rows * inputs];
        let mut panel = vec![0.0; TERMS.min(outputs) * width];
        let mut high = vec![[0.0; ROWS]; rows.div_ceil(ROWS) * TERMS.min(outputs)];
        for first in (0..outputs).step_by(TERMS) {
            let terms = TERMS.min(outputs - first);
            // Rows next to each other; what is computed for rows past the end is not stored.
            for (r, row) in t.chunks_exact(outputs).enumerate() {
                let high = &mut high[r / ROWS * terms..][..terms];
                high.iter_mut().zip(&row[first..]).for_each(|(to, from)| to[r % ROWS] = *from);
            }
            for (index, own) in weight.chunks(width * outputs).enumerate() {
                let panel = &mut panel[..terms * width];
                for (place, row) in own.chunks_exact(outputs).enumerate() {
                    let to = panel[place..].iter_mut().step_by(width);
                    to.zip(&row[first..]).for_each(|(to, from)| *to = *from);
                }
                let results = result.chunks_mut(ROWS * inputs);
                for (high, result) in high.chunks_exact(terms).zip(results) {
                    let count = result.len() / inputs;
                    let to = (&mut result[index * width..], inputs);
                    match own.len() / outputs {
                        few if few <= f32::lanes::<S>() => {
                            tile::<S, 1>(to, &high, (panel, width), few, count);
                        }
                        columns => tile::<S, C>(to, &high, (panel, width), columns, count),
                    }
                }
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_every_size_are_those_of_their_definition() {
        let number = |i: usize| ((i * 7919) % 23) as f32 - 11.0;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for [rows, inputs, outputs] in
            [[1, 1, 1], [9, 33, 5], [64, 96, 700], [7, 131, 2400], [128, 65, 512]]
        {
            let [t, weight] = [rows, inputs]
                .map(|count| (0..count * outputs).map(|i| number(i + count)).collect::<Vec<_>>());
            let found = pool.install(|| on_its_side(&t, &weight, outputs));
            let exact = t.chunks(outputs).flat_map(|t| {
                let dot = move |w: &[f32]| t.iter().zip(w).map(|(t, w)| t * w).sum::<f32>();
                weight.chunks(outputs).map(dot)
            });
            assert_eq!(found, exact.collect::<Vec<_>>(), "{rows} {inputs} {outputs}");
        }
    }
}
