//! The palette, the help page and the reasons why a command cannot be done.

use super::Bench;
use crate::command::{Command, TABLE};
use crate::key::Key;
use crate::message::{Effect, Message};
use crate::palette::{Item, Palette, Target};
use crate::state::overlay::Overlay;

fn press(bench: &mut Bench, key: Key) -> Vec<Effect> {
    bench.app.update(Message::Key(key))
}

#[test]
fn a_command_is_found_by_some_letters_and_done() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys(":wrds");
    bench.shows("say the pictures in words");
    bench.keys("\n");
    bench.keys("  ");
    bench.train(1.0);
    bench.shows("loss-curve: ");
}

#[test]
fn letters_are_typed_and_not_obeyed() {
    let mut bench = Bench::in_lesson((120, 40));
    let effects = bench.keys(":q?dx ");
    assert!(effects.is_empty(), "{effects:?}");
    bench.shows(" : q?dx");
    bench.keys("\u{1b}");
    bench.hides(" : q?dx");
    assert!(bench.app.page.is_some());
}

#[test]
fn the_palette_opens_labs_and_lessons() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys(":occupancy\n");
    bench.shows("threads_per_block 256");
    assert_eq!(bench.app.page.as_ref().unwrap().lesson.front.id.as_str(), "labs/occupancy");
    bench.keys(":a small lesson\n");
    bench.shows("Some text to read");
    bench.keys("\u{1b}:launch geo\n");
    bench.shows("Launch");
}

#[test]
fn unavailable_commands_say_why() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys(":stop");
    bench.shows("nothing is running");
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
    press(&mut bench, Key::Ctrl('n'));
    bench.keys("\n");
    bench.keys(":");
    let Some(Overlay::Palette(palette)) = &bench.app.overlay else { panic!("the palette is open") };
    assert_eq!(palette.item().unwrap().target, Target::Command(Command::Words));
}

#[test]
fn recorded_runs_are_found_beside_everything_else() {
    let mut bench = Bench::in_lesson((120, 40));
    let run = Target::Run("20260101-train-7".to_owned());
    bench.app.archive.items = vec![Item::new(run, "20260101-train-7", "diverged at step 12")];
    bench.keys(":diverged 12");
    bench.shows("20260101-train-7");
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
    palette.key(Key::Char('t'));
    for key in [Key::Char('l'), Key::Char('s'), Key::Backspace, Key::Char('a'), Key::Char('f')] {
        palette.key(key);
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
    bench.keys("d");
    bench.shows("still looking for devices");
}

#[test]
fn help_lists_everything_at_any_size() {
    for size in [(40, 12), (80, 24), (120, 40)] {
        let mut bench = Bench::in_lesson(size);
        bench.keys("?");
        bench.shows("Keys here (text)");
        let mut seen = String::new();
        for _ in 0..90 {
            seen.push_str(&bench.screen().replace('\n', " "));
            press(&mut bench, Key::PageDown);
        }
        let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
        for row in TABLE {
            // A sentence may be broken by the edge of the screen: its beginning is enough.
            let words: Vec<_> = row.help.split(' ').take(3).collect();
            assert!(seen.contains(&words.join(" ")), "{} at {size:?}", row.help);
        }
        bench.keys("\u{1b}");
        bench.hides("Keys here");
    }
}
