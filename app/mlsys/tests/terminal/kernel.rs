//! A kernel that is written on the screen and in the learner's own editor.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rustix::process::Signal;

use crate::screen::Screen;

const LESSON: &str = include_str!("../../../tui/src/tests/kernel.md");

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    /// With the lesson, and an editor that does what a script says.
    fn new(name: &str, editor: &str) -> Self {
        let name = format!("mlsys-kernel-{name}-{}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        fs::write(folder.path("lesson.md"), LESSON).unwrap();
        let script = folder.path("editor");
        fs::write(&script, format!("#!/bin/sh\n{editor}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// The lesson on a screen, its question's kernel open.
    fn open(&self, environment: &[(&str, &str)]) -> Screen {
        let lesson = self.path("lesson.md");
        let mut screen = Screen::open_in(100, 30, &["open", &lesson], environment);
        screen.wait_for("QUESTION reverse");
        screen.keys("n\r");
        screen.wait_for("KERNEL reverse");
        screen
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Types a line in the editor and puts it at the end of the file.
const APPENDS: &str = "echo EDITOR IS HERE; read line; echo \"// $line\" >> \"$1\"";

#[test]
fn external_editor_gets_terminal_and_returns_text() {
    let folder = Folder::new("outside", APPENDS);
    let editor = folder.path("editor");
    let mut screen = folder.open(&[("VISUAL", &editor)]);
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
    screen.keys("\x03");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn failing_editor_is_told_and_its_text_kept() {
    let folder = Folder::new("fails", "echo broken > \"$1\"; exit 1");
    let editor = folder.path("editor");
    let mut screen = folder.open(&[("VISUAL", ""), ("EDITOR", &editor)]);
    screen.keys("\x0f");
    screen.wait_for("exit status: 1");
    screen.wait_for("broken");
    screen.keys("\x15");
    screen.wait_for("threadIdx.x");
    screen.keys("\x03");
    assert_eq!(screen.exit_code(), Some(0));
    let mut screen = folder.open(&[("VISUAL", "no-such-editor --wait")]);
    screen.keys("\x0f");
    screen.wait_for("there is no editor 'no-such-editor --wait'");
    screen.keys("\x03");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn ctrl_z_in_the_editor_stops_the_job() {
    let folder = Folder::new("stops", APPENDS);
    let editor = folder.path("editor");
    let mut screen = folder.open(&[("VISUAL", &editor)]);
    screen.keys("\x0f");
    screen.wait_for_bytes("EDITOR IS HERE");
    screen.signal_job(Signal::TSTP);
    screen.wait_until_stopped();
    screen.signal_job(Signal::CONT);
    screen.keys("after\r");
    screen.wait_for("// after");
    screen.keys("\x03");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn typed_text_outlives_a_kill() {
    let folder = Folder::new("kill", "true");
    let data = folder.path("data");
    let environment = [("MLSYS_DATA_DIR", data.as_str())];
    let mut screen = folder.open(&environment);
    screen.keys("// mine");
    screen.wait_for("// mine");
    screen.kill();

    let mut screen = folder.open(&environment);
    screen.wait_for("// mine");
    let lessons = PathBuf::from(&data).join("drafts");
    let file = find(&lessons).expect("the text has a file");
    fs::write(&file, "__global__ void elsewhere() {}\n").unwrap();
    screen.wait_for("void elsewhere");
    screen.keys("\x15");
    screen.wait_for("// mine");
    screen.keys("\x03");
    assert_eq!(screen.exit_code(), Some(0));
    assert!(!screen.data().exists(), "this test has named another folder");
}

/// The only file below a folder.
fn find(folder: &std::path::Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.map(|entry| entry.path()).find_map(
        |path| {
            if path.is_dir() { find(&path) } else { Some(path) }
        },
    )
}
