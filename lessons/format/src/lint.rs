//! What makes a question easier than it is meant to be: an answer that is shown before it is asked for, and options that
//! are told apart by their length.

mod length;
mod spoiler;

pub use length::telling_lengths;
pub use spoiler::spoilers;
