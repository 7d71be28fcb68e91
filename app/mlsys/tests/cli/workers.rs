//! Devices of other processes: `mlsys worker` and `--workers`.

#[cfg(all(unix, feature = "remote"))]
mod elsewhere;
#[cfg(all(unix, feature = "remote"))]
mod liar;

use std::fs;

use crate::help::{Folder, records};

#[test]
fn worker_listens_on_loopback_only() {
    let folder = Folder::new();
    for address in ["0.0.0.0:4100", "192.168.0.7:4100", "[::]:4100"] {
        folder
            .run(&["worker", "--listen", address])
            .refused(2, &["ssh -N -L 4100:127.0.0.1:4100 USER@HOST"]);
    }
    folder.run(&["worker", "--listen", "everywhere"]).refused(2, &["127.0.0.1:4100"]);
}

#[test]
fn addresses_of_workers_are_read_before_anything_runs() {
    let folder = Folder::new();
    for (workers, said) in [
        ("ws://10.0.0.7:4100", "ssh -N -L 4100:127.0.0.1:4100 USER@HOST"),
        ("ws://127.0.0.1", "has no port"),
        ("http://127.0.0.1:4100", "workers speak ws://"),
        ("127.0.0.1:4100,127.0.0.1:4100", "is there twice"),
        ("localhost:4100,127.0.0.1:4100", "is there twice"),
        ("ws://127.0.0.1:0", "has port 0"),
        ("ws://127.0.0.1:4100/#no token", "the token behind '#'"),
        ("@no-such-file", "file 'no-such-file' cannot be read"),
    ] {
        folder.run(&["lab", "train-data-parallel", "--workers", workers]).refused(2, &[said]);
    }
    folder
        .run(&["lab", "roofline", "--workers", "ws://127.0.0.1:4100"])
        .refused(2, &["worker_urls"]);
}

#[test]
fn workers_are_refused_where_nothing_is_split() {
    let folder = Folder::new();
    for command in [
        &["worker"][..],
        &["lesson", "check", "--library"],
        &["lab", "list"],
        &["lab", "show", "train-data-parallel"],
        &["list"],
        &["run", "graphs/forward-and-backward"],
    ] {
        folder
            .run(&[command, &["--workers", "ws://127.0.0.1:4100"]].concat())
            .refused(2, &["--workers changes nothing here"]);
    }
}

#[test]
fn a_token_is_read_from_a_file_and_not_recorded() {
    let folder = Folder::new();
    let file = folder.file("workers", "ws://127.0.0.1:1/#cafe01\nws://127.0.0.1:2/#cafe01\n");
    let typed = "worker_urls=ws://127.0.0.1:1/#cafe01,ws://127.0.0.1:2/#cafe01";
    let named = format!("@{file}");
    let lab = ["lab", "train-data-parallel", "--device", "cpu"];
    for workers in [["--workers", named.as_str()], ["--set", typed]] {
        let ended = folder.run(&[&lab[..], &workers].concat());
        ended.refused(3, &[]);
        assert!(!ended.err.contains("cafe01"), "{ended:?}");
    }
    let records = records(&folder.path("data"));
    assert_eq!(records.len(), 2);
    for record in records {
        let about = fs::read_to_string(record.join("run.json")).unwrap();
        assert!(about.contains("ws://127.0.0.1:1,ws://127.0.0.1:2"), "{about}");
        assert!(!about.contains("cafe01"), "{about}");
    }
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_build_without_the_feature_says_how_to_build_with_it() {
    let folder = Folder::new();
    let build = "cargo build --release --features remote";
    folder.run(&["worker"]).refused(2, &[build]);
    let workers = ["--workers", "ws://127.0.0.1:4100"];
    let lab = ["lab", "train-tensor-parallel", "--device", "cpu"];
    folder.run(&[&lab[..], &workers].concat()).refused(3, &[build]);
}
