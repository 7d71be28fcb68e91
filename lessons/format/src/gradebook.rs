//! A submission graded question by question, with the course's rules on due dates, attempts and partial credit.

use mlsys_expr::Env;
use mlsys_lab::value::plural;
use serde::{Deserialize, Serialize};

use crate::grade::{Answer, Grade, Grader, Parts, Verdict};
use crate::model::{Credit, GradingRules, Lesson, LessonId, LessonRules, Question, Timestamp};
use crate::progress::Attempt;
use crate::progress::answers::Answers;

/// What a learner gets for a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuestionGrade {
    pub question: String,
    /// What was asked, with the learner's own numbers.
    pub prompt: String,
    pub outcome: GradeOutcome,
    /// Rounded to hundredths.
    pub points: f64,
    /// Points of a right answer that is not late.
    pub of: u32,
    /// Answers that the learner gave.
    pub attempts: usize,
    pub hints: usize,
    /// Started days after the due date at which the counted answer was given.
    pub days_late: u32,
    /// The answer that counts.
    pub answer: Option<Answer>,
    /// The tests that a kernel failed, and how.
    pub failed: Vec<String>,
    /// What is said to the answer, the tests that it failed, and why it earns less than a right one in time.
    pub remark: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GradeOutcome {
    Right,
    /// Right in part, and the course gives credit for that.
    Partial,
    Wrong,
    NoAnswer,
    /// It could not be graded, through no fault of the answer.
    NotGraded,
}

/// When answers count as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Received {
    /// When each was given, or else when the file was exported, by the learner's clock.
    Exported(Timestamp),
    /// All at once, by a clock that the grader trusts.
    At(Timestamp),
}

impl GradeOutcome {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Partial => "right in part",
            Self::Wrong => "wrong",
            Self::NoAnswer => "no answer",
            Self::NotGraded => "not graded",
        }
    }
}

impl Received {
    fn time_of(self, attempt: &Attempt) -> Timestamp {
        match self {
            Self::Exported(exported) => attempt.at.unwrap_or(exported),
            Self::At(received) => received,
        }
    }
}

impl QuestionGrade {
    /// A question that was not graded.
    pub fn without(question: &Question, outcome: GradeOutcome, remark: Option<String>) -> Self {
        Self {
            question: question.id.clone(),
            prompt: question.prompt.clone(),
            outcome,
            points: 0.0,
            of: question.points,
            attempts: 0,
            hints: 0,
            days_late: 0,
            answer: None,
            failed: Vec::new(),
            remark,
        }
    }
}

/// Grades the answers to the questions of a lesson, in their order. `env` has the values of its labs.
pub fn grade_lesson(
    lesson: &Lesson,
    answers: &Answers,
    received: Received,
    rules: &GradingRules,
    (grader, env): (&dyn Grader, &dyn Env),
) -> Vec<QuestionGrade> {
    let rules = rules.of(&lesson.front.id);
    let grade = |question: &Question| {
        let details = answers.details.get(&lesson.front.id);
        let hints = details.and_then(|details| details.hints.get(&question.id)).copied();
        let attempts = attempts(&lesson.front.id, question, answers);
        let counted = counted(&attempts, received, rules);
        let blank = QuestionGrade {
            attempts: attempts.len(),
            hints: hints.unwrap_or(0),
            ..QuestionGrade::without(question, GradeOutcome::NoAnswer, None)
        };
        let Some((attempt, days_late)) = counted else { return blank };
        let grade = grader.grade(lesson, question, &attempt.given, env);
        let is_known = grade.verdict != Verdict::Malformed
            || if question.is_executed() {
                let stated = grader.grade(lesson, question, &question.stated_answer(), env);
                stated.verdict == Verdict::Right
            } else {
                question.has_known_answer(env)
            };
        let blank = QuestionGrade { days_late, answer: Some(attempt.given.clone()), ..blank };
        if is_known {
            scored(blank, grade, rules, attempts.len())
        } else {
            QuestionGrade { outcome: GradeOutcome::NotGraded, remark: grade.feedback, ..blank }
        }
    };
    lesson.questions().map(grade).collect()
}

/// All answers to a question; a file without details has the last one alone.
fn attempts(lesson: &LessonId, question: &Question, answers: &Answers) -> Vec<Attempt> {
    let details = answers.details.get(lesson);
    match details.and_then(|details| details.attempts.get(&question.id)) {
        Some(attempts) if !attempts.is_empty() => attempts.clone(),
        Some(_) | None => {
            let given = answers.get(lesson, &question.id).cloned().into_iter();
            given.map(|given| Attempt { given, right: None, points: 0, at: None }).collect()
        }
    }
}

/// The answer that counts and how late it is: of those within the limit of attempts and in time the first right one, else
/// the last; if all are too late, of those.
fn counted<'a>(
    attempts: &'a [Attempt],
    received: Received,
    rules: &LessonRules,
) -> Option<(&'a Attempt, u32)> {
    let most = rules.attempts.map_or(usize::MAX, |most| most as usize);
    let days = |attempt: &Attempt| rules.days_late(received.time_of(attempt));
    let within = attempts.iter().take(most).map(|attempt| (attempt, days(attempt)));
    let mut in_time: Vec<_> = within.clone().filter(|(_, days)| rules.share(*days) > 0.0).collect();
    if in_time.is_empty() {
        in_time = within.collect();
    }
    let right = in_time.iter().find(|(attempt, _)| attempt.right == Some(true));
    right.or(in_time.last()).copied()
}

fn scored(
    blank: QuestionGrade,
    grade: Grade,
    rules: &LessonRules,
    attempts: usize,
) -> QuestionGrade {
    let (outcome, earned) = match (grade.verdict, rules.credit, grade.parts) {
        (Verdict::Right, ..) => (GradeOutcome::Right, 1.0),
        (Verdict::Recorded, ..) => (GradeOutcome::NotGraded, 0.0),
        (Verdict::Wrong, Credit::Partial, Some(Parts { right, of })) if right > 0 => {
            (GradeOutcome::Partial, right as f64 / of as f64)
        }
        (Verdict::Wrong | Verdict::Malformed, ..) => (GradeOutcome::Wrong, 0.0),
    };
    let share = rules.share(blank.days_late);
    // The lines after the first show the place in an answer that does not read.
    let said = grade.feedback.into_iter().map(|said| match grade.verdict {
        Verdict::Malformed => said.lines().next().unwrap_or_default().to_owned(),
        Verdict::Right | Verdict::Wrong | Verdict::Recorded => said,
    });
    let mut remarks: Vec<String> = said.collect();
    // What is said to a kernel is its first failed test, unless the lesson has words of its own.
    let said = remarks.first().cloned().unwrap_or_default();
    remarks.extend(grade.failed.iter().filter(|test| !said.contains(test.as_str())).cloned());
    if let (GradeOutcome::Partial, Some(Parts { right, of })) = (outcome, grade.parts) {
        remarks.push(format!("{right} of {of} are right"));
    }
    if blank.days_late > 0 && earned > 0.0 {
        let percent = 100.0 * (1.0 - share);
        let late = plural(blank.days_late as usize, "day");
        remarks.push(format!("{late} late, which costs {percent:.0} %"));
    }
    if let Some(most) = rules.attempts.filter(|most| attempts > *most as usize) {
        remarks.push(format!("only the first {most} of {attempts} answers count"));
    }
    QuestionGrade {
        outcome,
        points: (100.0 * f64::from(blank.of) * earned * share).round() / 100.0,
        failed: grade.failed,
        remark: remarks.into_iter().reduce(joined),
        ..blank
    }
}

/// Two remarks as one text, of which the first may be whole sentences.
fn joined(first: String, second: String) -> String {
    let mark = if first.ends_with(['.', '!', '?']) { "" } else { ";" };
    format!("{first}{mark} {second}")
}
