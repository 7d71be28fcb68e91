//! Worker processes on this machine: same numbers as threads, and an end whatever happens to them or a relay.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use mlsys_harness::sandbox::{Ended, Sandbox, TIMEOUT, json_file, type_in, until};

use crate::sandbox;

const LAB: &str = "lab train-data-parallel --device cpu --set workers=2";

struct Worker {
    child: Option<Child>,
    id: u32,
    /// Its address as it printed it, with the token.
    url: String,
}

impl Worker {
    /// Starts one on a free port and waits until it serves.
    fn start(folder: &Sandbox) -> Self {
        let mut child = folder.spawn("worker --listen 127.0.0.1:0 --device cpu");
        let out = child.stdout.take().unwrap();
        let mut worker = Self { id: child.id(), child: Some(child), url: String::new() };
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(out).read_line(&mut line);
            let _ = sender.send(read.map(|_| line));
        });
        let line = lines.recv_timeout(TIMEOUT).unwrap().unwrap();
        let url = line.split_whitespace().find(|word| word.starts_with("ws://"));
        worker.url = url.unwrap().to_owned();
        worker
    }

    fn place(&self) -> &str {
        self.url.split_once("/#").unwrap().0
    }

    fn socket(&self) -> &str {
        self.place().trim_start_matches("ws://")
    }

    fn token(&self) -> &str {
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

/// The end of a program, which must come within this time.
fn within(child: Child, limit: Duration) -> Ended {
    let id = child.id();
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let output = ended.recv_timeout(limit);
    if output.is_err() {
        signal(id, "-KILL");
    }
    assert!(output.is_ok(), "it did not end within {limit:?}");
    Ended::new(output.unwrap().unwrap())
}

/// A whole run of the lab on these workers, which must end within this time.
fn run(folder: &Sandbox, urls: &str, limit: Duration) -> Ended {
    within(folder.spawn(&format!("{LAB} --workers {urls}")), limit)
}

/// A long run on these workers, once it has trained a few steps.
fn endless(folder: &Sandbox, urls: &str) -> (Child, PathBuf) {
    let child = folder.spawn(&format!("{LAB} --set steps=10000 --workers {urls}"));
    let has_trained = |run: &PathBuf| {
        let reports = fs::read_to_string(run.join("reports.jsonl"));
        reports.is_ok_and(|text| text.lines().filter(|line| line.contains("loss")).count() > 2)
    };
    let record = until(|| folder.records().into_iter().find(has_trained));
    (child, record)
}

/// The end of a run that lost a worker; its record says so and keeps what came before.
fn lost(child: Child, record: &Path, limit: Duration) -> Ended {
    let ended = within(child, limit);
    assert_eq!(json_file(&record.join("outcome.json"))["outcome"], "failed");
    assert!(fs::read_to_string(record.join("reports.jsonl")).unwrap().contains("loss"));
    ended
}

#[test]
fn two_worker_processes_give_the_losses_of_threads() {
    let folder = sandbox();
    let (one, two) = (Worker::start(&folder), Worker::start(&folder));
    let urls = format!("--workers {},{}", one.url, two.url);
    // Tensors of another process take burn's own operations.
    let run = |workers: &str| {
        let mut command = folder.command(&format!("{LAB} --set steps=8 --json {workers}"));
        type_in(command.env("MLSYS_FUSED", "0"), "").json()
    };
    let threads = run("");
    let elsewhere = run(&urls);
    assert_eq!(threads["series"]["loss"].as_array().unwrap().len(), 8);
    assert_eq!(threads["series"]["loss"], elsewhere["series"]["loss"]);
    assert_eq!(elsewhere["metrics"]["replicas_identical"], true);
    assert_eq!(threads["metrics"]["worker_devices"], "cpu");
    let places = format!("{}, {}", one.place(), two.place());
    assert_eq!(elsewhere["metrics"]["worker_devices"], places.as_str());
    // The record names the workers, and no file of it their tokens.
    let record = folder.records().pop().unwrap();
    let about = fs::read_to_string(record.join("run.json")).unwrap();
    assert!(about.contains(&places.replace(", ", ",")), "{about}");
    for file in fs::read_dir(record).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(one.token()), "{text}");
    }
    // Sessions of one run do not hinder the next.
    assert_eq!(run(&urls)["series"]["loss"], elsewhere["series"]["loss"]);
}

#[test]
fn a_killed_worker_ends_the_run_at_once_with_its_name() {
    let folder = sandbox();
    let (one, two) = (Worker::start(&folder), Worker::start(&folder));
    let (child, record) = endless(&folder, &format!("{},{}", one.url, two.url));
    two.signal("-KILL");
    let ended = lost(child, &record, Duration::from_secs(20));
    ended.refused(4, &[&format!("worker 1 ({})", two.place()), "must be started again"]);
}

#[test]
fn hanging_worker_ends_the_run_in_time() {
    let folder = sandbox();
    let (one, two) = (Worker::start(&folder), Worker::start(&folder));
    let (child, record) = endless(&folder, &format!("{},{}", one.url, two.url));
    one.signal("-STOP");
    let ended = lost(child, &record, Duration::from_secs(90));
    ended.refused(4, &[&format!("worker 0 ({})", one.place())]);
    // The next run does not begin with it.
    run(&folder, &one.url, TIMEOUT).refused(3, &["did not answer within 15 s"]);
    one.signal("-CONT");
}

#[test]
fn a_run_without_the_workers_token_is_not_let_in() {
    let folder = sandbox();
    let worker = Worker::start(&folder);
    let named = format!("worker 0 ({}) does not let this run in", worker.place());
    run(&folder, worker.place(), TIMEOUT).refused(3, &[&named, "it asks for a token"]);
    let other = format!("{}/#{}0", worker.place(), worker.token());
    let wrong = run(&folder, &other, TIMEOUT);
    wrong.refused(3, &[&named, "is not the one that it asks for"]);
    assert!(!wrong.err.contains(worker.token()), "{wrong:?}");
}

/// The status of the answer to a request for an upgrade, and the connection.
fn knock(worker: &Worker, path: &str, headers: &str) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(worker.socket()).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n",
        worker.socket()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream.try_clone().unwrap()).read_line(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap_or_default().to_owned(), stream)
}

#[test]
fn nothing_is_upgraded_without_the_token_or_for_a_page_in_a_browser() {
    let folder = sandbox();
    let worker = Worker::start(&folder);
    // Closed within the limit of a handshake, which is waited for at the end.
    let mut idle = TcpStream::connect(worker.socket()).unwrap();
    idle.set_read_timeout(Some(TIMEOUT)).unwrap();
    let token = format!("Authorization: Bearer {}\r\n", worker.token());
    let wrong = format!("Authorization: Bearer {}0\r\n", worker.token());
    let page = format!("Origin: http://{}\r\n{token}", worker.socket());
    for path in ["/session", "/data", "/"] {
        assert_eq!(knock(&worker, path, "").0, "401", "{path}");
        assert_eq!(knock(&worker, path, &wrong).0, "401", "{path}");
        assert_eq!(knock(&worker, path, &page).0, "403", "{path}");
        let expected = if path == "/session" { "101" } else { "404" };
        assert_eq!(knock(&worker, path, &token).0, expected, "{path}");
    }
    // The header of a first message of 65,537 bytes, which are never sent.
    let (status, mut stream) = knock(&worker, "/session", &token);
    assert_eq!(status, "101");
    stream.write_all(&[0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 1, 1, 2, 3, 4]).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(idle.read_to_end(&mut rest).is_ok(), "it is not closed");
    // It still serves.
    run(&folder, &worker.url, TIMEOUT).success();
}

#[test]
fn an_unresponsive_worker_is_reported() {
    let folder = sandbox();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", mute.local_addr().unwrap());
    let named = format!("worker 0 ({url})");
    run(&folder, &url, TIMEOUT).refused(3, &[&named, "did not answer within 15 s"]);
}

#[test]
fn a_refused_connection_is_reported_at_once() {
    let folder = sandbox();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // The near end of a connection: its port is taken, and no program listens there.
    let taken = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let url = format!("ws://{}", taken.local_addr().unwrap());
    let named = format!("worker 0 ({url})");
    run(&folder, &url, Duration::from_secs(14))
        .refused(3, &[&named, "no process listens there", "mlsys worker --listen"]);
}

#[test]
fn ctrl_c_ends_a_run_that_waits_for_a_worker() {
    let folder = sandbox();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", mute.local_addr().unwrap());
    let child = folder.spawn(&format!("{LAB} --workers {url}"));
    // The first connection is the check that the worker answers; the second would be the session.
    let calls = [mute.accept().unwrap(), mute.accept().unwrap()];
    signal(child.id(), "-INT");
    let ended = within(child, Duration::from_secs(10));
    assert_eq!(ended.code, Some(130), "{ended:?}");
    drop(calls);
}

#[test]
fn worker_stops_on_request_and_refuses_taken_ports() {
    let folder = sandbox();
    let mut worker = Worker::start(&folder);
    worker.signal("-INT");
    let child = worker.child.take().unwrap();
    assert_eq!(within(child, TIMEOUT).code, Some(0));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    within(folder.spawn(&format!("worker --listen {address}")), TIMEOUT)
        .refused(4, &["cannot listen on", "take another port"]);
}

/// A change of the worker's answers, from these bytes to as many others.
#[derive(Clone, Copy)]
struct Change {
    original: &'static [u8],
    replacement: &'static [u8],
}

/// Starts a relay to a worker; the address of the relay.
fn relay(worker: &Worker, change: Change) -> String {
    assert_eq!(change.original.len(), change.replacement.len());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let correct = worker.socket().to_owned();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&correct).unwrap();
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || forward(from, to, None));
            thread::spawn(move || forward(server, client, Some(change)));
        }
    });
    url
}

/// Forwards bytes. Those that may begin what is to be changed wait for the next.
fn forward(mut from: TcpStream, mut to: TcpStream, change: Option<Change>) {
    let mut held = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        held.extend_from_slice(&chunk[..count]);
        let mut keep = 0;
        if let Some(Change { original, replacement }) = change {
            while let Some(at) = held.windows(original.len()).position(|bytes| bytes == original) {
                held[at..at + replacement.len()].copy_from_slice(replacement);
            }
            let longest = held.len().min(original.len() - 1);
            keep = (1..=longest)
                .rev()
                .find(|&keep| original.starts_with(&held[held.len() - keep..]))
                .unwrap_or(0);
            // A single byte is far more likely the end of a message than the beginning of this.
            if keep == 1 {
                keep = 0;
            }
        }
        let rest = held.split_off(held.len() - keep);
        if to.write_all(&held).is_err() {
            return;
        }
        held = rest;
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

fn refuses_change(change: Change, code: i32, parts: &[&str]) {
    let folder = sandbox();
    let worker = Worker::start(&folder);
    let url = relay(&worker, change);
    let named = format!("({url})");
    let lab = "lab train-data-parallel --device cpu --set workers=2";
    let ended = folder.run(&format!("{lab} --workers {url}/#{}", worker.token()));
    ended.refused(code, &[&[named.as_str()], parts].concat());
}

#[test]
fn a_worker_of_another_version_is_refused() {
    // The answer to the handshake: a map of one entry; its first number is the version.
    let change = Change { original: b"\xa4Init\x94\x02", replacement: b"\xa4Init\x94\x03" };
    refuses_change(change, 3, &["is of another version", "version 3", "same version of mlsys"]);
}

#[test]
fn worker_that_transposes_tensors_is_refused() {
    // The shape of the first sum: a list of two numbers, and the type behind it.
    let change = Change { original: b"\x92\x02\x03\xa3F32", replacement: b"\x92\x03\x02\xa3F32" };
    refuses_change(change, 3, &["gave back a tensor of shape [3, 2]", "[2, 3] and"]);
}

#[test]
fn worker_that_returns_wrong_tensors_ends_the_run() {
    // All 209,472 gradients, or weights, as whole numbers instead of floating-point ones.
    let change = Change {
        original: b"\x91\xce\x00\x03\x32\x40\xa3F32",
        replacement: b"\x91\xce\x00\x03\x32\x40\xa3U32",
    };
    refuses_change(change, 4, &["gave back a tensor of shape [209472] and type U32"]);
}
