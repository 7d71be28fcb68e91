//! Courses: checked, opened, refused, written anew, and packed with or without their answers.

use std::fs;
use std::process::Command;

use mlsys_harness::sandbox::{Ended, Sandbox};
use serde_json::Value;

use crate::lessons::item;
use crate::sandbox;

const TOML: &str = r#"format = 1
id = "mine-2027"
title = "Mine"
about = "a course for tests"
[[module]]
id = "sums"
title = "Sums"
lessons = ["sums/one", "sums/two"]
"#;

fn lesson(id: &str, requires: &str) -> String {
    format!(
        r#"+++
format = 1
id = "{id}"
title = "About {id}"
minutes = 7
requires = [{requires}]
+++
# Sums

```{{lab}} product
kind = "graph"
set = {{ expression = "x*y", inputs = {{ x = 2, y = 5 }} }}
```

```{{question}} q1
type = "numeric"
prompt = "Two times five?"
answer = "product.value"
points = 2
explain = "Because."
[[wrong]]
value = "7"
say = "That is the sum."
```

```{{question}} q2
type = "choice"
prompt = "Which?"
answer = "this"
[[wrong]]
value = "that"
say = "Not that."
```

```{{check}} holds
assert = "product.value == 10"
```

```{{notes}}
For instructors.
```
"#
    )
}

/// A course in the folder `c`, by its path.
fn course(folder: &Sandbox) -> String {
    folder.file("c/course.toml", TOML);
    folder.file("c/sums/one.md", lesson("sums/one", ""));
    folder.file("c/sums/two.md", lesson("sums/two", "\"sums/one\""));
    folder.file("c/README.md", "# Mine");
    folder.arg("c")
}

#[test]
fn a_course_replaces_the_built_in_one_everywhere() {
    let folder = sandbox();
    let dir = course(&folder);
    let run = |line: &str| folder.run(&format!("--course {dir} {line}"));
    let json = run("list --json").json();
    assert_eq!(json["course"]["id"], "mine-2027");
    assert_eq!(json["course"]["minutes"], 14);
    assert_eq!(json["modules"][0]["lessons"][1], "sums/two");
    assert_eq!(json["lessons"][0]["module"], "sums");
    let list = folder.run(&format!("list --course {dir}"));
    list.printed(&["Sums (2 lessons, 14 min)"]);
    assert!(!list.out.contains("systems/training-loop"), "{list:?}");
    run("run --all").printed(&["sums/two: 4 passed, 3 of 3 points"]);
    run("run sums/one").success();
    run("run sums/on").refused(2, &["did you mean 'sums/one'?"]);
    run("run systems/training-loop").refused(2, &["there is no lesson"]);
    run("open sums/one").refused(2, &["needs a terminal"]);
    run("lesson check --library").success();
    for (variable, id) in [(dir.as_str(), "mine-2027"), ("", "mlsys")] {
        let mut command = folder.command("list --json");
        let ended = Ended::new(command.env("MLSYS_COURSE", variable).output().unwrap());
        assert_eq!(ended.json()["course"]["id"], id);
    }
}

#[test]
fn each_course_has_a_progress_of_its_own() {
    let folder = sandbox();
    let dir = course(&folder);
    let toml = TOML.replace("mine-2027", "theirs");
    folder.file("d/course.toml", toml.replace("\"sums/one\", \"sums/two\"", "\"one.md\""));
    folder.file("d/one.md", lesson("sums/one", ""));
    let other = folder.arg("d");
    let answers = folder.file("a.json", r#"{"lessons": {"sums/one": {"q2": "this"}}}"#);
    let score = |dir: &str| {
        let shown = folder.run(&format!("--course {dir} progress show --json")).json();
        shown["lessons"][0]["score"].as_u64()
    };
    folder.run(&format!("--course {dir} progress import {answers}")).success();
    assert_eq!((score(&dir), score(&other)), (Some(1), Some(0)));
    let out = folder.arg("out.json");
    folder.run(&format!("--course {dir} progress export {out}")).success();
    let exported: Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    assert_eq!(exported["course"], "mine-2027");
    assert_eq!(exported["details"]["sums/one"]["attempts"]["q2"][0]["given"], "this");
    // The other course refuses what this one exported.
    for command in ["progress import", "run --all --answers"] {
        folder
            .run(&format!("--course {other} {command} {out}"))
            .refused(2, &["of the course mine-2027"]);
    }
}

#[test]
fn everything_wrong_with_a_course_is_told_at_once() {
    let folder = sandbox();
    let dir = course(&folder);
    let checked = folder.run(&format!("course check {dir}"));
    assert_eq!(checked.success(), "");
    checked.warned(&["2 lessons checked"]);
    let text = TOML
        .replace("about =", "abuot =")
        .replace("\"sums/two\"", "\"sums/two\", \"sums/none\", \"sums/lone\"");
    folder.file("c/course.toml", text);
    let one = lesson("sums/one", "\"sums/two\"");
    folder.file("c/sums/one.md", one.replace("answer = \"product.value\"", "answr = 1"));
    folder.file("c/sums/two.md", lesson("sums/two", "\"sums/twoo\""));
    folder.file("c/sums/lone.md", lesson("sums/other", ""));
    folder.file("c/sums/extra.md", lesson("sums/extra", ""));
    folder.run(&format!("course check {dir} --no-run")).refused(
        2,
        &[
            "error[unknown-key]: `abuot` means nothing in the course",
            "did you mean `about`?",
            "c/course.toml:4:1",
            "error[missing-lesson]: there is no lesson file sums/none.md",
            "c/course.toml:8:36",
            "warning[unlisted-file]: the lesson file sums/extra.md",
            "error[id-mismatch]: this lesson is listed as `sums/lone`",
            "c/sums/lone.md:3:6",
            "error[unknown-lesson]: there is no lesson `sums/twoo`",
            "c/sums/two.md:6:13",
            "`answr` means nothing",
            "c/sums/one.md:18:1",
        ],
    );
    for command in ["run --all", "list", "progress show"] {
        folder.run(&format!("--course {dir} {command}")).refused(2, &["abuot", "is not valid"]);
    }
    let out = folder.path("x.tar.gz");
    folder
        .run(&format!("course pack {dir} -o {}", out.display()))
        .refused(2, &["nothing was packed"]);
    assert!(!out.exists());
}

#[test]
fn lessons_that_require_each_other_are_told_and_nothing_is_run() {
    let folder = sandbox();
    let dir = course(&folder);
    folder.file("c/sums/one.md", lesson("sums/one", "\"sums/two\""));
    folder.run(&format!("course check {dir}")).refused(
        2,
        &[
            "error[cycle]: lessons require each other: sums/one -> sums/two -> sums/one",
            "two.md:6:13",
        ],
    );
    folder
        .run(&format!("--course {dir} run --all"))
        .refused(2, &["is not valid", "nothing was run"]);
    // A lab that fails is found where labs are run, and only there.
    let failing = lesson("sums/one", "").replace("product.value == 10", "product.value == 11");
    folder.file("c/sums/one.md", failing);
    folder.run(&format!("course check {dir} --no-run")).success();
    let ended = folder.run(&format!("course check {dir}"));
    assert_eq!(ended.code, Some(1), "{ended:?}");
    // A lesson that is not valid does not hide the others from learners.
    folder.file("c/sums/one.md", "nothing");
    let list = folder.run(&format!("--course {dir} list"));
    list.printed(&["sums/two"]);
    list.warned(&["was left out"]);
}

#[test]
fn what_is_no_course_is_refused() {
    let folder = sandbox();
    fs::create_dir_all(folder.path("empty")).unwrap();
    let none = folder.arg("none");
    let zip = folder.file("a.zip", b"PK\x03\x04....");
    let cut = folder.file("c.tar.gz", [0x1f, 0x8b, 8, 0]);
    folder.file("broken/course.toml", "format = \n[[module");
    folder.file("binary/course.toml", [0xff, 0xfe]);
    for (line, parts) in [
        (format!("--course {none} list"), &["no such folder or file"][..]),
        (format!("--course {} list", folder.arg("empty")), &["no course.toml", "mlsys course new"]),
        (format!("--course {zip} list"), &["a.zip' is refused: it is no gzip file"]),
        (format!("course check {cut}"), &["cut off"]),
        (
            format!("course check {}", folder.arg("broken")),
            &["error[toml]", "broken/course.toml:1:"],
        ),
        (format!("course check {}", folder.arg("binary")), &["not UTF-8"]),
    ] {
        folder.run(&line).refused(2, parts);
    }
    // Without a course nothing else is lost.
    folder.run(&format!("--course {none} lab occupancy --json")).json();
}

#[cfg(unix)]
#[test]
fn new_course_passes_its_workflow() {
    let folder = sandbox();
    let dir = folder.arg("new-course");
    folder.run(&format!("lesson new --course {dir} --ci github")).printed(&["mlsys course check"]);
    let workflow = folder.read("new-course/.github/workflows/lessons.yml");
    // Actions are named by commit: a tag can be moved.
    for line in workflow.lines().filter(|line| line.contains("uses:")) {
        let commit = line.split('@').nth(1).unwrap().split(' ').next().unwrap();
        assert!(commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{line}");
    }
    // The commands of its `run:` lines.
    let commands = workflow.lines().filter_map(|line| line.trim_start().strip_prefix("run: "));
    let commands: Vec<&str> = commands.filter(|line| *line != "|").collect();
    let ours = commands.iter().filter(|line| line.starts_with("mlsys "));
    assert_eq!(ours.count(), 2, "{commands:?}");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_mlsys")).parent().unwrap();
    let search = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for line in commands {
        let mut shell = Command::new("sh");
        shell
            .args(["-ec", line])
            .current_dir(&dir)
            .env("PATH", &search)
            .env("GITHUB_STEP_SUMMARY", folder.path("summary"))
            .env("MLSYS_DATA_DIR", folder.path("data"))
            .env_remove("MLSYS_COURSE")
            .env_remove("MLSYS_DEVICE");
        Ended::new(shell.output().unwrap()).success();
    }
    assert!(folder.read("new-course/results.xml").contains("<testsuite"));
    assert!(folder.read("summary").contains("start/first-steps"));
    let before = folder.read("new-course/README.md");
    folder
        .run(&format!("course new {dir}"))
        .refused(2, &["nothing is overwritten", "no file was written"]);
    assert_eq!(folder.read("new-course/README.md"), before);
    // One existing file is enough to write nothing.
    folder.file("half/README.md", "mine");
    folder.run(&format!("course new {}", folder.arg("half"))).refused(2, &["README.md"]);
    assert!(!folder.path("half/course.toml").exists());
    folder.run("lesson new").refused(2, &["name the file"]);
    folder.run(&format!("course new {dir} --ci gitlab")).refused(2, &["github"]);
}

#[test]
fn a_packed_course_is_the_same_course_and_the_same_bytes() {
    let folder = sandbox();
    let dir = course(&folder);
    let (a, b) = (folder.arg("a.tar.gz"), folder.arg("b.tar.gz"));
    folder.run(&format!("course pack {dir} -o {a}")).printed(&["4 files", "sha256:"]);
    // Packed again, and packed from the archive.
    for source in [&dir, &a] {
        folder.run(&format!("course pack {source} -o {b}")).success();
        assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    }
    let list = |course: &str| folder.run(&format!("--course {course} list --json")).json();
    assert_eq!(list(&a), list(&dir));
    folder.run(&format!("--course {a} run --all")).success();
    folder.run(&format!("course check {a}")).success();
    // Any tar reads it.
    if let Ok(tar) = Command::new("tar").args(["tzf", &a]).output() {
        let names = String::from_utf8(tar.stdout).unwrap();
        assert_eq!(names, "manifest.json\nREADME.md\ncourse.toml\nsums/one.md\nsums/two.md\n");
    }
    let whole = fs::read(&a).unwrap();
    let half = whole.len() / 2;
    let cut = folder.file("cut.tar.gz", &whole[..half]);
    let mut bytes = whole;
    bytes[half] ^= 0xff;
    let flipped = folder.file("flipped.tar.gz", &bytes);
    folder.run(&format!("--course {flipped} list")).refused(2, &["flipped.tar.gz' is refused"]);
    folder.run(&format!("--course {cut} run --all")).refused(2, &["cut off"]);
    folder.run(&format!("course pack {dir} -o {dir}")).refused(2, &["is a folder"]);
}

#[test]
fn withheld_answers_are_graded_with_a_key() {
    let folder = sandbox();
    let dir = course(&folder);
    let [full, given, key, exported] =
        ["full.tar.gz", "given.tar.gz", "key.json", "exported.json"].map(|name| folder.arg(name));
    let run = |line: String| folder.run(&line);
    run(format!("course pack {dir} -o {full}")).success();
    run(format!("course pack {dir} -o {given} --without-answers --key {key}")).success();
    run(format!("course pack {dir} -o {given} --key {key}")).refused(2, &["--without-answers"]);
    let (x, y) = (folder.arg("x.tar.gz"), folder.arg("x.json"));
    run(format!("course pack {given} -o {x} --without-answers --key {y}"))
        .refused(2, &["has no answers"]);
    // The learner's course is valid, and grades nothing.
    run(format!("course check {given}")).success();
    let all = run(format!("--course {given} run --all --report json=-")).json();
    assert_eq!(item(&all, "q1")["verdict"], "skipped");
    // Answers are recorded there, exported and graded elsewhere.
    let answers = folder.file(
        "a.json",
        r#"{"lessons": {"sums/one": {"q1": 7, "q2": "this"}, "sums/two": {"q1": 10}}}"#,
    );
    run(format!("--course {given} progress import {answers}")).success();
    run(format!("--course {given} progress export {exported}")).success();
    let later = run(format!("--course {given} run --all --answers {exported} --report json=-"));
    assert!(later.out.contains("answer recorded, graded later"), "{later:?}");
    for line in [
        format!("run --all --key {full}"),
        format!("--course {given} run --all --key {full}"),
        format!("--course {given} run --all --key {key}"),
        format!("--course {dir} run --all --key {key}"),
    ] {
        let ended = run(format!("{line} --answers {exported} --report json=-"));
        assert_eq!(ended.code, Some(1), "{line} {ended:?}");
        let json: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(item(&json, "q1")["reason"], "That is the sum.", "{line}");
        let scores = [0, 1].map(|at| json["lessons"][at]["score"].as_u64());
        assert_eq!(scores, [Some(1), Some(2)]);
    }
    run(format!("run --all --key {full}")).refused(2, &["--answers"]);
    run(format!("run --all --key {key} --answers {exported}"))
        .refused(2, &["of the course mine-2027", "--course"]);
    let changed = lesson("sums/one", "").replace("Two times five?", "Five times two?");
    folder.file("c/sums/one.md", changed);
    run(format!("course pack {dir} -o {given} --without-answers")).success();
    let graded = format!("--course {given} run --all --answers {exported}");
    run(format!("{graded} --key {key}"))
        .refused(2, &["does not fit the lesson sums/one", "another version"]);
    let broken = folder.file("key.json", "{\"format\": 1");
    run(format!("{graded} --key {broken}")).refused(2, &["key.json", "no key"]);
}
