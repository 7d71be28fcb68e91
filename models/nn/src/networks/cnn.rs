use crate::networks::filters::convolve;
use crate::networks::{Activation, FilterShape, Initializer, ReceptiveField, linear};
use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;
use mlsys_device::fused;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CnnConfig {
    pub edge: usize,
    pub width: usize,
    pub depth: usize,
    pub outputs: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvShape {
    pub channels_in: usize,
    pub channels_out: usize,
    /// How far the window moves: 2 halves the image.
    pub stride: usize,
    pub edge_in: usize,
    pub edge_out: usize,
}

const KERNEL: usize = 3;

/// Below this edge, convolutions no longer halve the image.
const SMALLEST_EDGE: usize = 7;

impl ConvShape {
    /// The same without its biases.
    pub(super) fn filter(&self) -> FilterShape {
        let Self { channels_in, channels_out, stride, .. } = *self;
        let (window, sight) = ([KERNEL; 2], ReceptiveField::All);
        FilterShape { channels_in, channels_out, window, stride, sight }
    }
}

/// A 3x3 convolution with a margin of one pixel.
#[derive(Module, Debug)]
pub struct Conv {
    /// `[channels out, channels in, 3, 3]`.
    pub weight: Param<Tensor<4>>,
    /// `[channels out]`.
    pub bias: Param<Tensor<1>>,
    stride: usize,
}

/// A convolutional network: 3x3 convolutions that halve the image and double the channels until it is 7 pixels
/// wide, then one layer of neurons over everything that is left.
#[derive(Module, Debug)]
pub struct Cnn {
    pub convolutions: Vec<Conv>,
    pub head: Linear,
    edge: usize,
}

impl CnnConfig {
    pub fn convolutions(&self) -> Vec<ConvShape> {
        let mut shapes: Vec<ConvShape> = Vec::with_capacity(self.depth);
        for index in 0..self.depth {
            let before = shapes.last().copied();
            let edge_in = before.map_or(self.edge, |shape| shape.edge_out);
            let channels_in = before.map_or(1, |shape| shape.channels_out);
            let stride = if edge_in > SMALLEST_EDGE { 2 } else { 1 };
            let channels_out = if index == 0 { self.width } else { channels_in * stride };
            let edge_out = edge_in.div_ceil(stride);
            shapes.push(ConvShape { channels_in, channels_out, stride, edge_in, edge_out });
        }
        shapes
    }

    pub fn flat(&self) -> usize {
        let shapes = self.convolutions();
        let last = shapes.last().map(|shape| shape.channels_out * shape.edge_out.pow(2));
        last.unwrap_or(self.edge.pow(2))
    }

    pub fn init(&self, initial: &mut Initializer<'_>) -> Cnn {
        let convolutions = self.convolutions().into_iter().map(|shape| Conv {
            weight: shape.filter().init(initial).weight,
            bias: initial.row(shape.channels_out, 0.0),
            stride: shape.stride,
        });
        let convolutions = convolutions.collect();
        Cnn { convolutions, head: initial.linear(self.flat(), self.outputs), edge: self.edge }
    }
}

impl Cnn {
    /// Images `[batch, edge * edge]`, row by row, to logits `[batch, outputs]`.
    pub fn forward(&self, x: Tensor<2>, activation: Activation) -> Tensor<2> {
        let [batch, _] = x.dims();
        let mut x = x.reshape([batch, 1, self.edge, self.edge]); // [batch, 1, 28, 28]
        for convolution in &self.convolutions {
            x = convolution.forward(x); // [batch, 8, 14, 14], then [batch, 16, 7, 7] with width 8
            x = activation.apply(x); // the same shape
        }
        linear(&self.head, x.flatten(1, 3)) // [batch, 16 * 7 * 7] to [batch, outputs]
    }
}

impl Conv {
    /// `[batch, channels in, edge, edge]` to `[batch, channels out, edge / stride, edge / stride]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let (weight, bias) = (self.weight.val(), self.bias.val());
        fused::convolution(&x, &weight, &bias, self.stride)
            .unwrap_or_else(|| convolve(x, weight, Some(bias), (self.stride, 1)))
    }
}
