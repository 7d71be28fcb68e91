//! burn's own format, a record of named tensors, and how a record differs from a network.

use crate::networks::{Architecture, Network};
use crate::weights::DecodeError;
use burn::module::{Module, Param, ParamId};
use burn::store::{ModuleRecord, RecordError};
use burn::tensor::{Bytes, Int, Tensor};

/// Differences that a message shows; a deep network of another shape has hundreds.
const MOST_SHOWN: usize = 12;

/// What the names of the network's tensors begin with in a file.
const OF_THE_NETWORK: &str = "network.";

#[derive(Module, Debug)]
struct Saved {
    network: Network,
    /// Query heads and key/value heads, `[2]`; zero for networks without. No shape of a weight tells them.
    heads: Param<Tensor<1, Int>>,
}

pub fn encode(network: &Network, architecture: &Architecture) -> Result<Bytes, RecordError> {
    saved(network.clone(), architecture).into_record().into_bytes()
}

pub(super) fn decode(
    bytes: Vec<u8>,
    network: Network,
    architecture: &Architecture,
) -> Result<Network, DecodeError> {
    let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(bytes));
    let record = record.map_err(|error| DecodeError::Foreign(message_of(error)))?;
    let mine = saved(network, architecture);
    let differences = differences(&mine, &record);
    if !differences.is_empty() {
        return Err(DecodeError::Misfit(differences));
    }
    let loaded = mine.try_load_record(record.cast_to_module_dtype());
    let loaded = loaded.map_err(|error| DecodeError::Misfit(vec![message_of(error)]))?;
    let (theirs, ours) = (heads(&loaded.heads), heads_of(architecture));
    if theirs == ours {
        return Ok(loaded.network);
    }
    let [theirs, ours] = [theirs, ours].map(|[all, kv]| format!("{all} heads and {kv} kv_heads"));
    Err(DecodeError::Misfit(vec![format!("{theirs} in the file, {ours} in this network")]))
}

fn saved(network: Network, architecture: &Architecture) -> Saved {
    let device = network.devices().into_iter().next().unwrap_or_default();
    let heads = Tensor::from_data(heads_of(architecture), &device);
    Saved { network, heads: Param::initialized(ParamId::new(), heads) }
}

fn heads_of(architecture: &Architecture) -> [i64; 2] {
    match architecture {
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => [0, 0],
        Architecture::Transformer(config) => {
            [config.heads, config.kv_heads].map(|heads| heads as i64)
        }
    }
}

fn heads(param: &Param<Tensor<1, Int>>) -> [i64; 2] {
    let data = param.val().into_data();
    let mut heads = data.iter::<i64>();
    [heads.next().unwrap_or(0), heads.next().unwrap_or(0)]
}

/// All differences of a record and a network; burn reports one kind at a time, so it is asked once for each.
fn differences(mine: &Saved, record: &ModuleRecord) -> Vec<String> {
    let shapes = record.clone().allow_partial(true).allow_unused(true);
    let missing = record.clone().validate(false).allow_unused(true);
    let unused = record.clone().validate(false).allow_partial(true);
    let mut all = Vec::new();
    for (record, in_words) in [
        (shapes, shape as fn(&str) -> String),
        (missing, |name| format!("{name} is not in the file")),
        (unused, |name| format!("{name} is in the file alone")),
    ] {
        if let Err(error) = mine.clone().try_load_record(record) {
            let message = message_of(error);
            let names = items(&message);
            let names = names.map(|item| item.strip_prefix(OF_THE_NETWORK).unwrap_or(item));
            all.extend(names.map(in_words));
        }
    }
    shortened(all)
}

/// As many differences as a message shows, and how many there are besides.
pub(super) fn shortened(mut all: Vec<String>) -> Vec<String> {
    if all.len() > MOST_SHOWN {
        let more = all.len() - MOST_SHOWN;
        all.truncate(MOST_SHOWN);
        all.push(format!("and {more} more"));
    }
    all
}

/// The items of burn's messages, which end in a list such as `["a", "b"]`.
fn items(message: &str) -> impl Iterator<Item = &str> {
    let list = message.split_once("[\"").and_then(|(_, list)| list.strip_suffix("\"]"));
    list.unwrap_or(message).split("\", \"")
}

/// A difference in shape as burn tells it: `head: shape mismatch, expected [32, 64] but record has [16, 64]`.
fn shape(item: &str) -> String {
    let parts = item.split_once(": shape mismatch, expected ");
    let parts = parts.and_then(|(name, both)| Some((name, both.split_once(" but record has ")?)));
    let Some((name, (mine, theirs))) = parts else { return item.to_owned() };
    format!("{name} is {} in the file, {} in this network", sizes(theirs), sizes(mine))
}

/// The sizes of burn's `Shape { dims: [32, 64] }`.
fn sizes(shape: &str) -> &str {
    let sizes = shape.strip_prefix("Shape { dims: ");
    let sizes = sizes.and_then(|sizes| sizes.strip_suffix(" }"));
    sizes.unwrap_or(shape)
}

fn message_of(error: RecordError) -> String {
    match error {
        RecordError::Io(message) | RecordError::Validation(message) => message,
    }
}
