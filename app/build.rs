//! Lists the built-in lessons, so that a new lesson is a new file and nothing else.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::{env, fmt::Write};

const LIBRARY: &str = "../lessons/library";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={LIBRARY}");
    let library = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join(LIBRARY);
    let mut list = String::from("&[\n");
    for module in sorted(&library)? {
        if !module.is_dir() {
            continue;
        }
        println!("cargo::rerun-if-changed={}", module.display());
        for lesson in sorted(&module)? {
            if lesson
                .extension()
                .is_some_and(|extension| extension == "md")
            {
                let id = format!("{}/{}", name(&module), name(&lesson));
                writeln!(
                    list,
                    "    ({id:?}, include_str!({:?})),",
                    lesson.display().to_string()
                )?;
            }
        }
    }
    list.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("library.rs"), list)?;
    Ok(())
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// The name of a file or folder, without its extension.
fn name(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
