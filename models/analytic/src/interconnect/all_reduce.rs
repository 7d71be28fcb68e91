//! Kind `all-reduce`: what it takes to sum a buffer over ranks, by the formula and by walking the plan.

mod pictures;

use mlsys_lab::value::number;
use mlsys_lab::{LabError, Params, Run};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_sim::collective::{Algorithm, Closed, PlanError};
use mlsys_sim::integer::too_large;
use mlsys_sim::network::Network;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let sum = Sum::read(&run.params)?;
    let cost = sum.cost();
    let count = |count: u64, name: &str| {
        i64::try_from(count).map_err(|_| too_large(["ranks"], &format!("the {name}")))
    };
    values.set("steps", count(cost.closed.steps, "steps")?);
    values.set("fan_in", count(cost.closed.fan_in, "fan-in")?);
    let told = || {
        format!(
            "{} bytes over {} ranks at {} s and {} bytes/s",
            number(sum.bytes),
            sum.ranks,
            number(sum.network.latency()),
            number(sum.network.bandwidth())
        )
    };
    values.finite("serial_bytes", cost.closed.serial_bytes, told)?;
    values.finite("traffic_factor", sum.factor(), told)?;
    values.finite("latency_part_seconds", cost.latency, told)?;
    values.finite("bandwidth_part_seconds", cost.bandwidth, told)?;
    values.finite("seconds", cost.seconds(), told)?;
    let algorithm = sum.bytes / cost.seconds();
    values.finite("algorithm_bandwidth_bytes_per_second", algorithm, told)?;
    let bus = algorithm * sum.bus_factor();
    values.finite("bus_bandwidth_bytes_per_second", bus, told)?;
    picture::offer(run, "time", || sum.time());
    picture::offer(run, "rounds", || sum.rounds());
    picture::offer(run, "algorithms", || sum.beside());
    picture::offer(run, "counted", || sum.counted());
    picture::offer(run, "steps", || sum.steps());
    Ok(values)
}

/// What is asked for.
struct Sum {
    algorithm: Algorithm,
    ranks: usize,
    bytes: f64,
    network: Network,
}

/// Time of an all-reduce by its two parts.
struct Cost {
    closed: Closed,
    latency: f64,
    bandwidth: f64,
}

impl Cost {
    fn seconds(&self) -> f64 {
        self.latency + self.bandwidth
    }
}

impl Sum {
    fn read(params: &Params) -> Result<Self, LabError> {
        let name = params.text("algorithm")?;
        let algorithm = Algorithm::named(name).ok_or_else(|| {
            LabError::contradiction(["algorithm"], format!("no algorithm is called '{name}'"))
        })?;
        let ranks = params.size("ranks")?;
        if !algorithm.takes(ranks) {
            return Err(PlanError::NotPowerOfTwo { ranks }.told(["algorithm", "ranks"]));
        }
        Ok(Self {
            algorithm,
            ranks,
            bytes: params.float("bytes")?,
            network: Network::read(params)?,
        })
    }

    /// The algorithms available for this number of ranks.
    fn possible(&self) -> impl Iterator<Item = Algorithm> {
        let ranks = self.ranks;
        Algorithm::ALL.into_iter().filter(move |algorithm| algorithm.takes(ranks))
    }

    /// serial_bytes / bytes, which does not depend on the bytes
    fn factor(&self) -> f64 {
        self.algorithm.closed(self.ranks, 1.0).serial_bytes
    }

    /// 2(p-1)/p
    fn bus_factor(&self) -> f64 {
        let p = self.ranks as f64;
        2.0 * (p - 1.0) / p
    }

    fn cost(&self) -> Cost {
        self.cost_of(self.algorithm, self.bytes)
    }

    /// seconds = steps*latency + serial_bytes/bandwidth
    fn cost_of(&self, algorithm: Algorithm, bytes: f64) -> Cost {
        let closed = algorithm.closed(self.ranks, bytes);
        Cost {
            closed,
            latency: self.network.seconds(closed.steps as f64, 0.0),
            bandwidth: self.network.seconds(0.0, closed.serial_bytes),
        }
    }

    /// The size at which two algorithms take equally long: where a line with less latency and more bytes meets one with
    /// more latency and fewer bytes. None if one is never slower, or both are the same.
    fn crossing(&self, a: Algorithm, b: Algorithm) -> Option<f64> {
        let (one, other) = (self.cost_of(a, 1.0), self.cost_of(b, 1.0));
        let bytes = (one.latency - other.latency) / (other.bandwidth - one.bandwidth);
        (bytes.is_finite() && bytes > 0.0).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_algorithms_change_places_where_they_cross_and_nowhere_else() {
        for ranks in [2, 3, 4, 7, 8, 64, 1000, 24_576] {
            for link in ["10gige", "infiniband-edr", "nvlink4"] {
                let sum = Sum {
                    algorithm: Algorithm::Ring,
                    ranks,
                    bytes: 1e6,
                    network: Network::link(link).unwrap(),
                };
                let seconds = |algorithm, bytes| sum.cost_of(algorithm, bytes).seconds();
                let all: Vec<Algorithm> = sum.possible().collect();
                for &a in &all {
                    for &b in &all {
                        let Some(bytes) = sum.crossing(a, b) else {
                            // One is never slower, from the smallest buffer to the largest.
                            let order =
                                |bytes| seconds(a, bytes) <= seconds(b, bytes) * (1.0 + 1e-12);
                            let turned =
                                |bytes| seconds(b, bytes) <= seconds(a, bytes) * (1.0 + 1e-12);
                            assert!(
                                (order(1e-3) && order(1e15)) || (turned(1e-3) && turned(1e15)),
                                "{a:?} {b:?} {ranks} {link}"
                            );
                            continue;
                        };
                        let (at_a, at_b) = (seconds(a, bytes), seconds(b, bytes));
                        assert!((at_a - at_b).abs() <= 1e-9 * at_a, "{a:?} {b:?} {ranks}");
                        let below = seconds(a, bytes / 2.0) < seconds(b, bytes / 2.0);
                        let above = seconds(a, bytes * 2.0) < seconds(b, bytes * 2.0);
                        assert_ne!(below, above, "{a:?} {b:?} {ranks} {link}");
                    }
                }
            }
        }
    }
}
