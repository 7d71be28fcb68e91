//! Which candidate is tried next.

use std::cmp::Reverse;

use super::front::{self, Place};
use super::space::Candidate;
use mlsys_nn::random::Stream;

/// How candidates are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// Any that has not been tried.
    Random,
    /// A parent with one choice changed.
    Evolution,
    /// All, one after the other.
    Exhaustive,
}

/// The names of `method`.
pub(super) const METHODS: [(&str, Method); 3] = [
    ("random", Method::Random),
    ("evolution", Method::Evolution),
    ("exhaustive", Method::Exhaustive),
];

/// Mutations that are drawn before a candidate is taken at random: near the end all neighbours of the parents are known.
const MUTATIONS: usize = 32;

/// Proposes each candidate at most once.
pub(super) struct Proposals {
    method: Method,
    /// Parents of which one is changed.
    population: usize,
    /// Those not tried, in the order in which they are tried unless there is a better one.
    left: Vec<Candidate>,
    stream: Stream,
}

/// What is known of a candidate that has been tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) candidate: Candidate,
    pub(super) place: Place,
    pub(super) budget: Budget,
}

/// Whether a candidate meets the budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Budget {
    Within,
    Over,
}

impl Proposals {
    pub(super) fn new(method: Method, population: usize, seed: u64) -> Self {
        let mut left = Candidate::all();
        match method {
            Method::Random | Method::Evolution => {
                Stream::new(seed, "search/order").shuffle(&mut left);
            }
            Method::Exhaustive => {}
        }
        Self { method, population, left, stream: Stream::new(seed, "search/mutations") }
    }

    /// The next candidate; none if all have been tried.
    pub(super) fn next(&mut self, known: &[Known]) -> Option<Candidate> {
        let bred = match self.method {
            Method::Evolution if known.len() >= self.population => self.bred(known),
            Method::Random | Method::Evolution | Method::Exhaustive => None,
        };
        let chosen = bred.or_else(|| self.left.first().copied())?;
        self.left.retain(|candidate| *candidate != chosen);
        Some(chosen)
    }

    /// A parent with one choice changed that has not been tried.
    fn bred(&mut self, known: &[Known]) -> Option<Candidate> {
        let parents = parents(known, self.population);
        (0..MUTATIONS).find_map(|_| {
            let parent = parents.get(self.stream.below(parents.len().max(1)))?;
            let child = parent.mutated(&mut self.stream);
            self.left.contains(&child).then_some(child)
        })
    }
}

/// The best: within the budgets before over, then those that the fewest beat, then by accuracy, then the earlier ones.
fn parents(known: &[Known], count: usize) -> Vec<Candidate> {
    let places: Vec<Place> = known.iter().map(|known| known.place).collect();
    let beaten = front::beaten_by(&places);
    let mut order: Vec<(usize, &Known)> = known.iter().enumerate().collect();
    order.sort_by(|(i, a), (j, b)| {
        let rank = |index: usize, known: &Known| (known.budget, beaten.get(index).copied());
        let accuracy = |known: &Known| Reverse(known.place.accuracy.to_bits());
        rank(*i, a).cmp(&rank(*j, b)).then_with(|| accuracy(a).cmp(&accuracy(b)))
    });
    let best = order.into_iter().take(count);
    best.map(|(_, known)| known.candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a search would go if accuracy grew with the parameters and latency with the operations.
    fn search(method: Method, seed: u64, count: usize) -> Vec<Known> {
        let mut proposals = Proposals::new(method, 4, seed);
        let mut known: Vec<Known> = Vec::new();
        while known.len() < count {
            let Some(candidate) = proposals.next(&known) else {
                break;
            };
            let architecture = candidate.architecture();
            known.push(Known {
                candidate,
                place: Place {
                    latency: architecture.forward_flops(1) as f64 * 1e-9,
                    accuracy: 1.0 - 500.0 / architecture.parameters() as f64,
                },
                budget: Budget::Within,
            });
        }
        known
    }

    fn names(known: &[Known]) -> Vec<String> {
        known.iter().map(|known| known.candidate.name()).collect()
    }

    #[test]
    fn every_method_tries_all_once_and_ends() {
        for (name, method) in METHODS {
            let mut tried = names(&search(method, 3, 100));
            assert_eq!(tried.len(), 72, "{name}");
            tried.sort();
            tried.dedup();
            assert_eq!(tried.len(), 72, "{name}");
        }
    }

    #[test]
    fn the_seed_decides_the_order_and_what_was_tried_does_not_change_it() {
        for method in [Method::Random, Method::Evolution] {
            let first = names(&search(method, 7, 20));
            assert_eq!(first, names(&search(method, 7, 72))[..20]);
            assert_ne!(first, names(&search(method, 8, 20)));
        }
        // Both begin alike, so that what follows can be compared.
        let random = names(&search(Method::Random, 7, 8));
        let evolved = names(&search(Method::Evolution, 7, 8));
        assert_eq!(random[..4], evolved[..4]);
        assert_ne!(random[4..], evolved[4..]);
    }

    #[test]
    fn parents_are_within_the_budgets_and_beaten_by_few() {
        let all = Candidate::all();
        let known = |index: usize, latency: f64, accuracy: f64, budget| Known {
            candidate: all[index],
            place: Place { latency, accuracy },
            budget,
        };
        let some = [
            known(0, 1.0, 0.9, Budget::Over),
            known(1, 3.0, 0.5, Budget::Within),
            known(2, 2.0, 0.6, Budget::Within),
            known(3, 1.0, 0.4, Budget::Within),
        ];
        assert_eq!(parents(&some, 3), [all[2], all[3], all[1]]);
        assert_eq!(parents(&some, 9).len(), 4);
    }
}
