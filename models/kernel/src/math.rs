//! The mathematical functions: names, types and values.

use crate::types::Scalar;

/// A function of numbers without side effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Math {
    /// Square root.
    Sqrt,
    /// 1 over the square root.
    Rsqrt,
    /// Cube root.
    Cbrt,
    /// e to the power x.
    Exp,
    /// 2 to the power x.
    Exp2,
    /// e to the power x, less 1.
    Expm1,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// Logarithm of 1 + x.
    Log1p,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Hyperbolic tangent.
    Tanh,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Arc tangent.
    Atan,
    /// Towards minus infinity.
    Floor,
    /// Towards plus infinity.
    Ceil,
    /// Towards zero.
    Trunc,
    /// To the nearest, halves away from zero.
    Round,
    /// To the nearest, halves to even.
    Rint,
    /// Size of a number, whole or not.
    Abs,
    /// Whether it is not a number.
    IsNan,
    /// Whether it is infinite.
    IsInf,
    /// x to the power y.
    Pow,
    /// Angle of a point.
    Atan2,
    /// Length of a vector of two.
    Hypot,
    /// Remainder of a division towards zero.
    Fmod,
    /// The smaller; of a number and NaN the number.
    Min,
    /// The larger; of a number and NaN the number.
    Max,
    /// x with the sign of y.
    CopySign,
    /// x times y plus z, rounded once.
    Fma,
    /// Bits that are one.
    Popc,
    /// Zero bits before the first one.
    Clz,
    /// Place of the lowest one, counted from 1; 0 if there is none.
    Ffs,
    /// Bits in reverse order.
    Brev,
}

/// Which of C's functions a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// `sqrtf`: float in, float out.
    Float,
    /// `sqrt`: float for a float, double for anything else.
    Overloaded,
    /// `min` and `max`, `abs`: whole numbers too.
    Any,
    /// Unsigned in, int out.
    Bits,
}

impl Math {
    /// The function of a name, and which of the family.
    pub(crate) fn of(name: &str) -> Option<(Self, Family)> {
        let found = |name: &str| NAMES.iter().find(|(own, _)| *own == name).map(|(_, math)| *math);
        Some(match name {
            "min" => (Self::Min, Family::Any),
            "max" => (Self::Max, Family::Any),
            "abs" => (Self::Abs, Family::Any),
            "__popc" => (Self::Popc, Family::Bits),
            "__clz" => (Self::Clz, Family::Bits),
            "__ffs" => (Self::Ffs, Family::Bits),
            "__brev" => (Self::Brev, Family::Bits),
            "isnan" => (Self::IsNan, Family::Overloaded),
            "isinf" => (Self::IsInf, Family::Overloaded),
            _ => match found(name) {
                Some(math) => (math, Family::Overloaded),
                None => (name.strip_suffix('f').and_then(found)?, Family::Float),
            },
        })
    }

    /// How many numbers it takes.
    pub(crate) fn arguments(self) -> usize {
        if self == Self::Fma {
            3
        } else if matches!(
            self,
            Self::Pow
                | Self::Atan2
                | Self::Hypot
                | Self::Fmod
                | Self::Min
                | Self::Max
                | Self::CopySign
        ) {
            2
        } else {
            1
        }
    }

    /// The type of its value, of arguments of a type.
    pub(crate) fn result(self, of: Scalar) -> Scalar {
        if matches!(self, Self::IsNan | Self::IsInf) {
            Scalar::Bool
        } else if matches!(self, Self::Popc | Self::Clz | Self::Ffs) {
            Scalar::Int
        } else {
            of
        }
    }

    /// All names, for suggestions.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }
}

const NAMES: [(&str, Math); 34] = [
    ("sqrt", Math::Sqrt),
    ("rsqrt", Math::Rsqrt),
    ("cbrt", Math::Cbrt),
    ("exp", Math::Exp),
    ("exp2", Math::Exp2),
    ("expm1", Math::Expm1),
    ("log", Math::Log),
    ("log2", Math::Log2),
    ("log10", Math::Log10),
    ("log1p", Math::Log1p),
    ("sin", Math::Sin),
    ("cos", Math::Cos),
    ("tan", Math::Tan),
    ("tanh", Math::Tanh),
    ("sinh", Math::Sinh),
    ("cosh", Math::Cosh),
    ("asin", Math::Asin),
    ("acos", Math::Acos),
    ("atan", Math::Atan),
    ("floor", Math::Floor),
    ("ceil", Math::Ceil),
    ("trunc", Math::Trunc),
    ("round", Math::Round),
    ("rint", Math::Rint),
    ("fabs", Math::Abs),
    ("pow", Math::Pow),
    ("atan2", Math::Atan2),
    ("hypot", Math::Hypot),
    ("fmod", Math::Fmod),
    ("fmin", Math::Min),
    ("fmax", Math::Max),
    ("copysign", Math::CopySign),
    ("fma", Math::Fma),
    ("nearbyint", Math::Rint),
];

/// The functions in one precision; generated twice so that a float is never rounded by way of a double.
macro_rules! precision {
    ($one:ident, $two:ident, $float:ty) => {
        /// Of one number.
        pub(crate) fn $one(math: Math, x: $float) -> $float {
            match math {
                Math::Sqrt => x.sqrt(),
                Math::Rsqrt => 1.0 / x.sqrt(),
                Math::Cbrt => x.cbrt(),
                Math::Exp => x.exp(),
                Math::Exp2 => x.exp2(),
                Math::Expm1 => x.exp_m1(),
                Math::Log => x.ln(),
                Math::Log2 => x.log2(),
                Math::Log10 => x.log10(),
                Math::Log1p => x.ln_1p(),
                Math::Sin => x.sin(),
                Math::Cos => x.cos(),
                Math::Tan => x.tan(),
                Math::Tanh => x.tanh(),
                Math::Sinh => x.sinh(),
                Math::Cosh => x.cosh(),
                Math::Asin => x.asin(),
                Math::Acos => x.acos(),
                Math::Atan => x.atan(),
                Math::Floor => x.floor(),
                Math::Ceil => x.ceil(),
                Math::Trunc => x.trunc(),
                Math::Round => x.round(),
                Math::Rint => x.round_ties_even(),
                Math::Abs => x.abs(),
                // Not of one number in floating point; the checker lets none of these come here.
                Math::IsNan
                | Math::IsInf
                | Math::Pow
                | Math::Atan2
                | Math::Hypot
                | Math::Fmod
                | Math::Min
                | Math::Max
                | Math::CopySign
                | Math::Fma
                | Math::Popc
                | Math::Clz
                | Math::Ffs
                | Math::Brev => x,
            }
        }

        /// Of two numbers.
        pub(crate) fn $two(math: Math, x: $float, y: $float) -> $float {
            match math {
                Math::Pow => x.powf(y),
                Math::Atan2 => x.atan2(y),
                Math::Hypot => x.hypot(y),
                Math::Fmod => x % y,
                Math::Min => x.min(y),
                Math::Max => x.max(y),
                Math::CopySign => x.copysign(y),
                _ => x,
            }
        }
    };
}

precision!(one_f32, two_f32, f32);
precision!(one_f64, two_f64, f64);
