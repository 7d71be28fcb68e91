//! Starting, steering and ending runs.

use mlsys_lab::control::Command;
use mlsys_lab::report::Report;
use mlsys_lab::value::Value;
use mlsys_lesson::Event;
use mlsys_run::outcome::Outcome;

use super::{Bench, asked, orders, point, started};
use crate::message::{Effect, Message};

#[test]
fn predictions_lock_when_the_run_starts() {
    let mut bench = Bench::in_lesson((120, 60));
    assert!(started(&bench.keys(" ")).is_none());
    bench.follow(&[("", "predict first"), ("\n0.6\n", "your guess: 0.6")]);
    let effects = bench.keys(" ");
    assert_eq!(started(&effects).unwrap().lab, "run");
    let locked = asked!(effects, Effect::Save(Event::PredictionLocked { .. }));
    assert!(locked, "{effects:?}");
    bench.train(1.0);
    bench.follow(&[
        ("", "You said 0.6; measured 1 | Adam finds it."),
        ("\n", "this prediction stands"),
    ]);
}

#[test]
fn a_run_without_prediction_takes_a_second_space() {
    let mut bench = Bench::in_lesson((120, 60));
    assert!(started(&bench.keys(" ")).is_none());
    assert!(started(&bench.keys(" ")).is_some());
}

#[test]
fn runs_wait_for_the_device_probe() {
    let mut bench = Bench::new((120, 60));
    bench.keys("\n");
    assert!(started(&bench.keys("  ")).is_none());
    bench.shows("looking for devices");
    let effects = bench.probed();
    assert_eq!(started(&effects).unwrap().device.to_string(), "cpu");
}

#[test]
fn live_knobs_reach_the_run() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  \t");
    let effects = bench.keys(">");
    let set = Command::Set { name: "learning_rate".into(), value: Value::Float(0.02) };
    assert_eq!(orders(&effects), [&set]);
    let effects = bench.keys("_>");
    assert!(orders(&effects).is_empty());
    bench.shows("it takes effect with the next run");
    bench.end(Outcome::Finished);
    let effects = bench.keys(" ");
    let start = started(&effects).unwrap();
    assert_eq!(start.params.int("width").unwrap(), 64);
    assert_eq!(start.params.float("learning_rate").unwrap(), 0.02);
}

#[test]
fn values_out_of_range_are_refused() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.follow(&[
        ("\t\n\x08\x08\x08\x081e9\n", "1e9 is outside 0 to 100"),
        ("\u{1b}", "learning_rate 0.01"),
    ]);
}

#[test]
fn space_pauses_and_goes_on_and_s_does_one_step() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    assert!(orders(&bench.keys(" ")).contains(&&Command::Pause));
    bench.shows("paused");
    assert!(orders(&bench.keys("s")).contains(&&Command::Step(1)));
    assert!(orders(&bench.keys(" ")).contains(&&Command::Resume));
    assert_eq!(orders(&bench.keys("x")), [&Command::Stop]);
}

#[test]
fn f_takes_the_pace_off_a_run_that_is_going_on() {
    let mut bench = Bench::in_lesson((120, 60));
    let effects = bench.keys("  ");
    let paced = |effects: &[Effect]| match orders(effects).as_slice() {
        [Command::Pace(interval)] => Some(interval.as_millis()),
        _ => None,
    };
    assert_eq!(paced(&effects), Some(15), "400 steps in six seconds");
    bench.shows("paced");
    assert_eq!(paced(&bench.keys("f")), Some(0));
    bench.hides("paced");
}

#[test]
fn checks_need_the_lessons_values() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  \t>");
    bench.train(0.5);
    assert!(bench.page().checks.is_empty());
    bench.keys("Ry ");
    let effects = bench.train(0.5);
    let passed: Vec<_> =
        asked!(effects, Effect::Save(Event::CheckPassed { check, .. }) => check.as_str()).collect();
    assert_eq!(passed, ["c2"]);
    bench.keys("\t");
    bench.app.page.as_mut().unwrap().scroll = 20;
    bench.follow(&[("", "run.accuracy = 0.5, wanted | ✓ run.parameters == 1218 holds")]);
}

#[test]
fn late_news_of_an_abandoned_run_changes_nothing() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    let run = bench.app.session.active.unwrap().run;
    bench.keys("R");
    let before = bench.screen();
    let since = std::time::Duration::ZERO;
    bench.send(Message::Reports { run, reports: vec![point("loss", 9, 3.0)], since });
    bench.send(Message::Ended { run, outcome: Outcome::Panicked("late".into()), after: since });
    assert_eq!(bench.screen(), before);
}

#[test]
fn a_panic_fails_the_run() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    bench.end(Outcome::Panicked("device lost".into()));
    bench.follow(&[("", "failed | device lost"), ("dd", "new runs use device wgpu:0")]);
    let effects = bench.keys(" ");
    assert_eq!(started(&effects).unwrap().device.to_string(), "wgpu:0");
}

#[test]
fn divergence_is_explained() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    let reason = "the loss passed ten times its first value: each update overshoots".to_owned();
    let reports = vec![
        point("loss", 1, 0.7),
        point("loss", 2, f64::NAN),
        Report::Diverged { step: 2, reason },
    ];
    bench.report(reports, 10);
    bench.end(Outcome::Finished);
    bench.follow(&[("", "diverged | each update overshoots")]);
}

#[test]
fn an_instant_lab_answers_every_turn_of_a_knob() {
    let mut bench = Bench::in_lesson((120, 60));
    let effects = bench.keys("nn");
    assert_eq!(started(&effects).unwrap().kind, "occupancy");
    bench.end(Outcome::Finished);
    let effects = bench.keys("\t>");
    let start = started(&effects).unwrap();
    assert_eq!(start.params.int("threads_per_block").unwrap(), 512);
    // A second turn does not wait for the first answer.
    let effects = bench.keys(">");
    let start = started(&effects).unwrap();
    assert_eq!(start.params.int("threads_per_block").unwrap(), 1024);
}

#[test]
fn leaving_the_lesson_ends_the_run() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    let effects = bench.keys("\u{1b}");
    assert!(asked!(effects, Effect::Abandon));
    assert!(bench.app.session.active.is_none());
}

#[test]
fn checks_use_the_newest_peak() {
    let mut bench = Bench::in_lesson((120, 60));
    let measured = |peak: f64| Message::Measured([("a cpu".to_owned(), peak)].into());
    bench.app.update(measured(1e11));
    assert_eq!(bench.app.hardware.machine().peaks.get("a cpu"), Some(&1e11));
    // What was kept is read late, perhaps after a run that is newer.
    bench.app.update(measured(2e11));
    assert_eq!(bench.app.hardware.machine().peaks.get("a cpu"), Some(&1e11));
}

#[test]
fn known_answers_are_compared_at_once() {
    const LESSON: &str = "+++\nformat = 1\nid = \"systems/known\"\ntitle = \"Known\"\nminutes = 5\n+++\n# Known\n\n\
        ```{predict} more\ntype = \"choice\"\nprompt = \"Which did more?\"\nchoices = [\"tiles\", \"rows\"]\n\
        answer = \"tiles\"\nexplain = \"13% more.\"\n```\n";
    let (mut bench, _) = Bench::opening((80, 24), LESSON);
    bench.follow(&[("", "before you read on | no: 13% more.")]);
    let effects = bench.keys("\nb\n");
    assert!(asked!(effects, Effect::Save(Event::PredictionLocked { .. })), "{effects:?}");
    bench.follow(&[("", "the answer is \"tiles\" | 13% more.")]);
}
