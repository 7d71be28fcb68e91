//! The mathematical functions: their names in C, their values, and how WGSL writes them.

use std::ops::Rem;

use crate::types::Scalar;

/// What the standard library of Rust lacks, in both precisions.
trait Special {
    fn ten_to(self) -> Self;
    fn error_of(self) -> Self;
    fn rest_of_error(self) -> Self;
    fn log_gamma(self) -> Self;
    fn gamma_of(self) -> Self;
    fn sin_pi(self) -> Self;
    fn cos_pi(self) -> Self;
    fn logb(self) -> Self;
    fn saturated(self) -> Self;
    fn fdim(self, other: Self) -> Self;
    fn remainder_of(self, other: Self) -> Self;
    fn times_two_to(self, exponent: Self) -> Self;
}

macro_rules! special {
    ($of:ty, $exp10:ident $erf:ident $erfc:ident $lgamma:ident $tgamma:ident $fdim:ident $remainder:ident $ldexp:ident) => {
        impl Special for $of {
            fn ten_to(self) -> Self {
                libm::$exp10(self)
            }

            fn error_of(self) -> Self {
                libm::$erf(self)
            }

            fn rest_of_error(self) -> Self {
                libm::$erfc(self)
            }

            fn log_gamma(self) -> Self {
                libm::$lgamma(self)
            }

            fn gamma_of(self) -> Self {
                libm::$tgamma(self)
            }

            // Exact where the result is, as for a whole number.
            fn sin_pi(self) -> Self {
                let turn = self % 2.0;
                if turn % 1.0 == 0.0 {
                    0.0 * self
                } else {
                    (turn * std::f64::consts::PI as $of).sin()
                }
            }

            fn cos_pi(self) -> Self {
                let turn = self.abs() % 2.0;
                if turn % 1.0 == 0.5 { 0.0 } else { (turn * std::f64::consts::PI as $of).cos() }
            }

            fn logb(self) -> Self {
                if self == 0.0 {
                    <$of>::NEG_INFINITY
                } else if self.is_finite() {
                    f64::from(libm::ilogb(f64::from(self))) as $of
                } else {
                    self.abs()
                }
            }

            /// From 0 to 1; 0 for what is no number.
            fn saturated(self) -> Self {
                self.max(0.0).min(1.0)
            }

            fn fdim(self, other: Self) -> Self {
                libm::$fdim(self, other)
            }

            fn remainder_of(self, other: Self) -> Self {
                libm::$remainder(self, other)
            }

            fn times_two_to(self, exponent: Self) -> Self {
                libm::$ldexp(self, exponent as i32)
            }
        }
    };
}

special!(f32, exp10f erff erfcf lgammaf tgammaf fdimf remainderf ldexpf);
special!(f64, exp10 erf erfc lgamma tgamma fdim remainder ldexp);

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
    /// It takes the one type of [`Math::reinterprets`].
    Exact,
}

/// Makes the functions of a table with a row each: the function, its name in C, the methods of f32 and f64 that compute
/// it, and its text in WGSL, in which `#x`, `#y` and `#z` stand for the arguments; or, where WGSL has none that is as exact,
/// what comes near.
macro_rules! functions {
    (
        one_number { $($one:ident $one_name:literal [$($step:ident)+] $one_wgsl:expr;)+ }
        two_numbers { $($two:ident $two_name:literal [$method:ident] $two_wgsl:expr;)+ }
        other { $($other:ident $other_name:literal $family:ident $other_wgsl:literal;)+ }
    ) => {
        /// A function of numbers without side effects.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Math {
            $($one,)+
            $($two,)+
            $($other,)+
        }

        /// Functions with a variant for floats, by the name of the one for doubles.
        const NAMES: &[(&str, Math)] = &[
            $(($one_name, Math::$one),)+
            $(($two_name, Math::$two),)+
            ("fma", Math::Fma),
            ("nearbyint", Math::Rint),
        ];

        const OTHERS: &[(&str, Math, Family)] = &[
            ("min", Math::Min, Family::Any),
            ("max", Math::Max, Family::Any),
            ("abs", Math::Abs, Family::Any),
            $(($other_name, Math::$other, Family::$family),)+
        ];

        impl Math {
            /// How many numbers it takes.
            pub(crate) fn arguments(self) -> usize {
                match self {
                    Self::Fma => 3,
                    $(Self::$two => 2,)+
                    _ => 1,
                }
            }

            /// Its text in WGSL.
            ///
            /// # Errors
            /// Its name in C, and what to write instead.
            pub(crate) fn wgsl(self) -> Result<&'static str, (&'static str, &'static str)> {
                match self {
                    $(Self::$one => $one_wgsl.map_err(|near| (concat!($one_name, "f"), near)),)+
                    $(Self::$two => $two_wgsl.map_err(|near| (concat!($two_name, "f"), near)),)+
                    $(Self::$other => Ok($other_wgsl),)+
                }
            }
        }

        // In both precisions, so that a float is never rounded by way of a double. Other numbers of arguments were
        // refused before.

        pub(crate) fn one_f32(math: Math, x: f32) -> f32 {
            match math {
                $(Math::$one => x$(.$step())+,)+
                _ => x,
            }
        }

        pub(crate) fn one_f64(math: Math, x: f64) -> f64 {
            match math {
                $(Math::$one => x$(.$step())+,)+
                _ => x,
            }
        }

        pub(crate) fn two_f32(math: Math, x: f32, y: f32) -> f32 {
            match math {
                $(Math::$two => x.$method(y),)+
                _ => x,
            }
        }

        pub(crate) fn two_f64(math: Math, x: f64, y: f64) -> f64 {
            match math {
                $(Math::$two => x.$method(y),)+
                _ => x,
            }
        }
    };
}

/// The text of a function in WGSL, or what comes near.
type Wgsl = Result<&'static str, &'static str>;

const fn wgsl(text: &'static str) -> Wgsl {
    Ok(text)
}

const fn near(text: &'static str) -> Wgsl {
    Err(text)
}

functions! {
    one_number {
        Sqrt "sqrt" [sqrt] wgsl("sqrt(#x)");
        Rsqrt "rsqrt" [sqrt recip] wgsl("inverseSqrt(#x)");
        Cbrt "cbrt" [cbrt] near("powf(x, 1.0f / 3.0f)");
        Exp "exp" [exp] wgsl("exp(#x)");
        Exp2 "exp2" [exp2] wgsl("exp2(#x)");
        Expm1 "expm1" [exp_m1] near("expf(x) - 1.0f");
        Log "log" [ln] wgsl("log(#x)");
        Log2 "log2" [log2] wgsl("log2(#x)");
        Log10 "log10" [log10] wgsl("log2(#x) * 0.301029996f");
        Log1p "log1p" [ln_1p] near("logf(1.0f + x)");
        Sin "sin" [sin] wgsl("sin(#x)");
        Cos "cos" [cos] wgsl("cos(#x)");
        Tan "tan" [tan] wgsl("tan(#x)");
        Tanh "tanh" [tanh] wgsl("tanh(#x)");
        Sinh "sinh" [sinh] wgsl("sinh(#x)");
        Cosh "cosh" [cosh] wgsl("cosh(#x)");
        Asin "asin" [asin] wgsl("asin(#x)");
        Acos "acos" [acos] wgsl("acos(#x)");
        Atan "atan" [atan] wgsl("atan(#x)");
        Floor "floor" [floor] wgsl("floor(#x)");
        Ceil "ceil" [ceil] wgsl("ceil(#x)");
        Trunc "trunc" [trunc] wgsl("trunc(#x)");
        // WGSL's round goes to the even neighbour, C's away from zero.
        Round "round" [round] wgsl("select(trunc(#x), trunc(#x) + sign(#x), abs(#x - trunc(#x)) >= 0.5f)");
        Rint "rint" [round_ties_even] wgsl("round(#x)");
        Abs "fabs" [abs] wgsl("abs(#x)");
        Exp10 "exp10" [ten_to] near("powf(10.0f, x)");
        Asinh "asinh" [asinh] wgsl("asinh(#x)");
        Acosh "acosh" [acosh] wgsl("acosh(#x)");
        Atanh "atanh" [atanh] wgsl("atanh(#x)");
        Erf "erf" [error_of] near("tanhf(1.1283792f * (x + 0.0894f * x * x * x))");
        Erfc "erfc" [rest_of_error] near("1.0f - tanhf(1.1283792f * (x + 0.0894f * x * x * x))");
        LogGamma "lgamma" [log_gamma] near("Stirling's formula");
        Gamma "tgamma" [gamma_of] near("Stirling's formula");
        Rcbrt "rcbrt" [cbrt recip] near("powf(x, -1.0f / 3.0f)");
        SinPi "sinpi" [sin_pi] wgsl("sin(#x * 3.14159265f)");
        CosPi "cospi" [cos_pi] wgsl("cos(#x * 3.14159265f)");
        Saturate "__saturate" [saturated] wgsl("clamp(#x, 0.0f, 1.0f)");
        Reciprocal "__frcp_rn" [recip] wgsl("1.0f / (#x)");
        Logb "logb" [logb] near("floorf(log2f(fabsf(x)))");
    }
    two_numbers {
        Pow "pow" [powf] wgsl("c_pow(#x, #y)");
        Atan2 "atan2" [atan2] wgsl("atan2(#x, #y)");
        Hypot "hypot" [hypot] wgsl("sqrt(#x * #x + #y * #y)");
        // The remainder of a division towards zero.
        Fmod "fmod" [rem] near("x - y * truncf(x / y)");
        // Of a number and NaN the number.
        Min "fmin" [min] wgsl("min(#x, #y)");
        Max "fmax" [max] wgsl("max(#x, #y)");
        // The positive difference, and the remainder of a division to the nearest.
        Fdim "fdim" [fdim] near("x > y ? x - y : 0.0f");
        Remainder "remainder" [remainder_of] near("x - y * rintf(x / y)");
        Ldexp "ldexp" [times_two_to] wgsl("ldexp(#x, i32(#y))");
        CopySign "copysign" [copysign]
            wgsl("bitcast<f32>((bitcast<u32>(#x) & 0x7fffffffu) | (bitcast<u32>(#y) & 0x80000000u))");
    }
    other {
        Fma "fma" Overloaded "fma(#x, #y, #z)";
        // By their bits, since a compiler of WGSL may take it that there are neither.
        IsNan "isnan" Overloaded "(bitcast<u32>(#x) & 0x7fffffffu) > 0x7f800000u";
        IsInf "isinf" Overloaded "(bitcast<u32>(#x) & 0x7fffffffu) == 0x7f800000u";
        IsFinite "isfinite" Overloaded "(bitcast<u32>(#x) & 0x7fffffffu) < 0x7f800000u";
        SignBit "signbit" Overloaded "(bitcast<u32>(#x) >> 31u) == 1u";
        // Bits that are one; zero bits before the first one; the place of the lowest one from 1 on, 0 for none; in reverse.
        Popc "__popc" Bits "i32(countOneBits(#x))";
        Clz "__clz" Bits "i32(countLeadingZeros(#x))";
        Ffs "__ffs" Bits "i32(firstTrailingBit(#x) + 1)";
        Brev "__brev" Bits "reverseBits(#x)";
        // The same bits as another type.
        IntAsFloat "__int_as_float" Exact "bitcast<f32>(#x)";
        UnsignedAsFloat "__uint_as_float" Exact "bitcast<f32>(#x)";
        FloatAsInt "__float_as_int" Exact "bitcast<i32>(#x)";
        FloatAsUnsigned "__float_as_uint" Exact "bitcast<u32>(#x)";
        LongAsDouble "__longlong_as_double" Exact "#x";
        DoubleAsLong "__double_as_longlong" Exact "#x";
    }
}

impl Math {
    /// The function of a name, and which of the family.
    pub(crate) fn find(name: &str) -> Option<(Self, Family)> {
        let found = |name: &str| NAMES.iter().find(|(own, _)| *own == name).map(|(_, math)| *math);
        if let Some((_, math, family)) = OTHERS.iter().find(|(own, ..)| *own == name) {
            return Some((*math, *family));
        }
        match found(name) {
            Some(math) => Some((math, Family::Overloaded)),
            None => Some((name.strip_suffix('f').and_then(found)?, Family::Float)),
        }
    }

    /// The type that it takes, if it takes one only, and the type of its value.
    pub(crate) fn reinterprets(self) -> Option<[Scalar; 2]> {
        use Scalar::{Double, Float, Int, Long, Unsigned};
        let known = [
            (Self::IntAsFloat, [Int, Float]),
            (Self::UnsignedAsFloat, [Unsigned, Float]),
            (Self::FloatAsInt, [Float, Int]),
            (Self::FloatAsUnsigned, [Float, Unsigned]),
            (Self::LongAsDouble, [Long, Double]),
            (Self::DoubleAsLong, [Double, Long]),
        ];
        known.into_iter().find(|(math, _)| *math == self).map(|(_, types)| types)
    }

    /// The type of its value, of arguments of a type.
    pub(crate) fn result(self, of: Scalar) -> Scalar {
        if let Some([_, to]) = self.reinterprets() {
            return to;
        }
        if matches!(self, Self::IsNan | Self::IsInf | Self::IsFinite | Self::SignBit) {
            Scalar::Bool
        } else if matches!(self, Self::Popc | Self::Clz | Self::Ffs) {
            Scalar::Int
        } else {
            of
        }
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }
}
