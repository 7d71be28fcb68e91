//! Bytes of activations that a device keeps for one layer and one microbatch.

use mlsys_lab::{Frame, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::percent;
use mlsys_sim::memory::{Layer, Outside, Recompute as Kept};
use mlsys_sim::transformer::Architecture;

use super::model::Model;
use super::plan::{Plan, Recompute};

/// A tensor that a Llama's layer keeps.
pub(super) struct Tensor {
    pub(super) name: &'static str,
    /// Bytes for each token of one device, before tensor parallelism.
    pub(super) bytes: fn(&Model) -> f64,
}

/// What a Llama's layer keeps with 2-byte activations, FlashAttention (no scores), no dropout, and a gated MLP whose
/// activation is fused with the product after it.
pub(super) const LLAMA: [Tensor; 9] = [
    Tensor { name: "input of norm 1", bytes: |m| 2.0 * m.hidden },
    Tensor { name: "input of Q, K, V", bytes: |m| 2.0 * m.hidden },
    Tensor { name: "Q", bytes: |m| 2.0 * m.heads.queries as f64 },
    Tensor { name: "K and V", bytes: |m| 4.0 * m.heads.keys as f64 },
    Tensor { name: "output of attention", bytes: |m| 2.0 * m.heads.queries as f64 },
    Tensor { name: "input of norm 2", bytes: |m| 2.0 * m.hidden },
    Tensor { name: "input of MLP", bytes: |m| 2.0 * m.hidden },
    Tensor { name: "gate and up", bytes: |m| 4.0 * m.ffn },
    Tensor { name: "input of down", bytes: |m| 2.0 * m.ffn },
];

/// Bytes that one device keeps of a layer for one microbatch, with sequence parallelism.
///
/// A GPT's layer keeps what Korthikanti et al. 2022 count (kind `activation-memory`), a Llama's the tensors of
/// [`LLAMA`]; full recomputation keeps a layer's input, 2sbh, whole on each tensor-parallel rank.
pub(super) fn of_layer(model: &Model, plan: &Plan) -> f64 {
    let context = plan.layout.context as f64;
    let (sequence, batch) = (model.sequence / context, plan.microbatch as f64);
    let tensor_ranks = plan.layout.tensor as f64;
    let recompute = match plan.recompute {
        Recompute::None => Kept::None,
        Recompute::Selective => Kept::Selective,
        Recompute::Full => Kept::Full,
    };
    match (model.architecture, plan.recompute) {
        (Architecture::Gpt, _) | (Architecture::Llama, Recompute::Full) => Layer {
            sequence,
            batch,
            hidden: model.hidden,
            // A rank's tokens attend to those of all context ranks, which counts as that many times the heads.
            heads: model.heads.heads as f64 * context,
            tensor_ranks,
            outside: Outside::Sharded,
            recompute,
        }
        .bytes(recompute),
        (Architecture::Llama, Recompute::None | Recompute::Selective) => {
            let token: f64 = LLAMA.iter().map(|tensor| (tensor.bytes)(model)).sum();
            sequence * batch * token / tensor_ranks
        }
    }
}

/// What a device keeps of a layer, tensor by tensor; nothing where kind `activation-memory` says it.
pub(super) fn table(model: &Model, plan: &Plan) -> Option<Frame> {
    let kept = match (model.architecture, plan.recompute) {
        (Architecture::Llama, Recompute::None | Recompute::Selective) => &LLAMA[..],
        (Architecture::Llama, Recompute::Full) | (Architecture::Gpt, _) => return None,
    };
    let all = of_layer(model, plan);
    let tokens = model.sequence * plan.microbatch as f64;
    let ranks = (plan.layout.context * plan.layout.tensor) as f64;
    let row = |name: &str, token: f64| {
        let bytes = tokens * token / ranks;
        [Value::from(name), token.into(), bytes.into(), percent(bytes / all).into()]
    };
    let mut rows: Vec<_> = kept.iter().map(|t| row(t.name, (t.bytes)(model))).collect();
    rows.push(row("the layer", all * ranks / tokens));
    Some(picture::table(
        ["kept tensor", "bytes a token", "bytes of a device and microbatch", "share"],
        rows,
    ))
}

/// Bytes that the last stage keeps for the loss, one microbatch: input of the last norm and of the head, and the
/// logits in FP32, 4sbh(1 + V/h)/t (Korthikanti et al. 2022, section 4.3).
pub(super) fn of_head(model: &Model, plan: &Plan) -> f64 {
    let tokens = model.sequence / plan.layout.context as f64 * plan.microbatch as f64;
    4.0 * tokens * (model.hidden + model.vocab) / plan.layout.tensor as f64
}

#[cfg(test)]
mod tests {
    use super::super::published::{llama_405b, llama_row};
    use super::*;

    #[test]
    fn a_llamas_layer_keeps_about_what_the_gpts_formula_says() {
        let model = llama_405b(8192.0);
        let (plan, _) = llama_row(1);
        let bytes = of_layer(&model, &plan);
        let sbh = 8192.0 * 16_384.0;
        let in_sbh = bytes * 8.0 / sbh;
        // 2 + 2 + 2 + 0.25 + 2 + 2 + 2 + 13 + 6.5
        assert!((in_sbh - 31.75).abs() < 1e-9, "{in_sbh}");
    }

    #[test]
    fn context_ranks_share_tokens_and_keep_as_much_as_one_of_the_short_sequence() {
        let (short, long) = (llama_405b(8192.0), llama_405b(131_072.0));
        let ((one, _), (sixteen, _)) = (llama_row(1), llama_row(2));
        assert_eq!(of_layer(&short, &one), of_layer(&long, &sixteen));
    }
}
