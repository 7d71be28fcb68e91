//! The mathematical functions: most have a name in WGSL, some are written out, a few have no counterpart that is as exact.

use super::block::Writer;
use super::expression::Text;
use super::{Told, refuse, type_name};
use crate::math::Math;
use crate::source::Place;
use crate::typed::Expr;
use crate::types::Scalar;

impl Writer<'_, '_> {
    pub(super) fn math(
        &mut self,
        math: Math,
        arguments: &[Expr],
        of: Scalar,
        place: Place,
    ) -> Told<Text> {
        type_name(of, place)?;
        let takes = arguments.first().and_then(|argument| argument.ty.scalar());
        type_name(takes.unwrap_or(of), place)?;
        let mut texts = Vec::new();
        for text in self.operands(&arguments.iter().collect::<Vec<_>>())? {
            // What stands in the formula twice is worked out once.
            texts.push(if is_repeated(math) { self.kept(&text).text } else { text.text });
        }
        let mut texts = texts.into_iter();
        let mut next = || texts.next().unwrap_or_default();
        let (x, y, z) = (next(), next(), next());
        let call = |name: &str| Ok(Text::atom(format!("{name}({x})")));
        let two = |name: &str| Ok(Text::atom(format!("{name}({x}, {y})")));
        let none = |name: &str, instead: &str| {
            refuse(
                place,
                format!("{name}: WGSL has none, and {instead} is not as exact"),
                format!("write {instead} if that is near enough"),
            )
        };
        match math {
            Math::Sqrt => call("sqrt"),
            Math::Rsqrt => call("inverseSqrt"),
            Math::Exp => call("exp"),
            Math::Exp2 => call("exp2"),
            Math::Log => call("log"),
            Math::Log2 => call("log2"),
            Math::Log10 => Ok(Text::sum(format!("log2({x}) * 0.301029996f"))),
            Math::Sin => call("sin"),
            Math::Cos => call("cos"),
            Math::Tan => call("tan"),
            Math::Tanh => call("tanh"),
            Math::Sinh => call("sinh"),
            Math::Cosh => call("cosh"),
            Math::Asin => call("asin"),
            Math::Acos => call("acos"),
            Math::Atan => call("atan"),
            Math::Floor => call("floor"),
            Math::Ceil => call("ceil"),
            Math::Trunc => call("trunc"),
            // WGSL's round goes to the even neighbour, C's away from zero.
            Math::Rint => call("round"),
            Math::Round => Ok(Text::atom(format!(
                "select(trunc({x}), trunc({x}) + sign({x}), abs({x} - trunc({x})) >= 0.5f)"
            ))),
            Math::Abs if takes == Some(Scalar::Unsigned) => Ok(Text::atom(format!("u32({x})"))),
            Math::Abs => call("abs"),
            Math::Pow => two("pow"),
            Math::Atan2 => two("atan2"),
            Math::Hypot => Ok(Text::atom(format!("sqrt({x} * {x} + {y} * {y})"))),
            Math::Min => two("min"),
            Math::Max => two("max"),
            Math::Fma => Ok(Text::atom(format!("fma({x}, {y}, {z})"))),
            Math::CopySign => Ok(Text::atom(format!(
                "bitcast<f32>((bitcast<u32>({x}) & 0x7fffffffu) | (bitcast<u32>({y}) & 0x80000000u))"
            ))),
            // By their bits, since a compiler of WGSL may take it that there are neither.
            Math::IsNan => {
                Ok(Text::sum(format!("(bitcast<u32>({x}) & 0x7fffffffu) > 0x7f800000u")))
            }
            Math::IsInf => {
                Ok(Text::sum(format!("(bitcast<u32>({x}) & 0x7fffffffu) == 0x7f800000u")))
            }
            Math::Popc => Ok(Text::atom(format!("i32(countOneBits({x}))"))),
            Math::Clz => Ok(Text::atom(format!("i32(countLeadingZeros({x}))"))),
            Math::Ffs => Ok(Text::atom(format!("i32(firstTrailingBit({x}) + 1)"))),
            Math::Brev => call("reverseBits"),
            Math::Cbrt => none("cbrtf", "powf(x, 1.0f / 3.0f)"),
            Math::Expm1 => none("expm1f", "expf(x) - 1.0f"),
            Math::Log1p => none("log1pf", "logf(1.0f + x)"),
            Math::Fmod => none("fmodf", "x - y * truncf(x / y)"),
        }
    }
}

fn is_repeated(math: Math) -> bool {
    matches!(math, Math::Round | Math::Hypot)
}
