//! Past runs: listed, shown, compared, exported, removed, and read when something is wrong with them.

use std::fs;

use mlsys_harness::sandbox::{Sandbox, contains};

use crate::sandbox;

/// A folder with two short runs of the network and one of a calculator.
fn three_runs() -> Sandbox {
    let folder = sandbox();
    for rate in ["0.01", "0.05"] {
        let set = format!("--set steps=20 --set learning_rate={rate}");
        folder.run(&format!("lab train --device cpu {set}")).success();
    }
    folder.run("lab graph --set expression=x --set inputs.x=1").success();
    folder
}

#[test]
fn a_torn_record_keeps_what_came_before() {
    let folder = sandbox();
    folder.run("lab train --device cpu --set steps=3").success();
    let last = folder.run("runs show last --json").json();
    assert_eq!(last["lab"], "train");
    assert_eq!(last["outcome"], "finished");
    assert_eq!(last["about"]["params"]["steps"], 3);
    assert_eq!(last["metrics"]["steps_done"], 3);
    // A kill may tear the last line.
    let reports = folder.records()[0].join("reports.jsonl");
    let text = fs::read(&reports).unwrap();
    fs::write(&reports, &text[..text.len() - 5]).unwrap();
    assert!(folder.run("runs show last --json").json()["metrics"]["loss"].is_number());
}

#[test]
fn runs_are_named_in_many_ways() {
    let folder = three_runs();
    let path = folder.records().remove(0);
    let name = path.file_name().unwrap().to_str().unwrap();
    for run in ["last-2", name, &name[..name.len() - 2], path.to_str().unwrap()] {
        let shown = folder.run(&format!("runs show {run} --json")).json();
        assert_eq!(shown["name"], name, "{run}");
        assert_eq!(shown["outcome"], "finished");
        assert_eq!(shown["step"], 20);
        assert_eq!(shown["series"]["loss"]["values"], 20);
        assert_eq!(shown["about"]["params"]["learning_rate"], 0.01);
        assert!(shown["about"]["mlsys"].is_string() && shown["about"]["burn"].is_string());
    }
}

#[test]
fn runs_are_exported() {
    let folder = three_runs();
    let csv = folder.run("runs export last-1 -o -");
    let rows: Vec<Vec<&str>> =
        csv.success().lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 21);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let loss = rows[0].iter().position(|name| *name == "loss (nats) measured").unwrap();
    let json = folder.run("runs export last-1 --format jsonl");
    for (row, line) in rows[1..].iter().zip(json.success().lines()) {
        assert!(line.starts_with(&format!("{{\"step\":{},", row[0])), "{line}");
        assert!(line.contains(&format!("\"loss\":{}", row[loss])), "{line}");
    }
    let events = folder.arg("events");
    folder.run(&format!("runs export last-1 --format tensorboard -o {events}")).success();
    let run = fs::read_dir(&events).unwrap().next().unwrap().unwrap();
    assert_eq!(folder.records()[1].file_name().unwrap(), run.file_name());
    let file = fs::read_dir(run.path()).unwrap().next().unwrap().unwrap();
    assert!(file.file_name().to_str().unwrap().contains("tfevents"));
    assert!(file.metadata().unwrap().len() > 500);
}

#[test]
fn a_damaged_record_does_not_affect_others() {
    let folder = three_runs();
    let runs = folder.records();
    let [newer, edited, nameless] = [0, 1, 2].map(|at| runs[at].clone());
    let show = |at: usize, more: &str| {
        let name = runs[at].file_name().unwrap().to_str().unwrap();
        folder.run(&format!("runs show {name} {more}"))
    };
    let about = fs::read_to_string(newer.join("run.json")).unwrap();
    fs::write(newer.join("run.json"), about.replace("\"format\": 2", "\"format\": 9")).unwrap();
    show(0, "").refused(2, &["a newer mlsys", "an update reads it"]);

    let reports = edited.join("reports.jsonl");
    let mut text = fs::read(&reports).unwrap();
    let end = text.iter().position(|&byte| byte == b'\n').unwrap();
    text.splice(end + 1..end + 1, *b"\xff{\n");
    fs::write(&reports, text).unwrap();
    let ended = show(1, "--json");
    assert_eq!(ended.json()["step"], 20);
    ended.warned(&["reports.jsonl:2 was passed over: it is not text"]);

    fs::remove_file(nameless.join("run.json")).unwrap();
    show(2, "").refused(2, &["run.json, which says what was run, is missing"]);

    // An empty folder is that of a run which is just beginning.
    fs::create_dir_all(folder.path("data/runs/empty")).unwrap();
    let list = folder.run("runs list");
    assert_eq!(list.success().lines().count(), 1, "{list:?}");
    assert_eq!(list.err.matches("warning").count(), 2, "{list:?}");
    folder.run("runs remove last empty").refused(2, &["no run 'empty'"]);
}

#[test]
fn a_report_is_one_page_that_fetches_and_runs_nothing() {
    let folder = three_runs();
    folder.run(&format!("report last-1 -o {}", folder.arg("run.html"))).success();
    let page = folder.read("run.html");
    contains(
        &page,
        &["<!doctype html>", "<svg", "prefers-color-scheme", "Versions", "learning_rate = 0.05"],
    );
    let lesson = folder.run("report systems/training-loop -o -");
    lesson.printed(&["Predictions", "Answers", "Checks", "No run of this lesson"]);
    for page in [page.as_str(), lesson.success()] {
        let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
        for bad in ["<script", "http", "src=", "@import", "url("] {
            assert!(!elsewhere.contains(bad), "{bad}");
        }
    }
    folder.run("report systems/trainig-loop -o -").refused(2, &["systems/training-loop"]);
}
