//! Recorded operations, done one after the other on any back end: the ones our networks are made of, by name.
//!
//! Done on a device, the result must be that of the network itself. Done on burn's autodiff over its recording
//! back end, what comes out is the record of a whole training step.

use std::collections::HashMap;

use burn::backend::Backend;
use burn::backend::ir::{
    ActivationOperationIr as Activation, BaseOperationIr as Base, BinaryOpIr,
    BoolOperationIr as Truth, FloatOperationIr as Float, IntOperationIr as Int,
    ModuleOperationIr as Module, NumericOperationIr as Numeric, OperationIr, ScalarOpIr, TensorId,
    TensorIr, UnaryOpIr,
};
use burn::backend::tensor::{BoolTensor, Device, FloatTensor, IntTensor};
use burn::backend::{BoolDType, Scalar};
use burn::tensor::TensorData;

/// An operation that the record holds and this program does not know how to do again.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// The result of an operation; none if it is not known.
type Done<B> = Result<Option<Handle<B>>, Unknown>;

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

    pub fn execute(&mut self, operation: &OperationIr) -> Result<(), Unknown> {
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "burn knows some three hundred operations; those that no network of ours has are refused by name"
        )]
        let done = match operation {
            // Values that were recorded with the graph are already there.
            OperationIr::Init(_) | OperationIr::Drop(_) => return Ok(()),
            OperationIr::BaseFloat(base) => self.base_float(base)?,
            OperationIr::NumericFloat(_, numeric) => self.numeric_float(numeric)?,
            OperationIr::Float(_, float) => self.only_float(float)?,
            OperationIr::Activation(activation) => self.activation(activation)?,
            OperationIr::Module(module) => self.module(module)?,
            OperationIr::BaseInt(base) => self.base_int(base)?,
            OperationIr::NumericInt(_, numeric) => self.numeric_int(numeric)?,
            OperationIr::Int(Int::IntoFloat(op)) => {
                Some(Handle::Float(B::int_into_float(self.int(&op.input)?, op.out.dtype.into())))
            }
            OperationIr::BaseBool(base) => self.base_bool(base)?,
            OperationIr::Bool(Truth::Not(op)) => {
                Some(Handle::Bool(B::bool_not(self.bool(&op.input)?)))
            }
            OperationIr::Bool(Truth::IntoFloat(op)) => {
                Some(Handle::Float(B::bool_into_float(self.bool(&op.input)?, op.out.dtype.into())))
            }
            _ => None,
        };
        let unknown = || Unknown(super::table::name_of(operation));
        let out = operation.outputs().next().ok_or_else(unknown)?.id;
        self.put(out, done.ok_or_else(unknown)?);
        Ok(())
    }

    // Whole numbers and truth values: positions, indices and masks.

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    fn base_int(&self, base: &Base) -> Done<B> {
        Ok(Some(Handle::Int(match base {
            Base::Reshape(op) => B::int_reshape(self.int(&op.input)?, op.out.shape.clone()),
            Base::Expand(op) => B::int_expand(self.int(&op.input)?, op.out.shape.clone()),
            Base::SwapDims(op) => B::int_swap_dims(self.int(&op.input)?, op.dim1, op.dim2),
            Base::Slice(op) => B::int_slice(self.int(&op.tensor)?, &op.ranges),
            Base::Empty(op) | Base::Zeros(op) => {
                B::int_zeros(op.out.shape.clone(), &self.device, op.out.dtype.into())
            }
            Base::Ones(op) => B::int_ones(op.out.shape.clone(), &self.device, op.out.dtype.into()),
            _ => return Ok(None),
        })))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    fn numeric_int(&self, numeric: &Numeric) -> Done<B> {
        let scalar = |op: &ScalarOpIr, f: fn(IntTensor<B>, Scalar) -> IntTensor<B>| {
            Ok(Some(Handle::Int(f(self.int(&op.lhs)?, op.rhs.into()))))
        };
        let compare = |op: &ScalarOpIr, f: fn(IntTensor<B>, Scalar, BoolDType) -> BoolTensor<B>| {
            let result = f(self.int(&op.lhs)?, op.rhs.into(), op.out.dtype.into());
            Ok(Some(Handle::Bool(result)))
        };
        let binary = |op: &BinaryOpIr, f: fn(IntTensor<B>, IntTensor<B>) -> IntTensor<B>| {
            Ok(Some(Handle::Int(f(self.int(&op.lhs)?, self.int(&op.rhs)?))))
        };
        type Compare<B> = fn(IntTensor<B>, IntTensor<B>, BoolDType) -> BoolTensor<B>;
        let compare_both = |lhs: &TensorIr, rhs: &TensorIr, out: &TensorIr, f: Compare<B>| {
            Ok(Some(Handle::Bool(f(self.int(lhs)?, self.int(rhs)?, out.dtype.into()))))
        };
        match numeric {
            Numeric::Add(op) => binary(op, B::int_add),
            Numeric::Sub(op) => binary(op, B::int_sub),
            Numeric::AddScalar(op) => scalar(op, B::int_add_scalar),
            Numeric::SubScalar(op) => scalar(op, B::int_sub_scalar),
            Numeric::MulScalar(op) => scalar(op, B::int_mul_scalar),
            Numeric::Greater(op) => compare_both(&op.lhs, &op.rhs, &op.out, B::int_greater),
            Numeric::GreaterEqual(op) => {
                compare_both(&op.lhs, &op.rhs, &op.out, B::int_greater_equal)
            }
            Numeric::Lower(op) => compare_both(&op.lhs, &op.rhs, &op.out, B::int_lower),
            Numeric::LowerEqual(op) => compare_both(&op.lhs, &op.rhs, &op.out, B::int_lower_equal),
            Numeric::LowerElem(op) => compare(op, B::int_lower_elem),
            Numeric::LowerEqualElem(op) => compare(op, B::int_lower_equal_elem),
            Numeric::GreaterElem(op) => compare(op, B::int_greater_elem),
            Numeric::GreaterEqualElem(op) => compare(op, B::int_greater_equal_elem),
            _ => Ok(None),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    fn base_bool(&self, base: &Base) -> Done<B> {
        Ok(Some(Handle::Bool(match base {
            Base::Reshape(op) => B::bool_reshape(self.bool(&op.input)?, op.out.shape.clone()),
            Base::Expand(op) => B::bool_expand(self.bool(&op.input)?, op.out.shape.clone()),
            Base::Slice(op) => B::bool_slice(self.bool(&op.tensor)?, &op.ranges),
            _ => return Ok(None),
        })))
    }

    // Floating-point numbers.

    fn unary(&self, op: &UnaryOpIr, f: fn(FloatTensor<B>) -> FloatTensor<B>) -> Done<B> {
        Ok(Some(Handle::Float(f(self.float(&op.input)?))))
    }

    fn binary(
        &self,
        op: &BinaryOpIr,
        f: fn(FloatTensor<B>, FloatTensor<B>) -> FloatTensor<B>,
    ) -> Done<B> {
        Ok(Some(Handle::Float(f(self.float(&op.lhs)?, self.float(&op.rhs)?))))
    }

    fn scalar(&self, op: &ScalarOpIr, f: fn(FloatTensor<B>, Scalar) -> FloatTensor<B>) -> Done<B> {
        Ok(Some(Handle::Float(f(self.float(&op.lhs)?, op.rhs.into()))))
    }

    fn compare(
        &self,
        op: &ScalarOpIr,
        f: fn(FloatTensor<B>, Scalar, BoolDType) -> BoolTensor<B>,
    ) -> Done<B> {
        let result = f(self.float(&op.lhs)?, op.rhs.into(), op.out.dtype.into());
        Ok(Some(Handle::Bool(result)))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    fn base_float(&self, base: &Base) -> Done<B> {
        Ok(Some(Handle::Float(match base {
            Base::Reshape(op) => B::float_reshape(self.float(&op.input)?, op.out.shape.clone()),
            Base::Expand(op) => B::float_expand(self.float(&op.input)?, op.out.shape.clone()),
            Base::SwapDims(op) => B::float_swap_dims(self.float(&op.input)?, op.dim1, op.dim2),
            Base::Permute(op) => B::float_permute(self.float(&op.input)?, &op.axes),
            Base::Flip(op) => B::float_flip(self.float(&op.input)?, &op.axes),
            Base::Slice(op) => B::float_slice(self.float(&op.tensor)?, &op.ranges),
            Base::Select(op) => {
                B::float_select(self.float(&op.tensor)?, op.dim, self.int(&op.indices)?)
            }
            Base::Gather(op) => {
                B::float_gather(op.dim, self.float(&op.tensor)?, self.int(&op.indices)?)
            }
            Base::MaskFill(op) => {
                let mask = self.bool(&op.mask)?;
                B::float_mask_fill(self.float(&op.tensor)?, mask, op.value.into())
            }
            Base::RepeatDim(op) => B::float_repeat_dim(self.float(&op.tensor)?, op.dim, op.times),
            Base::Cat(op) => {
                let parts: Result<_, _> = op.tensors.iter().map(|x| self.float(x)).collect();
                B::float_cat(parts?, op.dim)
            }
            Base::Cast(op) => B::float_cast(self.float(&op.input)?, op.out.dtype.into()),
            Base::Empty(op) | Base::Zeros(op) => {
                B::float_zeros(op.out.shape.clone(), &self.device, op.out.dtype.into())
            }
            Base::Ones(op) => {
                B::float_ones(op.out.shape.clone(), &self.device, op.out.dtype.into())
            }
            Base::EqualElem(op) => return self.compare(op, B::float_equal_elem),
            _ => return Ok(None),
        })))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    fn numeric_float(&self, numeric: &Numeric) -> Done<B> {
        Ok(Some(Handle::Float(match numeric {
            Numeric::Add(op) => return self.binary(op, B::float_add),
            Numeric::Sub(op) => return self.binary(op, B::float_sub),
            Numeric::Mul(op) => return self.binary(op, B::float_mul),
            Numeric::Div(op) => return self.binary(op, B::float_div),
            Numeric::AddScalar(op) => return self.scalar(op, B::float_add_scalar),
            Numeric::SubScalar(op) => return self.scalar(op, B::float_sub_scalar),
            Numeric::MulScalar(op) => return self.scalar(op, B::float_mul_scalar),
            Numeric::DivScalar(op) => return self.scalar(op, B::float_div_scalar),
            Numeric::PowiScalar(op) => return self.scalar(op, B::float_powi_scalar),
            Numeric::ClampMin(op) => return self.scalar(op, B::float_clamp_min),
            Numeric::ClampMax(op) => return self.scalar(op, B::float_clamp_max),
            Numeric::Neg(op) => return self.unary(op, B::float_neg),
            Numeric::Abs(op) => return self.unary(op, B::float_abs),
            Numeric::LowerEqualElem(op) => return self.compare(op, B::float_lower_equal_elem),
            Numeric::LowerElem(op) => return self.compare(op, B::float_lower_elem),
            Numeric::GreaterElem(op) => return self.compare(op, B::float_greater_elem),
            Numeric::Sum(op) => B::float_sum(self.float(&op.input)?),
            Numeric::Mean(op) => B::float_mean(self.float(&op.input)?),
            Numeric::Max(op) => B::float_max(self.float(&op.input)?),
            Numeric::SumDim(op) => B::float_sum_dim(self.float(&op.input)?, op.axis),
            Numeric::MeanDim(op) => B::float_mean_dim(self.float(&op.input)?, op.axis),
            Numeric::MaxDim(op) => B::float_max_dim(self.float(&op.input)?, op.axis),
            Numeric::Full(op) => {
                let shape = op.out.shape.clone();
                B::float_full(shape, op.value.into(), &self.device, op.out.dtype.into())
            }
            _ => return Ok(None),
        })))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    fn only_float(&self, float: &Float) -> Done<B> {
        match float {
            Float::Exp(op) => self.unary(op, B::float_exp),
            Float::Log(op) => self.unary(op, B::float_log),
            Float::Sqrt(op) => self.unary(op, B::float_sqrt),
            Float::Recip(op) => self.unary(op, B::float_recip),
            Float::Sin(op) => self.unary(op, B::float_sin),
            Float::Cos(op) => self.unary(op, B::float_cos),
            Float::Tanh(op) => self.unary(op, B::float_tanh),
            Float::Erf(op) => self.unary(op, B::float_erf),
            Float::PowfScalar(op) => self.scalar(op, B::float_powf_scalar),
            Float::Powf(op) => self.binary(op, B::float_powf),
            Float::Matmul(op) => {
                let product = B::float_matmul(self.float(&op.lhs)?, self.float(&op.rhs)?);
                Ok(Some(Handle::Float(product)))
            }
            _ => Ok(None),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    fn activation(&self, activation: &Activation) -> Done<B> {
        Ok(Some(Handle::Float(match activation {
            Activation::Relu(op) => B::relu(self.float(&op.input)?),
            Activation::Gelu(op) => B::gelu(self.float(&op.input)?),
            Activation::Sigmoid(op) => B::sigmoid(self.float(&op.input)?),
            Activation::LogSigmoid(op) => B::log_sigmoid(self.float(&op.input)?),
            Activation::Softmax(op) => B::softmax(self.float(&op.input)?, op.axis),
            Activation::LogSoftmax(op) => B::log_softmax(self.float(&op.input)?, op.axis),
            _ => return Ok(None),
        })))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    fn module(&self, module: &Module) -> Done<B> {
        let optional = |x: &Option<TensorIr>| x.as_ref().map(|x| self.float(x)).transpose();
        Ok(Some(Handle::Float(match module {
            Module::Linear(op) => {
                B::linear(self.float(&op.x)?, self.float(&op.weight)?, optional(&op.bias)?)
            }
            Module::Conv2d(op) => B::conv2d(
                self.float(&op.x)?,
                self.float(&op.weight)?,
                optional(&op.bias)?,
                op.options.clone().into(),
            ),
            Module::Embedding(op) => B::embedding(self.float(&op.weights)?, self.int(&op.indices)?),
            _ => return Ok(None),
        })))
    }
}
