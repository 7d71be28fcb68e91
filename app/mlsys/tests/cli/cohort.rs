//! Exported answers of many learners in one report.

use std::time::Instant;

use serde_json::json;

use crate::sandbox;

/// The beginning of a command on a course with one lesson.
fn cohort_command() -> String {
    format!("--course {}/tests/files/cohort/c progress cohort", env!("CARGO_MANIFEST_DIR"))
}

/// A learner who guessed, answered twice and took hints.
fn export(guess: f64, first: &str, second: &str) -> String {
    let is_right = second == "10";
    json!({
        "format": 1,
        "course": "mine",
        "lessons": { "sums/one": { "q1": second } },
        "details": { "sums/one": {
            "completed": is_right,
            "runs": 1,
            "attempts": { "q1": [
                { "given": first, "right": false, "points": 0 },
                { "given": second, "right": true, "points": 2 },
            ] },
            "hints": { "q1": 2 },
            "predictions": {
                "guess": { "given": guess.to_string(), "actual": "10.0" },
                "choose": { "given": "no" },
            },
            "checks": ["holds"],
            "skipped": [],
        } },
    })
    .to_string()
}

#[test]
fn unusable_files_are_named_and_left_out() {
    let folder = sandbox();
    let command = cohort_command();
    let whole = export(9.0, "7", "10");
    let submission = r#""submission":{"learner":"ada","at":0,"versions":{},"seal":"00"}"#;
    let files = [
        folder.file("good.json", &whole),
        folder.file("cut.json", &whole[..whole.len() / 2]),
        folder.file("newer.json", whole.replace("\"format\":1", "\"format\":9")),
        folder.file("other.json", whole.replace("\"course\":\"mine\"", "\"course\":\"theirs\"")),
        folder.file("photo.json", [0xff, 0xd8, 0xff, 0xe0]),
        folder.file("changed.json", whole.replacen('{', &format!("{{{submission},"), 1)),
        folder.arg("missing.json"),
    ];
    let ended = folder.run(&format!("{command} --json {}", files.join(" ")));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let json: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(json["learners"], 1);
    ended.warned(&[
        "cut.json': this answers file is cut off",
        "newer.json': a newer mlsys",
        "other.json': these answers are of the course theirs",
        "photo.json': this is no answers file",
        "missing.json' cannot be read",
        "changed.json': it was changed after it was exported",
        "6 of 7 files could not be used",
    ]);
    folder.run("progress cohort").refused(2, &["<FILE>"]);
}

#[test]
fn five_hundred_learners_are_one_report() {
    let folder = sandbox();
    let command = cohort_command();
    let files = (0..500).map(|n| {
        let wrong = (n % 50).to_string();
        folder.file(&format!("{n}.json"), export(f64::from(n) + 1.0, &wrong, "10"))
    });
    let files: Vec<String> = files.collect();
    let started = Instant::now();
    let json = folder.run(&format!("{command} --json {}", files.join(" "))).json();
    let took = started.elapsed().as_secs_f64();
    assert_eq!(json["learners"], 500);
    let question = &json["lessons"][0]["questions"][0];
    assert_eq!(question["right"], 500);
    assert_eq!(question["wrong"].as_array().unwrap().len(), 49);
    assert!(took < 10.0, "{took} s");
}
