//! What measures the workbench itself.

use crate::help::Folder;

#[test]
fn the_bench_of_the_llama_measures_every_part() {
    let folder = Folder::new();
    let arguments = ["bench", "llama", "--device", "cpu", "--rounds", "2", "--json"];
    let json = folder.run(&arguments).json();
    let figures = json["figures"].as_object().unwrap();
    for name in [
        "step: forward",
        "step: update",
        "gated layer, 2 times: backward",
        "all matrix products: forward",
    ] {
        assert_eq!(figures[name]["values"].as_array().unwrap().len(), 2);
        assert!(figures[name]["median"].as_f64().unwrap() > 0.0, "{name}");
    }
    assert_eq!(figures.len(), 5 + 2 * 9 + 2);
}

#[test]
fn the_bench_of_kernels_measures_right_results() {
    let folder = Folder::new();
    let arguments = ["bench", "kernel", "--rounds", "2", "--elements", "1000", "--json"];
    let json = folder.run(&arguments).json();
    let figures = json["figures"].as_object().unwrap();
    for kernel in ["window-sum-naive", "window-sum-shared"] {
        let rate = &figures[&format!("{kernel}: warp instructions")];
        for figure in [&figures[kernel], rate] {
            assert_eq!(figure["values"].as_array().unwrap().len(), 2);
            assert!(figure["least"].as_f64().unwrap() > 0.0, "{kernel}");
        }
    }
    assert_eq!(figures.len(), 4);
}

#[test]
fn the_bench_of_collectives_walks_every_message() {
    let folder = Folder::new();
    let arguments = ["bench", "collective", "--rounds", "2", "--ranks", "33", "--json"];
    let json = folder.run(&arguments).json();
    let figures = json["figures"].as_object().unwrap();
    for algorithm in ["ring", "tree", "double-tree"] {
        let rate = &figures[&format!("{algorithm}: messages")];
        for figure in [&figures[algorithm], rate] {
            assert_eq!(figure["values"].as_array().unwrap().len(), 2);
            assert!(figure["least"].as_f64().unwrap() > 0.0, "{algorithm}");
        }
    }
    assert_eq!(figures.len(), 6);
}
