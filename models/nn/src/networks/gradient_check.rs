//! How far burn's gradients are from what nudging the weights shows: central finite differences,
//! (loss(w + h d) - loss(w - h d)) / 2h for a direction d in the space of all weights.

use crate::flat_params::{gradient_rows, rows};
use crate::random::Stream;
use burn::module::{Module, ModuleMapper, Param};
use burn::optim::GradientsParams;
use burn::tensor::{DType, Tensor, TensorData};

/// Directions that [`directional_error`] tries.
const DIRECTIONS: usize = 8;

/// How far it goes, as a share of the size of the weights: far enough for a loss in f32 to change in more than its
/// last digits, near enough for the loss to be straight.
const SHARE: f64 = 0.01;

/// The nudge of a single weight in f64.
const NUDGE: f64 = 1e-5;

/// The largest difference between the slope of the loss along a random direction by burn's gradient and by central
/// differences, over the largest slope; infinite if the gradient is not finite or zero.
///
/// `module` must be on a device with autodiff; `loss` gives `[1]`. The directions come from `seed`.
pub fn directional_error<M: Module>(module: &M, seed: u64, loss: impl Fn(&M) -> Tensor<1>) -> f64 {
    let gradient = gradient(module, &loss);
    let weights: Vec<f64> = rows(module).into_iter().flat_map(numbers).collect();
    let squares = weights.iter().fold(0.0, |sum, weight| sum + weight * weight);
    let step = SHARE * (squares / weights.len().max(1) as f64).sqrt();
    let mut stream = Stream::new(seed, "slopes");
    let (mut largest, mut worst) = (0.0_f64, 0.0_f64);
    for _ in 0..DIRECTIONS {
        let like = |values: &Vec<f64>| values.iter().map(|_| stream.normal()).collect();
        let direction: Vec<Vec<f64>> = gradient.iter().map(like).collect();
        let pairs = gradient.iter().flatten().zip(direction.iter().flatten());
        let slope: f64 = pairs.map(|(g, d)| g * d).sum();
        let at = |by| loss(&perturbed(module, &direction, by)).into_scalar::<f64>();
        let difference = (at(step) - at(-step)) / (2.0 * step);
        largest = largest.max(slope.abs());
        worst = max_error(worst, (slope - difference).abs());
    }
    share(worst, largest)
}

/// The largest difference between the gradient of a single weight by burn and by central differences, over the
/// largest gradient of the same parameter; infinite if a parameter has none. For small modules in f64.
///
/// `module` must be on a device with autodiff; `loss` gives `[1]`.
pub fn element_error<M: Module>(module: &M, loss: impl Fn(&M) -> Tensor<1>) -> f64 {
    let gradient = gradient(module, &loss);
    let mut direction: Vec<Vec<f64>> =
        gradient.iter().map(|values| vec![0.0; values.len()]).collect();
    let mut worst = 0.0_f64;
    for (parameter, values) in gradient.iter().enumerate() {
        let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (element, value) in values.iter().enumerate() {
            direction[parameter][element] = 1.0;
            let at = |by| loss(&perturbed(module, &direction, by)).into_scalar::<f64>();
            let difference = (at(NUDGE) - at(-NUDGE)) / (2.0 * NUDGE);
            direction[parameter][element] = 0.0;
            worst = max_error(worst, share((value - difference).abs(), largest));
        }
    }
    worst
}

/// The module with every parameter in f64.
pub fn in_f64<M: Module>(module: M) -> M {
    module.map(&mut Move { direction: None, by: 0.0, format: Some(DType::F64), seen: 0 })
}

/// The larger of two errors; a comparison with no number is as wrong as can be.
pub fn max_error(worst: f64, error: f64) -> f64 {
    if error.is_nan() { f64::INFINITY } else { worst.max(error) }
}

fn share(difference: f64, largest: f64) -> f64 {
    if largest > 0.0 && difference.is_finite() { difference / largest } else { f64::INFINITY }
}

/// The gradient of every parameter in the same order; zero for one that the loss does not depend on.
pub fn gradient<M: Module>(module: &M, loss: impl Fn(&M) -> Tensor<1>) -> Vec<Vec<f64>> {
    let mut gradients = GradientsParams::from_grads(loss(module).backward(), module);
    gradient_rows(module, &mut gradients).into_iter().map(numbers).collect()
}

/// The module with every parameter moved by `by` times a direction.
pub fn perturbed<M: Module>(module: &M, direction: &[Vec<f64>], by: f64) -> M {
    module.clone().map(&mut Move { direction: Some(direction), by, format: None, seen: 0 })
}

/// Adds `by` times a direction to every parameter.
struct Move<'a> {
    direction: Option<&'a [Vec<f64>]>,
    by: f64,
    /// What the numbers become; what they were, if none.
    format: Option<DType>,
    seen: usize,
}

impl ModuleMapper for Move<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let direction = self.direction.and_then(|all| all.get(self.seen));
        self.seen += 1;
        param.map(|tensor| {
            let format = self.format.unwrap_or_else(|| tensor.dtype());
            let (device, shape) = (tensor.device(), tensor.shape());
            let is_trained = tensor.is_require_grad();
            let mut values = numbers(tensor.without_autodiff());
            for (value, along) in values.iter_mut().zip(direction.into_iter().flatten()) {
                *value += self.by * along;
            }
            let perturbed = Tensor::from_data(TensorData::new(values, shape), (&device, format));
            if is_trained { perturbed.require_grad() } else { perturbed }
        })
    }
}

fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

#[cfg(test)]
mod tests {
    use super::max_error;

    #[test]
    fn what_is_no_number_is_an_error_without_bound() {
        assert_eq!(max_error(0.5, 0.25), 0.5);
        assert_eq!(max_error(0.5, f64::NAN), f64::INFINITY);
        assert_eq!(max_error(f64::INFINITY, 0.0), f64::INFINITY);
    }
}
