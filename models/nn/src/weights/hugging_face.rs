//! A transformer as a folder that Hugging Face's `transformers` loads as it is: `AutoModelForCausalLM.from_pretrained(FOLDER)`
//! and `AutoTokenizer.from_pretrained(FOLDER)`.

use serde_json::{Map, Value as Json, json};

use crate::data::Vocabulary;
use crate::networks::TransformerConfig;

pub(super) const ARCHITECTURE: &str = "LlamaForCausalLM";
pub(super) const MODEL_TYPE: &str = "llama";
/// Of the gate in the MLP.
pub(super) const ACTIVATION: &str = "silu";

/// The file with the weights.
pub const WEIGHTS: &str = "model.safetensors";

/// Numbers and switches of `config.json`.
pub(super) fn sizes(config: &TransformerConfig) -> Vec<(&'static str, Json)> {
    let scaling = config.variant.rotary_scaling.json();
    let mut sizes = vec![
        ("vocab_size", json!(config.vocab)),
        ("hidden_size", json!(config.width)),
        ("intermediate_size", json!(config.ffn)),
        ("num_hidden_layers", json!(config.depth)),
        ("num_attention_heads", json!(config.heads)),
        ("num_key_value_heads", json!(config.kv_heads)),
        ("max_position_embeddings", json!(config.context)),
        ("head_dim", json!(config.head())),
        ("rms_norm_eps", json!(config.variant.rms_epsilon)),
        ("rope_theta", json!(config.variant.rotary_base)),
        ("tie_word_embeddings", json!(false)),
        ("attention_bias", json!(false)),
    ];
    sizes.extend(scaling.map(|scaling| ("rope_scaling", scaling)));
    sizes
}

/// All files but the weights, by name.
pub(super) fn files(
    config: &TransformerConfig,
    vocabulary: &Vocabulary,
) -> [(&'static str, Json); 4] {
    let mut all: Map<String, Json> =
        sizes(config).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    all.extend([
        ("architectures".to_owned(), json!([ARCHITECTURE])),
        ("model_type".to_owned(), json!(MODEL_TYPE)),
        ("hidden_act".to_owned(), json!(ACTIVATION)),
        ("dtype".to_owned(), json!("float32")),
        ("mlp_bias".to_owned(), json!(false)),
        ("bos_token_id".to_owned(), Json::Null),
        ("eos_token_id".to_owned(), Json::Null),
    ]);
    [
        ("config.json", Json::Object(all)),
        ("generation_config.json", json!({ "bos_token_id": null, "eos_token_id": null })),
        ("tokenizer.json", tokenizer(vocabulary)),
        (
            "tokenizer_config.json",
            json!({
                "tokenizer_class": "PreTrainedTokenizerFast",
                "model_max_length": config.context,
                "clean_up_tokenization_spaces": false,
            }),
        ),
    ]
}

/// The format of the `tokenizers` library. Characters are pieces that are never merged; numbers are words between spaces.
fn tokenizer(vocabulary: &Vocabulary) -> Json {
    let tokens: Map<String, Json> = vocabulary
        .names()
        .iter()
        .zip(0_u32..)
        .map(|(name, token)| (name.clone(), json!(token)))
        .collect();
    let (splitter, model, decoder) = if vocabulary.is_characters() {
        let model = json!({ "type": "BPE", "vocab": tokens, "merges": [] });
        (Json::Null, model, json!({ "type": "Fuse" }))
    } else {
        let model = json!({ "type": "WordLevel", "vocab": tokens, "unk_token": "" });
        (json!({ "type": "WhitespaceSplit" }), model, Json::Null)
    };
    json!({
        "version": "1.0",
        "added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": splitter,
        "post_processor": null,
        "decoder": decoder,
        "model": model,
    })
}
