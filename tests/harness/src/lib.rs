//! What the tests of several crates share.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::allow_attributes,
    missing_docs
)]

pub mod reading;
pub mod samples;
pub mod sandbox;
pub mod script;
pub mod snapshot;
pub mod tables;
