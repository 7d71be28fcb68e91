//! Kernels lowered by a compiler to several targets: the stored forms, the work of each kernel, and the seam to compilers.

pub mod forms;
pub mod toolchain;
pub mod work;

pub use forms::Target;
pub use toolchain::{Build, Kernel, Toolchain};
pub use work::{RADIUS, SCALE, Work};
