//! Kind `quantize`: values to integers with a scale and a zero point, and back.

use mlsys_lab::frame::{Scatter, ScatterPoint};
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Value, frame};

use crate::nested::Nested;
use crate::picture;
use crate::steps::{Steps, finite};

/// Levels drawn; more would lie on each other.
const DRAWN_LEVELS: i64 = 64;

/// The lab `quantize`.
pub struct Quantize {
    schema: Schema,
}

impl Quantize {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("quantize.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Quantize {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let values = Nested::read(&run.params, "values")?;
        let exact: Vec<f32> = values.flat.iter().map(|x| *x as f32).collect();
        let grid = Grid::read(&run.params, &exact)?;
        let codes: Vec<i64> = exact.iter().map(|x| grid.code(*x)).collect();
        let back: Vec<f32> = codes.iter().map(|q| grid.value(*q)).collect();
        run.scalar("qmin", grid.low);
        run.scalar("qmax", grid.high);
        run.scalar("scale", f64::from(grid.scale));
        run.scalar("zero_point", grid.zero);
        run.scalar("quantized", values.like(codes.iter().copied()));
        run.scalar(
            "dequantized",
            values.like(back.iter().map(|x| f64::from(*x))),
        );
        let errors = || {
            exact
                .iter()
                .zip(&back)
                .map(|(x, y)| f64::from(*y) - f64::from(*x))
        };
        let largest = errors().map(f64::abs).fold(0.0, f64::max);
        let squares: f64 = errors().map(|e| e * e).sum();
        let sizes = || "values beyond what a 32-bit float holds".to_owned();
        finite(run, "max_absolute_error", largest, sizes)?;
        let mean = squares / exact.len() as f64;
        finite(run, "mean_squared_error", mean, sizes)?;
        picture::offer(run, "values", || grid.table(&exact, &codes, &back));
        picture::offer(run, "grid", || grid.levels(&exact, &back));
        picture::offer(run, "steps", || grid.steps());
        Ok(())
    }
}

/// The levels that values may take: `scale * (q - zero)` for q from `low` to `high`.
struct Grid {
    low: i64,
    high: i64,
    scale: f32,
    zero: i64,
    /// The least and the greatest value, zero among them.
    range: (f64, f64),
    /// How the scale came about: formula and numbers.
    why: (&'static str, String),
}

impl Grid {
    fn read(params: &Params, values: &[f32]) -> Result<Self, LabError> {
        let bits = params.int("bits")?;
        let (scheme, signed) = (params.text("scheme")?, params.bool("signed")?);
        let half = 1_i64 << (bits - 1);
        let (low, high) = match scheme {
            "symmetric-restricted" => (1 - half, half - 1),
            "affine" if !signed => (0, 2 * half - 1),
            _ => (-half, half - 1),
        };
        // Zero must be exactly representable (padding, ReLU), so the range always includes it.
        let least = values.iter().map(|x| f64::from(*x)).fold(0.0, f64::min);
        let most = values.iter().map(|x| f64::from(*x)).fold(0.0, f64::max);
        let size = most.max(-least);
        let (derived, why) = match scheme {
            "affine" => (
                (most - least) / (high - low) as f64,
                (
                    "(hi - lo)/(qmax - qmin)",
                    format!("({} - {})/({high} - {low})", number(most), number(least)),
                ),
            ),
            "symmetric" => (
                size / half as f64,
                ("m/2^(b-1)", format!("{}/{half}", number(size))),
            ),
            _ => (
                size / (half - 1) as f64,
                ("m/(2^(b-1) - 1)", format!("{}/{}", number(size), half - 1)),
            ),
        };
        let derived = if derived == 0.0 { 1.0 } else { derived };
        let given = params.optional_float("scale");
        if let Some(scale) = given
            && scale <= 0.0
        {
            let message = format!("scale is {scale}; a step between two levels is above 0");
            return Err(LabError::contradiction(["scale"], message));
        }
        let why = if given.is_some() {
            ("given", String::new())
        } else {
            why
        };
        let scale = given.unwrap_or(derived);
        // In f64: in f32 the range [-1, 1] would give 127 instead of 128.
        let zero = if scheme == "affine" {
            let place = (low as f64 - least / scale).round_ties_even();
            (place as i64).clamp(low, high)
        } else {
            0
        };
        let zero = params.optional_int("zero_point").unwrap_or(zero);
        if !(low..=high).contains(&zero) {
            let message = format!(
                "zero_point is {zero}, and these integers go from {low} to {high}: zero would have no level"
            );
            return Err(LabError::contradiction(["zero_point", "bits"], message));
        }
        let scale = scale as f32;
        if !(scale > 0.0 && scale.is_finite()) {
            let message =
                "the scale rounds to 0 or infinity as a 32-bit float; choose other values"
                    .to_owned();
            return Err(LabError::contradiction(["values", "scale"], message));
        }
        let range = (least, most);
        Ok(Self {
            low,
            high,
            scale,
            zero,
            range,
            why,
        })
    }

    /// q = clamp(rhe(value/S) + Z, qmin, qmax), in f32 as devices do it.
    fn code(&self, value: f32) -> i64 {
        let place = (value / self.scale).round_ties_even();
        (place as i64)
            .saturating_add(self.zero)
            .clamp(self.low, self.high)
    }

    /// S*(q - Z).
    fn value(&self, code: i64) -> f32 {
        self.scale * (code - self.zero) as f32
    }

    fn table(&self, exact: &[f32], codes: &[i64], back: &[f32]) -> Frame {
        let row = |((x, q), y): ((&f32, &i64), &f32)| {
            let place = f64::from(x / self.scale);
            let end = *q == self.low || *q == self.high;
            let cut = end && (f64::from(*x) - f64::from(*y)).abs() > f64::from(self.scale) / 2.0;
            [
                Value::Float(f64::from(*x)),
                Value::Float(place),
                Value::Int(*q),
                Value::Float(f64::from(*y)),
                Value::Float(f64::from(*y) - f64::from(*x)),
                Value::from(if cut { "cut off at the end" } else { "" }),
            ]
        };
        let rows = exact.iter().zip(codes).zip(back).map(row).collect();
        picture::table(
            [
                "value",
                "value / S",
                "integer",
                "comes back as",
                "error",
                "",
            ],
            rows,
        )
    }

    fn levels(&self, exact: &[f32], back: &[f32]) -> Frame {
        let point = |x: f64, y: f64, label: String, series: usize| ScatterPoint {
            x: Some(x),
            y: Some(y),
            label,
            series,
        };
        let mut points = Vec::new();
        if self.high - self.low < DRAWN_LEVELS {
            for code in self.low..=self.high {
                let at = f64::from(self.value(code));
                points.push(point(at, 0.0, code.to_string(), 1));
            }
        }
        for (x, y) in exact.iter().zip(back) {
            points.push(point(
                f64::from(*x),
                f64::from(*y),
                number(f64::from(*x)),
                0,
            ));
        }
        let (least, most) = self.range;
        let axis = |name: &str| frame::Dimension {
            name: name.to_owned(),
            ..frame::Dimension::default()
        };
        Frame::Scatter(Scatter {
            x: axis("value"),
            y: axis("comes back as"),
            series: vec!["value".to_owned(), "level".to_owned()],
            points,
            lines: vec![frame::ScatterLine {
                name: "no error".to_owned(),
                points: vec![(least, least), (most, most)],
            }],
        })
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let (least, most) = self.range;
        let range = format!("{} to {}", number(least), number(most));
        steps.add("range", "min(0, values) to max(0, values)", range, "");
        let integers = format!("{} to {}", self.low, self.high);
        steps.add("integers", "qmin to qmax", integers, "");
        let scale = f64::from(self.scale);
        steps.add("S", self.why.0, self.why.1.clone(), scale);
        steps.add(
            "Z",
            "round half to even(qmin - lo/S), within the integers",
            format!("{} - {}/{}", self.low, number(least), number(scale)),
            self.zero,
        );
        steps.add(
            "largest error inside the range",
            "S/2",
            format!("{}/2", number(scale)),
            scale / 2.0,
        );
        steps.table()
    }
}
