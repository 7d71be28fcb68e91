//! Scalar computation graphs: built from a program, differentiated in reverse mode and by central differences.

pub mod build;
pub mod differentiate;
pub mod digits;
pub mod engine;
pub mod nodes;
pub mod numeric;
pub mod operation;
pub mod saved;
