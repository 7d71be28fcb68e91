//! How what each worker has becomes what all have: gradients as plain sums or compressed, weights, an optimizer's state.

use mlsys_distributed::collective::{carry_out, share};
use mlsys_distributed::transport::{CommError, Endpoint, Payload, Tag};
use mlsys_nn::flat_params;
use serde::Deserialize;

use super::params::{Answer, CompressionFields, Row, SAMPLED, Scheme, Zero};
use super::worker::{GRADIENT, Replica, STATE, WEIGHTS};

impl Replica {
    /// From its own gradient to the mean of all, as far as it holds that. Gives back a few numbers of what it gave in.
    pub(super) fn exchange(
        &mut self,
        gradient: &mut Vec<f32>,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<Vec<f32>, CommError> {
        let samples = if scheme.compression == Compression::None {
            let samples = samples(scheme, gradient);
            let plan = match self.zero {
                Zero::Nothing => &scheme.all_reduce,
                Zero::Optimizer | Zero::Gradients | Zero::Weights => &scheme.scatter,
            };
            carry_out(plan, endpoint, GRADIENT, gradient)?;
            samples
        } else {
            self.exchange_compressed(gradient, scheme, endpoint)?
        };
        let workers = self.workers as f32;
        gradient.iter_mut().for_each(|sum| *sum /= workers);
        match self.zero {
            Zero::Nothing | Zero::Optimizer => {}
            Zero::Gradients | Zero::Weights => {
                *gradient = gradient[scheme.gather.split().piece(self.rank)].to_vec();
            }
        }
        Ok(samples)
    }

    fn exchange_compressed(
        &mut self,
        gradient: &mut [f32],
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<Vec<f32>, CommError> {
        endpoint.doing("compressing its gradient");
        for (g, left) in gradient.iter_mut().zip(&self.left_out) {
            *g += left;
        }
        let packed = scheme.compression.pack(gradient);
        self.left_out = match scheme.error_feedback {
            false => Vec::new(),
            true => {
                let mut sent = vec![0.0; gradient.len()];
                packed.add_to(&mut sent);
                let pairs = gradient.iter().zip(sent);
                pairs.map(|(g, sent)| g - sent).collect()
            }
        };
        const WHAT: &str = "compressed gradient";
        let samples = packed.first(SAMPLED);
        let all = share(&scheme.share, endpoint, WHAT, packed)?;
        gradient.fill(0.0);
        // In the order of ranks, so that all get the same bits.
        for (from, packed) in all.iter().enumerate() {
            if !packed.add_to(gradient) {
                let what = format!("it does not stand for {} numbers", gradient.len());
                let tag = Tag { what: WHAT, index: from };
                return Err(CommError::Mismatch { from, tag, what });
            }
        }
        Ok(samples)
    }

    /// All workers' weights become the mean of all. Gives back a few of what they were.
    pub(super) fn average_weights(
        &mut self,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<Vec<f32>, CommError> {
        let Some(network) = self.network.take() else {
            return Ok(Vec::new());
        };
        let mut weights = flat_params::weights(&network)?;
        let samples = samples(scheme, &weights);
        self.average(&mut weights, WEIGHTS, scheme, endpoint)?;
        self.network = Some(flat_params::with_weights(network, &weights));
        Ok(samples)
    }

    /// Makes workers alike that went their own ways: weights and the optimizer's state become the mean of all. Gradients
    /// that still wait are each worker's own, of weights that no longer exist: they are dropped.
    pub(super) fn synchronize(
        &mut self,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<(), CommError> {
        endpoint.doing("becoming like the others");
        self.average_weights(scheme, endpoint)?;
        let mut optimizer = std::mem::take(&mut self.optimizer);
        for row in optimizer.state(scheme.all_reduce.elements()) {
            self.average(row, STATE, scheme, endpoint)?;
        }
        self.optimizer = optimizer;
        self.late.clear();
        Ok(())
    }

    /// A row becomes the mean of all workers' rows.
    fn average(
        &self,
        row: &mut [f32],
        what: &'static str,
        scheme: &Scheme,
        endpoint: &mut Endpoint,
    ) -> Result<(), CommError> {
        carry_out(&scheme.all_reduce, endpoint, what, row)?;
        let workers = self.workers as f32;
        row.iter_mut().for_each(|sum| *sum /= workers);
        Ok(())
    }
}

/// The first numbers of each chunk, gaps where there are fewer.
fn samples(scheme: &Scheme, gradient: &[f32]) -> Vec<f32> {
    let split = scheme.all_reduce.split();
    let chunk = |piece| {
        let chunk = &gradient[split.piece(piece)];
        (0..SAMPLED).map(|k| chunk.get(k).copied().unwrap_or(f32::NAN))
    };
    (0..split.pieces()).flat_map(chunk).collect()
}

// Gradient compression.

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(from = "CompressionFields")]
pub(super) enum Compression {
    /// Not at all.
    None,
    /// Every entry as a whole number of 127ths of the largest (quantisation to 8 bits).
    Int8,
    /// The sign of every entry, and their mean size (Seide et al. 2014; Karimireddy et al. 2019).
    Sign,
    /// The largest entries with their places (Stich et al. 2018).
    TopK {
        /// The share of entries.
        share: f64,
    },
}

impl Compression {
    pub(super) fn bytes(self, entries: usize) -> u64 {
        let bytes = match self {
            Self::None => 4 * entries,
            Self::Int8 => 4 + entries,
            Self::Sign => 4 + entries.div_ceil(8),
            Self::TopK { share } => 8 * kept(entries, share),
        };
        bytes as u64
    }

    pub(super) fn pack(self, gradient: &[f32]) -> Payload {
        match self {
            Self::None => Payload::Floats(gradient.to_vec()),
            Self::Int8 => int8(gradient),
            Self::Sign => signs(gradient),
            Self::TopK { share } => largest(gradient, kept(gradient.len(), share)),
        }
    }
}

/// Entries that a share comes to: at least one, if there is any.
fn kept(entries: usize, share: f64) -> usize {
    let kept = (share * entries as f64).round() as usize;
    kept.clamp(1.min(entries), entries)
}

fn int8(gradient: &[f32]) -> Payload {
    let largest = gradient.iter().fold(0.0, |most: f32, g| most.max(g.abs()));
    let step = largest / f32::from(i8::MAX);
    // A cast keeps within the limits, and takes what is no number for zero.
    let level = |g: &f32| {
        if step > 0.0 { (g / step).round() as i8 } else { 0 }
    };
    Payload::Levels { step, levels: gradient.iter().map(level).collect() }
}

fn signs(gradient: &[f32]) -> Payload {
    let sum: f64 = gradient.iter().map(|g| f64::from(g.abs())).sum();
    let mut bits = vec![0_u64; gradient.len().div_ceil(64)];
    for (index, g) in gradient.iter().enumerate() {
        if g.is_sign_negative()
            && let Some(word) = bits.get_mut(index / 64)
        {
            *word |= 1 << (index % 64);
        }
    }
    Payload::Signs {
        size: (sum / gradient.len().max(1) as f64) as f32,
        count: gradient.len(),
        bits,
    }
}

/// The `kept` largest entries; of equal ones those that come first.
fn largest(gradient: &[f32], kept: usize) -> Payload {
    let mut order: Vec<u32> = (0_u32..).take(gradient.len()).collect();
    let size = |place: &u32| gradient.get(*place as usize).map_or(0.0, |g| g.abs());
    if kept < order.len() {
        order.select_nth_unstable_by(kept, |a, b| size(b).total_cmp(&size(a)).then(a.cmp(b)));
        order.truncate(kept);
    }
    order.sort_unstable();
    let value = |place: &u32| gradient.get(*place as usize).copied().unwrap_or(0.0);
    Payload::Entries {
        count: gradient.len(),
        values: order.iter().map(value).collect(),
        places: order,
    }
}

// Assembling sharded rows.

/// The gradient and the weights of all, from parts of some: where several tell of the same number, their mean.
pub(super) struct Whole {
    pub(super) gradient: Vec<f32>,
    pub(super) weights: Vec<f32>,
}

impl Whole {
    /// None if no worker reports anything.
    pub(super) fn of(answers: &[Answer], parameters: usize) -> Option<Self> {
        let rows: Vec<&Row> = answers.iter().filter_map(|answer| answer.row.as_ref()).collect();
        if let [row] = rows.as_slice()
            && row.range == (0..parameters)
        {
            return Some(Self { gradient: row.gradient.clone(), weights: row.weights.clone() });
        }
        (!rows.is_empty()).then(|| Self {
            gradient: mean(&rows, parameters, |row| &row.gradient),
            weights: mean(&rows, parameters, |row| &row.weights),
        })
    }
}

fn mean(rows: &[&Row], parameters: usize, of: impl Fn(&Row) -> &Vec<f32>) -> Vec<f32> {
    let mut sums = vec![(0.0_f64, 0_u32); parameters];
    for row in rows {
        let places = &mut sums[row.range.clone()];
        for ((sum, count), value) in places.iter_mut().zip(of(row)) {
            *sum += f64::from(*value);
            *count += 1;
        }
    }
    let means = sums.into_iter();
    means.map(|(sum, count)| (sum / f64::from(count.max(1))) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRADIENT: [f32; 5] = [0.5, -1.27, 0.0, 0.004, 1.0];

    fn read(compression: Compression) -> Vec<f32> {
        let mut sum = vec![0.0; GRADIENT.len()];
        assert!(compression.pack(&GRADIENT).add_to(&mut sum));
        sum
    }

    #[test]
    fn each_way_keeps_what_it_promises() {
        assert_eq!(read(Compression::None), GRADIENT);
        assert_eq!(read(Compression::TopK { share: 0.4 }), [0.0, -1.27, 0.0, 0.0, 1.0]);
        let close = |a: Vec<f32>, b: [f32; 5]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close(read(Compression::Int8), [0.5, -1.27, 0.0, 0.0, 1.0]));
        let mean = 2.774 / 5.0;
        assert!(close(read(Compression::Sign), [mean, -mean, mean, mean, mean]));
    }

    #[test]
    fn the_bytes_are_those_that_go_over_the_wire() {
        let gradient: Vec<f32> = (0..25_450).map(|i| (i as f32).sin()).collect();
        for (compression, ratio) in [
            (Compression::None, 1.0),
            (Compression::Int8, 4.0),
            (Compression::Sign, 32.0),
            (Compression::TopK { share: 0.01 }, 50.0),
        ] {
            let bytes = compression.pack(&gradient).bytes();
            assert_eq!(bytes, compression.bytes(gradient.len()), "{compression:?}");
            let found = 4.0 * 25_450.0 / bytes as f64;
            assert!((found / ratio - 1.0).abs() < 0.02, "{compression:?} {found}");
        }
    }

    #[test]
    fn a_gradient_that_is_zero_or_no_number_is_packed_all_the_same() {
        let mut sum = vec![0.0; 2];
        assert!(Compression::Int8.pack(&[0.0, 0.0]).add_to(&mut sum));
        assert_eq!(sum, [0.0, 0.0]);
        let gone = Compression::TopK { share: 0.5 }.pack(&[f32::NAN, 1.0]);
        assert_eq!(gone.bytes(), 8);
        assert_eq!(Compression::TopK { share: 0.5 }.pack(&[]).bytes(), 0);
    }

    fn answer(range: std::ops::Range<usize>, value: f32) -> Answer {
        Answer {
            row: Some(Row {
                gradient: vec![value; range.len()],
                weights: vec![-value; range.len()],
                range,
            }),
            ..Answer::default()
        }
    }

    #[test]
    fn shards_are_joined_and_replicas_averaged() {
        let shards = [answer(0..2, 1.0), answer(2..3, 5.0), Answer::default()];
        let whole = Whole::of(&shards, 3).unwrap();
        assert_eq!(whole.gradient, [1.0, 1.0, 5.0]);
        let replicas = [answer(0..2, 1.0), answer(0..2, 4.0)];
        assert_eq!(Whole::of(&replicas, 2).unwrap().weights, [-2.5, -2.5]);
        assert!(Whole::of(&[Answer::default()], 2).is_none());
    }
}
