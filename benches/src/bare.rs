//! A training loop written by hand: the yardstick for what the lab costs.
//!
//! It trains the same networks on the same data as lab `train`, with the same metrics at the same cadence, and shares
//! nothing with the lab but the data, the optimizer and the transformer. `mlsys bench train` runs both in turn.

use std::time::Instant;

use burn::module::{Module, ModuleVisitor, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::CrossEntropyLossConfig;
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::optim::GradientsParams;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor, TensorData};
use mlsys_lab::{DeviceId, LabError};

use mlsys_device::{self as device, Adam};
use mlsys_nn::data::{self, Batches, DataConfig, Dataset, Examples, Numbers};
use mlsys_nn::networks::{
    Initialization, Initializer, Inputs, Transformer, TransformerConfig, Variant,
};

/// A network, its data, and how long it trains.
pub struct Task {
    pub name: &'static str,
    dataset: Dataset,
    net: Net,
    rate: f64,
    batch: usize,
    pub steps: u64,
    /// The same as settings of lab `train`.
    pub settings: &'static str,
}

/// The networks that are measured: a small one, a middling one, 784-512-512-10, two convolutions, the tiny llama
/// on text and one with layers 16 times as large.
pub const TASKS: [Task; 6] = [
    Task {
        name: "spiral",
        dataset: Dataset::Spiral,
        net: Net::Mlp(&[32, 32]),
        batch: 64,
        rate: 0.01,
        steps: 2000,
        settings: "steps=2000",
    },
    Task {
        name: "digits",
        dataset: Dataset::Digits,
        net: Net::Mlp(&[32]),
        batch: 64,
        rate: 0.003,
        steps: 1000,
        settings: "dataset=digits learning_rate=0.003 steps=1000",
    },
    Task {
        name: "wide",
        dataset: Dataset::Digits,
        net: Net::Mlp(&[512, 512]),
        batch: 64,
        rate: 0.003,
        steps: 200,
        settings: "dataset=digits learning_rate=0.003 steps=200 width=512 depth=2",
    },
    Task {
        name: "cnn",
        dataset: Dataset::Digits,
        net: Net::Cnn { edge: 28, channels: [8, 16] },
        batch: 64,
        rate: 0.003,
        steps: 200,
        settings: "dataset=digits model=cnn learning_rate=0.003 steps=200",
    },
    Task {
        name: "llama",
        dataset: Dataset::Text,
        net: Net::Llama(Llama { width: 64, depth: 2, context: LLAMA_CONTEXT }),
        batch: LLAMA_BATCH,
        rate: 0.005,
        steps: 100,
        settings: "dataset=text model=transformer width=64 context=64 batch_size=16 learning_rate=0.005 steps=100",
    },
    Task {
        name: "llama-256",
        dataset: Dataset::Text,
        net: Net::Llama(Llama { width: 256, depth: 4, context: 256 }),
        batch: 8,
        rate: 0.001,
        steps: 10,
        settings: "dataset=text model=transformer width=256 depth=4 context=256 batch_size=8 learning_rate=0.001 steps=10",
    },
];

/// Those of the preset on text.
pub const LLAMA_CONTEXT: usize = 64;
pub const LLAMA_BATCH: usize = 16;

/// Which Adam the loop uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// burn's own.
    Burns,
    /// The one that the lab uses on this device.
    TheLabs,
}

/// Trains, and returns the seconds from the first loss to the end.
///
/// # Errors
/// If the device cannot be opened or the data cannot be made.
pub fn train(task: &Task, id: DeviceId, update: Update) -> Result<f64, LabError> {
    let unusable = |error: data::DataError| LabError::Data(error.to_string());
    let mut config = DataConfig::new(task.dataset, 1);
    match task.net {
        Net::Mlp(_) | Net::Cnn { .. } => {}
        Net::Llama(llama) => config.context = llama.context,
    }
    let data = data::load(&config).map_err(unusable)?;
    let (train, held_out) = (data.train, data.held_out);
    let plain = device::open(id)?;
    let device = plain.clone().autodiff();
    device.seed(1);
    let classes = config.classes().map_err(unusable)?;
    let mut network = Bare::new(&task.net, config.features(), classes, &device);
    let cross_entropy = CrossEntropyLossConfig::new().init(&device);
    let judging = CrossEntropyLossConfig::new().init(&plain);
    let mut optimizer = match update {
        Update::Burns => Adam::Burns(Adam::burns()),
        Update::TheLabs => Adam::new(id),
    };
    let mut batches = Batches::new(1, train.len());
    // What is judged, in pieces as large as the lab's.
    let mut judged = pieces(&held_out, &plain);
    if task.dataset.is_points() {
        judged.extend(pieces(&train, &plain));
    }
    let first = rows(&network, None);
    let mut reported: Vec<f64> = Vec::new();
    let mut waiting = Vec::new();
    let mut first_loss = None;
    for step in 1..=task.steps {
        let (inputs, labels) = batch(&train, batches.next(task.batch), &device);
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
            for (inputs, labels) in &judged {
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
    a.iter().zip(b).map(|(a, b)| a.clone() - b.clone()).collect()
}

/// As the lab's: safe from squares that vanish or overflow.
fn norm(x: Tensor<1>) -> Tensor<1> {
    let largest = x.clone().abs().max().clamp_min(f32::MIN_POSITIVE);
    (x / largest.clone()).square().sum().sqrt() * largest
}

/// Every parameter, or its gradient, in one row.
fn rows(network: &Bare, gradients: Option<&GradientsParams>) -> Vec<Tensor<1>> {
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

/// All examples, up to 1000 examples or about 4096 labels at once.
fn pieces(examples: &Examples, device: &Device) -> Vec<(Inputs, Tensor<1, Int>)> {
    let all: Vec<usize> = (0..examples.len()).collect();
    let at_once = (4096 / examples.labels_each()).clamp(1, 1000);
    let pieces = all.chunks(at_once);
    pieces.map(|piece| batch(examples, piece, device)).collect()
}

fn batch(examples: &Examples, indices: &[usize], device: &Device) -> (Inputs, Tensor<1, Int>) {
    let batch = examples.gather(indices);
    let shape = [batch.rows, batch.columns];
    let inputs = match batch.inputs {
        Numbers::Floats(floats) => {
            Tensor::<2>::from_data(TensorData::new(floats, shape), device).into()
        }
        Numbers::Tokens(tokens) => {
            Tensor::<2, Int>::from_data(TensorData::new(tokens, shape), device).into()
        }
    };
    let count = batch.labels.len();
    let labels = Tensor::from_data(TensorData::new(batch.labels, [count]), device);
    (inputs, labels)
}

enum Net {
    /// Its hidden layers.
    Mlp(&'static [usize]),
    /// Two 3x3 convolutions, each of which halves the image, and a layer over what is left.
    Cnn { edge: usize, channels: [usize; 2] },
    /// Of the lab's default in all else.
    Llama(Llama),
}

#[derive(Clone, Copy)]
pub struct Llama {
    width: usize,
    depth: usize,
    context: usize,
}

#[derive(Module, Debug)]
enum Bare {
    /// With burn's own initial weights.
    Mlp(Mlp),
    Cnn(Cnn),
    /// burn has no such decoder, and the lab's is not what is compared.
    Llama(Transformer),
}

#[derive(Module, Debug)]
struct Mlp {
    layers: Vec<Linear>,
}

#[derive(Module, Debug)]
struct Cnn {
    convolutions: Vec<Conv2d>,
    head: Linear,
    edge: usize,
}

impl Bare {
    fn new(net: &Net, features: usize, classes: usize, device: &Device) -> Self {
        match net {
            Net::Mlp(hidden) => {
                let sizes = [&[features], *hidden, &[classes]].concat();
                let layers =
                    sizes.windows(2).map(|pair| LinearConfig::new(pair[0], pair[1]).init(device));
                Self::Mlp(Mlp { layers: layers.collect() })
            }
            Net::Cnn { edge, channels } => {
                let convolution = |channels: &[usize]| {
                    Conv2dConfig::new([channels[0], channels[1]], [3, 3])
                        .with_stride([2, 2])
                        .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1))
                        .init(device)
                };
                let [first, second] = *channels;
                let convolutions = [1, first, second].windows(2).map(convolution).collect();
                let left = second * edge.div_ceil(4).pow(2);
                let head = LinearConfig::new(left, classes).init(device);
                Self::Cnn(Cnn { convolutions, head, edge: *edge })
            }
            Net::Llama(llama) => {
                let config = llama.config(classes);
                Self::Llama(config.init(&mut Initializer::new(Initialization::He, 1, device)))
            }
        }
    }

    /// Inputs to logits, one row an answer.
    fn forward(&self, inputs: Inputs) -> Tensor<2> {
        match self {
            Self::Mlp(mlp) => mlp.forward(inputs.numbers()),
            Self::Cnn(cnn) => cnn.forward(inputs.numbers()),
            Self::Llama(llama) => llama.forward(inputs.tokens()).flatten(0, 1),
        }
    }
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

impl Cnn {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let [batch, _] = x.dims();
        let mut x = x.reshape([batch, 1, self.edge, self.edge]);
        for convolution in &self.convolutions {
            x = relu(convolution.forward(x));
        }
        self.head.forward(x.flatten(1, 3))
    }
}

impl Llama {
    fn config(self, vocab: usize) -> TransformerConfig {
        let Self { width, depth, context } = self;
        let ffn = TransformerConfig::gated(width);
        let variant = Variant::default();
        TransformerConfig { vocab, width, depth, heads: 4, kv_heads: 2, ffn, context, variant }
    }
}

/// The tiny llama.
pub fn llama(vocab: usize) -> TransformerConfig {
    Llama { width: 64, depth: 2, context: LLAMA_CONTEXT }.config(vocab)
}
