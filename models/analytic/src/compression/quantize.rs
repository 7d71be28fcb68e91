//! Kind `quantize`: values to integers with a scale and a zero point, and back.

use mlsys_lab::frame::{Scatter, ScatterPoint};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, LabError, Params, Run, Value, frame};

use crate::closed_form::Values;
use crate::compression::nested::Nested;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::quantizer::{Grid, Scheme, Sign, range};

/// Levels drawn; more would lie on each other.
const DRAWN_LEVELS: i64 = 64;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let given = Nested::read(&run.params, "values")?;
    let exact: Vec<f32> = given.flat.iter().map(|x| *x as f32).collect();
    let derived = Derived::read(&run.params, &exact)?;
    let grid = derived.grid;
    let codes: Vec<i64> = exact.iter().map(|x| grid.code(*x)).collect();
    let back: Vec<f32> = codes.iter().map(|q| grid.value(*q)).collect();
    values.set("qmin", grid.low);
    values.set("qmax", grid.high);
    values.set("scale", f64::from(grid.scale));
    values.set("zero_point", grid.zero);
    values.set("quantized", given.like(codes.iter().copied()));
    values.set("dequantized", given.like(back.iter().map(|x| f64::from(*x))));
    let errors = || exact.iter().zip(&back).map(|(x, y)| f64::from(*y) - f64::from(*x));
    let largest = errors().map(f64::abs).fold(0.0, f64::max);
    let squares: f64 = errors().map(|e| e * e).sum();
    let sizes = || "values beyond what a 32-bit float holds".to_owned();
    values.finite("max_absolute_error", largest, sizes)?;
    let mean = squares / exact.len() as f64;
    values.finite("mean_squared_error", mean, sizes)?;
    picture::offer(run, "values", || derived.table(&exact, &codes, &back));
    picture::offer(run, "grid", || derived.levels(&exact, &back));
    picture::offer(run, "steps", || derived.steps());
    Ok(values)
}

/// The levels that values may take, and how they came about.
struct Derived {
    grid: Grid,
    /// The least and the greatest value, zero among them.
    range: (f64, f64),
    /// How the scale came about: formula and numbers.
    why: (&'static str, String),
}

impl Derived {
    fn read(params: &Params, values: &[f32]) -> Result<Self, LabError> {
        let bits = params.size("bits")? as u32;
        let scheme = Scheme::named(params.text("scheme")?).unwrap_or(Scheme::Affine);
        let sign = if params.bool("signed")? { Sign::Signed } else { Sign::Unsigned };
        let (low, high) = scheme.integers(bits, sign);
        let (least, most) = range(values);
        let size = number(most.max(-least));
        let given = params.optional_float("scale");
        if let Some(scale) = given
            && scale <= 0.0
        {
            let message = format!("scale is {scale}; a step between two levels is above 0");
            return Err(LabError::contradiction(["scale"], message));
        }
        let why = match (given, scheme) {
            (Some(_), Scheme::Affine | Scheme::Symmetric | Scheme::SymmetricRestricted) => {
                ("given", String::new())
            }
            (None, Scheme::Affine) => (
                "(hi - lo)/(qmax - qmin)",
                format!("({} - {})/({high} - {low})", number(most), number(least)),
            ),
            (None, Scheme::Symmetric) => ("m/2^(b-1)", format!("{size}/{}", -low)),
            (None, Scheme::SymmetricRestricted) => ("m/(2^(b-1) - 1)", format!("{size}/{high}")),
        };
        let step = given.unwrap_or_else(|| scheme.step(bits, (least, most)));
        let zero = scheme.zero((low, high), least, step);
        let zero = params.optional_int("zero_point").unwrap_or(zero);
        if !(low..=high).contains(&zero) {
            let message = format!(
                "zero_point is {zero}, and these integers go from {low} to {high}: zero would have no level"
            );
            return Err(LabError::contradiction(["zero_point", "bits"], message));
        }
        let scale = step as f32;
        if !(scale > 0.0 && scale.is_finite()) {
            let message =
                "the scale rounds to 0 or infinity as a 32-bit float; choose other values"
                    .to_owned();
            return Err(LabError::contradiction(["values", "scale"], message));
        }
        Ok(Self { grid: Grid { low, high, scale, zero }, range: (least, most), why })
    }

    fn table(&self, exact: &[f32], codes: &[i64], back: &[f32]) -> Frame {
        let row = |((x, q), y): ((&f32, &i64), &f32)| {
            let place = f64::from(x / self.grid.scale);
            let cut = self.grid.clips(*x);
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
        picture::table(["value", "value / S", "integer", "comes back as", "error", ""], rows)
    }

    fn levels(&self, exact: &[f32], back: &[f32]) -> Frame {
        let point = |x: f64, y: f64, label: String, series: usize| ScatterPoint {
            x: Some(x),
            y: Some(y),
            label,
            series,
        };
        let mut points = Vec::new();
        if self.grid.high - self.grid.low < DRAWN_LEVELS {
            for code in self.grid.low..=self.grid.high {
                let at = f64::from(self.grid.value(code));
                points.push(point(at, 0.0, code.to_string(), 1));
            }
        }
        for (x, y) in exact.iter().zip(back) {
            points.push(point(f64::from(*x), f64::from(*y), number(f64::from(*x)), 0));
        }
        let (least, most) = self.range;
        let axis =
            |name: &str| frame::Dimension { name: name.to_owned(), ..frame::Dimension::default() };
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
        let integers = format!("{} to {}", self.grid.low, self.grid.high);
        steps.add("integers", "qmin to qmax", integers, "");
        let scale = f64::from(self.grid.scale);
        steps.add("S", self.why.0, self.why.1.clone(), scale);
        steps.add(
            "Z",
            "round half to even(qmin - lo/S), within the integers",
            format!("{} - {}/{}", self.grid.low, number(least), number(scale)),
            self.grid.zero,
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
