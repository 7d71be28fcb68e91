//! Reading, answering, searching, the palette, the help, and the reasons why a command cannot be done.

use mlsys_lesson::Event;

use super::{Bench, asked};
use crate::command::{Command, Place, TABLE};
use crate::key::Key;
use crate::message::Effect;
use crate::palette::{Item, Palette, Target};
use crate::state::Overlay;

#[test]
fn the_first_frame_needs_no_device() {
    let mut bench = Bench::new((120, 40));
    bench.follow(&[("", "A small lesson | looking for devices | enter open")]);
}

#[test]
fn lessons_reopen_as_left() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[("", "Some text to read"), ("n\u{1b}", "begun, 0 of 2 questions right")]);
    bench.keys("\n");
    let page = bench.page();
    assert!(page.marked_block().is_some_and(|block| block.as_lab().is_some()));
}

#[test]
fn n_shows_a_task_before_passing_it() {
    let mut bench = Bench::in_lesson((40, 8));
    let marked = |bench: &Bench| bench.page().marked;
    let first = marked(&bench);
    bench.follow(&[("", "no: Which accuracy?"), ("n", "Which accuracy?")]);
    assert_eq!(marked(&bench), first);
    bench.keys("n");
    assert_ne!(marked(&bench), first);
}

#[test]
fn answers_get_feedback_and_hints() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.follow(&[
        ("nnn\n1152\n", "Biases are parameters too. | no: Count each layer."),
        ("h", "hint 1 of 2: Count each layer. | no: Add the biases."),
        ("hh", "no more hints"),
    ]);
    let effects = bench.keys("\n\u{1b}\n");
    assert!(effects.is_empty());
    // The field opens with what was answered: it is taken away before the new answer.
    bench.keys("\x08\x08\x08\x08");
    let effects = bench.keys("2*32+32 + 32*32+32 + 32*2+2\n");
    let right = asked!(effects, Effect::Save(Event::AnswerGiven { right: true, points: 2, .. }));
    assert!(right, "{effects:?}");
    bench.shows("right: 2*32+32");
}

#[test]
fn invalid_answers_stay_in_the_field() {
    let mut bench = Bench::in_lesson((120, 60));
    let effects = bench.keys("nnn\ntwelve\n");
    let saved = asked!(effects, Effect::Save(_));
    assert!(!saved, "{effects:?}");
    bench.follow(&[("", "> twelve | write a number"), ("\u{1b}", "no: > twelve")]);
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
    bench.follow(&[
        ("", "right: computes gradients"),
        ("\nz\n", "'z' is not one of the letters a to b"),
    ]);
}

#[test]
fn help_shows_every_command_and_leaves_no_trace() {
    let mut bench = Bench::in_lesson((120, 40));
    let before = bench.screen();
    bench.follow(&[("?", "start the lab, pause it, go on")]);
    bench.keys("?");
    assert_eq!(bench.screen(), before);
}

#[test]
fn pictures_can_be_had_in_words() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("  ");
    bench.train(1.0);
    let drawn = bench.screen();
    bench.follow(&[("w", "loss-curve: ")]);
    bench.keys("w");
    assert_eq!(bench.screen(), drawn);
}

#[test]
fn ctrl_c_leaves_even_from_a_field() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("\n0.");
    let message = crate::message::Message::Key(Key::Ctrl('c'));
    let effects = bench.app.update(message);
    assert!(asked!(effects, Effect::Quit));
}

#[test]
fn a_command_is_found_by_some_letters_and_done() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[(":wrds", "say the pictures in words")]);
    bench.keys("\n  ");
    bench.train(1.0);
    bench.shows("loss-curve: ");
}

#[test]
fn letters_are_typed_and_not_obeyed() {
    let mut bench = Bench::in_lesson((120, 40));
    let effects = bench.keys(":q?dx ");
    assert!(effects.is_empty(), "{effects:?}");
    bench.follow(&[("", " : q?dx"), ("\u{1b}", "no:  : q?dx")]);
    assert!(bench.app.page.is_some());
}

#[test]
fn the_palette_opens_labs_and_lessons() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[(":occupancy\n", "threads_per_block 256")]);
    assert_eq!(bench.page().lesson.front.id.as_str(), "labs/occupancy");
    bench.follow(&[(":a small lesson\n", "Some text to read"), ("\u{1b}:launch geo\n", "Launch")]);
}

#[test]
fn unavailable_commands_say_why() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[(":stop", "nothing is running")]);
    bench.keys("\n");
    assert!(bench.app.overlay.is_some());
    assert_eq!(bench.app.screen.notice.as_deref(), Some("nothing is running"));
}

#[test]
fn what_was_used_last_stands_first() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys(":words\n:full\n:");
    let Some(Overlay::Palette(palette)) = &bench.app.overlay else { panic!("the palette is open") };
    let targets: Vec<_> = palette.items.iter().take(2).map(|item| item.target.clone()).collect();
    let expected = [Command::Tempo, Command::Words].map(Target::Command);
    assert_eq!(targets, expected);
    bench.keys("\x0e\n:");
    let Some(Overlay::Palette(palette)) = &bench.app.overlay else { panic!("the palette is open") };
    assert_eq!(palette.item().unwrap().target, Target::Command(Command::Words));
}

#[test]
fn recorded_runs_are_found_beside_everything_else() {
    let mut bench = Bench::in_lesson((120, 40));
    let run = Target::Run("20260101-train-7".to_owned());
    bench.app.archive.items = vec![Item::new(run, "20260101-train-7", "diverged at step 12")];
    bench.follow(&[(":diverged 12", "20260101-train-7")]);
}

#[test]
fn ten_thousand_entries_are_searched() {
    let items: Vec<Item> = (0..10_000)
        .map(|n| {
            let name = format!("run 2026-{n:05} of the training loop");
            Item::new(Target::Run(n.to_string()), &name, "train on spiral, adam, finished")
        })
        .collect();
    let mut palette = Palette::new(items, &[]);
    for letter in ["t", "l", "a", "f"] {
        palette.list.entry.paste(letter);
        palette.search();
    }
    assert_eq!(palette.list.found.len(), 10_000);
}

#[test]
fn a_refused_command_changes_nothing_and_says_why() {
    let mut bench = Bench::in_lesson((120, 40));
    for (keys, reason) in [
        ("x", "nothing is running"),
        ("R", "nothing to reset"),
        ("h", "hints belong to questions"),
        ("nns", "this lab answers at once"),
    ] {
        bench.keys(keys);
        bench.shows(reason);
    }
    let mut bench = Bench::new((120, 40));
    bench.follow(&[("d", "still looking for devices")]);
}

#[test]
fn help_lists_everything_at_any_size() {
    for size in [(40, 12), (80, 24), (120, 40)] {
        let mut bench = Bench::in_lesson(size);
        bench.follow(&[("?", "Keys here (text)")]);
        let mut seen = String::new();
        for _ in 0..90 {
            seen.push_str(&bench.screen().replace('\n', " "));
            bench.press(Key::PageDown);
        }
        let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
        for row in TABLE {
            // A sentence may be broken by the edge of the screen: its beginning is enough.
            let words: Vec<_> = row.help.split(' ').take(3).collect();
            assert!(seen.contains(&words.join(" ")), "{} at {size:?}", row.help);
        }
        bench.follow(&[("\u{1b}", "no: Keys here")]);
    }
}

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (120, 40)];

#[test]
fn search_marks_counts_and_wraps() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[
        ("/lab", "1 of 2"),
        ("\n", "2 of 2"),
        ("_", "1 of 2"),
        ("^", "2 of 2"),
        ("qqq", "not found"),
    ]);
    assert!(bench.app.page.is_some(), "letters are typed, not done");
}

#[test]
fn leaving_a_search_keeps_its_place() {
    let mut bench = Bench::in_lesson((80, 12));
    bench.keys("/optimizer does");
    let page = bench.page();
    let there = page.scroll;
    bench.keys("\u{1b}");
    assert_eq!(bench.app.place(), Place::Text);
    assert_eq!(bench.page().scroll, there);
    let before = bench.page().marked;
    bench.keys("n");
    assert_ne!(bench.page().marked, before);
    bench.follow(&[("/\n", "optimizer does")]);
}

#[test]
fn a_failed_search_returns_to_its_start() {
    let mut bench = Bench::in_lesson((80, 12));
    bench.keys("_____");
    let began = bench.page().scroll;
    bench.keys("/some text");
    assert_eq!(bench.page().scroll, 0, "it goes round");
    bench.keys("zzz");
    assert_eq!(bench.page().scroll, began);
}

#[test]
fn lessons_filter_by_objectives() {
    let mut bench = Bench::new((120, 40));
    bench.follow(&[
        ("/loss", "1 of 1 lessons | A small lesson"),
        ("q", "no lesson has these words | no: min  A small"),
        ("\n", "no lesson has these words"),
    ]);
    bench.keys("\x08\n");
    assert!(bench.app.page.is_some() && bench.app.overlay.is_none());
}

#[test]
fn the_glossary_starts_with_terms_on_screen() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[
        ("K", "terms on the screen come first | here"),
        ("ridge", "Peak arithmetic rate over memory bandwidth"),
        ("\n", "see also | source: Williams"),
        ("\n", "A bound on speed"),
        ("\u{1b}\u{1b}", "ridge"),
    ]);
    bench.keys("\u{1b}");
    assert!(bench.app.overlay.is_none() && bench.app.page.is_some());
}

#[test]
fn related_terms_scroll_into_view() {
    let mut bench = Bench::in_lesson((40, 12));
    bench.follow(&[
        ("Kgraph\n", "no: topological order"),
        ("__", "tensor"),
        ("^^", "computation graph"),
    ]);
}

#[test]
fn the_lab_names_terms_too() {
    let mut bench = Bench::in_lesson((80, 24));
    bench.follow(&[("\tK", "learning rate | here")]);
}

#[test]
fn reading_looks_as_it_did() {
    for size in SIZES {
        let mut bench = Bench::in_lesson(size);
        bench.keys("/par");
        bench.compare("search");
        bench.keys("\u{1b}K");
        bench.compare("glossary");
        bench.keys("kv c\n");
        bench.compare("term");
    }
}
