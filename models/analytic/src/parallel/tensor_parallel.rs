//! Kind `tensor-parallel`: what one layer, split over ranks, sends and what it computes.

mod pictures;

use mlsys_lab::value::number;
use mlsys_lab::{LabError, Params, Run};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_sim::integer::too_large;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let layer = Layer::read(&run.params)?;
    let collectives = layer.around.collectives();
    values.set("all_reduces_forward", collectives.all_reduces_forward);
    values.set("all_reduces_backward", collectives.all_reduces_backward);
    values.set("all_gathers", collectives.all_gathers);
    values.set("reduce_scatters", collectives.reduce_scatters);
    let large = || "batch, sequence and hidden are too large for their product".to_owned();
    let slow = || {
        format!(
            "a peak of {} flop/s and a link of {} bytes/s",
            number(layer.peak),
            number(layer.bandwidth)
        )
    };
    values.finite("elements_per_layer", layer.sent(), large)?;
    values.finite("bytes_per_layer", layer.bytes(), large)?;
    values.set("pipeline_elements", layer.boundary);
    values.finite("communication_seconds", layer.communication(), slow)?;
    values.finite("compute_seconds", layer.compute(), slow)?;
    values.finite("communication_fraction", layer.share(), slow)?;
    values.finite("critical_contraction", layer.critical_contraction(), slow)?;
    picture::offer(run, "share", || layer.shares());
    picture::offer(run, "matrices", || layer.matrices());
    picture::offer(run, "times", || layer.times());
    picture::offer(run, "links", || layer.links());
    picture::offer(run, "steps", || layer.steps());
    Ok(values)
}

/// What norms, dropouts and residuals around the split matrices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Around {
    /// Whole on every rank.
    Replicated,
    /// Split along the sequence.
    Sharded,
}

/// Collective operations of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Collectives {
    all_reduces_forward: i64,
    all_reduces_backward: i64,
    all_gathers: i64,
    reduce_scatters: i64,
}

impl Around {
    /// One for each half of a layer, attention and MLP, and each direction; a sharded surrounding takes each all-reduce
    /// apart.
    fn collectives(self) -> Collectives {
        match self {
            Self::Replicated => Collectives {
                all_reduces_forward: 2,
                all_reduces_backward: 2,
                all_gathers: 0,
                reduce_scatters: 0,
            },
            Self::Sharded => Collectives {
                all_reduces_forward: 0,
                all_reduces_backward: 0,
                all_gathers: 4,
                reduce_scatters: 4,
            },
        }
    }
}

impl Collectives {
    /// What a ring passes on per rank, in units of bsh(t-1)/t: an all-reduce twice what its halves do.
    fn passes(self) -> i64 {
        2 * (self.all_reduces_forward + self.all_reduces_backward)
            + self.all_gathers
            + self.reduce_scatters
    }
}

/// One layer of width h, with an MLP of width 4h, and what it runs on.
#[derive(Clone, Copy, Debug)]
struct Layer {
    batch: f64,
    sequence: f64,
    hidden: f64,
    /// t
    ranks: f64,
    /// bsh, exactly: what a pipeline boundary would send.
    boundary: i64,
    bytes_per_element: f64,
    around: Around,
    /// flop/s of one rank.
    peak: f64,
    /// bytes/s in each direction.
    bandwidth: f64,
}

impl Layer {
    fn read(params: &Params) -> Result<Self, LabError> {
        let (batch, sequence, hidden) =
            (params.int("batch")?, params.int("sequence")?, params.int("hidden")?);
        let boundary = batch.checked_mul(sequence).and_then(|tokens| tokens.checked_mul(hidden));
        Ok(Self {
            batch: batch as f64,
            sequence: sequence as f64,
            hidden: hidden as f64,
            ranks: params.float("ranks")?,
            boundary: boundary.ok_or_else(|| {
                too_large(["batch", "sequence", "hidden"], "the elements of one activation")
            })?,
            bytes_per_element: params.float("bytes_per_element")?,
            around: if params.bool("sequence_parallel")? {
                Around::Sharded
            } else {
                Around::Replicated
            },
            peak: params.float("peak_flops_per_second")?,
            bandwidth: params.float("bandwidth_bytes_per_second")?,
        })
    }

    /// elements_per_layer = 8bsh(t-1)/t
    fn sent(&self) -> f64 {
        let passes = self.around.collectives().passes() as f64;
        passes * self.batch * self.sequence * self.hidden * (self.ranks - 1.0) / self.ranks
    }

    fn bytes(&self) -> f64 {
        self.sent() * self.bytes_per_element
    }

    fn communication(&self) -> f64 {
        self.bytes() / self.bandwidth
    }

    /// 72bsh²(1 + s/(6h)): the products of a layer, forward and twice that backward.
    fn flops(&self) -> f64 {
        let (s, h) = (self.sequence, self.hidden);
        72.0 * self.batch * s * h * h * (1.0 + s / (6.0 * h))
    }

    fn compute(&self) -> f64 {
        self.flops() / (self.ranks * self.peak)
    }

    fn share(&self) -> f64 {
        self.communication() / (self.communication() + self.compute())
    }

    /// The k at which 2mnk/(t peak), a product split along its contraction, takes as long as the ring all-reduce of its
    /// m*n results, 2mn(t-1)/t elements.
    fn critical_contraction(&self) -> f64 {
        (self.ranks - 1.0) * self.bytes_per_element * self.peak / self.bandwidth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(ranks: f64, around: Around) -> Layer {
        Layer {
            batch: 3.0,
            sequence: 512.0,
            hidden: 1024.0,
            ranks,
            boundary: 3 * 512 * 1024,
            bytes_per_element: 2.0,
            around,
            peak: 312e12,
            bandwidth: 300e9,
        }
    }

    #[test]
    fn taking_the_all_reduces_apart_sends_the_same() {
        for ranks in 2..=64 {
            let sent = |around| layer(f64::from(ranks), around).sent();
            assert_eq!(sent(Around::Replicated), sent(Around::Sharded));
        }
    }

    #[test]
    fn at_the_critical_contraction_a_product_computes_as_long_as_it_reduces() {
        for ranks in [2.0, 3.0, 8.0, 64.0] {
            let layer = layer(ranks, Around::Replicated);
            let (m, n) = (4096.0, 1000.0);
            let k = layer.critical_contraction();
            let compute = 2.0 * m * n * k / (ranks * layer.peak);
            let bytes = 2.0 * m * n * (ranks - 1.0) / ranks * layer.bytes_per_element;
            let reduce = bytes / layer.bandwidth;
            assert!((compute - reduce).abs() <= 1e-12 * reduce, "{ranks}");
        }
    }

    #[test]
    fn more_ranks_always_mean_a_larger_share() {
        let shares: Vec<f64> =
            (2..200).map(|ranks| layer(f64::from(ranks), Around::Replicated).share()).collect();
        assert!(shares.is_sorted_by(|a, b| a < b), "{shares:?}");
    }
}
