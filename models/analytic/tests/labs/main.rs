//! The analytic labs from outside: what they promise in their schemas, and what they say to bad input.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod closed_forms;
mod contract;
mod errors;
mod gradients;
mod kernel;
mod lowering;
mod on_device;
mod plug;
mod run;
mod walk;
