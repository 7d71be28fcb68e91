//! The levels that values of a group may take, even or listed, and clusters of weights that share their centroid, as in
//! Deep Compression (Han et al. 2016).

use crate::integer::index_bits;
use crate::quantizer::Grid;
use mlsys_lab::tables::Tables;
use mlsys_lab::{LabError, Value};
use std::sync::{Arc, LazyLock};

#[derive(Clone, Debug, PartialEq)]
pub enum Levels {
    Even(Grid),
    Listed(Listed),
}

/// Levels from a list, each times a scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    scale: f64,
    places: Arc<[f64]>,
    /// Whether places ascend, so that the nearest can be found by halving.
    ascending: bool,
}

#[expect(clippy::expect_used, reason = "the built-in table is compiled in and read by a test")]
static NF4: LazyLock<Arc<[f64]>> =
    LazyLock::new(|| nf4_levels().expect("the table of codebooks has nf4").into());

/// The 16 levels of 4-bit NormalFloat, ascending.
///
/// # Errors
/// The table of codebooks has no such entry.
pub fn nf4_levels() -> Result<Vec<f64>, LabError> {
    let entry = Tables::builtin().field("codebook", "nf4", "levels");
    let read = match entry {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_f64).collect(),
        Some(_) | None => Vec::new(),
    };
    if read.len() == 16 {
        Ok(read)
    } else {
        Err(LabError::Data("the table of codebooks has no nf4 of 16 levels".to_owned()))
    }
}

impl Levels {
    /// What a value is stored as.
    pub fn code(&self, value: f32) -> i32 {
        match self {
            Self::Even(grid) => grid.code(value) as i32,
            Self::Listed(listed) => listed.code(f64::from(value)) as i32,
        }
    }

    pub fn value(&self, code: i32) -> f32 {
        match self {
            Self::Even(grid) => grid.value(i64::from(code)),
            Self::Listed(listed) => usize::try_from(code).map_or(0.0, |at| listed.value(at) as f32),
        }
    }

    /// What codes are multiplied by.
    pub fn scale(&self) -> f32 {
        match self {
            Self::Even(grid) => grid.scale,
            Self::Listed(listed) => listed.scale as f32,
        }
    }

    pub fn all(&self) -> Vec<f32> {
        match self {
            Self::Even(grid) => (grid.low..=grid.high).map(|code| grid.value(code)).collect(),
            Self::Listed(listed) => {
                let places = 0..listed.places.len();
                let mut all: Vec<f32> = places.map(|at| listed.value(at) as f32).collect();
                all.sort_by(f32::total_cmp);
                all
            }
        }
    }

    /// The distance of the two levels that a value lies between; of the last two for one that lies outside.
    pub fn step(&self, value: f32) -> f64 {
        match self {
            Self::Even(grid) => f64::from(grid.scale),
            Self::Listed(listed) => listed.step(f64::from(value)),
        }
    }

    /// Whether a value lies so far outside that its level is more than half a step away.
    pub fn clips(&self, value: f32) -> bool {
        match self {
            Self::Even(grid) => grid.clips(value),
            Self::Listed(listed) => {
                let level = f64::from(self.value(self.code(value)));
                let away = (f64::from(value) - level).abs();
                listed.outside(f64::from(value)) && away > listed.step(f64::from(value)) / 2.0
            }
        }
    }
}

impl Listed {
    /// NormalFloat for values up to `largest` in size. A block of zeros gets the level zero only.
    pub fn nf4(largest: f64) -> Self {
        Self { scale: largest, places: Arc::clone(&NF4), ascending: true }
    }

    pub fn codebook(values: Vec<f64>) -> Self {
        Self { scale: 1.0, ascending: values.is_sorted(), places: values.into() }
    }

    /// What values were divided by.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Where a value lies among the places; in a group of zeros at zero.
    fn place(&self, value: f64) -> f64 {
        if self.scale > 0.0 { value / self.scale } else { 0.0 }
    }

    /// The place of the nearest level, the lower place on a tie.
    pub fn code(&self, value: f64) -> usize {
        let place = self.place(value);
        if self.ascending {
            nearest_of_sorted(place, &self.places)
        } else {
            nearest(place, &self.places)
        }
    }

    /// The level at a place; 0 if there is none.
    pub fn value(&self, code: usize) -> f64 {
        self.scale * self.places.get(code).copied().unwrap_or(0.0)
    }

    /// As [`Levels::step`].
    fn step(&self, value: f64) -> f64 {
        let sorted;
        let places = if self.ascending {
            &self.places[..]
        } else {
            let mut copy = self.places.to_vec();
            copy.sort_by(f64::total_cmp);
            sorted = copy;
            &sorted
        };
        if places.len() < 2 {
            return 0.0;
        }
        let place = self.place(value);
        let above = places.partition_point(|level| *level < place);
        let above = above.clamp(1, places.len() - 1);
        self.scale * (places[above] - places[above - 1])
    }

    fn outside(&self, value: f64) -> bool {
        let place = self.place(value);
        let below = self.places.iter().all(|level| place < *level);
        below || self.places.iter().all(|level| place > *level)
    }
}

/// The place of the level nearest to a value, the lower place on a tie.
pub(super) fn nearest(value: f64, levels: &[f64]) -> usize {
    let mut best = 0;
    for (at, level) in levels.iter().enumerate() {
        if (level - value).abs() < (levels[best] - value).abs() {
            best = at;
        }
    }
    best
}

/// The same among levels that ascend, by halving.
pub(super) fn nearest_of_sorted(value: f64, levels: &[f64]) -> usize {
    let above = levels.partition_point(|level| *level < value);
    let distance = |at: usize| (levels[at] - value).abs();
    let mut best = match (above.checked_sub(1), above < levels.len()) {
        (Some(below), true) if distance(above) < distance(below) => above,
        (Some(below), _) => below,
        (None, _) => 0,
    };
    // Levels that rounding makes equally far, and levels that are equal.
    while best > 0 && distance(best - 1) <= distance(best) {
        best -= 1;
    }
    best
}

/// Centroids, and which of them each weight shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Codebook {
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

    /// Lloyd's iterations from these centroids, until convergence or `iterations`; then every weight takes its
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
