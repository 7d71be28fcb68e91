//! Kind `all-reduce`: what it takes to sum a buffer over ranks, by the formula and by walking the plan.

use std::ops::RangeInclusive;

use mlsys_lab::frame::Frame;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::{LabError, Params, Run, picture};
use mlsys_sim::collective::{Algorithm, CHUNKS, Plan, PlanError, Tally};
use mlsys_sim::integer::too_large;
use mlsys_sim::network::Network;
use serde::Serialize;

use crate::closed_form::Simulated;

/// Walking more messages than this takes longer than a knob may.
const MOST_MESSAGES: u64 = 1 << 20;

/// Most ranks that a picture tells apart.
const MOST_DRAWN: usize = 64;

/// Bytes that are counted exactly.
const MOST_BYTES: f64 = 9_007_199_254_740_992.0;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let sum = Sum::read(&run.params)?;
    let closed = sum.algorithm.closed(sum.ranks, sum.bytes);
    let count = |count: u64, name: &str| {
        i64::try_from(count).map_err(|_| too_large(["ranks"], &format!("the {name}")))
    };
    let crossings = sum.crossings();
    let is_counted = run.sink.wants_frame("counted", FrameTrigger::Final);
    let values = Simulated::fields(&Found {
        steps: count(closed.steps, "steps")?,
        fan_in: count(closed.fan_in, "fan-in")?,
        own: sum.cost(sum.algorithm, sum.bytes),
        algorithms: sum.possible().map(|algorithm| sum.cost(algorithm, sum.bytes)).collect(),
        levels: i64::from(sum.ranks.next_power_of_two().ilog2()),
        chunks: CHUNKS,
        messages: sum.messages().map_or_else(|| "All".to_owned(), |count| count.to_string()),
        sizes: sum.sizes(&crossings),
        counted: if is_counted { sum.counted() } else { None },
        crossings,
    })?;
    picture::offer(run, "rounds", || sum.rounds());
    Ok(values)
}

/// What the file's formulas start from.
#[derive(Serialize)]
struct Found {
    steps: i64,
    fan_in: i64,
    own: Cost,
    algorithms: Vec<Cost>,
    /// ceil(log2 p)
    levels: i64,
    chunks: usize,
    messages: String,
    sizes: Vec<f64>,
    crossings: Vec<Crossing>,
    counted: Option<Counted>,
}

#[derive(Serialize)]
struct Cost {
    name: &'static str,
    short: &'static str,
    steps: f64,
    fan_in: f64,
    serial_bytes: f64,
    /// serial_bytes / bytes, which does not depend on the bytes
    factor: f64,
    latency: f64,
    bandwidth: f64,
}

/// The sizes of buffers that are summed in practice: crossings elsewhere would stretch the picture.
const BUFFERS: RangeInclusive<f64> = 1.0..=1e12;

/// The size at which two algorithms take equally long; below it the first is faster.
#[derive(Serialize)]
struct Crossing {
    bytes: f64,
    seconds: f64,
    first: &'static str,
    second: &'static str,
}

/// What walking the plan counts, one byte an element.
#[derive(Serialize)]
struct Counted {
    rounds: f64,
    serial_bytes: f64,
    fan_in: f64,
    busiest_bytes: f64,
    busiest_messages: f64,
    first_bytes: f64,
    messages: f64,
    bytes: f64,
}

struct Sum {
    algorithm: Algorithm,
    ranks: usize,
    bytes: f64,
    network: Network,
}

fn short(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Ring => "ring",
        Algorithm::RecursiveHalvingDoubling => "halving",
        Algorithm::Tree => "tree",
        Algorithm::DoubleTree => "2 trees",
        Algorithm::ParameterServer => "server",
        Algorithm::ShardedParameterServer => "sharded server",
    }
}

impl Sum {
    fn read(params: &Params) -> Result<Self, LabError> {
        let name = params.text("algorithm")?;
        let algorithm: Algorithm = name.parse().map_err(|_| {
            LabError::contradiction(["algorithm"], format!("no algorithm is called '{name}'"))
        })?;
        let ranks = params.size("ranks")?;
        if !algorithm.takes(ranks) {
            return Err(PlanError::NotPowerOfTwo { ranks }.contradiction(["algorithm", "ranks"]));
        }
        let (bytes, network) = (params.float("bytes")?, Network::read(params)?);
        Ok(Self { algorithm, ranks, bytes, network })
    }

    /// The algorithms available for this number of ranks.
    fn possible(&self) -> impl Iterator<Item = Algorithm> {
        let ranks = self.ranks;
        Algorithm::ALL.into_iter().filter(move |algorithm| algorithm.takes(ranks))
    }

    fn cost(&self, algorithm: Algorithm, bytes: f64) -> Cost {
        let closed = algorithm.closed(self.ranks, bytes);
        Cost {
            name: algorithm.name(),
            short: short(algorithm),
            steps: closed.steps as f64,
            fan_in: closed.fan_in as f64,
            serial_bytes: closed.serial_bytes,
            factor: algorithm.closed(self.ranks, 1.0).serial_bytes,
            latency: self.network.seconds(closed.steps as f64, 0.0),
            bandwidth: self.network.seconds(0.0, closed.serial_bytes),
        }
    }

    /// Where a line with less latency and more bytes meets one with more latency and fewer bytes, if they do.
    fn crossing(&self, a: Algorithm, b: Algorithm) -> Option<Crossing> {
        let (one, other) = (self.cost(a, 1.0), self.cost(b, 1.0));
        let bytes = (one.latency - other.latency) / (other.bandwidth - one.bandwidth);
        let is_earlier = a.steps(self.ranks) < b.steps(self.ranks);
        let (first, second) = if is_earlier { (a, b) } else { (b, a) };
        let cost = self.cost(first, bytes);
        (bytes.is_finite() && bytes > 0.0).then_some(Crossing {
            bytes,
            seconds: cost.latency + cost.bandwidth,
            first: short(first),
            second: short(second),
        })
    }

    fn crossings(&self) -> Vec<Crossing> {
        let all: Vec<Algorithm> = self.possible().collect();
        let pairs = all.iter().enumerate();
        let pairs = pairs.flat_map(|(place, a)| all[place + 1..].iter().map(move |b| (*a, *b)));
        let crossings = pairs.filter_map(|(a, b)| self.crossing(a, b));
        let mut crossings: Vec<_> = crossings.filter(|at| BUFFERS.contains(&at.bytes)).collect();
        crossings.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
        crossings
    }

    /// From well below the first crossing to well above the last, so that both ends are straight. Straight lines meet
    /// between eighths of a decade at an angle that no screen shows.
    fn sizes(&self, crossings: &[Crossing]) -> Vec<f64> {
        let places = crossings.iter().map(|crossing| crossing.bytes);
        let places = places.chain((self.bytes > 0.0).then_some(self.bytes));
        let (least, most) = places.fold((1e3_f64, 1e9_f64), |(l, h), x| (l.min(x), h.max(x)));
        let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
        (first * 8..=last * 8).map(|eighth| 10_f64.powf(f64::from(eighth) / 8.0)).collect()
    }

    /// The messages of the plan round by round, an element a byte. Each rank's numbers are told apart by their last
    /// digit, each chunk's by the ones before, so that sums can be checked by head.
    fn rounds(&self) -> Frame {
        if self.ranks > MOST_DRAWN || !(1.0..=MOST_BYTES).contains(&self.bytes) {
            return Frame::Text(format!(
                "Messages are drawn for buffers of 1 byte and more on up to {MOST_DRAWN} ranks; \
                 turn 'ranks' to 8 to see them move."
            ));
        }
        let plan = match Plan::all_reduce(self.algorithm, self.ranks, self.bytes as usize) {
            Ok(plan) => plan,
            Err(error) => return Frame::Text(error.to_string()),
        };
        let mut drawn = plan.exchange("buffer", self.algorithm.layout(), 1);
        let numbers = |rank: usize| {
            let chunks = 0..drawn.chunks.len();
            chunks.map(move |chunk| (10 * chunk + rank % 10 + 1) as f32)
        };
        drawn.samples = (0..plan.endpoints()).flat_map(numbers).collect();
        drawn.sampled = 1;
        drawn.note = format!(
            "{} rounds; in the end every rank holds the sum of all {}.",
            plan.rounds(),
            self.ranks
        );
        Frame::MessageTrace(Box::new(drawn))
    }

    /// The count over all messages of the plan; none if they, or the ranks, are too many.
    fn counted(&self) -> Option<Counted> {
        let bytes = self.bytes.floor();
        let is_short = self.messages().is_some_and(|messages| messages <= MOST_MESSAGES);
        if !is_short || bytes > MOST_BYTES {
            return None;
        }
        // Without a plan there is nothing to count, and the formulas hold all the same.
        let tally =
            Tally::from_plan(&Plan::all_reduce(self.algorithm, self.ranks, bytes as usize).ok()?);
        let busiest = tally.busiest();
        Some(Counted {
            rounds: tally.rounds as f64,
            serial_bytes: tally.serial_elements as f64,
            fan_in: tally.fan_in as f64,
            busiest_bytes: busiest.elements as f64,
            busiest_messages: busiest.messages as f64,
            first_bytes: tally.sent.first().map_or(0.0, |load| load.elements as f64),
            messages: tally.messages as f64,
            bytes: tally.elements as f64,
        })
    }

    /// Messages of the plan; none if they do not fit.
    fn messages(&self) -> Option<u64> {
        let p = self.ranks as u64;
        p.checked_mul(match self.algorithm {
            Algorithm::Ring | Algorithm::ShardedParameterServer => 2 * (p - 1),
            Algorithm::RecursiveHalvingDoubling => self.algorithm.steps(self.ranks),
            Algorithm::Tree | Algorithm::ParameterServer => 2,
            Algorithm::DoubleTree => 4 * CHUNKS as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_change_order_only_at_crossings() {
        for ranks in [2, 3, 4, 7, 8, 64, 1000, 24_576] {
            for link in ["10gige", "infiniband-edr", "nvlink4"] {
                let network = Network::link(link).unwrap();
                let sum = Sum { algorithm: Algorithm::Ring, ranks, bytes: 1e6, network };
                let seconds = |algorithm, bytes| {
                    let cost = sum.cost(algorithm, bytes);
                    cost.latency + cost.bandwidth
                };
                let all: Vec<Algorithm> = sum.possible().collect();
                for (a, b) in all.iter().flat_map(|a| all.iter().map(|b| (*a, *b))) {
                    let case = format!("{a:?} {b:?} {ranks} {link}");
                    let faster =
                        |a, b, bytes| seconds(a, bytes) <= seconds(b, bytes) * 1.000_000_001;
                    let Some(Crossing { bytes, .. }) = sum.crossing(a, b) else {
                        // One is never slower, from the smallest buffer to the largest.
                        let never_slower = |a, b| faster(a, b, 1e-3) && faster(a, b, 1e15);
                        assert!(never_slower(a, b) || never_slower(b, a), "{case}");
                        continue;
                    };
                    assert!(faster(a, b, bytes) && faster(b, a, bytes), "{case}");
                    let below = seconds(a, bytes / 2.0) < seconds(b, bytes / 2.0);
                    let above = seconds(a, bytes * 2.0) < seconds(b, bytes * 2.0);
                    assert_ne!(below, above, "{case}");
                }
            }
        }
    }
}
