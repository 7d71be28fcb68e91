//! `mlsys keys`: the keys of the workbench.

use crate::cli::Keys;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::table::aligned;
use crate::ui::command::reference;

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
