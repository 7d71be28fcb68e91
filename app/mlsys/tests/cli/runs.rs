//! Past runs: listed, shown, compared, exported, removed, and read when something is wrong with them.

use std::fs;
use std::path::PathBuf;

use crate::help::{Folder, records};

/// A folder with two short runs of the network and one of a calculator.
fn three_runs() -> Folder {
    let folder = Folder::new();
    for rate in ["learning_rate=0.01", "learning_rate=0.05"] {
        let more = ["--set", "steps=20", "--set", rate];
        let arguments = [&["lab", "train", "--device", "cpu"][..], &more].concat();
        folder.run(&arguments).did();
    }
    folder.run(&["lab", "graph", "--set", "expression=x", "--set", "inputs.x=1"]).did();
    folder
}

fn of(folder: &Folder, index: usize) -> (PathBuf, String) {
    let path = records(&folder.path("data")).remove(index);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    (path, name)
}

#[test]
fn runs_are_listed_and_shown() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["runs", "list"]).did(), "");
    folder.run(&["lab", "train", "--device", "cpu", "--set", "steps=3"]).did();
    let last = folder.run(&["runs", "show", "last", "--json"]).json();
    assert_eq!(last["lab"], "train");
    assert_eq!(last["outcome"], "finished");
    assert_eq!(last["about"]["params"]["steps"], 3);
    assert_eq!(last["metrics"]["steps_done"], 3);
    // A kill may tear the last line: what came before it stays.
    let reports = records(&folder.path("data"))[0].join("reports.jsonl");
    let text = fs::read(&reports).unwrap();
    fs::write(&reports, &text[..text.len() - 5]).unwrap();
    assert!(folder.run(&["runs", "show", "last", "--json"]).json()["metrics"]["loss"].is_number());
}

#[test]
fn runs_are_listed_filtered_and_named_in_many_ways() {
    let folder = three_runs();
    let lines = |arguments: &[&str]| folder.run(arguments).did().lines().count();
    assert_eq!(lines(&["runs", "list"]), 3);
    assert_eq!(lines(&["runs", "list", "--limit", "2"]), 2);
    assert_eq!(lines(&["runs", "list", "--lab", "train"]), 2);
    assert_eq!(lines(&["runs", "list", "--lesson", "systems/training-loop"]), 0);
    let json = folder.run(&["runs", "list", "--json", "--limit", "1"]).json();
    assert_eq!(json["runs"][0]["lab"], "graph");
    folder.run(&["runs", "list", "--lab", "trian"]).refused(2, &["did you mean 'train'?"]);

    let (path, name) = of(&folder, 0);
    for asked in ["last-2", &name, &name[..name.len() - 2], path.to_str().unwrap()] {
        let shown = folder.run(&["runs", "show", asked, "--json"]).json();
        assert_eq!(shown["name"], name.as_str(), "{asked}");
        assert_eq!(shown["outcome"], "finished");
        assert_eq!(shown["step"], 20);
        assert_eq!(shown["series"]["loss"]["values"], 20);
        assert_eq!(shown["about"]["params"]["learning_rate"], 0.01);
        for version in ["mlsys", "burn"] {
            assert!(shown["about"][version].is_string(), "{version}");
        }
    }
    let text = folder.run(&["runs", "show", "last-1"]);
    for said in ["learning_rate", "0.05", "finished after", "burn 0.", "Metric", "min"] {
        assert!(text.did().contains(said), "'{said}' is missing in {text:?}");
    }
}

#[test]
fn runs_are_compared() {
    let folder = three_runs();
    let text = folder.run(&["runs", "compare", "last-2", "last-1"]);
    let line = |begin: &str| {
        let line = text.did().lines().find(|line| line.starts_with(begin));
        line.unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line("learning_rate"), ["learning_rate", "0.01", "0.05"]);
    assert_eq!(line("steps_done"), ["steps_done", "20", "20", "1"]);
    // Two last values, their ratio, two least values.
    assert_eq!(line("loss ").len(), 6);
    let json = folder.run(&["runs", "compare", "last-2", "last-1", "--json"]).json();
    assert_eq!(json["params"], serde_json::json!({ "learning_rate": [0.01, 0.05] }));
    assert_eq!(json["metrics"]["steps_done"]["ratio"], serde_json::json!([1.0, 1.0]));
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(2));

    let same = folder.run(&["runs", "compare", "last", "last"]);
    assert!(same.did().contains("All parameters are the same"));
    let other = folder.run(&["runs", "compare", "last", "last-1"]);
    other.did();
    assert!(other.err.contains("different labs (graph, train)"), "{other:?}");
    folder.run(&["runs", "compare", "last"]).refused(2, &["2 values required"]);
}

#[test]
fn runs_are_exported() {
    let folder = three_runs();
    let csv = folder.run(&["runs", "export", "last-1", "-o", "-"]);
    let rows: Vec<Vec<&str>> = csv.did().lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 21);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let loss = rows[0].iter().position(|name| *name == "loss").unwrap();
    let json = folder.run(&["runs", "export", "last-1", "--format", "jsonl"]);
    for (row, line) in rows[1..].iter().zip(json.did().lines()) {
        assert!(line.starts_with(&format!("{{\"step\":{},", row[0])), "{line}");
        assert!(line.contains(&format!("\"loss\":{}", row[loss])), "{line}");
    }
    let events = folder.path("events");
    let to = ["--format", "tensorboard", "-o", events.to_str().unwrap()];
    folder.run(&[&["runs", "export", "last-1"][..], &to].concat()).did();
    let file = fs::read_dir(&events).unwrap().next().unwrap().unwrap();
    assert!(file.file_name().to_str().unwrap().contains("tfevents"));
    assert!(file.metadata().unwrap().len() > 500);
    folder.run(&["runs", "export", "last-1", "--format", "tensorboard"]).refused(2, &["-o FOLDER"]);
    let nowhere = folder.path("no/where.csv");
    folder
        .run(&["runs", "export", "last", "-o", nowhere.to_str().unwrap()])
        .refused(4, &["where.csv cannot be written"]);
}

#[test]
fn runs_are_removed_by_name_and_nothing_else_is() {
    let folder = three_runs();
    folder.run(&["runs", "remove", "last", "nonsense"]).refused(2, &["no run 'nonsense'"]);
    assert_eq!(records(&folder.path("data")).len(), 3);
    let precious = folder.path("precious");
    fs::create_dir_all(&precious).unwrap();
    folder.run(&["runs", "remove", precious.to_str().unwrap()]).refused(2, &["is no whole record"]);
    assert!(precious.is_dir());
    folder.run(&["runs", "remove", "last", "last-2"]).did();
    let left = records(&folder.path("data"));
    assert_eq!(left.len(), 1);
    assert!(left[0].to_str().unwrap().contains("train"));
}

#[test]
fn a_record_with_something_wrong_says_what_and_costs_no_other() {
    let folder = three_runs();
    let (first, first_name) = of(&folder, 0);
    let (second, second_name) = of(&folder, 1);
    let (third, third_name) = of(&folder, 2);
    // From a newer version.
    let about = fs::read_to_string(first.join("run.json")).unwrap();
    fs::write(first.join("run.json"), about.replace("\"format\": 2", "\"format\": 9")).unwrap();
    folder.run(&["runs", "show", &first_name]).refused(2, &["a newer mlsys", "an update reads it"]);
    // An edited line.
    let reports = second.join("reports.jsonl");
    let mut text = fs::read(&reports).unwrap();
    let end = text.iter().position(|&byte| byte == b'\n').unwrap();
    text.splice(end + 1..end + 1, *b"\xff{\n");
    fs::write(&reports, text).unwrap();
    let ended = folder.run(&["runs", "show", &second_name, "--json"]);
    assert_eq!(ended.json()["step"], 20);
    assert!(ended.err.contains("reports.jsonl:2 was passed over: it is not text"), "{ended:?}");
    // Without its description.
    fs::remove_file(third.join("run.json")).unwrap();
    folder
        .run(&["runs", "show", &third_name])
        .refused(2, &["run.json, which says what was run, is missing"]);
    // An empty folder is that of a run which is just beginning.
    fs::create_dir_all(folder.path("data/runs/empty")).unwrap();
    let list = folder.run(&["runs", "list"]);
    assert_eq!(list.did().lines().count(), 1, "{list:?}");
    assert_eq!(list.err.matches("warning").count(), 2, "{list:?}");
    folder.run(&["runs", "remove", &third_name, "empty"]).refused(2, &["no run 'empty'"]);
}

#[test]
fn a_report_is_one_page_that_fetches_and_runs_nothing() {
    let folder = three_runs();
    let file = folder.path("run.html");
    folder.run(&["report", "last-1", "-o", file.to_str().unwrap()]).did();
    let page = fs::read_to_string(file).unwrap();
    for said in [
        "<!doctype html>",
        "learning_rate",
        "<svg",
        "prefers-color-scheme",
        "Versions",
        "learning_rate = 0.05",
    ] {
        assert!(page.contains(said), "'{said}' is missing");
    }
    let lesson = folder.run(&["report", "systems/training-loop", "-o", "-"]);
    for said in ["Predictions", "Answers", "Checks", "No run of this lesson"] {
        assert!(lesson.did().contains(said), "'{said}' is missing");
    }
    for page in [page.as_str(), lesson.did()] {
        let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
        for bad in ["<script", "http", "src=", "@import", "url("] {
            assert!(!elsewhere.contains(bad), "{bad}");
        }
    }
    folder
        .run(&["report", "systems/trainig-loop", "-o", "-"])
        .refused(2, &["systems/training-loop"]);
}
