//! A network without the units that were removed: really smaller, not only with zeros.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::nets::{Cnn, Mlp, Network};

/// The network with only those hidden units that stay. A perceptron or a convolutional network; others are as they were.
pub(super) fn narrowed(network: &Network, units: &[Vec<bool>]) -> Network {
    let places = |units: &Vec<bool>| -> Vec<i64> {
        let places = units.iter().enumerate().filter(|(_, stays)| **stays);
        places.map(|(place, _)| place as i64).collect()
    };
    let units: Vec<Vec<i64>> = units.iter().map(places).collect();
    match network {
        Network::Mlp(mlp) => Network::Mlp(perceptron(mlp, &units)),
        Network::Cnn(cnn) => Network::Cnn(convolutional(cnn, &units)),
        Network::Transformer(_) => network.clone(),
    }
}

fn perceptron(mlp: &Mlp, units: &[Vec<i64>]) -> Mlp {
    let layers = mlp.layers.iter().enumerate().map(|(index, layer)| {
        let before = index.checked_sub(1).and_then(|before| units.get(before));
        linear(
            layer,
            before.map(Vec::as_slice),
            units.get(index).map(Vec::as_slice),
        )
    });
    Mlp {
        layers: layers.collect(),
    }
}

fn convolutional(cnn: &Cnn, units: &[Vec<i64>]) -> Cnn {
    let mut narrow = cnn.clone();
    let channels = cnn
        .convolutions
        .last()
        .map_or(1, |last| last.bias.dims()[0]);
    for (index, convolution) in narrow.convolutions.iter_mut().enumerate() {
        let mut weight = convolution.weight.val().detach();
        if let Some(before) = index.checked_sub(1).and_then(|before| units.get(before)) {
            weight = weight.clone().select(1, places(before, &weight.device()));
        }
        if let Some(own) = units.get(index) {
            let bias = convolution.bias.val().detach();
            let own = places(own, &weight.device());
            weight = weight.select(0, own.clone());
            convolution.bias = Param::from_tensor(bias.select(0, own));
        }
        convolution.weight = Param::from_tensor(weight);
    }
    // A channel comes into the last layer as an image, pixel after pixel.
    let pixels = (cnn.head.weight.dims()[0] / channels.max(1)) as i64;
    let inputs = units.last().map(|channels| -> Vec<i64> {
        let of = |channel: &i64| (channel * pixels)..((channel + 1) * pixels);
        channels.iter().flat_map(of).collect()
    });
    narrow.head = linear(&cnn.head, inputs.as_deref(), None);
    narrow
}

/// The inputs and outputs of a layer that stay, if not all do.
fn linear(layer: &Linear, inputs: Option<&[i64]>, outputs: Option<&[i64]>) -> Linear {
    let mut weight = layer.weight.val().detach(); // [inputs, outputs]
    let mut bias = layer.bias.as_ref().map(|bias| bias.val().detach());
    let device = weight.device();
    if let Some(inputs) = inputs {
        weight = weight.select(0, places(inputs, &device));
    }
    if let Some(outputs) = outputs {
        let outputs = places(outputs, &device);
        weight = weight.select(1, outputs.clone());
        bias = bias.map(|bias| bias.select(0, outputs));
    }
    Linear {
        weight: Param::from_tensor(weight),
        bias: bias.map(Param::from_tensor),
    }
}

fn places(places: &[i64], device: &Device) -> Tensor<1, Int> {
    Tensor::from_data(TensorData::new(places.to_vec(), [places.len()]), device)
}
