//! `mlsys lesson`: what an author of lessons needs.

mod check;
mod new;
mod preview;
mod translate;

use super::World;
use super::course::write_course;
use crate::cli;
use mlsys_run::exit::{Exit, Failure};

pub use check::{Depth, Trial, course as check_course};

/// Does what `mlsys lesson` asks for.
pub fn run(asked: &cli::Lesson, world: &mut World<'_>) -> Result<Exit, Failure> {
    match asked {
        cli::Lesson::Check(options) => check::run(options, world),
        cli::Lesson::New { path, ci } => match (path, &world.course) {
            (Some(path), _) => new::run(path, world.console),
            (None, Some(course)) => write_course(course, *ci, world.console),
            (None, None) => Err(Failure::usage(
                "name the file to write, such as `mlsys lesson new my-lesson.md`, or a course's folder, as in `mlsys lesson new --course DIR`",
            )),
        },
        cli::Lesson::Schema => {
            let schema = mlsys_lesson::json_schema(mlsys_registry::registry());
            world.console.line(format_args!("{schema:#}"))?;
            Ok(Exit::Passed)
        }
        cli::Lesson::Translate { path, lang } => translate::run(path, lang, world),
        cli::Lesson::Preview { path, machine } => preview::run(path, *machine, world),
    }
}
