//! The last line of the loop: gradients become changes of the weights.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::momentum::MomentumConfig;
use burn::optim::{GradientsParams, ModuleOptimizer, RmsPropConfig, SgdConfig};
use burn::tensor::Tensor;

use mlsys_lab::DeviceId;

use crate::flat_params::Rule;
use crate::networks::Network;
use crate::train::norms;
use mlsys_device::Adam;
use serde::Deserialize;

/// What may be turned without losing the optimizer's state.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct UpdateKnobs {
    pub learning_rate: f64,
    pub weight_decay: f64,
    pub gradient_clip: Option<f64>,
}

impl UpdateKnobs {
    /// Without decay and clipping.
    pub fn at_rate(learning_rate: f64) -> Self {
        Self { learning_rate, weight_decay: 0.0, gradient_clip: None }
    }
}

/// A rule with its state: the moments it keeps of every weight.
pub struct Optimizer {
    rule: Rule,
    moments: Moments,
}

enum Moments {
    Burns(ModuleOptimizer),
    Adam(Adam),
}

impl Optimizer {
    /// The rule with fresh state. Decay and clipping stay outside: those knobs must not reset it.
    pub fn new(rule: Rule, device: DeviceId) -> Self {
        const EPSILON: f32 = 1e-8;
        let momentum = MomentumConfig::new().with_momentum(0.9).with_dampening(0.0);
        let moments = match rule {
            Rule::Sgd => Moments::Burns(SgdConfig::new().init()),
            Rule::Momentum => Moments::Burns(SgdConfig::new().with_momentum(Some(momentum)).init()),
            Rule::RmsProp => {
                Moments::Burns(RmsPropConfig::new().with_momentum(0.0).with_epsilon(EPSILON).init())
            }
            Rule::Adam | Rule::AdamW => Moments::Adam(Adam::new(device)),
        };
        Self { rule, moments }
    }

    pub fn update(
        &mut self,
        network: Network,
        gradients: GradientsParams,
        knobs: UpdateKnobs,
    ) -> Network {
        let (decay_of_gradient, decay_of_weights) = match self.rule {
            Rule::Sgd | Rule::Momentum | Rule::RmsProp | Rule::Adam => (knobs.weight_decay, 0.0),
            Rule::AdamW => (0.0, knobs.learning_rate * knobs.weight_decay),
        };
        let gradients = adjusted(&network, gradients, knobs.gradient_clip, decay_of_gradient);
        let network = shrunk(network, decay_of_weights);
        match &mut self.moments {
            Moments::Burns(rule) => rule.step(knobs.learning_rate, network, gradients),
            Moments::Adam(adam) => adam.step(knobs.learning_rate, network, gradients),
        }
    }
}

/// Gradients scaled by one factor, so that their global norm is at most `largest` (Pascanu et al. 2013), plus `decay` times
/// the weights, which is the gradient of decay / 2 times the squared weights.
fn adjusted(
    network: &Network,
    mut gradients: GradientsParams,
    largest: Option<f64>,
    decay: f64,
) -> GradientsParams {
    struct Adjust<'a> {
        gradients: &'a mut GradientsParams,
        /// `[1]`.
        factor: Option<Tensor<1>>,
        decay: f64,
    }
    impl ModuleVisitor for Adjust<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let Some(mut gradient) = self.gradients.remove::<D>(param.id) else { return };
            if let Some(factor) = &self.factor {
                gradient = gradient * factor.clone().reshape([1; D]);
            }
            if self.decay > 0.0 {
                gradient = gradient + param.val().without_autodiff().mul_scalar(self.decay);
            }
            self.gradients.register(param.id, gradient);
        }
    }
    let factor = largest.map(|largest| {
        // Computed where the gradients are: nothing waits for the device.
        let norm = norms::norm(Tensor::cat(norms::gradient_norms(network, &gradients), 0));
        norm.clamp_min(f32::MIN_POSITIVE).recip().mul_scalar(largest).clamp_max(1.0)
    });
    if factor.is_some() || decay > 0.0 {
        network.visit(&mut Adjust { gradients: &mut gradients, factor, decay });
    }
    gradients
}

/// Takes the share `decay` off every weight.
fn shrunk(network: Network, decay: f64) -> Network {
    if decay > 0.0 { network.map(&mut Shrink { decay }) } else { network }
}

struct Shrink {
    decay: f64,
}

impl ModuleMapper for Shrink {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|weights| {
            // A leaf again: the decay is no part of the next step's graph.
            let shrunk = weights.mul_scalar(1.0 - self.decay);
            shrunk.detach().require_grad()
        })
    }
}
