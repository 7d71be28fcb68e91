//! `mlsys course`: what an author of courses needs.

mod new;
mod pack;

use super::World;
use super::lesson::{Depth, Trial, check_course};
use crate::cli;
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::library::Library;

pub use new::write as write_course;

/// Does what `mlsys course` asks for.
pub fn run(asked: &cli::Course, world: &mut World<'_>) -> Result<Exit, Failure> {
    match asked {
        cli::Course::Check(options) => {
            let trial = Trial {
                depth: if options.no_run { Depth::Read } else { Depth::Run },
                machine: options.machine,
            };
            check_course(&Library::open(&options.path)?, trial, world)
        }
        cli::Course::Pack(options) => pack::run(options, world.console),
        cli::Course::New { folder, ci } => new::write(folder, *ci, world.console),
    }
}
