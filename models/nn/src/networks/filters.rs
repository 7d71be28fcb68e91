use crate::networks::{Activation, Initializer};
use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::Tensor;
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;

/// The sizes of a classifier of square grey images that is a chain of filters, each of its own form, and then one layer of
/// neurons over everything that is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterNetConfig {
    /// Pixels along an edge of the image.
    pub edge: usize,
    /// The filters, from the input on; each takes the channels that the one before gives.
    pub filters: Vec<FilterShape>,
    pub outputs: usize,
}

/// One filter of a [`FilterNetConfig`]: a convolution without bias, whose margin of zeros keeps the size of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FilterShape {
    pub channels_in: usize,
    /// Channels that go out; of a filter per channel as many as come in.
    pub channels_out: usize,
    /// Height and width of its window, both odd.
    pub window: [usize; 2],
    /// How far the window moves: 2 halves the image.
    pub stride: usize,
    /// Which channels an output sees.
    pub sight: ReceptiveField,
}

/// Which channels one output of a convolution sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceptiveField {
    /// All that come in.
    All,
    /// Its own, as in a depthwise convolution.
    Own,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterCost {
    pub inputs: u64,
    pub outputs: u64,
    pub weights: u64,
    pub products: u64,
}

/// A convolution without bias.
#[derive(Module, Debug)]
pub struct Filter {
    /// `[channels out, channels in, height, width]`; of a filter per channel `[channels, 1, height, width]`.
    pub weight: Param<Tensor<4>>,
    stride: usize,
    groups: usize,
}

/// A chain of filters, then one layer of neurons.
#[derive(Module, Debug)]
pub struct FilterNet {
    /// From the input on.
    pub filters: Vec<Filter>,
    pub head: Linear,
    edge: usize,
}

impl FilterShape {
    fn seen(&self) -> usize {
        match self.sight {
            ReceptiveField::All => self.channels_in,
            ReceptiveField::Own => 1,
        }
    }

    /// Weights: height * width of the window for each channel that an output sees, for each output channel.
    pub fn weights(&self) -> usize {
        let [height, width] = self.window;
        self.channels_out * self.seen() * height * width
    }

    pub fn edge_out(&self, edge_in: usize) -> usize {
        edge_in.div_ceil(self.stride)
    }

    /// What it takes for one image: every output pixel takes one multiply-add for each weight of its channel.
    pub fn cost(&self, edge_in: usize) -> FilterCost {
        let squared = |edge: usize| (edge * edge) as u64;
        let (came, goes) = (squared(edge_in), squared(self.edge_out(edge_in)));
        FilterCost {
            inputs: self.channels_in as u64 * came,
            outputs: self.channels_out as u64 * goes,
            weights: self.weights() as u64,
            products: self.weights() as u64 * goes,
        }
    }

    pub fn init(&self, initial: &mut Initializer<'_>) -> Filter {
        let [height, width] = self.window;
        let spread = match self.sight {
            ReceptiveField::All => self.channels_out,
            ReceptiveField::Own => 1,
        };
        Filter {
            weight: initial.weights(
                [self.channels_out, self.seen(), height, width],
                self.seen() * height * width,
                spread * height * width,
            ),
            stride: self.stride,
            groups: match self.sight {
                ReceptiveField::All => 1,
                ReceptiveField::Own => self.channels_in,
            },
        }
    }
}

impl FilterCost {
    /// Operations, 2 for a multiply-add.
    pub fn flops(&self, images: u64) -> u64 {
        2 * images * self.products
    }

    /// Bytes in f32 if every operand is moved once: what comes in, the weights, what goes out.
    pub fn bytes(&self, images: u64) -> u64 {
        4 * (images * (self.inputs + self.outputs) + self.weights)
    }
}

impl FilterNetConfig {
    /// The filters with the edge of the image that comes into each.
    pub fn edges(&self) -> Vec<(FilterShape, usize)> {
        let mut edge = self.edge;
        let filters = self.filters.iter().map(|shape| {
            let came = edge;
            edge = shape.edge_out(came);
            (*shape, came)
        });
        filters.collect()
    }

    pub fn flat(&self) -> usize {
        let last = self.edges().pop();
        last.map_or(self.edge * self.edge, |(shape, edge)| {
            shape.channels_out * shape.edge_out(edge).pow(2)
        })
    }

    /// What each layer takes for one image, the last one's biases among its weights.
    pub fn costs(&self) -> Vec<FilterCost> {
        let (inputs, outputs) = (self.flat() as u64, self.outputs as u64);
        let head = FilterCost {
            inputs,
            outputs,
            weights: (inputs + 1) * outputs,
            products: inputs * outputs,
        };
        let filters = self.edges().into_iter();
        let filters = filters.map(|(shape, edge)| shape.cost(edge));
        filters.chain([head]).collect()
    }

    /// Bytes in f32 for a training step on `images` images at once: weights, gradients, Adam's moments and the next
    /// weights; what comes into each layer and what goes out before and after its activation, the windows laid out as
    /// rows of a matrix, and as much again for the slopes.
    pub fn learning_bytes(&self, images: u64) -> u64 {
        let laid_out = |shape: &FilterShape| {
            let [height, width] = shape.window;
            (shape.channels_in * height * width) as u64
        };
        let rows = self.edges().into_iter().map(|(shape, edge)| {
            let cost = shape.cost(edge);
            let pixels = shape.edge_out(edge).pow(2) as u64;
            cost.inputs + 2 * cost.outputs + laid_out(&shape) * pixels
        });
        let weights: u64 = self.costs().iter().map(|cost| cost.weights).sum();
        4 * (5 * weights + 2 * images * rows.sum::<u64>())
    }

    /// Bytes in f32 for a forward pass on `images` images at once: what comes into one layer and a copy of it in another
    /// order, and what goes out, before and after its order is restored and its activation is applied.
    pub fn judging_bytes(&self, images: u64) -> u64 {
        let layers = self.edges().into_iter().map(|(shape, edge)| {
            let cost = shape.cost(edge);
            2 * cost.inputs + 3 * cost.outputs
        });
        4 * images * layers.max().unwrap_or(0)
    }

    pub fn init(&self, initial: &mut Initializer<'_>) -> FilterNet {
        let filters = self.filters.iter().map(|shape| shape.init(initial));
        let filters = filters.collect();
        FilterNet { filters, head: initial.linear(self.flat(), self.outputs), edge: self.edge }
    }
}

impl FilterNet {
    /// Images `[batch, edge * edge]`, row by row, to logits `[batch, outputs]`.
    pub fn forward(&self, x: Tensor<2>, activation: Activation) -> Tensor<2> {
        let [batch, _] = x.dims();
        let mut x = x.reshape([batch, 1, self.edge, self.edge]);
        for filter in &self.filters {
            x = activation.apply(filter.forward(x));
        }
        self.head.forward(x.flatten(1, 3))
    }
}

impl Filter {
    /// `[batch, channels in, edge, edge]` to `[batch, channels out, edge / stride, edge / stride]`.
    pub fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        let [_, _, height, width] = self.weight.dims();
        let (margin, dilation) = ([height / 2, width / 2], [1, 1]);
        let options = ConvOptions::new([self.stride; 2], margin, dilation, self.groups);
        conv2d(x, self.weight.val(), None, options)
    }
}

#[cfg(test)]
mod tests;
