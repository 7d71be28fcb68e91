//! The operations of a graph: their values and local derivatives, the forward values that the backward pass reads, and
//! the interface to another autodiff engine, which the registry provides.

use mlsys_lab::{DeviceId, LabError};

/// What a node computes; arguments are the indices of earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    Input,
    /// Written in the expression.
    Constant,
    /// A second name for a node, as in `b = a`.
    Copy(usize),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Negate,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tanh,
    /// 1 / (1 + exp(-a))
    Sigmoid,
    /// The larger of a and 0.
    Relu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    /// The larger of the two.
    Max,
}

impl Operation {
    /// The nodes it reads, in the order they are written; the same one twice if it reads it twice.
    pub fn arguments(self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            Self::Input | Self::Constant => (None, None),
            Self::Copy(a) | Self::Unary(_, a) => (Some(a), None),
            Self::Binary(_, a, b) => (Some(a), Some(b)),
        };
        first.into_iter().chain(second)
    }

    /// The operation in words and symbols, over the labels of its arguments; what binds tightly stands close.
    pub fn describe(self, label: impl Fn(usize) -> String) -> String {
        match self {
            Self::Input => "input".to_owned(),
            Self::Constant => "constant".to_owned(),
            Self::Copy(a) => label(a),
            Self::Unary(Unary::Negate, a) => format!("-{}", label(a)),
            Self::Unary(function, a) => format!("{}({})", function.name(), label(a)),
            Self::Binary(Binary::Max, a, b) => format!("max({}, {})", label(a), label(b)),
            Self::Binary(operator @ (Binary::Add | Binary::Subtract), a, b) => {
                format!("{} {} {}", label(a), operator.symbol(), label(b))
            }
            Self::Binary(operator, a, b) => {
                format!("{}{}{}", label(a), operator.symbol(), label(b))
            }
        }
    }
}

impl Unary {
    const fn name(self) -> &'static str {
        match self {
            Self::Negate => "-",
            Self::Sqrt => "sqrt",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tanh => "tanh",
            Self::Sigmoid => "sigmoid",
            Self::Relu => "relu",
        }
    }

    pub fn value(self, a: f64) -> f64 {
        match self {
            Self::Negate => -a,
            Self::Sqrt => a.sqrt(),
            Self::Exp => a.exp(),
            Self::Log => a.ln(),
            Self::Sin => a.sin(),
            Self::Cos => a.cos(),
            Self::Tanh => a.tanh(),
            Self::Sigmoid => 1.0 / (1.0 + (-a).exp()),
            // f64::max would turn a NaN into 0 and hide where it was born.
            Self::Relu if a.is_nan() => a,
            Self::Relu => a.max(0.0),
        }
    }

    /// The derivative at `a`, where the value is `value`.
    pub fn derivative(self, a: f64, value: f64) -> f64 {
        match self {
            Self::Negate => -1.0,
            // sqrt r: 1/(2r)
            Self::Sqrt => 1.0 / (2.0 * value),
            Self::Exp => value,
            // log: 1/a
            Self::Log => 1.0 / a,
            Self::Sin => a.cos(),
            Self::Cos => -a.sin(),
            // tanh t: 1-t^2
            Self::Tanh => 1.0 - value * value,
            // sigmoid s: s*(1-s)
            Self::Sigmoid => value * (1.0 - value),
            // relu: 1 if its argument > 0 else 0
            Self::Relu if a > 0.0 => 1.0,
            Self::Relu => 0.0,
        }
    }
}

impl Binary {
    const fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Power => "^",
            Self::Max => "max",
        }
    }

    pub fn value(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => a.powf(b),
            Self::Max if a >= b || a.is_nan() => a,
            Self::Max => b,
        }
    }

    /// The derivatives with respect to `a` and `b`, where the value is `value`; `None` where nothing flows back.
    pub fn derivatives(self, a: f64, b: f64, value: f64, exponent: Exponent) -> [Option<f64>; 2] {
        match self {
            Self::Add => [Some(1.0), Some(1.0)],
            Self::Subtract => [Some(1.0), Some(-1.0)],
            Self::Multiply => [Some(b), Some(a)],
            // -a/b^2 without the square, which can leave the range of numbers when the quotient does not
            Self::Divide => [Some(1.0 / b), Some(-value / b)],
            // a^b: b*a^(b-1) for a, and a^b*ln(a) for b only if b depends on an input
            Self::Power => [
                Some(b * a.powf(b - 1.0)),
                match exponent {
                    Exponent::Varies => Some(value * a.ln()),
                    Exponent::Fixed => None,
                },
            ],
            // max(a, b): 1 to a if a >= b, else 1 to b
            Self::Max if a >= b => [Some(1.0), None],
            Self::Max => [None, Some(1.0)],
        }
    }
}

/// Whether the exponent of a power depends on an input; a fixed one may stand over a negative base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exponent {
    Fixed,
    Varies,
}

/// Most operations that are handed to an engine: frameworks keep a record per operation, and this is a picture's size.
pub const MOST_OPERATIONS: usize = 40_000;

/// One node of a graph as an engine sees it; every argument stands before its use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalar {
    /// What it computes, over the indices of earlier nodes.
    pub operation: Operation,
    /// The value of an input or a constant; of another node the value found by us.
    pub value: f64,
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("{0}")]
    Device(#[from] LabError),
    #[error("there is no node {0}")]
    NoNode(usize),
    #[error("{0} operations are more than the {MOST_OPERATIONS} that are handed to it")]
    TooLarge(usize),
    /// As its framework words it.
    #[error("{0}")]
    Framework(String),
}

/// Evaluates a graph of scalars and differentiates its output by its inputs.
pub trait Engine: Send + Sync {
    /// What it is called above its column.
    fn name(&self) -> &str;

    /// The output `graph[output]` and its derivatives on a device.
    ///
    /// # Errors
    /// A sentence that says why there are none.
    fn differentiate(
        &self,
        graph: &[Scalar],
        output: usize,
        device: DeviceId,
    ) -> Result<Derivatives, EngineError>;
}

#[derive(Clone, Debug, PartialEq)]
pub struct Derivatives {
    pub value: f64,
    /// By node: the derivative of the output by it, if it is an input; 0 if the output does not use it.
    pub gradients: Vec<Option<f64>>,
    /// Bits of the numbers it computed with, 32 or 64.
    pub bits: u32,
}

/// A forward value that a local derivative is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    First,
    Second,
    Result,
}

impl Operation {
    /// What the derivative by one of its arguments reads.
    pub(super) fn backward_reads(self, argument: usize) -> &'static [Reads] {
        use Reads::{First, Result, Second};
        match self {
            // d(a)/da, d(-a)/da, d(a + b)/da and d(a - b)/db are 1 or -1, whatever the values are.
            Self::Input
            | Self::Constant
            | Self::Copy(_)
            | Self::Unary(Unary::Negate, _)
            | Self::Binary(Binary::Add | Binary::Subtract, ..) => &[],
            // 1/(2r), e, 1 - t^2, s(1 - s), and whether r > 0: all from the result.
            Self::Unary(
                Unary::Sqrt | Unary::Exp | Unary::Tanh | Unary::Sigmoid | Unary::Relu,
                _,
            ) => &[Result],
            // 1/a, cos a, -sin a
            Self::Unary(Unary::Log | Unary::Sin | Unary::Cos, _) => &[First],
            Self::Binary(operator, ..) => match (operator, argument) {
                (Binary::Multiply | Binary::Divide, 0) => &[Second],
                (Binary::Multiply, _) => &[First],
                // -(a/b)/b
                (Binary::Divide, _) => &[Second, Result],
                // b a^(b-1), and which of the two is larger
                (Binary::Power, 0) | (Binary::Max, _) => &[First, Second],
                // a^b ln(a)
                (Binary::Power, _) => &[First, Result],
                (Binary::Add | Binary::Subtract, _) => &[],
            },
        }
    }
}
