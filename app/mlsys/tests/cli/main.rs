//! The command line as a user types it: exit code, standard output, standard error.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod cohort;
mod courses;
mod labs;
mod plain;
mod runs;
mod script;
#[cfg(unix)]
mod signals;
mod tools;
mod weights;
mod workers;

use script::script;

/// The program in a folder of its own.
fn sandbox() -> mlsys_harness::sandbox::Sandbox {
    mlsys_harness::sandbox::Sandbox::new(env!("CARGO_BIN_EXE_mlsys"))
}

#[test]
fn cohort_as_typed() {
    script("cohort.txt");
}

#[test]
fn courses_as_typed() {
    script("courses.txt");
}

#[test]
fn labs_as_typed() {
    script("labs.txt");
}

#[test]
fn lessons_as_typed() {
    script("lessons.txt");
}

#[test]
fn line_mode_as_typed() {
    script("plain.txt");
}

#[test]
fn runs_as_typed() {
    script("runs.txt");
}

#[test]
fn tools_as_typed() {
    script("tools.txt");
}

#[test]
fn weights_as_typed() {
    script("weights.txt");
}

#[test]
fn workers_as_typed() {
    script("workers.txt");
}
