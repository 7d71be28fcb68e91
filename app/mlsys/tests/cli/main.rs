//! The command line as a user types it: exit code, standard output, standard error.

#![expect(unreachable_pub, reason = "a test has no outside")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod cohort;
mod courses;
mod help;
mod labs;
mod lessons;
mod packed;
mod plain;
mod runs;
#[cfg(unix)]
mod signals;
mod tools;
mod translations;
mod weights;
mod workers;
