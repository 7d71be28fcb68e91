use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::Tensor;

use super::{Activation, Initial};

/// The sizes of a multi-layer perceptron.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlpConfig {
    /// Numbers per example.
    pub inputs: usize,
    /// Neurons of each hidden layer.
    pub hidden: Vec<usize>,
    /// Classes.
    pub outputs: usize,
}

/// A multi-layer perceptron: layers of neurons, each joined to all of the next, with an activation between.
#[derive(Module, Debug)]
pub struct Mlp {
    /// From the input on.
    pub layers: Vec<Linear>,
}

impl MlpConfig {
    /// Inputs and outputs of every layer, from the input on.
    pub fn layers(&self) -> Vec<[usize; 2]> {
        let sizes = [&[self.inputs], self.hidden.as_slice(), &[self.outputs]].concat();
        sizes.windows(2).map(|pair| [pair[0], pair[1]]).collect()
    }

    /// The network with its initial weights.
    pub fn init(&self, initial: &mut Initial<'_>) -> Mlp {
        let layers =
            self.layers().into_iter().map(|[inputs, outputs]| initial.linear(inputs, outputs));
        Mlp { layers: layers.collect() }
    }
}

impl Mlp {
    /// `[batch, inputs]` to logits `[batch, outputs]`.
    pub fn forward(&self, x: Tensor<2>, activation: Activation) -> Tensor<2> {
        let mut x = x; // [batch, inputs]
        for (index, layer) in self.layers.iter().enumerate() {
            if index > 0 {
                x = activation.apply(x); // the same shape
            }
            x = layer.forward(x); // [batch, neurons of the layer]
        }
        x // [batch, outputs]
    }
}
