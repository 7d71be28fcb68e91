//! The Pareto front of accuracy and latency, the area that it dominates, and the correlation of ranks.

use std::cmp::Ordering;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tradeoff {
    pub(super) latency: f64,
    pub(super) accuracy: f64,
}

impl Tradeoff {
    /// Whether it is at least as good in both, and better in one.
    pub(super) fn dominates(&self, other: &Self) -> bool {
        let (faster, righter) = (self.latency <= other.latency, self.accuracy >= other.accuracy);
        faster && righter && self != other
    }
}

pub(super) fn beaten_by(places: &[Tradeoff]) -> Vec<usize> {
    let count = |one: &Tradeoff| places.iter().filter(|other| other.dominates(one)).count();
    places.iter().map(count).collect()
}

/// Checks a Pareto front by all pairs: no candidate dominates a member, and each non-member is dominated.
pub(super) fn is_valid(places: &[Tradeoff], front: &[usize]) -> bool {
    let mut beaten = beaten_by(places).into_iter().enumerate();
    beaten.all(|(index, beaten)| front.contains(&index) == (beaten == 0))
}

/// The area that the front dominates, in decades of latency times accuracy: left of `slowest`, above no accuracy at all.
///
/// What is behind the front adds nothing, so that all places may be given.
pub(super) fn hypervolume(places: &[Tradeoff], slowest: f64) -> f64 {
    let mut places: Vec<&Tradeoff> = places.iter().filter(|x| x.latency < slowest).collect();
    places.sort_by(|a, b| a.latency.total_cmp(&b.latency));
    let mut reached = 0.0_f64;
    let mut area = 0.0;
    for place in places {
        let gained = (place.accuracy - reached).max(0.0);
        area += gained * (slowest / place.latency).log10();
        reached += gained;
    }
    area
}

/// Spearman's rank correlation; nothing of fewer than two, or where all of one side are equal.
pub(super) fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let x = ranks(pairs.iter().map(|pair| pair.0));
    let y = ranks(pairs.iter().map(|pair| pair.1));
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        let terms = a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean));
        terms.sum()
    };
    let scale = (product(&x, &x) * product(&y, &y)).sqrt();
    (scale > 0.0).then(|| product(&x, &y) / scale)
}

/// The rank of each value, from 1; equal ones share the mean of theirs.
fn ranks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let rank = |one: &f64| {
        let of = |wanted: Ordering| {
            values.iter().filter(|other| other.total_cmp(one) == wanted).count() as f64
        };
        of(Ordering::Less) + (of(Ordering::Equal) + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_nn::random::Stream;

    fn places(points: &[(f64, f64)]) -> Vec<Tradeoff> {
        let place = |&(latency, accuracy): &(f64, f64)| Tradeoff { latency, accuracy };
        points.iter().map(place).collect()
    }

    #[test]
    fn equals_do_not_beat_one_another() {
        let all = places(&[(1.0, 0.5), (1.0, 0.5), (1.0, 0.4), (2.0, 0.5), (0.5, 0.1)]);
        assert_eq!(beaten_by(&all), [0, 0, 2, 2, 0]);
        assert!(is_valid(&all, &[0, 1, 4]));
        assert!(!is_valid(&all, &[0, 4]));
        assert!(!is_valid(&all, &[0, 1, 3, 4]));
    }

    #[test]
    fn the_area_is_the_sum_of_its_steps() {
        let all = places(&[(0.01, 0.4), (0.1, 0.9), (0.2, 0.8)]);
        let area = hypervolume(&all, 1.0);
        assert!((area - (2.0 * 0.4 + 1.0 * 0.5)).abs() < 1e-12);
        // What is slower than the slowest adds nothing.
        assert_eq!(hypervolume(&all, 0.01), 0.0);
        assert_eq!(hypervolume(&[], 1.0), 0.0);
    }

    #[test]
    fn another_candidate_never_makes_the_area_smaller() {
        let mut stream = Stream::new(5, "test");
        for _ in 0..50 {
            let mut all = Vec::new();
            let mut before = 0.0;
            for _ in 0..12 {
                all.push(Tradeoff {
                    latency: 10_f64.powf(stream.uniform_in(-6.0, -2.0)),
                    accuracy: (10.0 * stream.uniform()).round() / 10.0,
                });
                let beaten = beaten_by(&all);
                let front: Vec<usize> = (0..all.len()).filter(|i| beaten[*i] == 0).collect();
                assert!(is_valid(&all, &front));
                let area = hypervolume(&all, 1e-2);
                assert!(area >= before - 1e-12, "{area} after {before}");
                before = area;
            }
        }
    }

    #[test]
    fn ranks_correlate_whatever_the_spacing() {
        let of = |pairs: &[(f64, f64)]| rank_correlation(pairs);
        assert_eq!(of(&[(1.0, 10.0), (2.0, 100.0), (9.0, 101.0)]), Some(1.0));
        assert_eq!(of(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), Some(-1.0));
        // 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)
        let some = of(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0)]).unwrap();
        assert!((some - 0.8).abs() < 1e-12);
        assert_eq!(of(&[(1.0, 1.0)]), None);
        assert_eq!(of(&[(1.0, 1.0), (1.0, 2.0)]), None);
        assert_eq!(ranks([5.0, 1.0, 5.0].into_iter()), [2.5, 1.0, 2.5]);
    }
}
