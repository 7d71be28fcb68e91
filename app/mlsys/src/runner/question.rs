//! Questions: a learner's answers graded, or the lesson's own tried on it.

use std::time::{Duration, Instant};

use mlsys_expr::Env;
use mlsys_lesson::{Answer, Answers, Diagnostic, Lesson, Question, Verdict as Graded};

use mlsys_run::results::{Item, Kind, Verdict};

/// Whose answers are graded.
pub enum Graders {
    /// The lesson's own: what it states as right must be accepted, and what it states as wrong must not.
    Stated,
    /// A learner's.
    Learner(Answers),
}

/// Grades all questions of a lesson.
pub fn items(lesson: &Lesson, graders: &Graders, env: &dyn Env) -> Vec<Item> {
    match graders {
        Graders::Stated => {
            let problems = mlsys_lesson::self_test(lesson, env, mlsys_registry::registry());
            lesson.questions().map(|question| stated(lesson, question, &problems)).collect()
        }
        Graders::Learner(answers) => {
            let answer = |question: &Question| answers.get(&lesson.front.id, &question.id);
            lesson.questions().map(|question| learners(question, answer(question), env)).collect()
        }
    }
}

/// Said of a question whose answer is not in the lesson.
const WITHHELD: &str = "its answer is kept elsewhere";

/// Said of an answer to such a question.
const GRADED_LATER: &str =
    "answer recorded, graded later: its right answer is kept elsewhere; `--key FILE` grades it";

fn stated(lesson: &Lesson, question: &Question, problems: &[Diagnostic]) -> Item {
    let lines = lesson.source.line(question.place.start)..=lesson.source.line(question.place.end);
    let own = problems.iter().filter(|problem| problem.is_error() && lines.contains(&problem.line));
    let reasons: Vec<&str> = own.map(|problem| problem.message.as_str()).collect();
    let verdict = if question.kind.is_withheld() {
        Verdict::Skipped(WITHHELD.to_owned())
    } else if reasons.is_empty() {
        Verdict::Passed
    } else {
        Verdict::Failed(reasons.join("; "))
    };
    item(question, verdict, Duration::ZERO)
}

fn learners(question: &Question, answer: Option<&Answer>, env: &dyn Env) -> Item {
    let started = Instant::now();
    let verdict = match answer {
        None => Verdict::Failed("no answer".to_owned()),
        Some(answer) => {
            let grade = question.grade(answer, env, mlsys_registry::registry());
            match grade.verdict {
                Graded::Right => Verdict::Passed,
                Graded::Wrong => Verdict::Failed(
                    grade.feedback.unwrap_or_else(|| "the answer is wrong".to_owned()),
                ),
                Graded::Recorded => Verdict::Skipped(GRADED_LATER.to_owned()),
                Graded::Malformed => Verdict::Failed(
                    grade.feedback.unwrap_or_else(|| "this is no answer".to_owned()),
                ),
            }
        }
    };
    item(question, verdict, started.elapsed())
}

fn item(question: &Question, verdict: Verdict, elapsed: Duration) -> Item {
    let earned = if verdict == Verdict::Passed { question.points } else { 0 };
    Item {
        id: question.id.clone(),
        about: question.prompt.clone(),
        kind: Kind::Question { points: question.points, earned },
        verdict,
        elapsed,
    }
}
