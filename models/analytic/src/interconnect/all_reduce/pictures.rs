//! What the lab `all-reduce` shows besides its numbers.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Value};

use super::Sum;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::collective::{Algorithm, Plan, Tally};

/// Walking more messages than this takes longer than a knob may.
const MOST_MESSAGES: u64 = 1 << 20;

/// Most ranks that a picture tells apart.
const MOST_DRAWN: usize = 64;

/// A short name for a picture.
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
    /// Time against size for every algorithm, on logarithmic axes.
    pub(super) fn time(&self) -> Frame {
        let crossings: Vec<(f64, Algorithm, Algorithm)> = self.crossings();
        // From well below the first crossing to well above the last, so that both ends are straight.
        let places = crossings.iter().map(|(bytes, ..)| *bytes);
        let places = places.chain((self.bytes > 0.0).then_some(self.bytes));
        let (least, most) = places.fold((1e3_f64, 1e9_f64), |(l, h), x| (l.min(x), h.max(x)));
        let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
        // Straight lines meet between tenths of a decade at an angle that no screen shows.
        let sizes: Vec<f64> =
            (first * 8..=last * 8).map(|eighth| 10_f64.powf(f64::from(eighth) / 8.0)).collect();
        let line = |algorithm: Algorithm| ScatterLine {
            name: short(algorithm).to_owned(),
            points: sizes
                .iter()
                .map(|bytes| (*bytes, self.cost_of(algorithm, *bytes).seconds()))
                .collect(),
        };
        let point = |bytes: f64, algorithm: Algorithm, label: String, series: usize| ScatterPoint {
            x: Some(bytes),
            y: Some(self.cost_of(algorithm, bytes).seconds()),
            label,
            series,
        };
        let mut points =
            vec![point(self.bytes, self.algorithm, format!("this {}", short(self.algorithm)), 0)];
        points.extend(crossings.into_iter().map(|(bytes, a, b)| {
            let label = format!("{} = {}", short(a), short(b));
            point(bytes, a, label, 1)
        }));
        let axis = |name: &str, unit: &str| Dimension {
            name: name.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Log,
            ..Dimension::default()
        };
        Frame::Scatter(Scatter {
            x: axis("buffer", "bytes"),
            y: axis("time", "seconds"),
            series: vec!["this one".to_owned(), "as fast as each other".to_owned()],
            points,
            lines: self.possible().map(line).collect(),
        })
    }

    /// Where two algorithms take equally long, the smallest size first: first the one that is better below.
    fn crossings(&self) -> Vec<(f64, Algorithm, Algorithm)> {
        let all: Vec<Algorithm> = self.possible().collect();
        let mut crossings = Vec::new();
        for (place, &a) in all.iter().enumerate() {
            for &b in all.iter().skip(place + 1) {
                if let Some(bytes) = self.crossing(a, b) {
                    let (a, b) =
                        if a.steps(self.ranks) < b.steps(self.ranks) { (a, b) } else { (b, a) };
                    crossings.push((bytes, a, b));
                }
            }
        }
        crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
        crossings
    }

    /// All algorithms at this size, the fastest first.
    pub(super) fn beside(&self) -> Frame {
        let mut all: Vec<_> = self
            .possible()
            .map(|algorithm| (algorithm, self.cost_of(algorithm, self.bytes)))
            .collect();
        all.sort_by(|(_, a), (_, b)| a.seconds().total_cmp(&b.seconds()));
        let row = |(algorithm, cost): &(Algorithm, super::Cost)| {
            [
                Value::from(algorithm.name()),
                cost.seconds().into(),
                (cost.closed.steps as f64).into(),
                cost.closed.serial_bytes.into(),
                (cost.closed.fan_in as f64).into(),
                cost.latency.into(),
                cost.bandwidth.into(),
            ]
        };
        picture::table(
            ["algorithm", "seconds", "steps", "bytes", "fan-in", "latency, s", "bytes, s"],
            all.iter().map(row).collect(),
        )
    }

    /// The messages of the plan round by round, an element a byte. Each rank's numbers are told apart by their last
    /// digit, each chunk's by the ones before, so that sums can be checked by head.
    pub(super) fn rounds(&self) -> Frame {
        if self.ranks > MOST_DRAWN || !(1.0..=2_f64.powi(53)).contains(&self.bytes) {
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

    /// The formula, compared with the count over all messages of the plan, one byte an element.
    pub(super) fn counted(&self) -> Frame {
        let elements = self.bytes.floor();
        let expected = self.messages();
        let too_many = expected.is_none_or(|messages| messages > MOST_MESSAGES);
        if too_many || elements > 2_f64.powi(53) {
            return Frame::Text(format!(
                "{} messages of this plan are too many to walk here, or their bytes too many to count exactly; \
                 the formulas hold all the same.",
                expected.map_or_else(|| "All".to_owned(), |messages| messages.to_string())
            ));
        }
        let plan = match Plan::all_reduce(self.algorithm, self.ranks, elements as usize) {
            Ok(plan) => plan,
            Err(error) => return Frame::Text(error.to_string()),
        };
        let tally = Tally::of(&plan);
        let closed = self.cost().closed;
        let busiest = tally.busiest();
        let mut rows: Vec<[Value; 3]> = vec![
            [
                "rounds, one after the other".into(),
                (closed.steps as f64).into(),
                (tally.rounds as f64).into(),
            ],
            [
                "bytes on the critical path".into(),
                closed.serial_bytes.into(),
                (tally.serial_elements as f64).into(),
            ],
            [
                "messages into one receiver at once".into(),
                (closed.fan_in as f64).into(),
                (tally.fan_in as f64).into(),
            ],
            [
                "bytes through the busiest port, one way".into(),
                "".into(),
                (busiest.elements as f64).into(),
            ],
            ["messages through it".into(), "".into(), (busiest.messages as f64).into()],
            [
                "bytes that rank 0 sends".into(),
                "".into(),
                tally.sent.first().map_or(0.0, |load| load.elements as f64).into(),
            ],
            ["all messages".into(), "".into(), (tally.messages as f64).into()],
            ["all bytes".into(), "".into(), (tally.elements as f64).into()],
        ];
        if self.algorithm == Algorithm::DoubleTree {
            let chunks = mlsys_sim::collective::CHUNKS;
            rows.push([
                format!("(each half of the buffer in {chunks} chunks; the formula has any number)")
                    .into(),
                "".into(),
                "".into(),
            ]);
        }
        picture::table(["what", "formula", "counted"], rows)
    }

    /// Messages of the plan; none if they do not fit.
    fn messages(&self) -> Option<u64> {
        let p = self.ranks as u64;
        match self.algorithm {
            Algorithm::Ring | Algorithm::ShardedParameterServer => p.checked_mul(2 * (p - 1)),
            Algorithm::RecursiveHalvingDoubling => p.checked_mul(self.algorithm.steps(self.ranks)),
            Algorithm::Tree => p.checked_mul(2),
            Algorithm::ParameterServer => p.checked_mul(2),
            Algorithm::DoubleTree => p.checked_mul(4 * mlsys_sim::collective::CHUNKS as u64),
        }
    }

    pub(super) fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let cost = self.cost();
        let p = self.ranks;
        let bytes = number(self.bytes);
        let (latency, bandwidth) =
            (number(self.network.latency()), number(self.network.bandwidth()));
        let levels = p.next_power_of_two().ilog2();
        let log = format!("ceil(log2 {p}) = {levels}");
        let (formula, numbers) = match self.algorithm {
            Algorithm::Ring => ("2(p - 1)", format!("2*({p} - 1)")),
            Algorithm::RecursiveHalvingDoubling | Algorithm::Tree | Algorithm::DoubleTree => {
                ("2L, L = ceil(log2 p)", format!("2*{levels}, {log}"))
            }
            Algorithm::ParameterServer | Algorithm::ShardedParameterServer => {
                ("there and back", "2".to_owned())
            }
        };
        steps.add("steps", formula, numbers, cost.closed.steps as f64);
        let (formula, numbers) = match self.algorithm {
            Algorithm::Ring
            | Algorithm::RecursiveHalvingDoubling
            | Algorithm::ShardedParameterServer => {
                ("2(p - 1)/p*bytes", format!("2*({p} - 1)/{p}*{bytes}"))
            }
            Algorithm::Tree => ("2L*bytes", format!("2*{levels}*{bytes}")),
            Algorithm::DoubleTree => ("2*bytes", format!("2*{bytes}")),
            Algorithm::ParameterServer => ("2*p*bytes", format!("2*{p}*{bytes}")),
        };
        steps.add("serial_bytes", formula, numbers, cost.closed.serial_bytes);
        steps.add(
            "latency_part_seconds",
            "steps*latency",
            format!("{}*{latency}", cost.closed.steps),
            cost.latency,
        );
        steps.add(
            "bandwidth_part_seconds",
            "serial_bytes/bandwidth",
            format!("{}/{bandwidth}", number(cost.closed.serial_bytes)),
            cost.bandwidth,
        );
        let short = |x: f64| number(significant(x, 6));
        steps.add(
            "seconds",
            "latency part + bandwidth part",
            format!("{} + {}", short(cost.latency), short(cost.bandwidth)),
            cost.seconds(),
        );
        let algorithm = self.bytes / cost.seconds();
        steps.add(
            "algorithm_bandwidth_bytes_per_second",
            "bytes/seconds",
            format!("{bytes}/{}", short(cost.seconds())),
            algorithm,
        );
        steps.add(
            "bus_bandwidth_bytes_per_second",
            "algorithm bandwidth*2(p - 1)/p",
            format!("{}*2*({p} - 1)/{p}", short(algorithm)),
            algorithm * self.bus_factor(),
        );
        steps.table()
    }
}
