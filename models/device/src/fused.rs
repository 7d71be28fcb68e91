//! Operations in one pass over memory, forward and backward, where the memory is the processor's own.
//!
//! burn computes a norm, a softmax or a gate as a chain of element-wise operations. Each of them reads and writes whole
//! tensors and takes exponentials one number at a time from the C library: most of a small transformer's step. Here a
//! row is read once, stays in the first cache until it is done, and is computed in vectors as wide as the processor has.
//!
//! Every function gives nothing where it does not apply (`relu`, with its one input, is burn's there): on a GPU, where only
//! burn's kernels reach the memory; in other formats than f32; while a network is recorded; and with `MLSYS_FUSED=0`. The
//! network then composes the same from burn's operations, and tests hold the two against each other.

mod attention;
mod convolution;
mod linear;
mod loss;
mod relu;
mod rows;
mod vector;

use std::cell::Cell;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::{
    BalancedCheckpointing, CheckpointStrategy, NoCheckpointing,
};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{
    Autodiff, Backend, BackendTensor, DispatchKindConversion, DispatchTensor, Flex, TensorMetadata,
};
use burn::tensor::{DType, Int, Shape, Tensor, TensorData, activation};
use macerator::{AutoArch, Simd, WithSimd};

/// x / sqrt(mean(x²) + epsilon) * scale for each row, `[rows, width]` to the same; `scale` is `[width]`.
pub fn rms_norm(x: &Tensor<2>, scale: &Tensor<1>, epsilon: f64) -> Option<Tensor<2>> {
    let norm = rows::RmsNorm { epsilon: epsilon as f32 };
    apply(norm, [x.clone().into_dispatch(), scale.clone().into_dispatch()], x.shape())
}

/// silu(gate) * up, in which silu(g) = g / (1 + e⁻ᵍ); all of one shape.
pub fn gated(gate: &Tensor<2>, up: &Tensor<2>) -> Option<Tensor<2>> {
    apply(rows::Gate, [gate.clone().into_dispatch(), up.clone().into_dispatch()], gate.shape())
}

/// A convolution `[batch, inputs, height, width]` to `[batch, outputs, ⌈height / stride⌉, ⌈width / stride⌉]`, with a margin
/// of zeros; weights are `[outputs, inputs, window height, window width]`, both odd.
pub fn convolution(
    x: &Tensor<4>,
    weight: &Tensor<4>,
    bias: &Tensor<1>,
    stride: usize,
) -> Option<Tensor<4>> {
    let convolution = convolution::Convolution::new(x.dims(), weight.dims(), stride)?;
    let ([batch, ..], [outputs, ..]) = (x.dims(), weight.dims());
    let [height, width] = convolution.size();
    if bias.dims() != [outputs] {
        return None;
    }
    let inputs =
        [x.clone().into_dispatch(), weight.clone().into_dispatch(), bias.clone().into_dispatch()];
    apply(convolution, inputs, Shape::new([batch, outputs, height, width]))
}

/// max(0, x): burn's where it does not apply, or is computed again in the backward pass.
pub fn relu<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    if !is_on() {
        return activation::relu(x);
    }
    let input = [x.into_dispatch()];
    // The copies that the conversion takes are gone before the numbers are written over.
    if let Some([x]) = primitives::<Flex, 1>(&input) {
        drop(input);
        return Tensor::from_primitive::<Flex>(relu::forward(x));
    }
    if let Some([x]) = primitives::<Autodiff<Flex>, 1>(&input) {
        drop(input);
        return Tensor::from_primitive::<Autodiff<Flex>>(relu::recorded(x));
    }
    let [x] = input;
    activation::relu(Tensor::from_dispatch(x))
}

/// x W + b for small layers and for batches of few rows, `[batch, inputs]` to `[batch, outputs]`.
pub fn linear(x: &Tensor<2>, weight: &Tensor<2>, bias: &Tensor<1>) -> Option<Tensor<2>> {
    let [rows, inputs] = x.dims();
    let [_, outputs] = weight.dims();
    let sizes = [rows, inputs, outputs];
    let fits = weight.dims()[0] == inputs && bias.dims() == [outputs];
    if !fits || !is_on() {
        return None;
    }
    let tensors =
        [x.clone().into_dispatch(), weight.clone().into_dispatch(), bias.clone().into_dispatch()];
    if linear::is_small(sizes) {
        return apply(linear::Small { inputs, outputs }, tensors, Shape::new([rows, outputs]));
    }
    if !linear::is_worth_it(sizes) {
        return None;
    }
    if let Some(inputs) = primitives::<Autodiff<Flex>, 3>(&tensors) {
        let result = linear::recorded::<NoCheckpointing>(inputs);
        return Some(Tensor::from_primitive::<Autodiff<Flex>>(result));
    }
    let inputs = primitives::<Autodiff<Flex, BalancedCheckpointing>, 3>(&tensors)?;
    let result = linear::recorded::<BalancedCheckpointing>(inputs);
    Some(Tensor::from_primitive::<Autodiff<Flex, BalancedCheckpointing>>(result))
}

/// Mean cross-entropy `[1]` of logits `[rows, classes]` and the right classes `[rows]`.
pub fn cross_entropy(logits: &Tensor<2>, labels: &Tensor<1, Int>) -> Option<Tensor<1>> {
    let logits = applicable(logits)?;
    let labels = labels.clone().into_data().convert::<i32>();
    let [rows, classes] = logits.dims();
    let labels: Option<Arc<[usize]>> = labels
        .as_slice::<i32>()
        .ok()?
        .iter()
        .map(|&label| usize::try_from(label).ok().filter(|&label| label < classes))
        .collect();
    let labels = labels.filter(|labels| labels.len() == rows)?;
    let loss = loss::CrossEntropy { labels, classes };
    apply(loss, [logits.clone().into_dispatch()], Shape::new([1]))
}

/// How many heads, and of what size: query head i looks through key/value head i / (heads / kv_heads).
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    pub heads: usize,
    pub kv_heads: usize,
    pub head: usize,
}

/// Attention in which tokens look at no token ahead, with queries and keys turned by their positions.
///
/// Queries are `[batch * time, heads * head]`, keys and values `[batch * time, kv_heads * head]`, and so is the result
/// like the queries. `turns` holds the cosine and the signed sine of each number of a head: `[.., time, .., head]`.
pub fn causal_attention(
    [q, k, v]: [&Tensor<2>; 3],
    heads: Heads,
    turns: [&Tensor<5>; 2],
) -> Option<Tensor<2>> {
    let q = applicable(q)?;
    let turns = turns.map(|turn| {
        let numbers = turn.clone().into_data().convert::<f32>();
        numbers.as_slice::<f32>().map(Arc::from).ok()
    });
    let [Some(cosine), Some(sine)] = turns else { return None };
    let attention = attention::Attention::new(heads, cosine, sine)?;
    let rows = q.dims()[0];
    let [wide, narrow] = [heads.heads, heads.kv_heads].map(|count| [rows, count * heads.head]);
    if [q.dims(), k.dims(), v.dims()] != [wide, narrow, narrow] || !attention.divides(rows) {
        return None;
    }
    let inputs = [q, k, v].map(|tensor| tensor.clone().into_dispatch());
    apply(attention, inputs, q.shape())
}

thread_local! {
    static COMPOSED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` with burn's operations only, for a comparison.
pub fn composed<R>(work: impl FnOnce() -> R) -> R {
    let before = COMPOSED.replace(true);
    let result = work();
    COMPOSED.set(before);
    result
}

/// The same work for another thread, which computes there as this thread does.
pub fn inherited<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let is_composed = COMPOSED.get();
    move || if is_composed { composed(work) } else { work() }
}

fn is_on() -> bool {
    static ON: LazyLock<bool> =
        LazyLock::new(|| std::env::var("MLSYS_FUSED").map_or(true, |value| value != "0"));
    *ON && !COMPOSED.get()
}

/// The tensor, if it is one that operations here work on: asked before its other arguments are made ready.
fn applicable<const D: usize>(x: &Tensor<D>) -> Option<&Tensor<D>> {
    let tensor = [x.clone().into_dispatch()];
    let known = primitives::<Flex, 1>(&tensor).is_some()
        || primitives::<Autodiff<Flex>, 1>(&tensor).is_some()
        || primitives::<Autodiff<Flex, BalancedCheckpointing>, 1>(&tensor).is_some();
    (is_on() && known).then_some(x)
}

/// A function of rows of numbers with its derivative.
trait Operation<const N: usize>: Clone + Debug + Send + 'static {
    /// The result, and what the way back needs besides the inputs.
    fn forward<S: Simd>(&self, inputs: [&[f32]; N]) -> Forward;

    /// The gradient by every input from that by the result; it may be empty where it is not wanted.
    fn backward<S: Simd>(
        &self,
        inputs: [&[f32]; N],
        kept: &[f32],
        slope: &[f32],
        wanted: [bool; N],
    ) -> [Vec<f32>; N];
}

struct Forward {
    result: Vec<f32>,
    kept: Vec<f32>,
}

// Each pass is compiled for every kind of processor; the one at hand is found when the program runs.

struct Forth<'a, O, const N: usize>(&'a O, [&'a [f32]; N]);

impl<O: Operation<N>, const N: usize> WithSimd for Forth<'_, O, N> {
    type Output = Forward;

    #[inline(always)]
    fn with_simd<S: Simd>(self) -> Forward {
        self.0.forward::<S>(self.1)
    }
}

struct Back<'a, O, const N: usize> {
    operation: &'a O,
    inputs: [&'a [f32]; N],
    kept: &'a [f32],
    slope: &'a [f32],
    wanted: [bool; N],
}

impl<O: Operation<N>, const N: usize> WithSimd for Back<'_, O, N> {
    type Output = [Vec<f32>; N];

    #[inline(always)]
    fn with_simd<S: Simd>(self) -> [Vec<f32>; N] {
        let Self { operation, inputs, kept, slope, wanted } = self;
        operation.backward::<S>(inputs, kept, slope, wanted)
    }
}

/// Computes where the inputs are, and puts the way back on the tape where they are recorded.
fn apply<const N: usize, const D: usize>(
    operation: impl Operation<N>,
    inputs: [DispatchTensor; N],
    shape: Shape,
) -> Option<Tensor<D>> {
    if !is_on() {
        return None;
    }
    if let Some(inputs) = primitives::<Flex, N>(&inputs) {
        let inputs = contiguous(inputs);
        let pass = Forth(&operation, inputs.each_ref().map(numbers));
        let Forward { result, .. } = AutoArch::new().dispatch(pass);
        return Some(Tensor::from_primitive::<Flex>(tensor(result, shape)));
    }
    if let Some(inputs) = primitives::<Autodiff<Flex>, N>(&inputs) {
        let result = recorded::<NoCheckpointing, N>(operation, inputs, shape);
        return Some(Tensor::from_primitive::<Autodiff<Flex>>(result));
    }
    let inputs = primitives::<Autodiff<Flex, BalancedCheckpointing>, N>(&inputs)?;
    let result = recorded::<BalancedCheckpointing, N>(operation, inputs, shape);
    Some(Tensor::from_primitive::<Autodiff<Flex, BalancedCheckpointing>>(result))
}

/// The result with the way back on the tape. Inputs are kept, or computed again, as those of a matrix product are.
fn recorded<C: CheckpointStrategy, const N: usize>(
    operation: impl Operation<N>,
    inputs: [FloatTensor<Autodiff<Flex>>; N],
    shape: Shape,
) -> FloatTensor<Autodiff<Flex>> {
    let nodes = inputs.each_ref().map(|input| input.node());
    let step = Recorded(PhantomData).prepare::<C>(nodes).compute_bound().stateful();
    let numbers_of = contiguous(inputs.each_ref().map(|input| input.primitive().clone()));
    let pass = Forth(&operation, numbers_of.each_ref().map(numbers));
    let Forward { result, kept } = AutoArch::new().dispatch(pass);
    let result = tensor(result, shape);
    match step {
        OpsKind::Tracked(mut tape) => {
            let inputs = inputs.each_ref().map(|input| tape.checkpoint(input));
            tape.finish(Saved { operation, inputs, kept: kept.into() }, result)
        }
        OpsKind::UnTracked(tape) => tape.finish(result),
    }
}

/// The way back of an operation.
#[derive(Debug)]
struct Recorded<O>(PhantomData<O>);

impl<O: Operation<N>, const N: usize> Backward<Flex, N> for Recorded<O> {
    type State = Saved<O, N>;

    fn backward(
        self,
        ops: Ops<Self::State, N>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let Saved { operation, inputs, kept } = ops.state;
        let inputs = inputs.map(|id| checkpointer.retrieve_node_output::<FlexTensor>(id));
        let inputs = contiguous(inputs);
        let [slope] = contiguous([grads.consume::<Flex>(&ops.node)]);
        let back = Back {
            operation: &operation,
            inputs: inputs.each_ref().map(numbers),
            kept: &kept,
            slope: numbers(&slope),
            wanted: ops.parents.each_ref().map(Option::is_some),
        };
        let gradients = AutoArch::new().dispatch(back);
        for ((parent, gradient), input) in ops.parents.into_iter().zip(gradients).zip(inputs) {
            if let Some(parent) = parent {
                grads.register::<Flex>(parent.id, tensor(gradient, input.shape()));
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Saved<O, const N: usize> {
    operation: O,
    inputs: [NodeId; N],
    kept: Arc<[f32]>,
}

// Tensors as slices, and back.

/// The tensors of a back end, if they are all its own and of f32.
fn primitives<B: Backend, const N: usize>(
    tensors: &[DispatchTensor; N],
) -> Option<[B::FloatTensorPrimitive; N]>
where
    DispatchTensor: DispatchKindConversion<B>,
{
    let primitives = tensors.iter().map(|tensor| {
        // A conversion that fails writes a sentence, which takes longer than many an operation.
        if is_recorded(tensor) != B::ad_enabled(&B::Device::default())
            || tensor.dtype() != DType::F32
        {
            return None;
        }
        match DispatchTensor::try_into_backend(tensor.clone()) {
            Ok(BackendTensor::Float(primitive)) => Some(primitive),
            _ => None,
        }
    });
    primitives.collect::<Option<Vec<_>>>()?.try_into().ok()
}

fn is_recorded(tensor: &DispatchTensor) -> bool {
    tensor.autodiff != Default::default()
}

fn contiguous<const N: usize>(tensors: [FlexTensor; N]) -> [FlexTensor; N] {
    tensors.map(|tensor| tensor.to_contiguous())
}

/// The numbers of a contiguous tensor.
fn numbers(tensor: &FlexTensor) -> &[f32] {
    let start = tensor.layout().start_offset();
    &tensor.storage::<f32>()[start..start + tensor.layout().num_elements()]
}

/// The same to be written to; numbers that others see are copied first.
fn numbers_mut(tensor: &mut FlexTensor) -> &mut [f32] {
    let (start, count) = (tensor.layout().start_offset(), tensor.layout().num_elements());
    &mut tensor.storage_mut::<f32>()[start..start + count]
}

fn tensor(numbers: Vec<f32>, shape: Shape) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(numbers, shape))
}
