//! Expressions: WGSL has the operators of C, but no assignments in them; those become lines before.
//!
//! What runs for some threads only: `&&`, `||` and `?:`.
//!
//! The mathematical functions: most have a name in WGSL, some are written out, a few have no counterpart that is as exact.

use crate::diagnostic::Place;
use crate::math::Math;
use crate::typed_ast::{Axis, Comparison, Expr, Kind, Operation, Special, YieldedValue};
use crate::types::{Scalar, Type};
use crate::wgsl::function::Writer;
use crate::wgsl::names::whole;
use crate::wgsl::{Translated, function, refuse, type_name};

/// An expression in WGSL.
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

pub(super) fn binary(left: &Fragment, sign: &str, right: &Fragment) -> Fragment {
    Fragment::sum(format!("{} {sign} {}", left.operand(), right.operand()))
}

impl Writer<'_, '_> {
    /// An expression in void context.
    pub(super) fn effect(&mut self, expr: &Expr) -> Translated<()> {
        match &expr.kind {
            Kind::Assign(target, value) => {
                self.assign(target, value, expr)?;
            }
            Kind::Update(target, change, value, _) => {
                self.update(target, *change, value, expr, YieldedValue::New)?;
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
    pub(super) fn value(&mut self, expr: &Expr) -> Translated<Fragment> {
        let place = expr.place;
        let scalar = |of: &Expr| of.ty.scalar().unwrap_or(Scalar::Int);
        match &expr.kind {
            Kind::Whole(value) => whole(*value, scalar(expr), place),
            Kind::Real(value) => self.real(*value, scalar(expr), place),
            Kind::Variable(index) => Ok(Fragment::atom(self.locals[*index].clone())),
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
                Ok(Fragment::atom(format!("{of}.{axis}")))
            }
            Kind::WarpSize => Ok(Fragment::atom("32i")),
            Kind::Load(address) => self.load(address),
            Kind::Convert(inner) => {
                let from = scalar(inner);
                let value = self.value(inner)?;
                converted(value, from, scalar(expr), place)
            }
            Kind::Negate(of) if scalar(expr) == Scalar::Unsigned => {
                let of = self.value(of)?;
                Ok(binary(&Fragment::atom("0u"), "-", &of))
            }
            Kind::Negate(of) => {
                type_name(scalar(expr), place)?;
                let of = self.value(of)?;
                Ok(Fragment::sum(format!("-{}", of.operand())))
            }
            Kind::Complement(of) => {
                type_name(scalar(expr), place)?;
                let of = self.value(of)?;
                Ok(Fragment::atom(format!("~{}", of.operand())))
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
                self.call(*function, arguments, place).map(Fragment::atom)
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
    fn pair(&mut self, left: &Expr, right: &Expr) -> Translated<[Fragment; 2]> {
        let mut all = self.operands(&[left, right])?.into_iter();
        let mut next = || all.next().unwrap_or_else(|| Fragment::atom("0i"));
        Ok([next(), next()])
    }

    /// Operands from left to right: what stands before one that changes something is kept under a name.
    pub(super) fn operands(&mut self, list: &[&Expr]) -> Translated<Vec<Fragment>> {
        let mut texts = Vec::new();
        for (at, expr) in list.iter().enumerate() {
            let text = self.value(expr)?;
            let fixed = matches!(expr.kind, Kind::Whole(_) | Kind::Real(_) | Kind::Special(..));
            let later = list[at + 1..].iter().any(|later| function::has_effect(later));
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
    ) -> Translated<Fragment> {
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
            let index = |at: Option<Fragment>| at.unwrap_or_else(|| Fragment::atom("0i"));
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
fn unequal(left: &Fragment, right: &Fragment) -> Fragment {
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

pub(super) fn arithmetic(
    operation: Operation,
    left: &Fragment,
    right: &Fragment,
    by: Scalar,
) -> Fragment {
    // WGSL shifts by unsigned numbers only.
    if shifts(operation) && by != Scalar::Unsigned {
        let count = Fragment::atom(format!("u32({})", right.text));
        return binary(left, sign(operation), &count);
    }
    binary(left, sign(operation), right)
}

/// A number in another type; conversions in WGSL have C's meaning.
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

impl Writer<'_, '_> {
    /// `&&` and `||`: their right side may need lines of its own, which then run only where it is asked for.
    pub(super) fn shortcut(
        &mut self,
        left: &Expr,
        right: &Expr,
        sign: &str,
    ) -> Translated<Fragment> {
        let one = self.value(left)?;
        if !function::has_effect(right) {
            let at = self.aside(|writer| writer.value(right))?;
            if at.0.is_empty() {
                return Ok(binary(&one, sign, &at.1));
            }
        }
        let name = self.module.names.fresh("t");
        self.line(&format!("var {name} = {};", one.text));
        let goes_on = if sign == "&&" {
            Fragment::atom(name.clone())
        } else {
            Fragment::atom(name.clone()).negated()
        };
        let (lines, other) = self.aside(|writer| {
            let other = writer.value(right)?;
            writer.line(&format!("{name} = {};", other.text));
            Ok(other)
        })?;
        drop(other);
        self.line(&format!("if {} {{", goes_on.inside()));
        self.raw(&lines);
        self.line("}");
        Ok(Fragment::atom(name))
    }

    pub(super) fn choice(
        &mut self,
        condition: &Expr,
        yes: &Expr,
        no: &Expr,
        expr: &Expr,
    ) -> Translated<Fragment> {
        let condition = self.value(condition)?;
        let reads = |side: &Expr| {
            function::has_effect(side) || function::any(side, &|e| matches!(e.kind, Kind::Load(_)))
        };
        if !reads(yes) && !reads(no) {
            let (before, sides) =
                self.aside(|writer| Ok([writer.value(yes)?, writer.value(no)?]))?;
            if before.is_empty() {
                let [yes, no] = sides;
                let text = format!("select({}, {}, {})", no.text, yes.text, condition.text);
                return Ok(Fragment::atom(text));
            }
        }
        // `select` evaluates both sides: where one reads memory only the chosen one may.
        let ty = type_name(expr.ty.scalar().unwrap_or(Scalar::Int), expr.place)?;
        let name = self.module.names.fresh("t");
        self.line(&format!("var {name}: {ty};"));
        for (side, head) in
            [(yes, format!("if {} {{", condition.inside())), (no, "} else {".to_owned())]
        {
            let (lines, ()) = self.aside(|writer| {
                let value = writer.value(side)?;
                writer.line(&format!("{name} = {};", value.text));
                Ok(())
            })?;
            self.line(&head);
            self.raw(&lines);
        }
        self.line("}");
        Ok(Fragment::atom(name))
    }
}

impl Writer<'_, '_> {
    pub(super) fn math(
        &mut self,
        math: Math,
        arguments: &[Expr],
        of: Scalar,
        place: Place,
    ) -> Translated<Fragment> {
        type_name(of, place)?;
        let takes = arguments.first().and_then(|argument| argument.ty.scalar());
        type_name(takes.unwrap_or(of), place)?;
        let mut texts = Vec::new();
        for text in self.operands(&arguments.iter().collect::<Vec<_>>())? {
            // What stands in the formula twice is worked out once.
            texts.push(if is_repeated(math) { self.kept(&text).text } else { text.text });
        }
        let mut texts = texts.into_iter();
        // Operands that a function does not take are not written.
        let mut next = || texts.next().unwrap_or(String::new());
        let (x, y, z) = (next(), next(), next());
        let call = |name: &str| Ok(Fragment::atom(format!("{name}({x})")));
        let two = |name: &str| Ok(Fragment::atom(format!("{name}({x}, {y})")));
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
            Math::Log10 => Ok(Fragment::sum(format!("log2({x}) * 0.301029996f"))),
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
            Math::Round => Ok(Fragment::atom(format!(
                "select(trunc({x}), trunc({x}) + sign({x}), abs({x} - trunc({x})) >= 0.5f)"
            ))),
            Math::Abs if takes == Some(Scalar::Unsigned) => Ok(Fragment::atom(format!("u32({x})"))),
            Math::Abs => call("abs"),
            Math::Pow => two("pow"),
            Math::Atan2 => two("atan2"),
            Math::Hypot => Ok(Fragment::atom(format!("sqrt({x} * {x} + {y} * {y})"))),
            Math::Min => two("min"),
            Math::Max => two("max"),
            Math::Fma => Ok(Fragment::atom(format!("fma({x}, {y}, {z})"))),
            Math::CopySign => Ok(Fragment::atom(format!(
                "bitcast<f32>((bitcast<u32>({x}) & 0x7fffffffu) | (bitcast<u32>({y}) & 0x80000000u))"
            ))),
            // By their bits, since a compiler of WGSL may take it that there are neither.
            Math::IsNan => {
                Ok(Fragment::sum(format!("(bitcast<u32>({x}) & 0x7fffffffu) > 0x7f800000u")))
            }
            Math::IsInf => {
                Ok(Fragment::sum(format!("(bitcast<u32>({x}) & 0x7fffffffu) == 0x7f800000u")))
            }
            Math::Popc => Ok(Fragment::atom(format!("i32(countOneBits({x}))"))),
            Math::Clz => Ok(Fragment::atom(format!("i32(countLeadingZeros({x}))"))),
            Math::Ffs => Ok(Fragment::atom(format!("i32(firstTrailingBit({x}) + 1)"))),
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
