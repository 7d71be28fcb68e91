//! Kind `integer-matmul`: a product of quantized matrices in integers, and its rescaling by multiply and shift.

use mlsys_lab::{Frame, LabError, Params, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::integer::too_large;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let product = Product::read(&run.params)?;
    let direct = product.each(Product::direct)?;
    let expanded = product.each(|product, i, j| product.parts(i, j)?.sum())?;
    values.set("accumulator", rows(&direct));
    values.set("expanded", rows(&expanded));
    let rescale = run.params.optional_float("multiplier").map(Rescale::of).transpose()?;
    if let Some(rescale) = &rescale {
        values.set("multiplier_q31", rescale.factor);
        values.set("right_shift", rescale.shift);
    }
    picture::offer(run, "accumulators", || product.table(&direct));
    picture::offer(run, "steps", || product.steps(rescale.as_ref()));
    Ok(values)
}

fn rows(matrix: &[Vec<i64>]) -> Value {
    let row = |row: &Vec<i64>| Value::Array(row.iter().copied().map(Value::Int).collect());
    Value::Array(matrix.iter().map(row).collect())
}

/// Two matrices of integers with their zero points: `a` is m x k, `b` is k x n.
struct Product {
    a: Vec<Vec<i64>>,
    b: Vec<Vec<i64>>,
    za: i64,
    zb: i64,
}

/// What `sum((a - za)(b - zb))` comes apart into.
struct Parts {
    products: i64,
    rows: i64,
    columns: i64,
    constant: i64,
}

impl Parts {
    fn sum(&self) -> Option<i64> {
        let rest = self.products.checked_sub(self.rows)?.checked_sub(self.columns)?;
        rest.checked_add(self.constant)
    }
}

impl Product {
    fn read(params: &Params) -> Result<Self, LabError> {
        let (a, b) = (matrix(params, "a")?, matrix(params, "b")?);
        let (inner, below) = (a[0].len(), b.len());
        if inner != below {
            let message = format!(
                "a has {inner} columns and b has {below} rows; a product needs as many of both"
            );
            return Err(LabError::contradiction(["a", "b"], message));
        }
        let (za, zb) = (params.int("a_zero_point")?, params.int("b_zero_point")?);
        Ok(Self { a, b, za, zb })
    }

    /// One number for each output; nothing where 64 bits do not hold it.
    fn each(
        &self,
        of: impl Fn(&Self, usize, usize) -> Option<i64>,
    ) -> Result<Vec<Vec<i64>>, LabError> {
        let columns = self.b[0].len();
        let row = |i: usize| (0..columns).map(|j| of(self, i, j)).collect::<Option<Vec<i64>>>();
        let all: Option<Vec<Vec<i64>>> = (0..self.a.len()).map(row).collect();
        all.ok_or_else(|| too_large(["a", "b"], "a sum of products"))
    }

    /// sum over k of (a - za)(b - zb).
    fn direct(&self, i: usize, j: usize) -> Option<i64> {
        let mut pairs = self.a[i].iter().zip(&self.b);
        pairs.try_fold(0_i64, |sum, (a, row)| {
            let product = a.checked_sub(self.za)?.checked_mul(row[j].checked_sub(self.zb)?)?;
            sum.checked_add(product)
        })
    }

    /// sum(ab), zb*sum(a), za*sum(b), K*za*zb: the first is a plain integer product, the second belongs to a row, the
    /// third to a column and is known beforehand where b is a weight, the fourth is one number.
    fn parts(&self, i: usize, j: usize) -> Option<Parts> {
        let mut pairs = self.a[i].iter().zip(&self.b);
        let products =
            pairs.try_fold(0_i64, |sum, (a, row)| sum.checked_add(a.checked_mul(row[j])?))?;
        let row = self.a[i].iter().try_fold(0_i64, |sum, a| sum.checked_add(*a))?;
        let column = self.b.iter().try_fold(0_i64, |sum, row| sum.checked_add(row[j]))?;
        let inner = i64::try_from(self.b.len()).ok()?;
        Some(Parts {
            products,
            rows: self.zb.checked_mul(row)?,
            columns: self.za.checked_mul(column)?,
            constant: inner.checked_mul(self.za)?.checked_mul(self.zb)?,
        })
    }

    fn table(&self, direct: &[Vec<i64>]) -> Frame {
        let mut rows = Vec::new();
        for (i, row) in direct.iter().enumerate() {
            for (j, sum) in row.iter().enumerate() {
                let Some(parts) = self.parts(i, j) else {
                    continue;
                };
                rows.push([
                    Value::from(format!("row {i}, column {j}")),
                    Value::Int(parts.products),
                    Value::Int(-parts.rows),
                    Value::Int(-parts.columns),
                    Value::Int(parts.constant),
                    Value::Int(*sum),
                ]);
            }
        }
        picture::table(
            ["output", "sum(ab)", "-zb*sum(a)", "-za*sum(b)", "+K*za*zb", "accumulator"],
            rows,
        )
    }

    fn steps(&self, rescale: Option<&Rescale>) -> Frame {
        let mut steps = Steps::default();
        let (za, zb) = (self.za, self.zb);
        let terms: Vec<String> = self.a[0]
            .iter()
            .zip(&self.b)
            .map(|(a, row)| format!("({a} - {za})({} - {zb})", row[0]))
            .collect();
        if let Some(sum) = self.direct(0, 0) {
            steps.add("first output", "sum of (a - za)(b - zb)", terms.join(" + "), sum);
        }
        if let Some(parts) = self.parts(0, 0) {
            let sum = parts.sum().unwrap_or_default();
            let numbers = format!(
                "{} - {} - {} + {}",
                parts.products, parts.rows, parts.columns, parts.constant
            );
            steps.add("the same", "sum(ab) - zb*sum(a) - za*sum(b) + K*za*zb", numbers, sum);
        }
        if let Some(rescale) = rescale {
            let half = rescale.factor as f64 / (1_i64 << 31) as f64;
            steps.add("M0", "M*2^n, brought into [0.5, 1)", format!("M*2^{}", rescale.shift), half);
            steps.add(
                "multiplier_q31",
                "round(M0*2^31)",
                format!("{half}*2147483648"),
                rescale.factor,
            );
        }
        steps.table()
    }
}

/// Rows of integers of equal length.
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

/// A real factor as an integer and a shift: M = factor / 2^31 / 2^shift.
struct Rescale {
    factor: i64,
    shift: i64,
}

impl Rescale {
    /// Brings M into [0.5, 1) by doubling, then rounds it to 31 bits after the point.
    fn of(multiplier: f64) -> Result<Self, LabError> {
        if !(multiplier > 0.0 && multiplier < 1.0) {
            let message =
                format!("multiplier is {multiplier}; a rescale factor lies between 0 and 1");
            return Err(LabError::contradiction(["multiplier"], message));
        }
        let (mut half, mut shift) = (multiplier, 0_i64);
        while half < 0.5 {
            half *= 2.0;
            shift += 1;
        }
        let one = 1_i64 << 31;
        let factor = (half * one as f64).round() as i64;
        Ok(if factor == one {
            Self { factor: one / 2, shift: shift - 1 }
        } else {
            Self { factor, shift }
        })
    }
}
