//! What the splitting labs train: one small transformer on symbols of a chain, or one network on digits.

use std::sync::Arc;

use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use mlsys_lab::{LabError, Params};

use super::transport::CommError;
use mlsys_nn::data::{self, Data, DataConfig, Dataset, Examples};
use mlsys_nn::flat_params;
use mlsys_nn::networks::{
    Activation, Architecture, Initialization, MlpConfig, Network, TransformerConfig, Variant,
    cross_entropy,
};
use mlsys_nn::train::batch;

const HEAD: usize = 16;

const VOCABULARY: usize = 64;

const UNITS: usize = 32;

#[derive(Clone)]
pub struct Model {
    pub architecture: Architecture,
    pub data: Arc<Data>,
    pub seed: u64,
    /// What guessing costs in nats: the logarithm of the number of classes.
    pub guessing: f64,
}

/// The transformer's sizes: head width 16, vocabulary 64; without parameter `kv_heads` as many as query heads.
pub fn transformer(params: &Params) -> Result<TransformerConfig, LabError> {
    let hidden = params.size("hidden")?;
    if !hidden.is_multiple_of(HEAD) {
        let message = format!(
            "a width of {hidden} does not divide into heads of {HEAD} numbers; take a multiple of {HEAD}, such as {}",
            hidden.next_multiple_of(HEAD)
        );
        return Err(LabError::contradiction(["hidden"], message));
    }
    let heads = hidden / HEAD;
    let kv_heads = if params.get("kv_heads").is_some() { params.size("kv_heads")? } else { heads };
    let config = TransformerConfig {
        vocab: VOCABULARY,
        width: hidden,
        depth: params.size("layers")?,
        heads,
        kv_heads,
        ffn: TransformerConfig::gated(hidden),
        context: params.size("context")?,
        variant: Variant::default(),
    };
    let refused = |(_, reason)| LabError::contradiction(["hidden", "kv_heads"], reason);
    config.check().map_err(refused)?;
    Ok(config)
}

impl Model {
    pub fn transformer(config: TransformerConfig, seed: u64) -> Result<Self, LabError> {
        let data = DataConfig {
            context: config.context,
            symbols: config.vocab,
            ..DataConfig::new(Dataset::Chain, seed)
        };
        Self::new(Architecture::Transformer(config), &data)
    }

    pub fn digits(seed: u64) -> Result<Self, LabError> {
        let data = DataConfig::new(Dataset::Digits, seed);
        let config = MlpConfig { inputs: data.features(), hidden: vec![UNITS], outputs: 10 };
        Self::new(Architecture::Mlp(config), &data)
    }

    fn new(architecture: Architecture, config: &DataConfig) -> Result<Self, LabError> {
        let unusable = |error: data::DataError| LabError::Data(error.to_string());
        let classes = config.classes().map_err(unusable)?;
        Ok(Self {
            architecture,
            data: Arc::new(data::load(config).map_err(unusable)?),
            seed: config.seed,
            guessing: (classes as f64).ln(),
        })
    }

    /// The network with its first weights, drawn on the host, the same for all workers. `device` has autodiff.
    pub fn network(&self, device: &Device) -> Network {
        self.architecture.init(Initialization::He, self.seed, device)
    }

    /// Floating-point operations of a step, forward and backward.
    pub fn flops(&self, batch: u64) -> u64 {
        self.architecture.forward_flops(batch) + self.architecture.backward_flops(batch)
    }

    /// Bytes kept from the forward pass until the backward pass has used them.
    pub fn activation_bytes(&self, batch: u64) -> u64 {
        4 * self.architecture.kept_numbers(Activation::Relu, batch)
    }

    pub fn parameters(&self) -> u64 {
        self.architecture.parameters()
    }
}

pub fn loss(
    network: &Network,
    examples: &Examples,
    indices: &[usize],
    device: &Device,
) -> Result<f64, CommError> {
    let (inputs, labels) = batch(examples, indices, device);
    let loss = cross_entropy(network.forward(inputs, Activation::Relu), labels);
    number(loss)
}

/// The mean loss of some examples and its gradient by all weights, as a row. `device` has autodiff.
pub fn gradient(
    network: &Network,
    examples: &Examples,
    indices: &[usize],
    device: &Device,
) -> Result<(f64, Vec<f32>), CommError> {
    let (inputs, labels) = batch(examples, indices, device);
    let loss = cross_entropy(network.forward(inputs, Activation::Relu), labels);
    let mut slopes = GradientsParams::from_grads(loss.backward(), network);
    let slopes = flat_params::gradients(network, &mut slopes)?;
    Ok((number(loss)?, slopes))
}

/// The number of a loss, with or without autodiff.
pub fn number(loss: Tensor<1>) -> Result<f64, CommError> {
    let numbers = flat_params::numbers(loss.without_autodiff(), 1)?;
    let number = numbers.first().copied().map(f64::from);
    number.ok_or_else(|| CommError::Failed("read no loss from its device".to_owned()))
}
