//! The analytic labs from outside: what they promise in their schemas, what they find, and what they say to bad input.

#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod closed_forms;
mod contract;
mod gradients;
mod kernel;
mod lowering;
mod model_configs;
mod on_device;
mod plug;
mod run;
mod tables;
mod vectors;
