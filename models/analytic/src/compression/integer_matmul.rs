//! Kind `integer-matmul`: a product of quantized matrices in integers, and its rescaling by multiply and shift.

use mlsys_lab::{LabError, Params, Run, Value};
use mlsys_sim::integer::too_large;

use crate::closed_form::Simulated;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let params = &run.params;
    let (a, b) = (matrix(params, "a")?, matrix(params, "b")?);
    let (inner, below) = (a[0].len(), b.len());
    if inner != below {
        let message = format!(
            "a has {inner} columns and b has {below} rows; a product needs as many of both"
        );
        return Err(LabError::contradiction(["a", "b"], message));
    }
    let (za, zb) = (params.int("a_zero_point")?, params.int("b_zero_point")?);
    let terms = a[0].iter().zip(&b).map(|(a, row)| format!("({a} - {za})({} - {zb})", row[0]));
    let mut values = Simulated::default();
    values.set("terms", terms.collect::<Vec<_>>().join(" + "));
    let (mut direct, mut expanded, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    for (i, row) in a.iter().enumerate() {
        let (mut sums, mut same) = (Vec::new(), Vec::new());
        for j in 0..b[0].len() {
            let column: Vec<i64> = b.iter().map(|row| row[j]).collect();
            let output = Output::new(row, &column, za, zb);
            let output = output.ok_or_else(|| too_large(["a", "b"], "a sum of products"))?;
            sums.push(Value::Int(output.direct));
            same.push(Value::Int(output.expanded));
            let [row, column] = [i, j].map(|place| Value::Int(place as i64));
            let [products, a, b, constant] = output.parts.map(Value::Int);
            outputs.push([row, column, products, a, b, constant, output.direct.into()]);
        }
        direct.push(Value::Array(sums));
        expanded.push(Value::Array(same));
    }
    values.list("accumulator", direct);
    values.list("expanded", expanded);
    let keys = ["row", "column", "products", "a", "b", "constant", "sum"];
    values.records("outputs", keys, outputs);
    if let Some(multiplier) = params.optional_float("multiplier") {
        let (factor, shift) = fixed_point(multiplier);
        values.set("multiplier_q31", factor);
        values.set("half_digits", format!("{}", factor as f64 / (1_i64 << 31) as f64));
        values.set("right_shift", shift);
    }
    Ok(values)
}

/// One output: the sum over k of (a - za)(b - zb).
struct Output {
    direct: i64,
    /// The parts put together.
    expanded: i64,
    /// sum(ab), zb*sum(a), za*sum(b), K*za*zb: the first is a plain integer product, the second belongs to a row, the
    /// third to a column and is known beforehand where b is a weight, the fourth is one number.
    parts: [i64; 4],
}

impl Output {
    /// None where 64 bits do not hold it.
    fn new(row: &[i64], column: &[i64], za: i64, zb: i64) -> Option<Self> {
        let pairs = || row.iter().zip(column);
        let direct = pairs().try_fold(0_i64, |sum, (a, b)| {
            sum.checked_add(a.checked_sub(za)?.checked_mul(b.checked_sub(zb)?)?)
        })?;
        let products =
            pairs().try_fold(0_i64, |sum, (a, b)| sum.checked_add(a.checked_mul(*b)?))?;
        let total = |list: &[i64]| list.iter().try_fold(0_i64, |sum, x| sum.checked_add(*x));
        let (rows, columns) = (zb.checked_mul(total(row)?)?, za.checked_mul(total(column)?)?);
        let constant = i64::try_from(row.len()).ok()?.checked_mul(za)?.checked_mul(zb)?;
        let rest = products.checked_sub(rows)?.checked_sub(columns)?;
        let expanded = rest.checked_add(constant)?;
        Some(Self { direct, expanded, parts: [products, rows, columns, constant] })
    }
}

fn matrix(params: &Params, name: &str) -> Result<Vec<Vec<i64>>, LabError> {
    let wrong = |what: String| Err(LabError::contradiction([name], format!("{name} {what}")));
    let Some(Value::Array(rows)) = params.get(name) else {
        return wrong("is not set; give rows such as [[1, 2], [3, 4]]".to_owned());
    };
    let mut read: Vec<Vec<i64>> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let Value::Array(items) = row else {
            return wrong(format!(
                "has {row} where row {at} should stand; give rows such as [[1, 2], [3, 4]]"
            ));
        };
        let mut integers = Vec::new();
        for item in items {
            match item {
                Value::Int(i) => integers.push(*i),
                Value::Float(x) if x.fract() == 0.0 && x.abs() < 9e15 => integers.push(*x as i64),
                Value::Float(_)
                | Value::Bool(_)
                | Value::Text(_)
                | Value::Array(_)
                | Value::Table(_) => {
                    return wrong(format!("has {item} in row {at}, and it takes integers"));
                }
            }
        }
        if integers.is_empty() || read.first().is_some_and(|first| first.len() != integers.len()) {
            return wrong(format!(
                "has {} integers in row {at}; all rows are equally long",
                integers.len()
            ));
        }
        read.push(integers);
    }
    if read.is_empty() {
        return wrong("has no row; give rows such as [[1, 2], [3, 4]]".to_owned());
    }
    Ok(read)
}

/// A real factor below 1 as an integer and a shift: M = factor / 2^31 / 2^shift. M is brought into [0.5, 1) by doubling,
/// then rounded to 31 bits after the point.
fn fixed_point(multiplier: f64) -> (i64, i64) {
    let (mut half, mut shift) = (multiplier, 0_i64);
    while half < 0.5 {
        half *= 2.0;
        shift += 1;
    }
    let one = 1_i64 << 31;
    let factor = (half * one as f64).round() as i64;
    if factor == one { (one / 2, shift - 1) } else { (factor, shift) }
}
