//! `mlsys keys`: the keys of the workbench.

use crate::cli::Keys;
use mlsys_run::console::Console;
use mlsys_run::exit::{Exit, Failure};
use mlsys_tui::command::reference;
use mlsys_view::table::aligned;

/// Prints the table of commands by places.
pub fn run(options: Keys, console: &mut Console) -> Result<Exit, Failure> {
    if options.markdown {
        console.raw(&reference::markdown())?;
        return Ok(Exit::Passed);
    }
    for (index, section) in reference::sections().iter().enumerate() {
        if index > 0 {
            console.line("")?;
        }
        console.line(&section.title)?;
        let rows = section.rows.iter();
        let rows: Vec<Vec<String>> = rows
            .map(|row| vec![row.keys_text(), row.label.to_owned(), row.help.to_owned()])
            .collect();
        for line in aligned(&rows) {
            console.line(format_args!("  {line}"))?;
        }
    }
    Ok(Exit::Passed)
}
