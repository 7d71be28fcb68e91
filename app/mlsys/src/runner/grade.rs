//! Checks, questions and predictions of a lesson that was run, judged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mlsys_expr::{Env, EvalError, Expr, Value as Known, evaluate};
use mlsys_lab::Registry;
use mlsys_lab::schema::{Class, Label};
use mlsys_lab::value::Value;
use mlsys_lesson::{
    Answer, Answers, Check, CheckOutcome, DeviceFacts, Diagnostic, Formula, Grader, Lesson,
    LessonEnv, Place, Predict, Question, Target, Verdict as Graded,
};
use mlsys_run::results::{Item, Kind, Verdict};

use super::Worker;
use super::plan::{Plan, Ran, Runs, env};
use crate::cli::AnswerLimits;
use crate::grader::ProcessGrader;

/// The verdict on a hardware check that fails each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HardwareRule {
    /// Unstable, which is no failure.
    Report,
    Fail,
}

/// How often a hardware check that fails is tried again.
const RETRIES: u32 = 2;

/// The labs of a lesson with their runs, on which its checks are tried.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    pub lesson: &'a Lesson,
    pub plan: &'a [Plan<'a>],
    pub ran: &'a BTreeMap<&'a str, Ran>,
    pub facts: &'a Option<DeviceFacts>,
    pub rule: HardwareRule,
}

/// Tries a check; one of class hardware that fails gets fresh runs of its labs, twice.
pub fn check_item(
    check: &Check,
    setting: Setting<'_>,
    runs: &Runs,
    worker: &mut Worker<'_>,
) -> Item {
    let started = Instant::now();
    let mut verdict = judged(check, setting.ran, setting);
    if check.class == Class::Hardware {
        let mut tries = 0;
        while matches!(verdict, Verdict::Failed(_))
            && tries < RETRIES
            && !worker.interrupt.is_asked()
        {
            tries += 1;
            let fresh = fresh_runs(&check.assert.expr, setting, runs, worker);
            verdict = judged(check, &fresh, setting);
        }
        verdict = match (verdict, setting.rule) {
            (Verdict::Failed(reason), HardwareRule::Report) => Verdict::Unstable(format!(
                "failed {} times, the last time with {reason}",
                tries + 1
            )),
            (verdict, HardwareRule::Report | HardwareRule::Fail) => verdict,
        };
    }
    Item {
        id: check.id.clone(),
        about: check.assert.source.clone(),
        line: setting.lesson.source.line(check.place.start),
        column: 1,
        why: check.why.clone(),
        kind: Kind::Check { class: check.class },
        verdict,
        elapsed: started.elapsed(),
    }
}

/// The runs again, those that the condition speaks of and that take a device done anew.
fn fresh_runs<'a>(
    condition: &Expr,
    setting: Setting<'a>,
    runs: &Runs,
    worker: &mut Worker<'_>,
) -> BTreeMap<&'a str, Ran> {
    let named = labs_of(condition);
    let again = |plan: &&Plan<'_>| named.contains(plan.id) && plan.schema().is_live();
    let mut ran = setting.ran.clone();
    for plan in setting.plan.iter().filter(again) {
        ran.insert(plan.id, runs.again(setting.lesson.front.id.as_str(), plan, worker));
    }
    ran
}

fn judged(check: &Check, ran: &BTreeMap<&str, Ran>, setting: Setting<'_>) -> Verdict {
    // The reason why a lab was not run is reported once, with the lab.
    if let Some(reason) = labs_of(&check.assert.expr).into_iter().find_map(|lab| not_run(lab, ran))
    {
        return Verdict::Skipped(reason);
    }
    match check.evaluate(&env(setting.plan, ran, setting.facts)) {
        CheckOutcome::Passed => Verdict::Passed,
        CheckOutcome::Failed(reason) | CheckOutcome::Error(reason) => Verdict::Failed(reason),
        CheckOutcome::Skipped(reason) => Verdict::Skipped(reason),
    }
}

fn not_run(lab: &str, ran: &BTreeMap<&str, Ran>) -> Option<String> {
    match ran.get(lab)?.verdict() {
        Verdict::Skipped(reason) | Verdict::Broken(reason, _) => {
            Some(format!("lab {lab}: {reason}"))
        }
        Verdict::Passed | Verdict::Failed(_) | Verdict::Unstable(_) => None,
    }
}

/// The labs that an expression speaks of.
fn labs_of(expr: &Expr) -> BTreeSet<&str> {
    expr.names().into_iter().filter_map(|(name, _)| name.parts().next()).collect()
}

pub enum Graders {
    /// The lesson's own: its right answers must be accepted, and its wrong ones refused.
    Stated,
    Learner {
        answers: Answers,
        /// The course whose labs may grade an answer.
        course: Option<PathBuf>,
        limits: AnswerLimits,
    },
}

/// `problems` are those of the lesson's own answers.
pub fn question_items(
    lesson: &Lesson,
    graders: &Graders,
    env: &dyn Env,
    problems: &[Diagnostic],
    registry: &Registry,
) -> Vec<Item> {
    match graders {
        Graders::Stated => {
            lesson.questions().map(|question| stated(lesson, question, problems)).collect()
        }
        Graders::Learner { answers, course, limits } => {
            let grader = ProcessGrader { registry, course: course.clone(), limits: *limits };
            let answer = |question: &Question| answers.get(&lesson.front.id, &question.id);
            lesson
                .questions()
                .map(|question| learners(lesson, question, answer(question), env, &grader))
                .collect()
        }
    }
}

/// The reason for a question without its answer in the lesson.
const WITHHELD: &str = "its answer is kept elsewhere";

/// The reason for an answer to such a question.
const GRADED_LATER: &str =
    "answer recorded, graded later: its right answer is kept elsewhere; `--key FILE` grades it";

fn stated(lesson: &Lesson, question: &Question, problems: &[Diagnostic]) -> Item {
    let verdict = if question.kind.is_withheld() {
        Verdict::Skipped(WITHHELD.to_owned())
    } else {
        Verdict::Passed
    };
    let item = question_item(lesson, question, None, verdict, Duration::ZERO);
    refuted(item, lesson, question.place, problems)
}

/// The item failed, at the first of the problems that stand in its directive; the item as it is where there is none.
fn refuted(item: Item, lesson: &Lesson, place: Place, problems: &[Diagnostic]) -> Item {
    let lines = lesson.source.line(place.start)..=lesson.source.line(place.end);
    let is_own = |problem: &&Diagnostic| problem.is_error() && lines.contains(&problem.line);
    let own: Vec<&Diagnostic> = problems.iter().filter(is_own).collect();
    let Some(first) = own.first() else { return item };
    let reasons: Vec<&str> = own.iter().map(|problem| problem.message.as_str()).collect();
    let verdict = Verdict::Failed(reasons.join("; "));
    let earned_nothing = match item.kind {
        Kind::Question { points, answer, .. } => Kind::Question { points, earned: 0.0, answer },
        kind @ (Kind::Lab { .. } | Kind::Predict { .. } | Kind::Check { .. }) => kind,
    };
    Item { verdict, kind: earned_nothing, line: first.line, column: first.column, ..item }
}

fn learners(
    lesson: &Lesson,
    question: &Question,
    answer: Option<&Answer>,
    env: &dyn Env,
    grader: &dyn Grader,
) -> Item {
    let started = Instant::now();
    let verdict = match answer {
        None => Verdict::Failed("no answer".to_owned()),
        Some(answer) => {
            let grade = grader.grade(lesson, question, answer, env);
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
    question_item(lesson, question, answer, verdict, started.elapsed())
}

fn question_item(
    lesson: &Lesson,
    question: &Question,
    answer: Option<&Answer>,
    verdict: Verdict,
    elapsed: Duration,
) -> Item {
    let earned = if verdict == Verdict::Passed { f64::from(question.points) } else { 0.0 };
    Item {
        id: question.id.clone(),
        about: question.prompt.clone(),
        line: lesson.source.line(question.place.start),
        column: 1,
        why: None,
        kind: Kind::Question {
            points: question.points,
            earned,
            answer: answer.map(Answer::to_string),
        },
        verdict,
        elapsed,
    }
}

/// What a prediction is held against.
pub fn predict_item(
    lesson: &Lesson,
    predict: &Predict,
    env: &LessonEnv<'_>,
    problems: &[Diagnostic],
) -> Item {
    let target = match &predict.target {
        Target::Metric(formula) | Target::Answer(formula) => value(formula, env),
        Target::Choice(text) => Ok(Value::Text(text.clone())),
    };
    let theory = predict.theory.as_ref();
    let theory = theory.map(|theory| Ok((theory.label, value(&theory.formula, env)?))).transpose();
    let label = predict.target.formula().map_or(Label::Computed, |formula| env.label(formula));
    let outcomes = predict.outcomes.iter().map(|outcome| value(&outcome.when, env));
    let outcomes: Result<Vec<Value>, EvalError> = outcomes.collect();
    let verdict = match (&target, &theory, &outcomes) {
        (Ok(_), Ok(_), Ok(_)) => Verdict::Passed,
        (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => match error.missing() {
            Some(reason) => Verdict::Skipped(reason.to_owned()),
            None => Verdict::Failed(error.to_string()),
        },
    };
    let item = Item {
        id: predict.id.clone(),
        about: predict.prompt.clone(),
        line: lesson.source.line(predict.place.start),
        column: 1,
        why: None,
        kind: Kind::Predict {
            directive: predict.directive(),
            theory: theory.ok().flatten(),
            target: target.ok().map(|value| (label, value)),
        },
        verdict,
        elapsed: Duration::ZERO,
    };
    refuted(item, lesson, predict.place, problems)
}

fn value(formula: &Formula, env: &dyn Env) -> Result<Value, EvalError> {
    Ok(match evaluate(&formula.expr, env)? {
        Known::Number(number) => Value::Float(number),
        Known::Text(text) => Value::Text(text),
        Known::Bool(bool) => Value::Bool(bool),
        // An expression is never a series: a bare name is its last value.
        Known::Series(points) => {
            Value::Array(points.iter().map(|(_, value)| Value::Float(*value)).collect())
        }
    })
}
