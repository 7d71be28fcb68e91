//! Expressions: WGSL has the operators of C, but no assignments in them; those become lines before.

use super::block::Writer;
use super::constant::whole;
use super::{Told, refuse, type_name, walk};
use crate::source::Place;
use crate::typed::{Axis, Comparison, Expr, Kind, Operation, Special, Yields};
use crate::types::{Scalar, Type};

/// An expression in WGSL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    /// Whether it may stand beside an operator as it is.
    atom: bool,
}

impl Text {
    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self { text: text.into(), atom: true }
    }

    pub(super) fn sum(text: impl Into<String>) -> Self {
        Self { text: text.into(), atom: false }
    }

    /// As an operand.
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

pub(super) fn binary(left: &Text, sign: &str, right: &Text) -> Text {
    Text::sum(format!("{} {sign} {}", left.operand(), right.operand()))
}

impl Writer<'_, '_> {
    /// An expression whose value nobody uses.
    pub(super) fn effect(&mut self, expr: &Expr) -> Told<()> {
        match &expr.kind {
            Kind::Assign(target, value) => {
                self.assign(target, value, expr)?;
            }
            Kind::Update(target, change, value, _) => {
                self.update(target, *change, value, expr, Yields::New)?;
            }
            Kind::Comma(left, right) => {
                self.effect(left)?;
                self.effect(right)?;
            }
            Kind::Barrier => {
                self.line("storageBarrier();");
                self.line("workgroupBarrier();");
            }
            Kind::WarpBarrier(_) => self.warp_barrier(expr.place)?,
            Kind::Call(function, arguments) => {
                let call = self.call(*function, arguments, expr.place)?;
                self.line(&format!("{call};"));
            }
            Kind::Atomic(..) => {
                self.value(expr)?;
            }
            Kind::Convert(inner) if expr.ty == Type::Void => self.effect(inner)?,
            Kind::Whole(_)
            | Kind::Real(_)
            | Kind::Variable(_)
            | Kind::Special(..)
            | Kind::WarpSize
            | Kind::Shared(_)
            | Kind::Local(_)
            | Kind::Load(_)
            | Kind::Offset(..)
            | Kind::Distance(..)
            | Kind::Convert(_)
            | Kind::Negate(_)
            | Kind::Complement(_)
            | Kind::Not(_)
            | Kind::Arithmetic(..)
            | Kind::Compare(..)
            | Kind::And(..)
            | Kind::Or(..)
            | Kind::Conditional(..)
            | Kind::Math(..)
            | Kind::Shuffle(..)
            | Kind::Vote(..) => {
                let value = self.value(expr)?;
                self.line(&format!("_ = {};", value.text));
            }
        }
        Ok(())
    }

    /// The value of a number.
    pub(super) fn value(&mut self, expr: &Expr) -> Told<Text> {
        let place = expr.place;
        let scalar = |of: &Expr| of.ty.scalar().unwrap_or(Scalar::Int);
        match &expr.kind {
            Kind::Whole(value) => whole(*value, scalar(expr), place),
            Kind::Real(value) => self.real(*value, scalar(expr), place),
            Kind::Variable(index) => Ok(Text::atom(self.locals[*index].clone())),
            Kind::Special(special, axis) => {
                let of = match special {
                    Special::ThreadIdx => "threadIdx",
                    Special::BlockIdx => "blockIdx",
                    Special::BlockDim => "blockDim",
                    Special::GridDim => "gridDim",
                };
                let axis = match axis {
                    Axis::X => "x",
                    Axis::Y => "y",
                    Axis::Z => "z",
                };
                Ok(Text::atom(format!("{of}.{axis}")))
            }
            Kind::WarpSize => Ok(Text::atom("32i")),
            Kind::Load(address) => self.load(address),
            Kind::Convert(inner) => {
                let from = scalar(inner);
                let value = self.value(inner)?;
                converted(value, from, scalar(expr), place)
            }
            Kind::Negate(of) if scalar(expr) == Scalar::Unsigned => {
                let of = self.value(of)?;
                Ok(binary(&Text::atom("0u"), "-", &of))
            }
            Kind::Negate(of) => {
                type_name(scalar(expr), place)?;
                let of = self.value(of)?;
                Ok(Text::sum(format!("-{}", of.operand())))
            }
            Kind::Complement(of) => {
                type_name(scalar(expr), place)?;
                let of = self.value(of)?;
                Ok(Text::atom(format!("~{}", of.operand())))
            }
            Kind::Not(of) => Ok(self.value(of)?.negated()),
            Kind::Arithmetic(operation, left, right) => {
                type_name(scalar(expr), place)?;
                if let Some(folded) = self.folded(*operation, left, right, expr) {
                    return folded;
                }
                let by = scalar(right);
                let [left, right] = self.pair(left, right)?;
                Ok(arithmetic(*operation, &left, &right, by))
            }
            Kind::Compare(comparison, left, right) => self.compare(*comparison, left, right, place),
            Kind::And(left, right) => self.shortcut(left, right, "&&"),
            Kind::Or(left, right) => self.shortcut(left, right, "||"),
            Kind::Conditional(condition, yes, no) => self.choice(condition, yes, no, expr),
            Kind::Comma(left, right) => {
                self.effect(left)?;
                self.value(right)
            }
            Kind::Assign(target, value) => self.assign(target, value, expr),
            Kind::Update(target, change, value, yields) => {
                self.update(target, *change, value, expr, *yields)
            }
            Kind::Call(function, arguments) => {
                self.call(*function, arguments, place).map(Text::atom)
            }
            Kind::Math(math, arguments) => self.math(*math, arguments, scalar(expr), place),
            Kind::Atomic(atomic, address, operands) => {
                self.atomic(*atomic, address, operands, place)
            }
            Kind::Shuffle(shuffle, list) => self.shuffle(*shuffle, list, place),
            Kind::Vote(vote, list) => self.vote(*vote, list, place),
            Kind::Distance(..) => refuse(
                place,
                "the distance of two addresses has 64 bits, and WGSL's whole numbers 32",
                "keep indices, and subtract those",
            ),
            Kind::Shared(_) | Kind::Local(_) | Kind::Offset(..) => {
                refuse(place, "an address is used as a value, and WGSL has none", "keep an index")
            }
            Kind::Barrier | Kind::WarpBarrier(_) => refuse(place, "a barrier has no value", ""),
        }
    }

    /// Two operands, the left one evaluated first.
    fn pair(&mut self, left: &Expr, right: &Expr) -> Told<[Text; 2]> {
        let mut all = self.operands(&[left, right])?.into_iter();
        let mut next = || all.next().unwrap_or_else(|| Text::atom("0i"));
        Ok([next(), next()])
    }

    /// Operands from left to right: what stands before one that changes something is kept under a name.
    pub(super) fn operands(&mut self, list: &[&Expr]) -> Told<Vec<Text>> {
        let mut texts = Vec::new();
        for (at, expr) in list.iter().enumerate() {
            let text = self.value(expr)?;
            let fixed = matches!(expr.kind, Kind::Whole(_) | Kind::Real(_) | Kind::Special(..));
            let later = list[at + 1..].iter().any(|later| walk::has_effect(later));
            texts.push(if later && !fixed { self.kept(&text) } else { text });
        }
        Ok(texts)
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        left: &Expr,
        right: &Expr,
        place: Place,
    ) -> Told<Text> {
        let sign = match comparison {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
        };
        if let Type::Pointer { .. } = left.ty {
            let (one, at) = self.pointer(left)?;
            let (other, to) = self.pointer(right)?;
            if one != other {
                return refuse(place, "addresses in two arrays are compared", "compare indices");
            }
            let index = |at: Option<Text>| at.unwrap_or_else(|| Text::atom("0i"));
            return Ok(binary(&index(at), sign, &index(to)));
        }
        let is_real = left.ty.scalar().is_some_and(Scalar::is_real);
        let [left, right] = self.pair(left, right)?;
        if is_real && comparison == Comparison::NotEqual {
            return Ok(unequal(&left, &right));
        }
        Ok(binary(&left, sign, &right))
    }
}

/// `!=` of floats. A NaN is unequal to itself in C; compilers of WGSL take it that there is none, and make of `!=` what
/// is false with one.
fn unequal(left: &Text, right: &Text) -> Text {
    binary(left, "==", right).negated()
}

/// The sign of an operation.
pub(super) fn sign(operation: Operation) -> &'static str {
    match operation {
        Operation::Add => "+",
        Operation::Subtract => "-",
        Operation::Multiply => "*",
        Operation::Divide => "/",
        Operation::Remainder => "%",
        Operation::And => "&",
        Operation::Or => "|",
        Operation::Xor => "^",
        Operation::Left => "<<",
        Operation::Right => ">>",
    }
}

pub(super) fn shifts(operation: Operation) -> bool {
    matches!(operation, Operation::Left | Operation::Right)
}

pub(super) fn arithmetic(operation: Operation, left: &Text, right: &Text, by: Scalar) -> Text {
    // WGSL shifts by unsigned numbers only.
    if shifts(operation) && by != Scalar::Unsigned {
        let count = Text::atom(format!("u32({})", right.text));
        return binary(left, sign(operation), &count);
    }
    binary(left, sign(operation), right)
}

/// A number in another type; conversions in WGSL have C's meaning.
pub(super) fn converted(value: Text, from: Scalar, to: Scalar, place: Place) -> Told<Text> {
    if from == to {
        return Ok(value);
    }
    type_name(from, place)?;
    let name = type_name(to, place)?;
    if from.is_real() && to == Scalar::Bool {
        return Ok(unequal(&value, &Text::atom("0.0f")));
    }
    Ok(Text::atom(format!("{name}({})", value.text)))
}
