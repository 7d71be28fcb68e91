//! A product with a backward pass of our own: what burn's `*` does inside, small enough to read.
//!
//! forward   c = a * b
//! backward  ∂z/∂a = ∂z/∂c * b    ∂z/∂b = ∂z/∂c * a
//!
//! Each gradient needs the *other* operand, so both are kept from the forward pass until backward has come by. An
//! addition would keep nothing, and exp its output. It runs on the CPU; other devices take burn's own product.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, binary};
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;

/// The elementwise product of two tensors of one shape, on the CPU.
pub fn multiply<const D: usize>(a: Tensor<D>, b: Tensor<D>) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::multiply(a.into_dispatch(), b.into_dispatch()))
}

#[backend_extension(Flex, Autodiff)]
pub trait Multiply: Backend {
    fn multiply(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl Multiply for Flex {
    fn multiply(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_mul(a, b)
    }
}

#[derive(Debug)]
struct MultiplyBackward;

impl<B: Backend> Backward<B, 2> for MultiplyBackward {
    /// What forward saves: a and b.
    type State = (FloatTensor<B>, FloatTensor<B>);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (a, b) = ops.state;
        // `grad` is ∂z/∂c; burn adds what the closures give to the gradients of a and b.
        binary::<B, _, _>(
            ops.parents,
            ops.node,
            grads,
            |grad| B::float_mul(grad, b),
            |grad| B::float_mul(grad, a),
        );
    }
}

/// Forward on a device that records: compute, and put the way back on the tape.
impl<B: Multiply, C: CheckpointStrategy> Multiply for Autodiff<B, C> {
    fn multiply(a: FloatTensor<Self>, b: FloatTensor<Self>) -> FloatTensor<Self> {
        let ((a, node_a), (b, node_b)) = (a.into_parts(), b.into_parts());
        let step = MultiplyBackward.prepare::<C>([node_a, node_b]);
        match step.compute_bound().stateful() {
            // An operand requires a gradient: save both.
            OpsKind::Tracked(tape) => tape.finish((a.clone(), b.clone()), B::multiply(a, b)),
            // None does: save nothing.
            OpsKind::UnTracked(tape) => tape.finish(B::multiply(a, b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::multiply;
    use burn::tensor::{DType, Device, Tensor, TensorData};

    const A: [f64; 4] = [2.0, -1.5, 0.0, 3.25];
    const B: [f64; 4] = [3.0, 4.0, -2.0, 0.5];

    fn leaf(values: [f64; 4]) -> Tensor<1> {
        constant(values, &Device::flex().autodiff()).require_grad()
    }

    fn constant(values: [f64; 4], device: &Device) -> Tensor<1> {
        Tensor::from_data(TensorData::from(values), (device, DType::F64))
    }

    fn values(tensor: Tensor<1>) -> Vec<f64> {
        tensor.into_data().iter::<f64>().collect()
    }

    type Product = fn(Tensor<1>, Tensor<1>) -> Tensor<1>;

    /// z = sum(sin(a * b) * a), so that the product's gradient is not a row of ones and a is used twice.
    fn both(product: Product) -> [Vec<f64>; 3] {
        let (a, b) = (leaf(A), leaf(B));
        let z = product(product(a.clone(), b.clone()).sin(), a.clone());
        let gradients = z.clone().sum().backward();
        let gradient = |leaf: &Tensor<1>| values(leaf.grad(&gradients).unwrap());
        [values(z), gradient(&a), gradient(&b)]
    }

    #[test]
    fn it_agrees_bit_for_bit_with_burns_own_product() {
        assert_eq!(both(multiply), both(|a, b| a * b));
    }

    #[test]
    fn without_a_leaf_that_wants_one_nothing_is_recorded() {
        let device = Device::flex();
        let product = multiply(constant(A, &device), constant(B, &device));
        assert_eq!(values(product), [6.0, -6.0, -0.0, 1.625]);
        // One of two: the other is a constant and gets none.
        let (a, b) = (leaf(A), constant(B, &device.autodiff()));
        let gradients = multiply(a.clone(), b.clone()).sum().backward();
        assert_eq!(values(a.grad(&gradients).unwrap()), B);
        assert!(b.grad(&gradients).is_none());
    }
}
