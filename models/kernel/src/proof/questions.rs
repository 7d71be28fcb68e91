//! The questions of a proof: does an access stay in its array, do two accesses of two threads meet.

use crate::proof::model::Model;
use crate::proof::polynomial::{Formula, Polynomial, Symbol};
use crate::proof::state::{Array, Reason, Site, Touch};
use crate::proof::symbols::{Scope, Symbols, Thread};
use crate::typed_ast::Program;
use std::collections::BTreeSet;

/// Products that are compared in one question.
const MOST_COMPARED: usize = 5;

pub(super) struct Questions<'p> {
    pub(super) program: &'p Program,
    pub(super) model: &'p Model,
    pub(super) symbols: &'p Symbols,
}

impl Questions<'_> {
    /// Nothing if every access of every thread stays in its array and no two race; else the first that is not shown to.
    pub(super) fn open(&self, sites: &[Site]) -> Option<Reason> {
        let dynamic = |site: &&Site| match site.array {
            Array::Shared(index) => self.program.shared[index].bytes == 0,
            Array::Global(_) | Array::Local(..) | Array::Row(_) => false,
        };
        let arrays: BTreeSet<Array> = sites.iter().filter(dynamic).map(|site| site.array).collect();
        if arrays.len() > 1
            && let Some(site) = sites.iter().find(|site| dynamic(site))
        {
            let sentence = "two extern __shared__ arrays begin at the same byte".to_owned();
            return Some(Reason { place: site.place, sentence });
        }
        let outside = sites.iter().find_map(|site| self.outside(site));
        outside.or_else(|| {
            sites
                .iter()
                .enumerate()
                .find_map(|(at, one)| sites[at..].iter().find_map(|other| self.race(one, other)))
        })
    }

    fn outside(&self, site: &Site) -> Option<Reason> {
        let name = Model::array_name(self.program, site.array);
        let reason = |sentence: String| Some(Reason { place: site.place, sentence });
        let Some(length) = self.model.length(self.program, site.array) else {
            return reason(format!("how long {name} is was not said by a formula"));
        };
        let zero = Polynomial::default();
        let never = |wrong: Formula, bound: &Polynomial| {
            let mut all = site.path.clone();
            all.push(wrong);
            all.extend(self.compared(&site.index, bound));
            self.symbols.contradict(all, Scope::Thread)
        };
        if !self.symbols.is_plainly_natural(&site.index)
            && !never(Formula::less(&site.index, &zero), &zero)
        {
            return reason(format!("an index below 0 of {name} is not excluded"));
        }
        if !never(Formula::at_most(&length, &site.index), &length) {
            return reason(format!("an index past the end of {name} is not excluded"));
        }
        None
    }

    fn race(&self, one: &Site, other: &Site) -> Option<Reason> {
        let harmless = match (one.touch, other.touch) {
            (Touch::Read, Touch::Read) | (Touch::Atomic, Touch::Atomic) => true,
            (Touch::Write, _) | (_, Touch::Write) | (Touch::Read, _) | (_, Touch::Read) => false,
        };
        if one.array != other.array || harmless {
            return None;
        }
        let scopes: &[Scope] = match one.array {
            Array::Global(_) => &[Scope::Block, Scope::Launch],
            Array::Shared(_) => &[Scope::Block],
            Array::Local(..) | Array::Row(_) => &[],
        };
        let excluded = scopes.iter().all(|shared| self.never_meet(one, other, *shared));
        (!excluded).then(|| Reason {
            place: one.place,
            sentence: format!(
                "a race with line {}, column {} on {} is not excluded",
                other.place.line,
                other.place.column,
                Model::array_name(self.program, one.array)
            ),
        })
    }

    /// Whether two threads that share all of a scope never touch one element with no barrier between.
    fn never_meet(&self, one: &Site, other: &Site, shared: Scope) -> bool {
        let second = |of: &Polynomial| self.symbols.rename(of, Thread::Second, shared);
        let mut all = Vec::new();
        let ids = if shared == Scope::Block {
            let epochs = Formula::equal(&one.epoch, &second(&other.epoch));
            if epochs == Formula::FALSE {
                return true;
            }
            all.push(epochs);
            &self.model.thread
        } else {
            &self.model.block
        };
        let apart: Vec<Formula> =
            ids.iter().map(|id| Formula::different(id, &second(id))).collect();
        let index = second(&other.index);
        all.push(Formula::equal(&one.index, &index));
        all.push(Formula::Or(apart));
        all.extend(one.path.iter().cloned());
        let renamed = |f: &Formula| self.symbols.rename_formula(f, Thread::Second, shared);
        all.extend(other.path.iter().map(renamed));
        all.extend(self.compared(&one.index, &index));
        self.symbols.contradict(all, shared)
    }

    /// Of two sums with products by a size `s`, say `s * q` and `s * p`: either q < p, and then `s * q + s <= s * p`, or
    /// they are equal, or q > p. Linear reasoning about products needs no more to take rows and columns apart, or
    /// blocks and threads ("delinearization").
    fn compared(&self, left: &Polynomial, right: &Polynomial) -> Vec<Formula> {
        let mut found = Vec::new();
        let mut open = vec![(left.clone(), right.clone())];
        let mut seen = BTreeSet::new();
        while let Some((left, right)) = open.pop() {
            let long = |of: &Polynomial| -> Vec<Symbol> {
                let products = of.terms().map(|(product, _)| product).filter(|p| p.len() > 1);
                products.flatten().copied().collect()
            };
            let sizes: BTreeSet<Symbol> = [&left, &right].into_iter().flat_map(long).collect();
            let is_size =
                |s: &Symbol| self.symbols.scope(*s) == Scope::Launch && self.symbols.is_natural(*s);
            for size in sizes.into_iter().filter(is_size) {
                let (q, p) = (left.divide(size).0, right.divide(size).0);
                if q == p
                    || found.len() >= MOST_COMPARED
                    || !seen.insert((size, q.clone(), p.clone()))
                {
                    continue;
                }
                let by = Polynomial::symbol(size);
                let (more, less) = (q.minus(&p), p.minus(&q));
                let apart = |difference: &Polynomial| {
                    let beyond = difference.times(&by).minus(&by);
                    Formula::NotNegative(difference.plus_number(-1))
                        .and(Formula::NotNegative(beyond))
                };
                let same = Formula::Zero(more.clone()).and(Formula::Zero(more.times(&by)));
                found.push(Formula::Or(vec![same, apart(&more), apart(&less)]));
                open.push((q, p));
            }
        }
        found
    }
}
