//! Reading, answering, searching, the palette, the help, and the reasons why a command cannot be done.

use std::sync::Arc;

use mlsys_lesson::Event;

use super::{Bench, asked, read};
use crate::command::{Command, TABLE};
use crate::document;
use crate::key::Key;
use crate::message::Effect;
use crate::palette::{Item, Palette, Target};
use crate::state::Overlay;
use crate::view::text_size;

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (120, 40)];

#[test]
fn the_first_frame_needs_no_device() {
    Bench::new((120, 40)).follow(&[
        ("", "A small lesson | looking for devices | enter open"),
        ("d", "still looking for devices"),
    ]);
}

#[test]
fn lessons_reopen_as_left() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[("", "Some text to read"), ("nn\u{1b}", "begun, 0 of 2 questions right")]);
    bench.keys("\n");
    assert!(bench.page().marked_block().is_some_and(|block| block.as_lab().is_some()));
}

#[test]
fn n_shows_a_task_before_passing_it() {
    let mut bench = Bench::in_lesson((40, 8));
    let first = bench.page().marked;
    bench.hides("Which accuracy?");
    while !bench.page().arrived {
        bench.keys("n");
        assert_eq!(bench.page().marked, first);
    }
    bench.shows("Which accuracy?");
    while bench.page().marked == first && !bench.page().ended {
        bench.keys("n");
    }
    assert_ne!(bench.page().marked, first);
    // The first one is not passed over where it is in view from the beginning, unless it is done.
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[("n", "→ PREDICT"), ("n", "→ LAB run")]);
    let mut bench = Bench::in_lesson((120, 40));
    bench.follow(&[("\n0.9\nn", "→ LAB run")]);
}

#[test]
fn after_the_last_task_n_tells_what_is_left_and_goes_there_or_to_the_next_lesson() {
    let end =
        "end of the lesson: 0 of 2 questions right, 0 of 1 predictions made, 0 of 2 checks hold";
    let mut bench = Bench::in_lesson((120, 16));
    let to_the_end = "n".repeat(30);
    let mut presses = to_the_end.chars().map(|key| {
        bench.keys(&key.to_string());
        bench.screen().contains("end of the lesson")
    });
    assert!(presses.any(|is_end| is_end));
    bench.follow(&[("", &format!("{end}; n goes to what is open | run.parameters == 1218"))]);
    bench.follow(&[("n", "→ PREDICT"), ("n", "→ LAB run")]);
    // With nothing open it is the way to the next lesson, here there is none.
    const DONE: &str = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"B\"\nminutes = 1\n+++\n\
        ```{question} q\ntype = \"numeric\"\nprompt = \"?\"\nanswer = 7\n```\n";
    let (mut bench, _) = Bench::opening((120, 16), DONE);
    bench.follow(&[("\n7\nn", "1 of 1 questions right; this was the last lesson")]);
    let second =
        Arc::new(read("c.md", &DONE.replace("a/b", "a/c").replace("\"B\"", "\"C\"")).into());
    bench.app.course.lessons = vec![Arc::new(read("b.md", DONE).into()), second];
    bench.follow(&[("pn", "n opens the next lesson, C"), ("n", " mlsys  C ")]);
}

#[test]
fn answers_get_feedback_and_hints() {
    Bench::in_lesson((120, 60)).follow(&[
        ("nnnn\n1152\n", "Biases are parameters too. | no: Count each layer."),
        ("h", "hint 1 of 2: Count each layer. | no: Add the biases."),
        ("hh", "no more hints"),
        ("\n\u{1b}\n", "does nothing"),
        // The field opens with what was answered, which the first letter replaces.
        ("2*32+32 + 32*32+32 + 32*2+2\n", "right: 2*32+32"),
    ]);
    // A right answer counts, whatever is tried after it.
    Bench::in_lesson((120, 60)).follow(&[
        ("nnnn\n1218\n", "right: 1218"),
        ("\n1152\n", "wrong: 1152 | right and counts: 1218 | no: not yet"),
        ("\n7\n", "wrong: 7 | right and counts: 1218"),
        ("\n1218\n", "right: 1218 | no: and counts"),
    ]);
    let mut bench = Bench::in_lesson((120, 60));
    let effects = bench.keys("nnnn\n1218\n");
    let right = asked!(effects, Effect::Save(Event::AnswerGiven { right: true, points: 2, .. }));
    assert!(right, "{effects:?}");
    // What is no answer stays in the field.
    Bench::in_lesson((120, 60)).follow(&[
        ("nnnn\ntwelve\n", "> twelve | write a number | does no: Save"),
        ("\u{1b}", "no: > twelve"),
    ]);
}

#[test]
fn what_was_typed_survives_leaving_the_field_and_the_lesson() {
    Bench::in_lesson((120, 60)).follow(&[
        ("nnnn\n12\u{1b}", "not given yet: 12 | no: > 12"),
        ("\u{1b}", "no: not given yet"),
        ("\n", "not given yet: 12"),
        ("\n18\n", "right: 1218 | no: not given yet"),
        // An answer that was only looked at is no draft.
        ("\n\u{1b}", "no: not given yet"),
    ]);
}

#[test]
fn the_next_picture_comes_into_sight() {
    Bench::in_lesson((80, 24)).follow(&[
        ("", "at: text"),
        ("v", "at: lab | loss-curve"),
        ("v", "at: lab | gradient"),
    ]);
}

#[test]
fn enter_takes_the_task_on_the_screen() {
    let mut bench = Bench::in_lesson((80, 14));
    // The first task is answered, then scrolled away.
    bench.keys("n\n0.9\nG");
    let marked = bench.page().marked;
    bench.keys("\n");
    assert_ne!(bench.page().marked, marked);
    let (width, height) = text_size((80, 14));
    let document = document::build(bench.page(), width, &bench.app.screen.look);
    let (start, _) = document.blocks[bench.page().marked.unwrap()];
    assert!((bench.page().scroll..bench.page().scroll + height).contains(&start));
}

#[test]
fn choices_are_answered_by_letter() {
    let mut bench = Bench::in_lesson((120, 60));
    // A question for a number has no options: there a letter is a command.
    bench.follow(&[("nnnnd", "new runs use device"), ("n", "no: new runs use device")]);
    let is_first = bench.screen().contains("a) computes gradients");
    let letters = if is_first { ["b", "a"] } else { ["a", "b"] };
    for (letter, text) in
        letters.into_iter().zip(["The optimizer does that.", "right: computes gradients"])
    {
        bench.follow(&[(&format!("{letter}\n"), text)]);
    }
    bench.follow(&[("a", "no kernel has run here")]);
    bench.follow(&[("\nz\n", "'z' is not one of the letters a to b")]);
}

#[test]
fn help_and_words_leave_no_trace() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("  «trained»");
    let before = bench.screen();
    for (key, text) in [("?", "start, pause or resume the lab"), ("w", "loss-curve: ")] {
        bench.follow(&[(key, text)]);
        bench.keys(key);
        assert_eq!(bench.screen(), before);
    }
}

#[test]
fn commands_are_found_by_some_letters_and_done() {
    Bench::in_lesson((120, 40))
        .follow(&[(":wrds", "describe the pictures in words"), ("\n  «trained»", "loss-curve: ")]);
    // Letters are typed and not obeyed; ctrl-c leaves even from a field.
    Bench::in_lesson((120, 40)).follow(&[
        (":q?dx ", " : q?dx | does nothing"),
        ("\u{1b}", "no:  : q?dx | at: text"),
        (":occupancy\n", "threads_per_block 256"),
        (":a small lesson\n", "Some text to read"),
        ("\u{1b}:launch geo\n", "Launch"),
    ]);
    Bench::in_lesson((120, 40)).follow(&[("\n0.\x03", "does: Quit")]);
}

#[test]
fn refused_commands_change_nothing_and_say_why() {
    Bench::in_lesson((120, 40)).follow(&[
        (":stop", "nothing is running"),
        ("\n", "\n nothing is running | at: palette"),
        ("\u{1b}x", "nothing is running"),
        ("R", "nothing to reset"),
        ("h", "hints belong to questions"),
        ("nnns", "this lab answers at once"),
    ]);
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
fn recorded_runs_are_found_with_everything_else() {
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

#[test]
fn search_marks_counts_and_wraps() {
    Bench::in_lesson((120, 40)).follow(&[
        ("/lab", "1 of 2"),
        ("\n", "2 of 2"),
        ("_", "1 of 2"),
        ("^", "2 of 2"),
        ("qqq", "not found | at: search"),
    ]);
}

#[test]
fn leaving_a_search_keeps_its_place() {
    let mut bench = Bench::in_lesson((80, 12));
    bench.keys("/optimizer does");
    let there = bench.page().scroll;
    bench.follow(&[("\u{1b}", "at: text")]);
    assert_eq!(bench.page().scroll, there);
    let before = bench.page().marked;
    bench.keys("nn");
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
    Bench::new((120, 40)).follow(&[
        ("/loss", "1 of 1 lessons | A small lesson"),
        ("q", "no lesson has these words | no: min  A small"),
        ("\n", "no lesson has these words"),
        ("\x08\n", "at: text"),
    ]);
}

#[test]
fn the_glossary_starts_with_terms_on_screen() {
    Bench::in_lesson((120, 40)).follow(&[
        ("K", "terms on the screen come first | here"),
        ("ridge", "Peak arithmetic rate over memory bandwidth"),
        ("\n", "see also | source: Williams"),
        ("\n", "A bound on speed"),
        ("\u{1b}\u{1b}", "ridge"),
        ("\u{1b}", "at: text"),
    ]);
    // Related terms scroll into view, and the lab names terms, too.
    Bench::in_lesson((40, 12)).follow(&[
        ("Kgraph\n", "no: topological order"),
        ("__", "tensor"),
        ("^^", "computation graph"),
    ]);
    Bench::in_lesson((80, 24)).follow(&[("\tK", "learning rate | here")]);
}

#[test]
fn reading_looks_as_it_did() {
    for size in SIZES {
        let mut bench = Bench::in_lesson(size);
        bench.follow(&[
            ("/par", "looks: search"),
            ("\u{1b}K", "looks: glossary"),
            ("kv c\n", "looks: term"),
        ]);
    }
}

#[test]
fn a_panel_that_waits_for_an_answer_is_shown_after_it() {
    const LESSON: &str = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"B\"\nminutes = 1\n+++\n\
        ```{lab} a\nkind = \"gpu-peak\"\n[[panel]]\nname = \"machines\"\n[[panel]]\nname = \"steps\"\n\
        until = \"q\"\n```\n\n\
        ```{question} q\ntype = \"numeric\"\nprompt = \"?\"\nanswer = 7\n```\n";
    let waits = "steps is shown when question q is answered rightly";
    let (mut bench, _) = Bench::opening((120, 40), LESSON);
    assert_eq!(bench.lab().pictures.panels.len(), 1);
    bench.follow(&[("", waits), ("n\n6\n", waits), ("\n7\n", &format!("no: {waits} | right: 7"))]);
    assert_eq!(bench.lab().pictures.panels.len(), 2);
}

#[test]
fn n_shows_all_text_on_the_way_to_a_task() {
    let lines =
        |from: usize| (from..from + 40).map(|line| format!("Line {line}.\n\n")).collect::<String>();
    let question = |id: &str| {
        format!("```{{question}} {id}\ntype = \"numeric\"\nprompt = \"?\"\nanswer = 7\n```\n\n")
    };
    let front = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"B\"\nminutes = 1\n+++\n";
    let text = [front, &lines(0), &question("q"), &lines(40), &question("r"), &lines(80)].concat();
    for size in [(40, 12), (80, 24), (120, 40)] {
        let (mut bench, _) = Bench::opening(size, &text);
        let mut seen = bench.screen();
        let mut presses = 0;
        while !bench.page().ended {
            bench.keys("n");
            seen += &bench.screen();
            presses += 1;
        }
        // The message at the end goes with the next key.
        bench.keys("j");
        seen += &bench.screen();
        let missed: Vec<usize> =
            (0..120).filter(|line| !seen.contains(&format!("Line {line}."))).collect();
        assert!(missed.is_empty(), "{size:?}: {missed:?}");
        // 240 lines, with one line of each page again on the next.
        let height = usize::from(size.1) - 4;
        assert!(presses <= 240 / height + 10, "{size:?}: {presses}");
    }
    // In a lesson that was begun, the first step goes to the first open task, and passes what was read.
    let (mut bench, _) = Bench::opening((80, 24), &text);
    while !bench.screen().contains("QUESTION q") {
        bench.keys("n");
    }
    bench.keys("n\n7\n\u{1b}");
    bench.app.left_pages.clear();
    let lesson = read("a.md", &text);
    bench.app.open(lesson);
    bench.shows("Line 0.");
    while !bench.screen().contains("QUESTION r") {
        bench.keys("n");
        bench.hides("Line 20.");
    }
}
