//! What the lab costs over a loop written by hand: both train the same network on the same data in one process,
//! turn by turn, with the same metrics at the same cadence.
//!
//!     cargo run --release -p mlsys-nets --example bare_loop
//!
//! Times everything from the first loss on, without pictures, which only a screen wants; prints the median seconds
//! of both and the median of their ratio.
#![expect(
    clippy::unwrap_used,
    reason = "a measurement that cannot run has nothing to say"
)]

use std::time::Instant;

use burn::module::{Module, ModuleVisitor, Param};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_lab::control::Limits;
use mlsys_lab::report::{Moment, Report};
use mlsys_lab::{Control, DeviceId, Lab, Params, Run, RunData, Settings, Sink, Tables};
use mlsys_nets::data::{self, Batches, DataConfig, Dataset, Examples};
use mlsys_nets::train::Train;

struct Task {
    name: &'static str,
    dataset: Dataset,
    hidden: &'static [usize],
    rate: f64,
    steps: u64,
    settings: &'static [&'static str],
}

const TASKS: [Task; 3] = [
    Task {
        name: "spiral 2-32-32-2",
        dataset: Dataset::Spiral,
        hidden: &[32, 32],
        rate: 0.01,
        steps: 400,
        settings: &[],
    },
    Task {
        name: "digits 784-32-10",
        dataset: Dataset::Digits,
        hidden: &[32],
        rate: 0.003,
        steps: 300,
        settings: &["dataset=digits", "learning_rate=0.003", "steps=300"],
    },
    Task {
        name: "digits 784-512-512-10",
        dataset: Dataset::Digits,
        hidden: &[512, 512],
        rate: 0.003,
        steps: 100,
        settings: &[
            "dataset=digits",
            "learning_rate=0.003",
            "steps=100",
            "width=512",
            "depth=2",
        ],
    },
];

fn main() {
    for task in TASKS {
        let rounds = 15;
        let mut times: Vec<(f64, f64)> = (0..rounds).map(|_| (bare(&task), lab(&task))).collect();
        times.remove(0); // warming up
        let bare_seconds = median(times.iter().map(|(bare, _)| *bare));
        let lab_seconds = median(times.iter().map(|(_, lab)| *lab));
        let ratio = median(times.iter().map(|(bare, lab)| lab / bare));
        println!(
            "{}: bare {bare_seconds:.4} s, lab {lab_seconds:.4} s, ratio {ratio:.4}",
            task.name
        );
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Seconds of a run of the lab, headless.
fn lab(task: &Task) -> f64 {
    let lab = Train::new().unwrap();
    let settings = Settings::from_pairs(task.settings.iter().copied()).unwrap();
    let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None).unwrap();
    let control = Control::free(Limits::default(), Default::default());
    let mut sink = Headless {
        data: RunData::default(),
        first_loss: None,
    };
    lab.run(&mut Run {
        params,
        device: DeviceId::CPU,
        sink: &mut sink,
        control,
    })
    .unwrap();
    sink.first_loss.unwrap().elapsed().as_secs_f64()
}

struct Headless {
    data: RunData,
    first_loss: Option<Instant>,
}

impl Sink for Headless {
    fn report(&mut self, report: Report) {
        if self.data.step == 1 {
            self.first_loss.get_or_insert_with(Instant::now);
        }
        self.data.report(report);
    }

    fn wants_frame(&mut self, _panel: &str, _moment: Moment) -> bool {
        false
    }
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

/// Seconds of the same by hand.
fn bare(task: &Task) -> f64 {
    let data = data::load(&DataConfig::new(task.dataset, 1)).unwrap();
    let plain = Device::flex();
    let device = Device::flex().autodiff();
    device.seed(1);
    let sizes = [
        &[task.dataset.features()],
        task.hidden,
        &[task.dataset.classes()],
    ]
    .concat();
    let layers = sizes
        .windows(2)
        .map(|pair| LinearConfig::new(pair[0], pair[1]).init(&device));
    let mut network = Mlp {
        layers: layers.collect(),
    };
    let cross_entropy = CrossEntropyLossConfig::new().init(&device);
    let mut optimizer = AdamConfig::new().init();
    let mut batches = Batches::new(1, data.train.len());
    let everything =
        |examples: &Examples| batch(examples, &(0..examples.len()).collect::<Vec<_>>(), &plain);
    let (train, held_out) = (everything(&data.train), everything(&data.held_out));
    let first = rows(&network, None);
    let mut reported: Vec<f64> = Vec::new();
    let mut first_loss = None;
    for step in 1..=task.steps {
        let (inputs, labels) = batch(&data.train, batches.next(64), &device);
        let loss = cross_entropy.forward(network.forward(inputs), labels);
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        reported.push(loss.into_scalar::<f64>());
        first_loss.get_or_insert_with(Instant::now);
        let record = step == 1 || step % 10 == 0;
        let before = record.then(|| (rows(&network, Some(&gradients)), rows(&network, None)));
        network = optimizer.step(task.rate, network, gradients);
        if let Some((gradients, before)) = before {
            let after = rows(&network, None);
            let minus = |a: &[Tensor<1>], b: &[Tensor<1>]| -> Vec<Tensor<1>> {
                a.iter()
                    .zip(b)
                    .map(|(a, b)| a.clone() - b.clone())
                    .collect()
            };
            let norms = [
                gradients,
                before.clone(),
                minus(&after, &before),
                minus(&after, &first),
            ]
            .concat();
            let norms = norms.into_iter().map(norm).collect();
            reported.extend(Tensor::cat(norms, 0).into_data().iter::<f64>());
        }
        if step == 1 || step % 20 == 0 {
            let network = network.valid();
            let points = task.dataset.is_points().then_some(&train);
            for (inputs, labels) in points.into_iter().chain([&held_out]) {
                let logits = network.forward(inputs.clone());
                let predicted = logits.clone().argmax(1).squeeze_dim::<1>(1);
                reported.push(
                    predicted
                        .equal(labels.clone())
                        .int()
                        .sum()
                        .into_scalar::<i64>() as f64,
                );
                reported.push(
                    CrossEntropyLossConfig::new()
                        .init(&plain)
                        .forward(logits, labels.clone())
                        .into_scalar(),
                );
            }
        }
    }
    assert!(reported.iter().all(|value| value.is_finite()));
    first_loss.unwrap().elapsed().as_secs_f64()
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
                Some(gradients) => gradients.get::<D>(param.id).unwrap(),
                None => param.val().without_autodiff(),
            };
            self.1.push(tensor.reshape([-1]));
        }
    }
    let mut rows = Rows(gradients, Vec::new());
    network.visit(&mut rows);
    rows.1
}

fn batch(examples: &Examples, indices: &[usize], device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
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
