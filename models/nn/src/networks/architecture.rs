//! What a network will have and cost, from its sizes alone.

use crate::networks::{
    Activation, CnnConfig, FilterCost, FilterNetConfig, FilterShape, Initialization, Initializer,
    MlpConfig, Network, ReceptiveField, TransformerConfig,
};
use burn::tensor::Device;

#[derive(Clone, Debug, PartialEq)]
pub enum Architecture {
    Mlp(MlpConfig),
    Cnn(CnnConfig),
    Filters(FilterNetConfig),
    /// A decoder in the manner of Llama. Its batches are of sequences, and it has one activation of its own.
    Transformer(TransformerConfig),
}

pub(crate) struct WeightTensor {
    /// What other programs call it.
    pub(crate) name: String,
    /// As the network holds it: a matrix is `[inputs, outputs]`, windows are `[outputs, inputs, height, width]`.
    pub(crate) shape: Vec<usize>,
    pub(crate) role: Role,
}

/// What a tensor of weights is for; a layer with its name for readers, such as `block 1, query`.
pub(crate) enum Role {
    Matrix(String),
    /// A matrix of which rows are looked up.
    Embedding(String),
    Windows(String),
    /// The biases of the layer before it.
    Bias,
    Scale,
}

impl WeightTensor {
    fn new(name: impl Into<String>, shape: &[usize], role: Role) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), role }
    }

    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

impl Architecture {
    /// The network with the weights that `rule` and `seed` give.
    pub fn init(&self, rule: Initialization, seed: u64, device: &Device) -> Network {
        self.build(&mut Initializer::new(rule, seed, device))
    }

    /// The network without values, for a device that records what is done with it and computes nothing.
    pub fn shapes(&self, device: &Device) -> Network {
        self.build(&mut Initializer::shapes(device))
    }

    fn build(&self, initial: &mut Initializer<'_>) -> Network {
        match self {
            Self::Mlp(config) => Network::Mlp(config.init(initial)),
            Self::Cnn(config) => Network::Cnn(config.init(initial)),
            Self::Filters(config) => Network::Filters(config.init(initial)),
            Self::Transformer(config) => Network::Transformer(config.init(initial)),
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Mlp(_) => "mlp",
            Self::Cnn(_) => "cnn",
            Self::Filters(_) => "filters",
            Self::Transformer(_) => "transformer",
        }
    }

    /// What it is, in a few words with its sizes.
    pub fn in_words(&self) -> String {
        match self {
            Self::Mlp(config) => {
                let sizes = [&[config.inputs], config.hidden.as_slice(), &[config.outputs]];
                let sizes: Vec<_> = sizes.concat().iter().map(usize::to_string).collect();
                format!("mlp ({})", sizes.join("-"))
            }
            Self::Cnn(CnnConfig { edge, width, depth, outputs }) => {
                format!(
                    "cnn (images of {edge} x {edge}, width {width}, depth {depth}, {outputs} classes)"
                )
            }
            Self::Filters(FilterNetConfig { edge, filters, outputs }) => {
                let filters: Vec<String> = filters.iter().map(named).collect();
                let filters = filters.join(", ");
                format!("filters (images of {edge} x {edge}, {filters}, {outputs} classes)")
            }
            Self::Transformer(config) => format!(
                "transformer (vocabulary {}, width {}, depth {}, heads {}, kv_heads {}, MLP {})",
                config.vocab, config.width, config.depth, config.heads, config.kv_heads, config.ffn
            ),
        }
    }

    pub fn parameters(&self) -> u64 {
        self.weights().iter().map(|tensor| tensor.len() as u64).sum()
    }

    /// Operations of the matrix products and convolutions of one forward pass, 2 for a multiply-add.
    pub fn forward_flops(&self, batch: u64) -> u64 {
        match self {
            Self::Transformer(config) => batch * config.pass_flops([config.context; 3]),
            Self::Mlp(_) | Self::Cnn(_) | Self::Filters(_) => {
                self.layers().iter().map(|layer| layer.flops(batch)).sum()
            }
        }
    }

    /// The same of one backward pass: as many again for each operand that needs a gradient. The network's own
    /// input needs none; what a transformer's first product is given comes from weights, and does.
    pub fn backward_flops(&self, batch: u64) -> u64 {
        let by_input = self.layers().first().map_or(0, |layer| layer.flops(batch));
        2 * self.forward_flops(batch) - by_input
    }

    /// Numbers kept from the forward pass, loss included, until the backward pass has used them.
    ///
    /// A layer keeps its input, because the gradient of its weights is input times error; an activation keeps
    /// its own input only where its derivative cannot be had from its output; softmax keeps its output.
    pub fn kept_numbers(&self, activation: Activation, batch: u64) -> u64 {
        if let Self::Transformer(config) = self {
            return batch * config.kept_numbers();
        }
        let layers = self.layers();
        let inputs: u64 = layers.iter().map(|layer| layer.inputs).sum();
        let (probabilities, activated) = match layers.split_last() {
            Some((last, activated)) => (last.outputs, activated),
            None => (0, &[][..]),
        };
        let before_activations = match activation.keeps_its_input() {
            true => activated.iter().map(|layer| layer.outputs).sum(),
            false => 0,
        };
        batch * (inputs + before_activations + probabilities)
    }

    /// The layers of a network that is a chain of them with activations between; of a transformer none.
    fn layers(&self) -> Vec<FilterCost> {
        match self {
            Self::Mlp(config) => config.layers().into_iter().map(FilterCost::dense).collect(),
            Self::Cnn(config) => {
                let convolutions = config.convolutions().into_iter();
                let convolutions = convolutions.map(|shape| shape.filter().cost(shape.edge_in));
                let head = FilterCost::dense([config.flat(), config.outputs]);
                convolutions.chain([head]).collect()
            }
            Self::Filters(config) => config.costs(),
            Self::Transformer(_) => Vec::new(),
        }
    }

    /// The tensors of the network in the order of its module; a transformer's are named as Hugging Face's Llama's.
    pub(crate) fn weights(&self) -> Vec<WeightTensor> {
        let mut all = Vec::new();
        match self {
            Self::Mlp(config) => {
                let sizes = config.layers();
                let last = sizes.len();
                for (index, size) in sizes.into_iter().enumerate() {
                    let what = match (index + 1 == last, last) {
                        (true, _) => "output layer",
                        (false, 2) => "hidden layer",
                        (false, _) => &format!("hidden layer {}", index + 1),
                    };
                    all.extend(dense(&format!("layers.{index}"), what, size));
                }
            }
            Self::Cnn(config) => {
                for (index, shape) in config.convolutions().into_iter().enumerate() {
                    let (name, what) = (format!("convolutions.{index}"), "convolution");
                    all.push(windows(&name, what, index, &shape.filter()));
                    let biases = &[shape.channels_out];
                    all.push(WeightTensor::new(name + ".bias", biases, Role::Bias));
                }
                all.extend(dense("head", "output layer", [config.flat(), config.outputs]));
            }
            Self::Filters(config) => {
                for (index, shape) in config.filters.iter().enumerate() {
                    all.push(windows(&format!("filters.{index}"), "filter", index, shape));
                }
                all.extend(dense("head", "output layer", [config.flat(), config.outputs]));
            }
            Self::Transformer(config) => all = config.weights(),
        }
        all
    }
}

fn dense(name: &str, what: &str, size: [usize; 2]) -> [WeightTensor; 2] {
    let matrix = Role::Matrix(what.to_owned());
    [
        WeightTensor::new(format!("{name}.weight"), &size, matrix),
        WeightTensor::new(format!("{name}.bias"), &size[1..], Role::Bias),
    ]
}

fn windows(name: &str, what: &str, index: usize, shape: &FilterShape) -> WeightTensor {
    let role = Role::Windows(format!("{what} {}", index + 1));
    WeightTensor::new(format!("{name}.weight"), &shape.shape(), role)
}

/// A filter in a few words, such as `16 depthwise 5 x 5 / 2`.
fn named(shape: &FilterShape) -> String {
    let [height, width] = shape.window;
    let own = match shape.sight {
        ReceptiveField::All => "",
        ReceptiveField::Own => " depthwise",
    };
    let stride = match shape.stride {
        1 => String::new(),
        stride => format!(" / {stride}"),
    };
    format!("{}{own} {height} x {width}{stride}", shape.channels_out)
}

// What a transformer has and costs, from its sizes alone.

impl TransformerConfig {
    fn weights(&self) -> Vec<WeightTensor> {
        let Self { vocab, width, ffn, .. } = *self;
        let (queries, keys) = (self.queries(), self.keys());
        let scale = |name: String| WeightTensor::new(name, &[width], Role::Scale);
        let embedding = Role::Embedding("embedding".to_owned());
        let mut all =
            vec![WeightTensor::new("model.embed_tokens.weight", &[vocab, width], embedding)];
        for index in 0..self.depth {
            let name = |part: &str| format!("model.layers.{index}.{part}.weight");
            let matrix = |part: &str, what: &str, size: [usize; 2]| {
                let what = format!("block {}, {what}", index + 1);
                WeightTensor::new(name(part), &size, Role::Matrix(what))
            };
            all.extend([
                scale(name("input_layernorm")),
                matrix("self_attn.q_proj", "query", [width, queries]),
                matrix("self_attn.k_proj", "key", [width, keys]),
                matrix("self_attn.v_proj", "value", [width, keys]),
                matrix("self_attn.o_proj", "attention output", [queries, width]),
                scale(name("post_attention_layernorm")),
                matrix("mlp.gate_proj", "gate", [width, ffn]),
                matrix("mlp.up_proj", "up", [width, ffn]),
                matrix("mlp.down_proj", "down", [ffn, width]),
            ]);
        }
        all.push(scale("model.norm.weight".to_owned()));
        let head = Role::Matrix("output head".to_owned());
        all.push(WeightTensor::new("lm_head.weight", &[width, vocab], head));
        all
    }

    /// Operations of the matrix products that push `new` tokens of a sequence through the blocks and look through the keys of
    /// `seen` tokens, of which `scored` are scored: with A columns of queries, 2 for every weight of a product a token, and
    /// 4 new seen A a block for scores and mixing, although those that lie ahead are thrown away (Narayanan et al. 2021,
    /// equation 3).
    pub fn pass_flops(&self, [new, seen, scored]: [usize; 3]) -> u64 {
        let blocks = new * (2 * self.products_of_block() + 4 * seen * self.queries());
        (self.depth * blocks + 2 * scored * self.vocab * self.width) as u64
    }

    /// Weights that a pass reads whatever its tokens are: all but the embedding, of which it reads a row a token.
    pub fn weights_of_a_pass(&self) -> u64 {
        self.weights().iter().skip(1).map(|tensor| tensor.len() as u64).sum()
    }

    /// Numbers kept from the forward pass of one sequence, loss included, until the backward pass has used them.
    ///
    /// A matrix product keeps its inputs, a norm its input and one number a row, softmax its output (which is also an
    /// input of the product after it), silu and the gates' product their inputs. Turning by constant angles, adding and
    /// scaling keep nothing, and the queries and keys that are kept are the turned ones.
    pub(super) fn kept_numbers(&self) -> u64 {
        let norm = self.width + 1;
        let turned = self.queries() + self.keys();
        let shares = self.heads * self.context;
        let attention = self.width + turned + self.keys() + shares + self.queries();
        let mlp = self.width + 4 * self.ffn;
        let block = norm + attention + norm + mlp;
        let after = norm + self.width + self.vocab;
        (self.context * (self.depth * block + after)) as u64
    }

    /// Multiply-adds of one token in the matrix products of one block, attention's scores and mixing aside.
    fn products_of_block(&self) -> usize {
        self.width * (2 * self.queries() + 2 * self.keys() + 3 * self.ffn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::Sizes;
    use burn::module::Module;

    fn mlp(sizes: &[usize]) -> Architecture {
        let [inputs, hidden @ .., outputs] = sizes else { panic!("at least two sizes") };
        Architecture::Mlp(MlpConfig { inputs: *inputs, hidden: hidden.to_vec(), outputs: *outputs })
    }

    fn parameters(network: &Architecture) -> u64 {
        let made = network.init(Initialization::Zeros, 0, &Device::flex());
        assert_eq!(made.num_params() as u64, network.parameters());
        network.parameters()
    }

    #[test]
    fn mlp_costs_match_formulas() {
        let network = mlp(&[784, 512, 512, 10]);
        assert_eq!(parameters(&network), 669_706);
        assert_eq!(network.forward_flops(64), 85_590_016);
        assert_eq!(network.backward_flops(64), 119_799_808);
        assert_eq!(4 * network.kept_numbers(Activation::Relu, 64), 465_408);
        // The inputs of both gelus are kept besides their outputs.
        let gelu =
            network.kept_numbers(Activation::Gelu, 64) - network.kept_numbers(Activation::Relu, 64);
        assert_eq!(gelu, 64 * 2 * 512);
    }

    #[test]
    fn a_convolution_counts_every_window() {
        let cnn = Architecture::Cnn(CnnConfig { edge: 28, width: 8, depth: 2, outputs: 10 });
        let (first, second, head) = (8 * 9 * 14 * 14, 16 * 8 * 9 * 7 * 7, 16 * 7 * 7 * 10);
        assert_eq!(parameters(&cnn), (8 * 9 + 8) + (16 * 8 * 9 + 16) + (16 * 49 * 10 + 10));
        assert_eq!(cnn.forward_flops(3), 2 * 3 * (first + second + head));
        assert_eq!(cnn.backward_flops(3), 2 * 3 * (first + 2 * second + 2 * head));
        assert_eq!(cnn.kept_numbers(Activation::Relu, 1), 784 + 8 * 14 * 14 + 16 * 49 + 10);
    }

    #[test]
    fn the_default_transformer_costs_what_its_formulas_say() {
        let network = Architecture::Transformer(Sizes::default().config(64));
        assert_eq!(parameters(&network), 27_296);
        // L (W + C) + logits, for 3 sequences: W = 2t (2hA + 2hK + 3h ffn), C = 4tsA.
        let (t, h, s, ffn) = (3 * 32, 32, 32, 88);
        let block = 2 * t * (2 * h * h + 2 * h * 16 + 3 * h * ffn) + 4 * t * s * h;
        assert_eq!(network.forward_flops(3), 2 * block + 2 * t * h * 64);
        assert_eq!(network.backward_flops(3), 2 * network.forward_flops(3));
        // A row of a block: two norms, the two products' inputs after them, q k v, the weights, what they mixed, 4 ffn.
        let row = 2 * (32 + 1) + 2 * 32 + (32 + 16 + 16) + 4 * 32 + 32 + 4 * 88;
        assert_eq!(network.kept_numbers(Activation::Relu, 3), t * (2 * row + (32 + 1) + 32 + 64));
    }

    #[test]
    fn a_network_without_hidden_layers_is_one_layer() {
        assert_eq!(parameters(&mlp(&[2, 2])), 6);
        assert_eq!(mlp(&[2, 2]).kept_numbers(Activation::Gelu, 1), 4);
    }
}
