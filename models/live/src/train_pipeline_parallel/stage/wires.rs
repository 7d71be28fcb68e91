//! What a stage sends, receives and reads.

use burn::tensor::{DType, Int, Tensor, TensorData};
use mlsys_sim::pipeline::{Operation, Work, waiting};

use super::{Order, Stage};
use mlsys_distributed::transport::{CommError, Endpoint, Tag};
use mlsys_nn::train::batch;

pub(super) const ACTIVATIONS: &str = "activations of microbatch";
pub(super) const GRADIENTS: &str = "gradients of microbatch";

impl Stage {
    /// A tag for messages: each microbatch of each part has one of its own.
    fn index(&self, microbatch: usize, chunk: usize) -> usize {
        microbatch * self.setup.chunks + chunk
    }

    /// Sends a result to whoever waits for it.
    pub(super) fn hand_on(&mut self, operation: Operation, row: Vec<f32>, endpoint: &Endpoint) {
        let (stages, chunks) = (self.setup.stages, self.setup.chunks);
        let Some((to, chunk)) = waiting(stages, chunks, self.stage, operation) else {
            return;
        };
        let what = match operation.work {
            Work::Forward => ACTIVATIONS,
            Work::Backward | Work::BackwardInput | Work::BackwardWeight => GRADIENTS,
        };
        if to == self.stage {
            self.at_home.insert((chunk, what, operation.microbatch), row);
        } else {
            let index = self.index(operation.microbatch, chunk);
            endpoint.send(to, Tag { what, index }, row);
        }
    }

    /// What the part at place `from` sent, `[sequences, time, width]`, without autodiff.
    pub(super) fn take_in(
        &mut self,
        operation: Operation,
        what: &'static str,
        from: usize,
        endpoint: &mut Endpoint,
    ) -> Result<Tensor<3>, CommError> {
        let from = from % self.setup.stages;
        let count = self.setup.numbers();
        let row = if from == self.stage {
            let key = (operation.chunk, what, operation.microbatch);
            self.at_home.remove(&key).ok_or_else(|| {
                CommError::Failed(format!("has no {what} {}", operation.microbatch))
            })?
        } else {
            let index = self.index(operation.microbatch, operation.chunk);
            endpoint.receive_floats(from, Tag { what, index }, count)?
        };
        let (width, time) = (self.setup.config.width, self.setup.config.context);
        let shape = [self.setup.sequences, time, width];
        let data = TensorData::new(row, shape);
        Ok(Tensor::from_data(data, (&self.device, DType::F32)))
    }

    /// The tokens `[sequences, time]` and right answers `[sequences * time]` of a microbatch.
    pub(super) fn examples(
        &self,
        operation: Operation,
        order: &Order,
    ) -> Result<(Tensor<2, Int>, Tensor<1, Int>), CommError> {
        let (first, all) = &*order.examples;
        let place = operation.microbatch.checked_sub(*first);
        let indices = place.and_then(|place| all.get(place)).ok_or_else(|| {
            CommError::Failed(format!(
                "was not told the examples of microbatch {}",
                operation.microbatch
            ))
        })?;
        let (inputs, labels) = batch(&self.data.train, indices, &self.device);
        Ok((inputs.tokens(), labels))
    }
}
