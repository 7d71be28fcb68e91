//! A network without the units that were removed: really smaller, not only with zeros.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Int, Tensor, TensorData};

use mlsys_nn::nets::{Attention, Cnn, Mlp, Network, SwiGlu, Transformer};

/// The network with only those hidden units and heads that stay, on a device that may be one with autodiff. A chain of
/// filters is as it was.
pub(super) fn narrowed(network: &Network, units: &[Vec<bool>], device: &Device) -> Network {
    let places = |units: &Vec<bool>| -> Vec<i64> {
        let places = units.iter().enumerate().filter(|(_, stays)| **stays);
        places.map(|(place, _)| place as i64).collect()
    };
    let cut = Scissors { units: units.iter().map(places).collect(), device };
    match network {
        Network::Mlp(mlp) => Network::Mlp(cut.perceptron(mlp)),
        Network::Cnn(cnn) => Network::Cnn(cut.convolutional(cnn)),
        Network::Transformer(transformer) => Network::Transformer(cut.decoder(transformer)),
        Network::Filters(_) => network.clone(),
    }
}

struct Scissors<'a> {
    /// Of each part the places of units that stay.
    units: Vec<Vec<i64>>,
    /// Where the narrow network goes.
    device: &'a Device,
}

impl Scissors<'_> {
    /// The units of the layer before that stay.
    fn before(&self, layer: usize) -> Option<&[i64]> {
        let before = layer.checked_sub(1)?;
        self.own(before)
    }

    /// The units of a layer that stay; all outputs of the network do.
    fn own(&self, layer: usize) -> Option<&[i64]> {
        self.units.get(layer).map(Vec::as_slice)
    }

    fn perceptron(&self, mlp: &Mlp) -> Mlp {
        let layers = mlp.layers.iter().enumerate();
        let layers =
            layers.map(|(index, layer)| self.linear(layer, self.before(index), self.own(index)));
        Mlp { layers: layers.collect() }
    }

    fn convolutional(&self, cnn: &Cnn) -> Cnn {
        let mut narrow = cnn.clone();
        for (index, convolution) in narrow.convolutions.iter_mut().enumerate() {
            let weight = convolution.weight.val(); // [channels out, channels in, 3, 3]
            let weight = selected(weight, 1, self.before(index));
            let weight = selected(weight, 0, self.own(index));
            convolution.weight = self.parameter(weight);
            let bias = convolution.bias.val();
            convolution.bias = self.parameter(selected(bias, 0, self.own(index)));
        }
        // A channel comes into the last layer as an image, pixel after pixel.
        let last = cnn.convolutions.last();
        let channels = last.map_or(1, |last| last.bias.dims()[0]);
        let pixels = (cnn.head.weight.dims()[0] / channels.max(1)) as i64;
        let inputs = self.before(cnn.convolutions.len()).map(|channels| {
            let of = |channel: &i64| (channel * pixels)..((channel + 1) * pixels);
            channels.iter().flat_map(of).collect::<Vec<i64>>()
        });
        narrow.head = self.linear(&cnn.head, inputs.as_deref(), None);
        narrow
    }

    /// Of each block the heads come first and then the gated units, as in [`Body`](super::parts::Body).
    fn decoder(&self, whole: &Transformer) -> Transformer {
        let mut narrow = whole.clone();
        for (index, block) in narrow.blocks.iter_mut().enumerate() {
            if let Some(heads) = self.own(2 * index) {
                block.attention = self.attention(&block.attention, heads);
            }
            let (units, mlp) = (self.own(2 * index + 1), &block.mlp);
            block.mlp = SwiGlu {
                gate: self.parameter(selected(mlp.gate.val(), 1, units)),
                up: self.parameter(selected(mlp.up.val(), 1, units)),
                down: self.parameter(selected(mlp.down.val(), 0, units)),
            };
        }
        narrow
    }

    /// Fewer key/value heads, each as wide as before and with all its query heads.
    fn attention(&self, whole: &Attention, stay: &[i64]) -> Attention {
        let of = |columns: usize| {
            let each = (columns / whole.kv_heads.max(1)) as i64;
            let columns = stay.iter().flat_map(|head| head * each..(head + 1) * each);
            columns.collect::<Vec<i64>>()
        };
        let queries = of(whole.query.dims()[1]);
        let keys = of(whole.key.dims()[1]);
        let columns = |tensor, places: &[i64]| self.parameter(selected(tensor, 1, Some(places)));
        Attention {
            query: columns(whole.query.val(), &queries),
            key: columns(whole.key.val(), &keys),
            value: columns(whole.value.val(), &keys),
            output: self.parameter(selected(whole.output.val(), 0, Some(&queries))),
            heads: whole.heads / whole.kv_heads.max(1) * stay.len(),
            kv_heads: stay.len(),
        }
    }

    fn linear(&self, layer: &Linear, inputs: Option<&[i64]>, outputs: Option<&[i64]>) -> Linear {
        let weight = selected(layer.weight.val(), 0, inputs); // [inputs, outputs]
        let bias = layer.bias.as_ref().map(|bias| bias.val());
        Linear {
            weight: self.parameter(selected(weight, 1, outputs)),
            bias: bias.map(|bias| self.parameter(selected(bias, 0, outputs))),
        }
    }

    /// A leaf of its own: what was selected would still hang on what it was selected from.
    fn parameter<const D: usize>(&self, tensor: Tensor<D>) -> Param<Tensor<D>> {
        Param::from_data(tensor.into_data(), self.device)
    }
}

/// Some places along a dimension, or all of it.
fn selected<const D: usize>(tensor: Tensor<D>, along: usize, places: Option<&[i64]>) -> Tensor<D> {
    let tensor = tensor.without_autodiff();
    let Some(places) = places else {
        return tensor;
    };
    let data = TensorData::new(places.to_vec(), [places.len()]);
    let places = Tensor::<1, Int>::from_data(data, &tensor.device());
    tensor.select(along, places)
}
