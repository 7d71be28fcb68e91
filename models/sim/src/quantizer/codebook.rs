//! Clusters of weights that share their centroid, as in Deep Compression (Han et al. 2016).

use super::levels::{nearest, nearest_of_sorted};
use crate::integer::index_bits;

/// Centroids, and which of them each weight shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Codebook {
    /// The shared values.
    pub centroids: Vec<f64>,
    /// For each weight the place of its centroid.
    pub indices: Vec<usize>,
}

impl Codebook {
    /// As many centroids as asked for, at least one, evenly from the least weight to the greatest:
    /// c_i = min + (max - min)*i/(k-1); one lies in the middle.
    pub fn spread(weights: &[f64], clusters: usize) -> Vec<f64> {
        let finite = || weights.iter().copied().filter(|x| x.is_finite());
        let least = finite().fold(f64::INFINITY, f64::min);
        let most = finite().fold(f64::NEG_INFINITY, f64::max);
        if least > most {
            return vec![0.0; clusters.max(1)];
        }
        if clusters <= 1 {
            return vec![f64::midpoint(least, most)];
        }
        let place = |i: usize| least + (most - least) * i as f64 / (clusters - 1) as f64;
        (0..clusters).map(place).collect()
    }

    /// Lloyd's iterations from these centroids, until nothing moves or there were so many; then every weight takes its
    /// nearest centroid, the lower place on a tie. A centroid that no weight shares stays where it is.
    pub fn fit(weights: &[f64], centroids: Vec<f64>, iterations: usize) -> Self {
        let ascending = Ascending::new(weights);
        let mut centroids = centroids;
        for _ in 0..iterations {
            let sums = ascending.sums(weights, &centroids);
            let before = centroids.clone();
            for (centroid, (sum, count)) in centroids.iter_mut().zip(sums) {
                if count > 0 {
                    *centroid = sum / count as f64;
                }
            }
            if centroids == before {
                break;
            }
        }
        let indices = assign(weights, &centroids);
        Self { centroids, indices }
    }

    /// Bits that tell the centroids apart: ceil(log2 k).
    pub fn index_bits(&self) -> u32 {
        index_bits(self.centroids.len())
    }
}

/// Weights in order of size: a cluster of ascending centroids is a stretch of them.
struct Ascending(Vec<f64>);

impl Ascending {
    fn new(weights: &[f64]) -> Self {
        let mut sorted: Vec<f64> = weights.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        Self(sorted)
    }

    /// Sum and number of the weights of each cluster.
    fn sums(&self, weights: &[f64], centroids: &[f64]) -> Vec<(f64, usize)> {
        if !centroids.is_sorted() {
            let mut sums = vec![(0.0, 0); centroids.len()];
            for weight in weights.iter().filter(|x| x.is_finite()) {
                let (sum, count) = &mut sums[nearest(*weight, centroids)];
                *sum += weight;
                *count += 1;
            }
            return sums;
        }
        let mut begin = 0;
        let stretch = |at: usize| {
            let rest = &self.0[begin..];
            let own = rest.partition_point(|weight| nearest_of_sorted(*weight, centroids) <= at);
            begin += own;
            (rest[..own].iter().sum(), own)
        };
        (0..centroids.len()).map(stretch).collect()
    }
}

/// The nearest centroid of each weight, the lower place on a tie.
fn assign(weights: &[f64], centroids: &[f64]) -> Vec<usize> {
    let of = if centroids.is_sorted() { nearest_of_sorted } else { nearest };
    weights.iter().map(|weight| of(*weight, centroids)).collect()
}

/// The slope of each centroid: the sum of those of its weights.
pub fn cluster_sums(gradients: &[f64], indices: &[usize], clusters: usize) -> Vec<f64> {
    let mut sums = vec![0.0; clusters];
    for (gradient, index) in gradients.iter().zip(indices) {
        if let Some(sum) = sums.get_mut(*index) {
            *sum += gradient;
        }
    }
    sums
}
