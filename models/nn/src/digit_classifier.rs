//! A trained classifier of digits with a forward pass open at its hidden layer, where the lab `kernel` inserts kernels.

use crate::baseline::{Layer, Recipe, Trained};
use crate::cases::Model;
use crate::data::{DataConfig, Dataset, Examples, Labelled};
use crate::flat_params::values;
use crate::{baseline, data};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor, TensorData};
use mlsys_device as device;
use mlsys_kernel::{Classifier, NetworkError, ReplacedOperation, SuspendedForward};
use mlsys_lab::{DeviceId, LabError};

const HIDDEN: usize = 32;

/// Steps of 64: about five times through the examples.
const STEPS: u64 = 300;

/// A network of 784, 32 and 10 neurons that learned digits in this process, once for each seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct DigitClassifier;

impl Classifier for DigitClassifier {
    fn hidden(&self) -> usize {
        HIDDEN
    }

    fn open(
        &self,
        plug: ReplacedOperation,
        batch: usize,
        seed: u64,
        device: DeviceId,
    ) -> Result<SuspendedForward, NetworkError> {
        // Training is for the processor, and reading for any device.
        let recipe = Recipe::images(Model::Mlp, HIDDEN, STEPS, seed)?;
        let trained = baseline::trained(&recipe, DeviceId::CPU)?;
        let device = device::open(device)?;
        // A seed that no training uses: these digits were not among those it learned from.
        let fresh = digits(!seed, batch)?;
        let inputs = TensorData::new(fresh.inputs.clone(), [batch, fresh.features]);
        let x = Tensor::<2>::from_data(inputs, &device);
        let [first, second] = layers(&trained, &device)?;
        let products = x.matmul(first.0); // [batch, hidden]
        let bias = first.1.expand([batch, HIDDEN]);
        let sums = products.clone() + bias.clone(); // [batch, hidden]
        let (operands, result) = match plug {
            ReplacedOperation::BiasAdd => (vec![products, bias], sums),
            ReplacedOperation::Relu => (vec![sums.clone()], relu(sums)),
        };
        let rest = move |hidden: Vec<f32>| {
            let data = TensorData::new(hidden, [batch, HIDDEN]);
            let hidden = Tensor::<2>::from_data(data, &device);
            let active = match plug {
                ReplacedOperation::BiasAdd => relu(hidden),
                ReplacedOperation::Relu => hidden,
            };
            let scores = active.matmul(second.0.clone()) + second.1.clone(); // [batch, classes]
            let classes = scores.argmax(1).into_data();
            Ok(classes.iter::<i64>().map(|class| class as usize).collect())
        };
        Ok(SuspendedForward {
            operands: operands.into_iter().map(values).collect(),
            result: values(result),
            pixels: fresh.inputs.chunks(fresh.features).map(<[f32]>::to_vec).collect(),
            width: fresh.features.isqrt(),
            truth: fresh.labels.iter().map(|label| *label as usize).collect(),
            rest: Box::new(rest),
        })
    }
}

/// Weights `[inputs, outputs]` and biases `[1, outputs]` of both layers.
fn layers(trained: &Trained, device: &Device) -> Result<[(Tensor<2>, Tensor<2>); 2], NetworkError> {
    let row = &trained.weights;
    let layer = |layer: Layer| {
        let weight = TensorData::new(layer.matrix(row), [layer.inputs, layer.outputs]);
        let bias = TensorData::new(layer.bias(row).to_vec(), [1, layer.outputs]);
        (Tensor::from_data(weight, device), Tensor::from_data(bias, device))
    };
    let layers: Vec<_> = trained.layers().into_iter().map(layer).collect();
    let found = layers.len();
    layers.try_into().map_err(|_| NetworkError::Layers { found })
}

/// Digits as the lab `train` draws them.
fn digits(seed: u64, count: usize) -> Result<Labelled, NetworkError> {
    let config = DataConfig { samples: count, ..DataConfig::new(Dataset::Digits, seed) };
    let loaded = data::load(&config).map_err(|error| LabError::Data(error.to_string()))?;
    match loaded.train {
        Examples::Labelled(labelled) => Ok(labelled),
        Examples::Sequence(_) => Err(NetworkError::Sequence),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(classes: &[usize], truth: &[usize]) -> f64 {
        let right = classes.iter().zip(truth).filter(|(a, b)| a == b).count();
        right as f64 / truth.len() as f64
    }

    #[test]
    fn fresh_digits_are_classified_with_either_operation() {
        let opened = |plug| DigitClassifier.open(plug, 200, 1, DeviceId::CPU).unwrap();
        let (added, activated) =
            (opened(ReplacedOperation::BiasAdd), opened(ReplacedOperation::Relu));
        let of = |opened: &SuspendedForward| (opened.rest)(opened.result.clone()).unwrap();
        let classes = of(&added);
        assert!(share(&classes, &added.truth) > 0.9, "{classes:?}");
        assert_eq!(classes, of(&activated));
        // The operands really are those of the operation, and a hidden layer of zeros tells nothing.
        let sums = added.operands[0].iter().zip(&added.operands[1]);
        let sums: Vec<f32> = sums.map(|(a, b)| a + b).collect();
        assert_eq!(sums, added.result);
        assert_eq!(activated.operands[0], added.result);
        let relu: Vec<f32> = sums.iter().map(|x| x.max(0.0)).collect();
        assert_eq!(relu, activated.result);
        let blind = (added.rest)(vec![0.0; 200 * HIDDEN]).unwrap();
        assert!(blind.iter().all(|class| *class == blind[0]));
        assert_eq!((added.pixels.len(), added.width), (200, 28));
    }

    #[test]
    fn a_seed_has_one_network_and_another_seed_another() {
        let operands = |seed| {
            let plug = ReplacedOperation::Relu;
            DigitClassifier.open(plug, 2, seed, DeviceId::CPU).unwrap().operands
        };
        assert_eq!(operands(1), operands(1));
        assert_ne!(operands(1), operands(2));
    }
}
