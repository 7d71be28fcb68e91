//! Runs that are interrupted or killed at any moment: what was written reads.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;

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
    let outcome: Value =
        serde_json::from_slice(&fs::read(record.join("outcome.json")).unwrap()).unwrap();
    assert_eq!(outcome["outcome"], "stopped");
    let reports = BufReader::new(fs::File::open(record.join("reports.jsonl")).unwrap());
    for line in reports.lines() {
        serde_json::from_str::<Value>(&line.unwrap()).unwrap();
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

const ENDLESS: [&str; 6] = ["lab", "train", "--device", "cpu", "--set", "steps=1000000"];

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Looks again and again until there is something; only a failure looks for a minute.
fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(Instant::now() < deadline, "it did not come");
        thread::yield_now();
    }
}

/// The whole lines of a file.
fn lines(path: &Path) -> Vec<Vec<u8>> {
    let text = fs::read(path).unwrap_or_default();
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    lines.filter(|line| line.ends_with(b"\n")).map(<[u8]>::to_vec).collect()
}

/// How many values of the loss stand in these lines.
fn losses(lines: &[Vec<u8>]) -> usize {
    let count = |line: &Vec<u8>| {
        let line: Value = serde_json::from_slice(line).unwrap();
        let loss = &line["points"]["loss"];
        let values = ["f32", "f64"].map(|key| loss[key].as_array().map_or(0, Vec::len));
        values.iter().sum::<usize>()
    };
    lines.iter().map(count).sum()
}

fn newest(folder: &Folder, known: usize) -> Option<PathBuf> {
    let runs = records(&folder.path("data"));
    let run = (runs.len() > known).then(|| runs.into_iter().next_back()).flatten()?;
    run.join("run.json").is_file().then_some(run)
}

#[test]
fn records_survive_a_kill_at_any_moment() {
    let folder = Folder::new();
    for kill in 0..20 {
        let mut child = start(&folder, &ENDLESS);
        let run = until(|| newest(&folder, kill));
        let reports = run.join("reports.jsonl");
        // Some are killed before they say anything, some while their first lines are written, some later.
        let seen = until(|| {
            let lines = lines(&reports);
            (lines.len() >= kill / 2).then_some(lines)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let shown = folder.run(&["runs", "show", "last", "--json"]);
        let json = shown.json();
        assert_eq!(shown.err, "", "kill {kill}");
        assert_eq!(json["outcome"], "cut off", "kill {kill}");
        let read = json["series"]["loss"]["values"].as_u64().unwrap_or(0) as usize;
        assert_eq!(read, losses(&lines(&reports)), "kill {kill}");
        assert!(read >= losses(&seen), "kill {kill}");
    }
    let list = folder.run(&["runs", "list"]);
    assert_eq!(list.did().matches("cut off").count(), 20, "{list:?}");
    assert_eq!(list.err, "");
}

#[test]
fn a_run_that_goes_on_is_read_by_others_and_not_removed() {
    let folder = Folder::new();
    let mut child = start(&folder, &ENDLESS);
    let mut step = 0;
    // Twice, to see that it grows.
    for _ in 0..2 {
        step = until(|| {
            newest(&folder, 0)?;
            let json = folder.run(&["runs", "show", "last", "--json"]).json();
            assert_eq!(json["outcome"], "going on");
            json["step"].as_u64().filter(|&now| now > step)
        });
    }
    folder.run(&["runs", "remove", "last"]).refused(2, &["goes on; end it first"]);
    child.kill().unwrap();
    child.wait().unwrap();
    folder.run(&["runs", "remove", "last"]).did();
    assert!(records(&folder.path("data")).is_empty());
}

#[test]
fn two_at_once_keep_their_records_apart() {
    let folder = Folder::new();
    let arguments = ["lab", "train", "--device", "cpu", "--set", "steps=200"];
    let mut children = [0; 4].map(|_| start(&folder, &arguments));
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let runs = records(&folder.path("data"));
    assert_eq!(runs.len(), 4);
    for run in runs {
        let json = folder.run(&["runs", "show", run.to_str().unwrap(), "--json"]).json();
        assert_eq!(json["outcome"], "finished");
        assert_eq!(json["series"]["loss"]["values"], 200);
    }
}

#[test]
fn progress_survives_kills_and_two_that_write_at_once() {
    let id = "systems/training-loop";
    let lesson = include_str!("../../../../lessons/library/systems/training-loop.md");
    let given: serde_json::Map<String, Value> = lesson
        .lines()
        .filter_map(|line| line.strip_prefix("```{question} "))
        .map(|question| (question.to_owned(), Value::from("0")))
        .collect();
    assert!(given.len() > 3);
    let answers = serde_json::json!({ "lessons": { id: given } }).to_string();
    for kill in 0..10 {
        let folder = Folder::new();
        let answers = folder.file("answers.json", &answers);
        let log = folder.path("data/progress.jsonl");
        let import = ["progress", "import", &answers];
        let mut children = [start(&folder, &import), start(&folder, &import)];
        let seen = until(|| Some(lines(&log)).filter(|lines| lines.len() > kill % given.len()));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let shown = folder.run(&["progress", "show", "--json"]);
        shown.json();
        assert_eq!(shown.err, "", "kill {kill}");
        let kept = lines(&log);
        assert_eq!(kept[..seen.len()], seen);
        for line in kept {
            serde_json::from_slice::<Value>(&line).unwrap();
        }
        // What was cut off is taken over by the next, and nothing is taken twice.
        folder.run(&import).did();
        let again = folder.run(&import);
        assert!(again.err.starts_with("0 answers taken over"), "{again:?}");
    }
}
