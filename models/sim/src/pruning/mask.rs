//! Masks: for each weight whether it stays, by a score that says how much it matters.
//!
//! Scores are sizes for pruning by magnitude, and numbers drawn at random for the control. All that is compared are
//! scores, so that a weight with the score minus infinity, such as one that was removed before, goes first.

use std::cmp::Ordering;

/// How many of `count` are removed: `round(sparsity * count)`, halves away from zero, at most `count`.
pub fn removed(sparsity: f64, count: usize) -> usize {
    // What is no number or below 0 is cast to 0.
    ((sparsity * count as f64).round() as usize).min(count)
}

/// Which of the scores are the `keep` largest; of equal ones the earlier.
pub fn largest(scores: &[f64], keep: usize) -> Vec<bool> {
    let mut kept = vec![keep >= scores.len(); scores.len()];
    if keep == 0 || keep >= scores.len() {
        return kept;
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    // With the place as the last word no two are equal, so that the choice does not depend on the algorithm.
    let (first, last, _) = order
        .select_nth_unstable_by(keep - 1, |a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    kept[*last] = true;
    first.iter().for_each(|at| kept[*at] = true);
    kept
}

/// Scores that are chosen from again and again: sorted once, so that each choice looks at each score once.
pub struct Ranked {
    scores: Vec<f64>,
    sorted: Vec<f64>,
}

impl Ranked {
    pub fn new(scores: Vec<f64>) -> Self {
        let mut sorted = scores.clone();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        Self { scores, sorted }
    }

    /// What [`largest`] chooses of them.
    pub fn largest(&self, keep: usize) -> Vec<bool> {
        let Some(least) = keep.checked_sub(1).and_then(|last| self.sorted.get(last)) else {
            return vec![keep > 0; self.scores.len()];
        };
        let above = self.sorted.partition_point(|score| score.total_cmp(least).is_gt());
        let mut equal = keep - above;
        let stays = |score: &f64| match score.total_cmp(least) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => {
                let stays = equal > 0;
                equal = equal.saturating_sub(1);
                stays
            }
        };
        self.scores.iter().map(stays).collect()
    }

    /// What is left of them if a share is removed.
    pub fn without(&self, sparsity: f64) -> Vec<bool> {
        let count = self.scores.len();
        self.largest(count - removed(sparsity, count))
    }
}

/// Of every `group` scores in a row the `keep` largest; a last group that is not full is as if zeros filled it up.
pub fn groups(scores: &[f64], keep: usize, group: usize) -> Vec<bool> {
    let groups = scores.chunks(group.max(1));
    groups.flat_map(|group| largest(group, keep)).collect()
}

/// The same along the inputs of a layer with scores `[inputs, outputs]`, row-major: of every `group` inputs of one
/// output `keep` stay, which is how a matrix unit reads them.
pub fn groups_of_inputs(scores: &[f64], outputs: usize, keep: usize, group: usize) -> Vec<bool> {
    let outputs = outputs.max(1);
    let mut kept = vec![false; scores.len()];
    for output in 0..outputs.min(scores.len()) {
        let column: Vec<f64> = scores[output..].iter().step_by(outputs).copied().collect();
        for (input, stays) in groups(&column, keep, group).into_iter().enumerate() {
            kept[input * outputs + output] = stays;
        }
    }
    kept
}

/// One threshold for all layers: what goes is the share `sparsity` of all weights, wherever they are.
pub fn global(layers: &[Vec<f64>], sparsity: f64) -> Vec<Vec<bool>> {
    let all: usize = layers.iter().map(Vec::len).sum();
    largest_of_all(layers, all - removed(sparsity, all))
}

/// The `count` largest, in whichever layers they are.
pub fn largest_of_all(layers: &[Vec<f64>], count: usize) -> Vec<Vec<bool>> {
    let kept = largest(&layers.concat(), count);
    let mut rest = kept.as_slice();
    let mut of_layers = Vec::with_capacity(layers.len());
    for layer in layers {
        let (own, after) = rest.split_at(layer.len());
        of_layers.push(own.to_vec());
        rest = after;
    }
    of_layers
}

/// A threshold for each layer: what goes is the share `sparsity` of every one.
pub fn by_layer(layers: &[Vec<f64>], sparsity: f64) -> Vec<Vec<bool>> {
    let of = |scores: &Vec<f64>| largest(scores, scores.len() - removed(sparsity, scores.len()));
    layers.iter().map(of).collect()
}

/// The smallest score that stays: the threshold. None if nothing does.
pub fn threshold(scores: &[f64], kept: &[bool]) -> Option<f64> {
    let kept = scores.iter().zip(kept).filter(|(_, kept)| **kept);
    kept.map(|(score, _)| *score).min_by(f64::total_cmp)
}

pub fn count(kept: &[bool]) -> usize {
    kept.iter().filter(|kept| **kept).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::random;

    /// Scores with many equal ones among them.
    fn scores(seed: u64, len: usize) -> Vec<f64> {
        let score = |at| (random::unit(seed, at as u64) * 50.0).floor() / 10.0;
        (0..len).map(score).collect()
    }

    #[test]
    fn smallest_scores_are_removed_exactly() {
        for seed in 0..60 {
            let sizes = [1 + random::bits(seed, 1) % 97, random::bits(seed, 2) % 31];
            let layers: Vec<Vec<f64>> =
                sizes.iter().map(|size| scores(seed ^ size, *size as usize)).collect();
            let all = layers.concat();
            let sparsity = match seed {
                0 => 0.0,
                1 => 1.0,
                _ => random::unit(seed, 3),
            };
            let gone = (sparsity * all.len() as f64).round() as usize;
            let global = global(&layers, sparsity);
            let kept = global.concat();
            assert_eq!(kept.len() - count(&kept), gone, "{sparsity} of {}", all.len());
            let shapes = global.iter().zip(&layers);
            assert!(shapes.into_iter().all(|(mask, layer)| mask.len() == layer.len()));
            for (a, b) in all
                .iter()
                .zip(&kept)
                .flat_map(|one| all.iter().zip(&kept).map(move |other| (one, other)))
            {
                assert!(!*a.1 || *b.1 || a.0 >= b.0);
            }
            for (mask, layer) in by_layer(&layers, sparsity).iter().zip(&layers) {
                let gone = (sparsity * layer.len() as f64).round() as usize;
                assert_eq!(mask.len() - count(mask), gone);
            }
        }
    }

    #[test]
    fn of_equal_scores_the_earlier_stay_as_in_a_stable_sort() {
        for seed in 0..40 {
            let scores = scores(seed, (random::bits(seed, 9) % 70) as usize);
            let keep = (random::bits(seed, 8) % 80) as usize;
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
            let mut wanted = vec![false; scores.len()];
            order.into_iter().take(keep).for_each(|at| wanted[at] = true);
            assert_eq!(largest(&scores, keep), wanted);
            assert_eq!(Ranked::new(scores).largest(keep), wanted);
        }
    }

    #[test]
    fn groups_keep_n_of_m() {
        for seed in 0..40 {
            let [inputs, outputs] = [1, 2].map(|at| 1 + (random::bits(seed, at) % 23) as usize);
            let group = 1 + (random::bits(seed, 3) % 8) as usize;
            let keep = (random::bits(seed, 4) % (group as u64 + 1)) as usize;
            let scores = scores(seed, inputs * outputs);
            let kept = groups_of_inputs(&scores, outputs, keep, group);
            for output in 0..outputs {
                let column: Vec<bool> = (0..inputs).map(|at| kept[at * outputs + output]).collect();
                for group in column.chunks(group) {
                    assert_eq!(count(group), keep.min(group.len()));
                }
            }
        }
    }

    #[test]
    fn what_went_before_goes_again() {
        let mut scores = vec![0.3, f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY];
        assert_eq!(largest(&scores, 2), [true, false, true, false]);
        scores[0] = f64::NAN;
        assert_eq!(largest(&scores, 1), [true, false, false, false]);
        assert_eq!(threshold(&[3.0, 1.0, 2.0], &[true, false, true]), Some(2.0));
        assert_eq!(threshold(&[3.0], &[false]), None);
    }
}
