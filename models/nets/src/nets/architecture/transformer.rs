//! What a transformer costs, from its sizes alone.

use crate::nets::TransformerConfig;

impl TransformerConfig {
    /// Trainable numbers: embedding, blocks, last norm and output head.
    pub(super) fn parameters(&self) -> u64 {
        let block = 2 * self.width + self.products_of_block();
        (2 * self.vocab * self.width + self.depth * block + self.width) as u64
    }

    /// Operations of one forward pass over `batch` whole sequences: with t tokens, s of them in a sequence, and A columns
    /// of queries, 2t for every weight of a matrix product and 4tsA a block for scores and mixing, although half of the
    /// scores lie ahead and are thrown away (Narayanan et al. 2021, equation 3).
    pub(super) fn forward_flops(&self, batch: u64) -> u64 {
        let tokens = batch * self.context as u64;
        let weights = self.depth * self.products_of_block() + self.vocab * self.width;
        let attention = self.depth * self.context * self.width;
        tokens * (2 * weights + 4 * attention) as u64
    }

    /// Numbers kept from the forward pass of one sequence, loss included, until the backward pass has used them.
    ///
    /// A matrix product keeps its inputs, a norm its input and one number a row, softmax its output (which is also an
    /// input of the product after it), silu and the gates' product their inputs. Turning by constant angles, adding and
    /// scaling keep nothing, and the queries and keys that are kept are the turned ones.
    pub(super) fn kept_numbers(&self) -> u64 {
        let norm = self.width + 1;
        let turned = self.width + self.keys();
        let shares = self.heads * self.context;
        let attention = self.width + turned + self.keys() + shares + self.width;
        let mlp = self.width + 4 * self.ffn;
        let block = norm + attention + norm + mlp;
        let after = norm + self.width + self.vocab;
        (self.context * (self.depth * block + after)) as u64
    }

    /// Multiply-adds of one token in the matrix products of one block, attention's scores and mixing aside.
    fn products_of_block(&self) -> usize {
        self.width * (2 * self.width + 2 * self.keys() + 3 * self.ffn)
    }
}
