//! The weights of each family, with the names and shapes that transformers gives them.

use mlsys_lab::named_enum;

use super::family::{Conventions, ExpertWeights, QueryNorm};
use super::{Attention, AttentionBias, Experts, Family, ModelConfig};

named_enum! {
    /// What a weight belongs to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Part {
        Embedding = "embedding",
        Attention = "attention",
        Mlp = "MLP",
        Experts = "experts",
        Router = "router",
        Norms = "norms",
        Head = "output head",
    }
}

/// One weight, or the same weight of every layer and expert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// As transformers has it, with `{layer}` and `{expert}` for their numbers.
    pub name: String,
    pub shape: Vec<u64>,
    pub part: Part,
    /// Whether a token is multiplied by it; biases and norms are added and scaled instead.
    pub is_matrix: bool,
    /// Layers that have it; 1 outside of them.
    pub layers: u64,
    /// Weights of this name in a layer, one an expert; 1 where all experts are one weight.
    pub experts: u64,
}

impl Tensor {
    /// Over all layers and experts. The limits on each dimension keep it within 128 bits.
    pub fn parameters(&self) -> u128 {
        let each: u128 = self.shape.iter().map(|&size| u128::from(size)).product();
        each * u128::from(self.layers) * u128::from(self.experts)
    }

    /// The part of them that one token uses.
    pub fn active_parameters(&self, experts: Option<&Experts>) -> u128 {
        match experts.filter(|_| self.part == Part::Experts) {
            Some(experts) => {
                self.parameters() / u128::from(experts.count) * u128::from(experts.active)
            }
            None => self.parameters(),
        }
    }
}

/// All weights, from the input to the output.
pub(super) fn list(config: &ModelConfig) -> Vec<Tensor> {
    let conventions = config.family.conventions();
    let mut list = List { config, conventions, all: Vec::new() };
    match config.family {
        Family::Gpt2 => list.gpt2(),
        Family::Opt => list.opt(),
        Family::GptNeox => list.gpt_neox(),
        Family::Llama
        | Family::Mistral
        | Family::Mixtral
        | Family::Qwen2
        | Family::Qwen3
        | Family::Qwen3Moe
        | Family::Gemma
        | Family::Gemma2
        | Family::Gemma3
        | Family::Phi3
        | Family::Olmo2
        | Family::DeepseekV2
        | Family::DeepseekV3
        | Family::GptOss => list.llama_like(),
    }
    list.all
}

/// Whether a projection has a bias.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bias {
    Absent,
    Present,
}

impl Bias {
    fn when(present: bool) -> Self {
        if present { Self::Present } else { Self::Absent }
    }
}

struct List<'a> {
    config: &'a ModelConfig,
    conventions: Conventions,
    all: Vec<Tensor>,
}

impl List<'_> {
    /// A weight outside the layers, or in all of them where its name says so.
    fn add(&mut self, part: Part, name: &str, shape: &[u64]) -> &mut Tensor {
        let layers = if name.contains("{layer}") { self.config.layers } else { 1 };
        let (name, shape) = (name.to_owned(), shape.to_vec());
        let is_matrix = shape.len() > 1;
        self.all.push(Tensor { name, shape, part, is_matrix, layers, experts: 1 });
        let last = self.all.len() - 1;
        &mut self.all[last]
    }

    /// A projection as `torch.nn.Linear` stores it, `[outputs, inputs]`.
    fn linear(&mut self, part: Part, name: &str, [outputs, inputs]: [u64; 2], bias: Bias) {
        self.add(part, &format!("{name}.weight"), &[outputs, inputs]);
        if bias == Bias::Present {
            self.add(part, &format!("{name}.bias"), &[outputs]);
        }
    }

    /// A layer norm with scale and shift.
    fn layer_norm(&mut self, name: &str) {
        for kind in ["weight", "bias"] {
            self.add(Part::Norms, &format!("{name}.{kind}"), &[self.config.hidden]);
        }
    }

    /// A norm with a scale alone.
    fn rms_norm(&mut self, name: &str, width: u64) {
        self.add(Part::Norms, &format!("{name}.weight"), &[width]);
    }

    fn embedding(&mut self, name: &str) {
        self.add(Part::Embedding, name, &[self.config.vocab, self.config.embedding]);
    }

    fn head(&mut self, name: &str) {
        if !self.config.tied {
            self.add(Part::Head, name, &[self.config.vocab, self.config.embedding]);
        }
    }

    fn positions(&mut self, name: &str) {
        if let Some(rows) = self.config.positions {
            self.add(Part::Embedding, name, &[rows, self.config.hidden]);
        }
    }

    /// Its `Conv1D` stores `[inputs, outputs]`.
    fn gpt2(&mut self) {
        let (h, f) = (self.config.hidden, self.config.ffn);
        self.embedding("transformer.wte.weight");
        self.positions("transformer.wpe.weight");
        let layer = "transformer.h.{layer}";
        let mut conv = |part, name: &str, [inputs, outputs]: [u64; 2]| {
            self.add(part, &format!("{layer}.{name}.weight"), &[inputs, outputs]);
            self.add(part, &format!("{layer}.{name}.bias"), &[outputs]);
        };
        conv(Part::Attention, "attn.c_attn", [h, 3 * h]);
        conv(Part::Attention, "attn.c_proj", [h, h]);
        conv(Part::Mlp, "mlp.c_fc", [h, f]);
        conv(Part::Mlp, "mlp.c_proj", [f, h]);
        for norm in self.conventions.norms {
            self.layer_norm(&format!("{layer}.{norm}"));
        }
        self.layer_norm("transformer.ln_f");
        self.head("lm_head.weight");
    }

    fn opt(&mut self) {
        let (h, f, width) = (self.config.hidden, self.config.ffn, self.config.embedding);
        let bias = Bias::when(self.config.ffn_bias);
        self.embedding("model.decoder.embed_tokens.weight");
        self.positions("model.decoder.embed_positions.weight");
        if width != h {
            self.linear(Part::Head, "model.decoder.project_in", [h, width], Bias::Absent);
            self.linear(Part::Head, "model.decoder.project_out", [width, h], Bias::Absent);
        }
        let layer = "model.decoder.layers.{layer}";
        for name in ["q_proj", "k_proj", "v_proj", "out_proj"] {
            self.linear(Part::Attention, &format!("{layer}.self_attn.{name}"), [h, h], bias);
        }
        self.linear(Part::Mlp, &format!("{layer}.fc1"), [f, h], bias);
        self.linear(Part::Mlp, &format!("{layer}.fc2"), [h, f], bias);
        for norm in self.conventions.norms {
            self.layer_norm(&format!("{layer}.{norm}"));
        }
        if self.config.final_norm {
            self.layer_norm("model.decoder.final_layer_norm");
        }
        self.head("lm_head.weight");
    }

    fn gpt_neox(&mut self) {
        let (h, f) = (self.config.hidden, self.config.ffn);
        let attention = Bias::when(self.config.attention_bias == AttentionBias::All);
        let layer = "gpt_neox.layers.{layer}";
        self.embedding("gpt_neox.embed_in.weight");
        let fused = format!("{layer}.attention.query_key_value");
        self.linear(Part::Attention, &fused, [3 * h, h], attention);
        self.linear(Part::Attention, &format!("{layer}.attention.dense"), [h, h], attention);
        self.linear(Part::Mlp, &format!("{layer}.mlp.dense_h_to_4h"), [f, h], Bias::Present);
        self.linear(Part::Mlp, &format!("{layer}.mlp.dense_4h_to_h"), [h, f], Bias::Present);
        for norm in self.conventions.norms {
            self.layer_norm(&format!("{layer}.{norm}"));
        }
        self.layer_norm("gpt_neox.final_layer_norm");
        self.head("embed_out.weight");
    }

    /// Rotary positions, RMS norms and a gated MLP; the families differ in biases, norms and experts.
    fn llama_like(&mut self) {
        let h = self.config.hidden;
        self.embedding("model.embed_tokens.weight");
        match self.config.attention {
            Attention::Heads { kv_heads, head_dim } => self.attention(kv_heads, head_dim),
            Attention::Latent { query_rank, rank, rope, nope, value } => {
                self.latent_attention(query_rank, rank, rope, [nope, value]);
            }
        }
        self.mlp();
        for norm in self.conventions.norms {
            self.rms_norm(&format!("{LAYER}.{norm}"), h);
        }
        self.rms_norm("model.norm", h);
        self.head("lm_head.weight");
    }

    fn attention(&mut self, kv_heads: u64, head_dim: u64) {
        let (h, q, kv) = (self.config.hidden, self.config.heads * head_dim, kv_heads * head_dim);
        let inputs = Bias::when(self.config.attention_bias != AttentionBias::None);
        let output = Bias::when(self.config.attention_bias == AttentionBias::All);
        let Conventions { fused, query_norm, .. } = self.conventions;
        let mut project = |name: &str, shape, bias| {
            self.linear(Part::Attention, &format!("{LAYER}.self_attn.{name}"), shape, bias);
        };
        if fused {
            project("qkv_proj", [q + 2 * kv, h], inputs);
        } else {
            for (name, width) in [("q_proj", q), ("k_proj", kv), ("v_proj", kv)] {
                project(name, [width, h], inputs);
            }
        }
        project("o_proj", [h, q], output);
        let norms = match query_norm {
            QueryNorm::None => None,
            QueryNorm::Head => Some([head_dim, head_dim]),
            QueryNorm::Whole => Some([q, kv]),
        };
        for (name, width) in ["q_norm", "k_norm"].into_iter().zip(norms.into_iter().flatten()) {
            self.rms_norm(&format!("{LAYER}.self_attn.{name}"), width);
        }
        if self.config.family == Family::GptOss {
            self.add(Part::Attention, &format!("{LAYER}.self_attn.sinks"), &[self.config.heads]);
        }
    }

    fn latent_attention(
        &mut self,
        query_rank: Option<u64>,
        rank: u64,
        rope: u64,
        [nope, value]: [u64; 2],
    ) {
        let (h, heads) = (self.config.hidden, self.config.heads);
        let bias = Bias::when(self.config.attention_bias == AttentionBias::All);
        let name = |name: &str| format!("{LAYER}.self_attn.{name}");
        let queries = heads * (nope + rope);
        match query_rank {
            None => self.linear(Part::Attention, &name("q_proj"), [queries, h], Bias::Absent),
            Some(low) => {
                self.linear(Part::Attention, &name("q_a_proj"), [low, h], bias);
                self.rms_norm(&name("q_a_layernorm"), low);
                self.linear(Part::Attention, &name("q_b_proj"), [queries, low], Bias::Absent);
            }
        }
        self.linear(Part::Attention, &name("kv_a_proj_with_mqa"), [rank + rope, h], bias);
        self.rms_norm(&name("kv_a_layernorm"), rank);
        let both = heads * (nope + value);
        self.linear(Part::Attention, &name("kv_b_proj"), [both, rank], Bias::Absent);
        self.linear(Part::Attention, &name("o_proj"), [h, heads * value], bias);
    }

    fn mlp(&mut self) {
        let (Some(experts), Some(rule)) = (self.config.experts, self.conventions.experts) else {
            return self.gated("mlp", self.config.ffn, self.config.layers);
        };
        self.gated("mlp", self.config.ffn, self.config.layers - experts.layers);
        self.gated("mlp.shared_experts", experts.shared, experts.layers);
        let (e, h, f) = (experts.count, self.config.hidden, experts.width);
        let mut add = |part, name: &str, shape: &[u64], copies| {
            let tensor = self.add(part, &format!("{LAYER}.{}.{name}", rule.module), shape);
            tensor.layers = experts.layers;
            tensor.experts = copies;
            // The biases of all experts are one weight with two dimensions.
            tensor.is_matrix &= !name.ends_with("bias");
        };
        match rule.weights {
            ExpertWeights::Separate(names) => {
                add(Part::Router, "gate.weight", &[e, h], 1);
                if rule.corrected {
                    add(Part::Router, "gate.e_score_correction_bias", &[e], 1);
                }
                for (name, shape) in names.into_iter().zip([[f, h], [f, h], [h, f]]) {
                    add(Part::Experts, &format!("experts.{{expert}}.{name}.weight"), &shape, e);
                }
            }
            ExpertWeights::Stacked => {
                add(Part::Router, "router.weight", &[e, h], 1);
                add(Part::Router, "router.bias", &[e], 1);
                add(Part::Experts, "experts.gate_up_proj", &[e, h, 2 * f], 1);
                add(Part::Experts, "experts.gate_up_proj_bias", &[e, 2 * f], 1);
                add(Part::Experts, "experts.down_proj", &[e, f, h], 1);
                add(Part::Experts, "experts.down_proj_bias", &[e, h], 1);
            }
        }
    }

    /// A gated MLP of some width in some of the layers, if there are any.
    fn gated(&mut self, module: &str, width: u64, layers: u64) {
        if layers == 0 || width == 0 {
            return;
        }
        let h = self.config.hidden;
        let bias = Bias::when(self.config.ffn_bias);
        let (first, is_fused) = (self.all.len(), self.conventions.fused);
        let mut project = |name: &str, shape| {
            self.linear(Part::Mlp, &format!("{LAYER}.{module}.{name}"), shape, bias);
        };
        if is_fused {
            project("gate_up_proj", [2 * width, h]);
        } else {
            project("gate_proj", [width, h]);
            project("up_proj", [width, h]);
        }
        project("down_proj", [h, width]);
        for tensor in &mut self.all[first..] {
            tensor.layers = layers;
        }
    }
}

/// The layers of all families that follow Llama.
const LAYER: &str = "model.layers.{layer}";
