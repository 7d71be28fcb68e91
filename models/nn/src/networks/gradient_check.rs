//! Gradients, and modules moved in a direction: what burn's gradients are compared with finite differences by.

use crate::flat_params::gradient_rows;
use burn::module::{Module, ModuleMapper, Param};
use burn::optim::GradientsParams;
use burn::tensor::{DType, Tensor, TensorData};

pub fn in_f64<M: Module>(module: M) -> M {
    module.map(&mut Move { direction: None, by: 0.0, format: Some(DType::F64), seen: 0 })
}

/// The larger of two errors; a comparison with no number is as wrong as can be.
pub fn max_error(worst: f64, error: f64) -> f64 {
    if error.is_nan() { f64::INFINITY } else { worst.max(error) }
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
