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
    pub sight: ReceptiveField,
}

/// Which channels one output of a convolution sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceptiveField {
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

#[derive(Module, Debug)]
pub struct Filter {
    /// `[channels out, channels in, height, width]`; of a filter per channel `[channels, 1, height, width]`.
    pub weight: Param<Tensor<4>>,
    stride: usize,
    groups: usize,
}

#[derive(Module, Debug)]
pub struct FilterNet {
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

    /// The shape of its weights: the window for each channel that an output sees, for each output channel.
    pub(super) fn shape(&self) -> [usize; 4] {
        let [height, width] = self.window;
        [self.channels_out, self.seen(), height, width]
    }

    pub fn weights(&self) -> usize {
        self.shape().iter().product()
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
        let [_, seen, height, width] = self.shape();
        let window = height * width;
        let (spread, groups) = match self.sight {
            ReceptiveField::All => (self.channels_out, 1),
            ReceptiveField::Own => (1, self.channels_in),
        };
        let weight = initial.weights(self.shape(), seen * window, spread * window);
        Filter { weight, stride: self.stride, groups }
    }
}

impl FilterCost {
    /// Of a layer of neurons, its biases among its weights.
    pub(super) fn dense([inputs, outputs]: [usize; 2]) -> Self {
        let [inputs, outputs] = [inputs as u64, outputs as u64];
        Self { inputs, outputs, weights: (inputs + 1) * outputs, products: inputs * outputs }
    }

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
        let head = FilterCost::dense([self.flat(), self.outputs]);
        let filters = self.edges().into_iter().map(|(shape, edge)| shape.cost(edge));
        filters.chain([head]).collect()
    }

    /// Bytes in f32 for a training step on `images` images at once: weights, gradients, Adam's moments and the next
    /// weights; what comes into each layer and what goes out before and after its activation, the windows laid out as
    /// rows of a matrix, and as much again for the slopes.
    pub fn learning_bytes(&self, images: u64) -> u64 {
        let rows = self.edges().into_iter().map(|(shape, edge)| {
            let cost = shape.cost(edge);
            let laid_out = shape.channels_in * shape.window[0] * shape.window[1];
            cost.inputs + 2 * cost.outputs + (laid_out * shape.edge_out(edge).pow(2)) as u64
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
        convolve(x, self.weight.val(), None, (self.stride, self.groups))
    }
}

/// A convolution with zero padding that keeps the size of the image before its stride.
pub(super) fn convolve(
    x: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    (stride, groups): (usize, usize),
) -> Tensor<4> {
    let [_, _, height, width] = weight.dims();
    let margin = [height / 2, width / 2];
    conv2d(x, weight, bias, ConvOptions::new([stride; 2], margin, [1, 1], groups))
}

#[cfg(test)]
mod tests {
    use crate::networks::filters::*;
    use crate::networks::{Architecture, Initialization};
    use crate::random::Stream;
    use burn::tensor::{Device, Tensor, TensorData};

    fn drawn<const D: usize>(shape: [usize; D], stream: &mut Stream) -> Vec<f32> {
        let count = shape.iter().product();
        (0..count).map(|_| stream.normal() as f32).collect()
    }

    fn tensor<const D: usize>(values: &[f32], shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(values.to_vec(), shape), &Device::flex())
    }

    fn filter(weights: &[f32], shape: [usize; 4], groups: usize) -> Filter {
        Filter { weight: Param::from_tensor(tensor(weights, shape)), stride: 1, groups }
    }

    fn assert_near(found: Tensor<4>, expected: Tensor<4>) {
        let size: f64 = expected.clone().abs().max().into_scalar::<f64>();
        let apart: f64 = (found - expected).abs().max().into_scalar::<f64>();
        assert!(apart < 1e-5 * size.max(1.0), "{apart} of {size}");
    }

    #[test]
    fn separable_filters_equal_their_outer_product() {
        let mut stream = Stream::new(3, "test");
        for k in [3, 5, 7] {
            let x = tensor(&drawn([2, 1, 9, 9], &mut stream), [2, 1, 9, 9]);
            let (column, row) = (drawn([k], &mut stream), drawn([k], &mut stream));
            let products = |down: &f32| row.iter().map(|across| down * across).collect::<Vec<_>>();
            let outer: Vec<f32> = column.iter().flat_map(products).collect();
            let both = filter(&column, [1, 1, k, 1], 1).forward(x.clone());
            let both = filter(&row, [1, 1, 1, k], 1).forward(both);
            assert_near(both, filter(&outer, [1, 1, k, k], 1).forward(x));
        }
    }

    #[test]
    fn depthwise_then_pointwise_equals_the_joint_filter() {
        let mut stream = Stream::new(4, "test");
        let (inputs, outputs, k) = (3, 5, 5);
        let x = tensor(&drawn([2, inputs, 8, 8], &mut stream), [2, inputs, 8, 8]);
        let depthwise = drawn([inputs, k * k], &mut stream);
        let pointwise = drawn([outputs, inputs], &mut stream);
        let windows = pointwise.iter().zip(depthwise.chunks(k * k).cycle());
        let joint: Vec<f32> =
            windows.flat_map(|(mixed, window)| window.iter().map(move |w| mixed * w)).collect();
        let both = filter(&depthwise, [inputs, 1, k, k], inputs).forward(x.clone());
        let both = filter(&pointwise, [outputs, inputs, 1, 1], 1).forward(both);
        assert_near(both, filter(&joint, [outputs, inputs, k, k], 1).forward(x));
    }

    #[test]
    fn what_a_filter_costs_is_what_it_has() {
        let stem = FilterShape {
            channels_in: 1,
            channels_out: 6,
            window: [5, 3],
            stride: 2,
            sight: ReceptiveField::All,
        };
        let own = FilterShape { channels_in: 6, stride: 1, sight: ReceptiveField::Own, ..stem };
        let cost = own.cost(7);
        assert_eq!((cost.inputs, cost.outputs), (6 * 49, 6 * 49));
        assert_eq!(cost.weights, 6 * 15);
        assert_eq!(cost.flops(3), 2 * 3 * 6 * 15 * 49);
        assert_eq!(cost.bytes(3), 4 * (3 * 2 * 6 * 49 + 90));
        let config = FilterNetConfig { edge: 13, filters: vec![stem, own], outputs: 4 };
        assert_eq!(config.flat(), 6 * 49);
        assert_eq!(config.judging_bytes(3), 4 * 3 * 5 * 6 * 49);
        let parameters = 6 * 15 + 6 * 15 + (6 * 49 + 1) * 4;
        let architecture = Architecture::Filters(config);
        assert_eq!(architecture.parameters(), parameters);
        let network = architecture.init(Initialization::He, 1, &Device::flex());
        assert_eq!(network.num_params() as u64, parameters);
        let images = tensor(&vec![0.5; 2 * 169], [2, 169]);
        assert_eq!(network.forward(images, Activation::Relu).dims(), [2, 4]);
        assert_eq!(
            architecture.in_words(),
            "filters (images of 13 x 13, 6 5 x 3 / 2, 6 depthwise 5 x 3, 4 classes)"
        );
    }
}
