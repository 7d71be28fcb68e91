//! The lesson format from outside.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on fails where it stands, helpers included"
)]

mod checks;
mod corpus;
mod course;
mod diagnostics;
mod drawn_guesses;
mod drawn_labs;
mod gradebook;
mod grading;
mod inclusion;
mod kernels;
mod mistakes;
mod planted;
mod progress;
mod quantities;
mod ranges;
mod robust;
mod support;
mod translation;
mod variants;
