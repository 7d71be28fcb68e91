//! Expressions: WGSL has the operators of C, but no assignments in them; those become lines before.

use crate::diagnostic::Place;
use crate::math::Math;
use crate::operators::{Binary, Sides};
use crate::typed_ast::{Comparison, Expr, Kind, Operation, YieldedValue};
use crate::types::{Scalar, Type};
use crate::wgsl::function::Writer;
use crate::wgsl::names::{Fragment, arithmetic, binary, converted, signed, unequal, whole};
use crate::wgsl::{Translated, refuse, type_name};

/// Operations with a result that is known for every operand, of floats and of whole numbers.
type Folded = (Operation, fn(f32, f32) -> f32, fn(i64, i64) -> i64);

const FOLDED: [Folded; 3] = [
    (Operation::Add, |x, y| x + y, i64::wrapping_add),
    (Operation::Subtract, |x, y| x - y, i64::wrapping_sub),
    (Operation::Multiply, |x, y| x * y, i64::wrapping_mul),
];

impl Writer<'_, '_> {
    pub(super) fn effect(&mut self, expr: &Expr) -> Translated<()> {
        match (&expr.kind, expr.ty) {
            (Kind::Assign(target, value), _) => {
                self.assign(target, value, expr)?;
            }
            (Kind::Update(target, change, value, _), _) => {
                self.update(target, *change, value, expr, YieldedValue::New)?;
            }
            (Kind::Comma(left, right), _) => {
                self.effect(left)?;
                self.effect(right)?;
            }
            (Kind::Barrier, _) => {
                self.line("storageBarrier();");
                self.line("workgroupBarrier();");
            }
            (Kind::WarpBarrier(_), _) => self.warp_barrier(expr.place)?,
            (Kind::Call(function, arguments), _) => {
                let call = self.call(*function, arguments, expr.place)?;
                self.line(&format!("{call};"));
            }
            (Kind::Atomic(..), _) => {
                self.value(expr)?;
            }
            (Kind::Convert(inner), Type::Void) => self.effect(inner)?,
            // The address of a record that was copied.
            (_, Type::Array { .. }) if !expr.has_effect() => {}
            (_, _) => {
                let value = self.value(expr)?;
                self.line(&format!("_ = {};", value.text));
            }
        }
        Ok(())
    }

    pub(super) fn value(&mut self, expr: &Expr) -> Translated<Fragment> {
        let place = expr.place;
        let scalar = |of: &Expr| of.ty.scalar().unwrap_or(Scalar::Int);
        match &expr.kind {
            Kind::Whole(value) => whole(*value, scalar(expr), place),
            Kind::Real(value) => self.real(*value, scalar(expr), place),
            Kind::Variable(index) => Ok(Fragment::atom(self.locals[*index].clone())),
            Kind::Special(special, axis) => Ok(Fragment::atom(format!("{special}.{axis}"))),
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
                self.arithmetic(*operation, left, right, expr)
            }
            Kind::Row(left, right, _) => self.arithmetic(Operation::Add, left, right, expr),
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
            Kind::Shared(_)
            | Kind::Global(_)
            | Kind::Local(_)
            | Kind::Together(..)
            | Kind::Offset(..) => {
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
            let later = list[at + 1..].iter().any(|later| later.has_effect());
            texts.push(if later && !fixed { self.bind(&text) } else { text });
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
        let sign = Binary::Compare(comparison, Sides::AsWritten).mark();
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

    /// `&&` and `||`: their right side may need lines of its own, which then run only where it is asked for.
    fn shortcut(&mut self, left: &Expr, right: &Expr, sign: &str) -> Translated<Fragment> {
        let one = self.value(left)?;
        if !right.has_effect() {
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

    fn choice(
        &mut self,
        condition: &Expr,
        yes: &Expr,
        no: &Expr,
        expr: &Expr,
    ) -> Translated<Fragment> {
        let condition = self.value(condition)?;
        let reads =
            |side: &Expr| side.has_effect() || side.any(&|e| matches!(e.kind, Kind::Load(_)));
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

    fn math(
        &mut self,
        math: Math,
        arguments: &[Expr],
        of: Scalar,
        place: Place,
    ) -> Translated<Fragment> {
        type_name(of, place)?;
        let takes = arguments.first().and_then(|argument| argument.ty.scalar());
        type_name(takes.unwrap_or(of), place)?;
        let template = match math.wgsl() {
            Ok(_) if math == Math::Abs && takes == Some(Scalar::Unsigned) => "u32(#x)",
            Ok(template) => template,
            Err((name, instead)) => {
                let message = format!("{name}: WGSL has none, and {instead} is not as exact");
                return refuse(place, message, format!("write {instead} if that is near enough"));
            }
        };
        self.module.uses_pow |= math == Math::Pow;
        let mut text = template.to_owned();
        let operands = self.operands(&arguments.iter().collect::<Vec<_>>())?;
        for (argument, value) in ["#x", "#y", "#z"].into_iter().zip(operands) {
            // What stands in the formula twice is worked out once.
            let is_repeated = template.matches(argument).count() > 1;
            let value = if is_repeated { self.bind(&value).text } else { value.text };
            text = text.replace(argument, &value);
        }
        // A call needs no parentheses.
        Ok(if template.ends_with(')') { Fragment::atom(text) } else { Fragment::sum(text) })
    }

    fn real(&mut self, value: f64, of: Scalar, place: Place) -> Translated<Fragment> {
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

    fn arithmetic(
        &mut self,
        operation: Operation,
        left: &Expr,
        right: &Expr,
        expr: &Expr,
    ) -> Translated<Fragment> {
        let scalar = |of: &Expr| of.ty.scalar().unwrap_or(Scalar::Int);
        type_name(scalar(expr), expr.place)?;
        if let Some(folded) = self.folded(operation, left, right, expr) {
            return folded;
        }
        let by = scalar(right);
        let [left, right] = self.pair(left, right)?;
        Ok(arithmetic(operation, &left, &right, by))
    }

    /// A result that is known: WGSL refuses constants that overflow or divide by zero, where C goes on.
    fn folded(
        &mut self,
        operation: Operation,
        left: &Expr,
        right: &Expr,
        expr: &Expr,
    ) -> Option<Translated<Fragment>> {
        let known = FOLDED.iter().find(|(known, ..)| *known == operation);
        if let (Kind::Real(x), Kind::Real(y)) = (&left.kind, &right.kind) {
            let (x, y) = (*x as f32, *y as f32);
            // The checker lets numbers with a fraction have no other operation than these three and division.
            let result = known.map_or(x / y, |(_, of, _)| of(x, y));
            return Some(self.real(f64::from(result), Scalar::Float, expr.place));
        }
        if let (Kind::Whole(x), Kind::Whole(y), Type::Scalar(of)) =
            (&left.kind, &right.kind, expr.ty)
        {
            let (.., apply) = known?;
            let result = apply(*x, *y);
            let is_unsigned = of == Scalar::Unsigned;
            let result =
                if is_unsigned { i64::from(result as u32) } else { i64::from(result as i32) };
            return Some(whole(result, of, expr.place));
        }
        None
    }
}
