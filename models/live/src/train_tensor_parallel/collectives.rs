//! Collective operations on tensors, done by real messages: each is a plan of the same rings as lab `all-reduce` counts.

use burn::tensor::{Device, Tensor, TensorData};
use mlsys_distributed::collective::carry_out;
use mlsys_distributed::transport::{CommError, Endpoint, Tag};
use mlsys_nn::flat_params;
use mlsys_sim::collective::{Algorithm, Plan, PlanError, Split};

pub(super) const SAMPLED: usize = 2;

/// A rank's hold on all others. All ranks do the same operations in the same order.
pub(super) struct Collectives<'a> {
    endpoint: &'a mut Endpoint,
    /// Without autodiff.
    device: Device,
    pub(super) done: CollectiveCounts,
    /// The first [`SAMPLED`] numbers of each chunk of the rank in the step's first sum, for pictures; NaN in gaps.
    pub(super) samples: Vec<f32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CollectiveCounts {
    pub(super) all_reduces: i64,
    pub(super) all_gathers: i64,
    pub(super) reduce_scatters: i64,
}

impl<'a> Collectives<'a> {
    pub(super) fn new(endpoint: &'a mut Endpoint, device: Device) -> Self {
        Self { endpoint, device, done: CollectiveCounts::default(), samples: Vec::new() }
    }

    pub(super) fn rank(&self) -> usize {
        self.endpoint.rank()
    }

    pub(super) fn ranks(&self) -> usize {
        self.endpoint.workers()
    }

    pub(super) fn doing(&self, what: &'static str) {
        self.endpoint.doing(what);
    }

    pub(super) fn all_reduce(&mut self, x: Tensor<2>) -> Result<Tensor<2>, CommError> {
        let shape = x.dims();
        let mut row = flat_params::numbers(x, shape[0] * shape[1])?;
        self.sample(&row);
        let plan = Plan::all_reduce(Algorithm::Ring, self.ranks(), row.len());
        self.carry_out(plan, "part of a sum", &mut row)?;
        self.done.all_reduces += 1;
        Ok(self.tensor(row, shape))
    }

    /// The sum over all ranks of a row of numbers, in place; none of the blocks' operations.
    pub(super) fn sum(&mut self, row: &mut [f32]) -> Result<(), CommError> {
        let plan = Plan::all_reduce(Algorithm::Ring, self.ranks(), row.len());
        self.carry_out(plan, "part of a gradient", row)
    }

    /// Rank 0's numbers on all ranks, in place; none of the blocks' operations.
    pub(super) fn spread(&mut self, row: &mut [f32]) -> Result<(), CommError> {
        let plan = Plan::broadcast(self.ranks(), row.len(), 0);
        self.carry_out(plan, "part of what all have", row)
    }

    fn sample(&mut self, row: &[f32]) {
        if !self.samples.is_empty() {
            return;
        }
        let chunks = Split::new(row.len(), self.ranks());
        for rank in 0..self.ranks() {
            let chunk = &row[chunks.piece(rank)];
            let first = (0..SAMPLED).map(|at| chunk.get(at).copied().unwrap_or(f32::NAN));
            self.samples.extend(first);
        }
    }

    /// Each rank's own tokens of `batch` sequences, `[batch * own, width]`, as all tokens, `[batch * time, width]`.
    pub(super) fn all_gather(
        &mut self,
        own: Tensor<2>,
        batch: usize,
    ) -> Result<Tensor<2>, CommError> {
        let ([rows, width], ranks) = (own.dims(), self.ranks());
        let own = flat_params::numbers(own, rows * width)?;
        let mut row = vec![0.0; ranks * own.len()];
        row[self.rank() * own.len()..][..own.len()].copy_from_slice(&own);
        self.carry_out(Plan::all_gather(ranks, row.len()), "tokens", &mut row)?;
        self.done.all_gathers += 1;
        let by_rank: Tensor<4> = self.tensor(row, [ranks, batch, rows / batch, width]);
        Ok(by_rank.swap_dims(0, 1).reshape([ranks * rows, width]))
    }

    /// The sum over all ranks of all tokens, `[batch * time, width]`: each rank's own tokens of it, `[batch * own, width]`.
    pub(super) fn reduce_scatter(
        &mut self,
        x: Tensor<2>,
        batch: usize,
    ) -> Result<Tensor<2>, CommError> {
        let ([rows, width], ranks) = (x.dims(), self.ranks());
        let mut row = flat_params::numbers(by_rank(x, batch, ranks), rows * width)?;
        self.sample(&row);
        let plan = Plan::reduce_scatter(ranks, row.len());
        self.carry_out(plan, "part of a sum of tokens", &mut row)?;
        self.done.reduce_scatters += 1;
        let count = row.len() / ranks;
        let own = row[self.rank() * count..][..count].to_vec();
        Ok(self.tensor(own, [rows / ranks, width]))
    }

    /// Each rank's own tokens of what it has itself, without any sum.
    pub(super) fn own_tokens(&self, x: Tensor<2>, batch: usize) -> Tensor<2> {
        let ([rows, width], ranks) = (x.dims(), self.ranks());
        by_rank(x, batch, ranks).narrow(0, self.rank(), 1).reshape([rows / ranks, width])
    }

    /// Gives numbers to the next rank of the ring and takes as many from the one before.
    pub(super) fn pass_on(
        &mut self,
        what: &'static str,
        numbers: Vec<f32>,
    ) -> Result<Vec<f32>, CommError> {
        let (rank, ranks, count) = (self.rank(), self.ranks(), numbers.len());
        let tag = Tag { what, index: 0 };
        self.endpoint.send((rank + 1) % ranks, tag, numbers);
        self.endpoint.receive_floats((rank + ranks - 1) % ranks, tag, count)
    }

    pub(super) fn tensor<const D: usize>(&self, row: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
        Tensor::from_data(TensorData::new(row, shape), &self.device)
    }

    fn carry_out(
        &mut self,
        plan: Result<Plan, PlanError>,
        what: &'static str,
        row: &mut [f32],
    ) -> Result<(), CommError> {
        let plan = plan.map_err(|error| CommError::Failed(format!("cannot begin: {error}")))?;
        carry_out(&plan, self.endpoint, what, row)
    }
}

/// All tokens `[batch * time, width]` with those of each rank together, `[ranks, batch, own, width]`.
fn by_rank(x: Tensor<2>, batch: usize, ranks: usize) -> Tensor<4> {
    let [rows, width] = x.dims();
    x.reshape([batch, ranks, rows / batch / ranks, width]).swap_dims(0, 1)
}
