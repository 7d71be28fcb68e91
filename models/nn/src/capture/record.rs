//! What burn writes down: the forward pass as a model's code asks for it, and a whole training step.
//!
//! burn's recording device takes every operation and computes none, so that a model of any size can be recorded
//! without its weights. It refuses autodiff. A training step is recorded all the same: the recorded forward pass
//! is done once more, operation by operation, by burn's autodiff *over* the recording back end; what its backward
//! pass asks for is then recorded like anything else, and so is the optimizer's update.

use crate::capture::execute::{Handle, Machine, Unknown};
pub use crate::flat_params::Rule;
use crate::networks::{Activation, Architecture, Inputs, Network, cross_entropy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::ir::{OperationIr, TensorId};
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Capture, DispatchDevice};
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::momentum::MomentumConfig;
use burn::optim::{AdamConfig, AdamWConfig, Optimizer, RmsPropConfig, SgdConfig};
use burn::tensor::{CapturedGraph, Device, FloatDType, Int, Shape, Tensor, TensorData};
use std::collections::{BTreeMap, HashMap};

/// The forward pass and the loss, as burn recorded them.
pub struct Forward {
    /// In the order in which the code asked for them.
    pub operations: Vec<OperationIr>,
    pub values: BTreeMap<TensorId, TensorData>,
    pub input: TensorId,
    pub labels: TensorId,
    pub logits: TensorId,
    pub loss: TensorId,
    /// In the order in which the network holds them.
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    /// Where the network holds it, such as `layers.0.weight`.
    pub path: String,
    pub id: TensorId,
}

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("burn could not record the network: {0}")]
    Refused(String),
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("the record holds {0}, and this program does not know what its gradient keeps")]
    Gradient(String),
}

pub fn forward(
    architecture: &Architecture,
    input: [usize; 2],
    activation: Activation,
) -> Result<Forward, RecordError> {
    let record = |device: &Device| record_forward(architecture, input, activation, device);
    let (forward, graph) = recorded(record)?;
    Ok(Forward { operations: graph.graph.operations, values: graph.values, ..forward })
}

/// What some code gives on a recording device, with what the device recorded.
fn recorded<T>(
    code: impl FnOnce(&Device) -> Result<T, RecordError>,
) -> Result<(T, CapturedGraph), RecordError> {
    let device = Device::capture();
    let mut found = Err(mismatch());
    let graph = device.capture_scope(|scope| {
        found = code(&device);
        scope.complete([], [])
    });
    let graph = graph.map_err(|error| RecordError::Refused(error.to_string()))?;
    Ok((found?, graph))
}

/// What is recorded: the same code that trains.
fn record_forward(
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

/// A training step as burn recorded it: forward, backward, update.
pub struct Training {
    pub operations: Vec<(RecordedPhase, OperationIr)>,
    /// The tensors of the forward record, by their names in this one.
    pub same: HashMap<TensorId, TensorId>,
    pub gradients: Vec<Option<TensorId>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedPhase {
    /// It is part of what this operation of the forward record asked for.
    Forward(usize),
    Backward,
    /// The first step of the optimizer, which makes its moments: not part of a usual step.
    Warming,
    Update(usize),
}

/// Records a whole training step after its forward pass.
pub fn training(
    forward: &Forward,
    architecture: &Architecture,
    rule: Rule,
) -> Result<Training, RecordError> {
    let record = |device: &Device| train(forward, architecture, rule, device);
    let ((mut training, markers), graph) = recorded(record)?;
    let mut phase = RecordedPhase::Warming;
    for operation in graph.graph.operations {
        let marker = operation.outputs().find_map(|out| markers.get(&out.id));
        match marker {
            Some(next) => phase = *next,
            None => training.operations.push((phase, operation)),
        }
    }
    Ok(training)
}

/// burn's autodiff, over the back end that records.
type Recorder = Autodiff<Capture>;
type Recorded = FloatTensor<Capture>;

/// Tensors that are made for nothing but their place in the record: what follows belongs to this phase.
struct Markers {
    phases: HashMap<TensorId, RecordedPhase>,
    capture: burn::backend::tensor::Device<Capture>,
}

impl Markers {
    fn put(&mut self, phase: RecordedPhase) {
        let marker = Capture::float_empty(Shape::new([1]), &self.capture, FloatDType::F32);
        self.phases.insert(marker.id(), phase);
    }
}

fn train(
    forward: &Forward,
    architecture: &Architecture,
    rule: Rule,
    device: &Device,
) -> Result<(Training, HashMap<TensorId, RecordedPhase>), RecordError> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other device computes")]
    let capture = match device.as_dispatch() {
        DispatchDevice::Capture(capture) => *capture,
        _ => return Err(mismatch()),
    };
    let mut markers = Markers { phases: HashMap::new(), capture };
    let mut machine = Machine::<Recorder>::new(capture);
    for (id, data) in &forward.values {
        machine.put_data(*id, data.clone());
    }
    let places = forward.parameters.iter().enumerate();
    let places: HashMap<TensorId, usize> = places.map(|(index, p)| (p.id, index)).collect();
    let mut leaves = vec![None; places.len()];
    let mut same = HashMap::new();
    let mut loss = None;
    for (index, operation) in forward.operations.iter().enumerate() {
        markers.put(RecordedPhase::Forward(index));
        let out = operation.outputs().next().ok_or_else(mismatch)?;
        if let Some(&place) = places.get(&out.id) {
            let empty = Recorder::float_empty(out.shape.clone(), &capture, out.dtype.into());
            let leaf = Recorder::float_set_require_grad(empty, true);
            leaves[place] = Some(leaf.clone());
            machine.put(out.id, Handle::Float(leaf));
        } else {
            machine.execute(operation)?;
        }
        for out in operation.outputs() {
            if let Some(id) = machine.get(out.id).map(id_of) {
                same.insert(out.id, id);
            }
            if out.id == forward.loss {
                loss = Some(machine.float(out)?);
            }
        }
    }
    let leaves: Vec<_> = leaves.into_iter().collect::<Option<_>>().ok_or_else(mismatch)?;

    markers.put(RecordedPhase::Backward);
    let gradients: Gradients = Recorder::backward(loss.ok_or_else(mismatch)?);
    let gradients = leaves.iter().map(|leaf| Recorder::grad(leaf, &gradients));
    let gradients: Vec<Option<Recorded>> = gradients.collect();

    let ids = gradients.iter().map(|gradient| Some(gradient.as_ref()?.id()));
    let training = Training { operations: Vec::new(), same, gradients: ids.collect() };
    let mut update = Update {
        rule,
        markers,
        leaves: leaves.into_iter().map(|leaf| leaf.into_primitive()).collect(),
        gradients,
        seen: 0,
    };
    architecture.shapes(device).visit(&mut update);
    Ok((training, update.markers.phases))
}

fn id_of(handle: &Handle<Recorder>) -> TensorId {
    match handle {
        Handle::Float(tensor) => tensor.primitive().id(),
        Handle::Int(tensor) => tensor.id(),
        Handle::Bool(tensor) => tensor.id(),
    }
}

/// burn's own optimizer on every parameter, which the network tells the rank of.
struct Update {
    rule: Rule,
    markers: Markers,
    leaves: Vec<Recorded>,
    gradients: Vec<Option<Recorded>>,
    seen: usize,
}

impl ModuleVisitor for Update {
    fn visit_float<const D: usize>(&mut self, _: &Param<Tensor<D>>) {
        let index = self.seen;
        self.seen += 1;
        let leaf = self.leaves.get(index).zip(self.gradients.get(index));
        let Some((leaf, Some(gradient))) = leaf else { return };
        let weights = Tensor::<D>::from_primitive::<Capture>(leaf.clone());
        let gradient = Tensor::<D>::from_primitive::<Capture>(gradient.clone());
        let at = (&mut self.markers, index);
        let momentum = || SgdConfig::new().with_momentum(Some(MomentumConfig::new()));
        match self.rule {
            Rule::Sgd => record_update(&SgdConfig::new().build(), at, weights, gradient),
            Rule::Momentum => record_update(&momentum().build(), at, weights, gradient),
            Rule::RmsProp => record_update(&RmsPropConfig::new().build(), at, weights, gradient),
            Rule::Adam => record_update(&AdamConfig::new().build(), at, weights, gradient),
            Rule::AdamW => record_update(&AdamWConfig::new().build(), at, weights, gradient),
        }
    }
}

/// A step that is not the first: the optimizer has its moments.
fn record_update<const D: usize>(
    optimizer: &impl Optimizer,
    (markers, index): (&mut Markers, usize),
    weights: Tensor<D>,
    gradient: Tensor<D>,
) {
    const LEARNING_RATE: f64 = 0.001;
    markers.put(RecordedPhase::Warming);
    let (_, state) = optimizer.step(LEARNING_RATE, weights.clone(), gradient.clone(), None);
    markers.put(RecordedPhase::Update(index));
    let _updated = optimizer.step(LEARNING_RATE, weights, gradient, state);
}
