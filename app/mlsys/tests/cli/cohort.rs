//! Many learners' exported files in one report.

use std::fs;
use std::time::Instant;

use crate::help::Folder;

const LESSON: &str = r#"+++
format = 1
id = "sums/one"
title = "Sums"
minutes = 7
+++
```{lab} product
kind = "graph"
set = { expression = "x*y", inputs = { x = 2, y = 5 } }
```

```{predict} guess
type = "numeric"
prompt = "What will it be?"
metric = "product.value"
```

```{predict} choose
type = "choice"
prompt = "Larger?"
choices = ["yes", "no"]
answer = "yes"
```

```{question} q1
type = "numeric"
prompt = "Two times five?"
answer = 10
points = 2
[[wrong]]
value = "2 + 5"
say = "That is the sum."
```

```{check} holds
assert = "product.value == 10"
```
"#;

fn course(folder: &Folder) -> String {
    fs::create_dir_all(folder.path("c/sums")).unwrap();
    let toml = "format = 1\nid = \"mine\"\ntitle = \"Mine <&>\"\nabout = \"a\"\n[[module]]\nid = \"sums\"\ntitle = \"S\"\nlessons = [\"sums/one\"]\n";
    folder.file("c/course.toml", toml);
    folder.file("c/sums/one.md", LESSON);
    folder.path("c").display().to_string()
}

/// A learner who guessed, answered twice and took hints.
fn export(guess: f64, first: &str, second: &str) -> String {
    format!(
        r#"{{"format": 1, "course": "mine", "lessons": {{"sums/one": {{"q1": "{second}"}}}},
        "details": {{"sums/one": {{"completed": {}, "runs": 1,
        "attempts": {{"q1": [{{"given": "{first}", "right": false, "points": 0}}, {{"given": "{second}", "right": true, "points": 2}}]}},
        "hints": {{"q1": 2}}, "predictions": {{"guess": {{"given": "{guess}", "actual": "10.0"}}, "choose": {{"given": "no"}}}},
        "checks": ["holds"], "skipped": []}}}}}}"#,
        second == "10"
    )
}

#[test]
fn a_cohort_is_counted_and_its_mistakes_are_grouped() {
    let folder = Folder::new();
    let dir = course(&folder);
    let files = [
        folder.file("ann.json", export(9.0, "7", "10")),
        folder.file("bob.json", export(5.0, "3+4", "10")),
        folder.file("cyd.json", export(20.0, " 99 ", "=1+1")),
        // By hand, or exported by an earlier program: answers alone.
        folder.file("dan.json", r#"{"lessons": {"sums/one": {"q1": 10}}}"#),
    ];
    let run = |more: &[&str]| {
        let mut all = vec!["--course", &dir, "progress", "cohort"];
        all.extend(files.iter().map(String::as_str));
        all.extend(more);
        folder.run(&all)
    };
    let json = run(&["--json"]).json();
    assert_eq!(json["learners"], 4);
    assert!(json.get("names").is_none());
    let lesson = &json["lessons"][0];
    assert_eq!((lesson["opened"].as_u64(), lesson["completed"].as_u64()), (Some(4), Some(2)));
    assert_eq!(
        (lesson["points"]["min"].as_f64(), lesson["points"]["max"].as_f64()),
        (Some(0.0), Some(2.0))
    );
    let question = &lesson["questions"][0];
    assert_eq!(question["answered"], 4);
    assert_eq!(question["right_first"], 1);
    assert_eq!(question["right"], 3);
    assert_eq!((question["hinted"].as_u64(), question["hints"].as_u64()), (Some(3), Some(6)));
    assert_eq!(
        question["wrong"],
        serde_json::json!([
            {"answer": "2 + 5", "say": "That is the sum.", "count": 2},
            {"answer": "99", "say": null, "count": 1},
            {"answer": "=1+1", "say": null, "count": 1},
        ])
    );
    let guess = &lesson["predictions"][0];
    assert_eq!(guess["made"], 3);
    assert_eq!(guess["relative_error"]["median"], 0.5);
    assert_eq!(guess["relative_error"]["max"], 1.0);
    let choose = &lesson["predictions"][1];
    assert_eq!((choose["choices"]["no"].as_u64(), choose["came_out"].as_u64()), (Some(3), Some(0)));
    assert_eq!(lesson["checks"][0]["held"], 3);

    let plain = run(&[]);
    assert!(plain.did().contains("2 x  2 + 5: That is the sum."), "{plain:?}");
    assert!(!plain.out.contains("ann"), "{plain:?}");
    assert!(run(&["--names"]).did().contains("ann: 1 completed, 2 points"));
    let csv = run(&["--csv", "--names"]);
    assert!(csv.did().contains("sums/one,question,q1,right at first,1\n"), "{csv:?}");
    assert!(csv.out.contains(",learner,dan,points,2\n"), "{csv:?}");
    let page = folder.path("r.html").display().to_string();
    run(&["--html", "-o", &page]).did();
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.contains("<h1>Mine &lt;&amp;&gt;</h1>") && !page.contains("http"), "{page}");
    run(&["--html", "--csv"]).refused(2, &["cannot be used with"]);
}

#[test]
fn files_that_cannot_be_used_are_named_and_left_out() {
    let folder = Folder::new();
    let dir = course(&folder);
    let whole = export(9.0, "7", "10");
    let files = [
        folder.file("good.json", &whole),
        folder.file("cut.json", &whole[..whole.len() / 2]),
        folder.file("newer.json", whole.replace("\"format\": 1", "\"format\": 9")),
        folder.file("other.json", whole.replace("\"course\": \"mine\"", "\"course\": \"theirs\"")),
        folder.file("photo.json", [0xff, 0xd8, 0xff, 0xe0]),
        folder.path("missing.json").display().to_string(),
    ];
    let mut all = vec!["--course", &dir, "progress", "cohort", "--json"];
    all.extend(files.iter().map(String::as_str));
    let ended = folder.run(&all);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    let json: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(json["learners"], 1);
    for said in [
        "cut.json': this answers file is cut off",
        "newer.json': a newer mlsys",
        "other.json': these answers are of the course theirs",
        "photo.json': this is no answers file",
        "missing.json' cannot be read",
        "5 of 6 files could not be used",
    ] {
        assert!(ended.err.contains(said), "'{said}' is missing in {ended:?}");
    }
    folder.run(&["progress", "cohort"]).refused(2, &["<FILE>"]);
}

#[test]
fn five_hundred_learners_are_one_report() {
    let folder = Folder::new();
    let dir = course(&folder);
    let files: Vec<String> = (0..500)
        .map(|n| {
            let wrong = (n % 50).to_string();
            folder.file(&format!("{n}.json"), export(f64::from(n) + 1.0, &wrong, "10"))
        })
        .collect();
    let mut all = vec!["--course", &dir, "progress", "cohort", "--json"];
    all.extend(files.iter().map(String::as_str));
    let started = Instant::now();
    let json = folder.run(&all).json();
    let took = started.elapsed().as_secs_f64();
    assert_eq!(json["learners"], 500);
    assert_eq!(json["lessons"][0]["questions"][0]["right"], 500);
    assert_eq!(json["lessons"][0]["questions"][0]["wrong"].as_array().unwrap().len(), 49);
    assert!(took < 10.0, "{took} s");
}
