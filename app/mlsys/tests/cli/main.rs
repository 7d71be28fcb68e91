//! The command line as a user types it: exit code, standard output, standard error.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod cohort;
mod courses;
mod labs;
mod names;
mod plain;
mod runs;
mod script;
#[cfg(unix)]
mod signals;
mod tools;
mod variants;
mod weights;
mod workers;

/// The program in a folder of its own.
fn sandbox() -> mlsys_harness::sandbox::Sandbox {
    mlsys_harness::sandbox::Sandbox::new(env!("CARGO_BIN_EXE_mlsys"))
}
