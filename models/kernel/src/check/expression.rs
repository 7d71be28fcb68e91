//! Expressions: numbers, names and operators.

use crate::ast;
use crate::ast::{ExprKind, Passing, Unary};
use crate::check::fold::{arithmetic, compared, converted, joined, loaded, negated};
use crate::check::record::access;
use crate::check::{BUILTIN_NAMES, Checked, Checker, Meaning, Number};
use crate::diagnostic::Place;
use crate::operators::Binary;
use crate::typed_ast::{Axis, Expr, Kind, Operation, Special};
use crate::types::{Access, Scalar, Type};
use mlsys_lab::nearest::nearest;

impl Checker<'_> {
    /// An expression in value context: arrays decay to the address of their first element.
    pub(super) fn value(&mut self, expr: &ast::Expr) -> Checked<Expr> {
        let checked = self.expr(expr)?;
        self.decayed(checked)
    }

    /// The value of what was checked: of an array the address of its first element.
    pub(super) fn decayed(&mut self, checked: Expr) -> Checked<Expr> {
        let place = checked.place;
        match checked.ty {
            Type::Void => {
                self.refuse(place, "this has no value", "call it as a statement of its own")
            }
            // A record is a value by its address.
            Type::Array { extents, .. } if extents.dimensions() == 0 => Ok(checked),
            Type::Array { of, extents, access } if extents.dimensions() == 1 => {
                let ty = Type::Pointer { to: of, access, record: extents.record() };
                Ok(Expr { ty, ..checked })
            }
            Type::Array { of, .. } => self.refuse(
                place,
                format!("a {} is no value", checked.ty),
                format!("index it, or take the address of its first {of}"),
            ),
            Type::Scalar(_) | Type::Pointer { .. } => Ok(checked),
        }
    }

    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Checked<Expr> {
        self.nesting += 1;
        self.checked += 1;
        let checked = self.bare_expr(expr);
        self.nesting -= 1;
        checked
    }

    fn bare_expr(&mut self, expr: &ast::Expr) -> Checked<Expr> {
        let place = expr.place;
        let typed = |ty: Type, kind: Kind| Ok(Expr { place, ty, kind });
        let scalar =
            |scalar: Scalar, kind: Kind| Ok(Expr { place, ty: Type::Scalar(scalar), kind });
        match &expr.kind {
            ExprKind::Integer { value, suffix, base } => {
                self.integer(place, *value, *suffix, *base)
            }
            ExprKind::Float(value) => scalar(Scalar::Float, Kind::Real(f64::from(*value))),
            ExprKind::Double(value) => scalar(Scalar::Double, Kind::Real(*value)),
            ExprKind::Bool(value) => scalar(Scalar::Bool, Kind::Whole(i64::from(*value))),
            ExprKind::Null => scalar(Scalar::Int, Kind::Whole(0)),
            ExprKind::Name(name) => self.name(name, place),
            ExprKind::Member(of, member) => self.member(of, member, place),
            ExprKind::SizeOf(ty) => {
                let ty = self.type_of(*ty, place, "what sizeof takes")?;
                self.size(ty, place)
            }
            ExprKind::AlignOf(ty) => {
                let ty = self.type_of(*ty, place, "what alignof takes")?;
                let bytes = Kind::Whole(self.alignment(ty).into());
                scalar(Scalar::UnsignedLong, bytes)
            }
            ExprKind::SizeOfValue(value) => {
                let ty = self.expr(value)?.ty;
                self.size(ty, place)
            }
            ExprKind::Ignored(arguments) => {
                let mut all: Option<Expr> = None;
                for argument in arguments {
                    let next = self.value(argument)?;
                    all = Some(match all {
                        None => next,
                        Some(before) => {
                            let ty = next.ty;
                            Expr { place, ty, kind: Kind::Comma(Box::new(before), Box::new(next)) }
                        }
                    });
                }
                let zero = Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::Whole(0) };
                typed(Type::Void, Kind::Convert(Box::new(all.unwrap_or(zero))))
            }
            ExprKind::Index(..) => {
                let element = self.element(expr)?;
                Ok(loaded(element))
            }
            ExprKind::Unary(operator, operand) => self.unary(*operator, operand, place),
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.binary(*operator, left?, right?, place)
            }
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                let (left, right) = (self.condition(left), self.condition(right));
                let is_and = matches!(expr.kind, ExprKind::And(..));
                Ok(joined(is_and, left?, right?, place))
            }
            ExprKind::Comma(left, right) => {
                let (left, right) = (self.expr(left), self.value(right));
                let (left, right) = (left?, right?);
                typed(right.ty, Kind::Comma(Box::new(left), Box::new(right)))
            }
            ExprKind::List(_) => self.wanted(expr, None),
            ExprKind::Conditional(condition, yes, no) => self.choice(condition, yes, no, place),
            ExprKind::Assign(operator, target, value) => {
                self.assign(*operator, target, value, place)
            }
            ExprKind::Step { operation, yields, target } => {
                self.step(*operation, *yields, target, place)
            }
            ExprKind::Cast(ty, operand) if ty.passing == Passing::Reference => {
                let address = self.address(operand, place)?;
                let ty = ast::TypeName {
                    passing: Passing::Value,
                    pointer: Some(Access::Mutable),
                    ..*ty
                };
                let ty = self.type_of(ty, place, "a cast's type")?;
                let address = self.cast(address, ty)?;
                Ok(self.at(address))
            }
            ExprKind::Cast(ty, operand) => {
                let ty = self.type_of(*ty, place, "a cast's type")?;
                let operand =
                    if ty == Type::Void { self.expr(operand)? } else { self.value(operand)? };
                self.cast(operand, ty)
            }
            ExprKind::Call(name, given, arguments) => self.call(name, given, arguments, place),
            ExprKind::Make(ty, arguments) => {
                let ty = self.type_of(*ty, place, "a value")?;
                let values: Vec<_> = arguments.iter().map(|one| self.value(one)).collect();
                let values = values.into_iter().collect::<Checked<Vec<Expr>>>()?;
                match ty.record() {
                    Some(record) => self.made_of(record, values, place),
                    None => self.constructed(ty, values, place),
                }
            }
        }
    }

    fn size(&mut self, ty: Type, place: Place) -> Checked<Expr> {
        let bytes = match ty {
            Type::Void => return self.refuse(place, "void has no size", ""),
            Type::Pointer { .. } => 8,
            Type::Scalar(scalar) => u64::from(scalar.bytes()),
            Type::Array { of, extents, .. } => {
                extents.elements().saturating_mul(of.bytes().into()).min(u64::from(u32::MAX))
            }
        };
        let ty = Type::Scalar(Scalar::UnsignedLong);
        Ok(Expr { place, ty, kind: Kind::Whole(bytes as i64) })
    }

    fn unary(&mut self, operator: Unary, operand: &ast::Expr, place: Place) -> Checked<Expr> {
        if operator == Unary::Address {
            return self.address(operand, place);
        }
        let value = self.value(operand)?;
        if operator == Unary::Dereference {
            return match value.ty {
                Type::Pointer { .. } => Ok(self.at(Expr { place, ..value })),
                ty @ (Type::Void | Type::Scalar(_) | Type::Array { .. }) => self.refuse(
                    place,
                    format!("a {ty} points nowhere"),
                    "'*' before a value takes a pointer",
                ),
            };
        }
        if operator == Unary::Not {
            let value = self.truth(value)?;
            let kind = if let Kind::Whole(known) = value.kind {
                Kind::Whole(1 - known)
            } else {
                Kind::Not(Box::new(value))
            };
            return Ok(Expr { place, ty: Type::Scalar(Scalar::Bool), kind });
        }
        let name = match operator {
            Unary::Minus => "operator-",
            Unary::Plus => "operator+",
            Unary::Complement | Unary::Not | Unary::Dereference | Unary::Address => "",
        };
        if value.ty.record().is_some() && !self.candidates(name).is_empty() {
            return self.operator(name, vec![value], place);
        }
        let Some(scalar) = value.ty.scalar() else {
            return self.refuse(place, format!("a {} is no number", value.ty), "");
        };
        let promote = scalar.promote();
        let value = converted(value, scalar, promote);
        let ty = Type::Scalar(promote);
        match operator {
            Unary::Complement if promote.is_real() => {
                self.refuse(place, format!("'~' takes no {promote}"), "it takes whole numbers")
            }
            Unary::Complement => Ok(Expr { place, ty, kind: Kind::Complement(Box::new(value)) }),
            Unary::Minus => Ok(negated(value, promote, place)),
            Unary::Plus | Unary::Not | Unary::Dereference | Unary::Address => Ok(value),
        }
    }

    fn binary(&mut self, operator: Binary, left: Expr, right: Expr, place: Place) -> Checked<Expr> {
        if matches!(left.ty, Type::Pointer { .. }) || matches!(right.ty, Type::Pointer { .. }) {
            return self.pointers(operator, left, right, place);
        }
        let mark = operator.mark();
        let name = format!("operator{mark}");
        let has_record = left.ty.record().or(right.ty.record()).is_some();
        if has_record && !self.candidates(&name).is_empty() {
            return self.operator(&name, vec![left, right], place);
        }
        let operation = match operator {
            Binary::Compare(comparison, sides) => {
                let (_, left, right) = self.common_operands(left, right, place, mark)?;
                return Ok(compared(comparison, sides, left, right, place));
            }
            Binary::Arithmetic(operation) => operation,
        };
        if operation.is_shift() {
            let (Some(one), Some(other)) = (left.ty.scalar(), right.ty.scalar()) else {
                return self.refuse(place, format!("'{mark}' takes whole numbers"), "");
            };
            if one.is_real() || other.is_real() {
                let message = format!("'{mark}' takes whole numbers, here are {one} and {other}");
                return self.refuse(place, message, "");
            }
            // The type of a shift is that of its left side alone.
            let scalar = one.promote();
            let count = if other.is_wide() { Scalar::Int } else { other.promote() };
            let (left, right) = (converted(left, one, scalar), converted(right, other, count));
            return Ok(arithmetic(operation, scalar, left, right, place));
        }
        let (scalar, left, right) = self.common_operands(left, right, place, mark)?;
        if scalar.is_real() && operation.is_whole() {
            let help = if operation == Operation::Remainder { "write fmodf(x, y)" } else { "" };
            let message = format!("'{mark}' takes whole numbers, these meet as {scalar}");
            return self.refuse(place, message, help);
        }
        Ok(arithmetic(operation, scalar, left, right, place))
    }

    fn choice(
        &mut self,
        condition: &ast::Expr,
        yes: &ast::Expr,
        no: &ast::Expr,
        place: Place,
    ) -> Checked<Expr> {
        let condition = self.condition(condition);
        let (yes, no) = (self.value(yes), self.value(no));
        let (condition, yes, no) = (condition?, yes?, no?);
        let (ty, yes, no) = match (yes.ty, no.ty) {
            (Type::Scalar(one), Type::Scalar(other)) => {
                let ty = if one == other { one } else { one.common_type(other) };
                (Type::Scalar(ty), converted(yes, one, ty), converted(no, other, ty))
            }
            (Type::Pointer { .. }, _) => {
                let ty = yes.ty;
                let no = self.convert(no, ty)?;
                (ty, yes, no)
            }
            (_, ty) => (ty, self.convert(yes, ty)?, no),
        };
        if let Kind::Whole(known) = condition.kind {
            return Ok(if known != 0 { yes } else { no });
        }
        let kind = Kind::Conditional(Box::new(condition), Box::new(yes), Box::new(no));
        Ok(Expr { place, ty, kind })
    }

    pub(super) fn name(&mut self, name: &str, place: Place) -> Checked<Expr> {
        if self.is_own_field(name) {
            let this = ast::Expr { place, kind: ExprKind::Name("this".to_owned()), height: 1 };
            return self.field(&this, name, place);
        }
        let meaning = match (self.meaning(name), name) {
            (Some(meaning), _) => meaning,
            (None, "warpSize") => {
                return Ok(Expr { place, ty: Type::Scalar(Scalar::Int), kind: Kind::WarpSize });
            }
            (None, name) if name.parse::<Special>().is_ok() => {
                let message = format!("'{name}' has three parts");
                return self.refuse(place, message, format!("write {name}.x, .y or .z"));
            }
            (None, _) if self.host_variables.contains(name) => {
                let message = format!("'{name}' is a variable of the host");
                return self.refuse(place, message, "write const before it, or pass its value");
            }
            (None, _) if self.is_builtin(name) || !self.candidates(name).is_empty() => {
                let message = format!("'{name}' is a function");
                return self.refuse(place, message, format!("call it: {name}()"));
            }
            (None, _) => {
                let scopes = self.scopes.iter().flat_map(|scope| scope.keys().map(String::as_str));
                let near = nearest(name, scopes.chain(BUILTIN_NAMES)).map(str::to_owned);
                let help = near.map_or_else(
                    || "declare it before it is used".to_owned(),
                    |near| format!("did you mean '{near}'?"),
                );
                return self.refuse(place, format!("'{name}' is not declared"), help);
            }
        };
        Ok(match meaning {
            Meaning::Constant(scalar, number) => {
                let kind = match number {
                    Number::Whole(value) => Kind::Whole(value),
                    Number::Real(value) => Kind::Real(value),
                };
                Expr { place, ty: Type::Scalar(scalar), kind }
            }
            Meaning::Reference(index) => {
                let ty = self.current.variables[index].ty;
                self.at(Expr { place, ty, kind: Kind::Variable(index) })
            }
            Meaning::Rows(index, extents) => {
                let pointer = self.current.variables[index].ty;
                let (of, access) = (pointer.element().unwrap_or(Scalar::Int), access(pointer));
                let ty = Type::Array { of, extents, access };
                Expr { place, ty, kind: Kind::Variable(index) }
            }
            Meaning::Variable(index) => {
                let ty = self.current.variables[index].ty;
                let kind = match ty {
                    Type::Array { .. } => Kind::Local(index),
                    Type::Void | Type::Scalar(_) | Type::Pointer { .. } => Kind::Variable(index),
                };
                Expr { place, ty, kind }
            }
            Meaning::Global(index, ty) => {
                let kind = Kind::Global(index);
                let param = self.globals[index].param.ty;
                match ty {
                    Type::Array { .. } => Expr { place, ty, kind },
                    Type::Void | Type::Scalar(_) | Type::Pointer { .. } => {
                        loaded(Expr { place, ty: param, kind })
                    }
                }
            }
            Meaning::Shared(index) => {
                let ty = self.shared[index].ty;
                let kind = Kind::Shared(index);
                match ty {
                    Type::Scalar(to) => {
                        loaded(Expr { place, ty: Type::pointer(to, Access::Mutable), kind })
                    }
                    Type::Void | Type::Pointer { .. } | Type::Array { .. } => {
                        Expr { place, ty, kind }
                    }
                }
            }
        })
    }

    fn member(&mut self, of: &ast::Expr, member: &str, place: Place) -> Checked<Expr> {
        let name = if let ExprKind::Name(name) = &of.kind {
            Some(name.as_str()).filter(|name| self.meaning(name).is_none())
        } else {
            None
        };
        let special = name.and_then(|name| name.parse::<Special>().ok());
        let (Some(name), Some(special)) = (name, special) else {
            return self.field(of, member, place);
        };
        let Ok(axis) = member.parse::<Axis>() else {
            let message = format!("{name} has no part '{member}'");
            return self.refuse(place, message, "its parts are x, y and z");
        };
        Ok(Expr { place, ty: Type::Scalar(Scalar::Unsigned), kind: Kind::Special(special, axis) })
    }
}
