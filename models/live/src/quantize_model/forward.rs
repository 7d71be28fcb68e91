//! Forward passes that observe or change each layer's input.

use burn::nn::Linear;
use burn::tensor::{Tensor, activation};
use mlsys_nn::networks::{Activation, Inputs, Mlp, Network, Transformer};

const OF_A_BLOCK: usize = 7;

/// Given a layer's place, from 0, and its input, a row an example or a token; returns the input to use instead.
type LayerInput<'a> = &'a mut dyn FnMut(usize, Tensor<2>) -> Tensor<2>;

/// The scores of every class, one row an answer. `at` is called once for layers that share an input, by the first of them;
/// tokens that enter an embedding are not numbers, and are not observed.
pub(super) fn forward(
    network: &Network,
    inputs: Inputs,
    activation: Activation,
    at: LayerInput<'_>,
) -> Tensor<2> {
    match network {
        Network::Mlp(mlp) => perceptron(mlp, inputs.numbers(), activation, at),
        Network::Cnn(cnn) => {
            let each = |index: usize, x| cnn.convolutions[index].forward(x);
            let count = cnn.convolutions.len();
            convolutional(inputs.numbers(), count, each, &cnn.head, activation, at)
        }
        Network::Filters(net) => {
            let each = |index: usize, x| net.filters[index].forward(x);
            let count = net.filters.len();
            convolutional(inputs.numbers(), count, each, &net.head, activation, at)
        }
        Network::Transformer(transformer) => decoder(transformer, inputs, at),
    }
}

/// `[batch, inputs]` to logits `[batch, outputs]`.
fn perceptron(mlp: &Mlp, x: Tensor<2>, activation: Activation, at: LayerInput<'_>) -> Tensor<2> {
    let mut x = x; // [batch, inputs]
    for (index, own) in mlp.layers.iter().enumerate() {
        if index > 0 {
            x = activation.apply(x); // the same shape
        }
        x = layer(own, at(index, x)); // [batch, neurons of the layer]
    }
    x // [batch, outputs]
}

/// `[rows, inputs]` to `[rows, outputs]`. burn's own way reshapes the weights, and quantized weights that have a scale a
/// block it then rounds anew, to other scales; a plain product leaves them as they are.
fn layer(own: &Linear, x: Tensor<2>) -> Tensor<2> {
    let product = x.matmul(own.weight.val());
    match &own.bias {
        Some(bias) => product + bias.val().unsqueeze(),
        None => product,
    }
}

/// Square images `[batch, edge * edge]` through convolutions and a last layer to logits `[batch, outputs]`.
fn convolutional(
    x: Tensor<2>,
    count: usize,
    each: impl Fn(usize, Tensor<4>) -> Tensor<4>,
    head: &Linear,
    activation: Activation,
    at: LayerInput<'_>,
) -> Tensor<2> {
    let [batch, pixels] = x.dims();
    let edge = pixels.isqrt();
    let mut x = x.reshape([batch, 1, edge, edge]); // [batch, channels, edge, edge]
    for index in 0..count {
        let shape = x.dims();
        x = at(index, x.flatten(1, 3)).reshape(shape);
        x = activation.apply(each(index, x));
    }
    layer(head, at(count, x.flatten(1, 3)))
}

/// Tokens `[batch, time]` to scores `[batch * time, vocab]`.
fn decoder(transformer: &Transformer, inputs: Inputs, at: LayerInput<'_>) -> Tensor<2> {
    let tokens = inputs.tokens();
    let [batch, _] = tokens.dims();
    let x = transformer.embed(tokens); // [batch, time, width]
    let places = transformer.positions(&x);
    let mut x = x.flatten::<2>(0, 1); // [rows, width]
    for (index, block) in transformer.blocks.iter().enumerate() {
        let first = 1 + OF_A_BLOCK * index;
        let attention = &block.attention;
        let normal = at(first, block.attention_norm.forward(x.clone()));
        let [q, k, v] = attention.project(normal, batch, &places);
        let found = attention.blend(attention.weigh(q, k, &places), v); // [batch, heads, time, head]
        let [batch, heads, time, head] = found.dims();
        // Rounding does not look at places, so that the order of the numbers does not matter.
        let found = at(first + 3, found.reshape([batch * time, heads * head]));
        x = x + attention.join(found.reshape([batch, heads, time, head]));
        let normal = at(first + 4, block.mlp_norm.forward(x.clone()));
        let gate = activation::silu(normal.clone().matmul(block.mlp.gate.val())); // [rows, ffn]
        let gated = at(first + 6, gate * normal.matmul(block.mlp.up.val()));
        x = x + gated.matmul(block.mlp.down.val()); // [rows, width]
    }
    let last = 1 + OF_A_BLOCK * transformer.blocks.len();
    let normal = at(last, transformer.norm.forward(x));
    normal.matmul(transformer.head.val()) // [rows, vocab]
}
