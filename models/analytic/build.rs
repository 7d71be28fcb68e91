//! Lists the files in `labs`, so that a lab that is data is one file and nothing else.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=labs");
    let mut paths: Vec<_> = fs::read_dir("labs")?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let entries = paths.iter().filter_map(|path| {
        let kind = path.file_name()?.to_str()?.strip_suffix(".toml")?;
        // By the manifest's folder, wherever the clone lies: a build folder may serve several clones.
        let file = format!("/{}", path.to_str()?);
        Some(format!(
            "({kind:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),\n"
        ))
    });
    let out = Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("labs.rs");
    fs::write(out, format!("&[\n{}]", entries.collect::<String>()))
}
