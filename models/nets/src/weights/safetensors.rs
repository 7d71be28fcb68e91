//! Weights for other programs: the safetensors format, for a transformer with the names and the orientation of the
//! Llama models in Hugging Face's library.
//!
//! Our matrices are `[inputs, outputs]` and go out as `[outputs, inputs]`. Rotary positions turn number i of a head with
//! number i + head / 2, as that library does, so that queries and keys go out as they are.

use std::collections::HashMap;

use burn::module::Param;
use burn::tensor::Tensor;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, serialize};

use crate::nets::{
    Architecture, Cnn, FilterNet, Mlp, Network, RMS_EPSILON, ROTARY_BASE, Transformer,
};

/// A tensor on its way out: name, shape, numbers as f32 in little-endian order.
type Named = (String, Vec<usize>, Vec<u8>);

/// The whole file.
pub(super) fn encode(
    network: &Network,
    architecture: &Architecture,
) -> Result<Vec<u8>, SafeTensorError> {
    let tensors = match network {
        Network::Mlp(mlp) => of_mlp(mlp),
        Network::Cnn(cnn) => of_cnn(cnn),
        Network::Filters(filters) => of_filters(filters),
        Network::Transformer(transformer) => of_transformer(transformer),
    };
    let views: Result<Vec<_>, SafeTensorError> = tensors
        .iter()
        .map(|(name, shape, bytes)| Ok((name, TensorView::new(Dtype::F32, shape.clone(), bytes)?)))
        .collect();
    serialize(views?, Some(metadata(architecture)))
}

/// The sizes, under the names of a Llama model's `config.json`.
fn metadata(architecture: &Architecture) -> HashMap<String, String> {
    let mut pairs = vec![
        ("format", "pt".to_owned()),
        ("description", architecture.in_words()),
    ];
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
    let owned = pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    owned.collect()
}

fn of_transformer(transformer: &Transformer) -> Vec<Named> {
    let mut all = vec![plain("model.embed_tokens.weight", &transformer.embedding)];
    for (index, block) in transformer.blocks.iter().enumerate() {
        let (attention, mlp) = (&block.attention, &block.mlp);
        let name = |part: &str| format!("model.layers.{index}.{part}.weight");
        all.extend([
            plain(&name("input_layernorm"), &block.attention_norm.scale),
            turned(&name("self_attn.q_proj"), &attention.query),
            turned(&name("self_attn.k_proj"), &attention.key),
            turned(&name("self_attn.v_proj"), &attention.value),
            turned(&name("self_attn.o_proj"), &attention.output),
            plain(&name("post_attention_layernorm"), &block.mlp_norm.scale),
            turned(&name("mlp.gate_proj"), &mlp.gate),
            turned(&name("mlp.up_proj"), &mlp.up),
            turned(&name("mlp.down_proj"), &mlp.down),
        ]);
    }
    all.push(plain("model.norm.weight", &transformer.norm.scale));
    all.push(turned("lm_head.weight", &transformer.head));
    all
}

fn of_mlp(mlp: &Mlp) -> Vec<Named> {
    let mut all = Vec::new();
    for (index, layer) in mlp.layers.iter().enumerate() {
        all.push(turned(&format!("layers.{index}.weight"), &layer.weight));
        let bias = layer.bias.as_ref();
        all.extend(bias.map(|bias| plain(&format!("layers.{index}.bias"), bias)));
    }
    all
}

fn of_cnn(cnn: &Cnn) -> Vec<Named> {
    let mut all = Vec::new();
    for (index, convolution) in cnn.convolutions.iter().enumerate() {
        let name = |part: &str| format!("convolutions.{index}.{part}");
        // [outputs, inputs, 3, 3] is everybody's order.
        all.push(plain(&name("weight"), &convolution.weight));
        all.push(plain(&name("bias"), &convolution.bias));
    }
    all.push(turned("head.weight", &cnn.head.weight));
    all.extend(cnn.head.bias.as_ref().map(|bias| plain("head.bias", bias)));
    all
}

fn of_filters(net: &FilterNet) -> Vec<Named> {
    let filters = net.filters.iter().enumerate();
    let filters =
        filters.map(|(index, filter)| plain(&format!("filters.{index}.weight"), &filter.weight));
    filters
        .chain([turned("head.weight", &net.head.weight)])
        .chain(net.head.bias.as_ref().map(|bias| plain("head.bias", bias)))
        .collect()
}

/// A tensor as it is.
fn plain<const D: usize>(name: &str, param: &Param<Tensor<D>>) -> Named {
    named(name, param.val())
}

/// A matrix `[inputs, outputs]` as `[outputs, inputs]`.
fn turned(name: &str, param: &Param<Tensor<2>>) -> Named {
    named(name, param.val().transpose())
}

fn named<const D: usize>(name: &str, tensor: Tensor<D>) -> Named {
    let shape = tensor.dims().to_vec();
    let data = tensor.into_data();
    let bytes = data.iter::<f32>().flat_map(f32::to_le_bytes).collect();
    (name.to_owned(), shape, bytes)
}
