//! Searching the text and the course, and looking terms up.

use super::Bench;
use super::screens::compare;
use crate::command::Place;
use crate::key::Key;
use crate::message::Message;

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (120, 40)];

#[test]
fn search_marks_counts_and_wraps() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("/lab");
    bench.shows("1 of 2");
    bench.keys("\n");
    bench.shows("2 of 2");
    bench.keys("_");
    bench.shows("1 of 2");
    bench.keys("^");
    bench.shows("2 of 2");
    bench.keys("qqq");
    bench.shows("not found");
    assert!(bench.app.page.is_some(), "letters are typed, not done");
}

#[test]
fn leaving_a_search_keeps_its_place() {
    let mut bench = Bench::in_lesson((80, 12));
    bench.keys("/optimizer does");
    let page = bench.app.page.as_ref().unwrap();
    let there = page.scroll;
    bench.keys("\u{1b}");
    assert_eq!(bench.app.place(), Place::Text);
    assert_eq!(bench.app.page.as_ref().unwrap().scroll, there);
    let before = bench.app.page.as_ref().unwrap().marked;
    bench.keys("n");
    assert_ne!(bench.app.page.as_ref().unwrap().marked, before);
    bench.keys("/\n");
    bench.shows("optimizer does");
}

#[test]
fn a_failed_search_returns_to_its_start() {
    let mut bench = Bench::in_lesson((80, 12));
    bench.keys("_____");
    let began = bench.app.page.as_ref().unwrap().scroll;
    bench.keys("/some text");
    assert_eq!(bench.app.page.as_ref().unwrap().scroll, 0, "it goes round");
    bench.keys("zzz");
    assert_eq!(bench.app.page.as_ref().unwrap().scroll, began);
}

#[test]
fn lessons_filter_by_objectives() {
    let mut bench = Bench::new((120, 40));
    bench.keys("/loss");
    bench.shows("1 of 1 lessons");
    bench.shows("A small lesson");
    bench.keys("q");
    bench.shows("no lesson has these words");
    bench.hides("min  A small");
    bench.keys("\n");
    bench.shows("no lesson has these words");
    bench.app.update(Message::Key(Key::Backspace));
    bench.keys("\n");
    assert!(bench.app.page.is_some() && bench.app.overlay.is_none());
}

#[test]
fn the_glossary_starts_with_terms_on_screen() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("K");
    bench.shows("terms on the screen come first");
    bench.shows("here");
    bench.keys("ridge");
    bench.shows("Peak arithmetic rate over memory bandwidth");
    bench.keys("\n");
    bench.shows("see also");
    bench.shows("source: Williams");
    bench.keys("\n");
    bench.shows("A bound on speed");
    bench.keys("\u{1b}\u{1b}");
    bench.shows("ridge");
    bench.keys("\u{1b}");
    assert!(bench.app.overlay.is_none() && bench.app.page.is_some());
}

#[test]
fn related_terms_scroll_into_view() {
    let mut bench = Bench::in_lesson((40, 12));
    bench.keys("Kgraph\n");
    bench.hides("topological order");
    bench.keys("__");
    bench.shows("tensor");
    bench.keys("^^");
    bench.shows("computation graph");
}

#[test]
fn the_lab_names_terms_too() {
    let mut bench = Bench::in_lesson((80, 24));
    bench.keys("\tK");
    bench.shows("learning rate");
    bench.shows("here");
}

#[test]
fn reading_looks_as_it_did() {
    for size in SIZES {
        let name = |page: &str| format!("{page}-{}x{}", size.0, size.1);
        let mut bench = Bench::in_lesson(size);
        bench.keys("/par");
        compare(&name("search"), &bench.buffer());
        bench.keys("\u{1b}K");
        compare(&name("glossary"), &bench.buffer());
        bench.keys("kv c\n");
        compare(&name("term"), &bench.buffer());
    }
}
