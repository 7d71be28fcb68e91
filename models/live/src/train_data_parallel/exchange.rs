//! How what each worker has becomes what all have: gradients as plain sums or compressed, weights, an optimizer's state.

use mlsys_distributed::collective::{carry_out, share};
use mlsys_distributed::transport::{CommError, Endpoint, Tag};
use mlsys_nn::flat_params;
use mlsys_sim::collective::Plan;

use super::compression::Compression;
use super::params::{Answer, Row, SAMPLED, Zero};
use super::worker::{GRADIENT, Replica, STATE, WEIGHTS};

impl Replica {
    /// From its own gradient to the mean of all, as far as it holds that. Returns a few numbers of what it gave in.
    pub(super) fn exchange(
        &mut self,
        gradient: &mut Vec<f32>,
        endpoint: &mut Endpoint,
    ) -> Result<Vec<f32>, CommError> {
        let samples = if self.scheme.knobs.compression == Compression::None {
            let samples = samples(&self.scheme.all_reduce, gradient);
            let plan = if self.zero == Zero::Nothing {
                &self.scheme.all_reduce
            } else {
                &self.scheme.scatter
            };
            carry_out(plan, endpoint, GRADIENT, gradient)?;
            samples
        } else {
            self.exchange_compressed(gradient, endpoint)?
        };
        self.divide(gradient);
        if self.zero >= Zero::Gradients {
            *gradient = gradient[self.shard_range()].to_vec();
        }
        Ok(samples)
    }

    fn exchange_compressed(
        &mut self,
        gradient: &mut [f32],
        endpoint: &mut Endpoint,
    ) -> Result<Vec<f32>, CommError> {
        endpoint.doing("compressing its gradient");
        for (g, left) in gradient.iter_mut().zip(&self.left_out) {
            *g += left;
        }
        let packed = self.scheme.knobs.compression.pack(gradient, self.scheme.knobs.keep_fraction);
        self.left_out.clear();
        if self.scheme.knobs.error_feedback {
            let mut sent = vec![0.0; gradient.len()];
            packed.add_to(&mut sent);
            self.left_out.extend(gradient.iter().zip(sent).map(|(g, sent)| g - sent));
        }
        const WHAT: &str = "compressed gradient";
        let samples = packed.first(SAMPLED);
        let all = share(&self.scheme.share, endpoint, WHAT, packed)?;
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

    /// All workers' weights become the mean of all. Returns a few of what they were.
    pub(super) fn average_weights(
        &mut self,
        endpoint: &mut Endpoint,
    ) -> Result<Vec<f32>, CommError> {
        let Some(network) = self.network.take() else { return Ok(Vec::new()) };
        let mut weights = flat_params::weights(&network)?;
        let samples = samples(&self.scheme.all_reduce, &weights);
        self.average(&mut weights, WEIGHTS, endpoint)?;
        self.network = Some(flat_params::with_weights(network, &weights));
        Ok(samples)
    }

    /// Makes workers alike that went their own ways: weights and the optimizer's state become the mean of all. Gradients
    /// that still wait are each worker's own, of weights that no longer exist: they are dropped.
    pub(super) fn synchronize(&mut self, endpoint: &mut Endpoint) -> Result<(), CommError> {
        endpoint.doing("becoming like the others");
        self.average_weights(endpoint)?;
        let mut optimizer = std::mem::take(&mut self.optimizer);
        for row in optimizer.state(self.scheme.all_reduce.elements()) {
            self.average(row, STATE, endpoint)?;
        }
        self.optimizer = optimizer;
        self.late.clear();
        Ok(())
    }

    fn average(
        &self,
        row: &mut [f32],
        what: &'static str,
        endpoint: &mut Endpoint,
    ) -> Result<(), CommError> {
        carry_out(&self.scheme.all_reduce, endpoint, what, row)?;
        self.divide(row);
        Ok(())
    }

    fn divide(&self, sums: &mut [f32]) {
        let workers = self.workers as f32;
        sums.iter_mut().for_each(|sum| *sum /= workers);
    }
}

/// The first numbers of each chunk, gaps where there are fewer.
fn samples(plan: &Plan, row: &[f32]) -> Vec<f32> {
    let split = plan.split();
    let chunks = (0..split.pieces()).map(|piece| &row[split.piece(piece)]);
    let number = |chunk: &[f32], k: usize| chunk.get(k).copied().unwrap_or(f32::NAN);
    chunks.flat_map(|chunk| (0..SAMPLED).map(move |k| number(chunk, k))).collect()
}

/// The gradient and the weights of all, from parts of some: where several tell of the same number, their mean.
pub(super) struct Whole {
    pub(super) gradient: Vec<f32>,
    pub(super) weights: Vec<f32>,
}

impl Whole {
    pub(super) fn joined(answers: &[Answer], parameters: usize) -> Option<Self> {
        let rows: Vec<&Row> = answers.iter().filter_map(|answer| answer.row.as_ref()).collect();
        (!rows.is_empty()).then(|| Self {
            gradient: mean(&rows, parameters, |row| &row.gradient),
            weights: mean(&rows, parameters, |row| &row.weights),
        })
    }
}

fn mean(rows: &[&Row], parameters: usize, numbers: fn(&Row) -> &Vec<f32>) -> Vec<f32> {
    let mut sums = vec![(0.0_f64, 0_u32); parameters];
    for row in rows {
        for ((sum, count), value) in sums[row.range.clone()].iter_mut().zip(numbers(row)) {
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

    #[test]
    fn shards_are_joined_and_replicas_averaged() {
        let answer = |range: std::ops::Range<usize>, value: f32| {
            let gradient = vec![value; range.len()];
            let weights = vec![-value; range.len()];
            Answer { row: Some(Row { range, gradient, weights }), ..Answer::default() }
        };
        let shards = [answer(0..2, 1.0), answer(2..3, 5.0), Answer::default()];
        let whole = Whole::joined(&shards, 3).unwrap();
        assert_eq!(whole.gradient, [1.0, 1.0, 5.0]);
        let replicas = [answer(0..2, 1.0), answer(0..2, 4.0)];
        assert_eq!(Whole::joined(&replicas, 2).unwrap().weights, [-2.5, -2.5]);
        assert!(Whole::joined(&[Answer::default()], 2).is_none());
    }
}
