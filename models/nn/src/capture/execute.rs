//! Recorded operations, done one after the other on any back end: the ones our networks are made of, by name.
//!
//! Done on a device, the result must be that of the network itself. Done on burn's autodiff over its recording
//! back end, what comes out is the record of a whole training step.

use burn::backend::Backend;
use burn::backend::ir::{
    BaseOperationIr as Base, BoolOperationIr as Truth, IntOperationIr as Int,
    NumericOperationIr as Numeric, OperationIr, TensorId, TensorIr,
};
use burn::backend::tensor::{BoolTensor, Device, FloatTensor, IntTensor};
use burn::tensor::TensorData;
use std::collections::HashMap;

mod float;

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

// Operations on whole numbers and on truth values: positions, indices and masks.

impl<B: Backend> Machine<B> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn base_int(&self, base: &Base) -> Done<B> {
        let answer = |out: &TensorIr, result: Result<IntTensor<B>, Unknown>| {
            Some(result.map(|result| (out.id, Handle::Int(result))))
        };
        match base {
            Base::Reshape(op) => {
                let view = |x| B::int_reshape(x, op.out.shape.clone());
                answer(&op.out, self.int(&op.input).map(view))
            }
            Base::Expand(op) => {
                let view = |x| B::int_expand(x, op.out.shape.clone());
                answer(&op.out, self.int(&op.input).map(view))
            }
            Base::SwapDims(op) => {
                let view = |x| B::int_swap_dims(x, op.dim1, op.dim2);
                answer(&op.out, self.int(&op.input).map(view))
            }
            Base::Slice(op) => {
                let view = |x| B::int_slice(x, &op.ranges);
                answer(&op.out, self.int(&op.tensor).map(view))
            }
            Base::Empty(op) | Base::Zeros(op) => {
                let shape = op.out.shape.clone();
                let zeros = B::int_zeros(shape, &self.device, op.out.dtype.into());
                answer(&op.out, Ok(zeros))
            }
            Base::Ones(op) => {
                let shape = op.out.shape.clone();
                let ones = B::int_ones(shape, &self.device, op.out.dtype.into());
                answer(&op.out, Ok(ones))
            }
            _ => None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn numeric_int(&self, numeric: &Numeric) -> Done<B> {
        let whole = |out: &TensorIr, result: Result<IntTensor<B>, Unknown>| {
            result.map(|result| (out.id, Handle::Int(result)))
        };
        let truth = |out: &TensorIr, result: Result<BoolTensor<B>, Unknown>| {
            result.map(|result| (out.id, Handle::Bool(result)))
        };
        let both = |lhs: &TensorIr, rhs: &TensorIr| Ok((self.int(lhs)?, self.int(rhs)?));
        Some(match numeric {
            Numeric::Add(op) => {
                let sum = both(&op.lhs, &op.rhs).map(|(x, y)| B::int_add(x, y));
                whole(&op.out, sum)
            }
            Numeric::Sub(op) => {
                let difference = both(&op.lhs, &op.rhs).map(|(x, y)| B::int_sub(x, y));
                whole(&op.out, difference)
            }
            Numeric::AddScalar(op) => {
                let add = |x| B::int_add_scalar(x, op.rhs.into());
                whole(&op.out, self.int(&op.lhs).map(add))
            }
            Numeric::SubScalar(op) => {
                let sub = |x| B::int_sub_scalar(x, op.rhs.into());
                whole(&op.out, self.int(&op.lhs).map(sub))
            }
            Numeric::MulScalar(op) => {
                let mul = |x| B::int_mul_scalar(x, op.rhs.into());
                whole(&op.out, self.int(&op.lhs).map(mul))
            }
            Numeric::Greater(op) => {
                let dtype = op.out.dtype.into();
                let greater = both(&op.lhs, &op.rhs).map(|(x, y)| B::int_greater(x, y, dtype));
                truth(&op.out, greater)
            }
            Numeric::GreaterEqual(op) => {
                let dtype = op.out.dtype.into();
                let answer = both(&op.lhs, &op.rhs);
                truth(&op.out, answer.map(|(x, y)| B::int_greater_equal(x, y, dtype)))
            }
            Numeric::Lower(op) => {
                let dtype = op.out.dtype.into();
                let lower = both(&op.lhs, &op.rhs).map(|(x, y)| B::int_lower(x, y, dtype));
                truth(&op.out, lower)
            }
            Numeric::LowerEqual(op) => {
                let dtype = op.out.dtype.into();
                let answer = both(&op.lhs, &op.rhs);
                truth(&op.out, answer.map(|(x, y)| B::int_lower_equal(x, y, dtype)))
            }
            Numeric::LowerElem(op) => {
                let lower = |x| B::int_lower_elem(x, op.rhs.into(), op.out.dtype.into());
                truth(&op.out, self.int(&op.lhs).map(lower))
            }
            Numeric::LowerEqualElem(op) => {
                let lower = |x| B::int_lower_equal_elem(x, op.rhs.into(), op.out.dtype.into());
                truth(&op.out, self.int(&op.lhs).map(lower))
            }
            Numeric::GreaterElem(op) => {
                let greater = |x| B::int_greater_elem(x, op.rhs.into(), op.out.dtype.into());
                truth(&op.out, self.int(&op.lhs).map(greater))
            }
            Numeric::GreaterEqualElem(op) => {
                let greater = |x| B::int_greater_equal_elem(x, op.rhs.into(), op.out.dtype.into());
                truth(&op.out, self.int(&op.lhs).map(greater))
            }
            _ => return None,
        })
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn only_int(&self, int: &Int) -> Done<B> {
        match int {
            Int::IntoFloat(op) => {
                let float = |x| B::int_into_float(x, op.out.dtype.into());
                let result = self.int(&op.input).map(float);
                Some(result.map(|result| (op.out.id, Handle::Float(result))))
            }
            _ => None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn base_bool(&self, base: &Base) -> Done<B> {
        let answer = |out: &TensorIr, result: Result<BoolTensor<B>, Unknown>| {
            Some(result.map(|result| (out.id, Handle::Bool(result))))
        };
        match base {
            Base::Reshape(op) => {
                let view = |x| B::bool_reshape(x, op.out.shape.clone());
                answer(&op.out, self.bool(&op.input).map(view))
            }
            Base::Expand(op) => {
                let view = |x| B::bool_expand(x, op.out.shape.clone());
                answer(&op.out, self.bool(&op.input).map(view))
            }
            Base::Slice(op) => {
                let view = |x| B::bool_slice(x, &op.ranges);
                answer(&op.out, self.bool(&op.tensor).map(view))
            }
            _ => None,
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn only_bool(&self, truth: &Truth) -> Done<B> {
        match truth {
            Truth::Not(op) => {
                let result = self.bool(&op.input).map(B::bool_not);
                Some(result.map(|result| (op.out.id, Handle::Bool(result))))
            }
            Truth::IntoFloat(op) => {
                let float = |x| B::bool_into_float(x, op.out.dtype.into());
                let result = self.bool(&op.input).map(float);
                Some(result.map(|result| (op.out.id, Handle::Float(result))))
            }
            _ => None,
        }
    }
}
