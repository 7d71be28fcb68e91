//! Courses: checked, opened, refused, and written anew.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::help::{Ended, Folder};

pub const TOML: &str = r#"format = 1
id = "mine-2027"
title = "Mine"
about = "a course for tests"
[[module]]
id = "sums"
title = "Sums"
lessons = ["sums/one", "sums/two"]
"#;

pub fn lesson(id: &str, requires: &str) -> String {
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
pub fn course(folder: &Folder) -> String {
    fs::create_dir_all(folder.path("c/sums")).unwrap();
    folder.file("c/course.toml", TOML);
    folder.file("c/sums/one.md", lesson("sums/one", ""));
    folder.file("c/sums/two.md", lesson("sums/two", "\"sums/one\""));
    folder.file("c/README.md", "# Mine");
    folder.path("c").display().to_string()
}

#[test]
fn a_course_stands_in_for_the_built_in_one_everywhere() {
    let folder = Folder::new();
    let dir = course(&folder);
    let json = folder.run(&["--course", &dir, "list", "--json"]).json();
    assert_eq!(json["course"]["id"], "mine-2027");
    assert_eq!(json["course"]["minutes"], 14);
    assert_eq!(json["modules"][0]["lessons"][1], "sums/two");
    assert_eq!(json["lessons"][0]["module"], "sums");
    let list = folder.run(&["list", "--course", &dir]);
    assert!(list.did().contains("Sums (2 lessons, 14 min)"), "{list:?}");
    assert!(!list.out.contains("systems/training-loop"), "{list:?}");
    let all = folder.run(&["--course", &dir, "run", "--all"]);
    assert!(all.did().contains("sums/two: 4 passed, 3 of 3 points"), "{all:?}");
    folder.run(&["--course", &dir, "run", "sums/one"]).did();
    folder.run(&["--course", &dir, "run", "sums/on"]).refused(2, &["did you mean 'sums/one'?"]);
    folder
        .run(&["--course", &dir, "run", "systems/training-loop"])
        .refused(2, &["there is no lesson"]);
    folder.run(&["--course", &dir, "open", "sums/one"]).refused(2, &["needs a terminal"]);
    folder.run(&["--course", &dir, "lesson", "check", "--library"]).did();
    let variable = |value: &str| {
        let mut command = folder.command(&["list", "--json"]);
        command.env("MLSYS_COURSE", value);
        Ended::of(command.output().unwrap()).json()
    };
    assert_eq!(variable(&dir)["course"]["id"], "mine-2027");
    assert_eq!(variable("")["course"]["id"], "mlsys");
}

#[test]
fn each_course_has_a_progress_of_its_own() {
    let folder = Folder::new();
    let dir = course(&folder);
    let toml = TOML.replace("mine-2027", "theirs");
    fs::create_dir_all(folder.path("d")).unwrap();
    folder.file("d/course.toml", toml.replace("\"sums/one\", \"sums/two\"", "\"one.md\""));
    folder.file("d/one.md", lesson("sums/one", ""));
    let other = folder.path("d").display().to_string();
    let answers = folder.file("a.json", r#"{"lessons": {"sums/one": {"q2": "this"}}}"#);
    let score = |dir: &str| {
        let shown = folder.run(&["--course", dir, "progress", "show", "--json"]).json();
        shown["lessons"][0]["score"].as_u64()
    };
    folder.run(&["--course", &dir, "progress", "import", &answers]).did();
    assert_eq!((score(&dir), score(&other)), (Some(1), Some(0)));
    // What this course exports is refused by the other.
    let out = folder.path("out.json").display().to_string();
    folder.run(&["--course", &dir, "progress", "export", &out]).did();
    let exported: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(exported["course"], "mine-2027");
    assert_eq!(exported["details"]["sums/one"]["attempts"]["q2"][0]["given"], "this");
    for arguments in [["progress", "import", &out].as_slice(), &["run", "--all", "--answers", &out]]
    {
        let mut all = vec!["--course", &other];
        all.extend(arguments);
        folder.run(&all).refused(2, &["of the course mine-2027"]);
    }
}

#[test]
fn everything_wrong_with_a_course_is_told_at_once() {
    let folder = Folder::new();
    let dir = course(&folder);
    let checked = folder.run(&["course", "check", &dir]);
    assert!(checked.did().is_empty() && checked.err.contains("2 lessons checked"), "{checked:?}");
    let text = TOML
        .replace("about =", "abuot =")
        .replace("\"sums/two\"", "\"sums/two\", \"sums/none\", \"sums/lone\"");
    folder.file("c/course.toml", text);
    folder.file(
        "c/sums/one.md",
        lesson("sums/one", "\"sums/two\"").replace("answer = \"product.value\"", "answr = 1"),
    );
    folder.file("c/sums/two.md", lesson("sums/two", "\"sums/twoo\""));
    folder.file("c/sums/lone.md", lesson("sums/other", ""));
    folder.file("c/sums/extra.md", lesson("sums/extra", ""));
    let checked = folder.run(&["course", "check", &dir, "--no-run"]);
    checked.refused(
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
    for command in [["run", "--all"].as_slice(), &["list"], &["progress", "show"]] {
        let mut all = vec!["--course", &dir];
        all.extend(command);
        folder.run(&all).refused(2, &["abuot", "is not valid"]);
    }
    let out = folder.path("x.tar.gz").display().to_string();
    folder.run(&["course", "pack", &dir, "-o", &out]).refused(2, &["nothing was packed"]);
    assert!(!Path::new(&out).exists());
}

#[test]
fn lessons_that_require_each_other_are_told_and_nothing_is_run() {
    let folder = Folder::new();
    let dir = course(&folder);
    folder.file("c/sums/one.md", lesson("sums/one", "\"sums/two\""));
    folder.run(&["course", "check", &dir]).refused(
        2,
        &[
            "error[cycle]: lessons require each other: sums/one -> sums/two -> sums/one",
            "two.md:6:13",
        ],
    );
    folder
        .run(&["--course", &dir, "run", "--all"])
        .refused(2, &["is not valid", "nothing was run"]);
    // A lab that fails is found where labs are run, and only there.
    folder.file(
        "c/sums/one.md",
        lesson("sums/one", "").replace("product.value == 10", "product.value == 11"),
    );
    folder.run(&["course", "check", &dir, "--no-run"]).did();
    let ended = folder.run(&["course", "check", &dir]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    // A lesson that is not valid does not hide the others from learners.
    folder.file("c/sums/one.md", "nothing");
    let list = folder.run(&["--course", &dir, "list"]);
    assert!(list.did().contains("sums/two") && list.err.contains("was left out"), "{list:?}");
}

#[test]
fn what_is_no_course_is_refused() {
    let folder = Folder::new();
    let path = |name: &str| folder.path(name).display().to_string();
    fs::create_dir_all(folder.path("empty")).unwrap();
    folder.run(&["--course", &path("none"), "list"]).refused(2, &["no such folder or file"]);
    folder
        .run(&["--course", &path("empty"), "list"])
        .refused(2, &["no course.toml", "mlsys course new"]);
    let zip = folder.file("a.zip", b"PK\x03\x04....");
    folder.run(&["--course", &zip, "list"]).refused(2, &["a.zip' is refused: it is no gzip file"]);
    let cut = folder.file("c.tar.gz", [0x1f, 0x8b, 8, 0]);
    folder.run(&["course", "check", &cut]).refused(2, &["cut off"]);
    // Without a course nothing else is lost.
    folder.run(&["--course", &path("none"), "lab", "occupancy", "--json"]).json();
    fs::create_dir_all(folder.path("t")).unwrap();
    folder.file("t/course.toml", "format = \n[[module");
    folder.run(&["course", "check", &path("t")]).refused(2, &["error[toml]", "t/course.toml:1:"]);
    folder.file("t/course.toml", [0xff, 0xfe]);
    folder.run(&["course", "check", &path("t")]).refused(2, &["not UTF-8"]);
}

/// The commands of a workflow's `run:` lines, those of several lines too.
fn run_lines(workflow: &str) -> Vec<String> {
    let lines = workflow.lines().map(str::trim_start);
    lines
        .filter_map(|line| line.strip_prefix("run: "))
        .filter(|line| *line != "|")
        .map(str::to_owned)
        .collect()
}

#[cfg(unix)]
#[test]
fn new_course_passes_its_workflow() {
    let folder = Folder::new();
    let dir = folder.path("new-course");
    let shown = dir.display().to_string();
    let written = folder.run(&["lesson", "new", "--course", &shown, "--ci", "github"]);
    assert!(written.did().contains("mlsys course check"), "{written:?}");
    let workflow = fs::read_to_string(dir.join(".github/workflows/lessons.yml")).unwrap();
    // Actions are named by commit: a tag can be moved.
    for line in workflow.lines().filter(|line| line.contains("uses:")) {
        let commit = line.split('@').nth(1).unwrap().split(' ').next().unwrap();
        assert!(commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{line}");
    }
    let commands = run_lines(&workflow);
    let ours = commands.iter().filter(|line| line.starts_with("mlsys "));
    assert_eq!(ours.count(), 2, "{commands:?}");
    let program = Path::new(env!("CARGO_BIN_EXE_mlsys")).parent().unwrap();
    let search = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for line in &commands {
        let mut shell = Command::new("sh");
        shell
            .args(["-ec", line])
            .current_dir(&dir)
            .env("PATH", &search)
            .env("GITHUB_STEP_SUMMARY", folder.path("summary"))
            .env("MLSYS_DATA_DIR", folder.path("data"))
            .env_remove("MLSYS_COURSE")
            .env_remove("MLSYS_DEVICE");
        let ended = Ended::of(shell.output().unwrap());
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
    }
    assert!(fs::read_to_string(dir.join("results.xml")).unwrap().contains("<testsuite"));
    assert!(fs::read_to_string(folder.path("summary")).unwrap().contains("start/first-steps"));
    let before = fs::read(dir.join("README.md")).unwrap();
    folder
        .run(&["course", "new", &shown])
        .refused(2, &["nothing is overwritten", "no file was written"]);
    assert_eq!(fs::read(dir.join("README.md")).unwrap(), before);
    // One file in the way is enough, and then nothing else is written.
    fs::create_dir_all(folder.path("half")).unwrap();
    folder.file("half/README.md", "mine");
    let half = folder.path("half").display().to_string();
    folder.run(&["course", "new", &half]).refused(2, &["README.md"]);
    assert!(!folder.path("half/course.toml").exists());
    folder.run(&["lesson", "new"]).refused(2, &["name the file"]);
    folder.run(&["course", "new", &shown, "--ci", "gitlab"]).refused(2, &["github"]);
}
