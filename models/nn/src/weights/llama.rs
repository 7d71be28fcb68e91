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

use serde_json::{Map, Value as Json};

use super::safetensors::{self, Head, Opened};
use super::{DecodeError, hugging_face};
use crate::baseline::trained::Trained;
use crate::data::tokenizer;
use crate::data::{DataConfig, Dataset, Vocabulary};
use crate::networks::{Activation, Architecture, ROTARY_BASE, TransformerConfig, Variant};

/// What such an artifact is called by its ending.
pub const ENDING: &str = "llama";

/// Parameters of the largest model that is read.
pub const MAX_PARAMETERS: u64 = 160_000_000;

/// Bytes of all files of weights: 4 for each parameter, and their headers.
const MAX_WEIGHT_BYTES: u64 = 4 * MAX_PARAMETERS + (16 << 20);

const MAX_CONFIG_BYTES: u64 = 1 << 20;
const MAX_INDEX_BYTES: u64 = 8 << 20;
const MAX_SHARDS: usize = 64;

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
    add(CONFIG, MAX_CONFIG_BYTES);
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
    let mut problems = Vec::new();
    let bytes = |name: &str| files.get(name).copied().unwrap_or(&[]);
    let config = Config::read(bytes(CONFIG), &mut problems);
    let mut opened: Vec<Opened<'_>> = Vec::new();
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".safetensors")) {
        match safetensors::open(bytes) {
            Ok(file) => opened.push(file),
            Err(error) => problems.push(format!("{name}: {}", error.in_words())),
        }
    }
    let read = config.map(|config| {
        let vocab = config.sizes.vocab;
        let vocabulary = match files.get(TOKENIZER) {
            Some(json) => tokenizer::read(json, vocab).map_err(|error| error.to_string()),
            None => Ok(Vocabulary::numbers(vocab)),
        };
        (config, vocabulary)
    });
    let (config, vocabulary) = match read {
        Some((config, Ok(vocabulary))) if problems.is_empty() => (config, vocabulary),
        Some((_, Err(error))) => {
            problems.push(error);
            return Err(DecodeError::Unfit(problems));
        }
        Some((_, Ok(_))) | None => return Err(DecodeError::Unfit(problems)),
    };
    let architecture = Architecture::Transformer(config.sizes.clone());
    let weights = safetensors::row(&opened, &architecture, config.head)?;
    // What mlsys has saved says what it learned; of others the data are a text in the model's own tokens.
    let described = opened.iter().find_map(|file| Trained::description(file, &architecture));
    let (data, activation, steps) = match described {
        Some(described) => described?,
        None => (
            DataConfig {
                context: config.sizes.context.min(WINDOW),
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

struct Config {
    sizes: TransformerConfig,
    head: Head,
}

impl Config {
    /// Reads config.json; without one that can be used, why not.
    fn read(bytes: &[u8], problems: &mut Vec<String>) -> Option<Self> {
        let object = match serde_json::from_slice(bytes) {
            Ok(Json::Object(object)) => object,
            Ok(_) => {
                problems.push(format!("{CONFIG}: it is not a JSON object"));
                return None;
            }
            Err(error) => {
                problems.push(format!("{CONFIG}: {error}"));
                return None;
            }
        };
        let before = problems.len();
        let mut fields = Fields { object: &object, problems: &mut *problems };
        let kind = fields.text("model_type").unwrap_or("missing").to_owned();
        if kind != hugging_face::MODEL_TYPE {
            fields.problem(format!(
                "model_type is {kind}; only {} runs here",
                hugging_face::MODEL_TYPE
            ));
            return None;
        }
        let activation = fields.text("hidden_act").unwrap_or(hugging_face::ACTIVATION).to_owned();
        if activation != hugging_face::ACTIVATION {
            fields.problem(format!("hidden_act is {activation}, not {}", hugging_face::ACTIVATION));
        }
        for key in ["attention_bias", "mlp_bias"] {
            if fields.flag(key) {
                fields.problem(format!("{key} is true; biases are not supported"));
            }
        }
        let rotary = fields.rotary();
        let heads = fields.size("num_attention_heads", None);
        let mut config = TransformerConfig {
            vocab: fields.size("vocab_size", None),
            width: fields.size("hidden_size", None),
            depth: fields.size("num_hidden_layers", None),
            heads,
            kv_heads: fields.size("num_key_value_heads", Some(heads)),
            ffn: fields.size("intermediate_size", None),
            context: fields.size("max_position_embeddings", Some(2048)),
            variant: Variant {
                head: fields.given("head_dim").then(|| fields.size("head_dim", None)),
                rotary_base: rotary,
                rms_epsilon: fields.float("rms_norm_eps", 1e-6),
            },
        };
        let head = if fields.flag("tie_word_embeddings") { Head::Tied } else { Head::Own };
        if problems.len() > before {
            return None;
        }
        // A width of heads that follows from the others is none of its own.
        config.variant.head =
            config.variant.head.filter(|head| head.saturating_mul(heads) != config.width);
        if let Err((_, reason)) = config.check() {
            problems.push(format!("{CONFIG}: {reason}"));
            return None;
        }
        let parameters = parameters(&config, head);
        if parameters > u128::from(MAX_PARAMETERS) {
            problems.push(format!(
                "{CONFIG}: the model has {parameters} parameters; at most {MAX_PARAMETERS} run here"
            ));
            return None;
        }
        Some(Self { sizes: config, head })
    }
}

/// Their count, by sizes of at most 2^30 each.
fn parameters(config: &TransformerConfig, head: Head) -> u128 {
    let of = |size: usize| size as u128;
    let (h, f, depth) = (of(config.width), of(config.ffn), of(config.depth));
    let tables = if head == Head::Tied { 1 } else { 2 };
    let attention = 2 * h * of(config.queries()) + 2 * h * of(config.keys());
    tables * of(config.vocab) * h + depth * (attention + 3 * h * f + 2 * h) + h
}

struct Fields<'a> {
    object: &'a Map<String, Json>,
    problems: &'a mut Vec<String>,
}

impl Fields<'_> {
    fn problem(&mut self, message: String) {
        self.problems.push(format!("{CONFIG}: {}", message.escape_debug()));
    }

    fn get(&self, key: &str) -> Option<&Json> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    fn given(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Json::as_str)
    }

    fn flag(&self, key: &str) -> bool {
        self.get(key).and_then(Json::as_bool).unwrap_or(false)
    }

    fn size(&mut self, key: &str, default: Option<usize>) -> usize {
        const MOST: u64 = 1 << 20;
        match (self.get(key).cloned(), default) {
            (Some(value), _) => match value.as_u64().filter(|size| (1..=MOST).contains(size)) {
                Some(size) => size as usize,
                None => {
                    self.problem(format!(
                        "{key} is {}, not a whole number from 1 to {MOST}",
                        short(&value)
                    ));
                    1
                }
            },
            (None, Some(default)) => default,
            (None, None) => {
                self.problem(format!("{key} is missing"));
                1
            }
        }
    }

    /// A number above zero.
    fn float(&mut self, key: &str, default: f64) -> f64 {
        let Some(value) = self.get(key).cloned() else { return default };
        self.positive(key, &value).unwrap_or(default)
    }

    fn positive(&mut self, key: &str, value: &Json) -> Option<f64> {
        let number = value.as_f64().filter(|number| *number > 0.0 && number.is_finite());
        if number.is_none() {
            self.problem(format!("{key} is {}, not a number above 0", short(value)));
        }
        number
    }

    /// The base of rotary positions, under the names of older and newer files.
    fn rotary(&mut self) -> f64 {
        let mut base = self.float("rope_theta", ROTARY_BASE);
        for key in ["rope_parameters", "rope_scaling"] {
            let Some(Json::Object(how)) = self.get(key).cloned() else { continue };
            let kind = how.get("rope_type").or_else(|| how.get("type")).and_then(Json::as_str);
            if let Some(kind) = kind.filter(|kind| *kind != "default") {
                self.problem(format!(
                    "{key} is of type {kind}; scaled positions are not supported"
                ));
            }
            if let Some(theta) = how.get("rope_theta") {
                base = self.positive("rope_theta", theta).unwrap_or(base);
            }
        }
        base
    }
}

fn short(value: &Json) -> String {
    value.to_string().chars().take(40).collect()
}
