//! The workbench on a pseudo-terminal: what a person's terminal receives, and how it is left behind.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what cannot be done here is a failed test")]

mod screen;
mod script;

use mlsys_harness::sandbox::Sandbox;
use screen::Screen;
use script::script;

/// The program in a folder of its own.
fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_mlsys"))
}

fn course(size: (u16, u16), line: &str) -> Screen {
    let mut screen = Screen::open(size, line, &[]);
    screen.wait_for("The training loop");
    screen
}

#[test]
fn many_resizes_end_at_the_last_size() {
    let mut screen = course((120, 40), "--device auto");
    screen.keys("\r");
    screen.wait_for("PREDICT");
    for step in 0..120_u16 {
        screen.resize(300 - step * 7 % 290, 100 - step * 3 % 98);
    }
    screen.forget();
    screen.resize(80, 24);
    screen.wait_for("Two arms of points");
    screen.wait_for("n next");
    screen.quit("\x03");
}

#[test]
fn click_opens_lesson_and_quit_releases_mouse() {
    let mut screen = course((100, 30), "");
    screen.keys("M");
    screen.wait_for("the mouse chooses");
    let shown = screen.shown();
    let row = shown.lines().position(|line| line.contains("○ The training loop"));
    let row = row.unwrap() + 1;
    screen.keys(&format!("\x1b[<0;10;{row}M\x1b[<0;10;{row}m"));
    screen.wait_for("Two arms of points");
    screen.keys("q");
    screen.wait_for("the course");
    screen.quit("q");
}

#[test]
fn sessions() {
    script("workbench.txt");
}

#[test]
fn looks() {
    script("looks.txt");
}

#[test]
fn external_editors() {
    script("editor.txt");
}

#[test]
fn no_colour_means_no_colour_and_no_question() {
    let mut screen = Screen::open((100, 30), "", &[("NO_COLOR", "1")]);
    screen.wait_for("The training loop");
    screen.keys("\r");
    screen.wait_for("Your guess");
    let raw = screen.raw();
    let coloured: Vec<_> = raw.split("\x1b[").filter(|s| is_colour(s)).collect();
    assert!(coloured.is_empty(), "{coloured:?}");
    assert!(!screen.raw().contains("\x1b]11;?"));
    screen.keys("q");
    screen.wait_for("the course");
    screen.quit("q");
}

/// Whether a sequence, its beginning left out, chooses a colour; 39 and 49 choose none.
fn is_colour(sequence: &str) -> bool {
    let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';');
    let Some(parameters) =
        end.filter(|&end| sequence[end..].starts_with('m')).map(|end| &sequence[..end])
    else {
        return false;
    };
    parameters
        .split(';')
        .filter_map(|number| number.parse::<u8>().ok())
        .any(|number| matches!(number, 30..=38 | 40..=48 | 90..=107))
}
