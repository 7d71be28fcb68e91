//! The workbench on a pseudo-terminal: what a person's terminal receives, and how it is left behind.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what cannot be done here is a failed test")]

mod jobs;
mod kernel;
mod looks;
mod mouse;
mod preview;
mod screen;

use rustix::process::Signal;
use screen::Screen;

const LEAVE: &str = "\x1b[?1049l";
const SHOW_CURSOR: &str = "\x1b[?25h";

#[test]
fn course_is_drawn_and_q_restores_the_terminal() {
    let mut screen = Screen::open(80, 24, &[]);
    screen.wait_for("Five lines that keep a data centre busy");
    screen.keys("q");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn prediction_is_shown_with_the_measurement() {
    let mut screen = Screen::open(120, 40, &["--device", "cpu"]);
    screen.wait_for("Five lines");
    screen.keys("\r");
    screen.wait_for("PREDICT");
    screen.keys("\r0.75\r");
    screen.wait_for("your guess: 0.75");
    screen.keys("f ");
    screen.wait_for("finished");
    screen.wait_for("You said 0.75; measured");
    screen.keys("q");
    screen.wait_for("the course");
    screen.keys("q");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn a_request_to_terminate_in_mid_run_gives_the_terminal_back() {
    let mut screen = Screen::open(120, 40, &["--device", "cpu"]);
    screen.wait_for("Five lines");
    screen.keys("\r");
    screen.wait_for("PREDICT");
    screen.keys("  ");
    screen.wait_for("running");
    screen.signal(Signal::TERM);
    assert_eq!(screen.exit_code(), Some(130));
    screen.is_given_back();
}

#[test]
fn ctrl_c_in_mid_run_asks_and_a_second_one_leaves_at_once() {
    let mut screen = Screen::open(120, 40, &["--device", "cpu"]);
    screen.wait_for("Five lines");
    screen.keys("\r");
    screen.wait_for("PREDICT");
    screen.keys("  ");
    screen.wait_for("steps/s");
    screen.keys("\x03");
    screen.wait_for("a run goes on");
    screen.keys("\x03");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn a_run_that_fails_is_told_and_the_workbench_goes_on() {
    let mut screen = Screen::open(120, 40, &["--device", "cuda:7"]);
    screen.wait_for("Five lines");
    screen.keys("\r");
    screen.wait_for("PREDICT");
    screen.keys("  ");
    screen.wait_for("failed");
    screen.keys("q");
    screen.wait_for("the course");
    screen.keys("q");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn the_smallest_screen_and_a_resize_are_no_trouble() {
    let mut screen = Screen::open(20, 5, &[]);
    screen.wait_for("too small");
    screen.resize(100, 30);
    screen.wait_for("Five lines");
    screen.keys("q");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn a_storm_of_resizes_ends_at_the_last_size() {
    let mut screen = Screen::open(120, 40, &[]);
    screen.wait_for("Five lines");
    screen.keys("\r");
    screen.wait_for("PREDICT");
    for step in 0..120_u16 {
        let (columns, rows) = (300 - step * 7 % 290, 100 - step * 3 % 98);
        screen.resize(columns, rows);
    }
    screen.forget();
    screen.resize(80, 24);
    screen.wait_for("PREDICT");
    screen.wait_for("n next");
    screen.keys("\x03");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}
