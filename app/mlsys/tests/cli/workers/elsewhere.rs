//! Two worker processes on this machine: the numbers of threads, and an end whatever happens to them.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;

use crate::help::{Ended, Folder, records};

/// What a run of two workers is asked for.
const LAB: [&str; 6] = ["lab", "train-data-parallel", "--device", "cpu", "--set", "workers=2"];

/// How long something may take that is quick.
const SOON: Duration = Duration::from_secs(60);

/// A worker process, ended with the test.
pub struct Worker {
    child: Option<Child>,
    id: u32,
    /// Its address as it printed it, with the token.
    pub url: String,
}

impl Worker {
    /// Starts one on a free port and waits until it serves.
    pub fn start(folder: &Folder) -> Self {
        let arguments = ["worker", "--listen", "127.0.0.1:0", "--device", "cpu"];
        let mut child = spawn(folder, &arguments);
        let out = child.stdout.take().unwrap();
        let mut worker = Self { id: child.id(), child: Some(child), url: String::new() };
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(out).read_line(&mut line);
            let _ = sender.send(read.map(|_| line));
        });
        let line = lines.recv_timeout(SOON).unwrap().unwrap();
        let url = line.split_whitespace().find(|word| word.starts_with("ws://"));
        worker.url = url.unwrap().to_owned();
        worker
    }

    /// Its address as it is recorded.
    pub fn place(&self) -> &str {
        self.url.split_once("/#").unwrap().0
    }

    /// Its address and port.
    pub fn socket(&self) -> &str {
        self.place().trim_start_matches("ws://")
    }

    /// What it asks for.
    pub fn token(&self) -> &str {
        self.url.split_once("/#").unwrap().1
    }

    fn signal(&self, name: &str) {
        signal(self.id, name);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn signal(id: u32, name: &str) {
    let sent = Command::new("kill").args([name, &id.to_string()]).status();
    assert!(sent.unwrap().success());
}

/// The program, left alone.
fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = folder.command(arguments);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// How the program ended, which it must within this time.
fn within(child: Child, limit: Duration) -> Ended {
    let id = child.id();
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let output = ended.recv_timeout(limit);
    if output.is_err() {
        signal(id, "-KILL");
    }
    assert!(output.is_ok(), "it did not end within {limit:?}");
    Ended::of(output.unwrap().unwrap())
}

/// A whole run of a lab, which must end within this time.
fn run(folder: &Folder, urls: &str, limit: Duration) -> Ended {
    within(spawn(folder, &[&LAB[..], &["--workers", urls]].concat()), limit)
}

/// A run on these workers that goes on until something ends it, once it has trained a few steps.
fn endless(folder: &Folder, urls: &str) -> (Child, PathBuf) {
    let arguments = [&LAB[..], &["--set", "steps=10000", "--workers", urls]].concat();
    let mut child = spawn(folder, &arguments);
    let record = trained(folder, Instant::now() + Duration::from_secs(120));
    if record.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    (child, record.unwrap())
}

/// The record of a run that has trained a few steps; none if there is none by then.
fn trained(folder: &Folder, deadline: Instant) -> Option<PathBuf> {
    while Instant::now() < deadline {
        let found = records(&folder.path("data")).into_iter().find(|run| {
            let reports = fs::read_to_string(run.join("reports.jsonl"));
            reports.is_ok_and(|text| text.lines().filter(|line| line.contains("loss")).count() > 2)
        });
        if found.is_some() {
            return found;
        }
        thread::yield_now();
    }
    None
}

/// How a run ended that lost a worker, within this time; its record says so and keeps what came before.
fn lost(child: Child, record: &Path, limit: Duration) -> Ended {
    let ended = within(child, limit);
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
    let places = format!("{}, {}", one.place(), two.place());
    assert_eq!(elsewhere["metrics"]["worker_devices"], places.as_str());
    // Which they were stands in the record, too, and their tokens stand nowhere.
    let record = records(&folder.path("data")).pop().unwrap();
    let about = fs::read_to_string(record.join("run.json")).unwrap();
    let listed = format!("{},{}", one.place(), two.place());
    assert!(about.contains(&listed), "{about}");
    for file in fs::read_dir(record).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(one.token()), "{text}");
    }
    // Sessions of one run are no hindrance to the next.
    assert_eq!(run(&["--workers", &urls])["series"]["loss"], elsewhere["series"]["loss"]);
}

#[test]
fn a_worker_that_is_killed_ends_the_run_at_once_with_its_name() {
    let folder = Folder::new();
    let (one, two) = (Worker::start(&folder), Worker::start(&folder));
    let (child, record) = endless(&folder, &format!("{},{}", one.url, two.url));
    two.signal("-KILL");
    let ended = lost(child, &record, Duration::from_secs(20));
    let name = format!("worker 1 ({})", two.place());
    ended.refused(4, &[&name, "must be started again"]);
}

#[test]
fn hanging_worker_ends_the_run_in_time() {
    let folder = Folder::new();
    let (one, two) = (Worker::start(&folder), Worker::start(&folder));
    let (child, record) = endless(&folder, &format!("{},{}", one.url, two.url));
    one.signal("-STOP");
    let ended = lost(child, &record, Duration::from_secs(90));
    ended.refused(4, &[&format!("worker 0 ({})", one.place())]);
    // And the next run does not begin with it.
    let again = run(&folder, &one.url, SOON);
    again.refused(3, &["did not answer within 15 s"]);
    one.signal("-CONT");
}

#[test]
fn a_run_without_the_workers_token_is_not_let_in() {
    let folder = Folder::new();
    let worker = Worker::start(&folder);
    let named = format!("worker 0 ({}) does not let this run in", worker.place());
    let bare = run(&folder, worker.place(), SOON);
    bare.refused(3, &[&named, "it asks for a token"]);
    let other = format!("{}/#{}0", worker.place(), worker.token());
    let wrong = run(&folder, &other, SOON);
    wrong.refused(3, &[&named, "is not the one that it asks for"]);
    assert!(!wrong.err.contains(worker.token()), "{wrong:?}");
}

#[test]
fn somebody_who_does_not_answer_is_told_of() {
    let folder = Folder::new();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", mute.local_addr().unwrap());
    let named = format!("worker 0 ({url})");
    run(&folder, &url, SOON).refused(3, &[&named, "did not answer within 15 s"]);
}

#[test]
fn nobody_is_told_of_at_once() {
    let folder = Folder::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // The near end of a connection: its port is taken, and no program listens there.
    let taken = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let url = format!("ws://{}", taken.local_addr().unwrap());
    let named = format!("worker 0 ({url})");
    run(&folder, &url, Duration::from_secs(14))
        .refused(3, &[&named, "nobody listens there", "mlsys worker --listen"]);
}

#[test]
fn ctrl_c_ends_a_run_that_waits_for_a_worker() {
    let folder = Folder::new();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", mute.local_addr().unwrap());
    let child = spawn(&folder, &[&LAB[..], &["--workers", &url]].concat());
    // The first connection is the check that the worker answers; the second would be the session.
    let calls = [mute.accept().unwrap(), mute.accept().unwrap()];
    signal(child.id(), "-INT");
    let ended = within(child, Duration::from_secs(10));
    assert_eq!(ended.code, Some(130), "{ended:?}");
    drop(calls);
}

#[test]
fn worker_stops_on_request_and_refuses_taken_ports() {
    let folder = Folder::new();
    let mut worker = Worker::start(&folder);
    worker.signal("-INT");
    let child = worker.child.take().unwrap();
    assert_eq!(within(child, SOON).code, Some(0));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    within(spawn(&folder, &["worker", "--listen", &address]), SOON)
        .refused(4, &["cannot listen on", "take another port"]);
}
