//! Kernels lowered by a compiler to several targets: the stored forms, the buffers of a run with the processor's result,
//! and the interface to compilers and devices, which the registry provides.

pub mod forms;

use mlsys_lab::random::unit;
use mlsys_lab::{DeviceId, LabError};

pub use crate::lowering::forms::Target;

#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// The form was made beforehand; why it is not made here.
    #[error("beforehand; {0}")]
    Beforehand(&'static str),
    #[error("by NVRTC where CUDA is")]
    OnlyNvrtc,
    #[error("no compiler is at hand")]
    NoCompiler,
    #[error("nothing here runs it")]
    NoRunner,
    #[error(
        "cubecl has no compiler for the processor in this program; choose a GPU with --device wgpu or --device cuda"
    )]
    NotOnProcessor,
    #[error("it was not timed")]
    NotTimed,
    #[error("{0}")]
    Compiler(String),
    #[error("{0}")]
    Device(LabError),
    #[error("{0} takes no kernels of cubecl")]
    NoKernels(DeviceId),
    #[error("{0}")]
    Driver(String),
}

/// Compilers that the program has, and devices that run what they make.
pub trait Toolchain: Send + Sync {
    /// Seconds in which a kernel becomes its form for a target.
    ///
    /// # Errors
    /// A sentence that says why this program does not make that form.
    fn compile_seconds(&self, build: Build, target: Target) -> Result<f64, ToolchainError>;

    /// Compiles a kernel for a device, runs it there on the work's buffers, and gives back its output.
    ///
    /// # Errors
    /// A sentence that says why it did not run.
    fn run(&self, device: DeviceId, work: &Work) -> Result<Vec<f32>, ToolchainError>;
}

mlsys_lab::named_enum! {
    /// The six kernels, by their names among the parameters, the forms and the sources.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kernel {
        /// `c = a + b`.
        VectorAdd = "vector-add",
        /// `y = max(x, 0)`.
        Relu = "relu",
        /// `y = s*x + y`.
        Saxpy = "saxpy",
        /// `b[i] = a[i] + ... + a[i + 2*radius]`.
        WindowSum = "window-sum",
        /// `c = a*b`, tile by tile.
        MatmulTile = "matmul-tile",
        SoftmaxRow = "softmax-row",
    }
}

/// A kernel and the sizes that it is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    pub kernel: Kernel,
    pub block: usize,
    /// Elements of a load: 1, or 4 for the first three kernels.
    pub width: usize,
}

impl Build {
    /// Edge of the matrix product's tile: the largest power of two with at most a block's threads as square.
    pub fn side(self) -> usize {
        1 << (self.block.max(1).ilog2() / 2)
    }
}

/// Elements on each side of the window of `window-sum`.
pub const RADIUS: usize = 2;

/// The scalar of `saxpy`; with it a fused multiply-add rounds otherwise than a product and a sum.
pub const SCALE: f32 = 1.1;

/// Columns of `softmax-row`, given enough elements.
const COLUMNS: usize = 256;

/// A kernel with the buffers that it is run on.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    pub build: Build,
    /// What it reads, in the order of its parameters; of elementwise kernels filled with zeros up to a whole load.
    pub inputs: Vec<Vec<f32>>,
    /// What its output holds before; of elementwise kernels filled up like the inputs.
    pub output: Vec<f32>,
    pub elements: usize,
    /// The edge of a matrix, or the columns of a row; 0 for the other kernels.
    pub size: usize,
    pub blocks: [u32; 2],
}

impl Work {
    /// A run on about `elements` elements with inputs from -1 to 1: of a matrix the most whole tiles that fit into them, one
    /// at least, and of rows the whole ones.
    pub fn new(build: Build, elements: usize, seed: u64) -> Self {
        let buffer = |stream: u64, count: usize, filled: usize| -> Vec<f32> {
            let place = |index: usize| stream << 32 | index as u64;
            let number = |index| (2.0 * unit(seed, place(index)) - 1.0) as f32;
            (0..count).map(number).chain(std::iter::repeat_n(0.0, filled - count)).collect()
        };
        let line = |elements: usize| [elements.div_ceil(build.block) as u32, 1];
        let (inputs, output, elements, size, blocks) = match build.kernel {
            Kernel::VectorAdd | Kernel::Relu | Kernel::Saxpy => {
                let filled = elements.next_multiple_of(build.width);
                let reads = if build.kernel == Kernel::VectorAdd { 2 } else { 1 };
                let inputs = (0..reads).map(|n| buffer(n, elements, filled)).collect();
                let output = if build.kernel == Kernel::Saxpy {
                    buffer(reads, elements, filled)
                } else {
                    vec![0.0; filled]
                };
                (inputs, output, elements, 0, line(filled / build.width))
            }
            Kernel::WindowSum => {
                let reads = elements + 2 * RADIUS;
                let inputs = vec![buffer(0, reads, reads)];
                (inputs, vec![0.0; elements], elements, 0, line(elements))
            }
            Kernel::MatmulTile => {
                let tiles = (elements.isqrt() / build.side()).max(1);
                let edge = tiles * build.side();
                let all = edge * edge;
                let inputs = vec![buffer(0, all, all), buffer(1, all, all)];
                let blocks = [tiles as u32, tiles as u32];
                (inputs, vec![0.0; all], all, edge, blocks)
            }
            Kernel::SoftmaxRow => {
                let columns = elements.min(COLUMNS);
                let rows = elements / columns;
                let all = rows * columns;
                let inputs = vec![buffer(0, all, all)];
                (inputs, vec![0.0; all], all, columns, [rows as u32, 1])
            }
        };
        Self { build, inputs, output, elements, size, blocks }
    }

    /// What the processor makes of it, one operation rounded after the other.
    pub fn reference(&self) -> Vec<f32> {
        let [a, b] = [0, 1].map(|n| self.inputs.get(n).map_or(&[][..], Vec::as_slice));
        let mut out: Vec<f32> = match self.build.kernel {
            Kernel::VectorAdd => a.iter().zip(b).map(|(a, b)| a + b).collect(),
            Kernel::Relu => a.iter().map(|x| x.max(0.0)).collect(),
            Kernel::Saxpy => a.iter().zip(&self.output).map(|(x, y)| SCALE * x + y).collect(),
            Kernel::WindowSum => {
                a.windows(2 * RADIUS + 1).map(|window| window.iter().sum()).collect()
            }
            Kernel::MatmulTile => product(a, b, self.size),
            Kernel::SoftmaxRow => a.chunks(self.size.max(1)).flat_map(softmax).collect(),
        };
        out.truncate(self.elements);
        out
    }
}

/// The product of two square matrices, its sums in the order of the kernel's.
fn product(a: &[f32], b: &[f32], edge: usize) -> Vec<f32> {
    let mut out = vec![0.0; edge * edge];
    for (row, out) in a.chunks(edge.max(1)).zip(out.chunks_mut(edge.max(1))) {
        for (a, b) in row.iter().zip(b.chunks(edge.max(1))) {
            for (sum, b) in out.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    out
}

fn softmax(row: &[f32]) -> Vec<f32> {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = row.iter().map(|x| (x - largest).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// The largest difference of two results over the second's largest magnitude; infinite for NaN or other lengths.
pub fn difference(found: &[f32], wanted: &[f32]) -> f64 {
    if found.len() != wanted.len() {
        return f64::INFINITY;
    }
    let (mut most, mut largest) = (0.0_f64, 0.0_f64);
    for (found, wanted) in found.iter().zip(wanted) {
        let apart = (f64::from(*found) - f64::from(*wanted)).abs();
        if apart.is_nan() {
            return f64::INFINITY;
        }
        most = most.max(apart);
        largest = largest.max(f64::from(wanted.abs()));
    }
    if most == 0.0 { 0.0 } else { most / largest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(kernel: Kernel, block: usize, width: usize, elements: usize) -> Work {
        let build = Build { kernel, block, width };
        Work::new(build, elements, 7)
    }

    #[test]
    fn buffers_hold_whole_loads_tiles_and_rows() {
        for (kernel, block, width, elements, sizes) in [
            (Kernel::VectorAdd, 64, 1, 1000, (1000, 1000, 0, [16, 1])),
            (Kernel::Saxpy, 64, 4, 1001, (1004, 1001, 0, [4, 1])),
            (Kernel::WindowSum, 64, 1, 1, (1, 1, 0, [1, 1])),
            (Kernel::MatmulTile, 64, 1, 1000, (576, 576, 24, [3, 3])),
            (Kernel::MatmulTile, 256, 1, 1, (256, 256, 16, [1, 1])),
            (Kernel::SoftmaxRow, 32, 1, 1000, (768, 768, 256, [3, 1])),
            (Kernel::SoftmaxRow, 32, 1, 5, (5, 5, 5, [1, 1])),
        ] {
            let work = work(kernel, block, width, elements);
            let found = (work.output.len(), work.elements, work.size, work.blocks);
            assert_eq!(found, sizes, "{kernel:?}");
            assert_eq!(work.reference().len(), work.elements, "{kernel:?}");
            let inside = |x: &f32| (-1.0..1.0).contains(x);
            assert!(work.inputs.iter().flatten().all(inside));
        }
    }

    #[test]
    fn the_processor_computes_what_the_kernels_say() {
        let near = |a: f64, b: f32| (a - f64::from(b)).abs() < 1e-5;
        let sum = work(Kernel::WindowSum, 64, 1, 10);
        let by_hand: f64 = sum.inputs[0][3..8].iter().map(|x| f64::from(*x)).sum();
        assert!(near(by_hand, sum.reference()[3]));
        let product = work(Kernel::MatmulTile, 64, 1, 300);
        let edge = product.size;
        let of = |n: usize, at: usize| f64::from(product.inputs[n][at]);
        let by_hand: f64 = (0..edge).map(|k| of(0, 5 * edge + k) * of(1, k * edge + 9)).sum();
        assert!(near(by_hand, product.reference()[5 * edge + 9]));
        let rows = work(Kernel::SoftmaxRow, 64, 1, 600).reference();
        for row in rows.chunks(256) {
            assert!(near(1.0, row.iter().sum()));
        }
    }

    #[test]
    fn difference_is_relative_to_the_largest() {
        assert_eq!(difference(&[1.0, 2.0], &[1.0, 2.0]), 0.0);
        assert_eq!(difference(&[1.0, 2.5], &[1.0, -2.0]), 2.25);
        assert_eq!(difference(&[0.0], &[0.0]), 0.0);
        for other in [&[f32::NAN, 0.0][..], &[1.0]] {
            assert_eq!(difference(other, &[1.0, 0.0]), f64::INFINITY);
        }
    }
}
