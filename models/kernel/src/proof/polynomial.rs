//! Polynomials with whole coefficients over symbols, and formulas over them.

use std::collections::BTreeMap;

/// A number of which a proof knows no more than its facts.
pub(super) type Symbol = u32;

/// Beyond these a value is given up: no index needs them, and sums of them stay far within 64 bits.
const MOST_DEGREE: usize = 6;
const MOST_COEFFICIENT: i64 = 1 << 48;

/// A sum of products of symbols. The symbols of a product are ascending; the constant is the empty product.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Polynomial {
    terms: BTreeMap<Vec<Symbol>, i64>,
}

impl Polynomial {
    pub(super) fn constant(value: i64) -> Self {
        Self::term(Vec::new(), value)
    }

    pub(super) fn symbol(symbol: Symbol) -> Self {
        Self::term(vec![symbol], 1)
    }

    fn term(product: Vec<Symbol>, coefficient: i64) -> Self {
        let terms = (coefficient != 0).then_some((product, coefficient));
        Self { terms: terms.into_iter().collect() }
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = (&[Symbol], i64)> {
        self.terms.iter().map(|(product, coefficient)| (product.as_slice(), *coefficient))
    }

    /// Its value, if no symbol is in it.
    pub(super) fn known(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&[][..]).copied(),
            _ => None,
        }
    }

    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.terms.keys().flatten().copied()
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        self.plus_times(other, 1)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.plus_times(other, -1)
    }

    pub(super) fn plus_number(&self, number: i64) -> Self {
        self.plus(&Self::constant(number))
    }

    fn plus_times(&self, other: &Self, factor: i64) -> Self {
        let mut terms = self.terms.clone();
        for (product, coefficient) in &other.terms {
            let sum = terms.entry(product.clone()).or_insert(0);
            *sum = sum.saturating_add(coefficient.saturating_mul(factor));
            if *sum == 0 {
                terms.remove(product);
            }
        }
        Self { terms }
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = Self::default();
        for (one, by) in &self.terms {
            for (two, of) in &other.terms {
                let mut both: Vec<Symbol> = one.iter().chain(two).copied().collect();
                both.sort_unstable();
                product = product.plus(&Self::term(both, by.saturating_mul(*of)));
            }
        }
        product
    }

    pub(super) fn times_number(&self, number: i64) -> Self {
        self.times(&Self::constant(number))
    }

    /// Whether it is small enough for arithmetic on it never to saturate.
    pub(super) fn is_moderate(&self) -> bool {
        let small = |(product, by): (&Vec<Symbol>, &i64)| {
            product.len() <= MOST_DEGREE && by.unsigned_abs() <= MOST_COEFFICIENT as u64
        };
        self.terms.len() <= 64 && self.terms.iter().all(small)
    }

    /// `quotient * symbol + rest`, with as much as possible in the quotient.
    pub(super) fn divide(&self, symbol: Symbol) -> (Self, Self) {
        let (mut quotient, mut rest) = (Self::default(), Self::default());
        for (product, coefficient) in &self.terms {
            if let Some(at) = product.iter().position(|own| *own == symbol) {
                let mut product = product.clone();
                product.remove(at);
                quotient.terms.insert(product, *coefficient);
            } else {
                rest.terms.insert(product.clone(), *coefficient);
            }
        }
        (quotient, rest)
    }

    /// With other polynomials in place of some symbols.
    pub(super) fn replace(&self, by: &dyn Fn(Symbol) -> Option<Self>) -> Self {
        let mut result = Self::default();
        for (product, coefficient) in &self.terms {
            let start = Self::constant(*coefficient);
            let replaced = product.iter().fold(start, |all, symbol| {
                all.times(&by(*symbol).unwrap_or_else(|| Self::symbol(*symbol)))
            });
            result = result.plus(&replaced);
        }
        result
    }
}

/// What is known of some polynomials.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Formula {
    /// Of a value that is not tracked, such as what a load gave: it may hold, and so may its opposite.
    Either,
    NotNegative(Polynomial),
    Zero(Polynomial),
    And(Vec<Formula>),
    Or(Vec<Formula>),
}

impl Formula {
    pub(super) const TRUE: Self = Self::And(Vec::new());
    pub(super) const FALSE: Self = Self::Or(Vec::new());

    pub(super) fn truth(holds: bool) -> Self {
        if holds { Self::TRUE } else { Self::FALSE }
    }

    pub(super) fn at_most(left: &Polynomial, right: &Polynomial) -> Self {
        Self::NotNegative(right.minus(left)).folded()
    }

    pub(super) fn less(left: &Polynomial, right: &Polynomial) -> Self {
        Self::at_most(&left.plus_number(1), right)
    }

    pub(super) fn equal(left: &Polynomial, right: &Polynomial) -> Self {
        Self::Zero(left.minus(right)).folded()
    }

    pub(super) fn different(left: &Polynomial, right: &Polynomial) -> Self {
        Self::equal(left, right).negated()
    }

    fn folded(self) -> Self {
        let known = match &self {
            Self::NotNegative(of) => of.known().map(|value| value >= 0),
            Self::Zero(of) => of.known().map(|value| value == 0),
            Self::Either | Self::And(_) | Self::Or(_) => None,
        };
        known.map_or(self, Self::truth)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self::And(vec![self, other])
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self::Or(vec![self, other])
    }

    pub(super) fn negated(&self) -> Self {
        match self {
            Self::Either => Self::Either,
            Self::NotNegative(of) => Self::NotNegative(Polynomial::constant(-1).minus(of)).folded(),
            Self::Zero(of) => Self::NotNegative(of.plus_number(-1))
                .or(Self::NotNegative(Polynomial::constant(-1).minus(of))),
            Self::And(all) => Self::Or(all.iter().map(Self::negated).collect()),
            Self::Or(any) => Self::And(any.iter().map(Self::negated).collect()),
        }
    }

    pub(super) fn is_tracked(&self) -> bool {
        match self {
            Self::Either => false,
            Self::NotNegative(_) | Self::Zero(_) => true,
            Self::And(list) | Self::Or(list) => list.iter().all(Self::is_tracked),
        }
    }

    pub(super) fn each(&self, visit: &mut dyn FnMut(&Polynomial)) {
        match self {
            Self::Either => {}
            Self::NotNegative(of) | Self::Zero(of) => visit(of),
            Self::And(list) | Self::Or(list) => list.iter().for_each(|one| one.each(visit)),
        }
    }

    pub(super) fn replace(&self, by: &dyn Fn(Symbol) -> Option<Polynomial>) -> Self {
        let all = |list: &[Self]| list.iter().map(|one| one.replace(by)).collect();
        match self {
            Self::Either => Self::Either,
            Self::NotNegative(of) => Self::NotNegative(of.replace(by)).folded(),
            Self::Zero(of) => Self::Zero(of.replace(by)).folded(),
            Self::And(list) => Self::And(all(list)),
            Self::Or(list) => Self::Or(all(list)),
        }
    }
}
