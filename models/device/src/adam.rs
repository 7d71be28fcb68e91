//! Adam (Kingma and Ba 2015, arXiv:1412.6980), in one pass over memory where the memory is the processor's own.
//!
//! burn's Adam is a chain of a dozen element-wise operations, each of which reads and writes every weight: on a
//! processor, where memory is what is short, it takes as long as the forward and the backward pass together. Here
//! weight, gradient and both moments are read once and written once, with the same operations in the same order.

use std::collections::HashMap;

use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::Tensor;
use macerator::{AutoArch, Simd, WithSimd};
use mlsys_lab::device::{Backend, DeviceId};

const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Weights that another core is given no fewer of.
const LEAST_EACH: usize = 1 << 16;

/// Adam with its state, in the implementation that is fastest on a device.
pub enum Adam {
    OnePass(HashMap<ParamId, Moments>),
    /// On a GPU, where only kernels reach the memory: burn's operations.
    Burns(ModuleOptimizer),
}

impl Adam {
    /// Adam with fresh state, beta 0.9 and 0.999, epsilon 1e-8.
    pub fn new(id: DeviceId) -> Self {
        match id.backend {
            Backend::Cpu => Self::OnePass(HashMap::new()),
            Backend::Wgpu | Backend::Cuda => Self::Burns(Self::burns()),
        }
    }

    /// burn's own, with the same constants.
    pub fn burns() -> ModuleOptimizer {
        AdamConfig::new().with_beta_1(BETA_1).with_beta_2(BETA_2).with_epsilon(EPSILON).init()
    }

    /// The module after one update. It is fastest if there are no other references to the module's tensors or the gradients.
    pub fn step<M: Module>(&mut self, rate: f64, module: M, gradients: GradientsParams) -> M {
        match self {
            Self::OnePass(moments) => {
                module.map(&mut Pass { moments, gradients, rate: rate as f32 })
            }
            Self::Burns(adam) => adam.step(rate, module, gradients),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Moments {
    time: i32,
    /// Running mean of the gradient, `m`.
    first: Vec<f32>,
    /// Running mean of its square, `v`.
    second: Vec<f32>,
}

struct Pass<'a> {
    moments: &'a mut HashMap<ParamId, Moments>,
    gradients: GradientsParams,
    rate: f32,
}

impl ModuleMapper for Pass<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(gradient) = self.gradients.remove::<D>(param.id) else { return param };
        let moments = self.moments.entry(param.id).or_default();
        let rate = self.rate;
        param.map(|weights| {
            // With autodiff, and with what it does with activations.
            let (device, dtype) = (weights.device(), weights.dtype());
            let weights = weights.without_autodiff();
            // Out of the tensor and back: a tensor with a single reference is not copied.
            let gradient = gradient.into_data().convert::<f32>();
            let mut data = weights.into_data().convert::<f32>();
            if let (Ok(weights), Ok(gradient)) =
                (data.as_mut_slice::<f32>(), gradient.as_slice::<f32>())
            {
                // Both were converted to this very type.
                moments.update(weights, gradient, rate);
            }
            // A leaf again: the update is no part of the next step's graph.
            Tensor::from_data(data, (&device, dtype)).require_grad()
        })
    }
}

impl Moments {
    /// One update: with `g` the gradient and `t` the number of this update,
    ///
    /// ```text
    /// m = 0.9 m + 0.1 g      v = 0.999 v + 0.001 g^2
    /// w = w - rate * (m / (1 - 0.9^t)) / (sqrt(v / (1 - 0.999^t)) + 1e-8)
    /// ```
    pub fn update(&mut self, weights: &mut [f32], gradient: &[f32], rate: f32) {
        self.first.resize(weights.len(), 0.0);
        self.second.resize(weights.len(), 0.0);
        self.time = self.time.saturating_add(1);
        let root = (1.0 - BETA_2.powi(self.time)).sqrt();
        let factor = root / (1.0 - BETA_1.powi(self.time));
        let moments = [&mut *self.first, &mut *self.second];
        let epsilon = EPSILON * root;
        Update { weights, gradient, moments, factor, epsilon, rate }.divided();
    }

    /// Both moments of `weights` weights, a row each.
    pub fn rows(&mut self, weights: usize) -> [&mut [f32]; 2] {
        self.first.resize(weights, 0.0);
        self.second.resize(weights, 0.0);
        [&mut self.first, &mut self.second]
    }

    pub fn bytes(&self) -> u64 {
        4 * (self.first.len() + self.second.len()) as u64
    }
}

struct Update<'a> {
    weights: &'a mut [f32],
    gradient: &'a [f32],
    moments: [&'a mut [f32]; 2],
    factor: f32,
    epsilon: f32,
    rate: f32,
}

impl Update<'_> {
    /// Among the cores of the pool that the step runs in, if it runs in one.
    fn divided(self) {
        if self.weights.len() < 2 * LEAST_EACH || rayon::current_thread_index().is_none() {
            return AutoArch::new().dispatch(self);
        }
        let Self { weights, gradient, moments: [first, second], factor, epsilon, rate } = self;
        let middle = weights.len() / 2;
        let (weights, other_weights) = weights.split_at_mut(middle);
        let (gradient, other_gradient) = gradient.split_at(middle);
        let (first, other_first) = first.split_at_mut(middle);
        let (second, other_second) = second.split_at_mut(middle);
        let part = |weights, gradient, moments| {
            Update { weights, gradient, moments, factor, epsilon, rate }.divided();
        };
        rayon::join(
            || part(weights, gradient, [first, second]),
            || part(other_weights, other_gradient, [other_first, other_second]),
        );
    }
}

/// Compiled for every kind of processor, in vectors as wide as it has them.
impl WithSimd for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self) {
        let Self { weights, gradient, moments: [first, second], factor, epsilon, rate } = self;
        let moments = first.iter_mut().zip(second);
        for ((weight, &g), (m, v)) in weights.iter_mut().zip(gradient).zip(moments) {
            *m = normal(*m * BETA_1 + g * (1.0 - BETA_1));
            *v = normal(*v * BETA_2 + g * g * (1.0 - BETA_2));
            *weight -= *m * factor / (v.sqrt() + epsilon) * rate;
        }
    }
}

/// Zero for what is too small for a normal number: processors take a hundred times as long for each operation on
/// such numbers, and the moments of a unit that has died decay into them within a thousand steps.
#[inline(always)]
fn normal(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::module::ParamId;
    use burn::nn::{Linear, LinearConfig};
    use burn::tensor::{Device, Distribution};

    /// Both ways from the same weights over the same gradients; the largest relative difference of a weight.
    fn difference(steps: usize, gradient: impl Fn(usize, &Device) -> Tensor<2>) -> f64 {
        let device = Device::flex().autodiff();
        device.seed(3);
        let start: Linear = LinearConfig::new(40, 30).with_bias(false).init(&device);
        let weights = |linear: &Linear| -> Vec<f64> {
            let weights = linear.weight.val().without_autodiff();
            weights.into_data().iter::<f64>().collect()
        };
        let id: ParamId = start.weight.id;
        let mut ours = (Adam::new(DeviceId::CPU), start.clone());
        let mut burns = (Adam::Burns(Adam::burns()), start);
        for step in 0..steps {
            let gradient = gradient(step, &Device::flex());
            for (adam, linear) in [&mut ours, &mut burns] {
                let mut gradients = GradientsParams::new();
                gradients.register(id, gradient.clone());
                *linear = adam.step(0.01, linear.clone(), gradients);
            }
        }
        let (a, b) = (weights(&ours.1), weights(&burns.1));
        let relative = a.iter().zip(&b).map(|(a, b)| (a - b).abs() / b.abs().max(1e-3));
        relative.fold(0.0, f64::max)
    }

    #[test]
    fn one_pass_equals_burns_adam() {
        let random = |step: usize, device: &Device| {
            let spread = 10_f64.powi(-((step % 5) as i32));
            Tensor::random([40, 30], Distribution::Normal(0.0, spread), device)
        };
        let found = difference(300, random);
        assert!(found <= 1e-6, "{found:e}");
    }

    #[test]
    fn what_decays_to_nothing_changes_nothing() {
        let once = |step: usize, device: &Device| {
            Tensor::ones([40, 30], device).mul_scalar(if step == 0 { 1e-20 } else { 0.0 })
        };
        let found = difference(2000, once);
        assert!(found <= 1e-6, "{found:e}");
    }

    #[test]
    fn cores_divide_it_bit_for_bit() {
        let count = 5 * LEAST_EACH + 7;
        let gradient: Vec<f32> = (0..count).map(|i| (i * 7919 % 101) as f32 - 50.0).collect();
        let update = || {
            let (mut moments, mut weights) = (Moments::default(), vec![1.0; count]);
            (0..3).for_each(|_| moments.update(&mut weights, &gradient, 0.01));
            (weights, moments.second)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(update), update());
    }

    #[test]
    fn a_parameter_without_gradient_stays() {
        let device = Device::flex().autodiff();
        let start: Linear = LinearConfig::new(4, 3).init(&device);
        let before = start.weight.val().into_data();
        let after = Adam::new(DeviceId::CPU).step(0.1, start, GradientsParams::new());
        assert_eq!(after.weight.val().into_data(), before);
    }
}
