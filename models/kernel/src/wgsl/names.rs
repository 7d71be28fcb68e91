//! Names: WGSL keeps many words to itself, and nothing here may hide anything else.
//!
//! Constants, and results that are known.

use crate::diagnostic::Place;
use crate::typed_ast::{Expr, Kind, Operation};
use crate::types::{Scalar, Type};
use crate::wgsl::expression::Fragment;
use crate::wgsl::function::Writer;
use crate::wgsl::{Translated, type_name};
use std::collections::BTreeSet;

/// The names given so far.
#[derive(Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// A name nothing else has: the one that is wanted, or one like it.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let plain = field(wanted);
        let mut name = plain.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{plain}_{number}");
        }
        name
    }
}

/// A name as WGSL allows it, such as that of a field.
pub(super) fn field(wanted: &str) -> String {
    let is_own = OWN.contains(&wanted) || RESERVED.contains(&wanted);
    match wanted {
        "_" => "v_".to_owned(),
        name if name.starts_with("__") => format!("v{name}"),
        name if is_own => format!("{name}_"),
        name => name.to_owned(),
    }
}

/// What the translation itself writes.
const OWN: [&str; 69] = [
    "abs",
    "acos",
    "arguments",
    "Arguments",
    "array",
    "asin",
    "atan",
    "atan2",
    "atomic",
    "atomicAdd",
    "atomicAnd",
    "atomicCompareExchangeWeak",
    "atomicExchange",
    "atomicLoad",
    "atomicMax",
    "atomicMin",
    "atomicOr",
    "atomicStore",
    "atomicSub",
    "atomicXor",
    "bitcast",
    "blockDim",
    "blockIdx",
    "bool",
    "ceil",
    "cos",
    "cosh",
    "countLeadingZeros",
    "countOneBits",
    "exp",
    "exp2",
    "f32",
    "firstTrailingBit",
    "floor",
    "fma",
    "gridDim",
    "i32",
    "infinity_bits",
    "inverseSqrt",
    "lane",
    "log",
    "log2",
    "max",
    "min",
    "pow",
    "reverseBits",
    "round",
    "select",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "storageBarrier",
    "subgroupAll",
    "subgroupAny",
    "subgroupBallot",
    "subgroupBarrier",
    "subgroupShuffle",
    "subgroupShuffleDown",
    "subgroupShuffleUp",
    "subgroupShuffleXor",
    "tan",
    "tanh",
    "threadIdx",
    "trunc",
    "u32",
    "untranslated",
    "vec3",
    "workgroupBarrier",
];

/// Keywords and reserved words of WGSL that C would take for a name.
/// Source: WebGPU Shading Language, W3C Candidate Recommendation, sections 15.1 and 15.2.
const RESERVED: [&str; 160] = [
    "alias",
    "const_assert",
    "continuing",
    "diagnostic",
    "discard",
    "enable",
    "fn",
    "let",
    "loop",
    "override",
    "requires",
    "var",
    "NULL",
    "Self",
    "abstract",
    "active",
    "alignas",
    "alignof",
    "as",
    "asm",
    "asm_fragment",
    "async",
    "attribute",
    "auto",
    "await",
    "become",
    "cast",
    "catch",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "coherent",
    "column_major",
    "common",
    "compile",
    "compile_fragment",
    "concept",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "crate",
    "debugger",
    "decltype",
    "delete",
    "demote",
    "demote_to_helper",
    "do",
    "dynamic_cast",
    "enum",
    "explicit",
    "export",
    "extends",
    "extern",
    "external",
    "fallthrough",
    "filter",
    "final",
    "finally",
    "friend",
    "from",
    "fxgroup",
    "get",
    "goto",
    "groupshared",
    "highp",
    "impl",
    "implements",
    "import",
    "inline",
    "instanceof",
    "interface",
    "layout",
    "lowp",
    "macro",
    "macro_rules",
    "match",
    "mediump",
    "meta",
    "mod",
    "module",
    "move",
    "mut",
    "mutable",
    "namespace",
    "new",
    "nil",
    "noexcept",
    "noinline",
    "nointerpolation",
    "non_coherent",
    "noncoherent",
    "noperspective",
    "null",
    "nullptr",
    "of",
    "operator",
    "package",
    "packoffset",
    "pass",
    "patch",
    "pixelfragment",
    "precise",
    "precision",
    "premerge",
    "priv",
    "protected",
    "pub",
    "public",
    "readonly",
    "ref",
    "regardless",
    "register",
    "reinterpret_cast",
    "require",
    "resource",
    "restrict",
    "self",
    "set",
    "shared",
    "sizeof",
    "smooth",
    "snorm",
    "static",
    "static_assert",
    "static_cast",
    "std",
    "subroutine",
    "super",
    "target",
    "template",
    "this",
    "thread_local",
    "throw",
    "trait",
    "try",
    "type",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unless",
    "unorm",
    "unsafe",
    "unsized",
    "use",
    "using",
    "varying",
    "virtual",
    "volatile",
    "wgsl",
    "where",
    "with",
    "writeonly",
    "yield",
    "ptr",
    "sampler",
    "texture",
];

impl Writer<'_, '_> {
    pub(super) fn real(&mut self, value: f64, of: Scalar, place: Place) -> Translated<Fragment> {
        type_name(of, place)?;
        if value.is_finite() {
            return Ok(signed(format!("{:?}f", value as f32)));
        }
        // WGSL takes no infinity as a constant: its bits come out of a variable.
        self.module.uses_infinity = true;
        let bits = "bitcast<f32>(infinity_bits)";
        Ok(if value.is_nan() {
            Fragment::atom("bitcast<f32>(infinity_bits | 1u)")
        } else if value < 0.0 {
            Fragment::sum(format!("-{bits}"))
        } else {
            Fragment::atom(bits)
        })
    }

    /// A result that is known: WGSL refuses constants that overflow or divide by zero, where C goes on.
    pub(super) fn folded(
        &mut self,
        operation: Operation,
        left: &Expr,
        right: &Expr,
        expr: &Expr,
    ) -> Option<Translated<Fragment>> {
        if let (Kind::Real(x), Kind::Real(y)) = (&left.kind, &right.kind) {
            let (x, y) = (*x as f32, *y as f32);
            let result = match operation {
                Operation::Add => x + y,
                Operation::Subtract => x - y,
                Operation::Multiply => x * y,
                Operation::Divide => x / y,
                Operation::Remainder
                | Operation::And
                | Operation::Or
                | Operation::Xor
                | Operation::Left
                | Operation::Right => return None,
            };
            return Some(self.real(f64::from(result), Scalar::Float, expr.place));
        }
        if let (Kind::Whole(x), Kind::Whole(y), Type::Scalar(of)) =
            (&left.kind, &right.kind, expr.ty)
        {
            let result = match operation {
                Operation::Add => x.wrapping_add(*y),
                Operation::Subtract => x.wrapping_sub(*y),
                Operation::Multiply => x.wrapping_mul(*y),
                Operation::Divide
                | Operation::Remainder
                | Operation::And
                | Operation::Or
                | Operation::Xor
                | Operation::Left
                | Operation::Right => return None,
            };
            let result = if of == Scalar::Unsigned {
                i64::from(result as u32)
            } else {
                i64::from(result as i32)
            };
            return Some(whole(result, of, expr.place));
        }
        None
    }
}

/// A number; one below zero is no operand as it stands.
pub(super) fn signed(text: String) -> Fragment {
    if text.starts_with('-') { Fragment::sum(text) } else { Fragment::atom(text) }
}

pub(super) fn whole(value: i64, of: Scalar, place: Place) -> Translated<Fragment> {
    type_name(of, place)?;
    Ok(match of {
        Scalar::Bool => Fragment::atom(if value == 0 { "false" } else { "true" }),
        Scalar::Unsigned => Fragment::atom(format!("{}u", value as u32)),
        Scalar::Float => signed(format!("{:?}f", value as f32)),
        // The least one is the negative of a number that has none.
        _ if value == i64::from(i32::MIN) => Fragment::atom("i32(-2147483648)"),
        Scalar::Int | Scalar::Long | Scalar::UnsignedLong | Scalar::Double => {
            signed(format!("{value}i"))
        }
    })
}
