//! Lessons and courses: what takes the files of a test, a look at the machine, or another program.

use std::fs;
use std::process::Command;

use crate::sandbox;
use mlsys_harness::sandbox::{Ended, Sandbox};

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
}

/// A command of a package, with the program under test on the path.
fn shell(folder: &Sandbox, at: &str, line: &str) -> Command {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_mlsys")).parent().unwrap();
    let search = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-ec", line]).current_dir(at).env("PATH", search);
    shell.env("MLSYS_DATA_DIR", folder.path("data"));
    shell.env_remove("MLSYS_COURSE").env_remove("MLSYS_DEVICE");
    shell
}

/// A learner's submission to a new course, with a right and a wrong answer, and the folder of the course.
fn new_course_with_submission(folder: &Sandbox, service: &str) -> (String, String) {
    let course = folder.arg("c");
    folder.run(&format!("course new {course} --ci {service}")).success();
    let given = folder.arg("c/given.tar.gz");
    let key = folder.arg("c/key.json");
    folder.run(&format!("course pack {course} -o {given} --without-answers --key {key}")).success();
    let lesson = fs::read_to_string(folder.path("c/start/first-steps.md")).unwrap();
    let question = lesson.split("```{question} ").nth(1).unwrap().lines().next().unwrap();
    let answers = format!("{{\"lessons\": {{\"start/first-steps\": {{\"{question}\": 1}}}}}}");
    let answers = folder.file("answers.json", answers);
    folder.run(&format!("--course {given} progress import {answers}")).success();
    let submission = folder.arg("submission.json");
    folder.run(&format!("--course {given} progress export {submission} --learner ann")).success();
    (course, submission)
}

#[test]
fn the_gradescope_package_grades_an_upload() {
    let folder = sandbox();
    let (course, submission) = new_course_with_submission(&folder, "gradescope");
    let at = format!("{course}/gradescope");
    Ended::new(shell(&folder, &at, "sh pack.sh").output().unwrap()).printed(&["autograder.zip"]);
    // What Gradescope does with the archive, or the Dockerfile with the same files.
    let root = folder.arg("autograder");
    let unpack = format!(
        "mkdir -p {root}/source {root}/submission && cp setup.sh run_autograder mlsys course.tar.gz {root}/source && sh {root}/source/setup.sh"
    );
    Ended::new(shell(&folder, &at, &unpack).env("AUTOGRADER", &root).output().unwrap()).success();
    let metadata =
        "{\"id\": 1, \"created_at\": \"2027-03-01T14:22:32.365935-07:00\", \"users\": []}";
    folder.file("autograder/submission_metadata.json", metadata);
    let grade = || {
        let mut shell = shell(&folder, &root, "sh source/run_autograder");
        Ended::new(shell.env("AUTOGRADER", &root).output().unwrap());
        let results = folder.read("autograder/results/results.json");
        serde_json::from_str::<serde_json::Value>(&results).unwrap()
    };
    fs::copy(&submission, folder.path("autograder/submission/submission.json")).unwrap();
    let graded = grade();
    let tests = graded["tests"].as_array().unwrap();
    assert_eq!(tests.len(), 1, "{graded}");
    let first = &tests[0];
    assert_eq!((&first["score"], &first["status"]), (&0.into(), &"failed".into()), "{graded}");
    assert!(first["output"].as_str().unwrap().contains("answer: 1"), "{graded}");
    assert_eq!(first["max_score"], 1, "{graded}");
    folder.file("autograder/submission/submission.json", "nothing");
    let refused = grade();
    assert_eq!(refused["score"], 0);
    let output = refused["tests"][0]["output"].as_str().unwrap();
    assert!(output.contains("no answers file"), "{refused}");
    fs::remove_file(folder.path("autograder/source/course.tar.gz")).unwrap();
    assert!(grade()["output"].as_str().unwrap().contains("exit code 2"));
}

#[test]
fn the_classroom_package_grades_a_push() {
    let folder = sandbox();
    let (course, submission) = new_course_with_submission(&folder, "classroom");
    let at = format!("{course}/classroom");
    let workflow = fs::read_to_string(format!("{at}/.github/workflows/classroom.yml")).unwrap();
    assert!(workflow.contains("run: sh .github/grade.sh"));
    let push = || {
        let mut shell = shell(&folder, &at, "sh .github/grade.sh");
        let key = shell_output(&folder, &at, "base64 -w 0 ../key.json");
        shell.env("MLSYS_KEY", key).env("PUSHED", "1803904200");
        Ended::new(shell.env("GITHUB_STEP_SUMMARY", folder.path("summary")).output().unwrap())
    };
    fs::copy(format!("{course}/given.tar.gz"), format!("{at}/course.tar.gz")).unwrap();
    let missing = push();
    assert!(
        missing.code == Some(1) && missing.out.contains("::error::There is no submission.json")
    );
    fs::copy(&submission, format!("{at}/submission.json")).unwrap();
    push().printed(&[
        "::error file=submission.json,line=1,title=start/first-steps question",
        "::notice title=Autograding complete::Points 0/",
        "::notice title=Autograding report::{",
    ]);
    assert!(folder.read("summary").contains("answered 1; 0 of"));
    assert!(fs::exists(format!("{at}/grades.html")).unwrap());
}

fn shell_output(folder: &Sandbox, at: &str, line: &str) -> String {
    let ended = Ended::new(shell(folder, at, line).output().unwrap());
    ended.success().to_owned()
}

#[test]
fn packing_a_course_is_reproducible() {
    let folder = sandbox();
    let dir = format!("{}/tests/files/course", env!("CARGO_MANIFEST_DIR"));
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

/// A lesson with a lab that answers at once, a short run, two questions and a check.
const LESSON: &str = include_str!("../files/small.md");

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
    assert_eq!(json["lessons"][0]["items"][0]["verdict"], "skipped");
}

#[test]
fn a_lesson_that_is_too_large_is_refused() {
    let folder = sandbox();
    let large = folder.file("b.md", vec![b'a'; (1 << 20) + 1]);
    folder.run(&format!("lesson check {large}")).refused(2, &["b.md", "1048576"]);
}
