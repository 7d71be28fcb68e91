//! Colours and characters: by the environment, and by what the terminal answers.

use std::time::Duration;

use crate::course;
use crate::screen::Screen;

const QUESTION: &str = "\x1b]11;?";
const WHITE: &str = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";
const FENCE: &str = "\x1b[?62;22c";
/// The light theme's background in the 256 colours, as it is sent.
const LIGHT: &str = "48;5;231m";

#[test]
fn a_light_background_gets_the_light_theme() {
    let mut screen = course((100, 30), "");
    screen.wait_for_bytes(QUESTION);
    assert!(!screen.raw().contains(LIGHT));
    screen.keys(WHITE);
    screen.keys(FENCE);
    screen.wait_for_bytes(LIGHT);
    screen.quit("q");
}

#[test]
fn a_late_answer_in_pieces_types_nothing() {
    let mut screen = course((100, 30), "");
    screen.wait_for_bytes(QUESTION);
    // Longer than an escape that is a key would be waited for: taken for keys, the first piece would leave the course.
    for piece in ["\x1b", "]11;rgb:ff", "ff/ffff/f", "fff\x1b", "\\\x1b", "[?62c"] {
        screen.keys(piece);
        screen.read_until_quiet(Duration::from_millis(120));
    }
    screen.wait_for_bytes(LIGHT);
    screen.wait_for("Five lines");
    assert!(!screen.shown().contains("rgb"));
    screen.quit("q");
}

#[test]
fn the_answer_is_read_before_leaving() {
    let mut screen = Screen::open((100, 30), "");
    screen.wait_for_bytes(QUESTION);
    screen.keys("q");
    screen.keys(WHITE);
    screen.keys(FENCE);
    screen.ends(0);
    assert_eq!(screen.unread(), 0);
}

#[test]
fn no_colour_means_no_colour_and_no_question() {
    let mut screen = Screen::open_in((100, 30), "", &[("NO_COLOR", "1")]);
    screen.wait_for("Five lines");
    screen.keys("\r");
    screen.wait_for("Your guess");
    let raw = screen.raw();
    let coloured: Vec<_> = raw.split("\x1b[").filter(|s| is_colour(s)).collect();
    assert!(coloured.is_empty(), "{coloured:?}");
    assert!(!screen.raw().contains(QUESTION));
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

#[test]
fn no_locale_means_ascii() {
    let mut screen = Screen::open_in((100, 30), "", &[("LANG", "C"), ("TERM", "vt100")]);
    screen.wait_for("Five lines");
    assert!(screen.shown().is_ascii(), "{}", screen.shown());
    screen.quit("q");
}

#[test]
fn requested_theme_skips_the_background_query() {
    let mut screen = Screen::open_in((100, 30), "", &[("MLSYS_THEME", "light")]);
    screen.wait_for("Five lines");
    screen.wait_for_bytes(LIGHT);
    screen.quit("q");
    let screen = course((100, 30), "--theme light");
    assert!(screen.raw().contains(LIGHT) && !screen.raw().contains(QUESTION));
    screen.quit("q");
}

#[test]
fn an_unknown_theme_is_reported_and_the_default_used() {
    let mut screen = course((100, 30), "--theme ligth");
    screen.wait_for("there is no theme 'ligth'; did you mean 'light'?");
    screen.quit("q");
}

#[test]
fn a_dumb_terminal_is_refused() {
    let mut screen = Screen::open_in((100, 30), "", &[("TERM", "dumb")]);
    assert_eq!(screen.exit_code(), Some(2));
    let output = screen.raw();
    assert!(output.contains("of type dumb, cannot place text"), "{output}");
    assert!(output.contains("`mlsys --plain`") && !output.contains('\u{1b}'), "{output}");
}

#[test]
fn plain_mode_sends_no_control_sequences() {
    let mut screen = Screen::open_in((100, 30), "--plain", &[("TERM", "dumb")]);
    screen.wait_for_bytes("Type open and a lesson's number.");
    screen.wait_for_bytes("\n> ");
    screen.keys("open 1\n");
    screen.wait_for_bytes("Prediction 1 of 2 (a number).");
    screen.keys("quit\n");
    assert_eq!(screen.exit_code(), Some(0));
    assert!(!screen.raw().contains('\u{1b}'));
    assert!(!screen.is_raw());
}
