//! Folders that cannot be used, output that nobody reads, machines that lack things.

use std::process::Stdio;

use crate::help::{Ended, Folder};

const SHORT_RUN: [&str; 6] = ["lab", "train", "--device", "cpu", "--set", "steps=2"];

#[test]
fn a_data_folder_that_cannot_be_written_costs_the_record_and_one_warning() {
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
