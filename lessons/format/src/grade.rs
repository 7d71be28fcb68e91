//! Grading: what a learner answered against what a question says is right.

mod answer;
pub(crate) mod kernel;
mod lab;
mod number;

use std::collections::BTreeMap;

use answer::{Judgement, chosen, malformed, same, say, verdict};
use mlsys_expr::Env;
use mlsys_lab::Registry;

use crate::model::{Asked, Match, Question, QuestionKind, QuestionType, Wrong};

pub use answer::Answer;
pub use kernel::{Case, CaseResult};
pub use number::{Comparison, PredictionError, ReadNumberError, read_number};

/// What came of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grade {
    /// Whether it is right.
    pub verdict: Verdict,
    /// What to say to it, where there is something to say.
    pub feedback: Option<String>,
    /// What it earns.
    pub points: u32,
}

/// Whether an answer is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Right,
    /// It is not.
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
        let judgement = self.judge(given, env, registry);
        self.grade_of(judgement)
    }

    /// Grades a kernel as [`Self::grade`] does, with the result of each test; none for a question of another
    /// type, no tests where the right answer is kept elsewhere or the text is no kernel.
    pub fn try_kernel(
        &self,
        text: &str,
        env: &dyn Env,
        registry: &Registry,
    ) -> Option<(Grade, Vec<Case>)> {
        let (judgement, cases) = match &self.kind {
            QuestionKind::Kernel(task) => kernel::judge(text, task, env, registry),
            QuestionKind::Withheld(asked @ Asked::Kernel { .. }) => {
                let given = Answer::One(text.to_owned());
                (judge_withheld(&given, asked, QuestionType::Kernel), Vec::new())
            }
            QuestionKind::Withheld(_)
            | QuestionKind::Numeric { .. }
            | QuestionKind::List { .. }
            | QuestionKind::Choice { .. }
            | QuestionKind::Multiple { .. }
            | QuestionKind::Match { .. }
            | QuestionKind::Order { .. }
            | QuestionKind::Text { .. }
            | QuestionKind::Expression { .. } => return None,
        };
        Some((self.grade_of(judgement), cases))
    }

    fn grade_of(&self, judgement: Judgement) -> Grade {
        let (verdict, feedback) = match judgement {
            Judgement::Right => (Verdict::Right, None),
            Judgement::Wrong(say) => (Verdict::Wrong, say),
            Judgement::Recorded => (Verdict::Recorded, None),
            Judgement::Malformed(why) => (Verdict::Malformed, Some(why)),
        };
        let points = match verdict {
            Verdict::Right => self.points,
            Verdict::Wrong | Verdict::Recorded | Verdict::Malformed => 0,
        };
        Grade { verdict, feedback, points }
    }

    fn judge(&self, given: &Answer, env: &dyn Env, registry: &Registry) -> Judgement {
        match &self.kind {
            QuestionKind::Numeric { answer, tolerance, wrong, .. } => match given.one() {
                Some(text) => number::judge(text, answer, *tolerance, wrong, env),
                None => malformed(QuestionType::Numeric),
            },
            QuestionKind::List { answer, tolerance, wrong } => match given.many() {
                Some(texts) => number::judge_list(&texts, answer, *tolerance, wrong, env),
                None => malformed(QuestionType::List),
            },
            QuestionKind::Choice { answer, wrong } => {
                let others = wrong.iter().map(|wrong| wrong.value.as_str());
                match given
                    .one()
                    .and_then(|text| chosen(text, [answer.as_str()].into_iter().chain(others)))
                {
                    Some(choice) => verdict(choice == answer, choice, wrong),
                    None => malformed(QuestionType::Choice),
                }
            }
            QuestionKind::Multiple { answer, wrong } => judge_multiple(given, answer, wrong),
            QuestionKind::Match { pairs, extra } => judge_match(given, pairs, extra),
            QuestionKind::Order { answer, wrong } => judge_order(given, answer, wrong),
            QuestionKind::Text { answer, accept, wrong } => match given.one() {
                Some(text) => {
                    let right = [answer].into_iter().chain(accept).any(|known| same(known, text));
                    verdict(right, text, wrong)
                }
                None => malformed(QuestionType::Text),
            },
            QuestionKind::Expression { lab, param, set, accept, wrong, .. } => match given.one() {
                Some(text) => {
                    let task = lab::Task { kind: &lab.value, param: &param.value, set, accept };
                    lab::judge(text, &task, wrong, env, registry)
                }
                None => malformed(QuestionType::Expression),
            },
            QuestionKind::Kernel(task) => match given.one() {
                Some(text) => kernel::judge(text, task, env, registry).0,
                None => malformed(QuestionType::Kernel),
            },
            QuestionKind::Withheld(asked) => judge_withheld(given, asked, self.kind.ty()),
        }
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
            QuestionKind::Match { pairs, .. } => Answer::Pairs(pair_map(pairs)),
            QuestionKind::Expression { answer, .. } => Answer::One(answer.value.clone()),
            QuestionKind::Kernel(task) => Answer::One(task.answer.value.clone()),
            QuestionKind::Withheld(_) => Answer::Many(Vec::new()),
        }
    }
}

fn judge_multiple(given: &Answer, answer: &[String], wrong: &[Wrong<String>]) -> Judgement {
    let Some(texts) = given.many() else {
        return malformed(QuestionType::Multiple);
    };
    let all = || answer.iter().chain(wrong.iter().map(|wrong| &wrong.value)).map(String::as_str);
    let mut taken: Vec<&str> = Vec::new();
    for text in &texts {
        match chosen(text, all()) {
            Some(choice) if !taken.contains(&choice) => taken.push(choice),
            Some(_) => {}
            None => return malformed(QuestionType::Multiple),
        }
    }
    if let Some(mistake) = taken.iter().find(|taken| !answer.iter().any(|right| right == *taken)) {
        return Judgement::Wrong(say(mistake, wrong));
    }
    match answer.len() - taken.len() {
        0 => Judgement::Right,
        _ if taken.is_empty() => malformed(QuestionType::Multiple),
        1 => Judgement::Wrong(Some("these are right, but one more is".to_owned())),
        missing => Judgement::Wrong(Some(format!("these are right, but {missing} more are"))),
    }
}

fn judge_match(given: &Answer, pairs: &[Match], extra: &[String]) -> Judgement {
    let Answer::Pairs(given) = given else {
        return malformed(QuestionType::Match);
    };
    let known = |text: &str| {
        let rights = pairs.iter().map(|pair| &pair.right).chain(extra);
        rights.into_iter().any(|right| same(right, text))
    };
    let mut wrong = Vec::new();
    for pair in pairs {
        match given.iter().find(|(left, _)| same(left, &pair.left)) {
            Some((_, right)) if same(right, &pair.right) => {}
            Some((_, right)) if known(right) => wrong.push(pair.left.as_str()),
            Some(_) | None => return malformed(QuestionType::Match),
        }
    }
    match wrong.len() {
        0 => Judgement::Right,
        count => {
            Judgement::Wrong(Some(format!("{count} of {} do not belong together", pairs.len())))
        }
    }
}

fn judge_order(given: &Answer, answer: &[String], wrong: &[Wrong<Vec<String>>]) -> Judgement {
    let Some(texts) = given.many() else {
        return malformed(QuestionType::Order);
    };
    let mut order: Vec<&str> = Vec::new();
    for text in &texts {
        match chosen(text, answer.iter().map(String::as_str)) {
            Some(known) if !order.contains(&known) => order.push(known),
            Some(_) | None => return malformed(QuestionType::Order),
        }
    }
    if order.len() != answer.len() {
        return malformed(QuestionType::Order);
    }
    if order == *answer {
        return Judgement::Right;
    }
    let stated = wrong.iter().find(|wrong| order == wrong.value);
    let in_place = order.iter().zip(answer).take_while(|(a, b)| a == b).count();
    Judgement::Wrong(match stated {
        Some(stated) => Some(stated.say.clone()),
        None if in_place == 0 => None,
        None => Some(format!("the first {in_place} are in place")),
    })
}

fn pair_map(pairs: &[Match]) -> BTreeMap<String, String> {
    pairs.iter().map(|pair| (pair.left.clone(), pair.right.clone())).collect()
}

/// Whether an answer could be one to a question that is graded elsewhere.
fn judge_withheld(given: &Answer, asked: &Asked, ty: QuestionType) -> Judgement {
    let among =
        |text: &str, choices: &[String]| chosen(text, choices.iter().map(String::as_str)).is_some();
    let is_answer = match asked {
        Asked::Numeric { .. } => match given.one().map(read_number) {
            Some(Err(error)) => return Judgement::Malformed(error.to_string()),
            found => found.is_some(),
        },
        Asked::List => {
            let texts = given.many().filter(|texts| !texts.is_empty());
            let numbers = texts
                .map(|texts| texts.into_iter().try_for_each(|text| read_number(text).map(|_| ())));
            match numbers {
                Some(Err(error)) => return Judgement::Malformed(error.to_string()),
                found => found.is_some(),
            }
        }
        Asked::Choice { choices } => given.one().is_some_and(|text| among(text, choices)),
        Asked::Multiple { choices } => given.many().is_some_and(|texts| {
            !texts.is_empty() && texts.iter().all(|text| among(text, choices))
        }),
        Asked::Order { choices } => given.many().is_some_and(|order| {
            let is_there = |choice: &String| order.iter().any(|text| same(text, choice));
            order.len() == choices.len() && choices.iter().all(is_there)
        }),
        Asked::Match { left, choices } => {
            let has_side = |pairs: &BTreeMap<String, String>, left: &String| {
                let mut pairs = pairs.iter();
                pairs.any(|(own, right)| same(own, left) && among(right, choices))
            };
            matches!(given, Answer::Pairs(pairs) if left.iter().all(|left| has_side(pairs, left)))
        }
        Asked::Expression | Asked::Kernel { .. } | Asked::Text => {
            given.one().is_some_and(|text| !text.trim().is_empty())
        }
    };
    if is_answer { Judgement::Recorded } else { malformed(ty) }
}
