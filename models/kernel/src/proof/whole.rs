//! Whole-number arithmetic on polynomials: what is not a sum or a product gets a symbol and the facts that define it.

use crate::proof::executor::Executor;
use crate::proof::polynomial::{Formula, Polynomial, Symbol};
use crate::proof::state::{State, Value};
use crate::proof::symbols::Scope;
use crate::typed_ast::Operation;
use crate::types::{Scalar, Type};

impl Executor<'_> {
    pub(super) fn arithmetic(
        &mut self,
        state: &State,
        operation: Operation,
        left: Value,
        right: Value,
        ty: Type,
    ) -> Value {
        let Some(scalar) = ty.scalar().filter(|scalar| !scalar.is_real()) else {
            return Value::Other;
        };
        let (a, b) = (self.number(left, scalar), self.number(right, scalar));
        let result = match operation {
            Operation::Add => Some(a.plus(&b)),
            Operation::Subtract => Some(a.minus(&b)),
            Operation::Multiply => Some(a.times(&b)),
            Operation::Divide => self.quotient(state, &a, &b, scalar).map(|(quotient, _)| quotient),
            Operation::Remainder => self.quotient(state, &a, &b, scalar).map(|(_, rest)| rest),
            Operation::Left => power(&b).map(|by| a.times_number(by)),
            Operation::Right => {
                let a = self.canonical(state, Value::Whole(a), ty);
                power(&b).map(|by| self.floor(&a, by))
            }
            Operation::And | Operation::Or | Operation::Xor => self.bits(operation, &a, &b),
        };
        match result.filter(Polynomial::is_moderate) {
            Some(result) => Value::Whole(result),
            None => self.unknown(ty),
        }
    }

    /// A whole number as sums and products see it.
    fn number(&mut self, value: Value, scalar: Scalar) -> Polynomial {
        match value {
            Value::Whole(number) => number,
            Value::Truth(holds) => {
                let numbers = [1, 0].map(|bit| Value::Whole(Polynomial::constant(bit)));
                match self.symbols.either(&[holds.clone(), holds.negated()], numbers.to_vec()) {
                    Value::Whole(number) => number,
                    Value::Truth(_) | Value::Address(..) | Value::Other => Polynomial::default(),
                }
            }
            Value::Address(..) | Value::Other => {
                let symbol = if scalar.is_signed() {
                    self.symbols.whole(Scope::Thread)
                } else {
                    self.symbols.natural(Scope::Thread)
                };
                Polynomial::symbol(symbol)
            }
        }
    }

    /// A whole number as comparisons see it: an unsigned one that a subtraction took below zero wraps.
    pub(super) fn canonical(&mut self, state: &State, value: Value, ty: Type) -> Polynomial {
        let scalar = ty.scalar().unwrap_or(Scalar::Long);
        let number = self.number(value, scalar);
        if scalar.is_signed()
            || self.symbols.is_plainly_natural(&number)
            || self.holds(state, Formula::NotNegative(number.clone()))
        {
            return number;
        }
        let wrapped = if scalar.is_wide() { 1 << 40 } else { 1_i64 << 32 };
        let symbol = self.symbols.natural(self.symbols.scope_of(&number));
        let chosen = Polynomial::symbol(symbol);
        let above = number.plus_number(wrapped);
        let below = Formula::NotNegative(number.clone()).negated();
        // Of 64 bits no more is kept than that it is far beyond every size.
        let other = if scalar.is_wide() {
            Formula::at_most(&above, &chosen)
        } else {
            Formula::equal(&above, &chosen)
        };
        let same = Formula::NotNegative(number.clone()).and(Formula::equal(&number, &chosen));
        self.symbols.know(symbol, same.or(below.and(other)));
        chosen
    }

    pub(super) fn converted(&mut self, state: &State, value: Value, from: Type, to: Type) -> Value {
        match (from, to) {
            (Type::Scalar(from), Type::Scalar(to)) => match (from, to) {
                _ if to.is_real() => Value::Other,
                _ if from.is_real() => self.unknown(Type::Scalar(to)),
                (_, Scalar::Bool) => match value {
                    Value::Whole(number) => {
                        Value::Truth(Formula::different(&number, &Polynomial::default()))
                    }
                    Value::Truth(_) | Value::Address(..) | Value::Other => value,
                },
                (Scalar::Bool, _) => Value::Whole(self.number(value, to)),
                // Bits may be lost here, which no size keeps from happening.
                _ if to.is_small() && to != from => match value {
                    Value::Whole(number)
                        if number.known().is_some_and(|n| (0..128).contains(&n)) =>
                    {
                        Value::Whole(number)
                    }
                    Value::Whole(_) | Value::Truth(_) | Value::Address(..) | Value::Other => {
                        self.unknown(Type::Scalar(to))
                    }
                },
                (Scalar::Unsigned, _) if to.is_wide() => {
                    Value::Whole(self.canonical(state, value, Type::Scalar(from)))
                }
                (_, Scalar::Int) => match value {
                    Value::Whole(number) => Value::Whole(match number.known() {
                        Some(known) => Polynomial::constant(i64::from(known as i32)),
                        None => number,
                    }),
                    Value::Truth(_) | Value::Address(..) | Value::Other => value,
                },
                _ => value,
            },
            (Type::Pointer { to: one, .. }, Type::Pointer { to: other, .. }) if one == other => {
                value
            }
            _ => self.unknown(to),
        }
    }

    /// The largest whole number that times `by` is not above `a`.
    fn floor(&mut self, a: &Polynomial, by: i64) -> Polynomial {
        if by == 1 {
            return a.clone();
        }
        let of = Polynomial::constant(by);
        let (quotient, new) = self.symbol_of_quotient(a, &of, true);
        if let Some(symbol) = new {
            let rest = a.minus(&quotient.times(&of));
            self.symbols.know(symbol, Formula::NotNegative(rest.clone()));
            self.symbols.know(symbol, Formula::less(&rest, &of));
        }
        quotient
    }

    /// The symbol of a quotient, one for each pair, so that equal quotients are seen to be equal; again by itself if it is
    /// new and has no facts.
    fn symbol_of_quotient(
        &mut self,
        a: &Polynomial,
        b: &Polynomial,
        floor: bool,
    ) -> (Polynomial, Option<Symbol>) {
        let key = (a.clone(), b.clone(), floor);
        if let Some(symbol) = self.symbols.quotients.get(&key) {
            return (Polynomial::symbol(*symbol), None);
        }
        let scope = self.symbols.scope_of(a).max(self.symbols.scope_of(b));
        let natural = self.symbols.is_plainly_natural(a) && self.symbols.is_plainly_natural(b);
        let symbol = if natural { self.symbols.natural(scope) } else { self.symbols.whole(scope) };
        self.symbols.quotients.insert(key, symbol);
        (Polynomial::symbol(symbol), Some(symbol))
    }

    /// Quotient and remainder as C has them, rounded towards zero; none of a divisor that may be zero or negative.
    fn quotient(
        &mut self,
        state: &State,
        a: &Polynomial,
        b: &Polynomial,
        scalar: Scalar,
    ) -> Option<(Polynomial, Polynomial)> {
        let ty = Type::Scalar(scalar);
        let a = self.canonical(state, Value::Whole(a.clone()), ty);
        let b = self.canonical(state, Value::Whole(b.clone()), ty);
        let zero = Polynomial::default();
        if b.known() == Some(1) {
            return Some((a, zero));
        }
        let fits =
            |b: &Polynomial| b.is_moderate() && b.terms().all(|(product, _)| product.len() < 3);
        if !fits(&a) || !fits(&b) || !self.holds(state, Formula::less(&zero, &b)) {
            return None;
        }
        let (quotient, new) = self.symbol_of_quotient(&a, &b, false);
        let rest = a.minus(&quotient.times(&b));
        if let Some(symbol) = new {
            let inside =
                |rest: &Polynomial| Formula::NotNegative(rest.clone()).and(Formula::less(rest, &b));
            let up = inside(&rest).and(Formula::NotNegative(quotient.clone()));
            let down = inside(&zero.minus(&rest)).and(Formula::at_most(&quotient, &zero));
            let negative = Formula::NotNegative(a.clone()).negated();
            let mut fact = if self.symbols.is_plainly_natural(&a) {
                up
            } else {
                Formula::NotNegative(a.clone()).and(up).or(negative.and(down))
            };
            // The quotient may also be looked at on ways on which it is not computed.
            if b.known().is_none() {
                fact = Formula::at_most(&b, &zero).or(fact);
            }
            self.symbols.know(symbol, fact);
        }
        Some((quotient, rest))
    }

    /// Bits that one power of two, or one less than it, chooses.
    fn bits(&mut self, operation: Operation, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        let (a, mask) = match (a.known(), b.known()) {
            (_, Some(mask)) => (a, mask),
            (Some(mask), None) => (b, mask),
            (None, None) => return None,
        };
        if let Some(known) = a.known() {
            let both = [known & mask, known | mask, known ^ mask];
            return Some(Polynomial::constant(choose(operation, both)));
        }
        if operation == Operation::And
            && (0..1 << 40).contains(&mask)
            && (mask + 1).count_ones() == 1
        {
            let quotient = self.floor(a, mask + 1);
            return Some(a.minus(&quotient.times_number(mask + 1)));
        }
        if mask <= 0 || mask > 1 << 30 || mask.count_ones() != 1 {
            return None;
        }
        // The bit is what the quotient by it has over twice the quotient by the next.
        let (low, high) = (self.floor(a, mask), self.floor(a, 2 * mask));
        let bit = low.minus(&high.times_number(2)).times_number(mask);
        let without = a.minus(&bit);
        let (or, xor) = (without.plus_number(mask), without.minus(&bit).plus_number(mask));
        Some(choose(operation, [bit, or, xor]))
    }
}

/// What belongs to and, or and exclusive or.
fn choose<T>(operation: Operation, [and, or, xor]: [T; 3]) -> T {
    if operation == Operation::And {
        and
    } else if operation == Operation::Or {
        or
    } else {
        xor
    }
}

/// Two to the power of a known number.
fn power(of: &Polynomial) -> Option<i64> {
    of.known().filter(|by| (0..31).contains(by)).map(|by| 1 << by)
}
