//! Operations on whole numbers and on truth values: positions, indices and masks.

use burn::backend::Backend;
use burn::backend::ir::{
    BaseOperationIr as Base, BoolOperationIr as Truth, IntOperationIr as Int,
    NumericOperationIr as Numeric, TensorIr,
};
use burn::backend::tensor::{BoolTensor, IntTensor};

use super::{Done, Handle, Machine, Unknown};

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
