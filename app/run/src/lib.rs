//! What runs a lab and keeps it: the course in the program, settings, devices, sessions, records, drafts, archives.
//!
//! Nothing here draws, reads keys or knows the command line's options.

#![expect(unreachable_pub, reason = "`pub` marks what a module offers to the others")]

pub mod archive;
pub mod child;
pub mod console;
pub mod devices;
pub mod files;
pub mod glossary;
pub mod library;
pub mod model;
pub mod outcome;
pub mod process;
pub mod record;
pub mod replay;
pub mod results;
pub mod session;
pub mod settings;
pub mod sources;
pub mod storage;
pub mod submission;
pub mod time;
