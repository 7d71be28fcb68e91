//! Kernels that are stepped through by keys.

use mlsys_harness::snapshot;
use mlsys_kernel::{Direction, Goal};
use mlsys_lab::control::Limits;
use mlsys_run::outcome::Outcome;
use mlsys_run::storage::Draft;
use mlsys_view::kernel::Play;

use super::Bench;
use crate::command::{Command, Place};
use crate::editor::DraftOrigin;
use crate::key::Key;
use crate::message::{Effect, Gesture, Message};
use crate::picture::run_here;
use crate::state::OwnKernel;
use crate::update::Animation;

const LESSON: &str = include_str!("stepping.md");

/// Runs what is to be started, at once and here.
fn run(bench: &mut Bench, effects: Vec<Effect>) {
    for effect in effects {
        if let Effect::Start(start) = effect {
            let lab = mlsys_registry::built_in().find(start.kind).unwrap();
            let (reports, outcome) = run_here(lab, start.params, start.device, Limits::default());
            bench.report(reports, 10);
            bench.end(outcome);
        }
    }
}

/// The picture side of the lab this many places on in the lesson.
fn at_lab(size: (u16, u16), place: usize) -> Bench {
    let (mut bench, effects) = Bench::opening(size, LESSON);
    run(&mut bench, effects);
    for _ in 0..place {
        let effects = bench.keys("]");
        run(&mut bench, effects);
    }
    while bench.app.place() != Place::Picture {
        let effects = bench.keys("\t");
        run(&mut bench, effects);
    }
    bench
}

fn walk(bench: &Bench) -> &mlsys_view::kernel::KernelDebugger {
    let lab = bench.lab();
    lab.debugger.as_ref().unwrap()
}

/// Beats until nothing is looked for any more; returns how many.
fn search(bench: &mut Bench) -> usize {
    let mut beats = 0;
    while bench.app.animation() == Some(Animation::Searching) {
        bench.send(Message::Beat);
        beats += 1;
    }
    beats
}

#[test]
fn forward_and_back_shows_the_same_picture() {
    // `<` and `>` are arrow keys, as the bench types them.
    for (lab, forward, back) in
        [(0, ".", ","), (1, ")", "("), (2, "}", "{"), (2, ">", "<"), (0, ">", "<")]
    {
        let mut bench = at_lab((100, 30), lab);
        let mut screens = Vec::new();
        for _ in 0..6 {
            screens.push(bench.screen());
            bench.keys(forward);
            search(&mut bench);
        }
        for screen in screens.iter().rev() {
            bench.keys(back);
            search(&mut bench);
            assert_eq!(&bench.screen(), screen, "{forward} in lab {lab}");
        }
    }
}

#[test]
fn a_step_moves_the_line_of_the_warp_that_went() {
    let mut bench = at_lab((80, 24), 0);
    bench.follow(&[
        ("", "whole run"),
        ("..", "Step 2 of 18: block 0 warp 0 did one instruction of line 3. | so far"),
        (")", "comes to line 4 next"),
    ]);
    // To the end and to the beginning.
    bench.press(Key::End);
    bench.follow(&[("", "Step 18 of 18"), (".", "There is no instruction after.")]);
    bench.press(Key::Home);
    bench.follow(&[
        ("", "whole run"),
        // Another picture stands at the same step.
        (".......v", "block 1 (1,0,0) running"),
        ("v", "i = blockDim.x * blockIdx.x + threadIdx.x = 4 * 1 + 0 = 4"),
        ("a_", "= 4 * 1 + 2 = 6"),
    ]);
}

#[test]
fn a_chosen_warp_is_followed() {
    let mut bench = at_lab((100, 40), 2);
    bench.keys("...bW");
    assert!(walk(&bench).is_pinned());
    let followed = walk(&bench).here();
    for _ in 0..4 {
        bench.keys(".");
        let last = walk(&bench).last().unwrap();
        assert_eq!((last.block, last.warp), (followed.block, followed.warp));
    }
    bench.keys("0..");
    assert!(!walk(&bench).is_pinned());
    bench.keys("b\u{1b}");
    assert!(!walk(&bench).is_pinned(), "esc lets go");
}

#[test]
fn a_click_chooses_what_it_points_at() {
    let mut bench = at_lab((100, 40), 2);
    bench.keys("M......z");
    let click = |bench: &mut Bench, text: &str, right: usize| {
        let screen = bench.screen();
        let at = screen.lines().zip(0..).find_map(|(line, row)| {
            let at = line.find(text)?;
            let column = unicode_width::UnicodeWidthStr::width(&line[..at]) + right;
            Some((column as u16, row))
        });
        let (column, row) = at.unwrap_or_else(|| panic!("{text} is not in {screen}"));
        bench.send(Message::Mouse { gesture: Gesture::Press, column, row });
    };
    click(&mut bench, "x[tid] += x[tid + s]", 2);
    assert_eq!(walk(&bench).marked(), 12);
    click(&mut bench, "x[tid] += x[tid + s]", 2);
    bench.shows("a breakpoint on line 12");
    bench.keys("v");
    click(&mut bench, " 32 A A", 6);
    assert_eq!((walk(&bench).here().warp, walk(&bench).here().lane), (1, 1));
    bench.keys("v");
    click(&mut bench, " 3  4  5", 7);
    assert_eq!((walk(&bench).here().warp, walk(&bench).here().lane), (1, 5));
}

#[test]
fn breakpoints_and_faults_stop_both_ways() {
    let mut bench = at_lab((80, 30), 1);
    bench.follow(&[("*", "writes it")]);
    let first = walk(&bench).clock();
    bench.keys("#");
    assert_eq!(walk(&bench).clock(), 0);
    // Down to line 15, from the first.
    bench.keys(&"_".repeat(14));
    bench.follow(&[("H", "a breakpoint on line 15")]);
    bench.keys("N");
    assert_eq!(walk(&bench).line(), Some(15));
    let clock = walk(&bench).clock();
    assert!(clock > 0 && clock != first);
    bench.keys("NB");
    assert_eq!(walk(&bench).clock(), clock);
    bench.follow(&[
        ("H", "no breakpoint on line 15 any more"),
        ("N", "There is no breakpoint after."),
    ]);
}

#[test]
fn steps_advance_only_while_playing_and_seen() {
    at_lab((80, 24), 0).follow(&[
        ("", "space play | animation: None"),
        (" ", "animation: Some(Playing)"),
        ("«beat»", "clock: 1"),
        ("«beat»«beat»", "clock: 3"),
        (" «beat»", "clock: 3 | animation: None"),
        // At the end there is nothing to play.
        (" ", "animation: Some(Playing)"),
        (&"«beat»".repeat(40), "clock: 18 | animation: None"),
    ]);
    let mut bench = at_lab((80, 24), 0);
    bench.follow(&[(" «beat»\t", "animation: None")]);
    bench.app.screen.notice = Some("the picture is written".to_owned());
    bench.follow(&[
        ("«beat»", "clock: 1 | the picture is written"),
        // It stays where it was left until space is pressed.
        ("\t\t", "animation: None"),
        (" ", "animation: Some(Playing)"),
    ]);
    // Playing stops while the text is edited.
    bench.send(Message::Do(Command::Edit));
    bench.send(Message::Do(Command::Back));
    bench.keys("\t");
    assert_eq!(walk(&bench).play(), Play::Still);
}

#[test]
fn invalid_text_leaves_the_picture() {
    let mut bench = at_lab((80, 24), 0);
    // The second lab is running.
    bench.keys("]");
    let lesson = bench.page().lesson.front.id.clone();
    bench.send(Message::Draft {
        draft: Draft::of_lab(&lesson, "add", "vector-add"),
        text: Some("__global__ void add() {}\n".to_owned()),
        whence: DraftOrigin::Saved,
    });
    assert_eq!(bench.app.screen.notice.as_deref(), Some("another lab is still running: x ends it"));
    assert_eq!(bench.page().labs[0].own_kernel, None);
}

#[test]
fn failed_runs_leave_no_debugger() {
    let mut bench = at_lab((80, 24), 0);
    let lab = |bench: &mut Bench| bench.app.page.as_mut().unwrap().labs.remove(0);
    let mut own = lab(&mut bench);
    own.own_kernel =
        Some(OwnKernel { example: "reduce-interleaved".to_owned(), text: "changed".to_owned() });
    own.begin();
    assert!(!own.run.explored);
    own.own_kernel.as_mut().unwrap().example = "vector-add".to_owned();
    own.begin();
    assert!(own.run.explored);

    let mut bench = at_lab((120, 40), 0);
    bench.keys("\t\t>");
    bench.end(Outcome::Panicked("broken".to_owned()));
    assert!(lab(&mut bench).debugger.is_none());
}

#[test]
fn a_key_ends_a_long_search() {
    let mut bench = at_lab((80, 24), 3);
    let total = walk(&bench).total();
    assert!(total > 100_000, "{total}");
    bench.follow(&[("«end-key»", "Looking for the end: any key stops.")]);
    let there = walk(&bench).clock();
    assert!(there < total / 2, "one key does not run it all");
    bench.follow(&[(",", &format!("animation: None | clock: {}", there - 1))]);
    bench.keys("«end-key»");
    assert!(search(&mut bench) > 2);
    assert_eq!(walk(&bench).clock(), total);
    bench.keys(",,");
    assert_eq!(walk(&bench).clock(), total - 2);
    bench.keys("*");
    search(&mut bench);
    bench.shows("There is no problem after.");
}

#[test]
fn knobs_keep_the_debugger_position() {
    let mut bench = at_lab((120, 40), 0);
    // Five steps, back to the knobs, and one more element.
    let effects = bench.keys(".....V\t\t>");
    run(&mut bench, effects);
    assert!(walk(&bench).total() > 18);
    bench.follow(&[("", "clock: 5"), (".", "clock: 6 | Step 6 of")]);
}

#[test]
fn commands_say_where_there_is_no_kernel() {
    let mut bench = Bench::in_lesson((80, 24));
    bench.send(Message::Do(Command::Walk(Goal::Line, Direction::Forward)));
    bench.follow(&[("", "no kernel has run here"), ("«beat»", "animation: None")]);
}

#[test]
fn whole_screens_of_a_kernel() {
    for size in [(40, 24), (80, 24), (120, 40), (200, 60)] {
        for (lab, keys, name) in
            [(0, "......", "add"), (1, "*", "race"), (2, "}}........", "reduce")]
        {
            let mut bench = at_lab(size, lab);
            bench.keys(keys);
            let panels = bench.lab().pictures.panels.len();
            for panel in 0..panels {
                let name = format!("{name}-{panel}-{}x{}", size.0, size.1);
                snapshot::compare(
                    concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/stepping"),
                    &name,
                    &bench.buffer(),
                );
                bench.keys("v");
            }
        }
    }
}

#[test]
fn a_launch_is_compared_with_the_one_before() {
    let mut bench = at_lab((120, 40), 0);
    bench.hides("Against");
    // Back to the knobs, one more element, and the same once more.
    let effects = bench.keys("\t\t>");
    run(&mut bench, effects);
    bench.shows("Against run 1: elements 8: warp instructions ");
    let effects = bench.keys(" ");
    run(&mut bench, effects);
    bench.follow(&[
        ("", "Against run 1: elements 8: warp instructions "),
        ("\to", "no earlier run is next to the counts"),
    ]);
    bench.hides("Against");
    bench.follow(&[("o", "the newest earlier run is next to the counts | Against run 1")]);
}
