//! Calls: helpers, mathematics, atomics, shuffles, votes and barriers.

use crate::ast;
use crate::ast::TemplateArgument;
use crate::check::fold::converted;
use crate::check::{Checked, Checker};
use crate::diagnostic::Place;
use crate::machine::real;
use crate::math::{Family, Math};
use crate::typed_ast::{Atomic, Expr, Kind, Shuffle, Vote};
use crate::types::{Access, Record, Scalar, Type};
use mlsys_lab::nearest::nearest;

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        name: &str,
        given: &[TemplateArgument],
        arguments: &[ast::Expr],
        place: Place,
    ) -> Checked<Expr> {
        let (name, object) = self.method_of(self.function_name(name), place)?;
        if name == "memcpy" && self.candidates(&name).is_empty() {
            return self.bytes_copied(arguments, place);
        }
        let values = match self.own_call(&name, object, given, arguments, place)? {
            Ok(value) => return Ok(value),
            Err(values) => values,
        };
        let values: Vec<_> = values.into_iter().map(|value| self.decayed(value)).collect();
        let values = values.into_iter().collect::<Checked<Vec<Expr>>>()?;
        if let Some(record) = name.strip_prefix("make_").and_then(Record::vector) {
            return self.made_of(record, values, place);
        }
        let name = name.as_str();
        let (name, values) = match self.intrinsic(name, values, place)? {
            Ok(value) => return Ok(value),
            Err((name, values)) => (name, values),
        };
        let builtin = BUILTINS.iter().find(|(own, _)| *own == name).map(|(_, builtin)| *builtin);
        match builtin {
            Some(Builtin::Barrier) => {
                self.count(name, &values, 0, place)?;
                return Ok(Expr { place, ty: Type::Void, kind: Kind::Barrier });
            }
            Some(Builtin::Warp(WarpCall::Barrier)) if values.is_empty() => {
                return Ok(Expr { place, ty: Type::Void, kind: Kind::WarpBarrier(None) });
            }
            Some(Builtin::Warp(call)) => return self.warp_call(name, call, values, place),
            Some(Builtin::Atomic(atomic, types)) => {
                return self.atomic(name, atomic, types, values, place);
            }
            Some(Builtin::Load) => {
                self.count(name, &values, 1, place)?;
                return match values.into_iter().next() {
                    Some(address) if matches!(address.ty, Type::Pointer { .. }) => {
                        Ok(self.at(address))
                    }
                    _ => self.refuse(place, "__ldg takes an address", "write __ldg(&a[i])"),
                };
            }
            None => {}
        }
        if let Some((math, family)) = Math::find(name) {
            return self.math(name, math, family, values, place);
        }
        if let Some(name) = name.strip_prefix('.') {
            let message = format!("no structure has a function '{name}'");
            return self.refuse(
                place,
                message,
                "write it into the structure, with __device__ before it",
            );
        }
        if name.starts_with("cuda") {
            let message = format!("'{name}' is a function of the host");
            return self.refuse(place, message, "leave it out: the lab launches and waits");
        }
        let builtins = BUILTINS.iter().map(|(name, _)| *name).chain(["min", "max"]);
        let mut known: Vec<&str> = Math::names().chain(builtins).collect();
        known.extend(self.sources.iter().map(|function| function.name.as_str()));
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean '{near}'?"),
            None => "a helper is a __device__ function and stands before what calls it".to_owned(),
        };
        self.refuse(place, format!("there is no function '{name}'"), help)
    }

    pub(super) fn count(
        &mut self,
        name: &str,
        values: &[Expr],
        wanted: usize,
        place: Place,
    ) -> Checked<()> {
        if values.len() == wanted {
            return Ok(());
        }
        let plural = if wanted == 1 { "" } else { "s" };
        self.refuse(
            place,
            format!("{name} takes {wanted} argument{plural}, here are {}", values.len()),
            "",
        )
    }

    /// Whether CUDA or C has a function of a name.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        Math::find(name).is_some()
            || BUILTINS.iter().any(|(own, _)| *own == name)
            || name.starts_with("__")
            || name.strip_prefix("make_").and_then(Record::vector).is_some()
    }

    pub(super) fn helper(
        &mut self,
        index: usize,
        arguments: Vec<Expr>,
        place: Place,
    ) -> Checked<Expr> {
        let function = &self.functions[index];
        let (result, height, name) = (function.result, function.height, function.name.clone());
        let wanted: Vec<Type> =
            function.variables.iter().take(function.params).map(|variable| variable.ty).collect();
        let signature = self.signatures[index].clone();
        let mut wanted = wanted;
        wanted.truncate(signature.passing.len());
        self.current.height = self.current.height.max(height + 1);
        let defaults = self.defaults.get(index).map_or(&[][..], Vec::as_slice);
        let left_out = defaults.get(arguments.len()..).unwrap_or(&[]);
        let left_out: Vec<&ast::Expr> = left_out.iter().copied().flatten().collect();
        if wanted.len() != arguments.len() + left_out.len() {
            return self.refuse(
                place,
                format!("{name} takes {} arguments, here are {}", wanted.len(), arguments.len()),
                "",
            );
        }
        let mut values = Vec::new();
        let given = arguments.len();
        for ((argument, ty), passed) in arguments.into_iter().zip(&wanted).zip(signature.passing) {
            values.push(self.passed(argument, passed, *ty)?);
        }
        for (default, ty) in left_out.into_iter().zip(&wanted[given..]) {
            // A default knows no names of the function that calls.
            let inner = self.scopes.split_off(1);
            let bound = self.bound_of(index);
            let outer = std::mem::replace(&mut self.current.bindings, bound);
            let value = self.value(default);
            self.current.bindings = outer;
            self.scopes.extend(inner);
            values.push(self.convert(value?, *ty)?);
        }
        let Some(record) = signature.gives else {
            let call = Expr { place, ty: result, kind: Kind::Call(index, values) };
            return Ok(if signature.refers { self.at(call) } else { call });
        };
        // The record that it gives goes into a variable of the caller.
        self.called_into(index, values, record, place)
    }

    fn atomic(
        &mut self,
        name: &str,
        atomic: Atomic,
        types: &[Scalar],
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Expr> {
        self.count(name, &values, if atomic == Atomic::CompareAndSwap { 3 } else { 2 }, place)?;
        let values = match self.pair_sum(atomic, values, place)? {
            Ok(sum) => return Ok(sum),
            Err(values) => values,
        };
        let mut values = values.into_iter();
        let Some(address) = values.next() else { return Err(crate::check::Reported) };
        let to = match address.ty {
            Type::Pointer { access: Access::Constant, .. } => {
                return self.refuse(place, "this is const", "leave out const to write there");
            }
            Type::Pointer { to, .. } if types.contains(&to) => to,
            Type::Pointer { to, .. } => {
                let list: Vec<String> = types.iter().map(Scalar::to_string).collect();
                let message = format!("{name} takes no {to}");
                return self.refuse(place, message, format!("it takes {}", list.join(", ")));
            }
            ty @ (Type::Void | Type::Scalar(_) | Type::Array { .. }) => {
                let message = format!("{name} takes an address, this is a {ty}");
                return self.refuse(place, message, format!("write {name}(&a[i], ..)"));
            }
        };
        let ty = Type::Scalar(to);
        let operands =
            values.map(|value| self.convert(value, ty)).collect::<Checked<Vec<Expr>>>()?;
        Ok(Expr { place, ty, kind: Kind::Atomic(atomic, Box::new(address), operands) })
    }

    pub(super) fn math(
        &mut self,
        name: &str,
        math: Math,
        family: Family,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Expr> {
        self.count(name, &values, math.arguments(), place)?;
        let mut common_type = None;
        for value in &values {
            let Some(scalar) = value.ty.scalar() else {
                let message = format!("{name} takes numbers, this is a {}", value.ty);
                return self.refuse(place, message, "");
            };
            common_type = Some(
                common_type.map_or(scalar.promote(), |other: Scalar| other.common_type(scalar)),
            );
        }
        let common_type = common_type.unwrap_or(Scalar::Double);
        let floats = values.iter().all(|value| value.ty.scalar() == Some(Scalar::Float));
        let of = match family {
            Family::Float => Scalar::Float,
            Family::Overloaded if common_type.is_small() => common_type,
            // One whole number among the arguments is enough for the double function, as in C++.
            Family::Overloaded if floats => Scalar::Float,
            Family::Overloaded => Scalar::Double,
            Family::Any => common_type,
            Family::Bits => Scalar::Unsigned,
            Family::Exact => math.reinterprets().map_or(common_type, |[takes, _]| takes),
        };
        if family == Family::Bits && common_type != Scalar::Int && common_type != Scalar::Unsigned {
            let message = format!("{name} takes 32 bits, this is a {common_type}");
            return self.refuse(place, message, "convert it to unsigned first");
        }
        let mut arguments = Vec::new();
        for value in values {
            arguments.push(self.convert(value, Type::Scalar(of))?);
        }
        let ty = Type::Scalar(math.result(of));
        let known = arguments.first().and_then(|value| math.reinterprets().zip(bits(value)));
        if let Some(([_, to], bits)) = known {
            let kind = if to.is_real() {
                Kind::Real(real(bits, to))
            } else if to == Scalar::Int {
                Kind::Whole(i64::from(bits as u32 as i32))
            } else {
                Kind::Whole(bits as i64)
            };
            return Ok(Expr { place, ty, kind });
        }
        Ok(Expr { place, ty, kind: Kind::Math(math, arguments) })
    }
}

/// The bits of a number that is known.
fn bits(value: &Expr) -> Option<u64> {
    if let Kind::Whole(known) = value.kind {
        return Some(known as u64).filter(|_| !value.ty.scalar().is_some_and(Scalar::is_real));
    }
    let Kind::Real(known) = value.kind else { return None };
    let is_double = value.ty == Type::Scalar(Scalar::Double);
    Some(if is_double { known.to_bits() } else { u64::from((known as f32).to_bits()) })
}

#[derive(Clone, Copy)]
enum Builtin {
    Barrier,
    Load,
    /// With the types it takes.
    Atomic(Atomic, &'static [Scalar]),
    Warp(WarpCall),
}

/// What all lanes of a warp do together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WarpCall {
    Shuffle(Shuffle),
    Vote(Vote),
    Barrier,
}

const BUILTINS: [(&str, Builtin); 28] = {
    use Scalar::{Bfloat16, Double, Float, Half, Int, Long, Unsigned, UnsignedLong};
    const BITS: &[Scalar] = &[Int, Unsigned, UnsignedLong];
    const ORDERED: &[Scalar] = &[Int, Unsigned, Long, UnsignedLong];
    const SUMS: &[Scalar] = &[Int, Unsigned, UnsignedLong, Float, Double, Half, Bfloat16];
    const EXCHANGED: &[Scalar] = &[Int, Unsigned, UnsignedLong, Float];
    [
        ("__syncthreads", Builtin::Barrier),
        ("__syncwarp", Builtin::Warp(WarpCall::Barrier)),
        ("__shfl_sync", Builtin::Warp(WarpCall::Shuffle(Shuffle::Index))),
        ("__shfl_up_sync", Builtin::Warp(WarpCall::Shuffle(Shuffle::Up))),
        ("__shfl_down_sync", Builtin::Warp(WarpCall::Shuffle(Shuffle::Down))),
        ("__shfl_xor_sync", Builtin::Warp(WarpCall::Shuffle(Shuffle::Xor))),
        ("__activemask", Builtin::Warp(WarpCall::Vote(Vote::Active))),
        ("__ballot_sync", Builtin::Warp(WarpCall::Vote(Vote::Ballot))),
        ("__any_sync", Builtin::Warp(WarpCall::Vote(Vote::Any))),
        ("__all_sync", Builtin::Warp(WarpCall::Vote(Vote::All))),
        ("__reduce_add_sync", Builtin::Warp(WarpCall::Vote(Vote::Reduce(Atomic::Add, Int)))),
        ("__reduce_min_sync", Builtin::Warp(WarpCall::Vote(Vote::Reduce(Atomic::Min, Int)))),
        ("__reduce_max_sync", Builtin::Warp(WarpCall::Vote(Vote::Reduce(Atomic::Max, Int)))),
        ("__reduce_and_sync", Builtin::Warp(WarpCall::Vote(Vote::Reduce(Atomic::And, Unsigned)))),
        ("__reduce_or_sync", Builtin::Warp(WarpCall::Vote(Vote::Reduce(Atomic::Or, Unsigned)))),
        ("__reduce_xor_sync", Builtin::Warp(WarpCall::Vote(Vote::Reduce(Atomic::Xor, Unsigned)))),
        ("__ldg", Builtin::Load),
        ("atomicInc", Builtin::Atomic(Atomic::Increment, &[Unsigned])),
        ("atomicDec", Builtin::Atomic(Atomic::Decrement, &[Unsigned])),
        ("atomicAdd", Builtin::Atomic(Atomic::Add, SUMS)),
        ("atomicSub", Builtin::Atomic(Atomic::Subtract, &[Int, Unsigned])),
        ("atomicMax", Builtin::Atomic(Atomic::Max, ORDERED)),
        ("atomicMin", Builtin::Atomic(Atomic::Min, ORDERED)),
        ("atomicCAS", Builtin::Atomic(Atomic::CompareAndSwap, BITS)),
        ("atomicExch", Builtin::Atomic(Atomic::Exchange, EXCHANGED)),
        ("atomicAnd", Builtin::Atomic(Atomic::And, BITS)),
        ("atomicOr", Builtin::Atomic(Atomic::Or, BITS)),
        ("atomicXor", Builtin::Atomic(Atomic::Xor, BITS)),
    ]
};

impl Checker<'_> {
    fn mask(&mut self, value: Expr) -> Checked<Expr> {
        self.convert(value, Type::Scalar(Scalar::Unsigned))
    }

    fn warp_call(
        &mut self,
        name: &str,
        shuffle: WarpCall,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Expr> {
        if shuffle == WarpCall::Vote(Vote::Active) {
            self.count(name, &values, 0, place)?;
            let ty = Type::Scalar(Scalar::Unsigned);
            return Ok(Expr { place, ty, kind: Kind::Vote(Vote::Active, Vec::new()) });
        }
        let wanted = match shuffle {
            WarpCall::Shuffle(_) if values.len() == 4 => 4,
            WarpCall::Shuffle(_) => 3,
            WarpCall::Vote(_) => 2,
            WarpCall::Barrier => 1,
        };
        self.count(name, &values, wanted, place)?;
        let mut values = values.into_iter();
        let Some(mask) = values.next() else { return Err(crate::check::Reported) };
        let mut all = vec![self.mask(mask)?];
        match shuffle {
            WarpCall::Barrier => {
                let mask = all.pop().map(Box::new);
                Ok(Expr { place, ty: Type::Void, kind: Kind::WarpBarrier(mask) })
            }
            WarpCall::Vote(Vote::Reduce(operation, of)) => {
                let Some(value) = values.next() else { return Err(crate::check::Reported) };
                let own = value.ty.scalar().map(Scalar::promote);
                let own = own.filter(|own| matches!(own, Scalar::Int | Scalar::Unsigned));
                let Some(own) = own else {
                    let message = format!("{name} takes int or unsigned, this is a {}", value.ty);
                    return self.refuse(place, message, "write a loop with __shfl_xor_sync");
                };
                let of = if of == Scalar::Unsigned { of } else { own };
                all.push(self.convert(value, Type::Scalar(of))?);
                let kind = Kind::Vote(Vote::Reduce(operation, of), all);
                Ok(Expr { place, ty: Type::Scalar(of), kind })
            }
            WarpCall::Vote(vote) => {
                for value in values {
                    all.push(self.truth(value)?);
                }
                let ty =
                    Type::Scalar(if vote == Vote::Ballot { Scalar::Unsigned } else { Scalar::Int });
                Ok(Expr { place, ty, kind: Kind::Vote(vote, all) })
            }
            WarpCall::Shuffle(shuffle) => {
                let Some(value) = values.next() else { return Err(crate::check::Reported) };
                let Some(scalar) = value.ty.scalar() else {
                    let message = format!("{name} passes numbers on, this is a {}", value.ty);
                    return self.refuse(place, message, "");
                };
                let promote = scalar.promote();
                all.push(converted(value, scalar, promote));
                for value in values {
                    all.push(self.convert(value, Type::Scalar(Scalar::Int))?);
                }
                if let Some(width) = all.get(3).and_then(crate::check::known)
                    && !(width > 0 && width <= 32 && width & (width - 1) == 0)
                {
                    let message = format!("a width of {width} is no power of two up to 32");
                    return self.refuse(place, message, "");
                }
                Ok(Expr { place, ty: Type::Scalar(promote), kind: Kind::Shuffle(shuffle, all) })
            }
        }
    }
}
