//! Devices of other processes: `mlsys worker` and `--workers`.

#[cfg(all(unix, feature = "remote"))]
mod elsewhere;

use std::fs;

use crate::sandbox;

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
fn a_build_without_workers_explains_the_feature() {
    let folder = sandbox();
    let build = "cargo build --release --features remote";
    folder.run("worker").refused(2, &[build]);
    folder
        .run("lab train-tensor-parallel --device cpu --workers ws://127.0.0.1:4100")
        .refused(3, &[build]);
}
