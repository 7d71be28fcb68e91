//! Reading, answering, hints, help and leaving.

use super::Bench;
use crate::message::Effect;
use mlsys_lesson::Event;

#[test]
fn the_first_frame_needs_no_device() {
    let bench = Bench::new((120, 40));
    bench.shows("A small lesson");
    bench.shows("looking for devices");
    bench.shows("enter open");
}

#[test]
fn lessons_reopen_as_left() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.shows("Some text to read");
    bench.keys("n");
    bench.keys("\u{1b}");
    bench.shows("begun, 0 of 2 questions right");
    bench.keys("\n");
    let page = bench.app.page.as_ref().unwrap();
    assert!(page.marked_block().is_some_and(|block| block.as_lab().is_some()));
}

#[test]
fn n_shows_a_task_before_passing_it() {
    let mut bench = Bench::in_lesson((40, 8));
    let marked = |bench: &Bench| bench.app.page.as_ref().unwrap().marked;
    let first = marked(&bench);
    bench.hides("Which accuracy?");
    bench.keys("n");
    bench.shows("Which accuracy?");
    assert_eq!(marked(&bench), first);
    bench.keys("n");
    assert_ne!(marked(&bench), first);
}

#[test]
fn answers_get_feedback_and_hints() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("nnn\n1152\n");
    bench.shows("Biases are parameters too.");
    bench.hides("Count each layer.");
    bench.keys("h");
    bench.shows("hint 1 of 2: Count each layer.");
    bench.hides("Add the biases.");
    bench.keys("hh");
    bench.shows("no more hints");
    let effects = bench.keys("\n\u{1b}\n");
    assert!(effects.is_empty());
    // The field opens with what was answered: it is taken away before the new answer.
    for _ in 0..4 {
        bench.app.update(crate::message::Message::Key(crate::key::Key::Backspace));
    }
    let effects = bench.keys("2*32+32 + 32*32+32 + 32*2+2\n");
    let right = effects.iter().any(|effect| {
        matches!(effect, Effect::Save(Event::AnswerGiven { right: true, points: 2, .. }))
    });
    assert!(right, "{effects:?}");
    bench.shows("right: 2*32+32");
}

#[test]
fn invalid_answers_stay_in_the_field() {
    let mut bench = Bench::in_lesson((120, 60));
    let effects = bench.keys("nnn\ntwelve\n");
    let saved = effects.iter().any(|effect| matches!(effect, Effect::Save(_)));
    assert!(!saved, "{effects:?}");
    bench.shows("> twelve");
    bench.shows("write a number");
    bench.keys("\u{1b}");
    bench.hides("> twelve");
}

#[test]
fn choices_are_answered_by_letter() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("nnnn");
    let screen = bench.screen();
    let letter = if screen.contains("a) computes gradients") { "a" } else { "b" };
    let other = if letter == "a" { "b" } else { "a" };
    bench.keys(&format!("\n{other}\n"));
    bench.shows("The optimizer does that.");
    bench.keys(&format!("\n{letter}\n"));
    bench.shows("right: computes gradients");
    bench.keys("\nz\n");
    bench.shows("'z' is not one of the letters a to b");
}

#[test]
fn help_shows_every_command_and_leaves_no_trace() {
    let mut bench = Bench::in_lesson((120, 40));
    let before = bench.screen();
    bench.keys("?");
    bench.shows("start the lab, pause it, go on");
    bench.keys("?");
    assert_eq!(bench.screen(), before);
}

#[test]
fn pictures_can_be_had_in_words() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("  ");
    bench.train(1.0);
    let drawn = bench.screen();
    bench.keys("w");
    bench.shows("loss-curve: ");
    bench.keys("w");
    assert_eq!(bench.screen(), drawn);
}

#[test]
fn ctrl_c_leaves_even_from_a_field() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("\n0.");
    let message = crate::message::Message::Key(crate::key::Key::Ctrl('c'));
    let effects = bench.app.update(message);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Quit)));
}
