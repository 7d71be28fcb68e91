//! Gradients of every kind of layer against central finite differences, in f64 on the CPU.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{DType, Device, FloatDType, Int, Tensor, TensorData};
use mlsys_nets::nets::{
    Activation, Architecture, CnnConfig, Initialization, MlpConfig, Network, cross_entropy,
};

/// Adds `by` to one number of one parameter, and makes every parameter f64.
struct Nudge {
    parameter: usize,
    element: usize,
    by: f64,
    /// Parameters seen.
    seen: usize,
}

impl ModuleMapper for Nudge {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let index = self.seen;
        self.seen += 1;
        param.map(|tensor| {
            let mut values: Vec<f64> = tensor.to_data().iter::<f64>().collect();
            if index == self.parameter {
                values[self.element] += self.by;
            }
            let data = TensorData::new(values, tensor.shape());
            Tensor::from_data(data, (&tensor.device(), DType::F64)).require_grad()
        })
    }
}

/// Gradients in the order of the parameters.
struct Gradients<'a> {
    of: &'a GradientsParams,
    values: Vec<Vec<f64>>,
}

impl ModuleVisitor for Gradients<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self
            .of
            .get::<D>(param.id)
            .expect("every parameter has a gradient");
        assert_eq!(gradient.dtype(), FloatDType::F64.into());
        self.values
            .push(gradient.into_data().iter::<f64>().collect());
    }
}

/// The largest difference between burn's gradient and central differences, over the largest gradient of the
/// same parameter.
fn worst_error(
    architecture: &Architecture,
    features: usize,
    classes: usize,
    activation: Activation,
) -> f64 {
    let device = Device::flex().autodiff();
    let batch = 5;
    // Any numbers that are not special.
    let inputs: Vec<f64> = (0..batch * features)
        .map(|index| (1.7 * index as f64 + 0.3).sin())
        .collect();
    let labels: Vec<i32> = (0..batch)
        .map(|index| (index * 7 % classes) as i32)
        .collect();
    let inputs = Tensor::<2>::from_data(
        TensorData::new(inputs, [batch, features]),
        (&device, DType::F64),
    );
    let labels = Tensor::<1, Int>::from_data(TensorData::new(labels, [batch]), &device);
    let network = architecture.init(Initialization::Xavier, 3, &device);
    let nudged = |parameter, element, by| {
        network.clone().map(&mut Nudge {
            parameter,
            element,
            by,
            seen: 0,
        })
    };
    let loss = |network: &Network| {
        cross_entropy(network.forward(inputs.clone(), activation), labels.clone())
    };

    let exact = nudged(0, 0, 0.0);
    let gradients = GradientsParams::from_grads(loss(&exact).backward(), &exact);
    let mut collected = Gradients {
        of: &gradients,
        values: Vec::new(),
    };
    exact.visit(&mut collected);

    let step = 1e-5;
    let mut worst = 0.0_f64;
    for (parameter, gradient) in collected.values.iter().enumerate() {
        let largest = gradient
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        assert!(
            largest > 0.0,
            "{architecture:?}: parameter {parameter} has no gradient"
        );
        for (element, value) in gradient.iter().enumerate() {
            let at = |by| loss(&nudged(parameter, element, by)).into_scalar::<f64>();
            let difference = (at(step) - at(-step)) / (2.0 * step);
            worst = worst.max((value - difference).abs() / largest);
        }
    }
    worst
}

#[test]
fn dense_layers_with_every_activation_have_the_right_gradients() {
    let mlp = Architecture::Mlp(MlpConfig {
        inputs: 3,
        hidden: vec![4, 4],
        outputs: 3,
    });
    for activation in [
        Activation::Relu,
        Activation::Tanh,
        Activation::Sigmoid,
        Activation::Gelu,
        Activation::Silu,
        Activation::Identity,
    ] {
        let error = worst_error(&mlp, 3, 3, activation);
        assert!(error <= 1e-6, "{activation:?}: {error:e}");
    }
}

#[test]
fn convolutions_that_halve_the_image_and_that_do_not_have_the_right_gradients() {
    // 8 pixels are halved to 4, which stay 4.
    let cnn = Architecture::Cnn(CnnConfig {
        edge: 8,
        width: 2,
        depth: 2,
        outputs: 3,
    });
    let error = worst_error(&cnn, 64, 3, Activation::Tanh);
    assert!(error <= 1e-6, "{error:e}");
}
