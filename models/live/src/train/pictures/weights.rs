//! Weights as pictures, where they have the shape of one, else as a histogram.

use burn::tensor::Tensor;
use mlsys_lab::frame::{Frame, Histogram, Image, Images, Verdict};

use mlsys_nn::nets::Network;

/// Units shown.
const MOST_UNITS: usize = 32;
/// Ranges of the histogram.
const BINS: usize = 15;

pub(super) fn draw(network: &Network) -> Option<Frame> {
    match network {
        Network::Mlp(mlp) => {
            let first = mlp.layers.first()?.weight.val();
            let [inputs, units] = first.dims();
            let edge = inputs.isqrt();
            if edge * edge == inputs {
                // `[inputs, units]` to one row of inputs a unit.
                let rows: Vec<f32> = values(first.transpose());
                Some(units_as_images(&rows, edge, units))
            } else {
                let largest = mlp.layers.iter().map(|layer| layer.weight.val());
                histogram(values(largest.max_by_key(|weight| weight.shape().num_elements())?))
            }
        }
        Network::Cnn(cnn) => {
            let largest = cnn.convolutions.iter().map(|convolution| convolution.weight.val());
            match largest.max_by_key(|weight| weight.shape().num_elements()) {
                Some(weight) => histogram(values(weight)),
                None => histogram(values(cnn.head.weight.val())),
            }
        }
        Network::Filters(net) => {
            let largest = net.filters.iter().map(|filter| filter.weight.val());
            match largest.max_by_key(|weight| weight.shape().num_elements()) {
                Some(weight) => histogram(values(weight)),
                None => histogram(values(net.head.weight.val())),
            }
        }
        Network::Transformer(transformer) => {
            let gates = transformer.blocks.iter().map(|block| &block.mlp.gate);
            let largest = gates.chain([&transformer.embedding, &transformer.head]);
            histogram(values(
                largest.max_by_key(|weight| weight.val().shape().num_elements())?.val(),
            ))
        }
    }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// Each unit's weights on a scale of their own: black is the most negative, white the most positive, grey 0.
fn units_as_images(rows: &[f32], edge: usize, units: usize) -> Frame {
    let images =
        rows.chunks(edge * edge).take(units.min(MOST_UNITS)).enumerate().map(|(index, row)| {
            let largest = row.iter().fold(f32::MIN_POSITIVE, |most, weight| most.max(weight.abs()));
            // A weight that is not finite is cast to 0 or clamped, never an error.
            let grey = |weight: &f32| (127.5 + 127.5 * weight / largest).round() as u8;
            Image {
                pixels: row.iter().map(grey).collect(),
                label: format!("unit {}", index + 1),
                verdict: Verdict::Unjudged,
            }
        });
    Frame::Images(Images {
        width: edge,
        height: edge,
        images: images.collect(),
        blank: None,
        together: 1,
    })
}

/// The weights counted by value, zero in the middle; nothing if one is not finite.
fn histogram(weights: Vec<f32>) -> Option<Frame> {
    let reach = weights.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
    if weights.is_empty() || !weights.iter().all(|weight| weight.is_finite()) {
        return None;
    }
    // All weights zero fall into the middle bin.
    let reach = f64::from(reach.max(f32::MIN_POSITIVE));
    let values: Vec<f64> = weights.iter().map(|weight| f64::from(*weight)).collect();
    Some(Frame::Histogram(Histogram::between("weight", "", &values, (-reach, reach), BINS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(weights: &[f32]) -> Vec<f64> {
        match histogram(weights.to_vec()) {
            Some(Frame::Histogram(histogram)) => histogram.first.shares().collect(),
            other => panic!("no histogram: {other:?}"),
        }
    }

    #[test]
    fn a_histogram_holds_every_weight_once() {
        let halves = shares(&[-1.0, 1.0]);
        assert_eq!((halves[0], halves[BINS - 1]), (0.5, 0.5));
        assert_eq!(shares(&[0.0; 7])[BINS / 2], 1.0);
        assert!((shares(&[0.1, -0.3, 0.25, 0.7]).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(histogram(vec![f32::NAN]), None);
    }

    #[test]
    fn the_sign_of_a_weight_is_its_brightness() {
        let Frame::Images(images) = units_as_images(&[-2.0, 0.0, 2.0, 1.0], 2, 1) else {
            panic!("no images")
        };
        assert_eq!(images.images[0].pixels, [0, 128, 255, 191]);
    }
}
