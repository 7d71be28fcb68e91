//! Lessons: run, graded, reported, checked, translated and refused.

use std::fs;

use mlsys_harness::sandbox::Ended;
use serde_json::Value;

use crate::sandbox;

/// A lesson with a lab that answers at once, a short run, two questions and a check.
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

/// The item of the first lesson in a JSON report.
pub(crate) fn item<'a>(report: &'a Value, id: &str) -> &'a Value {
    let items = report["lessons"][0]["items"].as_array().unwrap();
    items.iter().find(|item| item["id"] == id).unwrap()
}

#[test]
fn a_lesson_passes_and_equal_runs_are_done_once() {
    let folder = sandbox();
    let file = folder.file("small.md", LESSON);
    let json = folder.run(&format!("run {file} --report json=-")).json();
    assert_eq!(json["lessons"][0]["score"], 3);
    assert_eq!(json["lessons"][0]["failed"], 0);
    assert!(item(&json, "net")["device"].as_str().unwrap().starts_with("cpu"));
    // `net` and `same` are equal: with `product`, two records.
    assert_eq!(folder.records().len(), 2);
}

#[test]
fn every_report_is_written_from_one_run() {
    let folder = sandbox();
    let file = folder.file("small.md", LESSON);
    let reports: String =
        [("junit", "j.xml"), ("json", "r.json"), ("gradescope", "g.json"), ("markdown", "m.md")]
            .map(|(format, name)| format!(" --report {format}={}", folder.arg(name)))
            .concat();
    let ended = folder.run(&format!("run {file}{reports}"));
    assert!(ended.success().starts_with("tests/small: 6 passed, 3 of 3 points"), "{ended:?}");
    let junit = folder.read("j.xml");
    assert!(junit.contains("<testsuite name=\"tests/small\" tests=\"6\" failures=\"0\""));
    assert!(folder.read("m.md").contains("| tests/small | 6 | 0 | 0 | 0 | 3/3 |"));
    let gradescope: Value = serde_json::from_str(&folder.read("g.json")).unwrap();
    assert_eq!(gradescope["score"], 3);
}

#[test]
fn answers_are_graded_and_none_earns_nothing() {
    let folder = sandbox();
    let file = folder.file("small.md", LESSON);
    let grade = |answers: &str| {
        let answers = folder.file("a.json", answers);
        folder.run(&format!("run {file} --answers {answers} --report json=-"))
    };
    let ended = grade(r#"{"lessons": {"tests/small": {"q1": "7", "stray": 1}}}"#);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(item(&json, "q1")["reason"], "That is the sum.");
    assert_eq!(item(&json, "q2")["reason"], "no answer");
    ended.warned(&["no question 'stray'"]);
    grade(r#"{"lessons": {"tests/small": {"q1": 10, "q2": "this"}}}"#).success();
    grade("{").refused(2, &["answers", "a.json"]);
}

#[test]
fn a_check_that_fails_names_the_values() {
    let folder = sandbox();
    let file = folder.file("small.md", with_check("product.value > 11", "exact"));
    let ended = folder.run(&format!("run {file}"));
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("product.value = 10, wanted > 11"), "{ended:?}");
    assert_eq!(folder.run(&format!("lesson check {file}")).code, Some(1));
}

#[test]
fn failing_hardware_check_is_unstable_unless_strict() {
    let folder = sandbox();
    let file = folder.file("small.md", with_check("net.wall_seconds < 0", "hardware"));
    let verdict = || {
        let json = folder.run(&format!("run {file} --report json=-")).json();
        item(&json, "added")["verdict"].clone()
    };
    assert_eq!(verdict(), "unstable");
    // The first run, the product, and two more tries.
    assert_eq!(folder.records().len(), 4);
    assert_eq!(folder.run(&format!("run {file} --strict-hardware")).code, Some(1));

    folder.file("small.md", with_check("device.peak_flops_per_second > 0", "hardware"));
    assert_eq!(verdict(), "skipped");
    // Once it has been measured on this device, in single precision, there is one.
    let measured = folder.run("lab device-peak --device cpu --json --set ladder=false --set buffer_bytes=65536 --set repetitions=3");
    assert!(measured.json()["metrics"]["peak_flops_per_second"].is_f64());
    assert_eq!(verdict(), "passed");
}

#[test]
fn a_missing_device_is_refused_or_replayed() {
    let folder = sandbox();
    let file = folder.file("small.md", LESSON);
    // There is no hundredth device anywhere; `cuda` alone is there on some machines.
    folder
        .run(&format!("run {file} --device cuda:99"))
        .refused(3, &["cuda:99", "usable here", "cpu"]);
    assert!(folder.records().len() <= 1, "only the lab that answers at once can have run");

    let doctor = folder.run("doctor --json").json();
    let is_usable = |backend: &&str| {
        let mut devices = doctor["devices"].as_array().unwrap().iter();
        devices.any(|device| device["backend"] == *backend && device["usable"] == "yes")
    };
    let Some(missing) = ["cuda", "wgpu"].into_iter().find(|backend| !is_usable(backend)) else {
        return;
    };
    folder.file("small.md", LESSON.replace("[\"cpu\"]", &format!("[\"{missing}\"]")));
    folder.run(&format!("run {file}")).refused(3, &[missing, "usable here", "cpu"]);
    let checked = folder.run(&format!("lesson check {file}"));
    assert_eq!(checked.success(), "");
    checked.warned(&["was not tried"]);

    folder.file("small.md", LESSON.replace("[\"cpu\"]", &format!("[\"{missing}\", \"replay\"]")));
    let json = folder.run(&format!("run {file} --report json=-")).json();
    assert_eq!(item(&json, "net")["verdict"], "skipped");
}

#[test]
fn ten_mistakes_are_told_at_once_each_with_its_place() {
    let folder = sandbox();
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
    let ended = folder.run(&format!("lesson check {file}"));
    ended.refused(
        2,
        &["did you mean", "stesp", "los-curve", "accuracie", "trian", "colour", "qestion"],
    );
    let places = ended.err.lines().filter(|line| line.trim_start().starts_with("--> ")).count();
    assert!(places >= 10, "{places} places in {ended:?}");
    folder.run(&format!("run {file}")).refused(2, &["nothing was run"]);
    folder.run(&format!("open {file}")).refused(2, &["not a valid lesson"]);
}

#[test]
fn a_file_that_is_no_lesson_is_refused() {
    let folder = sandbox();
    let binary = folder.file("a.md", [0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, 0x1b]);
    folder.run(&format!("lesson check {binary}")).refused(2, &["not", "a.md"]);
    folder.run(&format!("run {binary}")).refused(2, &["a.md"]);
    let large = folder.file("b.md", vec![b'a'; (1 << 20) + 1]);
    folder.run(&format!("lesson check {large}")).refused(2, &["b.md", "1048576"]);
    folder.run(&format!("run {}", folder.arg(""))).refused(2, &["not a file"]);
}

#[test]
fn a_new_lesson_passes_its_check_and_is_never_overwritten() {
    let folder = sandbox();
    let path = folder.arg("gpu/warps.md");
    folder.run(&format!("lesson new {path}")).printed(&["lesson gpu/warps"]);
    assert_eq!(folder.run(&format!("lesson check {path} --device cpu")).success(), "");
    let before = fs::read(&path).unwrap();
    folder.run(&format!("lesson new {path}")).refused(2, &["nothing is overwritten"]);
    assert_eq!(fs::read(&path).unwrap(), before);
    // Checking keeps no records.
    assert!(folder.records().is_empty());
}

#[test]
fn a_knob_that_breaks_at_its_end_is_found() {
    let folder = sandbox();
    let knob = "set = { expression = \"1000*x\", inputs = { x = 2 } }\n\
        [knob.learning_rate]\ndefault = 0.1\nmin = 0.0\nmax = 1e308";
    let graph = "set = { expression = \"x*y\", inputs = { x = 2, y = 5 } }";
    let lesson = LESSON
        .replace(graph, knob)
        .replace("product.grad.x == 5 and ", "")
        .replace("product.value", "10");
    let file = folder.file("knob.md", lesson);
    folder
        .run(&format!("lesson check {file}"))
        .refused(2, &["lab product with learning_rate = 1e308", "not finite", "knob.md:25"]);
}

#[test]
fn the_schema_is_json_and_the_course_is_listed() {
    let folder = sandbox();
    assert!(folder.run("lesson schema").json()["$schema"].is_string());
    folder.run("list").printed(&["systems/training-loop"]);
    let json = folder.run("list --json").json();
    assert_eq!(json["lessons"][0]["id"], "systems/training-loop");
}

#[test]
fn answers_are_imported_and_exported() {
    let folder = sandbox();
    let file = folder.file(
        "a.json",
        r#"{"lessons": {"systems/training-loop": {"parameters": 1218}, "no/lesson": {"q": 1}}}"#,
    );
    let imported = folder.run(&format!("progress import {file}"));
    imported.success();
    imported.warned(&["no lesson no/lesson"]);
    folder.run("progress show").success();
    folder.run("progress export -").json();
}

const ENGLISH: &str = r#"+++
format = 1
id = "tests/small"
title = "Small"
minutes = 1
+++
# Small

```{question} q1
type = "choice"
prompt = "Which?"
answer = "this"
[[wrong]]
value = "that"
say = "Not that."
```
"#;

const FRENCH: &str = r#"+++
format = 1
id = "tests/small"
lang = "fr"
title = "Petit"
+++
# Petit

```{question} q1
prompt = "Lequel ?"
choices = ["celui-ci", "celui-là"]
say = ["Pas celui-là."]
```
"#;

#[test]
fn a_skeleton_is_written_once_and_passes_its_check() {
    let folder = sandbox();
    let lesson = folder.file("small.md", ENGLISH);
    let path = folder.arg("small.fr.md");
    folder
        .run(&format!("lesson translate {lesson} fr"))
        .printed(&[&format!("lesson check {path}")]);
    let text = folder.read("small.fr.md");
    for part in ["lang = \"fr\"", "of = \"", "\"this\",\n  \"that\",", "Not that."] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(!text.contains("answer"), "{text}");
    let checked = folder.run(&format!("lesson check --no-run {path}"));
    assert_eq!(checked.success(), "");
    checked.warned(&["small.fr.md: good", "1 lesson checked"]);
    folder.run(&format!("lesson translate {lesson} fr")).refused(2, &["nothing is overwritten"]);
    folder.run(&format!("lesson translate {lesson} ../fr")).refused(2, &["is no language"]);
}

#[test]
fn a_translation_is_checked_with_its_lesson() {
    let folder = sandbox();
    let lesson = folder.file("small.md", ENGLISH);
    for (text, code, part) in [
        (FRENCH.to_owned(), 0, "small.fr.md: good"),
        (FRENCH.replace("q1", "q2"), 2, "error[extra-id]"),
        (FRENCH.replace("lang = \"fr\"", "lang = \"fr\"\nminutes = 3"), 2, "error[inherited-key]"),
        (FRENCH.replace("title", "of = \"12345678\"\ntitle"), 0, "warning[stale-translation]"),
        (FRENCH.replace("say = [\"Pas celui-là.\"]\n", ""), 0, "warning[untranslated]"),
    ] {
        folder.file("small.fr.md", text);
        for named in [&lesson, &folder.arg("")] {
            let ended = folder.run(&format!("lesson check --no-run {named}"));
            assert_eq!(ended.code, Some(code), "{ended:?}");
            ended.warned(&[part, "1 lesson checked"]);
        }
    }
}

#[test]
fn lessons_are_listed_in_the_language_of_the_reader() {
    let folder = sandbox();
    let title = |variables: &[(&str, &str)], options: &str| {
        let mut command = folder.command(&format!("list --json {options}"));
        let ended = Ended::new(command.envs(variables.iter().copied()).output().unwrap());
        let lessons = ended.json()["lessons"].clone();
        let mut lessons = lessons.as_array().unwrap().iter();
        let found = lessons.find(|lesson| lesson["id"] == "systems/training-loop");
        found.unwrap()["title"].as_str().unwrap().to_owned()
    };
    let french = "Cinq lignes qui font tourner un centre de calcul";
    let english = "Five lines that keep a data centre busy";
    for (variables, options, expected) in [
        (vec![], "", english),
        (vec![("LANG", "fr_CA.UTF-8")], "", french),
        (vec![("LANG", "fr_FR.UTF-8"), ("LC_ALL", "C")], "", english),
        (vec![("LANG", "fr_FR.UTF-8")], "--lang en", english),
        (vec![("MLSYS_LANG", "fr")], "", french),
        (vec![], "--lang fr", french),
        (vec![], "--lang tlh", english),
    ] {
        assert_eq!(title(&variables, options), expected, "{variables:?} {options}");
    }
}
