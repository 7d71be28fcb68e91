//! Freezing, stepping, undoing, waiting, and being asked before something is lost.

use mlsys_run::session::Panels;

use super::{Bench, asked, losses};
use crate::command::Place;
use crate::message::Effect;

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (120, 40)];

/// A run that has done 120 steps, the knobs in front.
fn running(size: (u16, u16)) -> Bench {
    let mut bench = Bench::in_lesson(size);
    bench.keys("  ");
    bench.report(losses(1..=120), 400);
    bench.go_to(Place::Lab);
    bench
}

#[test]
fn frozen_views_stand_still() {
    let mut bench = running((120, 40));
    bench.follow(&[("F", "frozen at step 120, run is at step 120")]);
    let before = bench.lab().shown().clone();
    bench.follow(&[("«losses 121 300»", "frozen at step 120, run is at step 300")]);
    assert_eq!(*bench.lab().shown(), before);
    bench.follow(&[
        // Checks are decided on what was not shown.
        ("«trained»", "frozen at step 120, run is at step 400 | does: Save"),
        ("F", "no: frozen"),
    ]);
    assert_eq!(bench.lab().shown().step, 400);
    // A new run is a new view.
    bench.follow(&[("F ", "no: frozen")]);
}

#[test]
fn hidden_pictures_are_not_requested() {
    let mut bench = running((120, 40));
    let lab = &mut bench.app.page.as_mut().unwrap().labs[0];
    lab.pictures.panels = (0..lab.schema.panels.len()).collect();
    let boundary = lab.schema.panels.iter().position(|panel| panel.name == "decision-boundary");
    let wants = |effects: Vec<Effect>| asked!(effects, Effect::WantPictures(_));
    // Only curves and bars have room on the screen, and those are drawn from metrics.
    assert!(!wants(bench.report(losses(121..=125), 700)));
    bench.app.page.as_mut().unwrap().labs[0].pictures.chosen = boundary.unwrap();
    let effects = bench.report(losses(126..=130), 900);
    let Some(Effect::WantPictures(Panels::These(names))) = effects.last() else {
        panic!("no pictures wanted: {effects:?}")
    };
    assert!(names.contains(&"decision-boundary") && !names.contains(&"attention"), "{names:?}");
    // The next picture may be one that was never made.
    assert!(wants(bench.keys("v")));
    bench.app.page.as_mut().unwrap().labs[0].pictures.chosen = boundary.unwrap();
    bench.keys("F");
    assert!(!wants(bench.report(losses(131..=140), 1900)));
    assert!(wants(bench.keys("F")));
}

#[test]
fn steps_are_typed_and_remembered() {
    running((80, 24)).follow(&[
        ("S", "steps 10"),
        ("\x08\x08x\n", "a whole number of steps, at least 1"),
        ("\x0825\n", "paused | does: Step(25)"),
        ("S", "steps 25"),
        ("\u{1b}", "no: steps 25"),
    ]);
    // A lab is started by its first steps; a closed form has none.
    Bench::in_lesson((80, 24)).follow(&[("  «end»S\n", "does: Step(10)")]);
    Bench::in_lesson((120, 40)).follow(&[
        ("nnn«end»s", "this lab answers at once: it has no steps"),
        ("S", "this lab answers at once: it has no steps"),
        ("E", "this lab answers at once: it has no steps"),
        ("F", "this lab answers at once: it has no steps"),
    ]);
}

#[test]
fn to_the_end_takes_the_pace_off_this_run_alone() {
    running((120, 40)).follow(&[
        ("", "paced"),
        ("E", "to the en | does: Order(Pace(0ns)), Order(Resume)"),
        ("«trained» ", "does: Pace | does no: Pace(0ns)"),
    ]);
}

#[test]
fn knob_undo_reaches_a_live_run() {
    running((120, 40)).follow(&[
        ("u", "no knob of this lab was turned"),
        (">>", "busy"),
        ("u", "undone: learning_rate is 0.02 again | does: value: Float(0.02)"),
        ("u", "does: value: Float(0.01)"),
        ("U", "redone: learning_rate is 0.02 again | does: value: Float(0.02)"),
        ("_>u", "undone: width is 32 again, with the next run"),
        ("U>U", "no turn of a knob was taken back"),
    ]);
}

#[test]
fn what_would_end_a_run_asks() {
    running((120, 40)).follow(&[
        ("R", "reset: y puts the knobs back and ends the run, any other key keeps | does nothing"),
        ("R", "nothing was changed | busy"),
        ("Ry", "no: 120/400 | idle"),
        // A turned knob is worth a question, too; without one there is nothing to lose.
        (">R", "y puts the knobs back"),
        ("y", "learning_rate 0.01"),
        (" «trained»R", "no: any other key"),
    ]);
    running((120, 40)).follow(&[
        ("\u{1b}", "y ends it and goes back to the course"),
        ("n", "at: lab | busy"),
        ("\u{1b}y", "at: course | idle | A small lesson"),
    ]);
    running((120, 40)).follow(&[
        (":occupancy\n", "y ends it and leaves this lesson"),
        ("\u{1b}", "busy | loss-curve"),
        (":occupancy\ny", "threads_per_block | no: loss-curve"),
    ]);
}

#[test]
fn a_second_ctrl_c_quits_at_once() {
    running((120, 40)).follow(&[("\x03", "a run goes on | does no: Quit"), ("\x03", "does: Quit")]);
    running((120, 40)).follow(&[("\x03y", "does: Quit")]);
    // Whatever is open, twice is enough.
    running((120, 40)).follow(&[("K\x03\x03", "does: Quit")]);
    Bench::in_lesson((120, 40)).follow(&[("\x03", "does: Quit")]);
}

#[test]
fn waits_end_with_the_first_step() {
    let mut bench = Bench::new((120, 40));
    bench.follow(&[
        ("\n  ", "looking for devices"),
        ("«waited 3»", "looking for devices, 3 s"),
        ("«probed»«status compiling kernels»", "compiling kernels | no: compiling kernels,"),
        ("«waited 12»", "compiling kernels, 12 s"),
        ("«status »«losses 1 1»", "no: compiling"),
    ]);
    assert_eq!(bench.app.session.waiting, None);
    Bench::new((120, 40)).follow(&[("\n  x", "idle")]);
}

#[test]
fn pauses_say_what_they_wait_for() {
    let mut bench = running((120, 40));
    bench.follow(&[
        (" ", "paused | no: waiting for the step"),
        ("«waited 2»", "waiting for the step to finish, 2 s"),
        ("«settled»", "no: waiting for the step"),
    ]);
    assert_eq!(bench.app.session.waiting, None);
    // One during warm-up counts no seconds; a step goes on with it.
    let mut bench = running((120, 40));
    bench.follow(&[
        ("«status training mlp first»«waited 12»", "training mlp first, 12 s"),
        (" ", "training mlp first"),
        ("«settled»", "paused | no: training mlp first, "),
    ]);
    assert_eq!(bench.app.session.waiting, None);
    bench.follow(&[("s«waited 3»", "training mlp first, 3 s")]);
}

#[test]
fn a_run_that_does_not_answer_can_be_left_behind() {
    running((120, 40)).follow(&[
        ("x", "does: Order(Stop)"),
        ("«waited 2»", "ending: waiting for the step to finish, 2 s | busy"),
        ("«waited 6»", "x again leaves it behind"),
        ("x", "was left behind | idle | does: Abandon"),
    ]);
}

#[test]
fn steering_looks_as_it_did() {
    for size in SIZES {
        let mut bench = running(size);
        bench.keys("F");
        bench.report(losses(121..=260), 800);
        bench.follow(&[("", "looks: frozen")]);
        bench.follow(&[("FS", "looks: steps")]);
        bench.follow(&[("\u{1b}R", "looks: reset")]);
    }
}

const TWO_LIVE: &str = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"B\"\nminutes = 1\n+++\n\
    ```{lab} first\nkind = \"train\"\n[knob.learning_rate]\n```\n\n\
    ```{lab} second\nkind = \"train\"\n```\n\n\
    ```{lab} formula\nkind = \"occupancy\"\n[knob.threads_per_block]\n```\n";

#[test]
fn a_lab_that_answers_at_once_does_so_while_another_one_is_paused() {
    let (mut bench, _) = Bench::opening((120, 40), TWO_LIVE);
    bench.follow(&[
        (" «losses 1 60» ", "paused"),
        ("]]", "does: SetAside, Start"),
        ("«end»", "does: TakeUp | ✓ finished | busy"),
        // The knob of such a lab as well.
        ("\t>", "does: SetAside, Start"),
        (">", "does no: SetAside | does: Start"),
        ("«end»", "does: TakeUp"),
        (" ", "does: SetAside, Start"),
        ("«end»[[", "paused | step 60"),
        ("s", "does: Step(1)"),
    ]);
    // Both end with the lesson.
    bench
        .follow(&[("]] ", "does: SetAside"), ("\u{1b}y", "does: Abandon, TakeUp, Abandon | idle")]);
}

#[test]
fn a_paused_run_that_stands_in_the_way_says_so() {
    let (mut bench, _) = Bench::opening((120, 40), TWO_LIVE);
    bench.follow(&[
        (" «losses 1 60» ]", "second"),
        (" ", "'first' is paused: [ and ] go to it, x ends it | does nothing"),
        ("x«stopped» ", "does: Start"),
        ("] ", "does: SetAside"),
    ]);
}

#[test]
fn a_knob_says_when_it_takes_effect() {
    running((120, 40)).follow(&[
        (" «settled»", "paused"),
        (">", "learning_rate takes effect with the next step: s does one | next step"),
        ("u", "undone: learning_rate is 0.01 again, with the next step"),
        (" «trained»", "no: next step"),
        (">", "learning_rate takes effect with the next run: space starts it | next run"),
        ("<", "no: takes effect | no: next run"),
        ("_>", "width takes effect with the next run: space starts it"),
    ]);
}

#[test]
fn of_a_lab_without_knobs_the_pictures_take_the_keys() {
    let (mut bench, _) = Bench::opening((80, 24), TWO_LIVE);
    bench.follow(&[
        // Its side of a small screen has the state of the run, which a picture alone has not.
        ("nn\n", "at: picture | ready | lab: second"),
        ("\t", "at: picture"),
        ("\t", "at: text"),
    ]);
}
