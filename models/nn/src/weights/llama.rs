//! A model folder of the Hugging Face hub with a small Llama: `config.json`, weights as safetensors in one file or several,
//! and `tokenizer.json` where it has one.
//!
//! [`pack`] reads the files into one row of bytes, which passes between labs like any artifact; [`unpack`] makes a trained
//! network of it. A head that shares the embedding becomes a matrix of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path};
use std::sync::Arc;

use mlsys_sim::model_config::{self, Attention, AttentionBias, Family, Model, RotaryScaling};
use serde_json::Value as Json;

use super::safetensors::{self, Head, Opened};
use super::{DecodeError, hugging_face};
use crate::baseline::trained::Trained;
use crate::data::tokenizer;
use crate::data::{DataConfig, Dataset, Vocabulary};
use crate::networks::{Activation, Architecture, TransformerConfig, Variant};

/// What such an artifact is called by its ending.
pub const ENDING: &str = "llama";

/// Parameters of the largest model that is read.
pub const MAX_PARAMETERS: u64 = 160_000_000;

/// Bytes of all files of weights: 4 for each parameter, and their headers.
const MAX_WEIGHT_BYTES: u64 = 4 * MAX_PARAMETERS + (16 << 20);

const MAX_INDEX_BYTES: u64 = 8 << 20;
const MAX_SHARDS: usize = 64;

/// Context of a configuration that does not say; that of transformers' class.
const CONTEXT: u64 = 2048;

/// Tokens of the windows that a model from elsewhere is judged by.
const WINDOW: usize = 128;

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";
const INDEX: &str = "model.safetensors.index.json";

/// The files of a folder as bytes; all problems at once. Links are followed, as the hub's own cache is made of them.
pub fn pack(folder: &Path) -> Result<Vec<u8>, Vec<String>> {
    let mut problems = Vec::new();
    let mut files: Vec<(String, u64)> = Vec::new();
    let mut add = |name: &str, most: u64| match size(&folder.join(name), most) {
        Ok(bytes) => files.push((name.to_owned(), bytes)),
        Err(reason) => problems.push(format!("{name}: {reason}")),
    };
    add(CONFIG, model_config::MAX_BYTES as u64);
    if folder.join(TOKENIZER).symlink_metadata().is_ok() {
        add(TOKENIZER, tokenizer::MAX_BYTES as u64);
    }
    if folder.join(hugging_face::WEIGHTS).symlink_metadata().is_ok() {
        add(hugging_face::WEIGHTS, MAX_WEIGHT_BYTES);
    } else if folder.join(INDEX).symlink_metadata().is_ok() {
        match shards(&folder.join(INDEX)) {
            Ok(shards) => shards.iter().for_each(|shard| add(shard, MAX_WEIGHT_BYTES)),
            Err(reason) => problems.push(format!("{INDEX}: {reason}")),
        }
    } else {
        problems.push(format!("there is no {} and no {INDEX}", hugging_face::WEIGHTS));
    }
    let all: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    if all > MAX_WEIGHT_BYTES + tokenizer::MAX_BYTES as u64 {
        problems.push(too_large(all));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let header = Json::from_iter(files.iter().map(|(name, bytes)| (name.clone(), *bytes)));
    let header = header.to_string();
    let mut packed = Vec::with_capacity(8 + header.len() + all as usize);
    packed.extend((header.len() as u64).to_le_bytes());
    packed.extend(header.bytes());
    // In the order of the header, which is that of the names.
    files.sort();
    for (name, bytes) in &files {
        let read = File::open(folder.join(name))
            .and_then(|file| file.take(*bytes).read_to_end(&mut packed));
        match read {
            Ok(read) if read as u64 == *bytes => {}
            Ok(_) => problems.push(format!("{name}: it is being written")),
            Err(error) => problems.push(format!("{name}: {error}")),
        }
    }
    if problems.is_empty() { Ok(packed) } else { Err(problems) }
}

fn too_large(bytes: u64) -> String {
    format!(
        "{bytes} bytes are more than a model of {MAX_PARAMETERS} parameters has, the most that is read"
    )
}

/// Bytes of a file that may be read.
fn size(path: &Path, most: u64) -> Result<u64, String> {
    match fs::metadata(path) {
        // A pipe or a device may never end.
        Ok(about) if !about.is_file() => Err("it is not a file".to_owned()),
        Ok(about) if about.len() > most => match most {
            MAX_WEIGHT_BYTES => Err(too_large(about.len())),
            most => Err(format!("{} bytes are more than the {most} that are read", about.len())),
        },
        Ok(about) => Ok(about.len()),
        Err(error) => Err(error.to_string()),
    }
}

/// The files that an index names, all in its own folder.
fn shards(index: &Path) -> Result<BTreeSet<String>, String> {
    size(index, MAX_INDEX_BYTES)?;
    let bytes = fs::read(index).map_err(|error| error.to_string())?;
    let index: Json = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let map = index.get("weight_map").and_then(Json::as_object).ok_or("it has no weight_map")?;
    let named: Option<BTreeSet<String>> =
        map.values().map(|file| file.as_str().map(str::to_owned)).collect();
    let named = named.ok_or("its weight_map names something else than files")?;
    if named.is_empty() || named.len() > MAX_SHARDS {
        return Err(format!("it names {} files; 1 to {MAX_SHARDS} are read", named.len()));
    }
    // A name with folders could lead anywhere.
    let is_plain = |name: &&String| {
        let mut parts = Path::new(name.as_str()).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
    };
    match named.iter().find(|name| !is_plain(name) || !name.ends_with(".safetensors")) {
        Some(other) => {
            Err(format!("it names {other:?}, which is no .safetensors file of its folder"))
        }
        None => Ok(named),
    }
}

/// The trained network of a packed folder; all problems at once.
pub fn unpack(packed: &[u8]) -> Result<Trained, DecodeError> {
    let files = files(packed).ok_or_else(|| DecodeError::Foreign("it is torn".to_owned()))?;
    let config = files.get(CONFIG).copied().unwrap_or(&[]);
    let read = read_config(config).and_then(|(sizes, head)| {
        let vocabulary = match files.get(TOKENIZER) {
            Some(json) => tokenizer::read(json, sizes.vocab).map_err(|e| vec![e.to_string()])?,
            None => Vocabulary::numbers(sizes.vocab),
        };
        Ok((sizes, head, vocabulary))
    });
    let (mut opened, mut problems): (Vec<Opened<'_>>, _) = (Vec::new(), Vec::new());
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".safetensors")) {
        match safetensors::open(bytes) {
            Ok(file) => opened.push(file),
            Err(error) => problems.push(format!("{name}: {}", error.in_words())),
        }
    }
    let (sizes, head, vocabulary) = match read {
        Ok(read) if problems.is_empty() => read,
        Ok(_) => return Err(DecodeError::Unfit(problems)),
        Err(reasons) => return Err(DecodeError::Unfit([reasons, problems].concat())),
    };
    let context = sizes.context.min(WINDOW);
    let architecture = Architecture::Transformer(sizes);
    let weights = safetensors::row(&opened, &architecture, head)?;
    // What mlsys has saved says what it learned; of others the data are a text in the model's own tokens.
    let described = opened.iter().find_map(|file| Trained::description(file, &architecture));
    let (data, activation, steps) = match described {
        Some(described) => described?,
        None => (
            DataConfig {
                context,
                tokenizer: Some(Arc::new(vocabulary)),
                ..DataConfig::new(Dataset::Text, 1)
            },
            Activation::Relu,
            0,
        ),
    };
    Ok(Trained { architecture, activation, data, steps, weights })
}

/// The files of a packed folder by name.
fn files(packed: &[u8]) -> Option<BTreeMap<String, &[u8]>> {
    let (len, rest) = packed.split_first_chunk::<8>()?;
    let (header, mut rest) =
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
    let header: BTreeMap<String, usize> = serde_json::from_slice(header).ok()?;
    let mut files = BTreeMap::new();
    for (name, len) in header {
        let (file, after) = rest.split_at_checked(len)?;
        files.insert(name, file);
        rest = after;
    }
    Some(files)
}

/// The sizes that a configuration names, and where its head is; without a network that runs here, why not.
fn read_config(bytes: &[u8]) -> Result<(TransformerConfig, Head), Vec<String>> {
    let said = |problem: String| format!("{CONFIG}: {problem}");
    let model = Model::read(bytes).map_err(|problems| {
        problems.iter().map(|problem| said(problem.shown(bytes))).collect::<Vec<_>>()
    })?;
    let config = &model.config;
    let (Some(numerics), Attention::Heads { kv_heads, head_dim }) =
        (&config.numerics, config.attention)
    else {
        let only = format!("model_type is {}; only {} runs here", config.family, Family::Llama);
        return Err(vec![said(only)]);
    };
    let mut problems = Vec::new();
    let activation = numerics.activation.escape_debug();
    if numerics.activation != hugging_face::ACTIVATION {
        problems.push(format!("hidden_act is {activation}, not {}", hugging_face::ACTIVATION));
    }
    if config.attention_bias != AttentionBias::None || config.ffn_bias {
        problems.push("attention_bias or mlp_bias is true; biases are not supported".to_owned());
    }
    let rotary_scaling = numerics.rotary_scaling.clone().unwrap_or_else(|error| {
        problems.push(error.to_string());
        RotaryScaling::Unscaled
    });
    if model.parameters > MAX_PARAMETERS {
        problems.push(format!(
            "the model has {} parameters; at most {MAX_PARAMETERS} run here",
            model.parameters
        ));
    }
    // Each is at most 2^30.
    let size = |size: u64| size as usize;
    // A width of heads that follows from the others is none of its own.
    let own_head = (head_dim * config.heads != config.hidden).then(|| size(head_dim));
    let sizes = TransformerConfig {
        vocab: size(config.vocab),
        width: size(config.hidden),
        depth: size(config.layers),
        heads: size(config.heads),
        kv_heads: size(kv_heads),
        ffn: size(config.ffn),
        context: size(config.context.unwrap_or(CONTEXT)),
        variant: Variant {
            head: own_head,
            rotary_base: numerics.rotary_base,
            rotary_scaling,
            rms_epsilon: numerics.epsilon,
        },
    };
    if let Err((_, reason)) = sizes.check() {
        problems.push(reason);
    }
    let head = if config.tied { Head::Tied } else { Head::Own };
    if problems.is_empty() {
        Ok((sizes, head))
    } else {
        Err(problems.into_iter().map(said).collect())
    }
}
