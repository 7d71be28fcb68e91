//! Ctrl-C: once ends a run in order, twice at once.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::help::{Folder, records};

/// A run of a million steps, far enough in to have a record.
#[expect(clippy::zombie_processes, reason = "each test waits for the run it gets")]
fn endless_run(folder: &Folder) -> (Child, PathBuf) {
    let child = folder
        .command(&["lab", "train", "--device", "cpu", "--set", "steps=1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let started = records(&folder.path("data"))
            .into_iter()
            .find(|run| run.join("reports.jsonl").is_file());
        if let Some(record) = started {
            return (child, record);
        }
        assert!(Instant::now() < deadline, "the run did not start");
        thread::yield_now();
    }
}

fn interrupt(child: &Child) {
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
}

#[test]
fn once_ends_the_run_in_order() {
    let folder = Folder::new();
    let (child, record) = endless_run(&folder);
    interrupt(&child);
    let ended = crate::help::Ended::of(child.wait_with_output().unwrap());
    ended.refused(130, &["stopped on request"]);
    let outcome: serde_json::Value =
        serde_json::from_slice(&fs::read(record.join("outcome.json")).unwrap()).unwrap();
    assert_eq!(outcome["outcome"], "stopped");
    let reports = BufReader::new(fs::File::open(record.join("reports.jsonl")).unwrap());
    for line in reports.lines() {
        serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap();
    }
}

#[test]
fn twice_ends_it_whatever_it_does() {
    let folder = Folder::new();
    let (child, _) = endless_run(&folder);
    interrupt(&child);
    // The second may come when the first has already ended it.
    let _ =
        Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}
