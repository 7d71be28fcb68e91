//! Grading: what a learner answered against what a question says is right.

mod answer;
mod job;
pub(crate) mod kernel;
mod lab;
mod mistake;
mod number;
mod prediction;
pub(crate) mod quantity;

use std::slice;

use answer::{Judgement, chosen, malformed, same, say, verdict};
use mlsys_expr::Env;
use mlsys_lab::Registry;
use mlsys_lab::schema::Range;
use serde::{Deserialize, Serialize};

use crate::model::{Asked, AskedKernel, Formula, KernelTask, Match, Question, QuestionKind, Wrong};

pub use answer::Answer;
pub use job::{Grader, GradingJob, KnownNames};
pub(crate) use lab::run_once;

pub use kernel::{Case, CaseResult};
pub use number::read_number;
pub use prediction::{Comparison, PredictionError};
pub use quantity::ReadNumberError;

/// What came of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grade {
    pub verdict: Verdict,
    /// What to say to it, where there is something to say.
    pub feedback: Option<String>,
    pub points: u32,
    /// How much of a wrong answer is right, where its parts can be told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
    /// The tests that a kernel failed, and how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

/// Tests that a kernel passed, pairs that belong together, numbers that are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    pub right: usize,
    pub of: usize,
}

/// Whether an answer is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    Right,
    Wrong,
    /// Not graded here: the answer key is elsewhere, and the answer is graded there.
    Recorded,
    /// It is no answer to such a question; the feedback says what one looks like, and nothing is lost by it.
    Malformed,
}

impl Question {
    /// Grades an answer. `env` has the values of the lesson's labs, which answers may refer to; `registry` the labs
    /// that questions of type expression are graded by.
    pub fn grade(&self, given: &Answer, env: &dyn Env, registry: &Registry) -> Grade {
        if let Some(text) = given.one()
            && let Some((grade, _)) = self.try_kernel(text, env, registry)
        {
            return grade;
        }
        let grade = self.grade_of(self.judge(given, env, registry));
        let parts = (grade.verdict == Verdict::Wrong).then(|| self.parts(given, env)).flatten();
        Grade { parts, ..grade }
    }

    /// Grades a kernel as [`Self::grade`] does, with the result of each test; none for a question of another
    /// type, no tests where the right answer is kept elsewhere or the text is no kernel.
    pub fn try_kernel(
        &self,
        text: &str,
        env: &dyn Env,
        registry: &Registry,
    ) -> Option<(Grade, Vec<Case>)> {
        let (judgement, cases) = match self.kind.kernel()? {
            AskedKernel::Whole(task) => kernel::judge(text, task, env, registry),
            AskedKernel::Withheld { samples: [], .. } => {
                (self.judge(&Answer::One(text.to_owned()), env, registry), Vec::new())
            }
            AskedKernel::Withheld { samples, tolerance } => {
                let task = KernelTask::of_samples(samples, tolerance);
                match kernel::judge(text, &task, env, registry) {
                    (Judgement::Right | Judgement::Wrong(_), cases) => (Judgement::Recorded, cases),
                    judged => judged,
                }
            }
        };
        let grade = self.grade_of(judgement);
        let failed: Vec<String> = cases.iter().filter_map(Case::failure).collect();
        let (of, wrong) = (cases.len(), failed.len());
        let parts = (wrong > 0).then(|| Parts { right: of - wrong, of });
        Some((Grade { parts, failed, ..grade }, cases))
    }

    fn grade_of(&self, judgement: Judgement) -> Grade {
        let (verdict, feedback, points) = match judgement {
            Judgement::Right => (Verdict::Right, None, self.points),
            Judgement::Wrong(say) => (Verdict::Wrong, say, 0),
            Judgement::Recorded => (Verdict::Recorded, None, 0),
            Judgement::Malformed(why) => (Verdict::Malformed, Some(why), 0),
        };
        Grade { verdict, feedback, points, parts: None, failed: Vec::new() }
    }

    /// Whether the numbers that are right have values, as far as they come from runs of the lesson's labs.
    pub(crate) fn has_known_answer(&self, env: &dyn Env) -> bool {
        let known = |formulas: &[Formula]| number::values(formulas, env).is_ok();
        match &self.kind {
            QuestionKind::Numeric { answer, .. } => known(slice::from_ref(answer)),
            QuestionKind::List { answer, .. } => known(answer),
            QuestionKind::Choice { .. }
            | QuestionKind::Multiple { .. }
            | QuestionKind::Match { .. }
            | QuestionKind::Order { .. }
            | QuestionKind::Text { .. }
            | QuestionKind::Expression { .. }
            | QuestionKind::Kernel(_) => true,
            QuestionKind::Withheld(_) => false,
        }
    }

    /// How much of a wrong answer is right; none for a kernel, which its tests tell.
    fn parts(&self, given: &Answer, env: &dyn Env) -> Option<Parts> {
        match (&self.kind, given) {
            (QuestionKind::Match { pairs, .. }, Answer::Pairs(given)) => {
                let belongs = |pair: &&Match| {
                    let mut given = given.iter();
                    given.any(|(left, right)| same(left, &pair.left) && same(right, &pair.right))
                };
                Some(Parts { right: pairs.iter().filter(belongs).count(), of: pairs.len() })
            }
            (QuestionKind::List { answer, tolerance, .. }, given) => {
                let right = number::count_right(&given.many()?, answer, *tolerance, env);
                Some(Parts { right, of: answer.len() })
            }
            _ => None,
        }
    }

    fn judge(&self, given: &Answer, env: &dyn Env, registry: &Registry) -> Judgement {
        let judgement = self.judge_shape(given, env, registry);
        judgement.unwrap_or_else(|| malformed(self.kind.ty()))
    }

    /// The judgement of an answer; none if it has not the shape of an answer to such a question.
    fn judge_shape(&self, given: &Answer, env: &dyn Env, registry: &Registry) -> Option<Judgement> {
        Some(match &self.kind {
            QuestionKind::Numeric { answer, tolerance, unit, bounds, wrong, .. } => {
                let task = number::Task {
                    answer: slice::from_ref(answer),
                    tolerance: *tolerance,
                    unit: unit.as_deref(),
                    bounds: slice::from_ref(bounds),
                    wrong,
                    formulas: slice::from_ref,
                };
                number::judge(&[given.one()?], &task, env)
            }
            QuestionKind::List { answer, tolerance, bounds, wrong, .. } => {
                let task = number::Task {
                    answer,
                    tolerance: *tolerance,
                    unit: None,
                    bounds,
                    wrong,
                    formulas: Vec::as_slice,
                };
                number::judge(&given.many()?, &task, env)
            }
            QuestionKind::Choice { answer, wrong } => {
                let others = wrong.iter().map(|wrong| wrong.value.as_str());
                let all = [answer.as_str()].into_iter().chain(others);
                let choice = chosen(given.one()?, all)?;
                verdict(choice == answer, choice, wrong)
            }
            QuestionKind::Multiple { answer, wrong } => {
                judge_multiple(&given.many()?, answer, wrong)?
            }
            QuestionKind::Match { pairs, extra } => judge_match(given, pairs, extra)?,
            QuestionKind::Order { answer, wrong } => judge_order(&given.many()?, answer, wrong)?,
            QuestionKind::Text { answer, accept, wrong } => {
                let text = given.one()?;
                let right = [answer].into_iter().chain(accept).any(|known| same(known, text));
                verdict(right, text, wrong)
            }
            QuestionKind::Expression { lab, param, set, accept, wrong, .. } => {
                let task = lab::Task { kind: &lab.value, param: &param.value, set, accept };
                lab::judge(given.one()?, &task, wrong, env, registry)
            }
            QuestionKind::Kernel(task) => kernel::judge(given.one()?, task, env, registry).0,
            QuestionKind::Withheld(asked) => judge_withheld(given, asked)?,
        })
    }

    /// The stated answer, in the shape in which a learner gives one; empty where it is withheld.
    pub fn stated_answer(&self) -> Answer {
        match &self.kind {
            QuestionKind::Numeric { answer, .. } => Answer::One(answer.source.clone()),
            QuestionKind::List { answer, .. } => {
                Answer::Many(answer.iter().map(|formula| formula.source.clone()).collect())
            }
            QuestionKind::Choice { answer, .. } | QuestionKind::Text { answer, .. } => {
                Answer::One(answer.clone())
            }
            QuestionKind::Multiple { answer, .. } | QuestionKind::Order { answer, .. } => {
                Answer::Many(answer.clone())
            }
            QuestionKind::Match { pairs, .. } => {
                let pairs = pairs.iter().map(|pair| (pair.left.clone(), pair.right.clone()));
                Answer::Pairs(pairs.collect())
            }
            QuestionKind::Expression { answer, .. } => Answer::One(answer.value.clone()),
            QuestionKind::Kernel(task) => Answer::One(task.answer.value.clone()),
            QuestionKind::Withheld(_) => Answer::Many(Vec::new()),
        }
    }
}

fn judge_multiple(texts: &[&str], answer: &[String], wrong: &[Wrong<String>]) -> Option<Judgement> {
    let all = || answer.iter().chain(wrong.iter().map(|wrong| &wrong.value)).map(String::as_str);
    let mut taken: Vec<&str> = Vec::new();
    for text in texts {
        let choice = chosen(text, all())?;
        if !taken.contains(&choice) {
            taken.push(choice);
        }
    }
    let mistakes = || taken.iter().filter(|taken| !answer.iter().any(|right| right == *taken));
    if mistakes().next().is_some() {
        let said: Vec<String> = mistakes().filter_map(|mistake| say(mistake, wrong)).collect();
        return Some(Judgement::Wrong((!said.is_empty()).then(|| said.join(" "))));
    }
    match answer.len() - taken.len() {
        0 => Some(Judgement::Right),
        _ if taken.is_empty() => None,
        1 => Some(Judgement::Wrong(Some("these are right, but one more is".to_owned()))),
        missing => Some(Judgement::Wrong(Some(format!("these are right, but {missing} more are")))),
    }
}

fn judge_match(given: &Answer, pairs: &[Match], extra: &[String]) -> Option<Judgement> {
    let Answer::Pairs(given) = given else { return None };
    let known = |text: &str| {
        let rights = pairs.iter().map(|pair| &pair.right).chain(extra);
        rights.into_iter().any(|right| same(right, text))
    };
    let mut wrong = 0;
    for pair in pairs {
        let (_, right) = given.iter().find(|(left, _)| same(left, &pair.left))?;
        if !same(right, &pair.right) {
            if !known(right) {
                return None;
            }
            wrong += 1;
        }
    }
    Some(match wrong {
        0 => Judgement::Right,
        wrong => {
            let verb = if wrong == 1 { "does" } else { "do" };
            Judgement::Wrong(Some(format!("{wrong} of {} {verb} not belong together", pairs.len())))
        }
    })
}

fn judge_order(
    texts: &[&str],
    answer: &[String],
    wrong: &[Wrong<Vec<String>>],
) -> Option<Judgement> {
    let mut order: Vec<&str> = Vec::new();
    for text in texts {
        let known = chosen(text, answer.iter().map(String::as_str))?;
        if order.contains(&known) {
            return None;
        }
        order.push(known);
    }
    if order.len() != answer.len() {
        return None;
    }
    if order == *answer {
        return Some(Judgement::Right);
    }
    let stated = wrong.iter().find(|wrong| order == wrong.value);
    let are_right = || order.iter().zip(answer).map(|(given, right)| given == right);
    let first = are_right().take_while(|is_right| *is_right).count();
    let in_all = are_right().filter(|is_right| *is_right).count();
    Some(Judgement::Wrong(Some(match (stated, first, in_all) {
        (Some(stated), ..) => stated.say.clone(),
        (None, 0, 0) => "none is in its place".to_owned(),
        (None, 0, in_all) => {
            format!("in their place: {in_all} of {}, the first is not", answer.len())
        }
        (None, 1, _) => "the first is in its place, the second is not".to_owned(),
        (None, first, _) => format!("the first {first} are in place, the next is not"),
    })))
}

/// Records an answer to a question that is graded elsewhere; none if it has not the shape of one.
fn judge_withheld(given: &Answer, asked: &Asked) -> Option<Judgement> {
    let among =
        |text: &str, choices: &[String]| chosen(text, choices.iter().map(String::as_str)).is_some();
    let numbers = |texts: &[&str], unit: Option<&str>, range| match texts
        .iter()
        .find_map(|text| quantity::read_within(text, unit, range).err())
    {
        Some(error) => Judgement::Malformed(error.to_string()),
        None => Judgement::Recorded,
    };
    let is_answer = match asked {
        Asked::Numeric { unit, bounds } => {
            return Some(numbers(&[given.one()?], unit.as_deref(), bounds.range()));
        }
        Asked::List => {
            let texts = given.many()?;
            return (!texts.is_empty()).then(|| match numbers(&texts, None, Range::ALL) {
                Judgement::Malformed(why) => Judgement::Malformed(
                    quantity::unseparated(&texts).map_or(why, |error| error.to_string()),
                ),
                judged @ (Judgement::Right | Judgement::Wrong(_) | Judgement::Recorded) => judged,
            });
        }
        Asked::Choice { choices } => among(given.one()?, choices),
        Asked::Multiple { choices } => {
            let texts = given.many()?;
            !texts.is_empty() && texts.iter().all(|text| among(text, choices))
        }
        Asked::Order { choices } => {
            let order = given.many()?;
            let is_there = |choice: &String| order.iter().any(|text| same(text, choice));
            order.len() == choices.len() && choices.iter().all(is_there)
        }
        Asked::Match { left, choices } => {
            let Answer::Pairs(pairs) = given else { return None };
            let has_side = |left: &String| {
                let mut pairs = pairs.iter();
                pairs.any(|(own, right)| same(own, left) && among(right, choices))
            };
            left.iter().all(has_side)
        }
        Asked::Expression | Asked::Kernel { .. } | Asked::Text => !given.one()?.trim().is_empty(),
    };
    is_answer.then_some(Judgement::Recorded)
}
