//! A gradebook as the results that reports are written from: each question is an item.

use std::time::{Duration, SystemTime};

use mlsys_lesson::{GradeOutcome, Lesson, QuestionGrade};
use mlsys_run::process::Exit;
use mlsys_run::results::{Ending, Item, Kind, LessonResult, Results, Verdict};

use super::{Gradebook, Graded, Refused};

pub fn results(book: &Gradebook, lessons: &[Lesson], started: SystemTime) -> Results {
    let only = book.learners.len() == 1;
    let graded = book.learners.iter().flat_map(|Graded { file, submission, .. }| {
        submission.lessons.iter().map(move |grades| {
            let lesson = grades.lesson.as_str();
            LessonResult {
                id: if only {
                    lesson.to_owned()
                } else {
                    format!("{} {lesson}", submission.learner)
                },
                file: file.clone(),
                title: lesson.to_owned(),
                seed: lessons
                    .iter()
                    .find(|known| known.front.id == grades.lesson)
                    .map_or(0, |known| known.front.seed),
                items: grades.questions.iter().map(item).collect(),
                comparisons: Vec::new(),
            }
        })
    });
    let refused = book.refused.iter().map(refused);
    let ending = if book.interrupted {
        Ending::Interrupted { missing: Vec::new() }
    } else {
        Ending::Complete
    };
    Results { lessons: graded.chain(refused).collect(), started: Some(started), ending, lost: None }
}

fn item(grade: &QuestionGrade) -> Item {
    let reason = |otherwise: &str| grade.remark.clone().unwrap_or_else(|| otherwise.to_owned());
    // Such as what lateness costs; with other outcomes it is the reason.
    let about = match (grade.outcome, &grade.remark) {
        (GradeOutcome::Right, Some(remark)) => format!("{}\n{remark}", grade.prompt),
        _ => grade.prompt.clone(),
    };
    let verdict = match grade.outcome {
        GradeOutcome::Right => Verdict::Passed,
        GradeOutcome::Partial => Verdict::Failed(reason("the answer is right in part")),
        GradeOutcome::Wrong => Verdict::Failed(reason("the answer is wrong")),
        GradeOutcome::NoAnswer => Verdict::Failed("no answer".to_owned()),
        GradeOutcome::NotGraded => {
            Verdict::Broken(reason("it could not be graded"), Exit::CheckFailed)
        }
    };
    Item {
        id: grade.question.clone(),
        about,
        line: 1,
        column: 1,
        why: None,
        kind: Kind::Question {
            points: grade.of,
            earned: grade.points,
            answer: grade.answer.as_ref().map(ToString::to_string),
        },
        verdict,
        elapsed: Duration::ZERO,
    }
}

/// A file without grades is a suite with one error.
fn refused(Refused { file, reason }: &Refused) -> LessonResult {
    let item = Item {
        id: "file".to_owned(),
        about: file.clone(),
        line: 1,
        column: 1,
        why: None,
        kind: Kind::Question { points: 0, earned: 0.0, answer: None },
        verdict: Verdict::Broken(reason.clone(), Exit::CheckFailed),
        elapsed: Duration::ZERO,
    };
    LessonResult {
        id: file.clone(),
        file: file.clone(),
        title: file.clone(),
        seed: 0,
        items: vec![item],
        comparisons: Vec::new(),
    }
}
