//! Operations on floating-point tensors.

use burn::backend::Backend;
use burn::backend::Scalar;
use burn::backend::ir::{
    ActivationOperationIr as Activation, BaseOperationIr as Base, BinaryOpIr,
    FloatOperationIr as Float, ModuleOperationIr as Module, NumericOperationIr as Numeric,
    ScalarOpIr, UnaryOpIr,
};
use burn::backend::tensor::FloatTensor;

use super::{Done, Handle, Machine, Unknown};

type Answer<B> = Result<(burn::backend::ir::TensorId, Handle<B>), Unknown>;

impl<B: Backend> Machine<B> {
    fn unary(&self, op: &UnaryOpIr, f: impl Fn(FloatTensor<B>) -> FloatTensor<B>) -> Answer<B> {
        Ok((op.out.id, Handle::Float(f(self.float(&op.input)?))))
    }

    fn binary(
        &self,
        op: &BinaryOpIr,
        f: impl Fn(FloatTensor<B>, FloatTensor<B>) -> FloatTensor<B>,
    ) -> Answer<B> {
        let result = f(self.float(&op.lhs)?, self.float(&op.rhs)?);
        Ok((op.out.id, Handle::Float(result)))
    }

    fn scalar(
        &self,
        op: &ScalarOpIr,
        f: impl Fn(FloatTensor<B>, Scalar) -> FloatTensor<B>,
    ) -> Answer<B> {
        let result = f(self.float(&op.lhs)?, op.rhs.into());
        Ok((op.out.id, Handle::Float(result)))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn base_float(&self, base: &Base) -> Done<B> {
        let answer = |out: &burn::backend::ir::TensorIr,
                      result: Result<FloatTensor<B>, Unknown>| {
            Some(result.map(|result| (out.id, Handle::Float(result))))
        };
        match base {
            Base::Reshape(op) => answer(
                &op.out,
                self.float(&op.input).map(|x| B::float_reshape(x, op.out.shape.clone())),
            ),
            Base::Expand(op) => answer(
                &op.out,
                self.float(&op.input).map(|x| B::float_expand(x, op.out.shape.clone())),
            ),
            Base::SwapDims(op) => answer(
                &op.out,
                self.float(&op.input).map(|x| B::float_swap_dims(x, op.dim1, op.dim2)),
            ),
            Base::Permute(op) => {
                answer(&op.out, self.float(&op.input).map(|x| B::float_permute(x, &op.axes)))
            }
            Base::Flip(op) => {
                answer(&op.out, self.float(&op.input).map(|x| B::float_flip(x, &op.axes)))
            }
            Base::Slice(op) => {
                answer(&op.out, self.float(&op.tensor).map(|x| B::float_slice(x, &op.ranges)))
            }
            Base::Select(op) => answer(
                &op.out,
                self.float(&op.tensor)
                    .and_then(|x| Ok(B::float_select(x, op.dim, self.int(&op.indices)?))),
            ),
            Base::Gather(op) => answer(
                &op.out,
                self.float(&op.tensor)
                    .and_then(|x| Ok(B::float_gather(op.dim, x, self.int(&op.indices)?))),
            ),
            Base::MaskFill(op) => answer(
                &op.out,
                self.float(&op.tensor)
                    .and_then(|x| Ok(B::float_mask_fill(x, self.bool(&op.mask)?, op.value.into()))),
            ),
            Base::RepeatDim(op) => answer(
                &op.out,
                self.float(&op.tensor).map(|x| B::float_repeat_dim(x, op.dim, op.times)),
            ),
            Base::Cat(op) => {
                let parts: Result<Vec<_>, _> = op.tensors.iter().map(|x| self.float(x)).collect();
                answer(&op.out, parts.map(|parts| B::float_cat(parts, op.dim)))
            }
            Base::Cast(op) => answer(
                &op.out,
                self.float(&op.input).map(|x| B::float_cast(x, op.out.dtype.into())),
            ),
            Base::Empty(op) | Base::Zeros(op) => {
                let shape = op.out.shape.clone();
                let zeros = B::float_zeros(shape, &self.device, op.out.dtype.into());
                answer(&op.out, Ok(zeros))
            }
            Base::Ones(op) => {
                let shape = op.out.shape.clone();
                let ones = B::float_ones(shape, &self.device, op.out.dtype.into());
                answer(&op.out, Ok(ones))
            }
            Base::EqualElem(op) => {
                Some(self.compare(op, |x, y, dtype| B::float_equal_elem(x, y, dtype)))
            }
            _ => None,
        }
    }

    fn compare(
        &self,
        op: &ScalarOpIr,
        f: impl Fn(
            FloatTensor<B>,
            Scalar,
            burn::backend::BoolDType,
        ) -> burn::backend::tensor::BoolTensor<B>,
    ) -> Answer<B> {
        let result = f(self.float(&op.lhs)?, op.rhs.into(), op.out.dtype.into());
        Ok((op.out.id, Handle::Bool(result)))
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn numeric_float(&self, numeric: &Numeric) -> Done<B> {
        let reduced = |out: &burn::backend::ir::TensorIr,
                       result: Result<FloatTensor<B>, Unknown>| {
            result.map(|result| (out.id, Handle::Float(result)))
        };
        Some(match numeric {
            Numeric::Add(op) => self.binary(op, B::float_add),
            Numeric::Sub(op) => self.binary(op, B::float_sub),
            Numeric::Mul(op) => self.binary(op, B::float_mul),
            Numeric::Div(op) => self.binary(op, B::float_div),
            Numeric::AddScalar(op) => self.scalar(op, B::float_add_scalar),
            Numeric::SubScalar(op) => self.scalar(op, B::float_sub_scalar),
            Numeric::MulScalar(op) => self.scalar(op, B::float_mul_scalar),
            Numeric::DivScalar(op) => self.scalar(op, B::float_div_scalar),
            Numeric::PowiScalar(op) => self.scalar(op, B::float_powi_scalar),
            Numeric::ClampMin(op) => self.scalar(op, B::float_clamp_min),
            Numeric::ClampMax(op) => self.scalar(op, B::float_clamp_max),
            Numeric::Neg(op) => self.unary(op, B::float_neg),
            Numeric::Abs(op) => self.unary(op, B::float_abs),
            Numeric::Sum(op) => reduced(&op.out, self.float(&op.input).map(B::float_sum)),
            Numeric::Mean(op) => reduced(&op.out, self.float(&op.input).map(B::float_mean)),
            Numeric::Max(op) => reduced(&op.out, self.float(&op.input).map(B::float_max)),
            Numeric::SumDim(op) => {
                let sum = |x| B::float_sum_dim(x, op.axis);
                reduced(&op.out, self.float(&op.input).map(sum))
            }
            Numeric::MeanDim(op) => {
                let mean = |x| B::float_mean_dim(x, op.axis);
                reduced(&op.out, self.float(&op.input).map(mean))
            }
            Numeric::MaxDim(op) => {
                let max = |x| B::float_max_dim(x, op.axis);
                reduced(&op.out, self.float(&op.input).map(max))
            }
            Numeric::Full(op) => {
                let shape = op.out.shape.clone();
                let full = B::float_full(shape, op.value.into(), &self.device, op.out.dtype.into());
                reduced(&op.out, Ok(full))
            }
            Numeric::LowerEqualElem(op) => self.compare(op, B::float_lower_equal_elem),
            Numeric::LowerElem(op) => self.compare(op, B::float_lower_elem),
            Numeric::GreaterElem(op) => self.compare(op, B::float_greater_elem),
            _ => return None,
        })
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn only_float(&self, float: &Float) -> Done<B> {
        Some(match float {
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
            Float::Matmul(op) => self
                .float(&op.lhs)
                .and_then(|lhs| Ok(B::float_matmul(lhs, self.float(&op.rhs)?)))
                .map(|product| (op.out.id, Handle::Float(product))),
            _ => return None,
        })
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn activation(&self, activation: &Activation) -> Done<B> {
        Some(match activation {
            Activation::Relu(op) => self.unary(op, B::relu),
            Activation::Gelu(op) => self.unary(op, B::gelu),
            Activation::Sigmoid(op) => self.unary(op, B::sigmoid),
            Activation::LogSigmoid(op) => self.unary(op, B::log_sigmoid),
            Activation::Softmax(op) => {
                self.float(&op.input).map(|x| (op.out.id, Handle::Float(B::softmax(x, op.axis))))
            }
            Activation::LogSoftmax(op) => self
                .float(&op.input)
                .map(|x| (op.out.id, Handle::Float(B::log_softmax(x, op.axis)))),
            _ => return None,
        })
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "refused by name where it is called")]
    pub fn module(&self, module: &Module) -> Done<B> {
        let done = match module {
            Module::Linear(op) => self.float(&op.x).and_then(|x| {
                let bias = op.bias.as_ref().map(|bias| self.float(bias)).transpose()?;
                Ok((op.out.id, B::linear(x, self.float(&op.weight)?, bias)))
            }),
            Module::Conv2d(op) => self.float(&op.x).and_then(|x| {
                let bias = op.bias.as_ref().map(|bias| self.float(bias)).transpose()?;
                let (weight, options) = (self.float(&op.weight)?, op.options.clone().into());
                Ok((op.out.id, B::conv2d(x, weight, bias, options)))
            }),
            Module::Embedding(op) => self.float(&op.weights).and_then(|weights| {
                let indices = self.int(&op.indices)?;
                Ok((op.out.id, B::embedding(weights, indices)))
            }),
            _ => return None,
        };
        Some(done.map(|(out, result)| (out, Handle::Float(result))))
    }
}
