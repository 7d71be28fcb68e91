//! Kind `roofline`: the rate a machine can attain at an arithmetic intensity, and what bounds it.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::{Scale, Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Tables, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite, percent};

/// Data paths of tabled machines that a ridge point is told for.
const PATHS: [&str; 5] = ["fp32", "tf32-tensor", "fp16-tensor", "bf16-tensor", "int8-tensor"];

/// The lab `roofline`.
pub struct Roofline {
    schema: Schema,
}

impl Roofline {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/roofline.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Roofline {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let roof = Roof::read(&run.params)?;
        let work = Work::read(&run.params)?;
        let place = roof.over(work.intensity);
        let machine = || {
            format!(
                "a peak of {} flop/s over {} bytes/s",
                number(roof.peak),
                number(roof.bandwidth)
            )
        };
        finite(run, "ridge_intensity", roof.ridge(), machine)?;
        finite(run, "intensity", work.intensity, || {
            let of = |value: Option<f64>| value.map_or_else(String::new, number);
            format!("{} flops over {} bytes", of(work.flops), of(work.bytes))
        })?;
        finite(run, "attainable_flops_per_second", place.rate, machine)?;
        finite(run, "fraction_of_peak", place.rate / roof.peak, machine)?;
        run.scalar("bound", place.bound);
        let weight = run.params.float("weight_bytes_per_element")?;
        let batch = roof.ridge() * weight / 2.0;
        finite(run, "critical_batch", batch, machine)?;
        if let Some((compute, memory)) = work.seconds(&roof) {
            finite(run, "compute_seconds", compute, machine)?;
            finite(run, "memory_seconds", memory, machine)?;
            finite(run, "seconds", compute.max(memory), machine)?;
        }
        picture::offer(run, "roofline", || roof.picture(&work));
        picture::offer(run, "machines", || machines(work.intensity));
        picture::offer(run, "intensities", || roof.intensities(work.intensity));
        picture::offer(run, "steps", || roof.steps(&work, weight));
        Ok(())
    }
}

/// A machine as two ceilings: flop/s and bytes/s.
struct Roof {
    peak: f64,
    bandwidth: f64,
}

/// Where an operation stands under a roof.
struct Place {
    rate: f64,
    bound: &'static str,
}

impl Roof {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            peak: params.float("peak_flops_per_second")?,
            bandwidth: params.float("bandwidth_bytes_per_second")?,
        })
    }

    /// ridge = peak/bandwidth, flops/byte
    fn ridge(&self) -> f64 {
        self.peak / self.bandwidth
    }

    /// attainable = min(peak, intensity*bandwidth)
    fn over(&self, intensity: f64) -> Place {
        Place {
            rate: self.peak.min(intensity * self.bandwidth),
            bound: if intensity >= self.ridge() { "compute" } else { "memory" },
        }
    }

    /// The roof, on axes whose equal steps multiply, and the operation under it.
    fn picture(&self, work: &Work) -> Frame {
        let axis = |name: &str, unit: &str| Dimension {
            name: name.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Log,
            ..Dimension::default()
        };
        let ridge = self.ridge();
        let at = |intensity: f64| (intensity, self.over(intensity).rate);
        let point = |intensity: f64, label: &str, series: usize| ScatterPoint {
            x: Some(intensity),
            y: Some(self.over(intensity).rate),
            label: label.to_owned(),
            series,
        };
        // Far enough to both sides that the operation lies under the drawn roof.
        let least = match work.intensity {
            own if own > 0.0 => ridge.min(own) / 8.0,
            _ => ridge / 8.0,
        };
        let most = ridge.max(work.intensity) * 8.0;
        Frame::Scatter(Scatter {
            x: axis("intensity", "flops/byte"),
            y: axis("attainable", "flop/s"),
            series: vec!["ridge".to_owned(), "operation".to_owned()],
            points: vec![point(ridge, "ridge", 0), point(work.intensity, "this operation", 1)],
            lines: vec![ScatterLine {
                name: "roof".to_owned(),
                points: vec![at(least), at(ridge), at(most)],
            }],
        })
    }

    fn intensities(&self, own: f64) -> Frame {
        let bar = |intensity: f64| {
            let Place { rate, bound } = self.over(intensity);
            let this = if intensity == own { ", this one" } else { "" };
            picture::bar(
                format!("{} flops/byte", number(intensity)),
                rate,
                format!("{} of peak, {bound}{this}", percent(rate / self.peak)),
            )
        };
        let mut all: Vec<f64> = [0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0].to_vec();
        if !all.contains(&own) {
            all.push(own);
            all.sort_by(f64::total_cmp);
        }
        picture::bars("flop/s", all.into_iter().map(bar).collect())
    }

    fn steps(&self, work: &Work, weight: f64) -> Frame {
        let mut steps = Steps::default();
        let (peak, bandwidth, ridge) = (number(self.peak), number(self.bandwidth), self.ridge());
        let numbers = format!("{peak}/{bandwidth}");
        steps.add("ridge_intensity", "peak/bandwidth", numbers, ridge);
        match (work.flops, work.bytes) {
            (Some(flops), Some(bytes)) => {
                let numbers = format!("{}/{}", number(flops), number(bytes));
                steps.add("intensity", "flops/bytes", numbers, work.intensity);
            }
            _ => steps.add("intensity", "as given", "", work.intensity),
        }
        let Place { rate, bound } = self.over(work.intensity);
        let intensity = number(work.intensity);
        steps.add(
            "attainable_flops_per_second",
            "min(peak, intensity*bandwidth)",
            format!("min({peak}, {intensity}*{bandwidth})"),
            rate,
        );
        let share = rate / self.peak;
        let numbers = format!("{}/{peak}", number(rate));
        steps.add("fraction_of_peak", "attainable/peak", numbers, share);
        let sign = if bound == "compute" { ">=" } else { "<" };
        let numbers = format!("{intensity} {sign} {}", number(ridge));
        steps.add("bound", "intensity >= ridge?", numbers, bound);
        steps.add(
            "critical_batch",
            "ridge*weight_bytes_per_element/2",
            format!("{}*{}/2", number(ridge), number(weight)),
            ridge * weight / 2.0,
        );
        if let (Some(flops), Some(bytes), Some((compute, memory))) =
            (work.flops, work.bytes, work.seconds(self))
        {
            let numbers = format!("{}/{peak}", number(flops));
            steps.add("compute_seconds", "flops/peak", numbers, compute);
            let numbers = format!("{}/{bandwidth}", number(bytes));
            steps.add("memory_seconds", "bytes/bandwidth", numbers, memory);
            let numbers = format!("max({}, {})", number(compute), number(memory));
            steps.add("seconds", "the longer", numbers, compute.max(memory));
        }
        steps.table()
    }
}

/// The operation: its counts, or only its intensity.
struct Work {
    flops: Option<f64>,
    bytes: Option<f64>,
    intensity: f64,
}

impl Work {
    fn read(params: &Params) -> Result<Self, LabError> {
        let flops = params.optional_float("flops");
        let bytes = params.optional_float("bytes");
        let intensity = match (flops, bytes) {
            (Some(flops), Some(bytes)) => flops / bytes,
            _ => params.float("intensity")?,
        };
        Ok(Self { flops, bytes, intensity })
    }

    /// compute_seconds = flops/peak; memory_seconds = bytes/bandwidth
    fn seconds(&self, roof: &Roof) -> Option<(f64, f64)> {
        Some((self.flops? / roof.peak, self.bytes? / roof.bandwidth))
    }
}

/// The ridge of every tabled machine, and what the operation attains there.
fn machines(intensity: f64) -> Frame {
    let tables = Tables::builtin();
    let field = |gpu: &str, path: &str| tables.field("gpu", gpu, path).and_then(|x| x.as_f64());
    let mut rows: Vec<[Value; 6]> = Vec::new();
    for gpu in tables.names("gpu") {
        let Some(bandwidth) = field(gpu, "bandwidth_bytes_per_second") else {
            continue;
        };
        for path in PATHS {
            let Some(peak) = field(gpu, &format!("path.{path}.peak_flops_per_second")) else {
                continue;
            };
            let roof = Roof { peak, bandwidth };
            let Place { rate, bound } = roof.over(intensity);
            rows.push([
                gpu.into(),
                path.into(),
                roof.ridge().into(),
                bound.into(),
                rate.into(),
                percent(rate / peak).into(),
            ]);
        }
    }
    picture::table(
        ["machine", "data path", "ridge, flops/byte", "bound by", "attainable, flop/s", "of peak"],
        rows,
    )
}
