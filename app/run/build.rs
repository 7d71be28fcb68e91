//! Puts the built-in course into the program, `course.toml` and every lesson file of its folder, and the recorded runs.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fmt::Write, fs};

const LIBRARY: &str = "../../lessons/library";
const RECORDINGS: &str = "../../assets/recordings";

fn main() -> Result<(), Box<dyn Error>> {
    let mut list = String::from("&[\n");
    add(Path::new(LIBRARY), "", &mut list)?;
    list.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("library.rs"), list)?;
    recordings()
}

/// Lists the recordings that ship: each a folder as a run has left it.
fn recordings() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={RECORDINGS}");
    let mut list = String::from("&[\n");
    for recording in sorted(Path::new(RECORDINGS))? {
        if !recording.is_dir() {
            continue;
        }
        let name = name_of(&recording);
        let file = |file: &str| format!("include_bytes!({})", from_manifest(&recording.join(file)));
        writeln!(
            list,
            "    Shipped {{ name: {name:?}, about: {}, reports: {}, outcome: {} }},",
            file("run.json"),
            file("reports.jsonl"),
            file("outcome.json")
        )?;
    }
    list.push(']');
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("recordings.rs"), list)?;
    Ok(())
}

/// Adds the files of a folder and its folders by their paths in the course.
fn add(folder: &Path, prefix: &str, list: &mut String) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for path in sorted(folder)? {
        let name = format!("{prefix}{}", name_of(&path));
        if path.is_dir() {
            add(&path, &format!("{name}/"), list)?;
        } else if name == "course.toml" || name.ends_with(".md") {
            println!("cargo::rerun-if-changed={}", path.display());
            writeln!(list, "    ({name:?}, include_str!({})),", from_manifest(&path))?;
        }
    }
    Ok(())
}

/// The path as the compiler finds it wherever the clone lies: a build folder may serve several clones.
fn from_manifest(path: &Path) -> String {
    format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?})", format!("/{}", path.display()))
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}
