//! What burn writes down: the forward pass as a model's code asks for it, and a whole training step.
//!
//! burn's recording device takes every operation and computes none, so that a model of any size can be recorded
//! without its weights. It refuses autodiff. A training step is recorded all the same: the recorded forward pass
//! is done once more, operation by operation, by burn's autodiff *over* the recording back end; what its backward
//! pass asks for is then recorded like anything else, and so is the optimizer's update.

mod training;

use std::collections::BTreeMap;

use burn::backend::Capture;
use burn::backend::ir::{OperationIr, TensorId};
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Int, Tensor, TensorData};

use super::execute::Unknown;
use crate::nets::{Activation, Architecture, Inputs, Network, cross_entropy};
pub use training::{Part, Rule, Training, training};

/// The forward pass and the loss, as burn recorded them.
pub struct Forward {
    /// In the order in which the code asked for them.
    pub operations: Vec<OperationIr>,
    /// Values that the code itself supplied.
    pub values: BTreeMap<TensorId, TensorData>,
    /// The model's input.
    pub input: TensorId,
    /// The right classes.
    pub labels: TensorId,
    /// The model's output.
    pub logits: TensorId,
    /// The mean cross-entropy.
    pub loss: TensorId,
    /// In the order in which the network holds them.
    pub parameters: Vec<Parameter>,
}

/// A parameter of the recorded network.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Where the network holds it, such as `layers.0.weight`.
    pub path: String,
    /// Its tensor in the record.
    pub id: TensorId,
}

/// Why there is no record.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// burn's recording device said so.
    #[error("burn could not record the network: {0}")]
    Refused(String),
    /// An operation that cannot be done again.
    #[error("the record holds {}, which this program cannot do again", .0.0)]
    Unknown(Unknown),
}

impl From<Unknown> for RecordError {
    fn from(unknown: Unknown) -> Self {
        Self::Unknown(unknown)
    }
}

/// Records one forward pass of a batch with its loss.
pub fn forward(
    architecture: &Architecture,
    input: [usize; 2],
    activation: Activation,
) -> Result<Forward, RecordError> {
    let device = Device::capture();
    let mut found = None;
    let graph = device.capture_scope(|scope| {
        found = Some(ask(architecture, input, activation, &device));
        scope.complete([], [])
    });
    let graph = graph.map_err(|error| RecordError::Refused(error.to_string()))?;
    let forward = found.unwrap_or_else(|| Err(mismatch()))?;
    Ok(Forward { operations: graph.graph.operations, values: graph.values, ..forward })
}

/// What is recorded: the same code that trains.
fn ask(
    architecture: &Architecture,
    input: [usize; 2],
    activation: Activation,
    device: &Device,
) -> Result<Forward, RecordError> {
    let network = architecture.shapes(device);
    let (inputs, input) = match architecture {
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {
            let x = Tensor::<2>::empty(input, device);
            (Inputs::from(x.clone()), float_id(&x)?)
        }
        Architecture::Transformer(_) => {
            let x = Tensor::<2, Int>::empty(input, device);
            (Inputs::from(x.clone()), int_id(&x)?)
        }
    };
    let logits = network.forward(inputs, activation);
    let [rows, _] = logits.dims();
    let labels = Tensor::<1, Int>::empty([rows], device);
    let loss = cross_entropy(logits.clone(), labels.clone());
    Ok(Forward {
        operations: Vec::new(),
        values: BTreeMap::new(),
        input,
        labels: int_id(&labels)?,
        logits: float_id(&logits)?,
        loss: float_id(&loss)?,
        parameters: parameters(&network)?,
    })
}

/// The parameters of a recorded network with their places in it.
fn parameters(network: &Network) -> Result<Vec<Parameter>, RecordError> {
    struct Names {
        path: Vec<String>,
        found: Vec<Result<Parameter, RecordError>>,
    }
    impl ModuleVisitor for Names {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.path.push(name.to_owned());
        }
        fn exit_module(&mut self, _: &str, _: &str) {
            self.path.pop();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let path = self.path.join(".");
            let id = float_id(&param.val());
            self.found.push(id.map(|id| Parameter { path, id }));
        }
    }
    let mut names = Names { path: Vec::new(), found: Vec::new() };
    network.visit(&mut names);
    names.found.into_iter().collect()
}

fn float_id<const D: usize>(tensor: &Tensor<D>) -> Result<TensorId, RecordError> {
    let primitive = tensor.clone().try_into_primitive::<Capture>();
    Ok(primitive.map_err(|_| mismatch())?.id())
}

fn int_id<const D: usize>(tensor: &Tensor<D, Int>) -> Result<TensorId, RecordError> {
    let primitive = tensor.clone().try_into_primitive::<Capture>();
    Ok(primitive.map_err(|_| mismatch())?.id())
}

/// A tensor is not where it was put: burn moved it off the recording device.
fn mismatch() -> RecordError {
    RecordError::Refused("a tensor left the recording device".to_owned())
}
