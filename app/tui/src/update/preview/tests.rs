//! The author writes, the screen follows.

use super::scroll;
use crate::message::{Effect, Message, PreviewState};
use crate::state::{Instructors, Preview};
use crate::tests::{Bench, asked, point};

const LESSON: &str = include_str!("../../tests/lesson.md");

/// The workbench while an author writes a lesson file, which begins with a text.
fn previewing(size: (u16, u16), text: &str) -> Bench {
    let mut bench = Bench::new(size);
    bench.app.course.lessons.clear();
    bench.probed();
    bench.app.preview = Some(Preview::new("lesson.md".to_owned()));
    bench.saves(text);
    bench
}

impl Bench {
    fn saves(&mut self, text: &str) -> Vec<Effect> {
        let parsed = mlsys_lesson::read("lesson.md", text.as_bytes(), mlsys_registry::built_in());
        self.send(Message::Previewed(PreviewState::Read(Box::new(parsed))))
    }

    fn replaces(&mut self, part: &str, by: &str) -> Vec<Effect> {
        assert!(LESSON.contains(part), "{part:?} is in the lesson");
        self.saves(&LESSON.replace(part, by))
    }
}

fn is_abandoned(effects: &[Effect]) -> bool {
    asked!(effects, Effect::Abandon)
}

#[test]
fn new_prose_is_shown_and_stops_no_run() {
    let mut bench = previewing((120, 40), LESSON);
    bench.keys("  ");
    bench.report(vec![point("loss", 1, 0.7)], 50);
    let effects = bench.replaces("Some text to read", "Some other words");
    assert!(!is_abandoned(&effects), "{effects:?}");
    bench.follow(&[("", "Some other words | running")]);
    bench.train(1.0);
    bench.shows("finished");
}

#[test]
fn a_changed_lab_ends_its_own_run_and_no_other() {
    let mut bench = previewing((120, 40), LESSON);
    bench.keys("  ");
    bench.report(vec![point("loss", 1, 0.7)], 50);
    let run = "```{lab} run\n";
    let effects = bench.replaces(run, &format!("```{{lab}} other\nkind = \"train\"\n```\n\n{run}"));
    assert!(!is_abandoned(&effects), "a lab was added before it");
    let active = bench.app.session.active.unwrap();
    assert_eq!(active.lab, 1);
    bench.report(vec![point("loss", 2, 0.6)], 60);
    let page = bench.page();
    assert_eq!(page.labs[1].run.data.series["loss"].points().len(), 2);

    let effects = bench.replaces("default = 32", "default = 16");
    assert!(is_abandoned(&effects));
    bench.shows("lab 'run' was changed: its run was ended");
    assert!(bench.app.session.active.is_none());

    bench.keys("  ");
    let effects = bench.replaces(run, "```{lab} renamed\n");
    assert!(!is_abandoned(&effects), "not a valid lesson: checks name the lab");
    let without = LESSON.replace("run.", "renamed.").replace(run, "```{lab} renamed\n");
    let effects = bench.saves(&without);
    assert!(is_abandoned(&effects));
    bench.shows("lab 'run' was taken out: its run was ended");
}

#[test]
fn preview_errors_show_until_fixed() {
    let mut bench = previewing((120, 40), LESSON);
    let good = bench.screen();
    bench.replaces("minutes = ", "minuets = ");
    bench.follow(&[
        ("", "the last good version stays on the screen | --> lesson.md: | did you mean"),
        ("", "minuets =  | Some text to read"),
    ]);
    bench.saves(LESSON);
    assert_eq!(bench.screen(), good);
}

#[test]
fn a_file_that_goes_away_leaves_its_last_version() {
    let mut bench = previewing((120, 40), LESSON);
    let good = bench.screen();
    bench.send(Message::Previewed(PreviewState::Unreadable(
        "lesson.md is not there any more".to_owned(),
    )));
    bench.follow(&[("", "lesson.md is not there any more | Some text to read")]);
    bench.saves(LESSON);
    assert_eq!(bench.screen(), good);
}

#[test]
fn a_broken_lesson_opens_once_fixed() {
    let mut bench = previewing((80, 24), &LESSON.replace("minutes = ", "minuets = "));
    bench.shows("it opens as soon as it is right");
    // No lesson of the course stands under the errors, and none opens.
    bench.keys("\n");
    assert!(bench.app.page.is_none());
    bench.follow(&[("", "the file opens as soon as it is right | no: there are no lessons here")]);
    bench.saves(LESSON);
    bench.shows("Some text to read");
}

#[test]
fn answers_are_regraded_on_reload() {
    let mut bench = previewing((120, 60), LESSON);
    bench.follow(&[("nnnn\n1152\n", "Biases are parameters too.")]);
    let answered = |bench: &Bench| {
        let page = bench.page();
        page.answers.values().next().map(|answered| answered.right)
    };
    assert_eq!(answered(&bench), Some(false));
    bench.replaces("answer = \"1218\"", "answer = 1152");
    // The stated wrong answer is now the right one: that is for `lesson check` to tell.
    assert_eq!(answered(&bench), Some(true));
}

#[test]
fn the_reader_stays_at_the_same_lines() {
    let mut bench = previewing((80, 12), LESSON);
    bench.keys("nnn");
    let top = |bench: &Bench| bench.screen().lines().nth(3).map(str::to_owned);
    let before = top(&bench);
    bench.replaces(
        "Some text to read",
        "Five\n\nnew\n\nparagraphs\n\nbefore\n\nall. Some text to read",
    );
    assert_eq!(top(&bench), before);
}

#[test]
fn a_page_left_behind_is_renewed_too() {
    let mut bench = previewing((120, 40), LESSON);
    bench.keys("\u{1b}");
    bench.replaces("Some text to read", "Some other words");
    bench.follow(&[("\n", "Some other words")]);
}

#[test]
fn any_size_bears_any_number_of_errors() {
    let text = LESSON.replace(" = ", " == ");
    for width in (0..60).step_by(7) {
        for height in 0..20 {
            previewing((width, height), &text).screen();
        }
    }
}

#[test]
fn instructors_see_what_students_do_not() {
    let mut bench = previewing((200, 120), LESSON);
    let notes = "```{notes}\nAsk who sees *why*.\n```\n\n```{question} q1\n";
    bench.replaces("```{question} q1\n", notes);
    bench.follow(&[("", "no: Ask who sees | no: students do not see")]);
    bench.keys("i");
    for text in [
        "instructor view",
        "Ask who sees why.",
        "students do not see this",
        "held against: run.accuracy = no value yet",
        "kind: occupancy",
        "knob: width, at first 32",
        "answer: 1218",
        "tolerance: none",
        "wrong: 1152: Biases are parameters too.",
        "hint 2: Add the biases.",
        "changes weights: The optimizer does that.",
        "class: seeded",
        "part: run.parameters == 1218 = no value yet",
    ] {
        bench.shows(text);
    }
    bench.keys("  ");
    bench.train(0.5);
    bench.follow(&[
        ("", "part: run.parameters = 1218 | part: run.accuracy >= 0.95 = false"),
        ("i", "no: students do not see | no: instructor view"),
    ]);
}

#[test]
fn learners_are_told_why_they_do_not() {
    let mut bench = Bench::in_lesson((120, 60));
    bench.follow(&[("i", "only with --instructor | no: students do not see")]);
    bench.app.instructors = Instructors::Admitted;
    bench.follow(&[("i", "students do not see")]);
}

#[test]
fn all_problems_can_be_read_one_by_one() {
    let mut bench = previewing((80, 16), LESSON);
    bench.follow(&[("!", "nothing is wrong with the file")]);
    bench.saves(&LESSON.replace("answer = ", "anser = ").replace("minutes", "minuets"));
    bench.follow(&[
        ("", "! shows them all"),
        ("!", "minuets | no: anser"),
        ("G^^", "anser"),
        ("\u{1b}", "! shows them all"),
    ]);
}

#[test]
fn what_is_read_stays_where_it_is() {
    let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for (top, new, expected) in [
        (4, "a b c d e f g h", 4),
        (4, "new new a b c d e f g h", 6),
        (4, "c d e f g h", 2),
        // The line at the top was rewritten: the one below it holds.
        (4, "a b c d x f g h", 4),
        // And so were all below it.
        (4, "a 1 2 b c d x y z", 6),
        // A line that stands twice holds nothing.
        (4, "e e a b c d e f g h", 6),
        (0, "new a b c", 0),
        (4, "nothing stayed", 0),
    ] {
        assert_eq!(scroll(&lines("a b c d e f g h"), top, &lines(new)), expected, "{top} {new}");
    }
}
