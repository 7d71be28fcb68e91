//! Whether whole numbers can satisfy some formulas: only "no" is an answer that may be relied on.
//!
//! A product of symbols counts as a variable of its own, so that every atom is linear. Disjunctions are split, after the
//! alternatives that contradict the rest were dropped. A conjunction is refuted as the Omega test does it (Pugh,
//! "The Omega test", CACM 35(8), 1992): an equation whose coefficients have a divisor that its constant lacks has no
//! solution; others are solved for a variable, with a coefficient of one or by Pugh's symmetric remainder; inequalities
//! are tightened to whole numbers and projected by Fourier and Motzkin. Left out are the dark shadow and splinters, which
//! only find solutions: here a solution is a run of the interpreter.

use crate::proof::polynomial::{Formula, Polynomial, Symbol};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a projection beyond which a conjunction counts as satisfiable.
const MOST_ROWS: usize = 400;

/// Conjunctions that one question may be split into.
const MOST_CASES: u32 = 3000;

/// Coefficients of a conjunction that cost as much fuel as splitting a small one.
const FUEL_CELLS: usize = 4096;

/// Coefficients of the variables in the order of their columns, then the constant.
type Row = Vec<i64>;

#[derive(Clone, Default)]
struct System {
    columns: usize,
    /// Equations that are solved, each for a column in which it has one or minus one, in the order of solving.
    solved: Vec<(usize, Row)>,
    equal: Vec<Row>,
    at_least: Vec<Row>,
}

/// Whether no whole numbers satisfy all formulas. Symbols in `natural` are known not to be negative.
pub(super) fn contradict(
    formulas: &[Formula],
    natural: &dyn Fn(Symbol) -> bool,
    fuel: &Cell<u32>,
) -> bool {
    let mut products: BTreeSet<Vec<Symbol>> = BTreeSet::new();
    let mut collect = |of: &Polynomial| {
        products.extend(of.terms().map(|(product, _)| product.to_vec()).filter(|p| !p.is_empty()));
    };
    formulas.iter().for_each(|formula| formula.each(&mut collect));
    let columns: BTreeMap<Vec<Symbol>, usize> = products.into_iter().zip(0..).collect();
    let mut system = System { columns: columns.len(), ..System::default() };
    for (product, at) in &columns {
        if product.len() > 1 && product.iter().all(|symbol| natural(*symbol)) {
            let mut row = vec![0; columns.len() + 1];
            row[*at] = 1;
            system.at_least.push(row);
        }
    }
    let mut solver = Solver { columns: &columns, cases: MOST_CASES, fuel };
    let Some(open) = solver.assume(&mut system, formulas.iter().collect()) else { return true };
    solver.refute(system, open)
}

struct Solver<'a> {
    columns: &'a BTreeMap<Vec<Symbol>, usize>,
    cases: u32,
    /// Cases of all questions together.
    fuel: &'a Cell<u32>,
}

impl Solver<'_> {
    /// Adds what holds to the system and gives the disjunctions; none if one of them has no alternatives.
    fn assume<'f>(
        &self,
        system: &mut System,
        mut formulas: Vec<&'f Formula>,
    ) -> Option<Vec<Vec<&'f Formula>>> {
        let mut open = Vec::new();
        while let Some(formula) = formulas.pop() {
            match formula {
                Formula::Either => {}
                Formula::NotNegative(of) => {
                    let row = self.row(of, system);
                    system.at_least.extend(row);
                }
                Formula::Zero(of) => {
                    let row = self.row(of, system);
                    system.equal.extend(row);
                }
                Formula::And(all) => formulas.extend(all),
                Formula::Or(any) => match any.as_slice() {
                    [] => return None,
                    [one] => formulas.push(one),
                    any if any.iter().any(|one| matches!(one, Formula::Either)) => {}
                    any => open.push(any.iter().collect()),
                },
            }
        }
        Some(open)
    }

    /// A polynomial in the columns that are not solved for; none if it leaves 64 bits, so that less is known.
    fn row(&self, of: &Polynomial, system: &System) -> Option<Row> {
        let mut row = vec![0; system.columns + 1];
        for (product, coefficient) in of.terms() {
            small(coefficient)?;
            row[self.columns.get(product).copied().unwrap_or(system.columns)] = coefficient;
        }
        let solved = &system.solved;
        solved.iter().all(|(at, by)| substitute(&mut row, *at, by)).then_some(row)
    }

    fn spend(&self, fuel: usize) {
        self.fuel.set(self.fuel.get().saturating_sub(fuel as u32));
    }

    fn refute(&mut self, mut system: System, mut open: Vec<Vec<&Formula>>) -> bool {
        if self.cases == 0 || self.fuel.get() == 0 {
            return false;
        }
        self.cases -= 1;
        self.spend(1 + system.cells() / FUEL_CELLS);
        if !system.simplify() || system.clone().refuted() {
            return true;
        }
        // Alternatives that contradict what is known are dropped, until no more can be.
        let mut again = true;
        while again {
            again = false;
            for at in (0..open.len()).rev() {
                open[at].retain(|one| {
                    if self.fuel.get() == 0 {
                        return true;
                    }
                    self.spend(system.cells() / FUEL_CELLS);
                    let mut with = system.clone();
                    self.assume(&mut with, vec![one])
                        .is_some_and(|_| with.simplify() && !with.refuted())
                });
                match open[at].as_slice() {
                    [] => return true,
                    [one] => {
                        let one = *one;
                        open.swap_remove(at);
                        let Some(more) = self.assume(&mut system, vec![one]) else { return true };
                        if !system.simplify() {
                            return true;
                        }
                        open.extend(more);
                        again = true;
                    }
                    [..] => {}
                }
            }
        }
        let Some(at) = (0..open.len()).min_by_key(|at| open[*at].len()) else {
            return system.refuted();
        };
        let alternatives = open.swap_remove(at);
        alternatives.into_iter().all(|one| {
            let mut system = system.clone();
            let Some(more) = self.assume(&mut system, vec![one]) else { return true };
            self.refute(system, open.iter().cloned().chain(more).collect())
        })
    }
}

/// A number that may be doubled and added; rows with others are given up.
fn small(number: i64) -> Option<i64> {
    (number.unsigned_abs() < 1 << 60).then_some(number)
}

fn divisor(row: &[i64]) -> i64 {
    row.iter().fold(0, |all, by| {
        let (mut a, mut b) = (all, by.abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    })
}

/// Takes a variable out of a row by an equation that has it once; false if a number leaves 64 bits.
fn substitute(row: &mut Row, at: usize, equation: &[i64]) -> bool {
    let by = row[at] * equation[at];
    by == 0
        || row.iter_mut().zip(equation).all(|(to, from)| {
            let difference = from.checked_mul(by).and_then(|product| to.checked_sub(product));
            difference.and_then(small).is_some_and(|difference| {
                *to = difference;
                true
            })
        })
}

impl System {
    fn cells(&self) -> usize {
        (self.solved.len() + self.equal.len() + self.at_least.len()) * (self.columns + 1)
    }

    /// Solves the equations; false if they, or two bounds of one sum, contradict each other.
    fn simplify(&mut self) -> bool {
        while let Some(mut row) = self.equal.pop() {
            let columns = self.columns;
            let common = divisor(&row[..columns]);
            if common == 0 {
                if row[columns] != 0 {
                    return false;
                }
                continue;
            }
            if row[columns] % common != 0 {
                return false;
            }
            row.iter_mut().for_each(|by| *by /= common);
            let smallest = (0..columns).filter(|at| row[*at] != 0).min_by_key(|at| row[*at].abs());
            let Some(at) = smallest else { continue };
            if row[at].abs() > 1 {
                // Pugh's remainder: sum of (a mod m) x = m * s with a new s, in which x has a coefficient of one.
                let m = row[at].abs() + 1;
                let symmetric = |a: i64| a - m * (2 * a + m).div_euclid(2 * m);
                let mut new: Row = row[..columns].iter().map(|a| symmetric(*a)).collect();
                new.extend([-m, symmetric(row[columns])]);
                self.columns += 1;
                let widen = |row: &mut Row| row.insert(columns, 0);
                self.equal.iter_mut().chain(&mut self.at_least).for_each(widen);
                self.solved.iter_mut().for_each(|(_, row)| widen(row));
                widen(&mut row);
                self.equal.extend([row, new]);
                continue;
            }
            self.equal.retain_mut(|other| substitute(other, at, &row));
            self.at_least.retain_mut(|other| substitute(other, at, &row));
            self.solved.push((at, row));
        }
        true
    }

    /// Projects all variables away; true if what is left cannot hold.
    fn refuted(mut self) -> bool {
        loop {
            if !self.tighten() {
                return true;
            }
            let count = |at: usize| {
                let signs = self.at_least.iter().map(|row| row[at].signum());
                let (up, down) = signs.fold((0, 0), |(up, down), sign| match sign {
                    1 => (up + 1, down),
                    -1 => (up, down + 1),
                    _ => (up, down),
                });
                (up + down > 0).then_some((up * down, at))
            };
            let Some((rows, at)) = (0..self.columns).filter_map(count).min() else { return false };
            if self.at_least.len() + rows > MOST_ROWS {
                return false;
            }
            let (with, rest): (Vec<Row>, Vec<Row>) =
                self.at_least.into_iter().partition(|row| row[at] != 0);
            self.at_least = rest;
            let (up, down): (Vec<&Row>, Vec<&Row>) = with.iter().partition(|row| row[at] > 0);
            for one in &up {
                for other in &down {
                    let (by, of) = (-other[at], one[at]);
                    let sum: Option<Row> = one
                        .iter()
                        .zip(*other)
                        .map(|(a, b)| {
                            a.checked_mul(by)?.checked_add(b.checked_mul(of)?).and_then(small)
                        })
                        .collect();
                    // A sum that leaves 64 bits is left out: less is known then.
                    self.at_least.extend(sum);
                }
            }
        }
    }

    /// Divides each row by its divisor and keeps the strongest of equal sums; false if one cannot hold.
    fn tighten(&mut self) -> bool {
        let mut possible = true;
        self.at_least.retain_mut(|row| {
            let columns = row.len() - 1;
            let common = divisor(&row[..columns]);
            if common == 0 {
                possible &= row[columns] >= 0;
                return false;
            }
            if common > 1 {
                row[..columns].iter_mut().for_each(|by| *by /= common);
                row[columns] = row[columns].div_euclid(common);
            }
            true
        });
        if !possible {
            return false;
        }
        // Of rows with equal coefficients the one with the least constant comes first.
        self.at_least.sort_unstable();
        self.at_least.dedup_by(|later, first| later[..later.len() - 1] == first[..first.len() - 1]);
        let rows = &self.at_least;
        for row in rows {
            let columns = row.len() - 1;
            let opposite = |other: &Row| {
                let of = other[..columns].iter();
                of.copied().cmp(row[..columns].iter().map(|by| -by))
            };
            if let Ok(at) = rows.binary_search_by(opposite)
                && rows[at][columns] + row[columns] < 0
            {
                return false;
            }
        }
        true
    }
}
