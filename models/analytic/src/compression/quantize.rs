//! Kind `quantize`: values to integers with a scale and a zero point, and back.

use mlsys_lab::value::number;
use mlsys_lab::{LabError, Params, Run};
use mlsys_sim::quantizer::{Grid, Scheme, Sign, range};

use crate::closed_form::Simulated;
use crate::compression::nested::Nested;

/// Levels drawn; more would cover each other.
const DRAWN_LEVELS: i64 = 64;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let mut values = Simulated::default();
    let given = Nested::read(&run.params, "values")?;
    let exact: Vec<f32> = given.flat.iter().map(|x| *x as f32).collect();
    let grid = grid(&run.params, &exact, &mut values)?;
    let codes: Vec<i64> = exact.iter().map(|x| grid.code(*x)).collect();
    let back: Vec<f32> = codes.iter().map(|q| grid.value(*q)).collect();
    let errors = || exact.iter().zip(&back).map(|(x, y)| f64::from(*y) - f64::from(*x));
    let rows = exact.iter().zip(&codes).zip(&back).zip(errors()).map(|(((x, q), y), error)| {
        let [value, place, back] = [*x, x / grid.scale, *y].map(|x| f64::from(x).into());
        [value, place, (*q).into(), back, error.into(), grid.clips(*x).into()]
    });
    values.records("rows", ["value", "place", "code", "back", "error", "cut"], rows);
    if grid.high - grid.low < DRAWN_LEVELS {
        let level = |code: i64| [code.into(), f64::from(grid.value(code)).into()];
        values.records("levels", ["code", "at"], (grid.low..=grid.high).map(level));
    }
    values.set("qmin", grid.low);
    values.set("qmax", grid.high);
    values.set("scale", f64::from(grid.scale));
    values.set("zero_point", grid.zero);
    values.set("quantized", given.like(codes.iter().copied()));
    values.set("dequantized", given.like(back.iter().map(|x| f64::from(*x))));
    values.set("max_absolute_error", errors().map(f64::abs).fold(0.0, f64::max));
    let squares: f64 = errors().map(|e| e * e).sum();
    values.set("mean_squared_error", squares / exact.len() as f64);
    Ok(values)
}

/// The levels that values may take, and the derivation of their distance.
fn grid(params: &Params, values: &[f32], shown: &mut Simulated) -> Result<Grid, LabError> {
    let bits = params.size("bits")? as u32;
    let scheme = params.text("scheme")?.parse().unwrap_or(Scheme::Affine);
    let sign = if params.bool("signed")? { Sign::Signed } else { Sign::Unsigned };
    let (low, high) = scheme.integers(bits, sign);
    let (least, most) = range(values);
    let step = params.optional_float("scale").unwrap_or_else(|| scheme.step(bits, (least, most)));
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
        let message = "the scale rounds to 0 or infinity as a 32-bit float; choose other values";
        return Err(LabError::contradiction(["values", "scale"], message));
    }
    let size = number(most.max(-least));
    shown.set(
        "derivation",
        match scheme {
            Scheme::Affine => format!("({} - {})/({high} - {low})", number(most), number(least)),
            Scheme::Symmetric => format!("{size}/{}", -low),
            Scheme::SymmetricRestricted => format!("{size}/{high}"),
        },
    );
    shown.set("least", least);
    shown.set("most", most);
    Ok(Grid { low, high, scale, zero })
}
