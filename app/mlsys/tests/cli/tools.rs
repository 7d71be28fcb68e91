//! Commands apart from lessons and labs: folders and output, the doctor, themes, the glossary, benches.

use std::process::Stdio;

use crate::help::{Ended, Folder};

const SHORT_RUN: [&str; 6] = ["lab", "train", "--device", "cpu", "--set", "steps=2"];

#[test]
fn unwritable_data_folder_is_one_warning() {
    let folder = Folder::new();
    // A file where the folder should be: refused to everybody, the superuser included.
    folder.file("data", "");
    let ended = folder.run(&SHORT_RUN);
    assert!(ended.did().contains("steps_done"), "{ended:?}");
    assert_eq!(ended.err.matches("not recorded").count(), 1, "{ended:?}");
    assert!(!folder.run(&["doctor", "--json"]).json()["data"]["writable"].as_bool().unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_program_with_a_message() {
    let folder = Folder::new();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ended =
        folder.command(&["lab", "show", "train"]).stdout(Stdio::from(full())).output().unwrap();
    Ended::of(ended).refused(4, &["output cannot be written"]);
}

#[test]
fn a_reader_that_leaves_ends_the_program_quietly() {
    let folder = Folder::new();
    for arguments in [
        &["lab", "list"][..],
        &["lab", "show", "train"],
        &["--help"],
        &["lesson", "schema"],
        &["list"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = folder.command(arguments).stdout(Stdio::from(writer)).output().unwrap();
        let ended = Ended::of(ended);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{arguments:?}: {ended:?}");
    }
}

#[test]
fn the_doctor_needs_nothing() {
    let folder = Folder::new();
    let mut command = folder.command(&["doctor"]);
    command.env_clear();
    let ended = Ended::of(command.output().unwrap());
    for said in ["Devices", "cpu", "usable", "Terminal", "TERM is not set", "Folders"] {
        assert!(ended.did().contains(said), "'{said}' is missing in {ended:?}");
    }
    let json = folder.run(&["doctor", "--json"]).json();
    let devices = json["devices"].as_array().unwrap();
    assert!(devices.iter().any(|device| device["id"] == "cpu" && device["usable"] == "yes"));
    assert!(json["terminal"]["columns"].is_null());
}

#[test]
fn a_theme_is_printed_changed_checked_and_listed() {
    let folder = Folder::new();
    let light = folder.run(&["theme", "show", "light"]);
    let own = light.did().replace("#60666f", "#c8c8c8");
    std::fs::create_dir_all(folder.path("data/themes")).unwrap();
    let file = folder.file("data/themes/mine.toml", own);
    let checked = folder.run(&["theme", "check", &file]);
    assert!(checked.did().contains("one role is hard to see"), "{checked:?}");
    assert!(checked.err.contains("`dim` has a contrast of"), "{checked:?}");
    let listed = folder.run(&["theme", "list"]);
    for name in ["dark\n", "light\n", "paper\n", "mine\n"] {
        assert!(listed.did().contains(name), "{listed:?}");
    }
    let doctor = folder.run(&["doctor"]);
    assert!(doctor.did().contains("mine  `dim` has a contrast of"), "{doctor:?}");
    folder.run(&["theme", "show", "ligth"]).refused(2, &["did you mean 'light'?"]);
}

#[test]
fn theme_mistakes_are_all_told_with_places() {
    let folder = Folder::new();
    let file = folder.file("bad.toml", "text = \"blue\"\ncolour = \"#000000\"\ndim = 3\n");
    folder.run(&["theme", "check", &file]).refused(
        2,
        &[
            "bad.toml:1:8",
            "\"blue\" is not a colour",
            "bad.toml:2:1",
            "there is no role `colour`",
            "bad.toml:3:7",
            "`dim` is one colour",
            "the theme has no `background`",
        ],
    );
    folder.run(&["theme", "check", "no-such.toml"]).refused(2, &["cannot be read"]);
}

#[test]
fn a_term_is_found_by_any_of_its_names() {
    let folder = Folder::new();
    for name in ["all-reduce", "ALL REDUCES", "allreduce"] {
        let ended = folder.run(&["glossary", name]);
        let printed = ended.did();
        assert!(printed.starts_with("all-reduce  (also: allreduce)\n"), "{printed}");
        assert!(printed.contains("lesson parallel/collectives; see "), "{printed}");
        assert!(printed.lines().all(|line| line.len() <= 80), "{printed}");
    }
}

#[test]
fn without_a_term_all_are_printed_and_json_is_one_object() {
    let folder = Folder::new();
    let all = folder.run(&["glossary", "--json"]).json();
    let count = all["terms"].as_array().unwrap().len();
    assert!(count >= 120, "{count}");
    assert!(folder.run(&["glossary"]).did().lines().count() > 2 * count);
    let part = folder.run(&["glossary", "batch", "--json"]).json();
    assert_eq!(part["terms"][0]["name"], "batch");
}

#[test]
fn part_of_a_term_finds_all_matches() {
    let folder = Folder::new();
    let part = folder.run(&["glossary", "parallelis", "--json"]).json();
    assert!(part["terms"].as_array().unwrap().len() >= 5, "{part}");
    folder
        .run(&["glossary", "atention"])
        .refused(2, &["no term 'atention'; did you mean 'attention'?"]);
    folder.run(&["glossary", "qqqqqq"]).refused(2, &["`mlsys glossary` prints them all"]);
}

#[test]
fn the_bench_of_the_llama_measures_every_part() {
    let folder = Folder::new();
    let arguments = ["bench", "llama", "--device", "cpu", "--rounds", "2", "--json"];
    let json = folder.run(&arguments).json();
    let figures = json["figures"].as_object().unwrap();
    for name in [
        "step: forward",
        "step: update",
        "gated layer, 2 times: backward",
        "all matrix products: forward",
    ] {
        assert_eq!(figures[name]["values"].as_array().unwrap().len(), 2);
        assert!(figures[name]["median"].as_f64().unwrap() > 0.0, "{name}");
    }
    assert_eq!(figures.len(), 5 + 2 * 9 + 2);
}

#[test]
fn the_bench_of_kernels_measures_right_results() {
    let folder = Folder::new();
    let arguments = ["bench", "kernel", "--rounds", "2", "--elements", "1000", "--json"];
    let json = folder.run(&arguments).json();
    let figures = json["figures"].as_object().unwrap();
    for kernel in ["window-sum-naive", "window-sum-shared"] {
        let rate = &figures[&format!("{kernel}: warp instructions")];
        for figure in [&figures[kernel], rate] {
            assert_eq!(figure["values"].as_array().unwrap().len(), 2);
            assert!(figure["least"].as_f64().unwrap() > 0.0, "{kernel}");
        }
    }
    assert_eq!(figures.len(), 4);
}

#[test]
fn the_bench_of_collectives_walks_every_message() {
    let folder = Folder::new();
    let arguments = ["bench", "collective", "--rounds", "2", "--ranks", "33", "--json"];
    let json = folder.run(&arguments).json();
    let figures = json["figures"].as_object().unwrap();
    for algorithm in ["ring", "tree", "double-tree"] {
        let rate = &figures[&format!("{algorithm}: messages")];
        for figure in [&figures[algorithm], rate] {
            assert_eq!(figure["values"].as_array().unwrap().len(), 2);
            assert!(figure["least"].as_f64().unwrap() > 0.0, "{algorithm}");
        }
    }
    assert_eq!(figures.len(), 6);
}
