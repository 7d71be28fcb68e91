//! A training loop written by hand: the yardstick for what the lab costs.
//!
//! It trains the same networks on the same data as lab `train`, with the same metrics at the same cadence, and shares
//! nothing with the lab but the data and the optimizer. `mlsys bench train` runs both in turn.

use std::time::Instant;

use burn::module::{Module, ModuleVisitor, Param};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::optim::GradientsParams;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_lab::{DeviceId, LabError};

use crate::data::{self, Batches, DataConfig, Dataset, Examples, Labelled};
use crate::device::{self, Adam};

/// A network, its data, and how long it trains.
pub struct Task {
    /// What to call it.
    pub name: &'static str,
    dataset: Dataset,
    hidden: &'static [usize],
    rate: f64,
    /// Training steps.
    pub steps: u64,
    /// The same as settings of lab `train`.
    pub settings: &'static [&'static str],
}

/// The networks that are measured: a small one, a middling one, and 784-512-512-10.
pub const TASKS: [Task; 3] = [
    Task {
        name: "spiral",
        dataset: Dataset::Spiral,
        hidden: &[32, 32],
        rate: 0.01,
        steps: 2000,
        settings: &["steps=2000"],
    },
    Task {
        name: "digits",
        dataset: Dataset::Digits,
        hidden: &[32],
        rate: 0.003,
        steps: 1000,
        settings: &["dataset=digits", "learning_rate=0.003", "steps=1000"],
    },
    Task {
        name: "wide",
        dataset: Dataset::Digits,
        hidden: &[512, 512],
        rate: 0.003,
        steps: 200,
        settings: &[
            "dataset=digits",
            "learning_rate=0.003",
            "steps=200",
            "width=512",
            "depth=2",
        ],
    },
];

/// Which Adam the loop uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// burn's own.
    Burns,
    /// The one that the lab uses on this device.
    TheLabs,
}

#[derive(Module, Debug)]
struct Mlp {
    layers: Vec<Linear>,
}

impl Mlp {
    fn forward(&self, mut x: Tensor<2>) -> Tensor<2> {
        for (index, layer) in self.layers.iter().enumerate() {
            if index > 0 {
                x = relu(x);
            }
            x = layer.forward(x);
        }
        x
    }
}

/// Trains, and returns the seconds from the first loss to the end.
///
/// # Errors
/// If the device cannot be opened or the data cannot be made.
pub fn train(task: &Task, id: DeviceId, update: Update) -> Result<f64, LabError> {
    let unusable = |error: data::DataError| LabError::Data(error.to_string());
    let config = DataConfig::new(task.dataset, 1);
    let data = data::load(&config).map_err(unusable)?;
    let (Examples::Labelled(train), Examples::Labelled(held_out)) = (data.train, data.held_out)
    else {
        return Err(LabError::Data(
            "the yardstick trains on no sequences".to_owned(),
        ));
    };
    let plain = device::open(id)?;
    let device = plain.clone().autodiff();
    device.seed(1);
    let sizes = [
        &[config.features()],
        task.hidden,
        &[config.classes().map_err(unusable)?],
    ]
    .concat();
    let layers = sizes
        .windows(2)
        .map(|pair| LinearConfig::new(pair[0], pair[1]).init(&device));
    let mut network = Mlp {
        layers: layers.collect(),
    };
    let cross_entropy = CrossEntropyLossConfig::new().init(&device);
    let judging = CrossEntropyLossConfig::new().init(&plain);
    let mut optimizer = match update {
        Update::Burns => Adam::Burns(Adam::burns()),
        Update::TheLabs => Adam::new(id),
    };
    let mut batches = Batches::new(1, train.len());
    let everything =
        |examples: &Labelled| batch(examples, &(0..examples.len()).collect::<Vec<_>>(), &plain);
    let (training, held_out) = (everything(&train), everything(&held_out));
    let first = rows(&network, None);
    let mut reported: Vec<f64> = Vec::new();
    let mut waiting = Vec::new();
    let mut first_loss = None;
    for step in 1..=task.steps {
        let (inputs, labels) = batch(&train, batches.next(64), &device);
        let loss = cross_entropy.forward(network.forward(inputs), labels);
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        waiting.push(loss.without_autodiff());
        let record = step == 1 || step.is_multiple_of(10);
        // Where the device works behind the program's back, waiting for it at every step would keep it idle.
        if record || !device::is_asynchronous(id) {
            let losses = Tensor::cat(std::mem::take(&mut waiting), 0);
            reported.extend(losses.into_data().iter::<f64>());
        }
        first_loss.get_or_insert_with(Instant::now);
        let before = record.then(|| (rows(&network, Some(&gradients)), rows(&network, None)));
        network = optimizer.step(task.rate, network, gradients);
        if let Some((gradients, before)) = before {
            let after = rows(&network, None);
            let norms = [
                gradients,
                before.clone(),
                differences(&after, &before),
                differences(&after, &first),
            ]
            .concat();
            let norms = norms.into_iter().map(norm).collect();
            reported.extend(Tensor::cat(norms, 0).into_data().iter::<f64>());
        }
        if step == 1 || step.is_multiple_of(20) {
            let network = network.valid();
            let points = task.dataset.is_points().then_some(&training);
            for (inputs, labels) in points.into_iter().chain([&held_out]) {
                let logits = network.forward(inputs.clone());
                let predicted = logits.clone().argmax(1).squeeze_dim::<1>(1);
                let right = predicted.equal(labels.clone()).int().float().sum();
                let loss = judging.forward(logits, labels.clone());
                reported.extend(Tensor::cat(vec![right, loss], 0).into_data().iter::<f64>());
            }
        }
    }
    device::sync(&plain, id)?;
    if reported.iter().any(|value| !value.is_finite()) {
        return Err(LabError::Data("the yardstick itself diverged".to_owned()));
    }
    Ok(first_loss.map_or(0.0, |first| first.elapsed().as_secs_f64()))
}

fn differences(a: &[Tensor<1>], b: &[Tensor<1>]) -> Vec<Tensor<1>> {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.clone() - b.clone())
        .collect()
}

/// As the lab's: safe from squares that vanish or overflow.
fn norm(x: Tensor<1>) -> Tensor<1> {
    let largest = x.clone().abs().max().clamp_min(f32::MIN_POSITIVE);
    (x / largest.clone()).square().sum().sqrt() * largest
}

/// Every parameter, or its gradient, in one row.
fn rows(network: &Mlp, gradients: Option<&GradientsParams>) -> Vec<Tensor<1>> {
    struct Rows<'a>(Option<&'a GradientsParams>, Vec<Tensor<1>>);
    impl ModuleVisitor for Rows<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let tensor = match self.0 {
                Some(gradients) => gradients.get::<D>(param.id),
                None => Some(param.val().without_autodiff()),
            };
            self.1.extend(tensor.map(|tensor| tensor.reshape([-1])));
        }
    }
    let mut rows = Rows(gradients, Vec::new());
    network.visit(&mut rows);
    rows.1
}

fn batch(examples: &Labelled, indices: &[usize], device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let (inputs, labels) = examples.gather(indices);
    let inputs = Tensor::from_data(
        TensorData::new(inputs, [indices.len(), examples.features]),
        device,
    );
    (
        inputs,
        Tensor::from_data(TensorData::new(labels, [indices.len()]), device),
    )
}
