//! Recorded operations, done one after the other on any back end: the ones our networks are made of, by name.
//!
//! Done on a device, the result must be that of the network itself. Done on burn's autodiff over its recording
//! back end, what comes out is the record of a whole training step.

use burn::backend::ir::{
    ActivationOperationIr as Activation, BaseOperationIr as Base, BinaryOpIr, FloatOperationIr,
    ModuleOperationIr as Module, NumericOperationIr as Numeric, OperationIr, ScalarOpIr, TensorId,
    TensorIr,
};
use burn::backend::tensor::{BoolTensor, Device, FloatTensor, IntTensor};
use burn::backend::{Backend, Scalar};
use burn::tensor::TensorData;
use std::collections::HashMap;

/// An operation that the record holds and this program does not know how to do again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record holds {0}, which this program cannot do again")]
pub struct Unknown(pub String);

pub struct Machine<B: Backend> {
    tensors: HashMap<TensorId, Handle<B>>,
    device: Device<B>,
}

#[derive(Clone)]
pub enum Handle<B: Backend> {
    Float(FloatTensor<B>),
    Int(IntTensor<B>),
    Bool(BoolTensor<B>),
}

fn missing(tensor: &TensorIr) -> Unknown {
    Unknown(format!("tensor {} that nothing recorded", tensor.id))
}

impl<B: Backend> Machine<B> {
    pub fn new(device: Device<B>) -> Self {
        Self { tensors: HashMap::new(), device }
    }

    /// Puts a tensor where the record expects one from outside.
    pub fn put(&mut self, id: TensorId, handle: Handle<B>) {
        self.tensors.insert(id, handle);
    }

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

    pub fn get(&self, id: TensorId) -> Option<&Handle<B>> {
        self.tensors.get(&id)
    }

    pub fn float(&self, tensor: &TensorIr) -> Result<FloatTensor<B>, Unknown> {
        let Some(Handle::Float(found)) = self.get(tensor.id) else { return Err(missing(tensor)) };
        Ok(found.clone())
    }

    fn int(&self, tensor: &TensorIr) -> Result<IntTensor<B>, Unknown> {
        let Some(Handle::Int(found)) = self.get(tensor.id) else { return Err(missing(tensor)) };
        Ok(found.clone())
    }

    fn bool(&self, tensor: &TensorIr) -> Result<BoolTensor<B>, Unknown> {
        let Some(Handle::Bool(found)) = self.get(tensor.id) else { return Err(missing(tensor)) };
        Ok(found.clone())
    }

    pub fn execute(&mut self, operation: &OperationIr) -> Result<(), Unknown> {
        let unknown = || Unknown(name_of(operation));
        let out = operation.outputs().next().ok_or_else(unknown)?;
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "burn knows some three hundred operations; those that no network of ours has are refused by name"
        )]
        let done = match operation {
            // Values that were recorded with the graph are already there.
            OperationIr::Init(_) | OperationIr::Drop(_) => return Ok(()),
            OperationIr::BaseFloat(base) => Handle::Float(match base {
                Base::Empty(_) => B::float_zeros(out.shape.clone(), &self.device, out.dtype.into()),
                Base::Flip(op) => B::float_flip(self.float(&op.input)?, &op.axes),
                Base::Gather(op) => {
                    B::float_gather(op.dim, self.float(&op.tensor)?, self.int(&op.indices)?)
                }
                Base::MaskFill(op) => {
                    let mask = self.bool(&op.mask)?;
                    B::float_mask_fill(self.float(&op.tensor)?, mask, op.value.into())
                }
                Base::Reshape(op) => B::float_reshape(self.float(&op.input)?, out.shape.clone()),
                Base::Select(op) => {
                    B::float_select(self.float(&op.tensor)?, op.dim, self.int(&op.indices)?)
                }
                Base::SwapDims(op) => B::float_swap_dims(self.float(&op.input)?, op.dim1, op.dim2),
                _ => return Err(unknown()),
            }),
            OperationIr::NumericFloat(_, numeric) => Handle::Float(match numeric {
                Numeric::Add(op) => self.binary(op, B::float_add)?,
                Numeric::Mul(op) => self.binary(op, B::float_mul)?,
                Numeric::Div(op) => self.binary(op, B::float_div)?,
                Numeric::AddScalar(op) => self.scalar(op, B::float_add_scalar)?,
                Numeric::DivScalar(op) => self.scalar(op, B::float_div_scalar)?,
                Numeric::Neg(op) => B::float_neg(self.float(&op.input)?),
                Numeric::Mean(op) => B::float_mean(self.float(&op.input)?),
                Numeric::MeanDim(op) => B::float_mean_dim(self.float(&op.input)?, op.axis),
                _ => return Err(unknown()),
            }),
            OperationIr::Float(_, float) => Handle::Float(match float {
                FloatOperationIr::Matmul(op) => {
                    B::float_matmul(self.float(&op.lhs)?, self.float(&op.rhs)?)
                }
                FloatOperationIr::Sqrt(op) => B::float_sqrt(self.float(&op.input)?),
                FloatOperationIr::Tanh(op) => B::float_tanh(self.float(&op.input)?),
                _ => return Err(unknown()),
            }),
            OperationIr::Activation(activation) => Handle::Float(match activation {
                Activation::Relu(op) => B::relu(self.float(&op.input)?),
                Activation::Gelu(op) => B::gelu(self.float(&op.input)?),
                Activation::Sigmoid(op) => B::sigmoid(self.float(&op.input)?),
                Activation::Softmax(op) => B::softmax(self.float(&op.input)?, op.axis),
                Activation::LogSoftmax(op) => B::log_softmax(self.float(&op.input)?, op.axis),
                _ => return Err(unknown()),
            }),
            OperationIr::Module(Module::Conv2d(op)) => {
                let bias = op.bias.as_ref().map(|bias| self.float(bias)).transpose()?;
                let (x, weight) = (self.float(&op.x)?, self.float(&op.weight)?);
                Handle::Float(B::conv2d(x, weight, bias, op.options.clone().into()))
            }
            // Positions, indices and masks.
            OperationIr::BaseInt(Base::Empty(_)) => {
                Handle::Int(B::int_zeros(out.shape.clone(), &self.device, out.dtype.into()))
            }
            OperationIr::BaseInt(Base::Reshape(op)) => {
                Handle::Int(B::int_reshape(self.int(&op.input)?, out.shape.clone()))
            }
            OperationIr::NumericInt(_, Numeric::Sub(op)) => {
                Handle::Int(B::int_sub(self.int(&op.lhs)?, self.int(&op.rhs)?))
            }
            OperationIr::NumericInt(_, Numeric::SubScalar(op)) => {
                Handle::Int(B::int_sub_scalar(self.int(&op.lhs)?, op.rhs.into()))
            }
            OperationIr::NumericInt(_, Numeric::LowerElem(op)) => {
                let lower = B::int_lower_elem(self.int(&op.lhs)?, op.rhs.into(), out.dtype.into());
                Handle::Bool(lower)
            }
            OperationIr::BaseBool(Base::Reshape(op)) => {
                Handle::Bool(B::bool_reshape(self.bool(&op.input)?, out.shape.clone()))
            }
            _ => return Err(unknown()),
        };
        self.put(out.id, done);
        Ok(())
    }

    fn binary(
        &self,
        op: &BinaryOpIr,
        f: fn(FloatTensor<B>, FloatTensor<B>) -> FloatTensor<B>,
    ) -> Result<FloatTensor<B>, Unknown> {
        Ok(f(self.float(&op.lhs)?, self.float(&op.rhs)?))
    }

    fn scalar(
        &self,
        op: &ScalarOpIr,
        f: fn(FloatTensor<B>, Scalar) -> FloatTensor<B>,
    ) -> Result<FloatTensor<B>, Unknown> {
        Ok(f(self.float(&op.lhs)?, op.rhs.into()))
    }
}

/// burn's name for an operation, such as `log_softmax`: in its debug text, `Activation(LogSoftmax(DimOpIr { ..`, the
/// word before the last one that stands before the first brace.
pub fn name_of(operation: &OperationIr) -> String {
    let text = format!("{operation:?}");
    let head = text.split('{').next().unwrap_or(&text);
    let mut words = head.split(['(', ',', ' ']).filter(|word| !word.is_empty()).rev();
    let last = words.next().unwrap_or("");
    let mut snake = String::new();
    for (index, letter) in words.next().unwrap_or(last).char_indices() {
        if letter.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}
