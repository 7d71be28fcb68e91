//! Gradients of every kind of layer against central finite differences, in f64 on the CPU.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use mlsys_nn::networks::{
    Activation, Architecture, CnnConfig, Initialization, MlpConfig, Network, cross_entropy,
    element_error, in_f64,
};

/// How far the gradient of cross-entropy is from central differences.
fn worst_error(
    architecture: &Architecture,
    features: usize,
    classes: usize,
    activation: Activation,
) -> f64 {
    let device = Device::flex().autodiff();
    let batch = 5;
    // Any numbers that are not special.
    let inputs: Vec<f64> =
        (0..batch * features).map(|index| (1.7 * index as f64 + 0.3).sin()).collect();
    let labels: Vec<i32> = (0..batch).map(|index| (index * 7 % classes) as i32).collect();
    let inputs =
        Tensor::<2>::from_data(TensorData::new(inputs, [batch, features]), (&device, DType::F64));
    let labels = Tensor::<1, Int>::from_data(TensorData::new(labels, [batch]), &device);
    let network = architecture.init(Initialization::Xavier, 3, &device);
    element_error(&in_f64(network), |network: &Network| {
        cross_entropy(network.forward(inputs.clone(), activation), labels.clone())
    })
}

#[test]
fn dense_layers_with_every_activation_have_the_right_gradients() {
    let mlp = Architecture::Mlp(MlpConfig { inputs: 3, hidden: vec![4, 4], outputs: 3 });
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
fn convolution_gradients_are_right() {
    // 8 pixels are halved to 4, which stay 4.
    let cnn = Architecture::Cnn(CnnConfig { edge: 8, width: 2, depth: 2, outputs: 3 });
    let error = worst_error(&cnn, 64, 3, Activation::Tanh);
    assert!(error <= 1e-6, "{error:e}");
}
