//! Commands apart from lessons and labs: folders and output, the doctor, themes, the glossary, benches.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use mlsys_harness::sandbox::{Ended, contains};

use crate::sandbox;

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_program_with_a_message() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ended = sandbox().command("lab show train").stdout(Stdio::from(full)).output();
    Ended::new(ended.unwrap()).refused(4, &["output cannot be written"]);
}

/// What a shell runs where no file may grow, as on a full disk; pipes may.
#[cfg(target_os = "linux")]
#[test]
fn what_a_full_disk_loses_is_in_the_exit_code() {
    use mlsys_harness::sandbox::type_in;
    let lost = "cannot be written";
    for (line, typed, told) in [
        ("lab train --device cpu --set steps=2", "", "runs are not recorded"),
        ("run systems/training-loop --device cpu", "", "runs are not recorded"),
        ("open systems/training-loop --plain --device cpu", "next\n", "The lines have ended.\n"),
    ] {
        let folder = sandbox();
        let program = env!("CARGO_BIN_EXE_mlsys");
        let run = |limit: &str| {
            let script = format!("trap '' XFSZ; {limit}; exec '{program}' {line}");
            let mut shell = Command::new("/bin/sh");
            shell.env("MLSYS_DATA_DIR", folder.path("data")).args(["-c", &script]);
            type_in(&mut shell, typed)
        };
        let full = run("ulimit -f 0");
        assert_eq!(full.code, Some(4), "{line}: {full:?}");
        let said = full.out.clone() + &full.err;
        assert!(said.contains(told) && said.contains(lost), "{line}: {full:?}");
        let well = run("true");
        assert_eq!(well.code, Some(0), "{line}: {well:?}");
        assert!(!(well.out + &well.err).contains(lost), "{line}");
    }
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    let folder = sandbox();
    for line in ["lab list", "lab show train", "--help", "lesson schema", "list"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = folder.command(line).stdout(Stdio::from(writer)).output().unwrap();
        let ended = Ended::new(ended);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{line}: {ended:?}");
    }
}

#[test]
fn the_doctor_needs_nothing() {
    let folder = sandbox();
    let ended = Ended::new(folder.command("doctor").env_clear().output().unwrap());
    ended.printed(&["Devices", "cpu", "usable", "Terminal", "TERM is not set", "Folders"]);
}

#[test]
fn a_theme_is_printed_changed_checked_and_listed() {
    let folder = sandbox();
    let light = folder.run("theme show light");
    let own = light.success().replace("#60666f", "#c8c8c8");
    let file = folder.file("data/themes/mine.toml", own);
    let checked = folder.run(&format!("theme check {file}"));
    checked.printed(&["one role is hard to see"]);
    checked.warned(&["`dim` has a contrast of"]);
    folder.run("theme list").printed(&["dark\n", "light\n", "paper\n", "mine\n"]);
    folder.run("doctor").printed(&["mine  `dim` has a contrast of"]);
}

/// Runs a bench of two rounds, and checks how many figures it has and that these have two positive values each.
fn bench(line: &str, count: usize, names: &[&str]) {
    let json = sandbox().run(&format!("bench {line} --rounds 2 --json")).json();
    let figures = json["figures"].as_object().unwrap();
    assert_eq!(figures.len(), count, "{figures:#?}");
    for name in names {
        assert_eq!(figures[*name]["values"].as_array().unwrap().len(), 2, "{name}");
        assert!(figures[*name]["least"].as_f64().unwrap() > 0.0, "{name}");
    }
}

#[test]
fn benches_measure_every_part() {
    let llama = [
        "step: forward",
        "step: update",
        "gated layer, 2 times: backward",
        "all matrix products: forward",
    ];
    bench("llama --device cpu", 5 + 2 * 7 + 2, &llama);
    let kernels = [
        "window-sum-naive",
        "window-sum-naive: warp instructions",
        "window-sum-shared",
        "window-sum-shared: warp instructions",
    ];
    bench("kernel --elements 1000", kernels.len(), &kernels);
    let collectives = [
        "ring",
        "ring: messages",
        "tree",
        "tree: messages",
        "double-tree",
        "double-tree: messages",
    ];
    bench("collective --ranks 33", collectives.len(), &collectives);
}

#[test]
fn commands_of_the_readme_draw_its_pictures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let folder = sandbox();
    fs::create_dir(folder.path("docs")).unwrap();
    let commands = readme.lines().filter_map(|line| line.strip_prefix("    mlsys "));
    let commands: Vec<_> = commands.filter_map(|line| line.split_once(" --svg ")).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for (lesson, rest) in commands {
        let (file, keys) = rest.split_once(' ').unwrap_or((rest, ""));
        let drawn = folder.arg(file);
        folder.run(&format!("{lesson} --svg {drawn} {keys} --device cpu")).success();
        assert!(readme.contains(&format!("({file})")), "{file}");
        for svg in [folder.read(file), fs::read_to_string(root.join(file)).unwrap()] {
            contains(&svg, &["<svg", "finished"]);
            assert!(!svg.contains("no data yet"), "{file}");
        }
    }
}
