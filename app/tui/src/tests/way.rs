//! The way through a lesson: fields that come into sight, and what is left at the end.

use std::collections::BTreeSet;

use mlsys_lab::report::Report;
use mlsys_run::outcome::Outcome;

use super::{Bench, asked, read};
use crate::message::Effect;

const FRONT: &str = "+++\nformat = 1\nid = \"a/b\"\ntitle = \"B\"\nminutes = 1\n+++\n";

fn question(id: &str, answer: u32) -> String {
    format!(
        "```{{question}} {id}\ntype = \"numeric\"\nprompt = \"What is {id}?\"\nanswer = {answer}\n```\n\n"
    )
}

fn lines(count: usize) -> String {
    (0..count).map(|line| format!("Line {line}.\n\n")).collect()
}

#[test]
fn a_field_and_the_message_under_it_come_whole_into_sight() {
    for (width, height) in [(80, 24), (120, 40)] {
        // The task lies at the lower edge of the screen, whichever line that is.
        for above in usize::from(height) / 2 - 6..usize::from(height) / 2 + 2 {
            let text = [FRONT, &lines(above), &question("q", 7), &lines(30)].concat();
            let (mut bench, _) = Bench::opening((width, height), &text);
            while !bench.page().arrived {
                bench.keys("n");
            }
            bench.follow(&[
                ("\n", "QUESTION q | enter gives it"),
                // Of two lines at 80 columns.
                ("nnn\n", "QUESTION q | > nnn | 2*512^3: "),
            ]);
        }
    }
}

#[test]
fn a_task_with_its_head_above_the_screen_opens_whole() {
    let pairs: String =
        (0..6).map(|n| format!("[[pair]]\nleft = \"left {n}\"\nright = \"right {n}\"\n")).collect();
    let matching =
        format!("```{{question}} m\ntype = \"match\"\nprompt = \"Which?\"\n{pairs}```\n\n");
    let text = [FRONT, "Text.\n\n", &matching, &lines(30)].concat();
    let (mut bench, _) = Bench::opening((80, 24), &text);
    bench.follow(&[
        ("n______", "no: QUESTION m | f) "),
        ("\n", "QUESTION m | 1. left 0 | f) | enter gives them"),
    ]);
    // A task without room keeps its field in sight.
    let (mut bench, _) = Bench::opening((80, 12), &text);
    bench.follow(&[("n\n", "> | enter gives them"), ("x\n", "> x | is not one of the letters")]);
}

#[test]
fn enter_opens_the_open_task_on_the_screen_and_not_one_that_has_left_it() {
    let text = [FRONT, &question("q", 7), &lines(9), &question("r", 7), &lines(30)].concat();
    let (mut bench, _) = Bench::opening((80, 24), &text);
    bench.follow(&[
        ("n\n7\n", "right: 7"),
        // Answered and in sight it opens again.
        ("\n", "> 7"),
        ("\u{1b}______", "no: QUESTION q | QUESTION r | no: → QUESTION r"),
        ("\n", "→ QUESTION r | > | enter gives it"),
    ]);
}

#[test]
fn after_the_end_n_goes_only_to_what_is_open() {
    let questions = ["q", "r", "s", "t"].map(|id| question(id, 7)).concat();
    let text = [FRONT, &questions].concat();
    let (mut bench, _) = Bench::opening((120, 60), &text);
    bench.follow(&[
        ("n\n7\nnn\n7\n", "→ QUESTION s"),
        ("nn", "end of the lesson: 2 of 4 questions right; n goes to what is open"),
        ("n", "→ QUESTION r"),
        ("n", "→ QUESTION t"),
        ("n", "n goes to what is open"),
        ("n", "→ QUESTION r"),
        ("\n7\nn", "→ QUESTION t"),
        ("\n7\nn", "4 of 4 questions right; this was the last lesson"),
    ]);
}

#[test]
fn p_goes_back_from_what_is_seen() {
    let questions = ["q", "r", "s"].map(|id| [question(id, 7), lines(20)].concat()).concat();
    let text = [FRONT, &questions].concat();
    let (mut bench, _) = Bench::opening((120, 40), &text);
    bench.follow(&[
        ("«end-key»p", "→ QUESTION s"),
        ("p", "→ QUESTION r"),
        ("p", "→ QUESTION q"),
        ("p", "→ QUESTION q"),
    ]);
}

#[test]
fn the_end_leads_once_to_a_lab_that_checks_wait_for() {
    let lab = "```{lab} run\nkind = \"train\"\n```\n\n\
        ```{check} c\nassert = \"run.accuracy > 0.5\"\nclass = \"seeded\"\n```\n\n";
    let text = [FRONT, lab, &question("q", 7)].concat();
    let (mut bench, _) = Bench::opening((120, 40), &text);
    bench.follow(&[
        ("nn\n7\nn", "0 of 1 checks hold; n goes to lab run, which checks wait for"),
        ("n", "→ LAB run"),
        ("n", "this was the last lesson"),
        ("n", "this was the last lesson"),
    ]);
}

#[test]
fn a_lesson_is_complete_once_its_tries_are_done() {
    let lab = "```{lab} occ\nkind = \"occupancy\"\n[knob.threads_per_block]\nvalues = [256, 512]\n```\n\n\
        ```{try} more\nlab = \"occ\"\nset = { threads_per_block = 512 }\ntype = \"numeric\"\n\
        prompt = \"What is it then?\"\nmetric = \"more.occupancy\"\n```\n\n";
    let text = [FRONT, &question("q", 7), lab].concat();
    let (mut bench, _) = Bench::opening((120, 40), &text);
    let is_complete = |effects: &[Effect]| {
        asked!(effects, Effect::Save(event) => event.clone())
            .any(|event| matches!(event, mlsys_lesson::Event::LessonCompleted { .. }))
    };
    let answers = |bench: &mut Bench, occupancy: f64| {
        bench.report(vec![Report::Scalar { name: "occupancy".into(), value: occupancy.into() }], 1);
        bench.end(Outcome::Finished);
    };
    answers(&mut bench, 1.0);
    assert!(!is_complete(&bench.keys("n\n7\n")));
    assert!(!is_complete(&bench.keys("nn\n0.5\n\t>")));
    answers(&mut bench, 0.5);
    bench.follow(&[("", "lesson complete: B")]);
}

#[test]
fn a_number_is_one_of_the_listed_whatever_its_spelling() {
    let text = [
        FRONT,
        "```{lab} run\nkind = \"train\"\n[knob.learning_rate]\nvalues = [1, 2, 3]\ndefault = 1\n```\n\n",
    ]
    .concat();
    let (mut bench, _) = Bench::opening((120, 40), &text);
    bench.follow(&[
        ("\t\n3.0\n", "learning_rate 3* | no: is one of"),
        ("<", "learning_rate 2*"),
        // The lesson's own value, which it writes as a whole number.
        ("<", "learning_rate 1 | no: learning_rate 1*"),
        (">", "learning_rate 2*"),
        ("\n2.5\n", "in this lesson learning_rate is one of: 1, 2, 3"),
    ]);
}

/// Live labs turn a narrow screen to their pictures, away from the guess that their run answers.
#[test]
fn the_step_after_a_run_shows_what_it_has_revealed() {
    let lab = "```{lab} run\nkind = \"train\"\n[set]\nsteps = 400\n```\n\n";
    let guess = "```{predict} p\nlab = \"run\"\ntype = \"numeric\"\nprompt = \"What accuracy?\"\n\
        metric = \"run.accuracy\"\n```\n\n";
    let text = [FRONT, "Text.\n\n", guess, lab, &lines(30), &question("q", 7)].concat();
    let (mut bench, _) = Bench::opening((80, 24), &text);
    bench.follow(&[("n\n0.5\n ", "no: What accuracy")]);
    bench.train(0.97);
    bench.follow(&[
        ("", "n shows how near it was"),
        ("n", "What accuracy | You said 0.5; measured 0.97"),
        ("n", "→ LAB run | no: how near"),
    ]);
    // Scrolled away on a wide screen.
    let (mut bench, _) = Bench::opening((120, 40), &text);
    bench.follow(&[("n\n0.5\n n______", "no: What accuracy")]);
    bench.train(0.97);
    bench.follow(&[("", "n shows how near it was"), ("n", "You said 0.5; measured 0.97")]);
    // In sight it needs no step of its own.
    let (mut bench, _) = Bench::opening((120, 40), &text);
    bench.follow(&[("n\n0.5\n ", "What accuracy")]);
    bench.train(0.97);
    bench.follow(&[("", "You said 0.5 | no: how near"), ("n", "→ LAB run")]);
}

#[test]
fn no_text_is_passed_over_where_a_run_answers_guesses() {
    let lab = "```{lab} occ\nkind = \"occupancy\"\n```\n\n";
    let guess = |id: &str| {
        format!(
            "```{{predict}} {id}\nlab = \"occ\"\ntype = \"numeric\"\nprompt = \"How many?\"\n\
             metric = \"occ.occupancy\"\nexplain = \"Because.\"\n```\n\n"
        )
    };
    let text = [FRONT, &guess("p"), &guess("q"), &lines(30), lab, &question("end", 7)].concat();
    let (mut bench, _) = Bench::opening((80, 24), &text);
    bench.keys("n\n0.5\nn\n0.5\n");
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    let mut look = |bench: &Bench| {
        let screen = bench.screen();
        seen.extend((0..30).filter(|line| screen.contains(&format!("Line {line}."))));
    };
    look(&bench);
    bench.keys("n");
    bench.report(vec![Report::Scalar { name: "occupancy".into(), value: 1.0.into() }], 1);
    bench.end(Outcome::Finished);
    for _ in 0..6 {
        look(&bench);
        bench.keys("n");
    }
    assert_eq!(seen, (0..30).collect());
}

#[test]
fn a_try_says_which_other_run_it_waits_for() {
    let occupancy = |id: &str| {
        format!(
            "```{{lab}} {id}\nkind = \"occupancy\"\n[knob.threads_per_block]\nvalues = [256, 512]\n```\n\n"
        )
    };
    let guess = "```{predict} p\nlab = \"base\"\ntype = \"numeric\"\nprompt = \"How many?\"\n\
        metric = \"base.occupancy\"\n```\n\n";
    let attempt = "```{try} more\nlab = \"other\"\nset = { threads_per_block = 512 }\ntype = \"numeric\"\n\
        prompt = \"What is it then?\"\nmetric = \"more.occupancy / base.occupancy\"\n```\n\n";
    let text = [FRONT, guess, &occupancy("base"), &occupancy("other"), attempt].concat();
    let (mut bench, _) = Bench::opening((120, 40), &text);
    let answers = |bench: &mut Bench, occupancy: f64| {
        bench.report(vec![Report::Scalar { name: "occupancy".into(), value: occupancy.into() }], 1);
        bench.end(Outcome::Finished);
    };
    // Past the guess for the first lab, which so never runs.
    bench.keys("nnn");
    answers(&mut bench, 1.0);
    bench.keys("n\n0.5\n\t>");
    answers(&mut bench, 0.6123456);
    bench.follow(&[("", "it also needs a run of base")]);
    bench.keys("\t\t[  ");
    answers(&mut bench, 1.0);
    bench.follow(&[("", "no: it also needs | You said 0.5; computed 0.6123")]);
}

/// Whether it is a key of this page, of another or of none.
#[test]
fn every_letter_of_an_option_begins_the_answer() {
    let wrong: String =
        ('b'..='m').map(|n| format!("[[wrong]]\nvalue = \"{n}\"\nsay = \"No.\"\n")).collect();
    let choice = format!(
        "```{{question}} c\ntype = \"choice\"\nprompt = \"Which?\"\nanswer = \"a\"\n{wrong}```\n\n"
    );
    let text = [FRONT, &choice].concat();
    // h asks for a hint.
    for letter in ('a'..='m').filter(|letter| *letter != 'h') {
        let (mut bench, _) = Bench::opening((80, 24), &text);
        bench.follow(&[(&format!("n{letter}"), &format!("> {letter}"))]);
    }
}

fn occupancy(id: &str) -> String {
    format!("```{{lab}} {id}\nkind = \"occupancy\"\n```\n\n")
}

#[test]
fn a_task_brings_the_lab_above_it_to_the_screen_where_n_passes_that_lab_over() {
    let text = [FRONT, &question("q", 7), &occupancy("one"), &question("r", 7)].concat();
    let text = [text.as_str(), &occupancy("two"), &question("s", 7), &question("t", 7)].concat();
    let (mut bench, _) = Bench::opening((120, 40), &text);
    let shown = |bench: &mut Bench, keys: &str| {
        bench.keys(keys);
        bench.lab().id.clone()
    };
    // All the way through once, and then from open task to open task.
    assert_eq!(shown(&mut bench, "nnnnn"), "two");
    bench.follow(&[("nnn", "→ QUESTION q")]);
    bench.keys("[");
    bench.follow(&[("n", "→ QUESTION r")]);
    assert_eq!(shown(&mut bench, ""), "one");
    bench.follow(&[("n", "→ QUESTION s")]);
    assert_eq!(shown(&mut bench, ""), "two");
    // The lab that was chosen stays where the next task is about the same one.
    assert_eq!(shown(&mut bench, "["), "one");
    bench.follow(&[("n", "→ QUESTION t")]);
    assert_eq!(shown(&mut bench, ""), "one");
}

#[test]
fn a_lesson_opened_again_runs_the_lab_that_the_marked_guess_waits_for() {
    let guess = "```{predict} p\nlab = \"two\"\ntype = \"numeric\"\nprompt = \"How many?\"\n\
        metric = \"two.accuracy\"\n```\n\n";
    let lab = |id: &str| format!("```{{lab}} {id}\nkind = \"train\"\n```\n\n");
    let text = [FRONT, guess, &lab("one"), &lab("two")].concat();
    let (mut bench, _) = Bench::opening((120, 40), &text);
    bench.follow(&[("n\n0.5\n", "space runs it")]);
    assert_eq!(bench.lab().id, "two");
    let progress = bench.app.course.progress.clone();
    let mut again = Bench::new((120, 40));
    again.app.course.progress = progress;
    again.app.open(read("a.md", &text));
    again.follow(&[("", "space runs it")]);
    assert_eq!(again.lab().id, "two");
}

#[test]
fn tab_goes_from_the_text_to_the_picture_of_a_lab_without_knobs() {
    let with_knob = "```{lab} two\nkind = \"occupancy\"\n[knob.threads_per_block]\n```\n\n";
    let text = [FRONT, &occupancy("one"), with_knob].concat();
    for size in [(80, 24), (120, 40)] {
        let (mut bench, _) = Bench::opening(size, &text);
        bench.follow(&[
            ("\t", "at: picture"),
            ("\t", "at: text"),
            ("\t]", "at: picture"),
            ("\t\t", "at: lab"),
            ("\t", "at: picture"),
        ]);
    }
}

#[test]
fn an_example_has_no_more_letters_than_are_asked_for() {
    let pairs: String =
        (0..2).map(|n| format!("[[pair]]\nleft = \"left {n}\"\nright = \"right {n}\"\n")).collect();
    let matching =
        format!("```{{question}} m\ntype = \"match\"\nprompt = \"Which?\"\n{pairs}```\n\n");
    let (mut bench, _) = Bench::opening((200, 40), &[FRONT, &matching].concat());
    bench.follow(&[("n\n", "such as b a; enter")]);
}

#[test]
fn the_one_picture_of_a_lab_comes_to_a_small_screen() {
    let lab = |kind: &str, panel: &str| {
        format!("```{{lab}} one\nkind = \"{kind}\"\n[[panel]]\nname = \"{panel}\"\n```\n\n")
    };
    let predict = "```{predict} p\ntype = \"numeric\"\nprompt = \"How many?\"\n\
        metric = \"one.warps_per_sm\"\n```\n\n";
    let live = [FRONT, &lab("train", "loss-curve"), &lines(30)].concat();
    let (mut bench, _) = Bench::opening((80, 24), &live);
    bench.follow(&[
        ("", "no: loss-curve"),
        ("v", "loss-curve"),
        ("v", "there is no other picture"),
    ]);
    let instant = [FRONT, predict, &lab("occupancy", "steps"), &lines(30)].concat();
    let (mut bench, _) = Bench::opening((80, 24), &instant);
    bench
        .follow(&[(" ", "predict first | at: text"), (" ", "steps | no: How many? | does: Start")]);
    // A guess is answered where it was made.
    let (mut bench, _) = Bench::opening((80, 24), &instant);
    bench.follow(&[("n\n3\n ", "How many? | does: Start")]);
}

#[test]
fn pairs_are_told_a_line_each() {
    let pairs: String = (0..3)
        .map(|n| format!("[[pair]]\nleft = \"left {n}\"\nright = \"right: {n}\"\n"))
        .collect();
    let matching =
        format!("```{{question}} m\ntype = \"match\"\nprompt = \"Which?\"\n{pairs}```\n\n");
    let (mut bench, _) = Bench::opening((80, 40), &[FRONT, &matching].concat());
    bench.keys("n\naaa\n");
    let screen = bench.screen();
    let told: Vec<&str> = screen.lines().filter(|line| line.contains(" → right: ")).collect();
    assert_eq!(told.len(), 3, "{screen}");
    bench.follow(&[("", "not yet: "), ("", "no: left 0: ")]);
}

#[test]
fn hints_are_offered_while_there_are_any() {
    let question = "```{question} q\ntype = \"numeric\"\nprompt = \"What?\"\nanswer = 7\n\
        hints = [\"One.\", \"Two.\"]\n```\n\n";
    let (mut bench, _) = Bench::opening((120, 40), &[FRONT, question].concat());
    bench.follow(&[("n", "h: hint"), ("h", "h: hint"), ("h", "hint 2 of 2 | no: h: hint")]);
}

#[test]
fn the_card_of_a_try_has_the_id_that_panels_wait_for() {
    let text = [
        FRONT,
        "```{lab} one\nkind = \"occupancy\"\n[knob.threads_per_block]\n[[panel]]\nname = \"steps\"\n\
            [[panel]]\nname = \"slots\"\nuntil = \"thin\"\n```\n\n",
        "```{try} thin\ntype = \"numeric\"\nlab = \"one\"\nset = { threads_per_block = 32 }\n\
            prompt = \"How many?\"\nmetric = \"thin.warps_per_sm\"\n```\n\n",
    ]
    .concat();
    let (mut bench, _) = Bench::opening((120, 40), &text);
    bench.follow(&[("n", "slots is shown when try thin is done | TRY thin guess, then turn")]);
}

#[test]
fn what_was_revealed_in_sight_is_not_told_at_another_lab() {
    let predict = "```{predict} p\ntype = \"numeric\"\nprompt = \"How many?\"\n\
        metric = \"one.warps_per_sm\"\n```\n\n";
    let lab = |id: &str| format!("```{{lab}} {id}\nkind = \"occupancy\"\n```\n\n");
    let text = [FRONT, predict, &lab("one"), &lab("two")].concat();
    let (mut bench, _) = Bench::opening((80, 24), &text);
    bench.keys("n\n3\n ");
    let warps = Report::Scalar { name: "warps_per_sm".into(), value: 64_i64.into() };
    bench.report(vec![warps], 10);
    bench.follow(&[
        ("«end»", "You said 3 | no: this run answers"),
        ("\t]«end»", "no: this run answers your guess"),
    ]);
}
