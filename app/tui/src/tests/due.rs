//! Due dates, late answers and the limit of attempts, against a clock that the test sets.

use mlsys_lesson::{CourseFile, CourseFiles, Event, Outline, read_course};

use super::{Bench, LESSON, asked};
use crate::message::{Effect, Message};

const COURSE: &str = r#"format = 1
id = "mine"
title = "Systems, spring 2027"
about = "a"
[grading]
attempts = 2
late = { percent_per_day = 25, last_day = 2 }
[[module]]
id = "first"
title = "First"
due = 2027-03-01T12:00:00Z
lessons = ["a.md", "b.md"]
[[module]]
id = "second"
title = "Second"
lessons = ["c.md", "d.md", "e.md"]
[grading.due]
"test/c" = 2027-03-03T11:30:00Z
"test/d" = 2027-04-30T12:00:00Z
"#;

/// 2027-03-01T12:00:00Z.
const DUE: u64 = 1_803_902_400;

/// Five lessons, of which the first four are due, seen at this time.
fn course(size: (u16, u16), now: u64) -> Bench {
    let mut bench = Bench::new(size);
    let file = |text: String| CourseFile { name: "a".to_owned(), bytes: text.into_bytes().into() };
    let id = LESSON.lines().find(|line| line.starts_with("id")).unwrap();
    let lesson = |letter: &str| {
        let text = LESSON.replacen(id, &format!("id = \"test/{letter}\""), 1);
        let text = text.replacen("A small lesson", &format!("Lesson {letter}"), 1);
        (format!("{letter}.md"), file(text))
    };
    let mut files: CourseFiles = ["a", "b", "c", "d", "e"].map(lesson).into();
    files.insert("course.toml".to_owned(), file(COURSE.to_owned()));
    let parsed = read_course(&files, &CourseFiles::new(), bench.app.registry);
    let told: Vec<_> = parsed.all_diagnostics().map(ToString::to_string).collect();
    assert_eq!(told, [""; 0]);
    bench.app.take_course(&Outline::from(parsed.into_course().unwrap()));
    bench.probed();
    bench.send(Message::Clock(mlsys_lesson::Timestamp(now)));
    bench
}

/// Opens the chosen lesson and goes to its first question.
fn go_to_question(bench: &mut Bench) {
    bench.keys("\n");
    for _ in 0..9 {
        if bench.page().marked_question().is_none() {
            bench.keys("n");
        }
    }
    assert_eq!(bench.page().marked_question().unwrap().id, "q1");
}

#[test]
fn the_course_page_says_when_lessons_are_due() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut bench = course(size, DUE + 86_400 - 1800);
        let event = Event::LessonCompleted { lesson: "test/b".parse().unwrap() };
        bench.app.course.progress.apply(event);
        bench.follow(&[
            ("", "1 d late | due in 24 h | due in 59 d | looks: due-course"),
            ("", "1 day late: an answer counts 75 %; | 2027-03-01 12:00 UTC"),
            ("____", "no: UTC | 2 answers count"),
        ]);
    }
}

#[test]
fn a_question_says_what_an_answer_still_counts() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        let mut bench = course(size, DUE - 5400);
        go_to_question(&mut bench);
        bench.follow(&[
            ("", "QUESTION q1 2 points, due in 90 minutes, 2 of 2"),
            ("", "looks: due-question"),
            ("\n1152\n", "not yet | 1 of 2"),
            ("«clock 1803902401»", "1 day late: an answer counts | 1 of 2"),
            ("\n7\n", "no: 1 of 2 | looks: due-late"),
            ("«clock 1804161601»", "4 days late: answers"),
        ]);
        // Coming back shows the same, and so does another start of the program.
        bench.follow(&[("\u{1b}\n", "4 days late: answers | no: 1 of 2")]);
        bench.app.left_pages.clear();
        let progress = bench.app.course.progress.clone();
        let mut later = course(size, DUE - 3600);
        later.app.course.progress = progress;
        go_to_question(&mut later);
        later.follow(&[("", "due in 60 minutes, the 2")]);
    }
}

#[test]
fn a_right_answer_is_due_no_longer() {
    let mut bench = course((120, 40), DUE - 5400);
    go_to_question(&mut bench);
    let effects = bench.keys("\n1218\n");
    assert!(asked!(effects, Effect::Save(Event::AnswerGiven { right: true, .. })));
    bench.follow(&[("", "QUESTION q1 2 points | no: QUESTION q1 2 points, due")]);
}

#[test]
fn without_dates_the_clock_is_not_asked_for() {
    let mut bench = Bench::in_lesson((120, 40));
    assert!(!bench.app.course.has_dates());
    assert_eq!(bench.app.course.until_change(), None);
    bench.follow(&[("", "no: due | no: left")]);
    let bench = course((120, 40), DUE - 5400);
    assert!(bench.app.course.has_dates());
    assert_eq!(bench.app.course.until_change(), Some(1));
}
