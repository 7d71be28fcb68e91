//! Weights for other programs, and back: the safetensors format, for a transformer with the names and the orientation of
//! the Llama models in Hugging Face's library.
//!
//! Our matrices are `[inputs, outputs]` and go out as `[outputs, inputs]`. Rotary positions turn number i of a head with
//! number i + head / 2, as that library does, so that queries and keys go out as they are.

use crate::baseline::trained::transposed;
use crate::networks::{Architecture, Role, WeightTensor};
use crate::weights::DecodeError;
use crate::weights::burn_format::shortened;
use crate::weights::hugging_face;
use burn::tensor::{bf16, f16};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors, serialize};
use std::collections::HashMap;

const BYTES: usize = 4;

/// The whole file: a row of weights in the module's order, what the network is, and more that readers may want to know.
pub fn encode(
    row: &[f32],
    architecture: &Architecture,
    more: HashMap<String, String>,
) -> Result<Vec<u8>, SafeTensorError> {
    let mut rest = row;
    let mut tensors = Vec::new();
    for tensor in architecture.weights() {
        let shape = tensor.shape_in_file();
        let Some((own, after)) = rest.split_at_checked(tensor.len()) else {
            return Err(SafeTensorError::InvalidTensorView(Dtype::F32, shape, rest.len()));
        };
        rest = after;
        let numbers = if tensor.is_transposed() { transposed(own, shape[0]) } else { own.to_vec() };
        let bytes: Vec<u8> = numbers.into_iter().flat_map(f32::to_le_bytes).collect();
        tensors.push((tensor.name, shape, bytes));
    }
    let views: Result<Vec<_>, SafeTensorError> = tensors
        .iter()
        .map(|(name, shape, bytes)| Ok((name, TensorView::new(Dtype::F32, shape.clone(), bytes)?)))
        .collect();
    let mut metadata = metadata(architecture);
    metadata.extend(more);
    serialize(views?, Some(metadata))
}

pub struct Opened<'a> {
    file: SafeTensors<'a>,
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
        let of = |(_, tensor): &(String, TensorView<'_>)| tensor.shape().iter().product::<usize>();
        self.file.tensors().iter().map(of).sum()
    }

    /// The weights of a network as a row in the module's order.
    pub fn row(&self, architecture: &Architecture) -> Result<Vec<f32>, DecodeError> {
        row(std::slice::from_ref(self), architecture, Head::Own)
    }
}

/// The weights of a network as a row in the module's order, from files that each have some of them.
pub(super) fn row(
    files: &[Opened<'_>],
    architecture: &Architecture,
    head: Head,
) -> Result<Vec<f32>, DecodeError> {
    let wanted = architecture.weights();
    let stored = |tensor: &WeightTensor| match (tensor.name.as_str(), head) {
        (HEAD, Head::Tied) => EMBEDDING.to_owned(),
        (name, Head::Own | Head::Tied) => name.to_owned(),
    };
    let differences = differences(files, &wanted, architecture, &stored);
    if !differences.is_empty() {
        return Err(DecodeError::Misfit(shortened(differences)));
    }
    let mut row = Vec::with_capacity(wanted.iter().map(WeightTensor::len).sum());
    for tensor in &wanted {
        let name = stored(tensor);
        let missing = || DecodeError::Foreign(format!("{name} is not in the file"));
        let numbers = floats(&find(files, &name).ok_or_else(missing)?);
        if numbers.iter().any(|number| !number.is_finite()) {
            return Err(DecodeError::Foreign(format!("{name} holds a number that is not finite")));
        }
        // In the file a matrix has its outputs as rows.
        if tensor.is_transposed() {
            row.extend(transposed(&numbers, tensor.shape[0]));
        } else {
            row.extend(numbers);
        }
    }
    Ok(row)
}

/// Where the output head's weights are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    Own,
    /// They are the embedding's.
    Tied,
}

const EMBEDDING: &str = "model.embed_tokens.weight";
const HEAD: &str = "lm_head.weight";

fn find<'a>(files: &'a [Opened<'_>], name: &str) -> Option<TensorView<'a>> {
    files.iter().find_map(|file| file.file.tensor(name).ok())
}

/// The numbers of a tensor of one of the types that [`NUMBERS`] lists.
fn floats(view: &TensorView<'_>) -> Vec<f32> {
    let data = view.data();
    let pairs = |of: fn([u8; 2]) -> f32| data.as_chunks::<2>().0.iter().map(move |b| of(*b));
    if view.dtype() == Dtype::BF16 {
        pairs(|bytes| bf16::from_le_bytes(bytes).to_f32()).collect()
    } else if view.dtype() == Dtype::F16 {
        pairs(|bytes| f16::from_le_bytes(bytes).to_f32()).collect()
    } else {
        data.as_chunks::<BYTES>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
    }
}

const NUMBERS: [Dtype; 3] = [Dtype::F32, Dtype::BF16, Dtype::F16];

/// Everything in which the files and a network differ, a line each.
fn differences(
    files: &[Opened<'_>],
    wanted: &[WeightTensor],
    architecture: &Architecture,
    stored: &impl Fn(&WeightTensor) -> String,
) -> Vec<String> {
    let mut all = Vec::new();
    for tensor in wanted {
        let (name, mine) = (stored(tensor), tensor.shape_in_file());
        match find(files, &name) {
            None => all.push(format!("{name} is not in the file")),
            Some(theirs) if theirs.shape() != mine => all.push(format!(
                "{name} is {:?} in the file, {mine:?} in this network",
                theirs.shape()
            )),
            Some(theirs) if !NUMBERS.contains(&theirs.dtype()) => all.push(format!(
                "{name} holds numbers of type {} in the file; F32, BF16 and F16 are read",
                theirs.dtype()
            )),
            Some(_) => {}
        }
    }
    let mut alone: Vec<&str> = files.iter().flat_map(|file| file.file.names()).collect();
    // A head that shares the embedding may be in the file as well.
    alone.retain(|name| !wanted.iter().any(|tensor| tensor.name == **name));
    // Old files have the speeds of rotary positions, which follow from the base.
    alone.retain(|name| !name.ends_with(".rotary_emb.inv_freq"));
    alone.sort_unstable();
    all.extend(alone.iter().map(|name| format!("{name} is in the file alone")));
    // What no shape tells.
    let mine = metadata(architecture);
    for name in ["num_attention_heads", "num_key_value_heads"] {
        for theirs in files.iter().filter_map(|file| file.metadata.get(name)) {
            if let Some(mine) = mine.get(name).filter(|mine| *mine != theirs) {
                all.push(format!("{name} is {theirs} in the file, {mine} in this network"));
            }
        }
    }
    all
}

/// The sizes, under the names of a Llama model's `config.json`.
fn metadata(architecture: &Architecture) -> HashMap<String, String> {
    let mut all = HashMap::from([
        ("format".to_owned(), "pt".to_owned()),
        ("description".to_owned(), architecture.in_words()),
    ]);
    if let Architecture::Transformer(config) = architecture {
        let sizes = hugging_face::sizes(config).into_iter();
        all.extend(sizes.map(|(name, value)| (name.to_owned(), value.to_string())));
        all.insert("architectures".to_owned(), hugging_face::ARCHITECTURE.to_owned());
        all.insert("model_type".to_owned(), hugging_face::MODEL_TYPE.to_owned());
        all.insert("hidden_act".to_owned(), hugging_face::ACTIVATION.to_owned());
    }
    all
}

impl WeightTensor {
    fn is_transposed(&self) -> bool {
        matches!(self.role, Role::Matrix(_))
    }

    fn shape_in_file(&self) -> Vec<usize> {
        let mut shape = self.shape.clone();
        if self.is_transposed() {
            shape.reverse();
        }
        shape
    }
}
