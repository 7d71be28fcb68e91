//! A kernel that is written on the screen and in an external editor.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use mlsys_harness::sandbox::Sandbox;
use rustix::process::Signal;

use crate::sandbox;
use crate::screen::Screen;

const LESSON: &str = include_str!("../../../tui/src/tests/kernel.md");

/// A folder with the lesson, and an editor that does what a script says.
fn folder(editor: &str) -> Sandbox {
    let folder = sandbox();
    folder.file("lesson.md", LESSON);
    let script = folder.file("editor", format!("#!/bin/sh\n{editor}\n"));
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// The kernel of the lesson's question on a screen.
fn open(folder: &Sandbox, environment: &[(&str, &str)]) -> Screen {
    let line = format!("open {}", folder.arg("lesson.md"));
    let mut screen = Screen::open_in((100, 30), &line, environment);
    screen.wait_for("QUESTION reverse");
    screen.keys("n\r");
    screen.wait_for("KERNEL reverse");
    screen
}

/// Types a line in the editor and puts it at the end of the file.
const APPENDS: &str = "echo EDITOR IS HERE; read line; echo \"// $line\" >> \"$1\"";

#[test]
fn external_editor_gets_terminal_and_returns_text() {
    let folder = folder(APPENDS);
    let editor = folder.arg("editor");
    let mut screen = open(&folder, &[("VISUAL", &editor)]);
    for line in ["first line", "second line"] {
        screen.keys("\x0f");
        screen.wait_for_bytes("EDITOR IS HERE");
        assert!(!screen.is_raw(), "the editor has the terminal as the shell set it");
        screen.keys(&format!("{line}\r"));
        screen.wait_for_bytes("\x1b[?1049h");
        screen.wait_for("KERNEL reverse");
        screen.wait_for(&format!("// {line}"));
        assert!(screen.is_raw());
        screen.forget();
        screen.resize(99, 30);
        screen.wait_for(line);
        screen.resize(100, 30);
        screen.forget();
    }
    screen.quit("\x03");
}

#[test]
fn failing_editor_is_told_and_its_text_kept() {
    let folder = folder("echo broken > \"$1\"; exit 1");
    let editor = folder.arg("editor");
    let mut screen = open(&folder, &[("VISUAL", ""), ("EDITOR", &editor)]);
    screen.keys("\x0f");
    screen.wait_for("exit status: 1");
    screen.wait_for("broken");
    screen.keys("\x15");
    screen.wait_for("threadIdx.x");
    screen.quit("\x03");
    let mut screen = open(&folder, &[("VISUAL", "no-such-editor --wait")]);
    screen.keys("\x0f");
    screen.wait_for("there is no editor 'no-such-editor --wait'");
    screen.quit("\x03");
}

#[test]
fn ctrl_z_in_the_editor_stops_the_job() {
    let folder = folder(APPENDS);
    let editor = folder.arg("editor");
    let mut screen = open(&folder, &[("VISUAL", &editor)]);
    screen.keys("\x0f");
    screen.wait_for_bytes("EDITOR IS HERE");
    screen.signal_job(Signal::TSTP);
    screen.wait_until_stopped();
    screen.signal_job(Signal::CONT);
    screen.keys("after\r");
    screen.wait_for("// after");
    screen.quit("\x03");
}

#[test]
fn typed_text_outlives_a_kill() {
    let folder = folder("true");
    let data = folder.arg("data");
    let environment = [("MLSYS_DATA_DIR", data.as_str())];
    let mut screen = open(&folder, &environment);
    screen.keys("// mine");
    screen.wait_for("// mine");
    screen.kill();

    let mut screen = open(&folder, &environment);
    screen.wait_for("// mine");
    let lessons = PathBuf::from(&data).join("drafts");
    let file = find(&lessons).unwrap();
    fs::write(&file, "__global__ void elsewhere() {}\n").unwrap();
    screen.wait_for("void elsewhere");
    screen.keys("\x15");
    screen.wait_for("// mine");
    screen.keys("\x03");
    screen.ends(0);
    assert!(!screen.data().exists(), "this test has named another folder");
}

/// The only file below a folder.
fn find(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.map(|entry| entry.path()).find_map(
        |path| {
            if path.is_dir() { find(&path) } else { Some(path) }
        },
    )
}
