//! `mlsys lesson`: what an author of lessons needs.

mod check;
mod new;
mod preview;
mod translate;

use super::World;
use crate::cli;
use crate::exit::{Exit, Failure};

/// Does what `mlsys lesson` asks for.
pub fn run(asked: &cli::Lesson, world: &mut World<'_>) -> Result<Exit, Failure> {
    match asked {
        cli::Lesson::Check(options) => check::run(options, world),
        cli::Lesson::New { path } => new::run(path, world.console),
        cli::Lesson::Schema => {
            let schema = mlsys_lesson::json_schema(mlsys_registry::registry());
            world.console.line(format_args!("{schema:#}"))?;
            Ok(Exit::Passed)
        }
        cli::Lesson::Translate { path, lang } => translate::run(path, lang, world),
        cli::Lesson::Preview { path, machine } => preview::run(path, *machine, world),
    }
}
