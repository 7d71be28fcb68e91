//! The supported families and what distinguishes them, in one table.

use mlsys_lab::named_enum;

named_enum! {
    /// The supported values of `model_type`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Family {
        Gpt2 = "gpt2",
        Opt = "opt",
        GptNeox = "gpt_neox",
        Llama = "llama",
        Mistral = "mistral",
        Mixtral = "mixtral",
        Qwen2 = "qwen2",
        Qwen3 = "qwen3",
        Qwen3Moe = "qwen3_moe",
        Gemma = "gemma",
        Gemma2 = "gemma2",
        Gemma3 = "gemma3_text",
        Phi3 = "phi3",
        Olmo2 = "olmo2",
        DeepseekV2 = "deepseek_v2",
        DeepseekV3 = "deepseek_v3",
        GptOss = "gpt_oss",
    }
}

/// How a family's fields are read and its weights named; what most share stands in [`LLAMA`].
#[derive(Clone, Copy)]
pub(super) struct Conventions {
    /// `tie_word_embeddings` where the file does not have it.
    pub tied: bool,
    pub attention_bias: BiasRule,
    pub ffn_bias: BiasRule,
    /// Whether `num_key_value_heads` may be left out, for a key/value head to each query head.
    pub kv_heads: Presence,
    pub head_dim: HeadDim,
    pub window: WindowRule,
    pub experts: Option<ExpertRule>,
    /// Norms of the width of the model in each layer.
    pub norms: &'static [&'static str],
    pub query_norm: QueryNorm,
    /// Whether queries, keys and values are one weight, and gate and up another.
    pub fused: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BiasRule {
    Never,
    Always,
    /// On queries, keys and values.
    Inputs,
    /// As a field says, which has a default.
    Field(&'static str, bool),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
    /// The family has no such field.
    Absent,
}

/// The width of a head where the file does not have it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadDim {
    /// The model's width by the number of heads.
    Divided,
    Default(u64),
    /// The file has it.
    Required,
    /// Keys and values are compressed: the file has the widths of a head's parts.
    Latent,
}

/// The layers to which `sliding_window` applies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowRule {
    Never,
    All,
    EveryOther,
    /// All but each n-th, n from `sliding_window_pattern` or this.
    AllBut(u64),
    /// Those from `max_window_layers`, if `use_sliding_window` is true.
    Flagged,
}

/// The fields and the weights of experts.
#[derive(Clone, Copy)]
pub(super) struct ExpertRule {
    pub count: &'static str,
    pub width: &'static str,
    pub layers: ExpertLayers,
    /// The module in a layer.
    pub module: &'static str,
    pub weights: ExpertWeights,
    /// Whether the router corrects each expert's score by a weight.
    pub corrected: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpertLayers {
    All,
    /// Each `decoder_sparse_step`-th, but those of `mlp_only_layers`.
    Sparse,
    /// Each `moe_layer_freq`-th from `first_k_dense_replace`, with an MLP for every token.
    AfterDense,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpertWeights {
    /// Gate, up and down of each expert, by these names.
    Separate([&'static str; 3]),
    /// One weight for all experts, with biases.
    Stacked,
}

/// Norms of queries and keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryNorm {
    None,
    /// Of each head, one weight for all.
    Head,
    /// Of all heads together.
    Whole,
}

const ATTENTION_BIAS: BiasRule = BiasRule::Field("attention_bias", false);

const LLAMA: Conventions = Conventions {
    tied: false,
    attention_bias: ATTENTION_BIAS,
    ffn_bias: BiasRule::Never,
    kv_heads: Presence::Required,
    head_dim: HeadDim::Divided,
    window: WindowRule::Never,
    experts: None,
    norms: &["input_layernorm", "post_attention_layernorm"],
    query_norm: QueryNorm::None,
    fused: false,
};

/// Layer norms with a shift, MLPs without a gate, a key/value head to each query head.
const GPT: Conventions = Conventions {
    attention_bias: BiasRule::Always,
    ffn_bias: BiasRule::Always,
    kv_heads: Presence::Absent,
    ..LLAMA
};

const GEMMA: Conventions = Conventions { tied: true, head_dim: HeadDim::Default(256), ..LLAMA };

const FOUR_NORMS: &[&str] = &[
    "input_layernorm",
    "post_attention_layernorm",
    "pre_feedforward_layernorm",
    "post_feedforward_layernorm",
];

const MOE: ExpertRule = ExpertRule {
    count: "num_local_experts",
    width: "intermediate_size",
    layers: ExpertLayers::All,
    module: "mlp",
    weights: ExpertWeights::Separate(["gate_proj", "up_proj", "down_proj"]),
    corrected: false,
};

const DEEPSEEK: ExpertRule = ExpertRule {
    count: "n_routed_experts",
    width: "moe_intermediate_size",
    layers: ExpertLayers::AfterDense,
    ..MOE
};

impl Family {
    /// Whether it has layer norms with a shift and an MLP without a gate.
    pub(super) fn is_gpt(self) -> bool {
        matches!(self, Self::Gpt2 | Self::Opt | Self::GptNeox)
    }

    pub(super) fn conventions(self) -> Conventions {
        match self {
            Self::Gpt2 => Conventions { tied: true, norms: &["ln_1", "ln_2"], ..GPT },
            Self::Opt => {
                let bias = BiasRule::Field("enable_bias", true);
                let norms = &["self_attn_layer_norm", "final_layer_norm"];
                Conventions { tied: true, attention_bias: bias, ffn_bias: bias, norms, ..GPT }
            }
            Self::GptNeox => {
                let attention_bias = BiasRule::Field("attention_bias", true);
                Conventions { attention_bias, ..GPT }
            }
            Self::Llama => Conventions {
                ffn_bias: BiasRule::Field("mlp_bias", false),
                kv_heads: Presence::Optional,
                ..LLAMA
            },
            Self::Mistral => {
                Conventions { attention_bias: BiasRule::Never, window: WindowRule::All, ..LLAMA }
            }
            Self::Mixtral => Conventions {
                attention_bias: BiasRule::Never,
                window: WindowRule::All,
                experts: Some(ExpertRule {
                    module: "block_sparse_moe",
                    weights: ExpertWeights::Separate(["w1", "w3", "w2"]),
                    ..MOE
                }),
                ..LLAMA
            },
            Self::Qwen2 => Conventions {
                attention_bias: BiasRule::Inputs,
                window: WindowRule::Flagged,
                ..LLAMA
            },
            Self::Qwen3 => Conventions {
                head_dim: HeadDim::Required,
                window: WindowRule::Flagged,
                query_norm: QueryNorm::Head,
                ..LLAMA
            },
            Self::Qwen3Moe => Conventions {
                window: WindowRule::Flagged,
                query_norm: QueryNorm::Head,
                experts: Some(ExpertRule {
                    count: "num_experts",
                    width: "moe_intermediate_size",
                    layers: ExpertLayers::Sparse,
                    ..MOE
                }),
                ..LLAMA
            },
            Self::Gemma => GEMMA,
            Self::Gemma2 => {
                Conventions { window: WindowRule::EveryOther, norms: FOUR_NORMS, ..GEMMA }
            }
            Self::Gemma3 => Conventions {
                window: WindowRule::AllBut(6),
                norms: FOUR_NORMS,
                query_norm: QueryNorm::Head,
                ..GEMMA
            },
            Self::Phi3 => Conventions {
                attention_bias: BiasRule::Never,
                kv_heads: Presence::Optional,
                window: WindowRule::All,
                fused: true,
                ..LLAMA
            },
            Self::Olmo2 => Conventions {
                kv_heads: Presence::Optional,
                norms: &["post_attention_layernorm", "post_feedforward_layernorm"],
                query_norm: QueryNorm::Whole,
                ..LLAMA
            },
            Self::DeepseekV2 => {
                Conventions { head_dim: HeadDim::Latent, experts: Some(DEEPSEEK), ..LLAMA }
            }
            Self::DeepseekV3 => Conventions {
                head_dim: HeadDim::Latent,
                experts: Some(ExpertRule { corrected: true, ..DEEPSEEK }),
                ..LLAMA
            },
            Self::GptOss => Conventions {
                attention_bias: BiasRule::Field("attention_bias", true),
                head_dim: HeadDim::Required,
                window: WindowRule::EveryOther,
                experts: Some(ExpertRule { weights: ExpertWeights::Stacked, ..MOE }),
                ..LLAMA
            },
        }
    }
}
