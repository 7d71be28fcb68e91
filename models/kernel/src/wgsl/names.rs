//! Pieces of WGSL: names, of which the language keeps many to itself, constants, operators and conversions.

use crate::diagnostic::Place;
use crate::operators::Binary;
use crate::typed_ast::Operation;
use crate::types::Scalar;
use crate::wgsl::{Translated, type_name};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

#[derive(Default)]
pub(super) struct Names {
    /// With the last number that was put behind each.
    taken: BTreeMap<String, u32>,
}

impl Names {
    /// A name nothing else has: the one that is wanted, or one like it.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        let plain = field(wanted);
        let mut name = plain.clone();
        let mut number = self.taken.get(&plain).copied().unwrap_or(1);
        while self.taken.contains_key(&name) {
            number += 1;
            name = format!("{plain}_{number}");
        }
        self.taken.insert(name.clone(), 1);
        self.taken.insert(plain, number);
        name
    }
}

/// A name as WGSL allows it, such as that of a field.
pub(super) fn field(wanted: &str) -> String {
    let plain =
        wanted.trim_start_matches('.').replace(|c: char| !c.is_alphanumeric() && c != '_', "_");
    match plain.as_str() {
        "_" => "v_".to_owned(),
        name if name.starts_with("__") => format!("v{name}"),
        name if is_taken(name) => format!("{name}_"),
        name => name.to_owned(),
    }
}

/// Words of WGSL and those that the translation itself writes; lines with `#` are comments.
const WORDS: &str = include_str!("words.txt");

fn is_taken(name: &str) -> bool {
    static TAKEN: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
        let lines = WORDS.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_whitespace).collect()
    });
    TAKEN.contains(name)
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
        Scalar::Char
        | Scalar::UnsignedChar
        | Scalar::Short
        | Scalar::UnsignedShort
        | Scalar::Int
        | Scalar::Long
        | Scalar::UnsignedLong
        | Scalar::Half
        | Scalar::Bfloat16
        | Scalar::Double => signed(format!("{value}i")),
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    pub(super) text: String,
    /// Whether it needs no parentheses as an operand.
    atom: bool,
}

impl Fragment {
    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self { text: text.into(), atom: true }
    }

    pub(super) fn sum(text: impl Into<String>) -> Self {
        Self { text: text.into(), atom: false }
    }

    pub(super) fn operand(&self) -> String {
        if self.atom { self.text.clone() } else { format!("({})", self.text) }
    }

    /// In parentheses, as a condition stands.
    pub(super) fn inside(&self) -> String {
        format!("({})", self.text)
    }

    pub(super) fn negated(&self) -> Self {
        Self::atom(format!("!{}", self.operand()))
    }
}

pub(super) fn binary(left: &Fragment, sign: &str, right: &Fragment) -> Fragment {
    Fragment::sum(format!("{} {sign} {}", left.operand(), right.operand()))
}

/// `!=` of floats: a NaN is unequal to itself in C, but WGSL compilers assume that there is none.
pub(super) fn unequal(left: &Fragment, right: &Fragment) -> Fragment {
    binary(left, "==", right).negated()
}

/// The sign of an operation, which is C's.
pub(super) fn sign(operation: Operation) -> &'static str {
    Binary::Arithmetic(operation).mark()
}

pub(super) fn arithmetic(
    operation: Operation,
    left: &Fragment,
    right: &Fragment,
    by: Scalar,
) -> Fragment {
    // WGSL shifts by unsigned numbers only.
    if operation.is_shift() && by != Scalar::Unsigned {
        let count = Fragment::atom(format!("u32({})", right.text));
        return binary(left, sign(operation), &count);
    }
    binary(left, sign(operation), right)
}

pub(super) fn converted(
    value: Fragment,
    from: Scalar,
    to: Scalar,
    place: Place,
) -> Translated<Fragment> {
    if from == to {
        return Ok(value);
    }
    type_name(from, place)?;
    let name = type_name(to, place)?;
    if from.is_real() && to == Scalar::Bool {
        return Ok(unequal(&value, &Fragment::atom("0.0f")));
    }
    Ok(Fragment::atom(format!("{name}({})", value.text)))
}
