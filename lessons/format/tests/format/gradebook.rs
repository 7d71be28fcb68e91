//! Submissions graded by a course's rules.

use std::collections::BTreeMap;

use mlsys_lesson::{
    Answer, Answers, Attempt, Credit, Details, GradeOutcome, GradingRules, LatePolicy, LessonEnv,
    LessonRules, QuestionGrade, Received, Timestamp, grade_lesson,
};

use crate::support::{everything, json, registry};

const DUE: u64 = 1_000_000;
const DAY: u64 = 86_400;

/// Answers given hourly from an hour before the due date on; those in brackets were told to be right.
fn attempts(given: &str) -> Vec<Attempt> {
    let hours = (0..).map(|hour| Timestamp(DUE - 3600 + 3600 * hour));
    let attempt = |(given, at): (&str, Timestamp)| {
        let right = Some(given.starts_with('['));
        let given = Answer::One(given.trim_matches(['[', ']']).to_owned());
        Attempt { given, right, points: 0, at: Some(at) }
    };
    given.split(' ').zip(hours).map(attempt).collect()
}

/// Grades answers to the lesson's questions `numeric` (3 points), `match` and `list` (1 point each).
fn graded(
    numeric: &str,
    others: &[(&str, &str)],
    rules: LessonRules,
) -> BTreeMap<String, QuestionGrade> {
    let lesson = everything();
    let id = lesson.front.id.clone();
    let details = Details {
        attempts: [("numeric".to_owned(), attempts(numeric))].into(),
        hints: [("numeric".to_owned(), 2)].into(),
        ..Details::default()
    };
    let given = others.iter().map(|(question, given)| ((*question).to_owned(), json(given)));
    let answers = Answers {
        lessons: [(id.clone(), given.collect())].into(),
        details: [(id, details)].into(),
        ..Answers::default()
    };
    let rules =
        GradingRules { lessons: [(lesson.front.id.clone(), rules)].into(), ..Default::default() };
    let received = Received::Exported(Timestamp(DUE + DAY));
    let env = LessonEnv::unrun(&lesson);
    let grades = grade_lesson(&lesson, &answers, received, &rules, (&registry(), &env));
    grades.into_iter().map(|grade| (grade.question.clone(), grade)).collect()
}

#[test]
fn attempts_and_lateness_decide_which_answer_counts_and_what_it_earns() {
    let due = Some(Timestamp(DUE));
    let late = Some(LatePolicy { percent_per_day: 10.0, last_day: Some(1) });
    let (whole, right) = (Credit::Whole, "268435456");
    let rules = |late, attempts| LessonRules { due, late, attempts, credit: whole };
    for (given, rules, points, days_late, remark) in [
        (format!("1 [{right}]"), rules(None, None), 3.0, 0, None),
        (format!("1 2 [{right}]"), rules(None, None), 0.0, 0, None),
        (format!("1 2 [{right}]"), rules(late, None), 2.7, 1, Some("1 day late")),
        (format!("1 2 [{right}]"), rules(late, Some(2)), 0.0, 0, Some("first 2 of 3 answers")),
        (format!("[{right}] 1 2"), rules(late, Some(1)), 3.0, 0, Some("first 1 of 3 answers")),
        // Where the learner is not told what is right, the last answer counts.
        (format!("1 {right}"), rules(None, None), 3.0, 0, None),
        (format!("{right} 1"), rules(None, None), 0.0, 0, None),
    ] {
        let grade = graded(&given, &[], rules).remove("numeric").unwrap();
        let told = (grade.points, grade.days_late, grade.hints, grade.of);
        assert_eq!(told, (points, days_late, 2, 3), "{given}: {grade:?}");
        let wanted = remark.is_none_or(|r| grade.remark.as_ref().unwrap().contains(r));
        assert!(wanted, "{given}: {grade:?}");
    }
    // An answer without a time was given when the file was exported; all are late for a trusted clock.
    let rules = rules(late, None);
    let grades = graded("1", &[("list", "[2, 4, 8]")], rules);
    assert_eq!((grades["list"].points, grades["list"].days_late), (0.9, 1));
    assert_eq!(grades["match"].outcome, GradeOutcome::NoAnswer);
}

#[test]
fn credit_for_parts_is_the_courses_choice() {
    let answers = [("match", r#"{"TPU": "Google", "H100": "Intel"}"#), ("list", "[2, 4, 9]")];
    for (credit, outcome, points) in [
        (Credit::Whole, GradeOutcome::Wrong, [0.0, 0.0]),
        (Credit::Partial, GradeOutcome::Partial, [0.5, 0.67]),
    ] {
        let grades = graded("1", &answers, LessonRules { credit, ..LessonRules::default() });
        assert_eq!(["match", "list"].map(|question| grades[question].points), points);
        assert_eq!(grades["list"].outcome, outcome);
        assert_eq!(grades["numeric"].outcome, GradeOutcome::Wrong);
    }
}
