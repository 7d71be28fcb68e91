//! What of the model lies on a stage, and its passes.

use burn::module::{Module, Param, ParamId};
use burn::optim::GradientsParams;
use burn::tensor::activation::{sigmoid, silu, softmax};
use burn::tensor::{IndexingUpdateOp, Int, Tensor};
use mlsys_distributed::transport::CommError;
use mlsys_nn::networks::{Block, Positions, RmsNorm, Transformer, cross_entropy};

/// Consecutive layers of a transformer: the embedding is on the first part, the last norm and the head on the last.
#[derive(Module, Debug)]
pub(super) struct StageModel {
    embedding: Option<Param<Tensor<2>>>,
    blocks: Vec<Block>,
    norm: Option<RmsNorm>,
    head: Option<Param<Tensor<2>>>,
}

#[derive(Clone, Debug)]
pub(super) enum Input {
    /// The first: tokens `[batch, time]`.
    Tokens(Tensor<2, Int>),
    /// The others: what the part before made of them, `[batch, time, width]`.
    Vectors(Tensor<3>),
}

#[derive(Clone, Debug)]
pub(super) enum Output {
    /// The last: the mean loss of the microbatch over the microbatches of a step, `[1]`.
    Loss(Tensor<1>),
    /// The others: `[batch, time, width]`.
    Vectors(Tensor<3>),
}

/// The right answers `[batch * time]`, and by how much a microbatch's mean counts.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    pub(super) labels: Tensor<1, Int>,
    pub(super) share: f64,
}

impl StageModel {
    /// Cuts a transformer into parts of equally many blocks; `parts` divides the blocks.
    pub(super) fn cut(model: Transformer, parts: usize) -> Vec<Self> {
        let each = (model.blocks.len() / parts.max(1)).max(1);
        let mut blocks = model.blocks.into_iter();
        let mut cut: Vec<Self> = (0..parts)
            .map(|_| Self {
                embedding: None,
                blocks: blocks.by_ref().take(each).collect(),
                norm: None,
                head: None,
            })
            .collect();
        if let Some(first) = cut.first_mut() {
            first.embedding = Some(model.embedding);
        }
        if let Some(last) = cut.last_mut() {
            last.norm = Some(model.norm);
            last.head = Some(model.head);
        }
        cut
    }

    /// Forward; recorded for the way back if the part's parameters are.
    pub(super) fn forward(&self, input: Input, answers: Option<Labels>, at: &Positions) -> Output {
        let mut x = self.embed(input);
        for block in &self.blocks {
            x = block.forward(x, at);
        }
        match (&self.norm, &self.head, answers) {
            (Some(norm), Some(head), Some(answers)) => {
                let normal = norm.forward(x.flatten(0, 1)); // [rows, width]
                let logits = normal.matmul(head.val()); // [rows, vocab]
                let loss = cross_entropy(logits, answers.labels);
                Output::Loss(loss.mul_scalar(answers.share))
            }
            _ => Output::Vectors(x),
        }
    }

    fn embed(&self, input: Input) -> Tensor<3> {
        match (input, &self.embedding) {
            (Input::Tokens(tokens), Some(embedding)) => {
                let [batch, time] = tokens.dims();
                let [_, width] = embedding.dims();
                let x = embedding.val().select(0, tokens.flatten(0, 1)); // [rows, width]
                x.reshape([batch, time, width])
            }
            (Input::Vectors(x), _) => x,
            (Input::Tokens(tokens), None) => {
                let [batch, time] = tokens.dims();
                Tensor::zeros([batch, time, 0], &tokens.device())
            }
        }
    }

    /// Forward with nothing recorded: what [`SplitSaved::backward`] needs is kept instead. The part is without autodiff.
    pub(super) fn forward_split(
        &self,
        input: Input,
        answers: Option<Labels>,
        at: &Positions,
    ) -> (Output, SplitSaved) {
        let tokens = match &input {
            Input::Tokens(tokens) => Some(tokens.clone().flatten(0, 1)),
            Input::Vectors(_) => None,
        };
        let mut x = self.embed(input);
        let [batch, time, width] = x.dims();
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let (next, kept) = BlockSaved::forward(block, x.flatten(0, 1), batch, at);
            x = next.reshape([batch, time, width]);
            blocks.push(kept);
        }
        let (output, end) = match (&self.norm, &self.head, answers) {
            (Some(norm), Some(head), Some(answers)) => {
                let (normal, kept) = NormSaved::forward(norm, x.flatten(0, 1));
                let logits = normal.clone().matmul(head.val()); // [rows, vocab]
                let loss = cross_entropy(logits.clone(), answers.labels.clone());
                let loss = loss.mul_scalar(answers.share);
                let end = SavedEnd { norm: kept, normal, logits, answers };
                (Output::Loss(loss), Some(end))
            }
            _ => (Output::Vectors(x), None),
        };
        let split_saved = SplitSaved { tokens, blocks, end, shape: [batch, time, width] };
        (output, split_saved)
    }
}

pub(super) struct SplitSaved {
    /// `[rows]`, on the first part.
    tokens: Option<Tensor<1, Int>>,
    blocks: Vec<BlockSaved>,
    end: Option<SavedEnd>,
    shape: [usize; 3],
}

struct SavedEnd {
    norm: NormSaved,
    /// `[rows, width]`.
    normal: Tensor<2>,
    /// `[rows, vocab]`.
    logits: Tensor<2>,
    answers: Labels,
}

impl SplitSaved {
    /// The gradient by the part's inputs `[batch, time, width]`, and what the gradients of its weights can be computed of
    /// later. `slope` is the gradient by the outputs; on the last part the loss needs none. `part` may have other weights
    /// than those of the forward pass: then they are used with the activations of the old.
    pub(super) fn backward(
        self,
        part: &StageModel,
        slope: Option<Tensor<3>>,
        at: &Positions,
    ) -> Result<(Tensor<3>, Pending), CommError> {
        let [batch, time, width] = self.shape;
        let mut pending = Pending::default();
        let mut slope = match (self.end, &part.norm, &part.head) {
            (Some(end), Some(norm), Some(head)) => {
                let [rows, vocab] = end.logits.dims();
                // By the logits, the mean's gradient is (softmax - 1 of the right class)/rows.
                let right = end.answers.labels.one_hot::<2>(vocab).float();
                let by_logits = (softmax(end.logits, 1) - right)
                    .mul_scalar(end.answers.share / rows.max(1) as f64);
                let by_normal = by_logits.clone().matmul(head.val().transpose());
                pending.product(head, end.normal, by_logits);
                end.norm.backward(norm, by_normal, &mut pending)
            }
            _ => slope.ok_or_else(no_gradient)?.flatten(0, 1),
        };
        for (block, kept) in part.blocks.iter().zip(self.blocks).rev() {
            slope = kept.backward(block, slope, batch, at, &mut pending);
        }
        if let (Some(tokens), Some(embedding)) = (self.tokens, &part.embedding) {
            pending.rows = Some((embedding.clone(), tokens, slope.clone()));
        }
        Ok((slope.reshape([batch, time, width]), pending))
    }
}

// A block's backward pass in two halves: first the gradients by its inputs, for which the stage before waits, later
// those by its weights, for which no other stage waits (Qi et al. 2024, arXiv:2401.10241).
//
// burn's backward pass computes both at once. For y = x W the halves are by hand: gradient by x = s Wᵀ and gradient by
// W = xᵀ s, where s is the gradient by y. Rows are the tokens of all sequences.

/// What the gradients of weights can be computed of; s is the gradient by what the weight gave.
#[derive(Default)]
pub(super) struct Pending {
    /// xᵀ s: the weight, x `[rows, inputs]`, s `[rows, outputs]`.
    products: Vec<(ParamId, Tensor<2>, Tensor<2>)>,
    /// The sum of normal * s over rows: the scale, normal and s `[rows, width]`.
    scales: Vec<(ParamId, Tensor<2>, Tensor<2>)>,
    /// s `[rows, width]`, added to the row of each token: the embedding, tokens `[rows]`, s.
    rows: Option<(Param<Tensor<2>>, Tensor<1, Int>, Tensor<2>)>,
}

impl Pending {
    fn product(&mut self, weight: &Param<Tensor<2>>, x: Tensor<2>, slope: Tensor<2>) {
        self.products.push((weight.id, x, slope));
    }

    pub(super) fn numbers(&self) -> usize {
        let count = |x: &Tensor<2>| x.shape().num_elements();
        let pairs = self.products.iter().chain(&self.scales);
        let rows = self.rows.iter().map(|(_, _, slope)| count(slope));
        pairs.map(|(_, x, slope)| count(x) + count(slope)).chain(rows).sum()
    }

    pub(super) fn gradients(self) -> GradientsParams {
        let mut gradients = GradientsParams::new();
        for (weight, x, slope) in self.products {
            gradients.register(weight, x.transpose().matmul(slope));
        }
        for (scale, normal, slope) in self.scales {
            gradients.register(scale, (normal * slope).sum_dim(0).flatten::<1>(0, 1));
        }
        if let Some((embedding, tokens, slope)) = self.rows {
            let none = Tensor::<2>::zeros(embedding.dims(), &slope.device());
            let sum = none.select_assign(0, tokens, slope, IndexingUpdateOp::Add);
            gradients.register(embedding.id, sum);
        }
        gradients
    }
}

struct NormSaved {
    /// x / size, `[rows, width]`.
    normal: Tensor<2>,
    /// `[rows, 1]`.
    size: Tensor<2>,
}

impl NormSaved {
    fn forward(norm: &RmsNorm, x: Tensor<2>) -> (Tensor<2>, Self) {
        let mean_square = x.clone().square().mean_dim(1); // [rows, 1]
        let size = mean_square.add_scalar(norm.epsilon).sqrt();
        let normal = x / size.clone();
        let y = normal.clone() * norm.scale.val().unsqueeze::<2>();
        (y, Self { normal, size })
    }

    /// With s the gradient by y and r = s * scale: (r - normal * mean(r * normal))/size.
    fn backward(self, norm: &RmsNorm, slope: Tensor<2>, pending: &mut Pending) -> Tensor<2> {
        let Self { normal, size } = self;
        let r = slope.clone() * norm.scale.val().unsqueeze::<2>();
        let along = (r.clone() * normal.clone()).mean_dim(1); // [rows, 1]
        let by_x = (r - normal.clone() * along) / size;
        pending.scales.push((norm.scale.id, normal, slope));
        by_x
    }
}

struct BlockSaved {
    attention_norm: NormSaved,
    /// What attention is given, `[rows, width]`.
    given: Tensor<2>,
    /// Turned, `[batch, heads, time, head]`.
    q: Tensor<4>,
    /// Turned, `[batch, kv_heads, time, head]`.
    k: Tensor<4>,
    v: Tensor<4>,
    /// `[batch, heads, time, time]`.
    weights: Tensor<4>,
    /// What the output matrix is given, `[rows, width]`.
    mixed: Tensor<2>,
    mlp_norm: NormSaved,
    /// What the gated layer is given, `[rows, width]`.
    gated: Tensor<2>,
    /// `[rows, ffn]`.
    gate: Tensor<2>,
    up: Tensor<2>,
    /// What the last matrix is given, `[rows, ffn]`.
    hidden: Tensor<2>,
}

impl BlockSaved {
    /// `[rows, width]` to the same: what [`Block`] computes, number by number.
    fn forward(block: &Block, x: Tensor<2>, batch: usize, at: &Positions) -> (Tensor<2>, Self) {
        let (given, attention_norm) = NormSaved::forward(&block.attention_norm, x.clone());
        let attention = &block.attention;
        let [q, k, v] = attention.project(given.clone(), batch, at);
        let weights = attention.weigh(q.clone(), k.clone(), at);
        let mixed = joined(attention.blend(weights.clone(), v.clone()));
        let x = x + mixed.clone().matmul(attention.output.val());
        let (gated, mlp_norm) = NormSaved::forward(&block.mlp_norm, x.clone());
        let gate = gated.clone().matmul(block.mlp.gate.val());
        let up = gated.clone().matmul(block.mlp.up.val());
        let hidden = silu(gate.clone()) * up.clone();
        let y = x + hidden.clone().matmul(block.mlp.down.val());
        let kept = Self {
            attention_norm,
            given,
            q,
            k,
            v,
            weights,
            mixed,
            mlp_norm,
            gated,
            gate,
            up,
            hidden,
        };
        (y, kept)
    }

    /// The gradient by the outputs `[rows, width]` to that by the inputs.
    fn backward(
        self,
        block: &Block,
        slope: Tensor<2>,
        batch: usize,
        at: &Positions,
        pending: &mut Pending,
    ) -> Tensor<2> {
        let back =
            |s: &Tensor<2>, weight: &Param<Tensor<2>>| s.clone().matmul(weight.val().transpose());
        let mlp = &block.mlp;
        let by_hidden = back(&slope, &mlp.down);
        pending.product(&mlp.down, self.hidden, slope.clone());
        // silu(g) = g sigmoid(g), so silu'(g) = sigmoid(g)(1 + g(1 - sigmoid(g))).
        let open = sigmoid(self.gate.clone());
        let by_up = by_hidden.clone() * (self.gate.clone() * open.clone());
        let bent = self.gate * (open.clone().neg().add_scalar(1.0));
        let by_gate = by_hidden * self.up * open * bent.add_scalar(1.0);
        let by_gated = back(&by_gate, &mlp.gate) + back(&by_up, &mlp.up);
        pending.product(&mlp.gate, self.gated.clone(), by_gate);
        pending.product(&mlp.up, self.gated, by_up);
        let slope = slope + self.mlp_norm.backward(&block.mlp_norm, by_gated, pending);

        let attention = &block.attention;
        let by_mixed = back(&slope, &attention.output);
        pending.product(&attention.output, self.mixed, slope.clone());
        let (by_q, by_k, by_v) =
            by_attention(self.q, self.k, self.v, self.weights, by_mixed, batch);
        let by_q = joined(at.turn_back(by_q));
        let by_k = joined(at.turn_back(by_k));
        let by_v = joined(by_v);
        let by_given = back(&by_q, &attention.query)
            + back(&by_k, &attention.key)
            + back(&by_v, &attention.value);
        pending.product(&attention.query, self.given.clone(), by_q);
        pending.product(&attention.key, self.given.clone(), by_k);
        pending.product(&attention.value, self.given, by_v);
        slope + self.attention_norm.backward(&block.attention_norm, by_given, pending)
    }
}

/// `[batch, heads, time, head]` as rows, `[batch * time, heads * head]`.
fn joined(x: Tensor<4>) -> Tensor<2> {
    let [batch, heads, time, head] = x.dims();
    x.swap_dims(1, 2).reshape([batch * time, heads * head])
}

pub(super) fn no_gradient() -> CommError {
    CommError::Failed("was sent no gradient".to_owned())
}

/// Gradients by queries, keys and values, in their shapes; `slope` is that by what was gathered, `[rows, width]`.
fn by_attention(
    q: Tensor<4>,
    k: Tensor<4>,
    v: Tensor<4>,
    weights: Tensor<4>,
    slope: Tensor<2>,
    batch: usize,
) -> (Tensor<4>, Tensor<4>, Tensor<4>) {
    let ([_, heads, time, head], [_, kv_heads, _, _]) = (q.dims(), k.dims());
    let group = heads / kv_heads.max(1);
    // The queries of a group are stacked, as on the way forward.
    let stacked = [batch, kv_heads, group * time, head];
    let looks = [batch, kv_heads, group * time, time];
    let slope = slope.reshape([batch, time, heads, head]).swap_dims(1, 2);
    let slope = slope.reshape(stacked);
    let weights = weights.reshape(looks);
    let by_v = weights.clone().swap_dims(2, 3).matmul(slope.clone());
    let by_weights = slope.matmul(v.swap_dims(2, 3));
    // softmax: w (s - sum(s w)); tokens that lie ahead have w = 0, and nothing reaches them.
    let along = (by_weights.clone() * weights.clone()).sum_dim(3);
    let by_scores = weights * (by_weights - along) / (head as f64).sqrt();
    let by_k = by_scores.clone().swap_dims(2, 3).matmul(q.reshape(stacked));
    let by_q = by_scores.matmul(k).reshape([batch, heads, time, head]);
    (by_q, by_k, by_v)
}
