//! What a transformer costs, from its sizes alone.

use crate::nets::TransformerConfig;

impl TransformerConfig {
    /// Trainable numbers: embedding, blocks, last norm and output head.
    pub(super) fn parameters(&self) -> u64 {
        let block = 2 * self.width + self.products_of_block();
        (2 * self.vocab * self.width + self.depth * block + self.width) as u64
    }

    /// Operations of one forward pass over `batch` whole sequences, every position scored.
    pub(super) fn forward_flops(&self, batch: u64) -> u64 {
        batch * self.pass_flops([self.context, self.context, self.context])
    }

    /// Operations of the matrix products that push `new` tokens of a sequence through the blocks and look through the keys of
    /// `seen` tokens, of which `scored` are scored: with A columns of queries, 2 for every weight of a product a token, and
    /// 4 new seen A a block for scores and mixing, although those that lie ahead are thrown away (Narayanan et al. 2021,
    /// equation 3).
    pub fn pass_flops(&self, [new, seen, scored]: [usize; 3]) -> u64 {
        let blocks = new * (2 * self.products_of_block() + 4 * seen * self.width);
        (self.depth * blocks + 2 * scored * self.vocab * self.width) as u64
    }

    /// Weights that a pass reads whatever its tokens are: all but the embedding, of which it reads a row a token.
    pub fn weights_of_a_pass(&self) -> u64 {
        self.parameters() - (self.vocab * self.width) as u64
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
