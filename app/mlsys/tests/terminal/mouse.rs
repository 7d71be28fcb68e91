//! The mouse and the clipboard, byte by byte.

use rustix::process::Signal;

use super::screen::Screen;

const TAKEN: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";

fn with_mouse() -> Screen {
    let mut screen = Screen::open(100, 30, &[]);
    screen.wait_for("Five lines");
    assert!(!screen.raw().contains(TAKEN), "the mouse was captured unasked");
    screen.keys("M");
    screen.wait_for_bytes(TAKEN);
    screen.wait_for("the mouse chooses");
    screen
}

#[test]
fn click_opens_lesson_and_quit_releases_mouse() {
    let mut screen = with_mouse();
    let shown = screen.shown();
    let row = shown.lines().position(|line| line.contains("○ Five lines"));
    let row = row.unwrap() + 1;
    screen.keys(&format!("\x1b[<0;10;{row}M\x1b[<0;10;{row}m"));
    screen.wait_for("Two arms of points");
    screen.keys("q");
    screen.wait_for("the course");
    screen.keys("q");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn a_stop_releases_the_mouse_and_going_on_takes_it_again() {
    let mut screen = with_mouse();
    screen.keys("\x1a");
    screen.wait_until_stopped();
    screen.is_given_back();
    screen.forget();
    screen.signal(Signal::CONT);
    screen.wait_for_bytes(TAKEN);
    screen.signal(Signal::TERM);
    assert_eq!(screen.exit_code(), Some(130));
    screen.is_given_back();
}

#[test]
fn command_line_is_copied_to_the_clipboard() {
    let mut screen = Screen::open(100, 30, &["open", "systems/training-loop"]);
    screen.wait_for("Two arms of points");
    screen.keys("y");
    // mlsys open systems/training-loop
    screen.wait_for_bytes("\x1b]52;c;bWxzeXMgb3BlbiBzeXN0ZW1zL3RyYWluaW5nLWxvb3A=\x07");
    screen.wait_for("mlsys open systems/training-loop");
    screen.signal(Signal::TERM);
    assert_eq!(screen.exit_code(), Some(130));
    screen.is_given_back();
}
