//! Freezing, stepping, undoing, and being asked before something is lost.

use mlsys_lab::control::Command;
use mlsys_lab::report::Report;
use mlsys_lab::value::Value;
use mlsys_run::outcome::Outcome;
use mlsys_run::session::Panels;

use super::{Bench, asked, losses, orders, point, started};
use crate::command::Place;
use crate::message::{Effect, Message};

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (120, 40)];

fn quits(effects: &[Effect]) -> bool {
    asked!(effects, Effect::Quit)
}

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
    bench.report(losses(121..=300), 500);
    bench.shows("frozen at step 120, run is at step 300");
    let lab = bench.lab();
    assert_eq!(*lab.shown(), before);
    assert_eq!(lab.run.data.step, 300);
    let effects = bench.train(1.0);
    assert!(!effects.is_empty(), "checks are decided on what was not shown");
    bench.follow(&[("", "frozen at step 120, run is at step 400"), ("F", "no: frozen")]);
    let lab = bench.lab();
    assert_eq!(lab.shown().step, 400);
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
fn typed_step_counts_are_remembered() {
    let mut bench = running((80, 24));
    bench.follow(&[("S", "steps 10"), ("\x08\x08x\n", "a whole number of steps, at least 1")]);
    bench.keys("\x08");
    let effects = bench.keys("25\n");
    assert!(orders(&effects).contains(&&Command::Step(25)));
    bench.follow(&[("", "paused"), ("S", "steps 25"), ("\u{1b}", "no: steps 25")]);
}

#[test]
fn a_lab_is_started_by_its_first_steps() {
    let mut bench = Bench::in_lesson((80, 24));
    bench.keys("  ");
    bench.end(Outcome::Finished);
    let effects = bench.keys("S\n");
    assert!(orders(&effects).contains(&&Command::Step(10)));
}

#[test]
fn to_the_end_takes_the_pace_off_this_run_alone() {
    let mut bench = running((120, 40));
    bench.shows("paced");
    let effects = bench.keys("E");
    assert_eq!(orders(&effects), [&Command::Pace(std::time::Duration::ZERO), &Command::Resume]);
    bench.shows("to the en");
    bench.train(1.0);
    let effects = bench.keys(" ");
    let paced = orders(&effects)
        .iter()
        .any(|order| matches!(order, Command::Pace(pace) if !pace.is_zero()));
    assert!(paced, "{effects:?}");
}

#[test]
fn closed_form_labs_have_no_steps() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("nn");
    bench.end(Outcome::Finished);
    for key in ["s", "S", "E", "F"] {
        bench.keys(key);
        bench.shows("this lab answers at once: it has no steps");
    }
}

#[test]
fn knob_undo_reaches_a_live_run() {
    let mut bench = running((120, 40));
    bench.follow(&[("u", "no knob of this lab was turned")]);
    bench.keys(">>");
    let effects = bench.keys("u");
    let set =
        |value: f64| Command::Set { name: "learning_rate".into(), value: Value::Float(value) };
    assert_eq!(orders(&effects), [&set(0.02)]);
    bench.shows("undone: learning_rate is 0.02 again");
    assert_eq!(orders(&bench.keys("u")), [&set(0.01)]);
    assert_eq!(orders(&bench.keys("U")), [&set(0.02)]);
    bench.follow(&[
        ("", "redone: learning_rate is 0.02 again"),
        ("_>u", "undone: width is 32 again, with the next run"),
        ("U>U", "no turn of a knob was taken back"),
    ]);
}

#[test]
fn an_instant_lab_answers_an_undo_like_a_turn() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("nn");
    bench.end(Outcome::Finished);
    bench.keys("\t>");
    bench.end(Outcome::Finished);
    let effects = bench.keys("u");
    assert_eq!(started(&effects).unwrap().params.int("threads_per_block").unwrap(), 256);
}

#[test]
fn reset_asks_before_losing_a_run() {
    let mut bench = running((120, 40));
    assert!(orders(&bench.keys("R")).is_empty());
    bench.follow(&[
        ("", "reset: y puts the knobs back and ends the run, any other key keeps"),
        ("R", "nothing was changed"),
    ]);
    assert!(bench.app.session.active.is_some());
    bench.keys("Ry");
    assert!(bench.app.session.active.is_none());
    bench.follow(&[
        ("", "no: 120/400"),
        // A turned knob is worth a question, too; without one there is nothing to lose.
        (">R", "y puts the knobs back"),
        ("y", "learning_rate 0.01"),
    ]);
    bench.keys(" ");
    bench.train(1.0);
    bench.follow(&[("R", "no: any other key")]);
}

#[test]
fn leaving_a_run_asks() {
    let mut bench = running((120, 40));
    bench.follow(&[("\u{1b}", "y ends it and goes back to the course")]);
    bench.keys("n");
    assert!(bench.app.page.is_some() && bench.app.session.active.is_some());
    bench.keys("\u{1b}y");
    assert!(bench.app.page.is_none() && bench.app.session.active.is_none());
    bench.shows("A small lesson");
}

#[test]
fn going_elsewhere_by_the_palette_asks_too() {
    let mut bench = running((120, 40));
    let elsewhere = |bench: &Bench| {
        let page = bench.page();
        page.lesson.front.id.as_str() != "systems/small"
    };
    bench.follow(&[(":occupancy\n", "y ends it and leaves this lesson")]);
    bench.keys("\u{1b}");
    assert!(!elsewhere(&bench) && bench.app.session.active.is_some());
    bench.keys(":occupancy\ny");
    assert!(elsewhere(&bench));
}

#[test]
fn a_second_ctrl_c_quits_at_once() {
    let ctrl_c = |bench: &mut Bench| bench.keys("\x03");
    let mut bench = running((120, 40));
    assert!(!quits(&ctrl_c(&mut bench)));
    bench.shows("a run goes on");
    assert!(quits(&ctrl_c(&mut bench)));
    let mut bench = running((120, 40));
    ctrl_c(&mut bench);
    assert!(quits(&bench.keys("y")));
    // Whatever is open, twice is enough.
    let mut bench = running((120, 40));
    bench.keys("K");
    ctrl_c(&mut bench);
    assert!(quits(&ctrl_c(&mut bench)));
    let mut bench = Bench::in_lesson((120, 40));
    assert!(quits(&ctrl_c(&mut bench)));
}

#[test]
fn waits_end_with_the_first_step() {
    let mut bench = Bench::new((120, 40));
    bench.follow(&[("\n  ", "looking for devices")]);
    bench.send(Message::Waited { seconds: 3 });
    bench.shows("looking for devices, 3 s");
    bench.probed();
    bench.report(vec![Report::Status("compiling kernels".into())], 10);
    bench.follow(&[("", "compiling kernels | no: compiling kernels,")]);
    bench.send(Message::Waited { seconds: 12 });
    bench.shows("compiling kernels, 12 s");
    bench.report(vec![Report::Status(String::new()), point("loss", 1, 0.7)], 13_000);
    bench.hides("compiling");
    assert_eq!(bench.app.session.waiting, None);
}

#[test]
fn a_pause_in_a_long_step_says_what_it_waits_for() {
    let mut bench = running((120, 40));
    bench.follow(&[(" ", "paused | no: waiting for the step")]);
    bench.send(Message::Waited { seconds: 2 });
    bench.shows("waiting for the step to finish, 2 s");
    let run = bench.app.session.active.unwrap().run;
    bench.send(Message::Settled { run });
    bench.hides("waiting for the step");
    assert_eq!(bench.app.session.waiting, None);
}

#[test]
fn pauses_during_warm_up_count_no_seconds() {
    let mut bench = running((120, 40));
    bench.report(vec![Report::Status("training mlp first".into())], 10);
    bench.send(Message::Waited { seconds: 12 });
    bench.follow(&[("", "training mlp first, 12 s"), (" ", "training mlp first")]);
    let run = bench.app.session.active.unwrap().run;
    bench.send(Message::Settled { run });
    bench.follow(&[("", "paused | no: training mlp first, ")]);
    assert_eq!(bench.app.session.waiting, None);
    // A step goes on with it.
    bench.keys("s");
    bench.send(Message::Waited { seconds: 3 });
    bench.shows("training mlp first, 3 s");
}

#[test]
fn a_run_that_does_not_answer_can_be_left_behind() {
    let mut bench = running((120, 40));
    assert_eq!(orders(&bench.keys("x")), [&Command::Stop]);
    bench.send(Message::Waited { seconds: 2 });
    bench.shows("ending: waiting for the step to finish, 2 s");
    assert!(bench.app.session.active.is_some());
    bench.send(Message::Waited { seconds: 6 });
    bench.shows("x again leaves it behind");
    let effects = bench.keys("x");
    assert!(asked!(effects, Effect::Abandon));
    assert!(bench.app.session.active.is_none());
    bench.shows("was left behind");
}

#[test]
fn a_run_that_waits_for_devices_ends_at_once() {
    let mut bench = Bench::new((120, 40));
    bench.keys("\n  x");
    assert!(bench.app.session.active.is_none());
}

#[test]
fn steering_looks_as_it_did() {
    for size in SIZES {
        let mut bench = running(size);
        bench.keys("F");
        bench.report(losses(121..=260), 800);
        bench.compare("frozen");
        bench.keys("FS");
        bench.compare("steps");
        bench.keys("\u{1b}R");
        bench.compare("reset");
    }
}
