//! What mlsys itself costs, measured on the machine at hand: the workloads of `mlsys bench`.
//!
//! Sides that are compared run in turn within one process, so that a machine that is busy or hot is so for all of them.
//! docs/measuring.md says how each figure comes about.

#![expect(unreachable_pub, reason = "`pub` marks what a module offers to the others")]

mod bare;
pub mod bench;
pub mod generate;
pub mod llama;
pub mod load;
#[cfg(unix)]
pub mod pty;
pub mod scaling;
pub mod screen;
pub mod simulated;
#[cfg(unix)]
pub mod start;
mod timed;
pub mod train;
