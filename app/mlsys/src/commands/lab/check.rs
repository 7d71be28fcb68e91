//! `mlsys lab check`: everything that is wrong with files of labs.

use std::path::PathBuf;

use mlsys_analytic::closed_form::MAX_BYTES;
use mlsys_lab::Lab;
use mlsys_lesson::Diagnostic;
use mlsys_run::library::labs;
use mlsys_run::process::{Exit, Failure};
use mlsys_run::storage::read_bounded;

use crate::context::Context;

/// Reads each file, runs what reads with its defaults and presets, and tells all that is wrong.
pub fn run(paths: &[PathBuf], context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut exit = Exit::Passed;
    for path in paths {
        let name = path.display().to_string();
        let bytes = read_bounded(path, "lab", MAX_BYTES as u64)?;
        let (lab, mut problems) = labs::read(&name, &bytes, context.built_in);
        if let Some(lab) = &lab {
            problems.extend(labs::tried(&name, &bytes, lab));
        }
        for problem in &problems {
            context.console.note(format_args!("{problem}\n"));
        }
        if problems.iter().any(Diagnostic::is_error) {
            exit = exit.and(Exit::Usage);
        } else if let Some(lab) = lab {
            let schema = lab.schema();
            context.console.line(format_args!(
                "{name}: the lab {} reads and runs: {} parameters, {} metrics, {} panels",
                schema.kind,
                schema.params.len(),
                schema.metrics.len(),
                schema.panels.len()
            ))?;
        }
    }
    Ok(exit)
}
