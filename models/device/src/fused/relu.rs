//! max(0, x) in place. It keeps its result for the way back: the gradient passes where that is not zero. NaN stays NaN.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Flex};
use macerator::{AutoArch, Simd, WithSimd};

use super::{contiguous, numbers, numbers_mut};

pub(super) fn forward(x: FlexTensor) -> FlexTensor {
    let [mut x] = contiguous([x]);
    AutoArch::new().dispatch(Forth(numbers_mut(&mut x)));
    x
}

pub(super) fn recorded(x: FloatTensor<Autodiff<Flex>>) -> FloatTensor<Autodiff<Flex>> {
    let (x, node) = x.into_parts();
    let result = forward(x);
    match Relu.prepare::<NoCheckpointing>([node]).compute_bound().stateful() {
        OpsKind::Tracked(tape) => tape.finish(result.clone(), result),
        OpsKind::UnTracked(tape) => tape.finish(result),
    }
}

#[derive(Debug)]
struct Relu;

impl Backward<Flex, 1> for Relu {
    type State = FlexTensor;

    fn backward(self, ops: Ops<FlexTensor, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let [mut slope] = contiguous([grads.consume::<Flex>(&ops.node)]);
        let [Some(node)] = ops.parents else { return };
        AutoArch::new().dispatch(Back(numbers_mut(&mut slope), numbers(&ops.state)));
        grads.register::<Flex>(node.id, slope);
    }
}

struct Forth<'a>(&'a mut [f32]);

impl WithSimd for Forth<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self) {
        for x in self.0 {
            *x = if *x < 0.0 { 0.0 } else { *x };
        }
    }
}

/// The slope of the result, and the result.
struct Back<'a>(&'a mut [f32], &'a [f32]);

impl WithSimd for Back<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self) {
        for (slope, &result) in self.0.iter_mut().zip(self.1) {
            *slope = if result <= 0.0 { 0.0 } else { *slope };
        }
    }
}
