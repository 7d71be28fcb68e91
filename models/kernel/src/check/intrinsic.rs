//! Functions of CUDA that stand for others: quick and rounded arithmetic, conversions, cache hints, fences.

use crate::check::fold::arithmetic;
use crate::check::{Checked, Checker};
use crate::diagnostic::Place;
use crate::math::{Family, Math};
use crate::typed_ast::{Expr, Index, Kind, Operation, Target};
use crate::types::{Access, Scalar, Type};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Names for functions that a device computes more quickly, or by another rounding that here is the same.
static ALIASES: LazyLock<BTreeMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let rows = include_str!("intrinsics.txt").lines().map(|line| line.split(' ').collect());
    rows.map(|row: Vec<&str>| (row[0], row)).collect()
});

/// Arithmetic by name, on numbers of one type.
const ARITHMETIC: [(&str, Operation, Scalar); 16] = {
    use Operation::{Add, Divide, Multiply, Subtract};
    use Scalar::{Double, Float, Half};
    [
        ("__fadd_rn", Add, Float),
        ("__fsub_rn", Subtract, Float),
        ("__fmul_rn", Multiply, Float),
        ("__fdiv_rn", Divide, Float),
        ("__fdividef", Divide, Float),
        ("fdividef", Divide, Float),
        ("__dadd_rn", Add, Double),
        ("__dsub_rn", Subtract, Double),
        ("__dmul_rn", Multiply, Double),
        ("__ddiv_rn", Divide, Double),
        ("__hadd", Add, Half),
        ("__hsub", Subtract, Half),
        ("__hmul", Multiply, Half),
        ("__hdiv", Divide, Half),
        ("__hadd_rn", Add, Half),
        ("__hmul_rn", Multiply, Half),
    ]
};

/// What remains to be looked up: a name and its arguments.
type Unresolved<'n> = (&'n str, Vec<Expr>);

impl Checker<'_> {
    /// The value of a call, or what the name stands for.
    pub(super) fn intrinsic<'n>(
        &mut self,
        name: &'n str,
        mut values: Vec<Expr>,
        place: Place,
    ) -> Checked<Result<Expr, Unresolved<'n>>> {
        // Wider and narrower scopes of an atomic change no value.
        let scoped = name.strip_suffix("_block").or(name.strip_suffix("_system"));
        if let Some(plain) = scoped.filter(|plain| plain.starts_with("atomic")) {
            return Ok(Err((plain, values)));
        }
        if let Some((_, operation, of)) = ARITHMETIC.iter().find(|(own, ..)| *own == name) {
            self.count(name, &values, 2, place)?;
            // Those of half take bfloat16 as well.
            let own = values[0].ty.scalar();
            let of = own.filter(|own| own.is_small() && of.is_small()).unwrap_or(*of);
            let mut values = values.into_iter();
            let mut next = |checker: &mut Self| match values.next() {
                Some(value) => checker.convert(value, Type::Scalar(of)),
                None => Err(crate::check::Reported),
            };
            let (left, right) = (next(self)?, next(self)?);
            return Ok(Ok(arithmetic(*operation, of, left, right, place)));
        }
        match name {
            "__threadfence" | "__threadfence_block" | "__threadfence_system" => {
                self.count(name, &values, 0, place)?;
                if name != "__threadfence_block" {
                    self.fence.get_or_insert(place);
                }
                let zero = Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::Whole(0) };
                Ok(Ok(Expr { place, ty: Type::Void, kind: Kind::Convert(Box::new(zero)) }))
            }
            "__ldcs" | "__ldca" | "__ldcg" | "__ldcv" | "__ldlu" => Ok(Err(("__ldg", values))),
            "__stcs" | "__stcg" | "__stwb" | "__stwt" => {
                self.count(name, &values, 2, place)?;
                let value = values.pop();
                let (Some(address), Some(value)) = (values.pop(), value) else {
                    return Err(crate::check::Reported);
                };
                self.stored(address, value, place).map(Ok)
            }
            "sincosf" | "__sincosf" | "sincos" => self.sine_and_cosine(name, values, place).map(Ok),
            "__umul24" | "__mul24" => {
                self.count(name, &values, 2, place)?;
                let of = if name == "__mul24" { Scalar::Int } else { Scalar::Unsigned };
                let mut low = Vec::new();
                for value in values {
                    // The low 24 bits, with their sign.
                    let bits = self.convert(value, Type::Scalar(Scalar::Unsigned))?;
                    let eight =
                        || Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::Whole(8) };
                    let up = arithmetic(Operation::Left, Scalar::Unsigned, bits, eight(), place);
                    let up = self.convert(up, Type::Scalar(of))?;
                    let low_bits = arithmetic(Operation::Right, of, up, eight(), place);
                    low.push(self.convert(low_bits, Type::Scalar(Scalar::Unsigned))?);
                }
                let (Some(right), Some(left)) = (low.pop(), low.pop()) else {
                    return Err(crate::check::Reported);
                };
                let product = arithmetic(Operation::Multiply, Scalar::Unsigned, left, right, place);
                self.convert(product, Type::Scalar(of)).map(Ok)
            }
            _ => self.by_table(name, values, place),
        }
    }

    /// Functions that are others with a conversion before or after.
    fn by_table<'n>(
        &mut self,
        name: &'n str,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Result<Expr, Unresolved<'n>>> {
        let Some(row) = ALIASES.get(name) else { return Ok(Err((name, values))) };
        match row.as_slice() {
            [_, other] => Ok(Err((*other, values))),
            [_, "convert", from, by, to] => {
                self.count(name, &values, 1, place)?;
                let types = [from, to]
                    .map(|name| name.parse().or(name.replace('_', " ").parse::<Scalar>()));
                let [Ok(from), Ok(to)] = types else { return Err(crate::check::Reported) };
                let Some(value) = values.into_iter().next() else {
                    return Err(crate::check::Reported);
                };
                let mut value = self.convert(value, Type::Scalar(from))?;
                if let Some((math, _)) = Math::find(by) {
                    value = self.math(name, math, Family::Overloaded, vec![value], place)?;
                }
                self.convert(value, Type::Scalar(to)).map(Ok)
            }
            _ => Ok(Err((name, values))),
        }
    }

    /// A value that is written to an address.
    fn stored(&mut self, address: Expr, value: Expr, place: Place) -> Checked<Expr> {
        if let Type::Pointer { access: Access::Mutable, record: Some(_), .. } = address.ty {
            let target = self.at(address);
            return self.copied(target, value, place);
        }
        let Type::Pointer { to, access: Access::Mutable, record: None } = address.ty else {
            let message = format!("a {} is no address that may be written", address.ty);
            return self.refuse(address.place, message, "write &a[i]");
        };
        let ty = Type::Scalar(to);
        let value = self.convert(value, ty)?;
        Ok(Expr {
            place,
            ty,
            kind: Kind::Assign(Target::Memory(Box::new(address)), Box::new(value)),
        })
    }

    /// A variable that no text can name.
    pub(super) fn hidden(&mut self, name: &str, ty: Type, place: Place) -> Index {
        let index = self.variable(name, place, ty);
        self.current.variables[index].is_changed = true;
        self.current.hidden.push(index);
        index
    }

    /// `sincosf(x, &s, &c)`
    fn sine_and_cosine(&mut self, name: &str, values: Vec<Expr>, place: Place) -> Checked<Expr> {
        self.count(name, &values, 3, place)?;
        let of = Type::Scalar(if name == "sincos" { Scalar::Double } else { Scalar::Float });
        let mut values = values.into_iter();
        let (Some(x), Some(sine), Some(cosine)) = (values.next(), values.next(), values.next())
        else {
            return Err(crate::check::Reported);
        };
        let x = self.convert(x, of)?;
        let kept = self.hidden("angle", of, place);
        let keep = Kind::Assign(Target::Variable(kept), Box::new(x));
        let keep = Expr { place, ty: of, kind: keep };
        let of_kept = |math| Expr {
            place,
            ty: of,
            kind: Kind::Math(math, vec![Expr { place, ty: of, kind: Kind::Variable(kept) }]),
        };
        let sine = self.stored(sine, of_kept(Math::Sin), place)?;
        let cosine = self.stored(cosine, of_kept(Math::Cos), place)?;
        let both = Expr { place, ty: of, kind: Kind::Comma(Box::new(sine), Box::new(cosine)) };
        let all = Expr { place, ty: of, kind: Kind::Comma(Box::new(keep), Box::new(both)) };
        Ok(Expr { place, ty: Type::Void, kind: Kind::Convert(Box::new(all)) })
    }
}
