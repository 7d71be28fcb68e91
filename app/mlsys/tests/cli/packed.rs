//! Courses packed: the same bytes each time, and answers kept apart.

use std::fs;
use std::process::Command;

use crate::courses::{course, lesson};
use crate::help::Folder;

#[test]
fn a_packed_course_is_the_same_course_and_the_same_bytes() {
    let folder = Folder::new();
    let dir = course(&folder);
    let path = |name: &str| folder.path(name).display().to_string();
    let (a, b) = (path("a.tar.gz"), path("b.tar.gz"));
    let packed = folder.run(&["course", "pack", &dir, "-o", &a]);
    assert!(packed.did().contains("4 files") && packed.out.contains("sha256:"), "{packed:?}");
    // Packed again, and packed from the archive: the same bytes.
    folder.run(&["course", "pack", &dir, "-o", &b]).did();
    assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    folder.run(&["course", "pack", &a, "-o", &b]).did();
    assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
    let list = |course: &str| folder.run(&["--course", course, "list", "--json"]).json();
    assert_eq!(list(&a), list(&dir));
    folder.run(&["--course", &a, "run", "--all"]).did();
    folder.run(&["course", "check", &a]).did();
    // Any tar reads it.
    if let Ok(tar) = Command::new("tar").args(["tzf", &a]).output() {
        let names = String::from_utf8(tar.stdout).unwrap();
        assert_eq!(names, "manifest.json\nREADME.md\ncourse.toml\nsums/one.md\nsums/two.md\n");
    }
    let mut bytes = fs::read(&a).unwrap();
    let half = bytes.len() / 2;
    bytes[half] ^= 0xff;
    let flipped = folder.file("flipped.tar.gz", &bytes);
    folder.run(&["--course", &flipped, "list"]).refused(2, &["flipped.tar.gz' is refused"]);
    let cut = folder.file("cut.tar.gz", &fs::read(&a).unwrap()[..half]);
    folder.run(&["--course", &cut, "run", "--all"]).refused(2, &["cut off"]);
    folder.run(&["course", "pack", &dir, "-o", &dir]).refused(2, &["is a folder"]);
}

#[test]
fn answers_that_are_kept_are_graded_with_a_key() {
    let folder = Folder::new();
    let dir = course(&folder);
    let path = |name: &str| folder.path(name).display().to_string();
    let (full, given, key) = (path("full.tar.gz"), path("given.tar.gz"), path("key.json"));
    folder.run(&["course", "pack", &dir, "-o", &full]).did();
    folder.run(&["course", "pack", &dir, "-o", &given, "--without-answers", "--key", &key]).did();
    folder
        .run(&["course", "pack", &dir, "-o", &given, "--key", &key])
        .refused(2, &["--without-answers"]);
    folder
        .run(&[
            "course",
            "pack",
            &given,
            "-o",
            &path("x.tar.gz"),
            "--without-answers",
            "--key",
            &path("x.json"),
        ])
        .refused(2, &["has no answers"]);
    // The learner's course holds, and grades nothing.
    folder.run(&["course", "check", &given]).did();
    let all = folder.run(&["--course", &given, "run", "--all", "--report", "json=-"]).json();
    let verdict = |json: &serde_json::Value, id: &str| {
        let items = json["lessons"][0]["items"].as_array().unwrap();
        items.iter().find(|item| item["id"] == id).unwrap().clone()
    };
    assert_eq!(verdict(&all, "q1")["verdict"], "skipped");
    // Answers are recorded there, exported and graded elsewhere.
    let answers = folder.file(
        "a.json",
        r#"{"lessons": {"sums/one": {"q1": 7, "q2": "this"}, "sums/two": {"q1": 10}}}"#,
    );
    folder.run(&["--course", &given, "progress", "import", &answers]).did();
    let exported = path("exported.json");
    folder.run(&["--course", &given, "progress", "export", &exported]).did();
    let later = folder.run(&[
        "--course",
        &given,
        "run",
        "--all",
        "--answers",
        &exported,
        "--report",
        "json=-",
    ]);
    assert!(later.out.contains("answer recorded, graded later"), "{later:?}");
    for arguments in [
        vec!["run", "--all", "--key", &full],
        vec!["--course", &given, "run", "--all", "--key", &full],
        vec!["--course", &given, "run", "--all", "--key", &key],
        vec!["--course", &dir, "run", "--all", "--key", &key],
    ] {
        let mut all = arguments.clone();
        all.extend(["--answers", &exported, "--report", "json=-"]);
        let ended = folder.run(&all);
        assert_eq!(ended.code, Some(1), "{arguments:?} {ended:?}");
        let json: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(verdict(&json, "q1")["reason"], "That is the sum.", "{arguments:?}");
        assert_eq!(
            (json["lessons"][0]["score"].as_u64(), json["lessons"][1]["score"].as_u64()),
            (Some(1), Some(2))
        );
    }
    folder.run(&["run", "--all", "--key", &full]).refused(2, &["--answers"]);
    folder
        .run(&["run", "--all", "--key", &key, "--answers", &exported])
        .refused(2, &["of the course mine-2027", "--course"]);
    folder.file(
        "c/sums/one.md",
        lesson("sums/one", "").replace("Two times five?", "Five times two?"),
    );
    folder.run(&["course", "pack", &dir, "-o", &given, "--without-answers"]).did();
    folder
        .run(&["--course", &given, "run", "--all", "--key", &key, "--answers", &exported])
        .refused(2, &["does not fit the lesson sums/one", "another version"]);
    let broken = folder.file("key.json", "{\"format\": 1");
    folder
        .run(&["--course", &given, "run", "--all", "--key", &broken, "--answers", &exported])
        .refused(2, &["key.json", "no key"]);
}
