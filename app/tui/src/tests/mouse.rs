//! The mouse, where the screen says things are.

use mlsys_lab::control::Command;

use super::{Bench, asked};
use crate::command::Place;
use crate::message::{Effect, Gesture, Message, Mouse};
use crate::state::Overlay;

/// Does something with the mouse where a text stands, at its first letter.
#[track_caller]
fn on(bench: &mut Bench, gesture: Gesture, text: &str) -> Vec<Effect> {
    let screen = bench.screen();
    let found = screen.lines().enumerate().find_map(|(row, line)| {
        let at = line.find(text)?;
        let column = unicode_width::UnicodeWidthStr::width(&line[..at]);
        Some((column as u16, row as u16))
    });
    let (column, row) = found.unwrap_or_else(|| panic!("{text:?} is not on the screen:\n{screen}"));
    bench.send(Message::Mouse { gesture, column, row })
}

#[track_caller]
fn click(bench: &mut Bench, text: &str) -> Vec<Effect> {
    on(bench, Gesture::Press, text)
}

fn with_mouse(size: (u16, u16)) -> Bench {
    let mut bench = Bench::in_lesson(size);
    let effects = bench.keys("M");
    assert!(matches!(effects.as_slice(), [Effect::Mouse(Mouse::On)]), "{effects:?}");
    bench
}

#[test]
fn mouse_capture_is_off_by_default() {
    let mut bench = Bench::in_lesson((120, 40));
    let before = bench.screen();
    click(&mut bench, "learning_rate");
    assert_eq!(bench.screen(), before);
    bench.follow(&[("M", "the mouse chooses and scrolls")]);
    let effects = bench.keys("M");
    assert!(matches!(effects.as_slice(), [Effect::Mouse(Mouse::Off)]), "{effects:?}");
    bench.shows("it selects text");
}

#[test]
fn clicks_choose_knobs_labs_and_pictures() {
    let mut bench = with_mouse((120, 40));
    click(&mut bench, "width 32");
    assert_eq!(bench.app.place(), Place::Lab);
    bench.follow(&[(">", "width 64")]);
    click(&mut bench, " blocks ");
    bench.shows("threads_per_block");
    click(&mut bench, " run ");
    click(&mut bench, "gradient-flow");
    assert_eq!(bench.app.place(), Place::Picture);
    let lab = bench.lab();
    let chosen = &lab.schema.panels[lab.chosen().unwrap()];
    assert_eq!(chosen.name, "gradient-flow");
}

#[test]
fn tabs_stand_where_they_can_be_clicked() {
    let mut bench = with_mouse((80, 24));
    for (tab, place) in
        [(" lab: run ", Place::Lab), (" picture ", Place::Picture), (" text ", Place::Text)]
    {
        click(&mut bench, tab.trim());
        assert_eq!(bench.app.place(), place, "{tab}");
    }
}

#[test]
fn a_click_marks_and_a_click_on_the_marked_opens() {
    let mut bench = with_mouse((120, 60));
    click(&mut bench, "QUESTION q1");
    assert!(bench.page().entry.is_none());
    click(&mut bench, "QUESTION q1");
    assert!(bench.page().entry.is_some());
    bench.keys("12");
    click(&mut bench, "width 32");
    bench.follow(&[("", "enter keeps what you have typed | > 12")]);
}

#[test]
fn an_option_is_answered_by_a_click_and_enter() {
    let mut bench = with_mouse((120, 60));
    click(&mut bench, "computes gradients");
    bench.follow(&[("\n", "right: computes gradients")]);
}

#[test]
fn the_wheel_scrolls_what_is_under_it() {
    let mut bench = with_mouse((120, 16));
    let top = bench.page().scroll;
    on(&mut bench, Gesture::WheelDown, "│");
    assert_eq!(bench.page().scroll, top + 3);
    on(&mut bench, Gesture::WheelUp, "│");
    assert_eq!(bench.page().scroll, top);
    bench.keys("?");
    on(&mut bench, Gesture::WheelDown, "Keys here");
    assert_eq!(bench.app.overlay, Some(Overlay::Help { scroll: 1 }));
}

#[test]
fn clicks_move_the_chart_cursor() {
    let mut bench = with_mouse((120, 40));
    bench.keys("  ");
    bench.train(1.0);
    let row =
        bench.screen().lines().position(|line| line.contains("loss-curve")).unwrap() as u16 + 4;
    let mut press = |gesture, column| {
        bench.send(Message::Mouse { gesture, column, row });
        bench.lab().pictures.cursor
    };
    let left = press(Gesture::Press, 70).unwrap();
    let right = press(Gesture::Drag, 110).unwrap();
    assert!(left < right && right <= 400, "{left} {right}");
    assert_eq!(bench.app.place(), Place::Picture);
    bench.shows(&format!("at step {right}"));
}

#[test]
fn lists_take_clicks() {
    let mut bench = Bench::new((120, 40));
    bench.keys("M");
    click(&mut bench, "○ A small lesson");
    assert!(bench.app.page.is_some());
    bench.keys(":occ");
    click(&mut bench, "Occupancy");
    bench.shows("threads_per_block 256");
    bench.keys(":");
    bench.send(Message::Mouse { gesture: Gesture::Press, column: 0, row: 30 });
    assert!(bench.app.overlay.is_none());
    bench.keys("P");
    click(&mut bench, "tiny-blocks");
    let effects = click(&mut bench, "tiny-blocks");
    assert!(!effects.is_empty());
    assert!(!asked!(effects, Effect::Order(Command::Stop)));
    bench.shows("threads_per_block 32");
}

#[test]
fn no_place_on_any_screen_makes_the_mouse_fail() {
    for script in ["", "\t", "\t\t", "z", "z:", "?", "P", "y", "w", "K"] {
        for size in [(24, 6), (40, 12), (101, 30)] {
            let mut bench = with_mouse((120, 40));
            bench.keys(script);
            let (width, height) = size;
            bench.send(Message::Resize { width, height });
            for row in (0..height + 2).step_by(3) {
                for column in (0..width + 2).step_by(7) {
                    for gesture in [Gesture::WheelDown, Gesture::Drag, Gesture::Press] {
                        bench.send(Message::Mouse { gesture, column, row });
                    }
                }
            }
            bench.buffer();
        }
    }
}
