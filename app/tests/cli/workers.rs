//! Devices of other processes: `mlsys worker` and `--workers`.

#[cfg(all(unix, feature = "remote"))]
mod elsewhere;
#[cfg(all(unix, feature = "remote"))]
mod liar;

use crate::help::Folder;

#[test]
fn a_worker_listens_on_its_own_machine_only_and_says_how_to_join_two() {
    let folder = Folder::new();
    for address in ["0.0.0.0:4100", "192.168.0.7:4100", "[::]:4100"] {
        folder
            .run(&["worker", "--listen", address])
            .refused(2, &["ssh -N -L 4100:127.0.0.1:4100 USER@HOST"]);
    }
    folder
        .run(&["worker", "--listen", "everywhere"])
        .refused(2, &["127.0.0.1:4100"]);
}

#[test]
fn addresses_of_workers_are_read_before_anything_runs() {
    let folder = Folder::new();
    for (workers, said) in [
        (
            "ws://10.0.0.7:4100",
            "ssh -N -L 4100:127.0.0.1:4100 USER@HOST",
        ),
        ("ws://127.0.0.1", "has no port"),
        ("http://127.0.0.1:4100", "workers speak ws://"),
        ("127.0.0.1:4100,127.0.0.1:4100", "is there twice"),
    ] {
        folder
            .run(&["lab", "train-data-parallel", "--workers", workers])
            .refused(2, &[said]);
    }
    folder
        .run(&["lab", "roofline", "--workers", "ws://127.0.0.1:4100"])
        .refused(2, &["worker_urls"]);
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_build_without_the_feature_says_how_to_build_with_it() {
    let folder = Folder::new();
    let build = "cargo build --release --features remote";
    folder.run(&["worker"]).refused(2, &[build]);
    let workers = ["--workers", "ws://127.0.0.1:4100"];
    let lab = ["lab", "train-tensor-parallel", "--device", "cpu"];
    folder
        .run(&[&lab[..], &workers].concat())
        .refused(3, &[build]);
}
