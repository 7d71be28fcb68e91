//! Weights for other programs, and back: the safetensors format, for a transformer with the names and the orientation of
//! the Llama models in Hugging Face's library.
//!
//! Our matrices are `[inputs, outputs]` and go out as `[outputs, inputs]`. Rotary positions turn number i of a head with
//! number i + head / 2, as that library does, so that queries and keys go out as they are.

use crate::baseline::transposed;
use crate::networks::{
    Architecture, CnnConfig, FilterNetConfig, MlpConfig, RMS_EPSILON, ROTARY_BASE, ReceptiveField,
    TransformerConfig,
};
use crate::weights::DecodeError;
use crate::weights::burn_format::shortened;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors, serialize};
use std::collections::HashMap;

/// Bytes of a number.
const BYTES: usize = 4;

/// The whole file: a row of weights in the module's order, what the network is, and more that readers may want to know.
pub fn encode(
    row: &[f32],
    architecture: &Architecture,
    more: HashMap<String, String>,
) -> Result<Vec<u8>, SafeTensorError> {
    let mut rest = row;
    let mut tensors = Vec::new();
    for tensor in named(architecture) {
        let (own, after) = rest.split_at_checked(tensor.len()).ok_or_else(|| {
            SafeTensorError::InvalidTensorView(Dtype::F32, tensor.shape.clone(), rest.len())
        })?;
        rest = after;
        let bytes: Vec<u8> = match tensor.columns() {
            Some(columns) => transposed(own, columns),
            None => own.to_vec(),
        }
        .into_iter()
        .flat_map(f32::to_le_bytes)
        .collect();
        tensors.push((tensor, bytes));
    }
    let views: Result<Vec<_>, SafeTensorError> = tensors
        .iter()
        .map(|(tensor, bytes)| {
            let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)?;
            Ok((&tensor.name, view))
        })
        .collect();
    let mut metadata = metadata(architecture);
    metadata.extend(more);
    serialize(views?, Some(metadata))
}

/// A parsed file. Its tensors are read once the architecture is known.
pub struct Opened<'a> {
    file: SafeTensors<'a>,
    /// What it says of itself.
    pub metadata: HashMap<String, String>,
}

/// Reads a file's header. A header that claims more than the file has is refused before anything is made of it.
pub fn open(bytes: &[u8]) -> Result<Opened<'_>, DecodeError> {
    let foreign = |error: SafeTensorError| DecodeError::Foreign(error.to_string());
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(foreign)?;
    Ok(Opened {
        metadata: header.metadata().clone().unwrap_or_default(),
        file: SafeTensors::deserialize(bytes).map_err(foreign)?,
    })
}

impl Opened<'_> {
    /// Numbers in the file, whatever they are.
    pub fn numbers(&self) -> usize {
        let of = |(_, tensor): &(String, TensorView<'_>)| tensor.data().len() / BYTES;
        self.file.tensors().iter().map(of).sum()
    }

    /// The weights of a network as a row in the module's order.
    pub fn row(&self, architecture: &Architecture) -> Result<Vec<f32>, DecodeError> {
        let wanted = named(architecture);
        let differences = self.differences(&wanted, architecture);
        if !differences.is_empty() {
            return Err(DecodeError::Misfit(shortened(differences)));
        }
        let mut row = Vec::with_capacity(wanted.iter().map(Named::len).sum());
        for tensor in &wanted {
            let view = self.file.tensor(&tensor.name);
            let view = view.map_err(|error| DecodeError::Foreign(error.to_string()))?;
            let (numbers, _) = view.data().as_chunks::<BYTES>();
            let numbers: Vec<f32> = numbers.iter().map(|b| f32::from_le_bytes(*b)).collect();
            if numbers.iter().any(|number| !number.is_finite()) {
                let name = &tensor.name;
                return Err(DecodeError::Foreign(format!(
                    "{name} holds a number that is not finite"
                )));
            }
            // In the file a matrix has its outputs as rows.
            match tensor.columns() {
                Some(_) => row.extend(transposed(&numbers, tensor.rows())),
                None => row.extend(numbers),
            }
        }
        Ok(row)
    }

    /// Everything in which the file and a network differ, a line each.
    fn differences(&self, wanted: &[Named], architecture: &Architecture) -> Vec<String> {
        let mut all = Vec::new();
        for tensor in wanted {
            let (name, mine) = (&tensor.name, &tensor.shape);
            match self.file.tensor(name) {
                Err(_) => all.push(format!("{name} is not in the file")),
                Ok(theirs) if theirs.shape() != mine => all.push(format!(
                    "{name} is {:?} in the file, {mine:?} in this network",
                    theirs.shape()
                )),
                Ok(theirs) if theirs.dtype() != Dtype::F32 => all.push(format!(
                    "{name} holds numbers of type {} in the file, F32 in this network",
                    theirs.dtype()
                )),
                Ok(_) => {}
            }
        }
        let mut alone: Vec<&str> = self.file.names();
        alone.retain(|name| !wanted.iter().any(|tensor| tensor.name == **name));
        alone.sort_unstable();
        all.extend(alone.iter().map(|name| format!("{name} is in the file alone")));
        // What no shape tells.
        let mine = metadata(architecture);
        for name in ["num_attention_heads", "num_key_value_heads"] {
            if let (Some(mine), Some(theirs)) = (mine.get(name), self.metadata.get(name))
                && mine != theirs
            {
                all.push(format!("{name} is {theirs} in the file, {mine} in this network"));
            }
        }
        all
    }
}

/// The sizes, under the names of a Llama model's `config.json`.
fn metadata(architecture: &Architecture) -> HashMap<String, String> {
    let mut pairs = vec![("format", "pt".to_owned()), ("description", architecture.in_words())];
    match architecture {
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {}
        Architecture::Transformer(config) => pairs.extend([
            ("architectures", "LlamaForCausalLM".to_owned()),
            ("model_type", "llama".to_owned()),
            ("vocab_size", config.vocab.to_string()),
            ("hidden_size", config.width.to_string()),
            ("intermediate_size", config.ffn.to_string()),
            ("num_hidden_layers", config.depth.to_string()),
            ("num_attention_heads", config.heads.to_string()),
            ("num_key_value_heads", config.kv_heads.to_string()),
            ("max_position_embeddings", config.context.to_string()),
            ("hidden_act", "silu".to_owned()),
            ("rms_norm_eps", RMS_EPSILON.to_string()),
            ("rope_theta", ROTARY_BASE.to_string()),
            ("tie_word_embeddings", "false".to_owned()),
            ("attention_bias", "false".to_owned()),
        ]),
    }
    let owned = pairs.into_iter().map(|(name, value)| (name.to_owned(), value));
    owned.collect()
}

// What the tensors of a network are called in other programs, and how they lie there.

/// The edge of a convolution's window.
const KERNEL: usize = 3;

struct Named {
    name: String,
    /// As it is in the file.
    shape: Vec<usize>,
    orientation: Orientation,
}

/// How a tensor is laid out in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orientation {
    Same,
    Transposed,
}

impl Named {
    fn plain(name: impl Into<String>, shape: &[usize]) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), orientation: Orientation::Same }
    }

    /// A matrix that is `[inputs, outputs]` in the network.
    fn transposed(name: impl Into<String>, [inputs, outputs]: [usize; 2]) -> Self {
        Self {
            name: name.into(),
            shape: vec![outputs, inputs],
            orientation: Orientation::Transposed,
        }
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Columns in the network, if the file has them as rows.
    fn columns(&self) -> Option<usize> {
        match self.orientation {
            Orientation::Same => None,
            Orientation::Transposed => self.shape.first().copied(),
        }
    }

    /// Rows of a matrix in the network, which are columns in the file.
    fn rows(&self) -> usize {
        self.shape.last().copied().unwrap_or(0)
    }
}

/// The tensors of a network in the order of its module.
fn named(architecture: &Architecture) -> Vec<Named> {
    match architecture {
        Architecture::Mlp(config) => of_mlp(config),
        Architecture::Cnn(config) => of_cnn(config),
        Architecture::Filters(config) => of_filters(config),
        Architecture::Transformer(config) => of_transformer(config),
    }
}

fn of_mlp(config: &MlpConfig) -> Vec<Named> {
    let layers = config.layers().into_iter().enumerate();
    layers
        .flat_map(|(index, size)| {
            [
                Named::transposed(format!("layers.{index}.weight"), size),
                Named::plain(format!("layers.{index}.bias"), &size[1..]),
            ]
        })
        .collect()
}

fn of_cnn(config: &CnnConfig) -> Vec<Named> {
    let mut all = Vec::new();
    for (index, shape) in config.convolutions().into_iter().enumerate() {
        let name = |part: &str| format!("convolutions.{index}.{part}");
        // [outputs, inputs, 3, 3] is the order everywhere.
        let window = [shape.channels_out, shape.channels_in, KERNEL, KERNEL];
        all.push(Named::plain(name("weight"), &window));
        all.push(Named::plain(name("bias"), &[shape.channels_out]));
    }
    all.push(Named::transposed("head.weight", [config.flat(), config.outputs]));
    all.push(Named::plain("head.bias", &[config.outputs]));
    all
}

fn of_filters(config: &FilterNetConfig) -> Vec<Named> {
    let filters = config.filters.iter().enumerate();
    let mut all: Vec<Named> = filters
        .map(|(index, shape)| {
            let seen = match shape.sight {
                ReceptiveField::All => shape.channels_in,
                ReceptiveField::Own => 1,
            };
            let [height, width] = shape.window;
            let window = [shape.channels_out, seen, height, width];
            Named::plain(format!("filters.{index}.weight"), &window)
        })
        .collect();
    all.push(Named::transposed("head.weight", [config.flat(), config.outputs]));
    all.push(Named::plain("head.bias", &[config.outputs]));
    all
}

fn of_transformer(config: &TransformerConfig) -> Vec<Named> {
    let TransformerConfig { vocab, width, ffn, .. } = *config;
    let keys = config.keys();
    let mut all = vec![Named::plain("model.embed_tokens.weight", &[vocab, width])];
    for index in 0..config.depth {
        let name = |part: &str| format!("model.layers.{index}.{part}.weight");
        all.extend([
            Named::plain(name("input_layernorm"), &[width]),
            Named::transposed(name("self_attn.q_proj"), [width, width]),
            Named::transposed(name("self_attn.k_proj"), [width, keys]),
            Named::transposed(name("self_attn.v_proj"), [width, keys]),
            Named::transposed(name("self_attn.o_proj"), [width, width]),
            Named::plain(name("post_attention_layernorm"), &[width]),
            Named::transposed(name("mlp.gate_proj"), [width, ffn]),
            Named::transposed(name("mlp.up_proj"), [width, ffn]),
            Named::transposed(name("mlp.down_proj"), [ffn, width]),
        ]);
    }
    all.push(Named::plain("model.norm.weight", &[width]));
    all.push(Named::transposed("lm_head.weight", [width, vocab]));
    all
}
