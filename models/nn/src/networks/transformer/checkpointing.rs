//! Gradient checkpointing by hand (Chen et al. 2016, arXiv:1604.06174), in two loops.
//!
//! Forward records nothing and keeps the input of every block. Backward comes to a block, runs it again, recorded this
//! time, and goes back through it at once. So there are never more activations than those of one block, the blocks'
//! inputs aside; the price is a second forward pass of all blocks. The gradients are the same numbers.

use crate::networks::{Transformer, cross_entropy};
use burn::module::Module;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::{Gradients, Int, Tensor};

/// A forward pass of which the inputs of the blocks are left.
pub struct CheckpointedPass {
    /// `[batch, time]`.
    tokens: Tensor<2, Int>,
    /// What went into each block, `[batch, time, width]`; not recorded.
    inputs: Vec<Tensor<3>>,
    /// What came out of the last block: what is recorded begins here.
    last: Tensor<3>,
}

impl Transformer {
    /// Tokens `[batch, time]` and the right answers `[batch * time]` to their mean loss `[1]`, and what it takes to go
    /// back. The transformer is on an autodiff device.
    pub fn forward_checkpointed(
        &self,
        tokens: Tensor<2, Int>,
        labels: Tensor<1, Int>,
    ) -> (Tensor<1>, CheckpointedPass) {
        let unrecorded = self.valid();
        let mut inputs = Vec::with_capacity(self.blocks.len());
        // Tokens of the autodiff device would make all that follows tensors of it.
        let mut x = unrecorded.embed(tokens.clone().without_autodiff());
        let positions = unrecorded.positions(&x);
        for block in &unrecorded.blocks {
            inputs.push(x.clone());
            x = block.forward(x, &positions);
        }
        let last = x.autodiff().require_grad();
        let logits = self.read(last.clone()).flatten(0, 1); // [batch * time, vocab]
        let pass = CheckpointedPass { tokens, inputs, last };
        (cross_entropy(logits, labels), pass)
    }
}

impl CheckpointedPass {
    /// The gradients of the loss by the parameters of the transformer that made it. `recomputed` is called when a block
    /// has run again and has not gone back yet: then most is in memory.
    ///
    /// With s = ∂loss/∂y for the output y of a block, the gradient of sum(y * s) by anything is that of the loss.
    pub fn backward(
        self,
        loss: Tensor<1>,
        network: &Transformer,
        mut recomputed: impl FnMut(),
    ) -> GradientsParams {
        let mut sum = GradientsAccumulator::new();
        let mut add = |mut gradients: Gradients| {
            sum.accumulate(network, GradientsParams::from_module(&mut gradients, network));
        };
        let mut gradients = loss.backward();
        let Some(mut slope) = self.last.grad_remove(&mut gradients) else { return sum.grads() };
        add(gradients);
        let positions = network.positions(&self.last);
        for (block, input) in network.blocks.iter().zip(self.inputs).rev() {
            let x = input.autodiff().require_grad();
            let y = block.forward(x.clone(), &positions); // again
            recomputed();
            let mut gradients = (y * slope).sum().backward();
            match x.grad_remove(&mut gradients) {
                Some(next) => slope = next,
                None => return sum.grads(),
            }
            add(gradients);
        }
        add((network.embed(self.tokens) * slope).sum().backward());
        sum.grads()
    }
}
