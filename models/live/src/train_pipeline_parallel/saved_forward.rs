//! What a stage keeps of a microbatch between its forward and its backward pass.

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use mlsys_distributed::transport::CommError;
use mlsys_nn::flat_params;
use mlsys_nn::networks::Positions;

use super::params::Setup;
use super::stage_model::{Input, Labels, Output, Pending, SplitSaved, StageModel, no_gradient};

/// What blocks need to know of positions, for passes that are recorded and for others.
pub(super) struct Tables {
    pub(super) recorded: Positions,
    pub(super) plain: Positions,
}

pub(super) struct SavedForward {
    kind: Kind,
    version: u64,
}

enum Kind {
    Recorded(Recorded),
    SplitSaved(Box<SplitSaved>),
    /// Only the input is kept, and the forward pass runs again.
    Again {
        /// The weights of the forward pass, where burn's autodiff records them; else our own formulas go back.
        part: Option<StageModel>,
        input: Input,
        answers: Option<Labels>,
    },
}

struct Recorded {
    /// The weights of the forward pass: a copy of its own once they have been updated.
    part: StageModel,
    /// A leaf; its gradient is sent back. None for tokens.
    leaf: Option<Tensor<3>>,
    output: Output,
}

pub(super) struct BackwardResult {
    /// By the input, `[sequences, time, width]`.
    pub(super) by_input: Option<Tensor<3>>,
    pub(super) gradients: Option<Vec<f32>>,
    pub(super) pending: Option<Pending>,
}

impl SavedForward {
    /// Runs forward; what comes out is without autodiff. `part` has autodiff.
    pub(super) fn forward(
        setup: &Setup,
        part: &StageModel,
        input: Input,
        answers: Option<Labels>,
        at: &Tables,
        version: u64,
    ) -> (Output, Self) {
        let splits = setup.splits_backward();
        let (output, kind) = if setup.recompute {
            let output = part.valid().forward(input.clone(), answers.clone(), &at.plain);
            let part = (!splits).then(|| part.clone());
            (output, Kind::Again { part, input, answers })
        } else if splits {
            let (output, saved) = part.valid().forward_split(input, answers, &at.plain);
            (output, Kind::SplitSaved(Box::new(saved)))
        } else {
            let recorded = Recorded::forward(part, input, answers, at);
            let output = match recorded.output.clone() {
                Output::Loss(loss) => Output::Loss(loss.without_autodiff()),
                Output::Vectors(x) => Output::Vectors(x.without_autodiff()),
            };
            (output, Kind::Recorded(recorded))
        };
        (output, Self { kind, version })
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The version of the weights that are kept with it.
    pub(super) fn stashed(&self) -> Option<u64> {
        match &self.kind {
            Kind::Recorded(_) | Kind::Again { part: Some(_), .. } => Some(self.version),
            Kind::Again { part: None, .. } | Kind::SplitSaved(_) => None,
        }
    }

    /// Runs back from the output's gradient, `[sequences, time, width]`, none for the last part, with weights `now`.
    pub(super) fn backward(
        self,
        now: &StageModel,
        slope: Option<Tensor<3>>,
        at: &Tables,
    ) -> Result<BackwardResult, CommError> {
        match self.kind {
            Kind::Recorded(recorded) => recorded.backward(slope),
            Kind::SplitSaved(split_saved) => split_backward(*split_saved, now, slope, at),
            Kind::Again { part: Some(part), input, answers } => {
                Recorded::forward(&part, input, answers, at).backward(slope)
            }
            Kind::Again { part: None, input, answers } => {
                let (_, saved) = now.valid().forward_split(input, answers, &at.plain);
                split_backward(saved, now, slope, at)
            }
        }
    }
}

fn split_backward(
    split_saved: SplitSaved,
    now: &StageModel,
    slope: Option<Tensor<3>>,
    at: &Tables,
) -> Result<BackwardResult, CommError> {
    let (by_input, pending) = split_saved.backward(&now.valid(), slope, &at.plain)?;
    Ok(BackwardResult { by_input: Some(by_input), gradients: None, pending: Some(pending) })
}

impl Recorded {
    fn forward(part: &StageModel, input: Input, answers: Option<Labels>, at: &Tables) -> Self {
        let (leaf, input) = match input {
            Input::Tokens(tokens) => (None, Input::Tokens(tokens)),
            Input::Vectors(x) => {
                let leaf = x.autodiff().require_grad();
                (Some(leaf.clone()), Input::Vectors(leaf))
            }
        };
        Self { output: part.forward(input, answers, &at.recorded), part: part.clone(), leaf }
    }

    fn backward(self, slope: Option<Tensor<3>>) -> Result<BackwardResult, CommError> {
        let mut slopes = match (self.output, slope) {
            (Output::Loss(loss), _) => loss.backward(),
            // With s the gradient by y, the gradient of sum(y * s) by anything is that of the loss.
            (Output::Vectors(y), Some(slope)) => (y * slope).sum().backward(),
            (Output::Vectors(_), None) => return Err(no_gradient()),
        };
        let by_input = self.leaf.and_then(|leaf| leaf.grad_remove(&mut slopes));
        let mut slopes = GradientsParams::from_grads(slopes, &self.part);
        Ok(BackwardResult {
            by_input,
            gradients: Some(flat_params::gradients(&self.part, &mut slopes)?),
            pending: None,
        })
    }
}
