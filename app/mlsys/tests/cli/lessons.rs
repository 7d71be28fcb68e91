//! Lessons: run, graded, reported, checked and refused.

use std::fs;

use crate::help::{Folder, records};

/// A lesson with a lab that answers at once, a short run, two questions and a check of each class.
const LESSON: &str = r#"+++
format = 1
id = "tests/small"
title = "Small"
minutes = 1
seed = 3
+++
# Small

```{lab} net
kind = "train"
devices = ["cpu"]
set = { steps = 5 }
[knob.learning_rate]
min = 0.001
max = 0.1
```

```{lab} same
kind = "train"
devices = ["cpu"]
set = { steps = 5 }
```

```{lab} product
kind = "graph"
set = { expression = "x*y", inputs = { x = 2, y = 5 } }
```

```{question} q1
type = "numeric"
prompt = "Two times five?"
answer = "product.value"
points = 2
[[wrong]]
value = "7"
say = "That is the sum."
```

```{question} q2
type = "choice"
prompt = "Which?"
answer = "this"
points = 1
[[wrong]]
value = "that"
say = "Not that."
```

```{check} holds
assert = "product.grad.x == 5 and net.loss == same.loss"
class = "seeded"
```
"#;

fn with_check(assert: &str, class: &str) -> String {
    format!("{LESSON}\n```{{check}} added\nassert = \"{assert}\"\nclass = \"{class}\"\n```\n")
}

#[test]
fn a_lesson_passes_and_equal_runs_are_done_once() {
    let folder = Folder::new();
    let file = folder.file("small.md", LESSON);
    let ended = folder.run(&["run", &file, "--report", "json=-"]);
    let json = ended.json();
    assert_eq!(json["lessons"][0]["score"], 3);
    assert_eq!(json["lessons"][0]["failed"], 0);
    assert_eq!(
        json["lessons"][0]["items"][0]["device"].as_str().map(|name| name.starts_with("cpu")),
        Some(true)
    );
    // `net` and `same` are equal: with `product`, two records.
    assert_eq!(records(&folder.path("data")).len(), 2);
}

#[test]
fn every_report_is_written_from_one_run() {
    let folder = Folder::new();
    let file = folder.file("small.md", LESSON);
    let path = |name: &str| folder.path(name).display().to_string();
    let targets =
        [("junit", "j.xml"), ("json", "r.json"), ("gradescope", "g.json"), ("markdown", "m.md")]
            .map(|(format, name)| format!("{format}={}", path(name)));
    let mut arguments = vec!["run", file.as_str()];
    targets.iter().for_each(|target| arguments.extend(["--report", target]));
    let ended = folder.run(&arguments);
    assert!(ended.did().starts_with("tests/small: 6 passed, 3 of 3 points"), "{ended:?}");
    let read = |name| fs::read_to_string(folder.path(name)).unwrap();
    assert!(read("j.xml").contains("<testsuite name=\"tests/small\" tests=\"6\" failures=\"0\""));
    assert!(read("m.md").contains("| tests/small | 6 | 0 | 0 | 0 | 3/3 |"));
    let gradescope: serde_json::Value = serde_json::from_str(&read("g.json")).unwrap();
    assert_eq!(gradescope["score"], 3);
}

#[test]
fn answers_are_graded_and_none_earns_nothing() {
    let folder = Folder::new();
    let file = folder.file("small.md", LESSON);
    let answers = folder.file("a.json", r#"{"lessons": {"tests/small": {"q1": "7", "stray": 1}}}"#);
    let ended = folder.run(&["run", &file, "--answers", &answers, "--report", "json=-"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let json: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let items = json["lessons"][0]["items"].as_array().unwrap();
    let question = |id: &str| items.iter().find(|item| item["id"] == id).unwrap();
    assert_eq!(question("q1")["reason"], "That is the sum.");
    assert_eq!(question("q2")["reason"], "no answer");
    assert!(ended.err.contains("no question 'stray'"), "{ended:?}");

    let answers =
        folder.file("a.json", r#"{"lessons": {"tests/small": {"q1": 10, "q2": "this"}}}"#);
    folder.run(&["run", &file, "--answers", &answers]).did();
    let broken = folder.file("a.json", "{");
    folder.run(&["run", &file, "--answers", &broken]).refused(2, &["answers", "a.json"]);
}

#[test]
fn a_check_that_fails_names_the_values() {
    let folder = Folder::new();
    let file = folder.file("small.md", with_check("product.value > 11", "exact"));
    let ended = folder.run(&["run", &file]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("product.value = 10, wanted > 11"), "{ended:?}");
    assert_eq!(folder.run(&["lesson", "check", &file]).code, Some(1));
}

#[test]
fn failing_hardware_check_is_unstable_unless_strict() {
    let folder = Folder::new();
    let file = folder.file("small.md", with_check("net.wall_seconds < 0", "hardware"));
    let json = folder.run(&["run", &file, "--report", "json=-"]).json();
    let verdict = |json: &serde_json::Value| {
        let items = json["lessons"][0]["items"].as_array().unwrap().clone();
        items.into_iter().find(|item| item["id"] == "added").unwrap()["verdict"].clone()
    };
    assert_eq!(verdict(&json), "unstable");
    // The first run, the product, and two more tries.
    assert_eq!(records(&folder.path("data")).len(), 4);
    assert_eq!(folder.run(&["run", &file, "--strict-hardware"]).code, Some(1));

    let file = folder.file("small.md", with_check("device.peak_flops_per_second > 0", "hardware"));
    let of_the_peak = || verdict(&folder.run(&["run", &file, "--report", "json=-"]).json());
    assert_eq!(of_the_peak(), "skipped");
    // Once it has been measured on this device, in single precision, there is one.
    let small = [
        "lab",
        "device-peak",
        "--device",
        "cpu",
        "--json",
        "--set",
        "ladder=false",
        "--set",
        "buffer_bytes=65536",
        "--set",
        "repetitions=3",
    ];
    assert!(folder.run(&small).json()["metrics"]["peak_flops_per_second"].is_f64());
    assert_eq!(of_the_peak(), "passed");
}

#[test]
fn missing_device_is_told_or_replayed() {
    let folder = Folder::new();
    // There is no hundredth device anywhere; `cuda` alone is there on some machines.
    let file = folder.file("small.md", LESSON);
    let ended = folder.run(&["run", &file, "--device", "cuda:99"]);
    ended.refused(3, &["cuda:99", "usable here", "cpu"]);
    assert!(
        records(&folder.path("data")).len() <= 1,
        "only the lab that answers at once can have run"
    );
}

#[test]
fn missing_device_exits_3() {
    let folder = Folder::new();
    let doctor = folder.run(&["doctor", "--json"]).json();
    let usable = |backend: &str| {
        doctor["devices"]
            .as_array()
            .unwrap()
            .iter()
            .any(|device| device["backend"] == backend && device["usable"] == "yes")
    };
    let Some(missing) = ["cuda", "wgpu"].into_iter().find(|backend| !usable(backend)) else {
        return;
    };
    let file = folder.file("small.md", LESSON.replace("[\"cpu\"]", &format!("[\"{missing}\"]")));
    folder.run(&["run", &file]).refused(3, &[missing, "usable here", "cpu"]);
    let checked = folder.run(&["lesson", "check", &file]);
    assert!(checked.did().is_empty() && checked.err.contains("was not tried"), "{checked:?}");

    let replay = folder
        .file("small.md", LESSON.replace("[\"cpu\"]", &format!("[\"{missing}\", \"replay\"]")));
    let json = folder.run(&["run", &replay, "--report", "json=-"]).json();
    assert_eq!(json["lessons"][0]["items"][0]["verdict"], "skipped");
}

#[test]
fn ten_mistakes_are_told_at_once_each_with_its_place() {
    let folder = Folder::new();
    let file = folder.file(
        "bad.md",
        r#"+++
format = 1
id = "Bad Id"
title = "Bad"
minutes = "many"
colour = "red"
+++
```{lab} net
kind = "trian"
```

```{lab} net2
kind = "train"
set = { learning_rate = -1.0, stesp = 4 }
[knob.nothing]
[[panel]]
name = "los-curve"
```

```{question} q1
type = "numeric"
prompt = "?"
answer = "1 +"
```

```{check} c1
assert = "net2.accuracie > 0.5"
class = "sometimes"
```

```{qestion} q2
```
"#,
    );
    let ended = folder.run(&["lesson", "check", &file]);
    ended.refused(
        2,
        &["did you mean", "stesp", "los-curve", "accuracie", "trian", "colour", "qestion"],
    );
    let places = ended.err.lines().filter(|line| line.trim_start().starts_with("--> ")).count();
    assert!(places >= 10, "{places} places in {ended:?}");
    folder.run(&["run", &file]).refused(2, &["nothing was run"]);
    folder.run(&["open", &file]).refused(2, &["not a valid lesson"]);
}

#[test]
fn a_file_that_is_no_lesson_is_refused() {
    let folder = Folder::new();
    let binary = folder.file("a.md", [0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, 0x1b]);
    folder.run(&["lesson", "check", &binary]).refused(2, &["not", "a.md"]);
    folder.run(&["run", &binary]).refused(2, &["a.md"]);
    let large = folder.file("b.md", vec![b'a'; (1 << 20) + 1]);
    folder.run(&["lesson", "check", &large]).refused(2, &["b.md", "1048576"]);
    let folder_name = folder.path("").display().to_string();
    folder.run(&["run", &folder_name]).refused(2, &["not a file"]);
}

#[test]
fn a_new_lesson_passes_its_check_and_is_never_overwritten() {
    let folder = Folder::new();
    let path = folder.path("gpu/warps.md").display().to_string();
    assert!(folder.run(&["lesson", "new", &path]).did().contains("lesson gpu/warps"));
    let ended = folder.run(&["lesson", "check", &path, "--device", "cpu"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), ""), "{ended:?}");
    let before = fs::read(&path).unwrap();
    folder.run(&["lesson", "new", &path]).refused(2, &["nothing is overwritten"]);
    assert_eq!(fs::read(&path).unwrap(), before);
    // Checking keeps no records: nothing was asked of the learner.
    assert!(records(&folder.path("data")).is_empty());
}

#[test]
fn a_knob_that_breaks_at_its_end_is_found() {
    let folder = Folder::new();
    let knob = "set = { expression = \"1000*x\", inputs = { x = 2 } }\n\
        [knob.learning_rate]\ndefault = 0.1\nmin = 0.0\nmax = 1e308";
    let graph = "set = { expression = \"x*y\", inputs = { x = 2, y = 5 } }";
    let lesson = LESSON
        .replace(graph, knob)
        .replace("product.grad.x == 5 and ", "")
        .replace("product.value", "10");
    let file = folder.file("knob.md", lesson);
    let ended = folder.run(&["lesson", "check", &file]);
    ended.refused(2, &["lab product with learning_rate = 1e308", "not finite", "knob.md:25"]);
}

#[test]
fn the_schema_is_json_and_the_course_is_listed() {
    let folder = Folder::new();
    assert!(folder.run(&["lesson", "schema"]).json()["$schema"].is_string());
    let list = folder.run(&["list"]);
    assert!(list.did().contains("systems/training-loop"), "{list:?}");
    let json = folder.run(&["list", "--json"]).json();
    assert_eq!(json["lessons"][0]["id"], "systems/training-loop");
}

#[test]
fn answers_travel() {
    let folder = Folder::new();
    let file = folder.file(
        "a.json",
        r#"{"lessons": {"systems/training-loop": {"parameters": 1218}, "no/lesson": {"q": 1}}}"#,
    );
    let imported = folder.run(&["progress", "import", &file]);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    assert!(imported.err.contains("no lesson no/lesson"), "{imported:?}");
    folder.run(&["progress", "show"]).did();
    folder.run(&["progress", "export", "-"]).json();
}
