//! A decoder in the manner of Llama (Touvron et al. 2023, arXiv:2302.13971; Grattafiori et al. 2024, arXiv:2407.21783),
//! from tokens to the scores of the next token, top to bottom.
//!
//! Shapes stand at the end of a line. Next to a `fused` operation stands what it computes, for devices that lack it. A row
//! is one token of one sequence: rows = batch * time. All matrix products with weights are done on rows, because few large
//! products are quicker than many small ones.

pub use self::checkpointing::CheckpointedPass;
pub use self::config::{RMS_EPSILON, TransformerConfig, Variant};
use self::positions::ROTARY_BASE;
pub use self::positions::{Positions, Rotary, TokenPositions};
use crate::networks::Initializer;
use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor, activation};
use mlsys_device::fused::{self, Heads};
use mlsys_sim::model_config::RotaryScaling;

mod checkpointing;
mod config;
mod positions;
#[cfg(test)]
pub(super) mod tests;

/// The score of masked tokens: its exponential is exactly zero, and it is finite on every device.
pub const MASKED_SCORE: f64 = -1e9;

/// A transformer: tokens become vectors, blocks change the vectors, and the last vector scores the next token.
#[derive(Module, Debug)]
pub struct Transformer {
    /// One row of numbers per token, `[vocab, width]`.
    pub embedding: Param<Tensor<2>>,
    pub blocks: Vec<Block>,
    pub norm: RmsNorm,
    /// See [`Rotary`].
    pub rotary_base: f64,
    #[module(skip)]
    pub rotary_scaling: RotaryScaling,
    /// The output head, `[width, vocab]`; not tied to the embedding.
    pub head: Param<Tensor<2>>,
}

/// One block: attention looks at other tokens, the gated layer at each token alone; both add to what came in.
#[derive(Module, Debug)]
pub struct Block {
    pub attention_norm: RmsNorm,
    pub attention: Attention,
    pub mlp_norm: RmsNorm,
    pub mlp: SwiGlu,
}

/// Divides each row by its root mean square (Zhang & Sennrich 2019).
#[derive(Module, Debug)]
pub struct RmsNorm {
    /// `[width]`.
    pub scale: Param<Tensor<1>>,
    /// Added to the mean square before its root is taken, so that a row of zeros does not divide by zero.
    pub epsilon: f64,
}

/// Causal attention with rotary positions; query heads share key/value heads in groups (Ainslie et al. 2023).
#[derive(Module, Debug)]
pub struct Attention {
    /// Queries, `[width, heads * head]`.
    pub query: Param<Tensor<2>>,
    /// Keys, `[width, kv_heads * head]`.
    pub key: Param<Tensor<2>>,
    /// What is mixed into the tokens that attend to it, `[width, kv_heads * head]`.
    pub value: Param<Tensor<2>>,
    /// `[heads * head, width]`.
    pub output: Param<Tensor<2>>,
    pub heads: usize,
    pub kv_heads: usize,
}

/// A layer with gated units (Shazeer 2020).
#[derive(Module, Debug)]
pub struct SwiGlu {
    /// `[width, ffn]`.
    pub gate: Param<Tensor<2>>,
    /// `[width, ffn]`.
    pub up: Param<Tensor<2>>,
    /// `[ffn, width]`.
    pub down: Param<Tensor<2>>,
}

#[derive(Clone, Debug)]
pub struct ForwardTrace {
    /// The scores, `[batch, time, vocab]`.
    pub logits: Tensor<3>,
    /// For each block, how much each head of each token looks at each token, `[batch, heads, time, time]`; rows sum to 1.
    pub attention: Vec<Tensor<4>>,
    /// The vectors after each block, `[batch, time, width]`.
    pub streams: Vec<Tensor<3>>,
}

impl TransformerConfig {
    pub fn init(&self, initial: &mut Initializer<'_>) -> Transformer {
        let (width, ffn, vocab) = (self.width, self.ffn, self.vocab);
        let (queries, keys) = (self.queries(), self.keys());
        let norm = |initial: &Initializer<'_>| RmsNorm {
            scale: initial.row(width, 1.0),
            epsilon: self.variant.rms_epsilon,
        };
        Transformer {
            embedding: initial.weights([vocab, width], 1, width),
            blocks: (0..self.depth)
                .map(|_| Block {
                    attention_norm: norm(initial),
                    attention: Attention {
                        query: initial.weights([width, queries], width, queries),
                        key: initial.weights([width, keys], width, keys),
                        value: initial.weights([width, keys], width, keys),
                        output: initial.weights([queries, width], queries, width),
                        heads: self.heads,
                        kv_heads: self.kv_heads,
                    },
                    mlp_norm: norm(initial),
                    mlp: SwiGlu {
                        gate: initial.weights([width, ffn], width, ffn),
                        up: initial.weights([width, ffn], width, ffn),
                        down: initial.weights([ffn, width], ffn, width),
                    },
                })
                .collect(),
            norm: norm(initial),
            rotary_base: self.variant.rotary_base,
            rotary_scaling: self.variant.rotary_scaling,
            // So small that the first scores hardly differ: training starts from the logarithm of the vocabulary.
            head: initial.weights([width, vocab], width * width, width * vocab),
        }
    }
}

impl Transformer {
    /// Tokens `[batch, time]` to scores of the token after each, `[batch, time, vocab]`.
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let mut x = self.embed(tokens);
        let positions = self.positions(&x);
        for block in &self.blocks {
            x = block.forward(x, &positions);
        }
        self.read(x)
    }

    /// The same, with what it looked at on the way.
    pub fn look(&self, tokens: Tensor<2, Int>) -> ForwardTrace {
        let (mut attention, mut streams) = (Vec::new(), Vec::new());
        let mut x = self.embed(tokens);
        let positions = self.positions(&x);
        for block in &self.blocks {
            attention.push(block.weights(x.clone(), &positions));
            x = block.forward(x, &positions);
            streams.push(x.clone());
        }
        ForwardTrace { logits: self.read(x), attention, streams }
    }

    /// The scores that vectors `[batch, time, width]` would give if they were the last, `[batch, time, vocab]`.
    pub fn read(&self, stream: Tensor<3>) -> Tensor<3> {
        let [batch, time, _] = stream.dims();
        let normal = self.norm.forward(stream.flatten(0, 1)); // [rows, width]
        let logits = normal.matmul(self.head.val()); // [rows, vocab]
        let [_, vocab] = logits.dims();
        logits.reshape([batch, time, vocab])
    }

    /// Tokens `[batch, time]` to their vectors, `[batch, time, width]`.
    pub fn embed(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [batch, time] = tokens.dims();
        let [_, width] = self.embedding.dims();
        let x = self.embedding.val().select(0, tokens.flatten(0, 1)); // [rows, width]
        x.reshape([batch, time, width])
    }

    /// What the blocks need to know of the positions of vectors `[batch, time, width]`.
    pub fn positions(&self, x: &Tensor<3>) -> Positions {
        let [_, time, _] = x.dims();
        Positions::new(time, self.rotary(), x.dtype(), &x.device())
    }

    fn rotary(&self) -> Rotary {
        // Any even number of numbers a head for a transformer without blocks.
        let head = self.blocks.first().map_or(2, |block| block.attention.head());
        Rotary { head, base: self.rotary_base, scaling: self.rotary_scaling }
    }
}

impl Block {
    /// `[batch, time, width]` to the same.
    pub fn forward(&self, x: Tensor<3>, at: &Positions) -> Tensor<3> {
        let [batch, time, width] = x.dims();
        let x = x.flatten::<2>(0, 1); // [rows, width]
        let x = x.clone() + self.attention.forward(self.attention_norm.forward(x), batch, at);
        let x = x.clone() + self.mlp.forward(self.mlp_norm.forward(x));
        x.reshape([batch, time, width])
    }

    /// The attention weights of `[batch, time, width]`, `[batch, heads, time, time]`.
    fn weights(&self, x: Tensor<3>, at: &Positions) -> Tensor<4> {
        let [batch, _, _] = x.dims();
        let normal = self.attention_norm.forward(x.flatten(0, 1));
        let [q, k, _] = self.attention.project(normal, batch, at);
        self.attention.weigh(q, k, at)
    }

    /// `[rows, width]` to the same, and the attention weights `[batch, heads, time, seen]`; `keep` gives all keys and values
    /// that tokens look through for the new ones.
    fn rows(
        &self,
        x: Tensor<2>,
        batch: usize,
        at: &Positions,
        keep: impl FnOnce(Tensor<4>, Tensor<4>) -> (Tensor<4>, Tensor<4>),
    ) -> (Tensor<2>, Tensor<4>) {
        let normal = self.attention_norm.forward(x.clone());
        let [q, k, v] = self.attention.project(normal, batch, at);
        let (k, v) = keep(k, v);
        let weights = self.attention.weigh(q, k, at);
        let x = x + self.attention.mix(weights.clone(), v); // x + Attention(RMSNorm(x))
        let normal = self.mlp_norm.forward(x.clone());
        (x + self.mlp.forward(normal), weights) // x + SwiGLU(RMSNorm(x))
    }
}

impl RmsNorm {
    /// x / sqrt(mean(x²) + ε) * scale, `[rows, width]` to the same.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let scale = self.scale.val();
        fused::rms_norm(&x, &scale, self.epsilon).unwrap_or_else(|| {
            let mean_square = x.clone().square().mean_dim(1); // [rows, 1]
            let size = mean_square.add_scalar(self.epsilon).sqrt(); // [rows, 1]
            x / size * scale.unsqueeze::<2>() // [rows, width]
        })
    }
}

impl Attention {
    fn head(&self) -> usize {
        let [columns, _] = self.output.dims();
        columns / self.heads
    }

    /// `[rows, width]` to the same.
    pub fn forward(&self, x: Tensor<2>, batch: usize, at: &Positions) -> Tensor<2> {
        let [q, k, v] = self.multiply(x);
        let heads = Heads { heads: self.heads, kv_heads: self.kv_heads, head: self.head() };
        match at.attend([&q, &k, &v], heads) {
            Some(mixed) => mixed.matmul(self.output.val()),
            None => {
                let [q, k, v] = self.split([q, k, v], batch, at);
                self.mix(self.weigh(q, k, at), v)
            }
        }
    }

    /// Queries `[batch, heads, time, head]`, keys and values `[batch, kv_heads, time, head]` of `[rows, width]`.
    pub fn project(&self, x: Tensor<2>, batch: usize, at: &Positions) -> [Tensor<4>; 3] {
        self.split(self.multiply(x), batch, at)
    }

    /// x Q, `[rows, heads * head]`, x K and x V, `[rows, kv_heads * head]`.
    fn multiply(&self, x: Tensor<2>) -> [Tensor<2>; 3] {
        [&self.query, &self.key, &self.value].map(|weight| x.clone().matmul(weight.val()))
    }

    fn split(&self, rows: [Tensor<2>; 3], batch: usize, at: &Positions) -> [Tensor<4>; 3] {
        let [q, k, v] = rows;
        let [rows, _] = q.dims();
        let (time, head) = (rows / batch, self.head());
        // [rows, heads head] to [batch, heads, time, head].
        let split = |x: Tensor<2>, heads| x.reshape([batch, time, heads, head]).swap_dims(1, 2);
        let (q, k) = (split(q, self.heads), split(k, self.kv_heads));
        [at.turn(q), at.turn(k), split(v, self.kv_heads)] // rotary(x Q), rotary(x K), x V
    }

    /// softmax(q kᵀ / √head) over the tokens that are not ahead, `[batch, heads, time, seen]`; `seen` is `time` unless
    /// there are keys of earlier tokens.
    pub fn weigh(&self, q: Tensor<4>, k: Tensor<4>, at: &Positions) -> Tensor<4> {
        let ([batch, heads, time, head], [_, _, seen, _]) = (q.dims(), k.dims());
        // Query head i looks through key/value head i / group: the queries of a group are stacked, no key is copied.
        let group = heads / self.kv_heads;
        let q = q.reshape([batch, self.kv_heads, group * time, head]);
        let scores = q.matmul(k.swap_dims(2, 3)); // [batch, kv_heads, group time, seen]
        let scores = scores.reshape([batch, heads, time, seen]) / (head as f64).sqrt();
        let scores = scores.mask_fill(at.ahead.clone(), MASKED_SCORE);
        activation::softmax(scores, 3) // [batch, heads, time, seen]
    }

    /// What tokens take from the values of those they look at, `[rows, width]`.
    pub fn mix(&self, weights: Tensor<4>, v: Tensor<4>) -> Tensor<2> {
        self.join(self.blend(weights, v))
    }

    /// The same, head by head, `[batch, heads, time, head]`.
    pub fn blend(&self, weights: Tensor<4>, v: Tensor<4>) -> Tensor<4> {
        let ([batch, heads, time, seen], [_, kv_heads, _, head]) = (weights.dims(), v.dims());
        let stacked = [batch, kv_heads, heads / kv_heads * time, seen];
        let mixed = weights.reshape(stacked).matmul(v); // [batch, kv_heads, group time, head]
        mixed.reshape([batch, heads, time, head])
    }

    /// What all heads found, `[batch, heads, time, head]`, as what is added to the rows, `[rows, width]`.
    pub fn join(&self, mixed: Tensor<4>) -> Tensor<2> {
        let [batch, heads, time, head] = mixed.dims();
        let mixed = mixed.swap_dims(1, 2); // [batch, time, heads, head]
        let mixed = mixed.reshape([batch * time, heads * head]); // [rows, heads head]
        mixed.matmul(self.output.val()) // [rows, width]
    }
}

impl SwiGlu {
    /// (silu(x G) * x U) D, `[rows, width]` to the same.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let gate = x.clone().matmul(self.gate.val()); // [rows, ffn]
        let up = x.matmul(self.up.val()); // [rows, ffn]
        let gated = fused::gated(&gate, &up).unwrap_or_else(|| activation::silu(gate) * up);
        gated.matmul(self.down.val()) // [rows, width]
    }
}

// Continues sequences, as generation does, with or without the cached keys and values of earlier tokens.

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
        standing: &TokenPositions,
        scored: usize,
        mut keep: impl FnMut(usize, Tensor<4>, Tensor<4>) -> (Tensor<4>, Tensor<4>),
    ) -> Extended {
        let x = self.embed(tokens);
        let [batch, time, width] = x.dims();
        let at = Positions::among(standing, self.rotary(), x.dtype(), &x.device());
        let mut x = x.flatten::<2>(0, 1); // [rows, width]
        let mut attention = Vec::with_capacity(self.blocks.len());
        for (place, block) in self.blocks.iter().enumerate() {
            let weights;
            (x, weights) = block.rows(x, batch, &at, |k, v| keep(place, k, v));
            attention.push(weights);
        }
        let x = x.reshape([batch, time, width]);
        let last = x.slice([0..batch, time - scored.min(time)..time, 0..width]);
        Extended { logits: self.read(last), attention }
    }
}
