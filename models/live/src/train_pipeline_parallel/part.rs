//! What of the model lies on a stage, and its passes.

mod apart;

use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor, activation::softmax};

use mlsys_distributed::transport::CommError;
use mlsys_nn::nets::{Block, Positions, RmsNorm, Transformer, cross_entropy};

pub(super) use apart::{BlockApart, NormApart, Pending};

/// Consecutive layers of a transformer: the embedding is on the first part, the last norm and the head on the last.
#[derive(Module, Debug)]
pub(super) struct Part {
    embedding: Option<Param<Tensor<2>>>,
    blocks: Vec<Block>,
    norm: Option<RmsNorm>,
    head: Option<Param<Tensor<2>>>,
}

/// What a part is given.
#[derive(Clone, Debug)]
pub(super) enum Input {
    /// The first: tokens `[batch, time]`.
    Tokens(Tensor<2, Int>),
    /// The others: what the part before made of them, `[batch, time, width]`.
    Vectors(Tensor<3>),
}

/// What a part makes of it.
#[derive(Clone, Debug)]
pub(super) enum Output {
    /// The last: the mean loss of the microbatch over the microbatches of a step, `[1]`.
    Loss(Tensor<1>),
    /// The others: `[batch, time, width]`.
    Vectors(Tensor<3>),
}

/// The right answers `[batch * time]`, and by how much a microbatch's mean counts.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    pub(super) labels: Tensor<1, Int>,
    pub(super) share: f64,
}

impl Part {
    /// Cuts a transformer into so many parts of equally many blocks; `parts` divides them.
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
    pub(super) fn forward(&self, input: Input, answers: Option<Answers>, at: &Positions) -> Output {
        let mut x = self.embed(input);
        for block in &self.blocks {
            (x, _) = block.forward(x, at);
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

    /// Forward with nothing recorded: what [`Apart::backward`] needs is kept instead. The part is without autodiff.
    pub(super) fn forward_apart(
        &self,
        input: Input,
        answers: Option<Answers>,
        at: &Positions,
    ) -> (Output, Apart) {
        let tokens = match &input {
            Input::Tokens(tokens) => Some(tokens.clone().flatten(0, 1)),
            Input::Vectors(_) => None,
        };
        let mut x = self.embed(input);
        let [batch, time, width] = x.dims();
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let (next, kept) = BlockApart::forward(block, x.flatten(0, 1), batch, at);
            x = next.reshape([batch, time, width]);
            blocks.push(kept);
        }
        let (output, end) = match (&self.norm, &self.head, answers) {
            (Some(norm), Some(head), Some(answers)) => {
                let (normal, kept) = NormApart::forward(norm, x.flatten(0, 1));
                let logits = normal.clone().matmul(head.val()); // [rows, vocab]
                let loss = cross_entropy(logits.clone(), answers.labels.clone());
                let loss = loss.mul_scalar(answers.share);
                let end = End { norm: kept, normal, logits, answers };
                (Output::Loss(loss), Some(end))
            }
            _ => (Output::Vectors(x), None),
        };
        let apart = Apart { tokens, blocks, end, shape: [batch, time, width] };
        (output, apart)
    }
}

/// What a forward pass keeps for a backward pass in two halves.
pub(super) struct Apart {
    /// `[rows]`, on the first part.
    tokens: Option<Tensor<1, Int>>,
    blocks: Vec<BlockApart>,
    /// On the last part.
    end: Option<End>,
    shape: [usize; 3],
}

struct End {
    norm: NormApart,
    /// `[rows, width]`.
    normal: Tensor<2>,
    /// `[rows, vocab]`.
    logits: Tensor<2>,
    answers: Answers,
}

impl Apart {
    /// The gradient by the part's inputs `[batch, time, width]`, and what the gradients of its weights can be computed of
    /// later. `slope` is the gradient by the outputs; on the last part the loss needs none. `part` may have other weights
    /// than those of the forward pass: then they are used with the activations of the old.
    ///
    /// # Errors
    /// No slope was sent where one is needed.
    pub(super) fn backward(
        self,
        part: &Part,
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
            _ => match slope {
                Some(slope) => slope.flatten(0, 1),
                None => return Err(CommError::Failed("was sent no gradient".to_owned())),
            },
        };
        for (block, kept) in part.blocks.iter().zip(self.blocks).rev() {
            slope = kept.backward(block, slope, batch, at, &mut pending);
        }
        if let (Some(tokens), Some(embedding)) = (self.tokens, &part.embedding) {
            pending.rows(embedding, tokens, slope.clone());
        }
        Ok((slope.reshape([batch, time, width]), pending))
    }
}
