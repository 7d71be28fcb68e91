//! Lab `train` as its users see it: parameters in, reports out.
#![expect(clippy::unwrap_used, clippy::panic, reason = "what goes wrong here is a failed test")]

mod data_folder;
mod devices;
mod gradients;
mod harness;
mod learning;
mod sequences;
mod steering;
