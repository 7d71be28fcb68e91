//! Submissions under hostile file names: no name steers a terminal, ends a line, is a formula or an option.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use mlsys_harness::sandbox::Ended;

use crate::sandbox;

#[test]
fn names_of_submissions_do_no_harm() {
    let folder = sandbox();
    let own = folder.arg("own.json");
    folder.run(&format!("progress export {own} --learner ann")).success();
    let submission = fs::read(folder.path("own.json")).unwrap();
    let long = "x".repeat(250) + ".json";
    let names: [&[u8]; 10] = [
        b"a\nnot graded: none\nwarning: all is well.json",
        b"esc\x1b[2J\x1b]0;title\x07.json",
        b"\xff\xfe.json",
        "\u{202e}gnp.json".as_bytes(),
        b"=cmd()|'calc'!A1.json",
        "＝cmd().json".as_bytes(),
        b"@SUM(A1),\"2\".json",
        b"--help",
        b"-o.json",
        long.as_bytes(),
    ];
    let inside = folder.path("in");
    fs::create_dir_all(&inside).unwrap();
    for (at, name) in names.iter().enumerate() {
        // One of them is a good submission, the others are none.
        let text: &[u8] = if at == 1 { &submission } else { b"no answers" };
        fs::write(inside.join(OsStr::from_bytes(name)), text).unwrap();
    }
    let mut grade = folder.command("grade -o ../grades.csv --report github=../gh.txt --");
    grade.current_dir(&inside).args(names.map(OsStr::from_bytes));
    let ended = Ended::new(grade.arg("../in/../in/--help").output().unwrap());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.starts_with("ann: 0 of "), "{ended:?}");
    // A line for each file, and nothing else.
    assert!(ended.err.lines().all(|line| line.starts_with("not graded: ")), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), names.len());
    for shown in [
        "not graded: a\\nnot graded: none\\nwarning: all is well.json: this is no answers file",
        "not graded: \\xff\\xfe.json: this is no answers file",
        "not graded: \\u{202e}gnp.json: this is no answers file",
        "not graded: --help: this is no answers file",
        "not graded: -o.json: this is no answers file",
    ] {
        assert!(ended.err.contains(shown), "{shown}: {}", ended.err);
    }
    let csv = folder.read("grades.csv");
    for cell in [
        "esc\\u{1b}[2J\\u{1b}]0;title\\u{7}.json",
        ",'=cmd()|'calc'!A1.json\n",
        ",'＝cmd().json\n",
        ",\"'@SUM(A1),\"\"2\"\".json\"\n",
        ",'--help\n",
    ] {
        assert!(csv.contains(cell), "{cell}: {csv}");
    }
    for file in ["grades.csv", "grades.html", "grades.json", "gh.txt"] {
        let text = folder.read(file);
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{file}");
    }
}
