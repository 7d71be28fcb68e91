//! Lists the files in `labs`, so that a lab that is data is one file and nothing else.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=labs");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("labs");
    let mut paths: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    let entries = paths.iter().filter_map(|path| {
        let kind = path.file_name()?.to_str()?.strip_suffix(".toml")?;
        Some(format!("({kind:?}, include_str!({:?})),\n", path.to_str()?))
    });
    let out = Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("labs.rs");
    fs::write(out, format!("&[\n{}]", entries.collect::<String>()))
}
