//! The command line as a user types it: exit code, standard output, standard error.

#![expect(unreachable_pub, reason = "a test has no outside")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod bench;
mod capture;
mod cohort;
mod courses;
mod glossary;
mod help;
#[cfg(unix)]
mod kills;
mod labs;
mod lessons;
mod networks;
mod packed;
mod places;
mod plain;
mod runs;
mod sequences;
#[cfg(unix)]
mod signals;
mod themes;
mod translations;
mod weights;
mod workers;
