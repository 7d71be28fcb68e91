//! Exported answers of many learners in one report.

use std::time::Instant;

use mlsys_harness::sandbox::Sandbox;
use serde_json::json;

use crate::sandbox;

const LESSON: &str = include_str!("../files/cohort.md");

/// The beginning of a command on a course with one lesson.
fn cohort_command(folder: &Sandbox) -> String {
    let toml = "format = 1\nid = \"mine\"\ntitle = \"Mine <&>\"\nabout = \"a\"\n[[module]]\nid = \"sums\"\ntitle = \"S\"\nlessons = [\"sums/one\"]\n";
    folder.file("c/course.toml", toml);
    folder.file("c/sums/one.md", LESSON);
    format!("--course {} progress cohort", folder.arg("c"))
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
fn cohort_report_counts_learners_and_groups_mistakes() {
    let folder = sandbox();
    let command = cohort_command(&folder);
    let files = [
        folder.file("ann.json", export(9.0, "7", "10")),
        folder.file("bob.json", export(5.0, "3+4", "10")),
        folder.file("cyd.json", export(20.0, " 99 ", "=1+1")),
        // Written by hand, or exported by an earlier program: answers alone.
        folder.file("dan.json", r#"{"lessons": {"sums/one": {"q1": 10}}}"#),
    ]
    .join(" ");
    let run = |more: &str| folder.run(&format!("{command} {files} {more}"));
    let json = run("--json").json();
    assert_eq!(json["learners"], 4);
    assert!(json.get("names").is_none());
    let lesson = &json["lessons"][0];
    let question = &lesson["questions"][0];
    let [guess, choose] = [0, 1].map(|at| &lesson["predictions"][at]);
    for (found, expected) in [
        (&lesson["opened"], json!(4)),
        (&lesson["completed"], json!(2)),
        (&lesson["points"]["min"], json!(0.0)),
        (&lesson["points"]["max"], json!(2.0)),
        (&question["answered"], json!(4)),
        (&question["right_first"], json!(1)),
        (&question["right"], json!(3)),
        (&question["hinted"], json!(3)),
        (&question["hints"], json!(6)),
        (
            &question["wrong"],
            json!([
                {"answer": "2 + 5", "say": "That is the sum.", "count": 2},
                {"answer": "99", "say": null, "count": 1},
                {"answer": "=1+1", "say": null, "count": 1},
            ]),
        ),
        (&guess["made"], json!(3)),
        (&guess["relative_error"]["median"], json!(0.5)),
        (&guess["relative_error"]["max"], json!(1.0)),
        (&choose["choices"]["no"], json!(3)),
        (&choose["came_out"], json!(0)),
        (&lesson["checks"][0]["held"], json!(3)),
    ] {
        assert_eq!(*found, expected, "{json:#}");
    }

    let plain = run("");
    plain.printed(&["2 x  2 + 5: That is the sum."]);
    assert!(!plain.out.contains("ann"), "{plain:?}");
    run("--names").printed(&["ann: 1 completed, 2 points"]);
    run("--csv --names")
        .printed(&["sums/one,question,q1,right at first,1\n", ",learner,dan,points,2\n"]);
    run(&format!("--html -o {}", folder.arg("r.html"))).success();
    let page = folder.read("r.html");
    assert!(page.contains("<h1>Mine &lt;&amp;&gt;</h1>") && !page.contains("http"), "{page}");
    run("--html --csv").refused(2, &["cannot be used with"]);
}

#[test]
fn unusable_files_are_named_and_left_out() {
    let folder = sandbox();
    let command = cohort_command(&folder);
    let whole = export(9.0, "7", "10");
    let files = [
        folder.file("good.json", &whole),
        folder.file("cut.json", &whole[..whole.len() / 2]),
        folder.file("newer.json", whole.replace("\"format\":1", "\"format\":9")),
        folder.file("other.json", whole.replace("\"course\":\"mine\"", "\"course\":\"theirs\"")),
        folder.file("photo.json", [0xff, 0xd8, 0xff, 0xe0]),
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
        "5 of 6 files could not be used",
    ]);
    folder.run("progress cohort").refused(2, &["<FILE>"]);
}

#[test]
fn five_hundred_learners_are_one_report() {
    let folder = sandbox();
    let command = cohort_command(&folder);
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
