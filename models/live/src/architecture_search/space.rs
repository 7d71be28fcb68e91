//! The space that is searched: five choices.

use serde::Deserialize;
use std::cmp::Reverse;

use mlsys_nn::networks::{Architecture, FilterNetConfig, FilterShape, ReceptiveField};
use mlsys_nn::random::Stream;

use super::front::{Tradeoff, beaten_by};

const FIRST: [usize; 3] = [4, 8, 16];
const SECOND: [usize; 3] = [8, 16, 32];
const KERNELS: [usize; 2] = [3, 5];
const BLOCKS: [usize; 2] = [1, 2];
/// How many there are of each choice: first, second, kernel, separable or not, blocks.
const OPTIONS: [usize; 5] = [FIRST.len(), SECOND.len(), KERNELS.len(), 2, BLOCKS.len()];
pub(super) const SIZE: usize = 72;

const EDGE: usize = 28;
const CLASSES: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate([usize; 5]);

impl Candidate {
    pub(super) fn all() -> Vec<Self> {
        let of = |number: usize| {
            let mut rest = number;
            let mut choices = [0; 5];
            for (choice, options) in choices.iter_mut().zip(OPTIONS).rev() {
                *choice = rest % options;
                rest /= options;
            }
            Self(choices)
        };
        (0..SIZE).map(of).collect()
    }

    pub(super) fn largest() -> Self {
        Self([2, 2, 1, 0, 1])
    }

    pub(super) fn mutated(mut self, stream: &mut Stream) -> Self {
        let place = stream.below(OPTIONS.len());
        let options = OPTIONS[place];
        self.0[place] = (self.0[place] + 1 + stream.below(options - 1)) % options;
        self
    }

    pub(super) fn channels(self) -> [usize; 2] {
        [FIRST[self.0[0]], SECOND[self.0[1]]]
    }

    pub(super) fn kernel(self) -> usize {
        KERNELS[self.0[2]]
    }

    pub(super) fn is_separable(self) -> bool {
        self.0[3] == 1
    }

    pub(super) fn blocks(self) -> usize {
        BLOCKS[self.0[4]]
    }

    /// Its choices, such as `8-16 3x3 sep x2`: channels of both stages, windows, separable, blocks of a stage.
    pub(super) fn name(self) -> String {
        let ([first, second], k) = (self.channels(), self.kernel());
        let separable = if self.is_separable() { " sep" } else { "" };
        format!("{first}-{second} {k}x{k}{separable} x{}", self.blocks())
    }

    /// Its name, and what becomes of an image layer by layer: `4-8 3x3 x1 (28x28x1, 3x3: 14x14x4, ...)`.
    pub(super) fn opened(self) -> String {
        let config = self.config();
        let layers = config.edges().into_iter().map(|(shape, edge)| {
            let own = match shape.sight {
                ReceptiveField::All => "",
                ReceptiveField::Own => "depthwise ",
            };
            let ([k, _], edge) = (shape.window, shape.edge_out(edge));
            format!(", {own}{k}x{k}: {edge}x{edge}x{}", shape.channels_out)
        });
        let layers: String = layers.collect();
        format!("{} ({EDGE}x{EDGE}x1{layers}, all: {CLASSES} classes)", self.name())
    }

    /// The network's sizes: two stages, each of which halves the image in its first convolution.
    pub(super) fn config(self) -> FilterNetConfig {
        let k = self.kernel();
        let mut filters = Vec::new();
        let mut channels_in = 1;
        for channels_out in self.channels() {
            for block in 0..self.blocks() {
                let shape = FilterShape {
                    channels_in,
                    channels_out,
                    window: [k, k],
                    stride: if block == 0 { 2 } else { 1 },
                    sight: ReceptiveField::All,
                };
                // Of an image of one channel, a filter per channel would be a single one.
                if self.is_separable() && channels_in > 1 {
                    let own = ReceptiveField::Own;
                    filters.push(FilterShape { channels_out: channels_in, sight: own, ..shape });
                    filters.push(FilterShape { window: [1, 1], stride: 1, ..shape });
                } else {
                    filters.push(shape);
                }
                channels_in = channels_out;
            }
        }
        FilterNetConfig { edge: EDGE, filters, outputs: CLASSES }
    }

    pub(super) fn architecture(self) -> Architecture {
        Architecture::Filters(self.config())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    Random,
    Evolution,
    Exhaustive,
}

/// Mutations that are drawn before a candidate is taken at random: near the end all neighbours of the parents are known.
const MUTATIONS: usize = 32;

pub(super) struct Proposals {
    method: Method,
    /// Parents of which one is changed.
    population: usize,
    /// Those not tried, in the order in which they are tried unless there is a better one.
    left: Vec<Candidate>,
    stream: Stream,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    pub(super) candidate: Candidate,
    pub(super) place: Tradeoff,
    pub(super) is_over_budget: bool,
}

impl Proposals {
    pub(super) fn new(method: Method, population: usize, seed: u64) -> Self {
        let mut left = Candidate::all();
        if method != Method::Exhaustive {
            Stream::new(seed, "search/order").shuffle(&mut left);
        }
        Self { method, population, left, stream: Stream::new(seed, "search/mutations") }
    }

    pub(super) fn next(&mut self, known: &[Scored]) -> Option<Candidate> {
        let breeds = self.method == Method::Evolution && known.len() >= self.population;
        let bred = if breeds { self.bred(known) } else { None };
        let chosen = bred.or_else(|| self.left.first().copied())?;
        self.left.retain(|candidate| *candidate != chosen);
        Some(chosen)
    }

    fn bred(&mut self, known: &[Scored]) -> Option<Candidate> {
        let parents = parents(known, self.population);
        (0..MUTATIONS).find_map(|_| {
            let parent = parents.get(self.stream.below(parents.len().max(1)))?;
            let child = parent.mutated(&mut self.stream);
            self.left.contains(&child).then_some(child)
        })
    }
}

/// The best: within the budgets before over, then those that the fewest beat, then by accuracy, then the earlier ones.
fn parents(known: &[Scored], count: usize) -> Vec<Candidate> {
    let places: Vec<Tradeoff> = known.iter().map(|known| known.place).collect();
    let beaten = beaten_by(&places);
    let mut order: Vec<(usize, &Scored)> = known.iter().enumerate().collect();
    order.sort_by(|(i, a), (j, b)| {
        let rank =
            |index: usize, known: &Scored| (known.is_over_budget, beaten.get(index).copied());
        let accuracy = |known: &Scored| Reverse(known.place.accuracy.to_bits());
        rank(*i, a).cmp(&rank(*j, b)).then_with(|| accuracy(a).cmp(&accuracy(b)))
    });
    order.into_iter().take(count).map(|(_, known)| known.candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_72_networks_and_no_two_are_alike() {
        let all = Candidate::all();
        assert_eq!(all.len(), SIZE);
        assert_eq!(OPTIONS.iter().product::<usize>(), SIZE);
        for (place, one) in all.iter().enumerate() {
            for other in &all[..place] {
                assert_ne!(one.config(), other.config());
                assert_ne!(one.name(), other.name());
            }
        }
        let largest = Candidate::largest().architecture();
        for one in all {
            assert!(one.architecture().parameters() <= largest.parameters());
            assert!(one.architecture().forward_flops(1) <= largest.forward_flops(1));
        }
    }

    #[test]
    fn a_mutation_changes_one_choice() {
        let mut stream = Stream::new(1, "test");
        let one = Candidate([1, 1, 0, 0, 0]);
        let mut reached = Vec::new();
        for _ in 0..200 {
            let other = one.mutated(&mut stream);
            let changed = one.0.iter().zip(other.0).filter(|(a, b)| **a != *b);
            assert_eq!(changed.count(), 1);
            assert!(Candidate::all().contains(&other));
            if !reached.contains(&other) {
                reached.push(other);
            }
        }
        assert_eq!(reached.len(), 7);
    }

    #[test]
    fn separable_networks_begin_with_whole_filters() {
        let separable = Candidate([0, 0, 0, 1, 1]).config();
        let windows: Vec<(usize, ReceptiveField)> =
            separable.filters.iter().map(|shape| (shape.window[0], shape.sight)).collect();
        use ReceptiveField::All;
        use ReceptiveField::Own;
        let pair = [(3, Own), (1, All)];
        assert_eq!(windows, [&[(3, All)], &pair[..], &pair, &pair].concat());
        assert_eq!(separable.flat(), 8 * 7 * 7);
        assert_eq!(Candidate([0, 0, 0, 1, 1]).name(), "4-8 3x3 sep x2");
        assert_eq!(
            Candidate([0, 0, 0, 1, 0]).opened(),
            "4-8 3x3 sep x1 (28x28x1, 3x3: 14x14x4, depthwise 3x3: 7x7x4, 1x1: 7x7x8, all: 10 classes)"
        );
    }

    /// As a search would go if accuracy grew with the parameters and latency with the operations.
    fn search(method: Method, seed: u64, count: usize) -> Vec<Scored> {
        let mut proposals = Proposals::new(method, 4, seed);
        let mut known: Vec<Scored> = Vec::new();
        while let Some(candidate) = proposals.next(&known).filter(|_| known.len() < count) {
            let architecture = candidate.architecture();
            let latency = architecture.forward_flops(1) as f64 * 1e-9;
            let accuracy = 1.0 - 500.0 / architecture.parameters() as f64;
            let place = Tradeoff { latency, accuracy };
            known.push(Scored { candidate, place, is_over_budget: false });
        }
        known
    }

    fn names(known: &[Scored]) -> Vec<String> {
        known.iter().map(|known| known.candidate.name()).collect()
    }

    #[test]
    fn every_method_tries_all_once_and_ends() {
        for method in [Method::Random, Method::Evolution, Method::Exhaustive] {
            let mut tried = names(&search(method, 3, 100));
            let other = names(&search(method, 4, 100));
            assert_eq!(tried == other, method == Method::Exhaustive, "{method:?}");
            tried.sort();
            tried.dedup();
            assert_eq!(tried.len(), 72, "{method:?}");
        }
    }

    #[test]
    fn parents_are_within_the_budgets_and_beaten_by_few() {
        let all = Candidate::all();
        let known = |index: usize, latency: f64, accuracy: f64, is_over_budget| Scored {
            candidate: all[index],
            place: Tradeoff { latency, accuracy },
            is_over_budget,
        };
        let some = [
            known(0, 1.0, 0.9, true),
            known(1, 3.0, 0.5, false),
            known(2, 2.0, 0.6, false),
            known(3, 1.0, 0.4, false),
        ];
        assert_eq!(parents(&some, 3), [all[2], all[3], all[1]]);
        assert_eq!(parents(&some, 9).len(), 4);
    }
}
