//! Addresses: an array that is known, and an index into it. Assignments become statements; their value is then a name.

use crate::diagnostic::Place;
use crate::typed_ast::{CompoundOp, Expr, Kind, Target, YieldedValue};
use crate::types::{Scalar, Type};
use crate::wgsl::function::Writer;
use crate::wgsl::names::{Fragment, arithmetic, converted, sign};
use crate::wgsl::{Root, Translated, refuse, type_name};

/// Something in memory that is read or written.
#[derive(Clone)]
pub(super) struct MemoryRef {
    pub(super) name: String,
    pub(super) of: Scalar,
    /// Whether some atomic works on its array, so that every access is one.
    pub(super) atomic: bool,
}

impl Writer<'_, '_> {
    /// The array that an address points into and the index, none for its first element.
    pub(super) fn pointer(&mut self, expr: &Expr) -> Translated<(Root, Option<Fragment>)> {
        let place = expr.place;
        if let Kind::Offset(base, index) = &expr.kind {
            let (root, at) = self.pointer(base)?;
            let index = self.index(index)?;
            return Ok((root, Some(added(at, index))));
        }
        if let Kind::Shared(index) = expr.kind {
            return Ok((Root::Shared(index), None));
        }
        if let Kind::Local(index) = expr.kind {
            return Ok((Root::Local(index), None));
        }
        if let Kind::Global(index) = expr.kind {
            return Ok((Root::Buffer(self.module.program.own_params() + index), None));
        }
        if let Kind::Variable(index) = expr.kind {
            let Some(root) = self.roots[index] else {
                return refuse(
                    place,
                    format!(
                        "'{}' is not seen to point into one array, and WGSL has no addresses",
                        self.function.variables[index].name
                    ),
                    "index the array itself",
                );
            };
            let at = match root {
                Root::Buffer(param) if self.is_argument(index) && !self.module.moves(param) => None,
                Root::Buffer(_) | Root::Shared(_) | Root::Local(_) => {
                    Some(Fragment::atom(self.locals[index].clone()))
                }
            };
            return Ok((root, at));
        }
        if let Kind::Together(_, inner) = &expr.kind {
            return self.pointer(inner);
        }
        if let Kind::Comma(left, right) = &expr.kind {
            self.effect(left)?;
            return self.pointer(right);
        }
        if let Kind::Conditional(condition, yes, no) = &expr.kind {
            let condition = self.value(condition)?;
            let ((one, yes), (other, no)) = (self.pointer(yes)?, self.pointer(no)?);
            if one != other {
                let message = "an address in one of two arrays, and WGSL has no addresses";
                let help = "choose between the elements, not between the arrays";
                return refuse(place, message, help);
            }
            let first = || Fragment::atom("0i");
            let (yes, no) = (yes.unwrap_or_else(first), no.unwrap_or_else(first));
            let text = format!("select({}, {}, {})", no.text, yes.text, condition.text);
            return Ok((one, Some(Fragment::atom(text))));
        }
        if let Kind::Assign(Target::Variable(index), _)
        | Kind::Update(Target::Variable(index), ..) = expr.kind
        {
            let at = self.value(expr)?;
            return match self.roots[index] {
                Some(root) => Ok((root, Some(at))),
                None => refuse(place, "an address into no known array", "index the array itself"),
            };
        }
        refuse(
            place,
            "an address that is computed like a number, and WGSL has none",
            "index the array itself",
        )
    }

    /// Whether a variable is an argument of the kernel itself, which begins at its buffer's first element.
    fn is_argument(&self, index: usize) -> bool {
        let program = self.module.program;
        std::ptr::eq(self.function, &raw const program.functions[program.kernel])
            && index < self.function.params
    }

    /// An index of 32 bits; a longer one is let through where only its sign was worked out in 64.
    fn index(&mut self, expr: &Expr) -> Translated<Fragment> {
        match (expr.ty.scalar(), &expr.kind) {
            (Some(Scalar::Long), Kind::Convert(inner)) => self.index(inner),
            (Some(Scalar::Long), Kind::Negate(inner)) => {
                let inner = self.index(inner)?;
                Ok(Fragment::sum(format!("-{}", inner.operand())))
            }
            (Some(Scalar::Long), Kind::Whole(value)) if i32::try_from(*value).is_ok() => {
                crate::wgsl::names::whole(*value, Scalar::Int, expr.place)
            }
            (Some(Scalar::Unsigned), _) => {
                let value = self.value(expr)?;
                converted(value, Scalar::Unsigned, Scalar::Int, expr.place)
            }
            (Some(of), _) => {
                let value = self.value(expr)?;
                converted(value, of, Scalar::Int, expr.place)
            }
            (None, _) => self.value(expr),
        }
    }

    /// Says that a pointer variable points there; it must always be the same array.
    pub(super) fn points_into(&self, index: usize, root: Root, place: Place) -> Translated<()> {
        if self.roots[index] == Some(root) {
            return Ok(());
        }
        refuse(
            place,
            format!(
                "'{}' points into two arrays, and WGSL has no addresses",
                self.function.variables[index].name
            ),
            "write the code once for each array, or index both",
        )
    }

    pub(super) fn place(&mut self, address: &Expr) -> Translated<MemoryRef> {
        let Type::Pointer { to, .. } = address.ty else {
            return refuse(address.place, "this is no address of a number", "");
        };
        let (root, at) = self.pointer(address)?;
        let of = match root {
            Root::Buffer(index) => self.module.program.params[index].ty.element(),
            Root::Shared(index) => self.module.program.shared[index].ty.element(),
            Root::Local(index) => self.function.variables[index].ty.element(),
        };
        if of != Some(to) {
            return refuse(
                address.place,
                format!("memory of another type is read as {to}, and WGSL's arrays have one type"),
                "declare a second array, or convert the value",
            );
        }
        let array = self.module.root_name(root, &self.locals);
        let is_array = match root {
            Root::Local(index) => matches!(self.function.variables[index].ty, Type::Array { .. }),
            Root::Buffer(_) | Root::Shared(_) => true,
        };
        let name = match (is_array, at) {
            (true, at) => {
                let at = at.map_or_else(|| "0i".to_owned(), |at| at.text);
                format!("{array}[{at}]")
            }
            (false, None) => array,
            (false, Some(_)) => {
                return refuse(
                    address.place,
                    "the address of a single variable is kept in a pointer, and WGSL has no addresses",
                    "use the variable itself, or declare an array",
                );
            }
        };
        let atomic = self.module.atomic.contains(&root);
        Ok(MemoryRef { name, of: to, atomic })
    }

    pub(super) fn load(&mut self, address: &Expr) -> Translated<Fragment> {
        Ok(self.place(address)?.load())
    }

    /// `p += n` and `p++`.
    fn advance(
        &mut self,
        target: &Target,
        by: &Expr,
        place: Place,
        yields: YieldedValue,
    ) -> Translated<Fragment> {
        let Target::Variable(index) = target else {
            return refuse(place, "an address in memory, and WGSL has none", "keep an index");
        };
        let name = Fragment::atom(self.locals[*index].clone());
        let by = self.index(by)?;
        let old = match yields {
            YieldedValue::Old => Some(self.bind(&name)),
            YieldedValue::New => None,
        };
        self.line(&format!("{} += {};", name.text, by.text));
        Ok(old.unwrap_or(name))
    }
}

fn added(at: Option<Fragment>, index: Fragment) -> Fragment {
    match at {
        None => index,
        Some(at) if index.text == "0i" => at,
        Some(at) => Fragment::sum(format!("{} + {}", at.operand(), index.operand())),
    }
}

impl MemoryRef {
    /// The same with what its index depends on kept, so that it stays where it is.
    pub(super) fn fixed(self, writer: &mut Writer<'_, '_>) -> Self {
        let Some((array, index)) = self.name.split_once('[') else { return self };
        let index = index.strip_suffix(']').unwrap_or(index);
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_number = index.starts_with(|c: char| c.is_ascii_digit()) && index.chars().all(plain);
        if is_number {
            return self;
        }
        let kept = writer.bind(&Fragment::sum(index));
        Self { name: format!("{array}[{}]", kept.text), ..self }
    }

    pub(super) fn load(&self) -> Fragment {
        match (self.atomic, self.of) {
            (false, _) => Fragment::atom(self.name.clone()),
            (true, Scalar::Float) => {
                Fragment::atom(format!("bitcast<f32>(atomicLoad(&{}))", self.name))
            }
            (true, _) => Fragment::atom(format!("atomicLoad(&{})", self.name)),
        }
    }

    fn store(&self, writer: &mut Writer<'_, '_>, value: &Fragment) {
        let (name, value) = (&self.name, &value.text);
        writer.line(&match (self.atomic, self.of) {
            (false, _) => format!("{name} = {value};"),
            (true, Scalar::Float) => {
                format!("atomicStore(&{name}, bitcast<u32>({value}));")
            }
            (true, _) => format!("atomicStore(&{name}, {value});"),
        });
    }
}

impl Writer<'_, '_> {
    pub(super) fn assign(
        &mut self,
        target: &Target,
        value: &Expr,
        expr: &Expr,
    ) -> Translated<Fragment> {
        match target {
            Target::Variable(index) => {
                let name = self.locals[*index].clone();
                let value = self.value_of_variable(*index, value, expr.place)?;
                self.line(&format!("{name} = {};", value.text));
                Ok(Fragment::atom(name))
            }
            Target::Memory(address) => {
                let value = self.value_before(value, address)?;
                let place = self.place(address)?;
                place.store(self, &value);
                Ok(value)
            }
        }
    }

    /// What a variable is given: a number, or the index of an address.
    pub(super) fn value_of_variable(
        &mut self,
        index: usize,
        value: &Expr,
        place: Place,
    ) -> Translated<Fragment> {
        let Type::Pointer { .. } = self.function.variables[index].ty else {
            return self.value(value);
        };
        let (root, at) = self.pointer(value)?;
        self.points_into(index, root, place)?;
        Ok(at.unwrap_or_else(|| Fragment::atom("0i")))
    }

    /// A value that is worked out before the address it goes to, as in C++ since 2017; WGSL does it the other way.
    fn value_before(&mut self, value: &Expr, address: &Expr) -> Translated<Fragment> {
        let text = self.value(value)?;
        let fixed = matches!(value.kind, Kind::Whole(_) | Kind::Real(_));
        // A call is written where its value is used: what it changes must not be read for the address before.
        let calls = value.any(&|e| matches!(e.kind, Kind::Call(..)));
        let reads = address.any(&|e| matches!(e.kind, Kind::Load(_)));
        if fixed || !(address.has_effect() || calls && reads) {
            return Ok(text);
        }
        Ok(self.bind(&text))
    }

    pub(super) fn update(
        &mut self,
        target: &Target,
        change: CompoundOp,
        value: &Expr,
        expr: &Expr,
        yields: YieldedValue,
    ) -> Translated<Fragment> {
        let (operation, common_type) = match change {
            CompoundOp::Arithmetic(operation, common_type) => (operation, common_type),
            CompoundOp::Advance => return self.advance(target, value, expr.place, yields),
        };
        type_name(common_type, expr.place)?;
        let of = expr.ty.scalar().unwrap_or(Scalar::Int);
        let by = value.ty.scalar().unwrap_or(Scalar::Int);
        let result = |old: &Fragment, value: &Fragment| -> Translated<Fragment> {
            let old = converted(old.clone(), of, common_type, expr.place)?;
            converted(arithmetic(operation, &old, value, by), common_type, of, expr.place)
        };
        let (spot, value) = match target {
            Target::Variable(index) => {
                let name = self.locals[*index].clone();
                (MemoryRef { name, of, atomic: false }, self.value(value)?)
            }
            Target::Memory(address) => {
                let value = self.value_before(value, address)?;
                (self.place(address)?, value)
            }
        };
        let plain = !spot.atomic && !operation.is_shift() && of == common_type;
        if plain && yields == YieldedValue::New {
            let sign = sign(operation);
            self.line(&format!("{} {sign}= {};", spot.name, value.text));
            return Ok(spot.load());
        }
        let spot = spot.fixed(self);
        let before = spot.load();
        let old = match yields {
            YieldedValue::Old => self.bind(&before),
            YieldedValue::New => before.clone(),
        };
        let is_variable = matches!(target, Target::Variable(_));
        let new = result(if is_variable { &before } else { &old }, &value)?;
        spot.store(self, &new);
        Ok(match yields {
            YieldedValue::Old => old,
            YieldedValue::New => spot.load(),
        })
    }
}
