//! Workers that answer wrongly: a relay in front of a correct one changes a few bytes of its answers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::elsewhere::Worker;
use crate::sandbox;

/// A change of the worker's answers, from these bytes to as many others.
#[derive(Clone, Copy)]
struct Lie {
    truth: &'static [u8],
    told: &'static [u8],
}

/// Starts a relay to a worker; the address of the relay.
fn relay(worker: &Worker, lie: Lie) -> String {
    assert_eq!(lie.truth.len(), lie.told.len());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let honest = worker.socket().to_owned();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&honest).unwrap();
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || forward(from, to, None));
            thread::spawn(move || forward(server, client, Some(lie)));
        }
    });
    url
}

/// Forwards bytes. Those that may begin what is to be changed wait for the next.
fn forward(mut from: TcpStream, mut to: TcpStream, lie: Option<Lie>) {
    let mut held = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut chunk) {
        held.extend_from_slice(&chunk[..count]);
        let mut keep = 0;
        if let Some(Lie { truth, told }) = lie {
            while let Some(at) = held.windows(truth.len()).position(|bytes| bytes == truth) {
                held[at..at + told.len()].copy_from_slice(told);
            }
            let longest = held.len().min(truth.len() - 1);
            keep = (1..=longest)
                .rev()
                .find(|&keep| truth.starts_with(&held[held.len() - keep..]))
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

fn refused(lie: Lie, code: i32, parts: &[&str]) {
    let folder = sandbox();
    let worker = Worker::start(&folder);
    let url = relay(&worker, lie);
    let named = format!("({url})");
    let lab = "lab train-data-parallel --device cpu --set workers=2";
    let ended = folder.run(&format!("{lab} --workers {url}/#{}", worker.token()));
    ended.refused(code, &[&[named.as_str()], parts].concat());
}

#[test]
fn a_worker_of_another_version_is_refused() {
    // The answer to the handshake: a map of one entry; its first number is the version.
    let lie = Lie { truth: b"\xa4Init\x94\x02", told: b"\xa4Init\x94\x03" };
    refused(lie, 3, &["is of another version", "version 3", "same version of mlsys"]);
}

#[test]
fn worker_that_transposes_tensors_is_refused() {
    // The shape of the first sum: a list of two numbers, and the type behind it.
    let lie = Lie { truth: b"\x92\x02\x03\xa3F32", told: b"\x92\x03\x02\xa3F32" };
    refused(lie, 3, &["gave back a tensor of shape [3, 2]", "[2, 3] and"]);
}

#[test]
fn worker_that_returns_wrong_tensors_ends_the_run() {
    // All 209,472 gradients, or weights, as whole numbers instead of floating-point ones.
    let lie =
        Lie { truth: b"\x91\xce\x00\x03\x32\x40\xa3F32", told: b"\x91\xce\x00\x03\x32\x40\xa3U32" };
    refused(lie, 4, &["gave back a tensor of shape [209472] and type U32"]);
}
