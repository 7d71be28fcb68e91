//! A convolution as a matrix product: the windows of a few images side by side, one window a column (im2col; Chellapilla
//! et al. 2006). They are few enough to stay in the cache between the copy and the product.

use macerator::Simd;

use super::vector::{Matrix, add_product, sum};
use super::{Forward, Operation};

/// Windows that are side by side, unless one image has more.
const WINDOWS: usize = 256;

/// Of images `[batch, inputs, height, width]`, with a margin of zeros of half a window.
#[derive(Clone, Debug)]
pub(super) struct Convolution {
    inputs: usize,
    outputs: usize,
    /// Height and width, as below.
    image: [usize; 2],
    window: [usize; 2],
    stride: usize,
}

/// Numbers of a row of an image, `stride` apart, that are next to each other in a row of the columns.
struct Span {
    image: usize,
    columns: usize,
    count: usize,
}

impl Convolution {
    /// Nothing where shapes do not fit; without a center a window has no margin that keeps the size of the image.
    pub(super) fn new(image: [usize; 4], weight: [usize; 4], stride: usize) -> Option<Self> {
        let [_, inputs, height, width] = image;
        let [outputs, seen, down, across] = weight;
        let odd = down % 2 == 1 && across % 2 == 1;
        let fits = inputs == seen && odd && stride > 0 && inputs * height * width * outputs > 0;
        let (image, window) = ([height, width], [down, across]);
        fits.then_some(Self { inputs, outputs, image, window, stride })
    }

    /// Height and width of the result.
    pub(super) fn size(&self) -> [usize; 2] {
        self.image.map(|edge| edge.div_ceil(self.stride))
    }

    fn windows(&self) -> usize {
        self.size().iter().product()
    }

    /// Numbers of a window over all channels: the rows of the columns.
    fn depth(&self) -> usize {
        self.inputs * self.window[0] * self.window[1]
    }

    /// Images with windows in one matrix, side by side.
    fn together(&self, images: usize) -> usize {
        (WINDOWS / self.windows()).clamp(1, images.max(1))
    }

    /// Numbers of one image, and of its result.
    fn lengths(&self) -> [usize; 2] {
        [self.inputs * self.image[0] * self.image[1], self.outputs * self.windows()]
    }

    /// What the windows of one image see of it, in columns of rows of `apart` numbers. The rest is margin: zero.
    fn spans(&self, apart: usize) -> Vec<Span> {
        let ([height, width], [down, across]) = (self.image, self.window);
        let ([rows, row], stride) = (self.size(), self.stride);
        let mut spans = Vec::with_capacity(self.depth() * rows);
        for (k, plane) in (0..self.inputs).flat_map(|c| (0..down * across).map(move |k| (k, c))) {
            let (from_top, from_left) = (k / across, k % across);
            // Positions x of windows with 0 <= x * stride + from_left - across / 2 < width.
            let first = (across / 2).saturating_sub(from_left).div_ceil(stride).min(row);
            let end =
                (width + across / 2).saturating_sub(from_left).div_ceil(stride).clamp(first, row);
            for y in 0..rows {
                let Some(line) = (y * stride + from_top).checked_sub(down / 2) else { continue };
                if line >= height || first == end {
                    continue;
                }
                let left = first * stride + from_left - across / 2;
                spans.push(Span {
                    image: (plane * height + line) * width + left,
                    columns: (plane * down * across + k) * apart + y * row + first,
                    count: end - first,
                });
            }
        }
        spans
    }

    /// Lays out the windows of images side by side; `columns` holds zeros, or windows of other images.
    #[inline(always)]
    fn lay_out(&self, images: &[f32], spans: &[Span], columns: &mut [f32]) {
        // Spans are short: a stride known to the compiler takes a third off the time.
        match self.stride {
            1 => self.lay_out_by(1, images, spans, columns),
            2 => self.lay_out_by(2, images, spans, columns),
            stride => self.lay_out_by(stride, images, spans, columns),
        }
    }

    #[inline(always)]
    fn lay_out_by(&self, stride: usize, images: &[f32], spans: &[Span], columns: &mut [f32]) {
        let windows = self.windows();
        for (i, image) in images.chunks_exact(self.lengths()[0]).enumerate() {
            for span in spans {
                let to = &mut columns[span.columns + i * windows..][..span.count];
                let from = image[span.image..].iter().step_by(stride);
                for (to, &from) in to.iter_mut().zip(from) {
                    *to = from;
                }
            }
        }
    }

    /// The other way: what windows have in common is added.
    #[inline(always)]
    fn take_back(&self, columns: &[f32], spans: &[Span], images: &mut [f32]) {
        match self.stride {
            1 => self.take_back_by(1, columns, spans, images),
            2 => self.take_back_by(2, columns, spans, images),
            stride => self.take_back_by(stride, columns, spans, images),
        }
    }

    #[inline(always)]
    fn take_back_by(&self, stride: usize, columns: &[f32], spans: &[Span], images: &mut [f32]) {
        let windows = self.windows();
        for (i, image) in images.chunks_exact_mut(self.lengths()[0]).enumerate() {
            for span in spans {
                let from = &columns[span.columns + i * windows..][..span.count];
                let to = image[span.image..].iter_mut().step_by(stride);
                for (to, &from) in to.zip(from) {
                    *to += from;
                }
            }
        }
    }
}

/// Of images, weights `[outputs, inputs, height, width]` and biases; it keeps nothing.
///
/// With the columns c and the slope t of the result y = w c + b: ∂w = t cᵀ, ∂c = wᵀ t, and ∂b is the sum of t.
impl Operation<3> for Convolution {
    #[inline(always)]
    fn forward<S: Simd>(&self, [x, weight, bias]: [&[f32]; 3]) -> Forward {
        let ([given, made], windows, depth) = (self.lengths(), self.windows(), self.depth());
        let together = self.together(x.len() / given);
        let apart = together * windows;
        let spans = self.spans(apart);
        let mut result = vec![0.0; x.len() / given * made];
        let mut columns = vec![0.0; depth * apart];
        let (mut sums, mut packed) = (vec![0.0; self.outputs * apart], Vec::new());
        let groups = x.chunks(together * given).zip(result.chunks_mut(together * made));
        for (images, results) in groups {
            self.lay_out(images, &spans, &mut columns);
            for (sums, &bias) in sums.chunks_exact_mut(apart).zip(bias) {
                sums.fill(bias);
            }
            let sizes = [self.outputs, depth, results.len() / self.outputs];
            let rows = Matrix::of_rows(weight, depth);
            add_product::<S>((&mut sums, apart), rows, (&columns, apart), sizes, &mut packed);
            for (i, result) in results.chunks_exact_mut(made).enumerate() {
                for (to, from) in result.chunks_exact_mut(windows).zip(sums.chunks_exact(apart)) {
                    to.copy_from_slice(&from[i * windows..][..windows]);
                }
            }
        }
        Forward { result, kept: Vec::new() }
    }

    #[inline(always)]
    fn backward<S: Simd>(
        &self,
        [x, weight, bias]: [&[f32]; 3],
        _: &[f32],
        slope: &[f32],
        [by_x_wanted, ..]: [bool; 3],
    ) -> [Vec<f32>; 3] {
        let ([given, made], windows, depth) = (self.lengths(), self.windows(), self.depth());
        let together = self.together(x.len() / given);
        let apart = together * windows;
        let spans = self.spans(apart);
        let mut by_x = vec![0.0; if by_x_wanted { x.len() } else { 0 }];
        let mut by_bias = vec![0.0; bias.len()];
        // On its side, as the product gives it: `[depth, outputs]`.
        let mut by_weight = vec![0.0; weight.len()];
        let mut columns = vec![0.0; depth * apart];
        let mut by_columns = columns.clone();
        let (mut slopes, mut turned) = (vec![0.0; self.outputs * apart], Vec::new());
        let mut packed = Vec::new();
        let mut by_images = by_x.chunks_mut(together * given);
        for (images, slope) in x.chunks(together * given).zip(slope.chunks(together * made)) {
            let count = slope.len() / self.outputs;
            turned.resize(apart * self.outputs, 0.0);
            for (i, slope) in slope.chunks_exact(made).enumerate() {
                for (o, from) in slope.chunks_exact(windows).enumerate() {
                    slopes[o * apart + i * windows..][..windows].copy_from_slice(from);
                    let turned = turned[i * made + o..].iter_mut().step_by(self.outputs);
                    for (to, &from) in turned.zip(from) {
                        *to = from;
                    }
                    by_bias[o] += sum(from, from, |t, _| t);
                }
            }
            self.lay_out(images, &spans, &mut columns);
            let sizes = [depth, count, self.outputs];
            let (to, from) = ((&mut *by_weight, self.outputs), (&*turned, self.outputs));
            add_product::<S>(to, Matrix::of_rows(&columns, apart), from, sizes, &mut packed);
            let Some(by_images) = by_images.next() else { continue };
            by_columns.fill(0.0);
            let sizes = [depth, self.outputs, count];
            let rows = Matrix { numbers: weight, row: 1, column: depth };
            let to = (&mut *by_columns, apart);
            add_product::<S>(to, rows, (&slopes, apart), sizes, &mut packed);
            self.take_back(&by_columns, &spans, by_images);
        }
        let column = |o| by_weight.iter().skip(o).step_by(self.outputs).copied();
        [by_x, (0..self.outputs).flat_map(column).collect(), by_bias]
    }
}

#[cfg(test)]
mod tests {
    use crate::fused::convolution;
    use burn::tensor::module::conv2d;
    use burn::tensor::ops::ConvOptions;
    use burn::tensor::{Device, Distribution, Tensor};

    /// The result and the gradients by images, weights and biases.
    fn everything(
        given: &(Tensor<4>, Tensor<4>, Tensor<1>),
        convolve: impl Fn(&Tensor<4>, &Tensor<4>, &Tensor<1>) -> Tensor<4>,
    ) -> [Vec<f64>; 4] {
        let (x, weight, bias) = given;
        let result = convolve(x, weight, bias);
        let mut gradients = (result.clone() * result.clone().sin()).sum().backward();
        let flat = |tensor: Option<Tensor<4>>| tensor.unwrap().into_data().iter().collect();
        let by_bias = bias.grad_remove(&mut gradients).unwrap().into_data().iter().collect();
        let by = [x, weight].map(|tensor| tensor.grad_remove(&mut gradients));
        let [by_x, by_weight] = by.map(flat);
        [result.into_data().iter().collect(), by_x, by_weight, by_bias]
    }

    #[test]
    fn convolutions_equal_burns_with_their_gradients() {
        let device = Device::flex().autodiff();
        device.seed(4);
        let cases = [
            // images, inputs, height, width; outputs, window; stride
            ([64, 1, 28, 28], [8, 3, 3], 2),
            ([7, 8, 14, 14], [16, 3, 3], 2),
            ([3, 2, 7, 9], [5, 3, 5], 1),
            ([2, 3, 4, 1], [1, 5, 7], 3),
            ([1, 1, 40, 30], [3, 1, 1], 1),
        ];
        for (image, [outputs, down, across], stride) in cases {
            let random = |shape| Tensor::random(shape, Distribution::Normal(0.0, 1.0), &device);
            let weight = random([outputs, image[1], down, across]).require_grad();
            let bias = random([1, 1, 1, outputs]).reshape([outputs]).detach().require_grad();
            let given = (random(image).require_grad(), weight, bias);
            let ours = everything(&given, |x, w, b| convolution(x, w, b, stride).unwrap());
            let margin = [down / 2, across / 2];
            let burns = everything(&given, |x, w, b| {
                let options = ConvOptions::new([stride; 2], margin, [1, 1], 1);
                conv2d(x.clone(), w.clone(), Some(b.clone()), options)
            });
            for (at, (ours, burns)) in ours.iter().zip(&burns).enumerate() {
                assert_eq!(ours.len(), burns.len());
                let largest = burns.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                let apart = ours.iter().zip(burns).map(|(a, b)| (a - b).abs());
                let apart = apart.fold(0.0, f64::max) / largest;
                assert!(apart < 1e-5, "{image:?} {at}: {apart:e}");
            }
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_burns_to_refuse() {
        let device = Device::flex();
        let zeros = |shape| Tensor::<4>::zeros(shape, &device);
        let bias = Tensor::zeros([2], &device);
        for weight in [[2, 2, 3, 3], [2, 1, 2, 3]] {
            assert!(convolution(&zeros([1, 1, 5, 5]), &zeros(weight), &bias, 1).is_none());
        }
        assert!(convolution(&zeros([1, 1, 5, 5]), &zeros([2, 1, 3, 3]), &bias, 0).is_none());
        assert!(convolution(&zeros([1, 1, 5, 5]), &zeros([3, 1, 3, 3]), &bias, 1).is_none());
    }
}
