//! Devices of other processes: `mlsys worker` and `--workers`.

#[cfg(all(unix, feature = "remote"))]
mod elsewhere;

use std::fs;

use crate::sandbox;

#[test]
fn worker_options_are_refused_with_the_reason() {
    let folder = sandbox();
    let tunnel = "ssh -N -L 4100:127.0.0.1:4100 USER@HOST";
    for (line, part) in [
        ("worker --listen 0.0.0.0:4100", tunnel),
        ("worker --listen 192.168.0.7:4100", tunnel),
        ("worker --listen [::]:4100", tunnel),
        ("worker --listen everywhere", "127.0.0.1:4100"),
        ("lab roofline --workers ws://127.0.0.1:4100", "worker_urls"),
    ] {
        folder.run(line).refused(2, &[part]);
    }
    for (workers, part) in [
        ("ws://10.0.0.7:4100", tunnel),
        ("ws://127.0.0.1", "has no port"),
        ("http://127.0.0.1:4100", "workers speak ws://"),
        ("127.0.0.1:4100,127.0.0.1:4100", "is there twice"),
        ("localhost:4100,127.0.0.1:4100", "is there twice"),
        ("ws://127.0.0.1:0", "has port 0"),
        ("'ws://127.0.0.1:4100/#no token'", "the token behind '#'"),
        ("@no-such-file", "file 'no-such-file' cannot be read"),
    ] {
        folder.run(&format!("lab train-data-parallel --workers {workers}")).refused(2, &[part]);
    }
    for command in [
        "worker",
        "lesson check --library",
        "lab list",
        "lab show train-data-parallel",
        "list",
        "run graphs/forward-and-backward",
    ] {
        folder
            .run(&format!("{command} --workers ws://127.0.0.1:4100"))
            .refused(2, &["--workers changes nothing here"]);
    }
}

#[test]
fn a_token_is_read_from_a_file_and_not_recorded() {
    let folder = sandbox();
    let file = folder.file("workers", "ws://127.0.0.1:1/#cafe01\nws://127.0.0.1:2/#cafe01\n");
    let typed = "--set worker_urls=ws://127.0.0.1:1/#cafe01,ws://127.0.0.1:2/#cafe01";
    for workers in [format!("--workers @{file}").as_str(), typed] {
        let ended = folder.run(&format!("lab train-data-parallel --device cpu {workers}"));
        ended.refused(3, &[]);
        assert!(!ended.err.contains("cafe01"), "{ended:?}");
    }
    let records = folder.records();
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
    let folder = sandbox();
    let build = "cargo build --release --features remote";
    folder.run("worker").refused(2, &[build]);
    folder
        .run("lab train-tensor-parallel --device cpu --workers ws://127.0.0.1:4100")
        .refused(3, &[build]);
}
