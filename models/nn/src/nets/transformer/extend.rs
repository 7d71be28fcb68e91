//! More tokens of sequences that are already under way: what generation does, with the keys and values of earlier tokens at
//! hand or without.

use burn::tensor::{Int, Tensor};

use super::positions::Standing;
use super::{Positions, Transformer};

/// What came of more tokens.
pub struct Extended {
    /// The scores of what follows the last of them, `[batch, scored, vocab]`.
    pub logits: Tensor<3>,
    /// For each block, how much each new token looks at each kept one, `[batch, heads, time, seen]`; rows sum to 1.
    pub attention: Vec<Tensor<4>>,
}

impl Transformer {
    /// Tokens `[batch, time]` that stand in their sequences as `standing` says; the last `scored` of them are scored.
    ///
    /// `keep` is given each block's number, from 0, with the new tokens' keys and values `[batch, kv_heads, time, head]`, and
    /// gives back all that the tokens look through, `[batch, kv_heads, seen, head]` each, new ones included.
    pub fn extend(
        &self,
        tokens: Tensor<2, Int>,
        standing: &Standing,
        scored: usize,
        mut keep: impl FnMut(usize, Tensor<4>, Tensor<4>) -> (Tensor<4>, Tensor<4>),
    ) -> Extended {
        let x = self.embed(tokens);
        let [batch, time, width] = x.dims();
        let at = Positions::among(standing, self.head_size(), x.dtype(), &x.device());
        let mut x = x.flatten::<2>(0, 1); // [rows, width]
        let mut attention = Vec::with_capacity(self.blocks.len());
        for (place, block) in self.blocks.iter().enumerate() {
            let normal = block.attention_norm.forward(x.clone());
            let (q, k, v) = block.attention.project(normal, batch, &at);
            let (k, v) = keep(place, k, v);
            let weights = block.attention.weigh(q, k, &at);
            x = x + block.attention.mix(weights.clone(), v);
            let normal = block.mlp_norm.forward(x.clone());
            x = x + block.mlp.forward(normal);
            attention.push(weights);
        }
        let x = x.reshape([batch, time, width]);
        let last = x.slice([0..batch, time - scored.min(time)..time, 0..width]);
        Extended { logits: self.read(last), attention }
    }
}
