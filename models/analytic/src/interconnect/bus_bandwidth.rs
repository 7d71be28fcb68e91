//! Kind `bus-bandwidth`: what a benchmark of a collective says about the wires.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite};

/// The lab `bus-bandwidth`.
pub struct BusBandwidth {
    schema: Schema,
}

impl BusBandwidth {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/bus-bandwidth.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for BusBandwidth {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let measured = Measured::read(&run.params)?;
        let told = || match measured.took {
            Some((bytes, seconds)) => {
                format!("{} bytes over {} s", number(bytes), number(seconds))
            }
            None => "as given".to_owned(),
        };
        finite(run, "algorithm_bandwidth_bytes_per_second", measured.bandwidth, told)?;
        run.scalar("factor", measured.factor());
        let bus = measured.factor() * measured.bandwidth;
        finite(run, "bus_bandwidth_bytes_per_second", bus, told)?;
        picture::offer(run, "ranks", || measured.ranks());
        picture::offer(run, "operations", || measured.operations());
        picture::offer(run, "steps", || measured.steps());
        Ok(())
    }
}

/// A collective that can be measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    Broadcast,
    Reduce,
}

impl Operation {
    const ALL: [Self; 6] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::AllToAll,
        Self::Broadcast,
        Self::Reduce,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllToAll => "all-to-all",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
        }
    }

    /// Bus over algorithm bandwidth (NVIDIA/nccl-tests, doc/PERFORMANCE.md).
    fn factor(self, ranks: f64) -> f64 {
        match self {
            Self::AllReduce => 2.0 * (ranks - 1.0) / ranks,
            Self::AllGather | Self::ReduceScatter | Self::AllToAll => (ranks - 1.0) / ranks,
            Self::Broadcast | Self::Reduce => 1.0,
        }
    }

    /// The factor as a formula, and why.
    fn said(self) -> (&'static str, &'static str) {
        match self {
            Self::AllReduce => (
                "2(n - 1)/n",
                "each piece of 1/n passes n - 1 links to be summed and n - 1 to be handed out",
            ),
            Self::AllGather => ("(n - 1)/n", "each rank receives all but its own piece"),
            Self::ReduceScatter => ("(n - 1)/n", "each rank sends all but its own piece"),
            Self::AllToAll => ("(n - 1)/n", "one part in n stays where it is"),
            Self::Broadcast => ("1", "the whole buffer leaves the root once"),
            Self::Reduce => ("1", "the whole sum enters the root once"),
        }
    }
}

/// What was measured.
struct Measured {
    operation: Operation,
    ranks: f64,
    bandwidth: f64,
    /// Bytes and seconds, unless the bandwidth was given.
    took: Option<(f64, f64)>,
}

impl Measured {
    fn read(params: &Params) -> Result<Self, LabError> {
        let name = params.text("operation")?;
        let operation = Operation::ALL.into_iter().find(|one| one.name() == name);
        let operation = operation.ok_or_else(|| {
            LabError::contradiction(["operation"], format!("no collective is called '{name}'"))
        })?;
        let (bandwidth, took) = match params.optional_float("algorithm_bandwidth_bytes_per_second")
        {
            Some(bandwidth) => (bandwidth, None),
            None => {
                let (bytes, seconds) = (params.float("bytes")?, params.float("seconds")?);
                if seconds == 0.0 {
                    return Err(LabError::contradiction(
                        ["seconds"],
                        "nothing is moved in 0 s; give the time that one operation took",
                    ));
                }
                (bytes / seconds, Some((bytes, seconds)))
            }
        };
        Ok(Self { operation, ranks: params.int("ranks")? as f64, bandwidth, took })
    }

    fn factor(&self) -> f64 {
        self.operation.factor(self.ranks)
    }

    /// The same algorithm bandwidth measured with other numbers of ranks.
    fn ranks(&self) -> Frame {
        let mut all = vec![2.0, 4.0, 8.0, 16.0, 64.0, 256.0, 1024.0];
        if !all.contains(&self.ranks) {
            all.push(self.ranks);
            all.sort_by(f64::total_cmp);
        }
        let bar = |ranks: &f64| {
            let factor = self.operation.factor(*ranks);
            let this = if *ranks == self.ranks { ", this one" } else { "" };
            picture::bar(
                format!("{} ranks", number(*ranks)),
                1e-9 * factor * self.bandwidth,
                format!("x {}{this}", number(significant(factor, 4))),
            )
        };
        picture::bars("GB/s", all.iter().map(bar).collect())
    }

    /// The same algorithm bandwidth of other collectives.
    fn operations(&self) -> Frame {
        let row = |operation: Operation| {
            let factor = operation.factor(self.ranks);
            let (formula, why) = operation.said();
            [
                Value::from(operation.name()),
                formula.into(),
                factor.into(),
                (factor * self.bandwidth).into(),
                why.into(),
            ]
        };
        picture::table(
            ["collective", "factor", "value", "bus, bytes/s", "because"],
            Operation::ALL.map(row).to_vec(),
        )
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        match self.took {
            Some((bytes, seconds)) => steps.add(
                "algorithm_bandwidth_bytes_per_second",
                "bytes/seconds",
                format!("{}/{}", number(bytes), number(seconds)),
                self.bandwidth,
            ),
            None => {
                steps.add("algorithm_bandwidth_bytes_per_second", "as given", "", self.bandwidth)
            }
        }
        let ranks = number(self.ranks);
        let (formula, _) = self.operation.said();
        let numbers = formula.replace("2(", "2*(").replace('n', &ranks);
        steps.add("factor", formula, numbers, self.factor());
        steps.add(
            "bus_bandwidth_bytes_per_second",
            "factor*algorithm bandwidth",
            format!(
                "{}*{}",
                number(significant(self.factor(), 6)),
                number(significant(self.bandwidth, 6))
            ),
            self.factor() * self.bandwidth,
        );
        steps.table()
    }
}
