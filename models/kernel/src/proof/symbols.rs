//! The symbols of a proof: how far the value of each is shared, and what is known of it.

use crate::proof::polynomial::{Formula, Polynomial, Symbol};
use crate::proof::solver;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Who sees the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// All threads of a launch: sizes, extents of grid and block.
    Launch,
    Block,
    /// The threads of a block between the same two barriers, such as the iterations of a loop with a barrier.
    Iteration,
    Thread,
}

#[derive(Clone, Debug)]
struct Known {
    scope: Scope,
    /// Never negative.
    natural: bool,
    facts: Vec<Formula>,
}

/// One of the two threads of a question. A question about one thread is about the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thread {
    First,
    Second,
}

/// The bit of a symbol that says it is the second thread's.
const SECOND: Symbol = 1 << 31;

/// Conjunctions that all questions about one kernel may be split into: some seconds.
const MOST_CASES: u32 = 6_000;

#[derive(Clone, Debug)]
pub(super) struct Symbols {
    known: Vec<Known>,
    /// What holds for every launch.
    launch: Vec<Formula>,
    /// Conjunctions that may still be looked at.
    fuel: Cell<u32>,
    /// Quotients that have a symbol already, by what is divided.
    pub(super) quotients: BTreeMap<(Polynomial, Polynomial, bool), Symbol>,
}

impl Default for Symbols {
    fn default() -> Self {
        let (known, launch, quotients) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { known, launch, fuel: Cell::new(MOST_CASES), quotients }
    }
}

impl Symbols {
    pub(super) fn natural(&mut self, scope: Scope) -> Symbol {
        self.add(scope, true)
    }

    /// A symbol that may be negative.
    pub(super) fn whole(&mut self, scope: Scope) -> Symbol {
        self.add(scope, false)
    }

    fn add(&mut self, scope: Scope, natural: bool) -> Symbol {
        let symbol = self.known.len() as Symbol;
        let not_negative = Formula::NotNegative(Polynomial::symbol(symbol));
        let facts = if natural { vec![not_negative] } else { Vec::new() };
        self.known.push(Known { scope, natural, facts });
        symbol
    }

    pub(super) fn know(&mut self, symbol: Symbol, fact: Formula) {
        self.known[symbol as usize].facts.push(fact);
    }

    pub(super) fn know_of_launch(&mut self, fact: Formula) {
        self.launch.push(fact);
    }

    pub(super) fn scope(&self, symbol: Symbol) -> Scope {
        self.known[(symbol & !SECOND) as usize].scope
    }

    pub(super) fn is_natural(&self, symbol: Symbol) -> bool {
        self.known[(symbol & !SECOND) as usize].natural
    }

    pub(super) fn scope_of(&self, of: &Polynomial) -> Scope {
        of.symbols().map(|symbol| self.scope(symbol)).max().unwrap_or(Scope::Launch)
    }

    pub(super) fn scope_of_formula(&self, formula: &Formula) -> Scope {
        let mut scope = if formula.is_tracked() { Scope::Launch } else { Scope::Thread };
        formula.each(&mut |of| scope = scope.max(self.scope_of(of)));
        scope
    }

    /// Whether no term of it can be negative.
    pub(super) fn is_plainly_natural(&self, of: &Polynomial) -> bool {
        of.terms().all(|(product, by)| by >= 0 && product.iter().all(|s| self.is_natural(*s)))
    }

    /// The symbol as one of two threads has it, if these share what lies in `shared` or above.
    pub(super) fn renamed(&self, symbol: Symbol, thread: Thread, shared: Scope) -> Symbol {
        match thread {
            Thread::First => symbol,
            Thread::Second if self.scope(symbol) <= shared => symbol,
            Thread::Second => symbol | SECOND,
        }
    }

    pub(super) fn rename(&self, of: &Polynomial, thread: Thread, shared: Scope) -> Polynomial {
        of.replace(&|symbol| Some(Polynomial::symbol(self.renamed(symbol, thread, shared))))
    }

    pub(super) fn rename_formula(&self, of: &Formula, thread: Thread, shared: Scope) -> Formula {
        of.replace(&|symbol| Some(Polynomial::symbol(self.renamed(symbol, thread, shared))))
    }

    /// Whether the formulas contradict each other, given all that is known of their symbols.
    pub(super) fn contradict(&self, mut formulas: Vec<Formula>, shared: Scope) -> bool {
        if self.fuel.get() == 0 {
            return false;
        }
        formulas.extend(self.launch.iter().cloned());
        let mut seen: BTreeSet<Symbol> = BTreeSet::new();
        let mut next = 0;
        while let Some(formula) = formulas.get(next) {
            let mut new = Vec::new();
            formula.each(&mut |of| new.extend(of.symbols().filter(|symbol| seen.insert(*symbol))));
            for symbol in new {
                let thread = if symbol & SECOND == 0 { Thread::First } else { Thread::Second };
                let facts = &self.known[(symbol & !SECOND) as usize].facts;
                formulas.extend(facts.iter().map(|f| self.rename_formula(f, thread, shared)));
            }
            next += 1;
        }
        solver::contradict(&formulas, &|symbol| self.is_natural(symbol), &self.fuel)
    }
}
