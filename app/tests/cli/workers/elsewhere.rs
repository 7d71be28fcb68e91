//! Two worker processes on this machine: the numbers of threads, and an end whatever happens to them.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;

use crate::help::{Ended, Folder, records};

/// What a run of two workers is asked for.
const LAB: [&str; 6] = [
    "lab",
    "train-data-parallel",
    "--device",
    "cpu",
    "--set",
    "workers=2",
];

/// A worker process, ended with the test.
pub struct Worker {
    child: Child,
    pub url: String,
}

impl Worker {
    /// Starts one on a free port and waits until it serves.
    pub fn start(folder: &Folder) -> Self {
        let arguments = ["worker", "--listen", "127.0.0.1:0", "--device", "cpu"];
        let mut child = spawn(folder, &arguments);
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let url = line
            .split_whitespace()
            .find(|word| word.starts_with("ws://"));
        Self {
            url: url.unwrap().trim_end_matches(';').to_owned(),
            child,
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, left alone.
fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(arguments);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// A run on these workers that goes on until something ends it, once it has trained a few steps.
fn endless(folder: &Folder, urls: &str) -> (Child, PathBuf) {
    let arguments = [&LAB[..], &["--set", "steps=10000", "--workers", urls]].concat();
    let child = spawn(folder, &arguments);
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let trained = records(&folder.path("data")).into_iter().find(|run| {
            let reports = fs::read_to_string(run.join("reports.jsonl"));
            reports.is_ok_and(|text| text.lines().filter(|line| line.contains("loss")).count() > 2)
        });
        if let Some(record) = trained {
            return (child, record);
        }
        assert!(Instant::now() < deadline, "the run did not start");
        thread::yield_now();
    }
}

/// How a run ended that lost a worker, and how long that took; its record says so and keeps what came before.
fn lost(child: Child, record: &Path, limit: Duration) -> Ended {
    let begun = Instant::now();
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert!(begun.elapsed() < limit, "{:?}: {ended:?}", begun.elapsed());
    let outcome: Value =
        serde_json::from_slice(&fs::read(record.join("outcome.json")).unwrap()).unwrap();
    assert_eq!(outcome["outcome"], "failed", "{outcome}");
    let reports = fs::read_to_string(record.join("reports.jsonl")).unwrap();
    assert!(reports.contains("loss"));
    ended
}

#[test]
fn two_worker_processes_give_the_losses_of_threads() {
    let folder = Folder::new();
    let (one, two) = (Worker::start(&folder), Worker::start(&folder));
    let urls = format!("{},{}", one.url, two.url);
    let run = |workers: &[&str]| {
        let steps = ["--set", "steps=8", "--json"];
        folder.run(&[&LAB[..], &steps, workers].concat()).json()
    };
    let threads = run(&[]);
    let elsewhere = run(&["--workers", &urls]);
    assert_eq!(threads["series"]["loss"].as_array().unwrap().len(), 8);
    assert_eq!(threads["series"]["loss"], elsewhere["series"]["loss"]);
    assert_eq!(elsewhere["metrics"]["replicas_identical"], true);
    assert_eq!(threads["metrics"]["worker_devices"], "cpu");
    let places = format!("{}, {}", one.url, two.url);
    assert_eq!(elsewhere["metrics"]["worker_devices"], places.as_str());
    // Which they were stands in the record, too.
    let record = records(&folder.path("data")).pop().unwrap();
    let about = fs::read_to_string(record.join("run.json")).unwrap();
    assert!(about.contains(&urls), "{about}");
    // Sessions of one run are no hindrance to the next.
    assert_eq!(
        run(&["--workers", &urls])["series"]["loss"],
        elsewhere["series"]["loss"]
    );
}

#[test]
fn a_worker_that_is_killed_ends_the_run_at_once_with_its_name() {
    let folder = Folder::new();
    let (one, two) = (Worker::start(&folder), Worker::start(&folder));
    let (child, record) = endless(&folder, &format!("{},{}", one.url, two.url));
    two.signal("-KILL");
    let ended = lost(child, &record, Duration::from_secs(20));
    let name = format!("worker 1 ({})", two.url);
    ended.refused(4, &[&name, "must be started again"]);
}

#[test]
fn a_worker_that_stands_still_ends_the_run_within_its_time_limit() {
    let folder = Folder::new();
    let (one, two) = (Worker::start(&folder), Worker::start(&folder));
    let (child, record) = endless(&folder, &format!("{},{}", one.url, two.url));
    one.signal("-STOP");
    let ended = lost(child, &record, Duration::from_secs(90));
    ended.refused(4, &[&format!("worker 0 ({})", one.url)]);
    // And the next run does not begin with it.
    let again = folder.run(&[&LAB[..], &["--workers", &one.url]].concat());
    again.refused(3, &["did not answer within 15 s"]);
    one.signal("-CONT");
}

#[test]
fn nobody_and_somebody_else_are_told_apart() {
    let folder = Folder::new();
    let run = |url: &str| folder.run(&[&LAB[..], &["--workers", url]].concat());
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", mute.local_addr().unwrap());
    let named = format!("worker 0 ({url})");
    run(&url).refused(3, &[&named, "did not answer within 15 s"]);
    drop(mute);
    let begun = Instant::now();
    run(&url).refused(
        3,
        &[&named, "nobody listens there", "mlsys worker --listen"],
    );
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_worker_ends_in_order_on_request_and_leaves_its_port() {
    let folder = Folder::new();
    let mut worker = Worker::start(&folder);
    worker.signal("-INT");
    assert_eq!(worker.child.wait().unwrap().code(), Some(0));
    let address = worker.url.trim_start_matches("ws://").to_owned();
    let taken = TcpListener::bind(&address).unwrap();
    folder
        .run(&["worker", "--listen", &address])
        .refused(4, &["cannot listen on", "take another port"]);
    drop(taken);
}
