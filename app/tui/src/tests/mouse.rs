//! The mouse, where the screen says things are.

use super::Bench;
use crate::command::Place;
use crate::message::{Gesture, Message};
use crate::state::Overlay;

fn with_mouse(size: (u16, u16)) -> Bench {
    let mut bench = Bench::in_lesson(size);
    bench.follow(&[("M", "does: Mouse(On)")]);
    bench
}

#[test]
fn mouse_capture_is_off_by_default() {
    let mut bench = Bench::in_lesson((120, 40));
    let before = bench.screen();
    bench.keys("«click learning_rate»");
    assert_eq!(bench.screen(), before);
    bench.follow(&[
        ("M", "the mouse chooses and scrolls"),
        ("M", "it selects text | does: Mouse(Off)"),
    ]);
}

#[test]
fn clicks_choose_knobs_labs_pictures_and_tabs() {
    let mut bench = with_mouse((120, 40));
    bench.follow(&[
        ("«click width 32»", "at: lab"),
        (">", "width 64"),
        ("«click  blocks »", "threads_per_block"),
        ("«click  run »«click gradient-flow»", "at: picture"),
    ]);
    let lab = bench.lab();
    assert_eq!(lab.schema.panels[lab.chosen().unwrap()].name, "gradient-flow");
    with_mouse((80, 24)).follow(&[
        ("«click lab: run»", "at: lab"),
        ("«click picture»", "at: picture"),
        ("«click text»", "at: text"),
    ]);
}

#[test]
fn a_click_marks_and_a_click_on_the_marked_opens() {
    let mut bench = with_mouse((120, 60));
    bench.keys("«click QUESTION q1»");
    assert!(bench.page().entry.is_none());
    bench.keys("«click QUESTION q1»");
    assert!(bench.page().entry.is_some());
    bench.follow(&[("12«click width 32»", "enter keeps what you have typed | > 12")]);
    // An option is answered by a click and enter.
    let option = [("«click computes gradients»\n", "right: computes gradients")];
    with_mouse((120, 60)).follow(&option);
}

#[test]
fn the_wheel_scrolls_what_is_under_it() {
    let mut bench = with_mouse((120, 16));
    let top = bench.page().scroll;
    bench.keys("«wheel-down │»");
    assert_eq!(bench.page().scroll, top + 3);
    bench.keys("«wheel-up │»");
    assert_eq!(bench.page().scroll, top);
    bench.keys("?«wheel-down Keys here»");
    assert_eq!(bench.app.overlay, Some(Overlay::Help { scroll: 1 }));
}

#[test]
fn clicks_move_the_chart_cursor() {
    let mut bench = with_mouse((120, 40));
    bench.keys("  ");
    bench.train(1.0);
    let row = bench.screen().lines().position(|line| line.contains("loss-curve"));
    let row = row.unwrap() as u16 + 4;
    let mut press = |gesture, column| {
        bench.send(Message::Mouse { gesture, column, row });
        bench.lab().pictures.cursor
    };
    let left = press(Gesture::Press, 70).unwrap();
    let right = press(Gesture::Drag, 110).unwrap();
    assert!(left < right && right <= 400, "{left} {right}");
    assert_eq!(bench.app.place(), Place::Picture);
    bench.shows(&format!("step {right}"));
}

#[test]
fn lists_take_clicks() {
    let mut bench = Bench::new((120, 40));
    bench.follow(&[
        ("M«click ○ A small lesson»", "at: text"),
        (":occ«click Occupancy»", "threads_per_block 256"),
    ]);
    bench.keys(":");
    bench.send(Message::Mouse { gesture: Gesture::Press, column: 0, row: 30 });
    bench.follow(&[
        ("", "at: text"),
        ("P«click tiny-blocks»", "at: presets"),
        ("«click tiny-blocks»", "threads_per_block 32 | does: Start | does no: Order(Stop)"),
    ]);
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
