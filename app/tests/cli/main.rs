//! The command line as a user types it: exit code, standard output, standard error.

#![expect(unreachable_pub, reason = "a test has no outside")]

mod help;
mod labs;
mod lessons;
mod places;
#[cfg(unix)]
mod signals;
