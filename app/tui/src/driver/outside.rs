//! The learner's own editor.

use std::path::Path;
use std::process::Command;

const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

/// What every system of the kind has.
const USUAL: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Opens a file in the editor and waits until it ends.
///
/// # Errors
/// A sentence: it cannot be started, or it says that something went wrong.
pub(super) fn edit(path: &Path) -> Result<(), String> {
    let named = VARIABLES
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.trim().is_empty());
    let editor = named.unwrap_or_else(|| USUAL.to_owned());
    let ended = command(&editor, path).status();
    let advice = "the variables VISUAL and EDITOR name another; your text is as it was";
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) if status.code() == Some(127) => {
            Err(format!("there is no editor '{editor}'; {advice}"))
        }
        Ok(status) => Err(format!("the editor '{editor}' ended with {status}")),
        Err(error) => Err(format!("the editor '{editor}' cannot be started: {error}; {advice}")),
    }
}

/// The value may hold arguments, as in `code --wait`: a shell reads it, as other programs have it read.
#[cfg(unix)]
fn command(editor: &str, path: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh");
    command.arg(path);
    command
}

#[cfg(not(unix))]
fn command(editor: &str, path: &Path) -> Command {
    let mut words = editor.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(editor));
    command.args(words).arg(path);
    command
}
