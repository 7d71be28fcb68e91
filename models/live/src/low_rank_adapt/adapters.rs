//! Adapters on a network: put on, read, merged.
//!
//! They are burn's own ([`LoraAdapter`]): a frozen parameter W that has one is used as W + (alpha/r) A B wherever the network
//! uses it, and only A and B are trained. What is ours is how A is drawn, for burn would ask the device for random numbers.

use burn::module::{LoraAdapter, Module, ModuleVisitor, Param, Reparameterizer};
use burn::tensor::{Tensor, TensorData};
use mlsys_nn::baseline::Layer;
use mlsys_nn::networks::{Activation, Network};
use mlsys_nn::random::Stream;

/// Puts adapters on matrices, and freezes everything else.
struct Attach<'a> {
    targets: &'a [Layer],
    rank: usize,
    scale: f64,
    stream: Stream,
    /// Numbers of the network's row that have gone by.
    passed: usize,
}

impl Reparameterizer for Attach<'_> {
    type Reparam = LoraAdapter;

    fn reparameterize<const D: usize>(
        &mut self,
        _path: &str,
        param: Param<Tensor<D>>,
    ) -> (Param<Tensor<D>>, Option<LoraAdapter>) {
        let begin = self.passed;
        self.passed += param.shape().num_elements();
        let own = begin..self.passed;
        let base = param.set_require_grad(false);
        let target = self.targets.iter().find(|layer| layer.weights == own);
        let adapter = target.map(|layer| {
            let device = base.base().device();
            // Of the size that lets x A be as large as x; B is zero, so that nothing changes yet.
            let deviation = 1.0 / (layer.inputs.max(1) as f64).sqrt();
            let count = layer.inputs * self.rank;
            let a: Vec<f32> =
                (0..count).map(|_| (deviation * self.stream.normal()) as f32).collect();
            let a = TensorData::new(a, [layer.inputs, self.rank]);
            LoraAdapter {
                a: Param::from_tensor(Tensor::from_data(a, &device)),
                b: Param::from_tensor(Tensor::zeros([self.rank, layer.outputs], &device)),
                scale: self.scale,
            }
        });
        (base, adapter)
    }
}

/// The network with adapters of a rank on some of its matrices, times `scale`, and everything else frozen.
///
/// Convolutions are no matrices to burn, so they take none.
pub(super) fn attach(
    network: Network,
    targets: &[Layer],
    rank: usize,
    scale: f64,
    seed: u64,
) -> Network {
    network.apply_reparameterization(Attach {
        targets,
        rank,
        scale,
        stream: Stream::new(seed, "lora/a"),
        passed: 0,
    })
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AdaptedWeights {
    pub(super) base: Vec<f32>,
    /// The adapters, in the order of their matrices.
    pub(super) pairs: Vec<Pair>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pair {
    /// `[inputs, rank]`, row-major.
    pub(super) a: Vec<f32>,
    /// `[rank, outputs]`, row-major.
    pub(super) b: Vec<f32>,
    pub(super) inputs: usize,
    pub(super) rank: usize,
    pub(super) outputs: usize,
}

impl AdaptedWeights {
    pub(super) fn read(network: &Network) -> Self {
        let mut visit = Visit::default();
        network.visit(&mut visit);
        let mut factors = visit.factors.into_iter();
        let mut pairs = Vec::new();
        while let (Some((a, [inputs, rank])), Some((b, [_, outputs]))) =
            (factors.next(), factors.next())
        {
            pairs.push(Pair { a, b, inputs, rank, outputs });
        }
        Self { base: visit.base, pairs }
    }

    /// A row with scale A B added to each adapted matrix, in double precision; a negative scale takes it away again.
    pub(super) fn with_products(&self, row: &[f32], targets: &[Layer], scale: f64) -> Vec<f32> {
        let mut row = row.to_vec();
        for (layer, pair) in targets.iter().zip(&self.pairs) {
            let matrix = layer.matrix(&row).into_iter().zip(pair.product());
            let sum: Vec<f32> =
                matrix.map(|(w, change)| (f64::from(w) + scale * change) as f32).collect();
            layer.put(&mut row, &sum);
        }
        row
    }
}

impl Pair {
    /// A B, row-major `[inputs, outputs]`.
    pub(super) fn product(&self) -> Vec<f64> {
        let mut product = Vec::with_capacity(self.inputs * self.outputs);
        for row in self.a.chunks(self.rank.max(1)) {
            let start = product.len();
            product.resize(start + self.outputs, 0.0);
            for (a, b) in row.iter().zip(self.b.chunks(self.outputs.max(1))) {
                for (to, b) in product[start..].iter_mut().zip(b) {
                    *to += f64::from(*a) * f64::from(*b);
                }
            }
        }
        product
    }
}

/// Tells the frozen numbers from those of adapters, which burn visits as a module behind the parameter that has them.
#[derive(Default)]
struct Visit {
    base: Vec<f32>,
    factors: Vec<(Vec<f32>, [usize; 2])>,
    inside: usize,
}

const INSIDE: &str = "Reparameterization";

impl ModuleVisitor for Visit {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.base().without_autodiff();
        let shape = tensor.dims();
        let numbers = tensor.into_data();
        let numbers = numbers.iter::<f32>();
        match (self.inside, shape.as_slice()) {
            (0, _) => self.base.extend(numbers),
            (_, [rows, columns]) => self.factors.push((numbers.collect(), [*rows, *columns])),
            // An adapter has matrices alone.
            (_, _) => {}
        }
    }

    fn enter_module(&mut self, _name: &str, container_type: &str) {
        self.inside += usize::from(container_type == INSIDE);
    }

    fn exit_module(&mut self, _name: &str, container_type: &str) {
        self.inside -= usize::from(container_type == INSIDE);
    }
}

/// As in the paper: x W + scale (x A) B, the product A B never computed. Of a transformer as burn merges adapters.
pub(super) fn unmerged(network: &Network, x: Tensor<2>, activation: Activation) -> Tensor<2> {
    let Network::Mlp(mlp) = network else { return network.forward(x, activation) };
    let mut x = x;
    for (index, layer) in mlp.layers.iter().enumerate() {
        if index > 0 {
            x = activation.apply(x);
        }
        let mut y = x.clone().matmul(layer.weight.base());
        if let Some(adapter) = layer.weight.adapter() {
            y = y + x.matmul(adapter.a.val()).matmul(adapter.b.val()) * adapter.scale;
        }
        x = match &layer.bias {
            Some(bias) => y + bias.val().unsqueeze::<2>(),
            None => y,
        };
    }
    x
}

/// Frozen numbers that are not what they were, bit by bit.
pub(super) fn changed(before: &[f32], after: &[f32]) -> usize {
    let differ = |(a, b): &(&f32, &f32)| a.to_bits() != b.to_bits();
    before.iter().zip(after).filter(differ).count() + before.len().abs_diff(after.len())
}

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
            (gram[i * n + j], gram[j * n + i]) = (sum, sum);
        }
    }
    let roots = eigenvalues(gram, n).into_iter().map(|value| value.max(0.0).sqrt());
    let mut values: Vec<f64> = roots.collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

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
    let mut turn = |i: usize, j: usize| (a[i], a[j]) = (c * a[i] - s * a[j], s * a[i] + c * a[j]);
    (0..n).for_each(|k| turn(k * n + p, k * n + q));
    (0..n).for_each(|k| turn(p * n + k, q * n + k));
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
    fn low_rank_product_has_that_many_singular_values() {
        let mut stream = Stream::new(1, "test");
        let (rows, columns, rank) = (30, 20, 3);
        let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| stream.normal()).collect() };
        let (a, b) = (draw(rows * rank), draw(rank * columns));
        let entry = |place: usize| {
            let (i, j) = (place / columns, place % columns);
            (0..rank).map(|k| a[i * rank + k] * b[k * columns + j]).sum()
        };
        let product: Vec<f64> = (0..rows * columns).map(entry).collect();
        let values = singular_values(&product, rows, columns);
        assert!(values[2] > 1.0 && values[3] < 1e-6 * values[0], "{values:?}");
        // The sum of their squares is that of the entries.
        let squares: f64 = values.iter().map(|x| x * x).sum();
        let entries: f64 = product.iter().map(|x| x * x).sum();
        assert!((squares / entries - 1.0).abs() < 1e-9);
    }
}
