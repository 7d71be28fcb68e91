//! Tells the program its commit and platform, and links it: for Linux at a fixed address, equal functions once.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=MLSYS_COMMIT={}", commit());
    println!("cargo::rustc-env=MLSYS_TARGET={}", env::var("TARGET").unwrap_or_default());
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // At an address chosen at each start, 260,000 pointers of burn and the drivers are adjusted before the first line of
        // main: 10 MB of memory, 6 MB of file and a millisecond. Stack, heap and libraries keep their random addresses.
        println!("cargo::rustc-link-arg-bins=-no-pie");
        // Burn's operations for each type and back end are often the same instructions: 3 MB of the file.
        const FOLD: &str = "-Wl,--icf=all";
        if links(FOLD) {
            println!("cargo::rustc-link-arg-bins={FOLD}");
        }
    }
}

/// Whether the linker of this build takes an argument. The one that Rust brings does; a system's own may not.
fn links(argument: &str) -> bool {
    let [Some(rustc), Some(target), Some(folder)] = ["RUSTC", "TARGET", "OUT_DIR"].map(env::var_os)
    else {
        return false;
    };
    let folder = Path::new(&folder);
    let source = folder.join("probe.rs");
    let mut command = Command::new(rustc);
    command.arg("--target").arg(target).arg("-o").arg(folder.join("probe"));
    command.args(["-C", &format!("link-arg={argument}")]).arg(&source);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        command.arg("-C").arg(format!("linker={}", Path::new(&linker).display()));
    }
    fs::write(source, "fn main() {}").is_ok()
        && command.output().is_ok_and(|output| output.status.success())
}

/// The commit of the clone and its date; outside of a clone there is none.
fn commit() -> String {
    // Git writes a line here whenever another commit is checked out.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["log", "-1", "--format=%h (%cs)", "--abbrev=12"]).unwrap_or_else(|| "unknown".to_owned())
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
