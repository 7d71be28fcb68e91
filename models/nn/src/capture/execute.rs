//! Recorded operations, done one after the other on any back end: the ones our networks are made of, by name.
//!
//! Done on a device, the result must be that of the network itself. Done on burn's autodiff over its recording
//! back end, what comes out is the record of a whole training step.

mod float;
mod whole;

use std::collections::HashMap;

use burn::backend::Backend;
use burn::backend::ir::{OperationIr, TensorId, TensorIr};
use burn::backend::tensor::{BoolTensor, Device, FloatTensor, IntTensor};
use burn::tensor::TensorData;

/// An operation that the record holds and this program does not know how to do again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown(pub String);

/// What was computed so far.
pub struct Machine<B: Backend> {
    tensors: HashMap<TensorId, Handle<B>>,
    device: Device<B>,
}

/// A tensor on the back end.
#[derive(Clone)]
pub enum Handle<B: Backend> {
    Float(FloatTensor<B>),
    Int(IntTensor<B>),
    Bool(BoolTensor<B>),
}

impl<B: Backend> Machine<B> {
    /// Nothing computed yet.
    pub fn new(device: Device<B>) -> Self {
        Self { tensors: HashMap::new(), device }
    }

    /// Puts a tensor where the record expects one from outside.
    pub fn put(&mut self, id: TensorId, handle: Handle<B>) {
        self.tensors.insert(id, handle);
    }

    /// Puts values that were recorded with the graph.
    pub fn put_data(&mut self, id: TensorId, data: TensorData) {
        let (dtype, device) = (data.dtype(), &self.device);
        let handle = if dtype.is_float() {
            Handle::Float(B::float_from_data(data, device))
        } else if dtype.is_bool() {
            Handle::Bool(B::bool_from_data(data, device))
        } else {
            Handle::Int(B::int_from_data(data, device))
        };
        self.put(id, handle);
    }

    /// What was put or computed under a name.
    pub fn get(&self, id: TensorId) -> Option<&Handle<B>> {
        self.tensors.get(&id)
    }

    /// A float tensor that was put or computed.
    pub fn float(&self, tensor: &TensorIr) -> Result<FloatTensor<B>, Unknown> {
        match self.tensors.get(&tensor.id) {
            Some(Handle::Float(found)) => Ok(found.clone()),
            Some(Handle::Int(_) | Handle::Bool(_)) | None => Err(missing(tensor)),
        }
    }

    fn int(&self, tensor: &TensorIr) -> Result<IntTensor<B>, Unknown> {
        match self.tensors.get(&tensor.id) {
            Some(Handle::Int(found)) => Ok(found.clone()),
            Some(Handle::Float(_) | Handle::Bool(_)) | None => Err(missing(tensor)),
        }
    }

    fn bool(&self, tensor: &TensorIr) -> Result<BoolTensor<B>, Unknown> {
        match self.tensors.get(&tensor.id) {
            Some(Handle::Bool(found)) => Ok(found.clone()),
            Some(Handle::Float(_) | Handle::Int(_)) | None => Err(missing(tensor)),
        }
    }

    /// Does one recorded operation.
    pub fn execute(&mut self, operation: &OperationIr) -> Result<(), Unknown> {
        let unknown = || Unknown(super::table::name_of(operation));
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "burn knows some three hundred operations; those that no network of ours has are refused by name"
        )]
        let (out, handle) = match operation {
            // Values that were recorded with the graph are already there.
            OperationIr::Init(_) | OperationIr::Drop(_) => return Ok(()),
            OperationIr::BaseFloat(base) => self.base_float(base).ok_or_else(unknown)??,
            OperationIr::NumericFloat(_, numeric) => {
                self.numeric_float(numeric).ok_or_else(unknown)??
            }
            OperationIr::Float(_, float) => self.only_float(float).ok_or_else(unknown)??,
            OperationIr::Activation(activation) => {
                self.activation(activation).ok_or_else(unknown)??
            }
            OperationIr::Module(module) => self.module(module).ok_or_else(unknown)??,
            OperationIr::BaseInt(base) => self.base_int(base).ok_or_else(unknown)??,
            OperationIr::NumericInt(_, numeric) => {
                self.numeric_int(numeric).ok_or_else(unknown)??
            }
            OperationIr::Int(int) => self.only_int(int).ok_or_else(unknown)??,
            OperationIr::BaseBool(base) => self.base_bool(base).ok_or_else(unknown)??,
            OperationIr::Bool(bool) => self.only_bool(bool).ok_or_else(unknown)??,
            _ => return Err(unknown()),
        };
        self.put(out, handle);
        Ok(())
    }
}

/// What an operation gave, and under which name it goes on; nothing if the operation is not known.
type Done<B> = Option<Result<(TensorId, Handle<B>), Unknown>>;

fn missing(tensor: &TensorIr) -> Unknown {
    Unknown(format!("tensor {} that nothing recorded", tensor.id))
}
