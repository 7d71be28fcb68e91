//! Forward to the loss and back to the gradients: of a batch as a whole, or in two halves for two processor cores.
//!
//! Each half has a graph of its own over the same weights, and the gradients are added once a step. Only sizes decide which
//! batches are halved, and the halves are added in their order: a seed gives the same bits on any number of cores. One core
//! computes them one after the other, which costs more than the whole: an eighth of a step of the tiny llama.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor};

use crate::networks::{Activation, Architecture, CheckpointedPass, Inputs, Network, cross_entropy};
use crate::train::Activations;

/// Numbers that a batch keeps for the backward pass, from which on a core has enough to do with half of them.
const LEAST_KEPT: u64 = 1 << 17;

/// The same for each weight: every weight's gradients are added, however small the batch.
const LEAST_KEPT_EACH: u64 = 8;

/// Operations of a forward pass, from which on burn divides some of its products among cores.
const LARGE: u64 = 1 << 25;

/// What processor cores do of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    /// One does all of it.
    Nothing,
    /// One does all but large products.
    Products,
    /// Two have half of the batch each.
    Halves,
}

impl Spread {
    pub(super) fn of(architecture: &Architecture, activation: Activation, batch: u64) -> Self {
        let kept = architecture.kept_numbers(activation, batch);
        let weights = architecture.parameters();
        if batch > 1 && kept >= LEAST_KEPT.max(LEAST_KEPT_EACH.saturating_mul(weights)) {
            Self::Halves
        } else if architecture.forward_flops(batch) >= LARGE {
            Self::Products
        } else {
            Self::Nothing
        }
    }
}

/// Does work on a thread of the pool that cores are divided by, from which handing a part on costs least. In a pool of one
/// thread there is no other to hand it to.
pub(super) fn pooled<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match rayon::current_num_threads() {
        1 => work(),
        _ => rayon::scope(|_| work()),
    }
}

type Batch = (Inputs, Tensor<1, Int>);

/// A forward pass that the backward pass has not followed yet.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, for part of a step")]
pub(super) enum Pass {
    Whole(Graph),
    Halves([(Network, Graph); 2]),
}

impl Pass {
    pub(super) fn whole(
        network: &Network,
        batch: Batch,
        activation: Activation,
        kept: Activations,
    ) -> Self {
        Self::Whole(Graph::forward(network, batch, activation, kept))
    }

    /// Of a batch of two examples or more.
    pub(super) fn halves(
        network: &Network,
        batch: Batch,
        activation: Activation,
        kept: Activations,
        device: &Device,
    ) -> Self {
        let [first, second] = cut(batch);
        let forward = |network: Network, (batch, share): (Batch, f64)| {
            let Graph { loss, blocks } = Graph::forward(&network, batch, activation, kept);
            (network, Graph { loss: loss.mul_scalar(share), blocks })
        };
        let (own, copy) = (network.clone(), network.clone().fork(device));
        let (first, second) = rayon::join(|| forward(own, first), || forward(copy, second));
        Self::Halves([first, second])
    }

    /// The mean over the whole batch, `[1]`.
    pub(super) fn loss(&self) -> Tensor<1> {
        let loss = |graph: &Graph| graph.loss.clone().without_autodiff();
        match self {
            Self::Whole(graph) => loss(graph),
            Self::Halves([(_, first), (_, second)]) => loss(first) + loss(second),
        }
    }

    /// The gradients of the loss by the parameters of the network that made it; `look` is called while a block of a whole
    /// batch is at work that has run again.
    pub(super) fn backward(self, network: &Network, look: impl FnMut()) -> GradientsParams {
        match self {
            Self::Whole(graph) => graph.backward(network, look),
            Self::Halves([first, second]) => {
                let backward = |(network, graph): (Network, Graph)| graph.backward(&network, || ());
                let (first, second) = rayon::join(|| backward(first), || backward(second));
                let mut sum = Sum { first, second, sum: GradientsParams::new() };
                network.visit(&mut sum);
                sum.sum
            }
        }
    }
}

pub(super) struct Graph {
    /// `[1]`.
    loss: Tensor<1>,
    /// What blocks left that kept nothing but their inputs; else burn has recorded everything.
    blocks: Option<CheckpointedPass>,
}

impl Graph {
    fn forward(
        network: &Network,
        (inputs, labels): Batch,
        activation: Activation,
        kept: Activations,
    ) -> Self {
        match (network, inputs, kept) {
            (Network::Transformer(transformer), Inputs::Tokens(tokens), Activations::OfBlocks) => {
                let (loss, blocks) = transformer.forward_checkpointed(tokens, labels);
                Self { loss, blocks: Some(blocks) }
            }
            (_, inputs, _) => {
                let loss = cross_entropy(network.forward(inputs, activation), labels);
                Self { loss, blocks: None }
            }
        }
    }

    fn backward(self, network: &Network, look: impl FnMut()) -> GradientsParams {
        match (self.blocks, network) {
            (Some(blocks), Network::Transformer(transformer)) => {
                blocks.backward(self.loss, transformer, look)
            }
            _ => GradientsParams::from_grads(self.loss.backward(), network),
        }
    }
}

/// Inputs `[batch, ..]` with as many labels each, in two parts with their shares of the batch.
fn cut((inputs, labels): Batch) -> [(Batch, f64); 2] {
    let batch = match &inputs {
        Inputs::Numbers(numbers) => numbers.dims()[0],
        Inputs::Tokens(tokens) => tokens.dims()[0],
    };
    let each = labels.dims()[0] / batch;
    let middle = batch.div_ceil(2);
    [(0, middle), (middle, batch - middle)].map(|(begin, count)| {
        let inputs = match &inputs {
            Inputs::Numbers(numbers) => numbers.clone().narrow(0, begin, count).into(),
            Inputs::Tokens(tokens) => tokens.clone().narrow(0, begin, count).into(),
        };
        let labels = labels.clone().narrow(0, begin * each, count * each);
        ((inputs, labels), count as f64 / batch as f64)
    })
}

struct Sum {
    first: GradientsParams,
    second: GradientsParams,
    sum: GradientsParams,
}

impl ModuleVisitor for Sum {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let (first, second) = (self.first.remove::<D>(param.id), self.second.remove::<D>(param.id));
        let sum = match (first, second) {
            (Some(first), Some(second)) => Some(first + second),
            (first, second) => first.or(second),
        };
        if let Some(sum) = sum {
            self.sum.register(param.id, sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat_params;
    use crate::networks::{
        CnnConfig, Initialization, MlpConfig, TransformerConfig, Variant, max_error,
    };
    use burn::tensor::TensorData;

    /// Networks with batches of odd sizes.
    fn cases() -> [(Network, Inputs, Tensor<1, Int>, Device); 2] {
        let device = Device::flex().autodiff();
        let init = |all: Architecture| all.init(Initialization::He, 5, &device);
        let (batch, time) = (7, 31);
        let sizes = TransformerConfig {
            vocab: 13,
            width: 64,
            depth: 2,
            heads: 4,
            kv_heads: 2,
            ffn: 176,
            context: time,
            variant: Variant::default(),
        };
        let llama = init(Architecture::Transformer(sizes));
        let whole = |count: usize, below: usize| -> Vec<i32> {
            (0..count).map(|i| (i * 7919 % 101 % below) as i32).collect()
        };
        let tokens = TensorData::new(whole(batch * time, 13), [batch, time]);
        let tokens = Tensor::<2, Int>::from_data(tokens, &device).into();
        let next = Tensor::from_data(TensorData::new(whole(batch * time, 11), [217]), &device);
        let cnn = init(Architecture::Cnn(CnnConfig { edge: 28, width: 8, depth: 2, outputs: 10 }));
        let pixels: Vec<f32> = whole(9 * 784, 100).into_iter().map(|x| x as f32 / 50.0).collect();
        let pixels = Tensor::<2>::from_data(TensorData::new(pixels, [9, 784]), &device).into();
        let digits = Tensor::from_data(TensorData::new(whole(9, 10), [9]), &device);
        [(llama, tokens, next, device.clone()), (cnn, pixels, digits, device)]
    }

    #[test]
    fn halves_have_the_gradients_of_the_whole() {
        for (network, inputs, labels, device) in cases() {
            let numbers = |loss: Tensor<1>, mut gradients: GradientsParams| {
                let rows = flat_params::gradient_rows(&network, &mut gradients);
                [loss].into_iter().chain(rows).map(flat_params::values)
            };
            let (relu, batch) = (Activation::Relu, (inputs, labels));
            for kept in [Activations::Kept, Activations::OfBlocks] {
                let whole = Pass::whole(&network, batch.clone(), relu, kept);
                let halves = Pass::halves(&network, batch.clone(), relu, kept, &device);
                let [whole, halves] = [whole, halves]
                    .map(|pass| numbers(pass.loss(), pass.backward(&network, || ())));
                for (place, (halves, whole)) in halves.zip(whole).enumerate() {
                    let largest = whole.iter().fold(1e-30_f32, |most, x| most.max(x.abs()));
                    let errors = halves.iter().zip(&whole).map(|(a, b)| (a - b).abs() / largest);
                    let worst = errors.map(f64::from).fold(0.0, max_error);
                    assert_eq!(halves.len(), whole.len());
                    assert!(worst < 1e-5, "{kept:?} {place}: {worst:e}");
                }
            }
        }
    }

    #[test]
    fn one_core_and_two_compute_the_same_bits() {
        for (network, inputs, labels, device) in cases() {
            let [one, two] = [1, 2].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (network, batch) = (network.clone(), (inputs.clone(), labels.clone()));
                let device = device.clone();
                pool.install(move || {
                    let (relu, kept) = (Activation::Relu, Activations::Kept);
                    let halves = Pass::halves(&network, batch, relu, kept, &device);
                    let loss = flat_params::values(halves.loss());
                    let mut gradients = halves.backward(&network, || ());
                    (loss, flat_params::gradients(&network, &mut gradients).unwrap())
                })
            });
            assert!(one.1.iter().any(|slope| *slope != 0.0));
            assert_eq!(one, two);
        }
    }

    #[test]
    fn sizes_alone_decide_what_is_spread() {
        let mlp = |hidden: &[usize], inputs, outputs| {
            Architecture::Mlp(MlpConfig { inputs, hidden: hidden.to_vec(), outputs })
        };
        let llama = TransformerConfig {
            vocab: 52,
            width: 64,
            depth: 2,
            heads: 4,
            kv_heads: 2,
            ffn: 176,
            context: 64,
            variant: Variant::default(),
        };
        let cnn = CnnConfig { edge: 28, width: 8, depth: 2, outputs: 10 };
        for (architecture, batch, spread) in [
            (mlp(&[32, 32], 2, 2), 128, Spread::Nothing),
            (mlp(&[32], 784, 10), 64, Spread::Nothing),
            // Gradients of 670,000 weights would be added for each half.
            (mlp(&[512, 512], 784, 10), 64, Spread::Products),
            (Architecture::Cnn(cnn), 64, Spread::Halves),
            (Architecture::Transformer(llama.clone()), 16, Spread::Halves),
            (Architecture::Transformer(llama), 1, Spread::Nothing),
        ] {
            let found = Spread::of(&architecture, Activation::Relu, batch);
            assert_eq!(found, spread, "{architecture:?} {batch}");
        }
    }
}
