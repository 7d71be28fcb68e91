//! Which weights of a network stay, and how few bytes hold those that do.

pub mod huffman;
pub mod mask;
pub mod storage;

pub use crate::pruning::storage::{Format, Stored, Widths};
