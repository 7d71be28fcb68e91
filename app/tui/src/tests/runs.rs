//! Starting, steering and ending runs.

use std::time::Duration;

use mlsys_lab::report::Report;
use mlsys_lesson::Progress;
use mlsys_run::outcome::Outcome;

use super::{Bench, asked, losses, point, started};
use crate::message::{Effect, Message};

const SET_RATE: &str = "does: Set { name: \"learning_rate\", value: Float(0.02) }";

#[test]
fn predictions_lock_when_the_run_starts() {
    Bench::in_lesson((120, 60)).follow(&[
        (" ", "predict first | does no: Start"),
        ("\n0.6\n", "your guess: 0.6"),
        (" ", "does: lab: \"run\" | does: PredictionLocked"),
        ("«trained»", "You said 0.6; measured 1 | Adam finds it."),
        ("\n", "this prediction is closed"),
    ]);
    // A run without a prediction takes a second space.
    Bench::in_lesson((120, 60)).follow(&[(" ", "does no: Start"), (" ", "does: Start")]);
}

#[test]
fn runs_wait_for_the_device_probe() {
    let mut bench = Bench::new((120, 60));
    bench.follow(&[("\n  ", "looking for devices | does no: Start")]);
    let effects = bench.probed();
    assert_eq!(started(&effects).unwrap().device.to_string(), "cpu");
}

#[test]
fn live_knobs_reach_the_run() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  \t");
    bench.follow(&[(">", SET_RATE), ("_>", "it takes effect with the next run | does no: Order")]);
    let effects = bench.keys("«end» ");
    let start = started(&effects).unwrap();
    assert_eq!(start.params.int("width").unwrap(), 64);
    assert_eq!(start.params.float("learning_rate").unwrap(), 0.02);
}

#[test]
fn values_out_of_range_are_refused() {
    Bench::in_lesson((120, 60)).follow(&[
        ("\t\n\x08\x08\x08\x081e9\n", "1e9 is outside 0 to 100"),
        ("\u{1b}", "learning_rate 0.01"),
    ]);
}

#[test]
fn a_run_is_paced_paused_stepped_and_stopped() {
    Bench::in_lesson((120, 60)).follow(&[
        // 400 steps in six seconds.
        ("  ", "paced | does: Pace(15ms)"),
        ("f", "no: paced | does: Pace(0ns)"),
        (" ", "paused | does: Order(Pause)"),
        ("s", "does: Order(Step(1))"),
        (" ", "does: Order(Resume)"),
        ("x", "does: Order(Stop)"),
    ]);
    Bench::in_lesson((120, 60)).follow(&[("  ", "busy"), ("\u{1b}", "idle | does: Abandon")]);
}

#[test]
fn checks_need_the_lessons_values() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  \t>");
    bench.train(0.5);
    assert!(bench.page().checks.is_empty());
    bench.keys("Ry ");
    let effects = format!("{:?}", bench.train(0.5));
    assert!(effects.contains("check: \"c2\"") && effects.matches("CheckPassed").count() == 1);
    bench.keys("\t");
    bench.app.page.as_mut().unwrap().scroll = 20;
    bench.follow(&[("", "run.accuracy = 0.5 measured, | ✓ run.parameters == 1218 holds")]);
}

#[test]
fn late_news_of_an_abandoned_run_changes_nothing() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    let run = bench.app.session.active.unwrap().run;
    bench.keys("R");
    let (before, after) = (bench.screen(), Duration::ZERO);
    bench.send(Message::Reports { run, reports: vec![point("loss", 9, 3.0)], since: after });
    bench.send(Message::Ended { run, outcome: Outcome::Panicked("late".into()), after });
    assert_eq!(bench.screen(), before);
}

#[test]
fn a_panic_fails_the_run() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.follow(&[
        ("  «broken device lost»", "failed | device lost"),
        ("dd", "new runs use device wgpu:0"),
    ]);
    let effects = bench.keys(" ");
    assert_eq!(started(&effects).unwrap().device.to_string(), "wgpu:0");
}

#[test]
fn divergence_is_explained() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.keys("  ");
    let values = [(1, 0.7), (2, f64::NAN)].map(|(step, loss)| point("loss", step, loss));
    bench.report(values.into(), 10);
    bench.follow(&[("«diverged each update overshoots»", "diverged | each update overshoots")]);
}

#[test]
fn an_instant_lab_answers_every_turn_of_a_knob() {
    let mut bench = Bench::in_lesson((120, 60));
    // A second turn does not wait for the first answer; undoing one is a turn, too.
    for (keys, threads) in [("nnn", 256), ("«end»\t>", 512), (">", 1024), ("«end»u", 512)] {
        let effects = bench.keys(keys);
        let start = started(&effects).unwrap();
        assert_eq!(start.kind, "occupancy");
        assert_eq!(start.params.int("threads_per_block").unwrap(), threads);
    }
}

#[test]
fn checks_use_the_newest_peak() {
    let mut bench = Bench::in_lesson((120, 60));
    // What was kept is read late, perhaps after a run that is newer.
    for peak in [1e11, 2e11] {
        bench.send(Message::Measured([("a cpu".to_owned(), peak)].into()));
        assert_eq!(bench.app.hardware.peaks.get("a cpu"), Some(&1e11));
    }
}

#[test]
fn known_answers_are_compared_at_once() {
    const LESSON: &str = "+++\nformat = 1\nid = \"systems/known\"\ntitle = \"Known\"\nminutes = 5\n+++\n# Known\n\n\
        ```{predict} more\ntype = \"choice\"\nprompt = \"Which did more?\"\nchoices = [\"tiles\", \"rows\"]\n\
        answer = \"tiles\"\nexplain = \"13% more.\"\n```\n";
    let (mut bench, _) = Bench::opening((80, 24), LESSON);
    bench.follow(&[
        ("", "before you read on | no: 13% more."),
        ("\nb\n", "the answer is \"tiles\" | 13% more. | does: PredictionLocked"),
    ]);
    // With a lab, its run tells, and what is said depends on what came out.
    let lab = "\n```{lab} occ\nkind = \"occupancy\"\n```\n";
    let outcomes = "[[outcome]]\nwhen = \"occ.occupancy > 2\"\nsay = \"More than all.\"\n\
        [[outcome]]\nwhen = \"occ.occupancy <= 1\"\nsay = \"At most all.\"\n```\n";
    let text = LESSON.replace("13% more.\"\n```\n", &format!("13% more.\"\n{outcomes}{lab}"));
    let (mut bench, effects) = Bench::opening((120, 40), &text);
    assert!(started(&effects).is_none(), "the guess comes first");
    bench.follow(&[
        ("", "before the run"),
        ("\na\n", "space runs it | your guess: tiles | no: the answer is | does: PredictionMade"),
        (" ", "does: PredictionLocked | does: kind: \"occupancy\""),
    ]);
    bench.report(vec![Report::Scalar { name: "occupancy".into(), value: 0.5.into() }], 1);
    bench.end(Outcome::Finished);
    bench.follow(&[("", "Right: \"tiles\". | At most all. | 13% more. | no: More than all.")]);
}

#[test]
fn a_try_is_compared_once_its_knob_is_turned() {
    const LESSON: &str = "+++\nformat = 1\nid = \"gpu/tries\"\ntitle = \"Tries\"\nminutes = 5\n+++\n# Tries\n\n\
        ```{lab} occ\nkind = \"occupancy\"\n[knob.threads_per_block]\nvalues = [256, 512, 1024]\n\
        [knob.registers_per_thread]\nvalues = [32, 64]\n```\n\n\
        ```{try} more\nlab = \"occ\"\nset = { threads_per_block = 512 }\ntype = \"numeric\"\n\
        prompt = \"What is it then?\"\nmetric = \"more.occupancy\"\nexplain = \"So it is.\"\n```\n";
    let (mut bench, _) = Bench::opening((120, 40), LESSON);
    let answers = |bench: &mut Bench, occupancy: f64| {
        bench.report(vec![Report::Scalar { name: "occupancy".into(), value: occupancy.into() }], 1);
        bench.end(Outcome::Finished);
    };
    answers(&mut bench, 1.0);
    bench.follow(&[
        ("n", "TRY more guess, then turn occ: | no: So it is."),
        ("\n0.5\n", "now turn occ: threads_per_block = 512 | no: So it is. | does: PredictionMade"),
        // It is passed at the second asking only; a knob in the way is named.
        ("\tj>", "registers_per_thread"),
        ("n", "a run with occ: threads_per_block = 512, and registers_per_thread back at 32;"),
        ("\t<k", ""),
        ("n", "end of the lesson"),
    ]);
    // A knob turned past the value is another experiment.
    for (keys, occupancy, told) in [("\t>>", 0.25, false), ("<", 0.5, true)] {
        bench.keys(keys);
        answers(&mut bench, occupancy);
        let page = bench.app.page.as_ref().unwrap();
        assert_eq!(page.predictions["more"].comparison.is_some(), told, "{keys}");
        assert_eq!(page.first_open().is_none(), told);
    }
    let made = &bench.app.page.as_ref().unwrap().predictions["more"];
    let said = made.comparison.as_deref();
    assert_eq!(said, Some("You said 0.5; computed 0.5; exactly right."));
}

/// A knob that a run would have heard of, turned after its end, is the next run's.
#[test]
fn a_try_waits_for_a_run_with_its_live_knob() {
    const LESSON: &str = "+++\nformat = 1\nid = \"a/live\"\ntitle = \"Live\"\nminutes = 5\n+++\n# Live\n\n\
        ```{lab} run\nkind = \"train\"\n[knob.batch_size]\nvalues = [64, 128]\n```\n\n\
        ```{try} more\nlab = \"run\"\nset = { batch_size = 128 }\ntype = \"numeric\"\n\
        prompt = \"What is it then?\"\nmetric = \"more.accuracy\"\n```\n";
    let (mut bench, _) = Bench::opening((120, 40), LESSON);
    bench.follow(&[
        ("\t «trained»", "finished"),
        (">", "batch_size takes effect with the next run"),
    ]);
    bench.follow(&[("\tn\n0.5\n", "does: PredictionMade | no: You said")]);
    assert!(bench.app.page.as_ref().unwrap().predictions["more"].comparison.is_none());
    bench.follow(&[("\t «trained»", "You said 0.5")]);
}

#[test]
fn panels_wait_for_predictions_and_tries() {
    const LESSON: &str = "+++\nformat = 1\nid = \"gpu/waits\"\ntitle = \"Waits\"\nminutes = 5\n+++\n# Waits\n\n\
        ```{predict} first\ntype = \"numeric\"\nprompt = \"?\"\nmetric = \"occ.occupancy\"\n```\n\n\
        ```{lab} occ\nkind = \"occupancy\"\n[knob.threads_per_block]\nvalues = [256, 512, 1024]\n\
        [[panel]]\nname = \"slots\"\n[[panel]]\nname = \"limits\"\nuntil = \"first\"\n\
        [[panel]]\nname = \"steps\"\nuntil = \"more\"\n```\n\n\
        ```{try} more\nlab = \"occ\"\nset = { threads_per_block = 512 }\ntype = \"numeric\"\n\
        prompt = \"?\"\nmetric = \"more.occupancy\"\n```\n";
    let (mut bench, _) = Bench::opening((120, 40), LESSON);
    let guess = "limits is shown when prediction first is made and its run";
    let attempt = "steps is shown when try more is done";
    // A guess that is made may still change: it stands when its run has begun.
    bench.follow(&[
        ("", &format!("{guess} | {attempt}")),
        ("n\n0.5\n", guess),
        (" ", &format!("{attempt} | no: {guess}")),
    ]);
    assert_eq!(bench.lab().pictures.panels.len(), 2);
    bench.report(vec![Report::Scalar { name: "occupancy".into(), value: 1.0.into() }], 1);
    bench.end(Outcome::Finished);
    while !bench.screen().contains("→ TRY") {
        bench.keys("n");
    }
    bench.follow(&[("\n0.5\n", attempt), ("\t>", attempt)]);
    bench.report(vec![Report::Scalar { name: "occupancy".into(), value: 0.5.into() }], 1);
    bench.end(Outcome::Finished);
    bench.hides(attempt);
    assert_eq!(bench.lab().pictures.panels.len(), 3);
}

#[test]
fn a_guess_that_cannot_be_keeps_its_text_and_says_the_range() {
    const LESSON: &str = "+++\nformat = 1\nid = \"gpu/range\"\ntitle = \"Range\"\nminutes = 5\n+++\n\n\
        ```{predict} first\ntype = \"numeric\"\nprompt = \"?\"\nmetric = \"occ.occupancy\"\n```\n\n\
        ```{lab} occ\nkind = \"occupancy\"\n```\n";
    let (mut bench, _) = Bench::opening((120, 40), LESSON);
    let range = "93 is outside of what this can be: 0 to";
    bench.follow(&[
        ("n\n93\n", &format!("{range} | no: your guess")),
        (" %\n", &format!("your guess: 93 % | no: {range} | does: PredictionMade")),
    ]);
}

#[test]
fn a_guess_that_waits_for_its_run_is_there_again() {
    let mut bench = Bench::in_lesson((120, 40));
    let effects = bench.keys("\n0.9\n");
    let saved = asked!(effects, Effect::Save(event) => event.clone());
    let mut progress = Progress::default();
    saved.for_each(|event| progress.apply(event));
    let mut again = Bench::in_lesson((120, 40));
    again.app.course.progress = progress;
    again.keys("\u{1b}");
    again.app.left_pages.clear();
    again.follow(&[
        ("\n", "your guess: 0.9"),
        ("\n0.8\n", "your guess: 0.8"),
        (" ", "does: PredictionLocked"),
    ]);
}

#[test]
fn a_run_without_steps_counts_none_and_pauses_are_left_out() {
    let mut bench = Bench::in_lesson((120, 40));
    bench.keys("  ");
    bench.report(vec![Report::Scalar { name: "steps_planned".into(), value: 0_i64.into() }], 10);
    bench.end(Outcome::Finished);
    bench.follow(&[("", "finished | no: step 0")]);
    bench.keys(" ");
    bench.report(losses(1..=100), 1000);
    bench.keys(" ");
    bench.report(losses(101..=101), 1010);
    bench.keys(" ");
    bench.report(losses(102..=102), 21_010);
    bench.report(losses(103..=400), 24_010);
    let run = bench.app.session.active.unwrap().run;
    let after = Duration::from_millis(24_010);
    bench.send(Message::Ended { run, outcome: Outcome::Finished, after });
    bench.shows("100 steps/s, 4.0 s measured");
}

#[test]
fn the_title_of_a_lab_stands_below_where_the_row_of_labs_is_full() {
    let labs: String = (0..12)
        .map(|n| {
            format!(
                "```{{lab}} laboratory{n}\nkind = \"occupancy\"\ntitle = \"Number {n}\"\n```\n\n"
            )
        })
        .collect();
    let text = format!("+++\nformat = 1\nid = \"a/b\"\ntitle = \"B\"\nminutes = 1\n+++\n{labs}");
    let (mut bench, _) = Bench::opening((120, 40), &text);
    bench.keys("]");
    let screen = bench.screen();
    let status = screen.lines().rfind(|line| line.contains("running") || line.contains("ready"));
    assert!(status.unwrap().trim_end().ends_with("Number 1"), "{screen}");
}
