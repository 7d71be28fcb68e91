//! The workbench line by line, for screen readers, logs and scripts: what a line means, and what is said.
//!
//! The state is the same [`super::app::App`], changed by the same messages; only the screen is left out.

pub mod say;
pub mod words;

#[cfg(test)]
mod tests;
