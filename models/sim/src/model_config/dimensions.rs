//! The dimensions from the fields, by the conventions of the family, and the fields that contradict each other.

use serde_json::Value as Json;

use super::family::{
    BiasRule, Conventions, ExpertLayers, ExpertRule, Family, HeadDim, Presence, WindowRule,
};
use super::fields::Fields;
use super::numerics::numerics;
use super::{Attention, AttentionBias, Experts, ModelConfig, Window};

/// The names of the main fields, which GPT-2 has shorter.
struct Names {
    hidden: &'static str,
    layers: &'static str,
    heads: &'static str,
    context: &'static str,
}

const NAMES: Names = Names {
    hidden: "hidden_size",
    layers: "num_hidden_layers",
    heads: "num_attention_heads",
    context: "max_position_embeddings",
};

const GPT2_NAMES: Names =
    Names { hidden: "n_embd", layers: "n_layer", heads: "n_head", context: "n_positions" };

pub(super) fn dimensions(fields: &mut Fields<'_>, family: Family) -> ModelConfig {
    let conventions = family.conventions();
    let names = if family == Family::Gpt2 { GPT2_NAMES } else { NAMES };
    let [hidden, layers, heads, vocab, ffn] = class_defaults(family, fields.is_inner);
    let hidden = fields.number_from(names.hidden, 1, hidden);
    let layers = fields.number_from(names.layers, 1, layers);
    let heads = fields.number_from(names.heads, 1, heads);
    let vocab = fields.number_from("vocab_size", 1, vocab);
    let ffn = if family == Family::Gpt2 {
        fields.number_from("n_inner", 1, Some(4 * hidden))
    } else {
        let key = if family == Family::Opt { "ffn_dim" } else { "intermediate_size" };
        fields.number_from(key, 1, ffn)
    };
    let (positions, embedding, final_norm) = if family == Family::Opt {
        opt(fields, hidden)
    } else {
        let learned = (family == Family::Gpt2).then(|| fields.number(names.context));
        (learned, hidden, true)
    };
    let context = fields.optional(names.context);
    ModelConfig {
        family,
        layers,
        hidden,
        vocab,
        embedding,
        positions,
        context,
        tied: fields.flag("tie_word_embeddings", conventions.tied),
        final_norm,
        heads,
        attention: attention(fields, family, [hidden, heads], [names.hidden, names.heads]),
        attention_bias: bias(fields, conventions.attention_bias),
        window: window(fields, conventions.window, layers),
        ffn,
        ffn_bias: bias(fields, conventions.ffn_bias) == AttentionBias::All,
        experts: conventions.experts.map(|rule| experts(fields, rule, layers)),
        numerics: (family == Family::Llama).then(|| numerics(fields, context)),
    }
}

/// Hidden size, layers, heads, vocabulary and MLP width of the class: an object inside a file of several models leaves
/// out what equals them.
fn class_defaults(family: Family, is_inner: bool) -> [Option<u64>; 5] {
    if is_inner && family == Family::Llama {
        [4096, 32, 32, 32_000, 11_008].map(Some)
    } else if is_inner && family == Family::Gemma3 {
        [2304, 26, 8, 262_208, 9216].map(Some)
    } else {
        [None; 5]
    }
}

/// Its learned positions begin at the third row; the one with norms after the blocks ends without one.
fn opt(fields: &mut Fields<'_>, hidden: u64) -> (Option<u64>, u64, bool) {
    let key = "layer_norm_elementwise_affine";
    if !fields.flag(key, true) {
        fields.problem(key, "layer norms without weights are not supported", "it has to be true");
    }
    let rows = fields.number(NAMES.context) + 2;
    let width = fields.number_from("word_embed_proj_dim", 1, Some(hidden));
    let is_before = fields.flag("do_layer_norm_before", true);
    (Some(rows), width, is_before && !fields.flag("_remove_final_layer_norm", false))
}

fn bias(fields: &mut Fields<'_>, rule: BiasRule) -> AttentionBias {
    match rule {
        BiasRule::Never => AttentionBias::None,
        BiasRule::Always => AttentionBias::All,
        BiasRule::Inputs => AttentionBias::Inputs,
        BiasRule::Field(key, default) if fields.flag(key, default) => AttentionBias::All,
        BiasRule::Field(..) => AttentionBias::None,
    }
}

fn attention(
    fields: &mut Fields<'_>,
    family: Family,
    [hidden, heads]: [u64; 2],
    [hidden_key, heads_key]: [&str; 2],
) -> Attention {
    let Conventions { kv_heads, head_dim, .. } = family.conventions();
    if head_dim == HeadDim::Latent {
        return Attention::Latent {
            query_rank: fields.optional("q_lora_rank"),
            rank: fields.number("kv_lora_rank"),
            rope: fields.number("qk_rope_head_dim"),
            nope: fields.number("qk_nope_head_dim"),
            value: fields.number("v_head_dim"),
        };
    }
    let key = "num_key_value_heads";
    let kv_heads = match kv_heads {
        Presence::Absent => heads,
        Presence::Optional => fields.number_from(key, 1, Some(heads)),
        // The default of its class, in a file of several models.
        Presence::Required if family == Family::Gemma3 && fields.is_inner => {
            fields.number_from(key, 1, Some(4))
        }
        Presence::Required => fields.number(key),
    };
    if !heads.is_multiple_of(kv_heads) {
        let message = format!("{key} is {kv_heads}, which does not divide {heads}");
        let help = format!("the {heads} query heads share them evenly");
        fields.contradiction([key, heads_key], message, help);
    }
    let own = (family.conventions().kv_heads != Presence::Absent).then_some("head_dim");
    let head_dim = match (own.and_then(|key| fields.optional(key)), head_dim) {
        (Some(width), _) | (None, HeadDim::Default(width)) => width,
        (None, HeadDim::Required) => fields.number("head_dim"),
        (None, HeadDim::Divided | HeadDim::Latent) => {
            if !hidden.is_multiple_of(heads) {
                let message = format!("{heads_key} is {heads}, which does not divide {hidden}");
                let help = "the width of a head is whole: change one of the two";
                fields.contradiction([heads_key, hidden_key], message, help);
            }
            hidden / heads
        }
    };
    Attention::Heads { kv_heads, head_dim }
}

fn experts(fields: &mut Fields<'_>, rule: ExpertRule, layers: u64) -> Experts {
    let active_key = "num_experts_per_tok";
    let (count, active) = (fields.number(rule.count), fields.number(active_key));
    if active > count {
        let message = format!("{active_key} is {active}, and there are {count} experts");
        fields.contradiction([active_key, rule.count], message, "a token is sent to some of them");
    }
    let width = fields.number(rule.width);
    let mut shared = 0;
    let having = |has: &dyn Fn(u64) -> bool| (0..layers).filter(|layer| has(*layer)).count() as u64;
    let layers = match rule.layers {
        ExpertLayers::All => layers,
        ExpertLayers::Sparse => {
            let every = fields.number_from("decoder_sparse_step", 1, Some(1));
            let dense = dense_layers(fields, layers);
            having(&|layer| {
                (layer + 1).is_multiple_of(every) && dense.binary_search(&layer).is_err()
            })
        }
        ExpertLayers::AfterDense => {
            shared = width * fields.number_from("n_shared_experts", 0, Some(0));
            let dense = fields.number_from("first_k_dense_replace", 0, Some(0));
            let every = fields.number_from("moe_layer_freq", 1, Some(1));
            having(&|layer| layer >= dense && layer.is_multiple_of(every))
        }
    };
    Experts { count, active, width, shared, layers }
}

/// The layers that `mlp_only_layers` lists, in order.
fn dense_layers(fields: &mut Fields<'_>, layers: u64) -> Vec<u64> {
    let key = "mlp_only_layers";
    let Some(list) = fields.get(key) else { return Vec::new() };
    let listed: Option<Vec<u64>> =
        list.as_array().and_then(|list| list.iter().map(Json::as_u64).collect());
    let Some(mut listed) = listed.filter(|listed| listed.iter().all(|&layer| layer < layers))
    else {
        let help = format!("it lists numbers of layers, from 0 to {}", layers - 1);
        let message = format!("{key} names a layer that does not exist");
        fields.contradiction([key, NAMES.layers], message, help);
        return Vec::new();
    };
    listed.sort_unstable();
    listed
}

/// The window and the layers it applies to: by `layer_types`, or by the rule of the family.
fn window(fields: &mut Fields<'_>, rule: WindowRule, layers: u64) -> Option<Window> {
    let listed = layer_types(fields, layers);
    let is_used = match rule {
        WindowRule::Never => false,
        WindowRule::Flagged => fields.flag("use_sliding_window", false),
        WindowRule::All | WindowRule::EveryOther | WindowRule::AllBut(_) => true,
    };
    let tokens = is_used.then(|| fields.optional("sliding_window")).flatten();
    let Some(tokens) = tokens else {
        if listed.is_some_and(|layers| layers > 0) {
            let help = "add sliding_window, or name these layers full_attention";
            fields.problem("layer_types", "layers attend to a window without a size", help);
        }
        return None;
    };
    let layers = match (listed, rule) {
        (Some(listed), _) => listed,
        (None, WindowRule::Never | WindowRule::All) => layers,
        (None, WindowRule::EveryOther) => layers.div_ceil(2),
        (None, WindowRule::AllBut(n)) => {
            layers - layers / fields.number_from("sliding_window_pattern", 1, Some(n))
        }
        (None, WindowRule::Flagged) => {
            layers.saturating_sub(fields.number_from("max_window_layers", 0, Some(layers)))
        }
    };
    (layers > 0).then_some(Window { tokens, layers })
}

/// How many layers `layer_types` gives a window.
fn layer_types(fields: &mut Fields<'_>, layers: u64) -> Option<u64> {
    let key = "layer_types";
    let Some(list) = fields.get(key)?.as_array().cloned() else {
        fields.problem(key, "layer_types is not a list", "name each layer's attention");
        return None;
    };
    if list.len() as u64 != layers {
        let message = format!("layer_types has {} entries for {layers} layers", list.len());
        fields.contradiction([key, NAMES.layers], message, "name each layer's attention once");
    }
    let names = ["full_attention", "sliding_attention"];
    if list.iter().any(|name| !name.as_str().is_some_and(|name| names.contains(&name))) {
        let help = format!("supported are {}", names.join(" and "));
        fields.problem(key, "layer_types has another kind of attention", help);
    }
    Some(list.iter().filter(|name| name.as_str() == Some(names[1])).count() as u64)
}
