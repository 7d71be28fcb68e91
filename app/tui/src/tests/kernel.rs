//! Writing a kernel: typing, errors, tests, what is kept, and what a lab does with it.
use mlsys_lab::report::Report;
use mlsys_lesson::Event;
use mlsys_run::storage::Draft;

use super::{Bench, asked, started};
use crate::editor::DraftOrigin;
use crate::key::{Direction, Key};
use crate::message::{Effect, Message};

const LESSON: &str = include_str!("kernel.md");

fn bench(size: (u16, u16)) -> Bench {
    let (mut bench, _) = Bench::opening(size, LESSON);
    // On a small screen the lab before it comes into view first.
    while bench.page().marked_question().is_none() {
        bench.keys("n");
    }
    bench
}

fn press(bench: &mut Bench, keys: &[Key]) -> Vec<Effect> {
    let keys = keys.iter();
    keys.flat_map(|key| bench.send(Message::Key(*key))).collect()
}

fn text(bench: &Bench) -> String {
    let editor = bench.app.editor().expect("an editor is open");
    editor.text.as_str().to_owned()
}

/// The text that was to be kept last.
fn kept(effects: &[Effect]) -> Option<&str> {
    asked!(effects, Effect::KeepDraft(_, text) => text.as_str()).last()
}

/// Presses ctrl-s, does the tests that it asks for, and tells the app.
fn test(bench: &mut Bench) -> Vec<Effect> {
    let effects = press(bench, &[Key::Ctrl('s')]);
    let mut after = Vec::new();
    for effect in effects {
        if let Effect::TestsJob(tried) = effect {
            bench.shows("testing");
            let tried = tried.run(mlsys_registry::built_in()).unwrap();
            after.extend(bench.send(Message::TestsReport(Box::new(tried))));
        }
    }
    after
}

#[test]
fn a_kernel_is_written_mended_tested_and_right() {
    let mut bench = bench((80, 24));
    let effects = bench.keys("\n");
    assert!(matches!(&effects[..], [Effect::OpenDraft(draft)] if draft.name == "reverse"));
    bench.follow(&[("", "KERNEL reverse | not tested")]);

    // The starter fails both tests, and each says how.
    let effects = test(&mut bench);
    assert!(matches!(
        &effects[..],
        [Effect::Save(Event::AnswerGiven { right: false, points: 0, .. })]
    ));
    bench.follow(&[(
        "",
        "two blocks of four: B[0] is 0, and should be 7 | seven elements:  | not yet",
    )]);

    // A letter too many is told at its line, and nothing is run.
    let effects = press(&mut bench, &[Key::Down, Key::End, Key::Char('x')]);
    assert!(kept(&effects).unwrap().contains("threadIdx.x;x"));
    bench.follow(&[("", "error | ✗")]);
    assert!(bench.keys("\x13").is_empty());
    bench.shows("it cannot run yet");
    press(&mut bench, &[Key::Backspace]);
    bench.shows("not yet");

    // The mistake that is known gets what is said to it.
    press(&mut bench, &[Key::Down, Key::Home]);
    bench.keys(&">".repeat("if (i < n) B[".len()));
    bench.follow(&[("n - 1 - ", "changed since the tests")]);
    test(&mut bench);
    bench.shows("Every block computes the same elements");
    bench.hides("`i`");

    press(&mut bench, &[Key::Up, Key::Home]);
    bench.keys(&">".repeat("int i = ".len()));
    bench.send(Message::Paste("blockDim.x * blockIdx.x + ".to_owned()));
    let effects = test(&mut bench);
    assert!(effects.iter().any(|effect| matches!(
        effect,
        Effect::Save(Event::AnswerGiven { right: true, points: 3, .. })
    )));
    bench.follow(&[
        ("", "✓ right | (sectors_per_load 1) | no: allowed"),
        // What it began with has made room for the explanation.
        ("\u{1b}", "QUESTION reverse | The index counts through | no: int i = threadIdx.x;"),
    ]);
}

#[test]
fn the_failed_launch_opens_at_the_fault_and_leads_back() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut bench = bench(size);
        bench.keys("\n");
        press(&mut bench, &[Key::Ctrl('l')]);
        bench.shows("no kernel has failed here");
        test(&mut bench);
        let written = text(&bench);
        press(&mut bench, &[Key::Ctrl('l')]);
        let page = bench.page();
        let (_, site) = page.fault_site().unwrap();
        let walk = bench.lab().debugger.as_ref().unwrap();
        assert_eq!((walk.clock(), walk.here().block), (site.at.step + 1, site.at.block[0]));
        assert_eq!(walk.here().number() as u32, site.at.thread[0]);
        assert_eq!(walk.last().unwrap().place.line, site.at.line);
        bench.follow(&[
            ("", "looks: kernel-fault"),
            (" ", "a failed launch is shown | L goes back"),
        ]);
        // The walk goes on, and nothing of the page below has changed.
        bench.keys(".");
        bench.keys("L");
        assert_eq!(text(&bench), written);
        assert_eq!(bench.lab().id, "run");
        press(&mut bench, &[Key::Ctrl('l'), Key::Esc]);
        assert_eq!((text(&bench), bench.lab().id.as_str()), (written, "run"));
    }
}

#[test]
fn editor_undo_and_redo_reach_both_ends() {
    let mut bench = bench((80, 24));
    bench.keys("\n");
    let starter = text(&bench);
    bench.keys("int a;\n  b");
    press(&mut bench, &[Key::Ctrl('x'), Key::Ctrl('v'), Key::Backspace]);
    let last = text(&bench);
    assert_ne!(last, starter);
    bench.follow(&[(&"\x15".repeat(40), "nothing to take back")]);
    assert_eq!(text(&bench), starter);
    bench.keys(&"\x12".repeat(40));
    assert_eq!(text(&bench), last);
    // Beginning again is one change like any other.
    let effects = bench.keys("\x02");
    assert_eq!(kept(&effects), Some(starter.as_str()));
    bench.keys("\x15");
    assert_eq!(text(&bench), last);
}

#[test]
fn lines_indent_automatically() {
    let mut bench = bench((80, 24));
    bench.keys("\n");
    press(&mut bench, &[Key::Ctrl(' ')]);
    for _ in 0..9 {
        press(&mut bench, &[Key::PageDown]);
    }
    press(&mut bench, &[Key::Delete]);
    bench.keys("void f() {\nif (a) {\nb;\n}\nc;\n}");
    assert_eq!(text(&bench), "void f() {\n  if (a) {\n    b;\n  }\n  c;\n}");
    press(&mut bench, &[Key::Shift(Direction::Up), Key::Tab]);
    assert!(text(&bench).ends_with("\n    c;\n  }"), "{}", text(&bench));
    press(&mut bench, &[Key::BackTab, Key::BackTab]);
    assert!(text(&bench).ends_with("\nc;\n}"), "{}", text(&bench));
}

#[test]
fn drafts_are_restored_and_followed() {
    let mut bench = bench((120, 40));
    bench.keys("\n");
    let draft = bench.app.editor().unwrap().draft.clone();
    let told = |text: &str, whence| Message::Draft {
        draft: draft.clone(),
        text: Some(text.to_owned()),
        whence,
    };
    bench.app.update(told("__global__ void kept() {}\r\n", DraftOrigin::Kept));
    assert_eq!(text(&bench), "__global__ void kept() {}\n");
    bench.follow(&[("\x15", "nothing to take back")]);
    bench.app.update(told("__global__ void saved() {}\n", DraftOrigin::Saved));
    assert_eq!(text(&bench), "__global__ void saved() {}\n");
    bench.keys("\x15");
    assert_eq!(text(&bench), "__global__ void kept() {}\n");
    // Of another text nothing is taken.
    let other = Draft { name: "other".to_owned(), ..draft.clone() };
    let message =
        Message::Draft { draft: other, text: Some("x".to_owned()), whence: DraftOrigin::Saved };
    bench.app.update(message);
    assert_eq!(text(&bench), "__global__ void kept() {}\n");
}

#[test]
fn errors_keep_the_last_picture() {
    let mut bench = bench((120, 40));
    let effects = bench.keys("p\tt");
    assert!(
        matches!(&effects[..], [.., Effect::OpenDraft(draft)] if draft.name == "run.vector-add")
    );
    bench.end(mlsys_run::outcome::Outcome::Finished);
    bench.shows("KERNEL vector-add");
    let source = text(&bench);
    let lines = source.lines().filter(|line| !line.contains("if ("));
    let without: String = lines.map(|line| format!("{line}\n")).collect();
    assert_ne!(without, source, "the example has a guard");
    let draft = bench.app.editor().unwrap().draft.clone();
    let saved = |text: &str| Message::Draft {
        draft: draft.clone(),
        text: Some(text.to_owned()),
        whence: DraftOrigin::Saved,
    };
    let effects = bench.send(saved(&without));
    let start = started(&effects).unwrap();
    assert_eq!(start.params.text("source").unwrap(), without);
    assert_eq!(start.params.text("example").unwrap(), "vector-add");
    let lab = bench.lab();
    assert!(lab.run.explored, "a changed kernel is exploration");
    bench.end(mlsys_run::outcome::Outcome::Finished);
    let effects = bench.send(saved("__global__ void broken( {"));
    assert!(effects.is_empty(), "{effects:?}");
    bench.shows("error");
    // Reset brings the lesson's own kernel back.
    press(&mut bench, &[Key::Esc, Key::Char('R')]);
    let lab = bench.lab();
    assert!(lab.own_kernel.is_none());
}

#[test]
fn odd_texts_are_shown_and_never_break_anything() {
    for size in [(40, 12), (80, 24), (120, 40), (24, 6)] {
        let mut bench = bench(size);
        bench.keys("\n");
        let binary: Vec<u8> = (0..=255).cycle().take(5000).collect();
        for odd in [
            "\tint\t日本語 = 1;\r\nx\r\u{1b}[31mred\u{7}".to_owned(),
            "e\u{301}\u{200d}👩\u{200d}👩\u{200d}👧 /* ".to_owned(),
            String::from_utf8_lossy(&binary).into_owned(),
            "{".repeat(3000),
            "x".repeat(2000),
        ] {
            bench.send(Message::Paste(odd));
            assert!(!text(&bench).contains(['\u{1b}', '\r']));
            bench.screen();
            for key in [Key::Home, Key::End, Key::Up, Key::PageUp, Key::Left, Key::Delete] {
                press(&mut bench, &[key]);
                bench.screen();
            }
        }
        // What is too long is refused whole and said.
        let before = text(&bench);
        bench.send(Message::Paste("y\n".repeat(mlsys_kernel::MOST_BYTES / 2)));
        assert_eq!(text(&bench), before);
        bench.send(Message::Resize { width: 60, height: 9 });
        bench.screen();
    }
}

#[test]
fn a_kernel_looks_as_it_did() {
    for size in [(40, 12), (80, 24), (120, 40), (200, 60)] {
        let mut bench = bench(size);
        bench.follow(&[("\n", "looks: kernel-written")]);
        press(&mut bench, &[Key::Down, Key::End, Key::Char('x')]);
        bench.follow(&[("", "looks: kernel-error")]);
        bench.keys("\x15");
        test(&mut bench);
        bench.follow(&[("", "looks: kernel-tested")]);
    }
}

#[test]
fn a_changed_kernel_costs_more_or_less_than_before() {
    let mut bench = bench((120, 40));
    bench.keys("p\tt");
    let mut run = |cycles: i64| {
        let names =
            ["warp_instructions", "global_load_sectors", "global_store_sectors", "bank_replays"];
        let mut reports: Vec<Report> =
            names.map(|name| Report::Scalar { name: name.into(), value: 7_i64.into() }).into();
        reports.push(Report::Scalar { name: "modelled_cycles".into(), value: cycles.into() });
        reports.push(Report::Scalar { name: "limited_by".into(), value: "latency".into() });
        reports.push(Report::Scalar { name: "correct".into(), value: true.into() });
        bench.report(reports, 10);
        bench.end(mlsys_run::outcome::Outcome::Finished);
        // The left side, as one line.
        let screen = bench.screen();
        let left = screen.lines().map(|line| line.chars().take(54).collect::<String>());
        let line = left.collect::<Vec<_>>().join(" ");
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(line.contains(&format!("{cycles} cycles, limited by latency")), "{line}");
        press(&mut bench, &[Key::Char('\n'), Key::Ctrl('s')]);
        line
    };
    assert!(!run(500).contains("before"));
    assert!(run(400).contains("100 fewer than before, the best so far"));
    assert!(run(450).contains("50 more than before, best 400"));
}
