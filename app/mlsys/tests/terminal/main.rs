//! The workbench on a pseudo-terminal: what a person's terminal receives, and how it is left behind.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what cannot be done here is a failed test")]

mod kernel;
mod looks;
mod screen;

use std::fs;

use mlsys_harness::sandbox::Sandbox;
use rustix::process::Signal;
use screen::Screen;

/// The program in a folder of its own.
fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_mlsys"))
}

/// The workbench at the course.
fn course(size: (u16, u16), line: &str) -> Screen {
    let mut screen = Screen::open(size, line);
    screen.wait_for("Five lines");
    screen
}

/// The workbench at the prediction of its first lesson.
fn prediction(device: &str) -> Screen {
    let mut screen = course((120, 40), &format!("--device {device}"));
    screen.keys("\r");
    screen.wait_for("PREDICT");
    screen
}

#[test]
fn course_is_drawn_and_q_restores_the_terminal() {
    let mut screen = Screen::open((80, 24), "");
    screen.wait_for("Five lines that keep a data centre busy");
    screen.quit("q");
}

#[test]
fn prediction_is_shown_with_the_measurement() {
    let mut screen = prediction("cpu");
    screen.keys("\r0.75\r");
    screen.wait_for("your guess: 0.75");
    screen.keys("f ");
    screen.wait_for("finished");
    screen.wait_for("You said 0.75; measured");
    screen.keys("q");
    screen.wait_for("the course");
    screen.quit("q");
}

#[test]
fn a_termination_signal_during_a_run_restores_the_terminal() {
    let mut screen = prediction("cpu");
    screen.keys("  ");
    screen.wait_for("running");
    screen.signal(Signal::TERM);
    screen.ends(130);
}

#[test]
fn ctrl_c_during_a_run_asks_and_a_second_one_leaves_at_once() {
    let mut screen = prediction("cpu");
    screen.keys("  ");
    screen.wait_for("steps/s");
    screen.keys("\x03");
    screen.wait_for("a run goes on");
    screen.quit("\x03");
}

#[test]
fn a_run_that_fails_is_reported_and_the_workbench_continues() {
    let mut screen = prediction("cuda:7");
    screen.keys("  ");
    screen.wait_for("failed");
    screen.keys("q");
    screen.wait_for("the course");
    screen.quit("q");
}

#[test]
fn a_small_screen_can_be_enlarged() {
    let mut screen = Screen::open((20, 5), "");
    screen.wait_for("too small");
    screen.resize(100, 30);
    screen.wait_for("Five lines");
    screen.quit("q");
}

#[test]
fn many_resizes_end_at_the_last_size() {
    let mut screen = prediction("auto");
    for step in 0..120_u16 {
        screen.resize(300 - step * 7 % 290, 100 - step * 3 % 98);
    }
    screen.forget();
    screen.resize(80, 24);
    screen.wait_for("PREDICT");
    screen.wait_for("n next");
    screen.quit("\x03");
}

#[test]
fn a_stopped_job_restores_the_terminal_and_continues() {
    for stop in ["ctrl-z", "a signal", "a signal that cannot be caught"] {
        let mut screen = course((100, 30), "");
        match stop {
            "ctrl-z" => screen.keys("\x1a"),
            "a signal" => screen.signal(Signal::TSTP),
            _ => screen.signal(Signal::STOP),
        }
        screen.wait_until_stopped();
        if stop == "a signal that cannot be caught" {
            screen.as_a_shell_sets_it();
        } else {
            screen.assert_restored();
        }
        screen.forget();
        screen.signal(Signal::CONT);
        screen.wait_for("Five lines");
        assert!(screen.is_raw(), "{stop}");
        screen.quit("q");
    }
}

#[test]
fn a_hangup_and_an_interrupt_end_it_in_order() {
    for signal in [Signal::HUP, Signal::INT] {
        let mut screen = course((100, 30), "");
        screen.signal(signal);
        screen.ends(130);
    }
}

#[test]
fn it_ends_when_the_terminal_is_gone() {
    assert_eq!(course((100, 30), "").vanish(), Some(130));
}

#[test]
fn keys_arrive_although_reading_was_left_nonblocking() {
    let mut screen = course((100, 30), "");
    screen.set_nonblocking();
    screen.keys("?");
    screen.wait_for("leave mlsys");
    screen.quit("?q");
}

const MOUSE_CAPTURED: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";

fn with_mouse() -> Screen {
    let mut screen = course((100, 30), "");
    assert!(!screen.raw().contains(MOUSE_CAPTURED), "the mouse was captured unasked");
    screen.keys("M");
    screen.wait_for_bytes(MOUSE_CAPTURED);
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
    screen.quit("q");
}

#[test]
fn a_stopped_job_releases_the_mouse_and_captures_it_again() {
    let mut screen = with_mouse();
    screen.keys("\x1a");
    screen.wait_until_stopped();
    screen.assert_restored();
    screen.forget();
    screen.signal(Signal::CONT);
    screen.wait_for_bytes(MOUSE_CAPTURED);
    screen.signal(Signal::TERM);
    screen.ends(130);
}

#[test]
fn command_line_is_copied_to_the_clipboard() {
    let mut screen = Screen::open((100, 30), "open systems/training-loop");
    screen.wait_for("Two arms of points");
    screen.keys("y");
    // mlsys open systems/training-loop
    screen.wait_for_bytes("\x1b]52;c;bWxzeXMgb3BlbiBzeXN0ZW1zL3RyYWluaW5nLWxvb3A=\x07");
    screen.wait_for("mlsys open systems/training-loop");
    screen.signal(Signal::TERM);
    screen.ends(130);
}

const FOLLOWED: &str = "+++\nformat = 1\nid = \"tests/followed\"\ntitle = \"Followed\"\nminutes = 1\n+++\n\
    The first version.\n\n```{lab} blocks\nkind = \"occupancy\"\n```\n\n```{notes}\nFor teachers.\n```\n";

#[test]
fn the_preview_follows_a_file_and_shows_its_mistakes() {
    let folder = sandbox();
    let file = folder.file("followed.md", FOLLOWED);
    let mut screen = Screen::open((120, 40), &format!("lesson preview {file}"));
    screen.wait_for("The first version.");
    screen.keys("i");
    screen.wait_for("For teachers.");

    // As editors save: a new file over the old one.
    let other = folder.file("followed.md.new", FOLLOWED.replace("first", "second"));
    fs::rename(&other, &file).unwrap();
    screen.wait_for("The second version.");

    fs::write(&file, FOLLOWED.replace("minutes", "minuets")).unwrap();
    screen.wait_for("the last good version stays on the screen");
    screen.wait_for("did you mean `minutes`?");

    fs::remove_file(&file).unwrap();
    screen.wait_for("is not there any more");
    fs::write(&file, FOLLOWED.replace("first", "third")).unwrap();
    screen.wait_for("The third version.");
    screen.quit("\x03");
}
