//! Singular values of a small matrix.

/// Sweeps over all pairs; a handful is enough, for each roughly squares what is left off the diagonal.
const MOST_SWEEPS: usize = 30;

/// The singular values of a matrix `[rows, columns]`, row-major, the largest first: roots of the eigenvalues of its Gram
/// matrix, by Jacobi's rotations. Those below about 1e-8 of the largest are rounding.
pub(super) fn singular_values(matrix: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let n = rows.min(columns);
    if n == 0 {
        return Vec::new();
    }
    let at = |row: usize, column: usize| matrix.get(row * columns + column).copied().unwrap_or(0.0);
    let mut gram = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = if columns <= rows {
                (0..rows).map(|row| at(row, i) * at(row, j)).sum()
            } else {
                (0..columns).map(|column| at(i, column) * at(j, column)).sum()
            };
            gram[i * n + j] = sum;
            gram[j * n + i] = sum;
        }
    }
    let mut values: Vec<f64> =
        eigenvalues(gram, n).into_iter().map(|value| value.max(0.0).sqrt()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// The eigenvalues of a symmetric matrix `[n, n]`, in no order.
fn eigenvalues(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    let whole: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..MOST_SWEEPS {
        let off: f64 = (0..n)
            .flat_map(|i| (0..n).filter(move |j| i != *j).map(move |j| i * n + j))
            .map(|place| a[place] * a[place])
            .sum();
        if off <= 1e-30 * whole || !off.is_finite() {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, n, p, q);
            }
        }
    }
    (0..n).map(|i| a[i * n + i]).collect()
}

/// Turns the axes `p` and `q` so that the entry between them is zero (Golub & Van Loan, section 8.5).
fn rotate(a: &mut [f64], n: usize, p: usize, q: usize) {
    let between = a[p * n + q];
    if between == 0.0 {
        return;
    }
    let tau = (a[q * n + q] - a[p * n + p]) / (2.0 * between);
    let t = tau.signum() / (tau.abs() + tau.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_nn::random::Stream;

    #[test]
    fn known_matrices_have_their_singular_values() {
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        };
        close(singular_values(&[3.0, 0.0, 0.0, -4.0], 2, 2), &[4.0, 3.0]);
        close(singular_values(&[1.0, 2.0, 2.0], 1, 3), &[3.0]);
        close(singular_values(&[1.0, 1.0, 0.0, 1.0, 1.0, 0.0], 2, 3), &[2.0, 0.0]);
        close(singular_values(&[], 0, 3), &[]);
    }

    #[test]
    fn a_product_of_thin_matrices_has_as_many_values_as_they_are_thin() {
        let mut stream = Stream::new(1, "test");
        let (rows, columns, rank) = (30, 20, 3);
        let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| stream.normal()).collect() };
        let (a, b) = (draw(rows * rank), draw(rank * columns));
        let product: Vec<f64> = (0..rows * columns)
            .map(|place| {
                let (i, j) = (place / columns, place % columns);
                (0..rank).map(|k| a[i * rank + k] * b[k * columns + j]).sum()
            })
            .collect();
        let values = singular_values(&product, rows, columns);
        assert!(values[2] > 1.0 && values[3] < 1e-6 * values[0], "{values:?}");
        // The sum of their squares is that of the entries.
        let squares: f64 = values.iter().map(|x| x * x).sum();
        let entries: f64 = product.iter().map(|x| x * x).sum();
        assert!((squares / entries - 1.0).abs() < 1e-9);
    }
}
