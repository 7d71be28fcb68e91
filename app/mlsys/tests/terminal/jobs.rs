//! Stopping, going on and being ended from outside.

use rustix::process::Signal;

use super::screen::Screen;

fn course() -> Screen {
    let mut screen = Screen::open(100, 30, &[]);
    screen.wait_for("Five lines");
    screen
}

fn goes_on(mut screen: Screen) {
    screen.forget();
    screen.signal(Signal::CONT);
    screen.wait_for("Five lines");
    assert!(screen.is_raw());
    screen.keys("q");
    assert_eq!(screen.exit_code(), Some(0));
    screen.is_given_back();
}

#[test]
fn ctrl_z_suspends_and_fg_restores_the_screen() {
    let mut screen = course();
    screen.keys("\x1a");
    screen.wait_until_stopped();
    screen.is_given_back();
    goes_on(screen);
}

#[test]
fn a_stop_from_outside_is_no_different() {
    let mut screen = course();
    screen.signal(Signal::TSTP);
    screen.wait_until_stopped();
    screen.is_given_back();
    goes_on(screen);
}

#[test]
fn a_stop_that_nobody_can_prepare_for_is_repaired_when_it_ends() {
    let mut screen = course();
    screen.signal(Signal::STOP);
    screen.wait_until_stopped();
    screen.as_a_shell_sets_it();
    goes_on(screen);
}

#[test]
fn a_hangup_and_an_interrupt_end_it_in_order() {
    for signal in [Signal::HUP, Signal::INT] {
        let mut screen = course();
        screen.signal(signal);
        assert_eq!(screen.exit_code(), Some(130));
        screen.is_given_back();
    }
}

#[test]
fn without_a_terminal_there_is_nothing_left_to_do() {
    assert_eq!(course().vanish(), Some(130));
}

#[test]
fn keys_arrive_though_reading_was_left_not_to_wait() {
    let mut screen = course();
    screen.without_waiting();
    screen.keys("?");
    screen.wait_for("leave mlsys");
    screen.keys("?q");
    assert_eq!(screen.exit_code(), Some(0));
}
