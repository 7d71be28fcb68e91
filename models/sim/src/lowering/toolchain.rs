//! The seam to compilers and devices: what this crate asks of them. Whoever registers the labs joins what is in the build.

use mlsys_lab::DeviceId;

use super::Work;
use super::forms::Target;

/// Compilers that the program has, and devices that run what they make.
pub trait Toolchain: Send + Sync {
    /// Seconds in which a kernel becomes its form for a target.
    ///
    /// # Errors
    /// A sentence that says why this program does not make that form.
    fn compile_seconds(&self, build: Build, target: Target) -> Result<f64, String>;

    /// Compiles a kernel for a device, runs it there on the work's buffers, and gives back its output.
    ///
    /// # Errors
    /// A sentence that says why it did not run.
    fn run(&self, device: DeviceId, work: &Work) -> Result<Vec<f32>, String>;
}

/// The six kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// `c = a + b`.
    VectorAdd,
    /// `y = max(x, 0)`.
    Relu,
    /// `y = s*x + y`.
    Saxpy,
    /// `b[i] = a[i] + ... + a[i + 2*radius]`.
    WindowSum,
    /// `c = a*b`, tile by tile.
    MatmulTile,
    /// Softmax of each row.
    SoftmaxRow,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::VectorAdd,
        Self::Relu,
        Self::Saxpy,
        Self::WindowSum,
        Self::MatmulTile,
        Self::SoftmaxRow,
    ];

    /// Its name among the parameters, the forms and the sources.
    pub fn name(self) -> &'static str {
        match self {
            Self::VectorAdd => "vector-add",
            Self::Relu => "relu",
            Self::Saxpy => "saxpy",
            Self::WindowSum => "window-sum",
            Self::MatmulTile => "matmul-tile",
            Self::SoftmaxRow => "softmax-row",
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kernel| kernel.name() == name)
    }
}

/// A kernel and the sizes that it is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// Which one.
    pub kernel: Kernel,
    /// Threads of a block.
    pub block: usize,
    /// Elements of a load: 1, or 4 for the first three kernels.
    pub width: usize,
}

impl Build {
    /// Elements along an edge of the matrix product's tile: the largest power of two whose square is no more than the
    /// threads of a block.
    pub fn side(self) -> usize {
        1 << (self.block.max(1).ilog2() / 2)
    }
}
