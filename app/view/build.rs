//! Puts the built-in themes into the program.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fmt::Write, fs};

const THEMES: &str = "../../assets/themes";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={THEMES}");
    let mut list = String::from("&[\n");
    let mut themes = Vec::new();
    for entry in fs::read_dir(THEMES)? {
        themes.push(entry?.path());
    }
    themes.sort();
    for theme in themes {
        let name = theme.file_stem().unwrap_or_default().to_string_lossy();
        // By the manifest's folder, wherever the clone lies: a build folder may serve several clones.
        let file = format!("/{}", theme.display());
        writeln!(
            list,
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),"
        )?;
    }
    list.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("themes.rs"), list)?;
    Ok(())
}
