//! Judging a network, on the device without autodiff.

use burn::tensor::{Device, Int, Tensor, TensorData, activation::softmax};

use crate::data::{Examples, Numbers};
use crate::networks::{Activation, Inputs, Network, cross_entropy};

/// Examples judged at once, which bounds the memory it takes.
const CHUNK: usize = 1000;
/// Labels judged at once: a sequence has as many as tokens.
const CHUNK_LABELS: usize = 4096;

pub struct EvaluationSet {
    /// Inputs `[chunk, features]` and labels `[chunk]`, or `[chunk * context]` for sequences.
    chunks: Vec<(Inputs, Tensor<1, Int>)>,
    len: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Mean cross-entropy in nats.
    pub loss: f64,
    pub accuracy: f64,
    pub hits: Vec<bool>,
}

impl EvaluationSet {
    /// Copies the examples to the device, which must not be an autodiff one.
    pub fn new(examples: &Examples, device: &Device) -> Self {
        let indices: Vec<usize> = (0..examples.len()).collect();
        let labels_each = examples.labels_each();
        let chunks = indices
            .chunks((CHUNK_LABELS / labels_each).clamp(1, CHUNK))
            .map(|chunk| batch(examples, chunk, device));
        Self { chunks: chunks.collect(), len: examples.len() * labels_each }
    }

    pub fn judge(&self, network: &Network, activation: Activation) -> Evaluation {
        let mut forward = |inputs| network.forward(inputs, activation);
        self.answers(&mut forward).0
    }

    /// Judges a function from inputs to rows of scores; also returns the likeliest class of each label, `[len]`.
    pub fn answers(
        &self,
        forward: &mut dyn FnMut(Inputs) -> Tensor<2>,
    ) -> (Evaluation, Vec<usize>) {
        let mut loss = 0.0;
        let mut all_hits = Vec::with_capacity(self.len);
        let mut classes = Vec::with_capacity(self.len);
        for (inputs, labels) in &self.chunks {
            let logits = forward(inputs.clone());
            let predicted: Tensor<1, Int> = logits.clone().argmax(1).squeeze_dim(1);
            let hits = predicted.clone().equal(labels.clone()).int().float();
            let mean_loss = cross_entropy(logits, labels.clone());
            // All in one transfer.
            let found = Tensor::cat(vec![mean_loss, hits, predicted.float()], 0).into_data();
            let found: Vec<f64> = found.iter::<f64>().collect();
            let Some((mean_loss, found)) = found.split_first() else { continue };
            let (hits, predicted) = found.split_at(found.len() / 2);
            loss += mean_loss * hits.len() as f64;
            all_hits.extend(hits.iter().map(|&hit| hit > 0.5));
            classes.extend(predicted.iter().map(|&class| class as usize));
        }
        let right = all_hits.iter().filter(|&&hit| hit).count();
        let len = self.len as f64;
        let verdict = Evaluation { loss: loss / len, accuracy: right as f64 / len, hits: all_hits };
        (verdict, classes)
    }

    fn passes<'a>(
        &'a self,
        network: &'a Network,
        activation: Activation,
    ) -> impl Iterator<Item = Tensor<2>> + 'a {
        self.chunks.iter().map(move |(inputs, _)| network.forward(inputs.clone(), activation))
    }

    /// Forward passes over all examples, to be timed; an asynchronous device may still be at work afterwards.
    pub fn forward(&self, network: &Network, activation: Activation) {
        self.passes(network, activation).for_each(drop);
    }

    /// The class that is thought likeliest for each label, `[len]`.
    pub fn classes(&self, network: &Network, activation: Activation) -> Vec<usize> {
        let classes = self.passes(network, activation).map(|logits| logits.argmax(1).into_data());
        classes
            .flat_map(|data| data.iter::<i64>().map(|class| class as usize).collect::<Vec<_>>())
            .collect()
    }

    /// The scores of every class for each label, row-major `[len, classes]`.
    pub fn logits(&self, network: &Network, activation: Activation) -> Vec<f32> {
        let logits = self.passes(network, activation).map(Tensor::into_data);
        logits.flat_map(|data| data.iter::<f32>().collect::<Vec<_>>()).collect()
    }
}

/// The probability of every class, row-major `[labels, classes]`.
pub fn probabilities(
    network: &Network,
    inputs: impl Into<Inputs>,
    activation: Activation,
) -> Vec<f32> {
    softmax(network.forward(inputs, activation), 1).into_data().iter::<f32>().collect()
}

/// Inputs `[indices, features]`, labels `[indices]`; tokens `[indices, context]`, labels `[indices * context]`.
pub fn batch(examples: &Examples, indices: &[usize], device: &Device) -> (Inputs, Tensor<1, Int>) {
    let batch = examples.gather(indices);
    let shape = [batch.rows, batch.columns];
    let inputs = match batch.inputs {
        Numbers::Floats(floats) => {
            Inputs::Numbers(Tensor::from_data(TensorData::new(floats, shape), device))
        }
        Numbers::Tokens(tokens) => {
            Inputs::Tokens(Tensor::from_data(TensorData::new(tokens, shape), device))
        }
    };
    let count = batch.labels.len();
    let labels = Tensor::from_data(TensorData::new(batch.labels, [count]), device);
    (inputs, labels)
}
