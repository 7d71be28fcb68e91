//! Answers of a cohort graded, and the wrong ones known by what the lesson says to them.

use std::collections::BTreeMap;

use mlsys_lab::Registry;

use super::{QuestionReport, WrongReport};
use crate::env::LessonEnv;
use crate::grade::{Answer, Verdict};
use crate::model::{Formula, Lesson, Question, QuestionKind, Wrong};
use crate::progress::{Answers, Attempt};

/// Grades each different answer once.
pub(super) struct Grading<'a> {
    pub(super) lesson: &'a Lesson,
    pub(super) registry: &'a Registry,
    pub(super) known: BTreeMap<String, Graded>,
}

#[derive(Clone)]
pub(super) struct Graded {
    /// Unknown where it takes a run, or the answer is kept elsewhere.
    right: Option<bool>,
    wrong: (String, Option<String>),
}

impl Grading<'_> {
    /// Takes one learner's answers to a question into its report; the points they earned.
    pub(super) fn attempts(
        &mut self,
        question: &Question,
        answers: &Answers,
        report: &mut QuestionReport,
    ) -> u32 {
        let id = &self.lesson.front.id;
        let made = answers
            .details
            .get(id)
            .and_then(|details| details.attempts.get(&question.id))
            .filter(|attempts| !attempts.is_empty());
        let attempts: Vec<Attempt> = match (made, answers.get(id, &question.id)) {
            (Some(attempts), _) => attempts.clone(),
            (None, Some(given)) => vec![Attempt { given: given.clone(), right: false, points: 0 }],
            (None, None) => return 0,
        };
        report.answered += 1;
        let mut earned = None;
        for (index, attempt) in attempts.iter().enumerate() {
            let graded = self.grade(question, &attempt.given);
            if graded.right.unwrap_or(attempt.right) {
                report.right_first += usize::from(index == 0);
                let points = match graded.right {
                    Some(_) => question.points,
                    None => attempt.points.min(question.points),
                };
                earned = Some(earned.unwrap_or(0).max(points));
                continue;
            }
            if question.kind.is_withheld() {
                continue;
            }
            let (answer, say) = graded.wrong;
            match report.wrong.iter_mut().find(|wrong| wrong.answer == answer) {
                Some(wrong) => wrong.count += 1,
                None => report.wrong.push(WrongReport { answer, say, count: 1 }),
            }
        }
        report.right += usize::from(earned.is_some());
        earned.unwrap_or(0)
    }

    fn grade(&mut self, question: &Question, given: &Answer) -> Graded {
        let key = format!("{} {given:?}", question.id);
        if let Some(graded) = self.known.get(&key) {
            return graded.clone();
        }
        let env = LessonEnv::unrun(self.lesson);
        let grade = question.grade(given, &env, self.registry);
        let foreseen = grade.feedback.as_ref().and_then(|feedback| {
            let mut stated = stated_wrong(&question.kind).into_iter();
            stated.find(|(_, say)| say == feedback)
        });
        let graded = Graded {
            right: match grade.verdict {
                Verdict::Right => Some(true),
                Verdict::Wrong => Some(false),
                Verdict::Recorded => None,
                // Where the right answer is known without a run, what is no answer is a wrong one.
                Verdict::Malformed => {
                    let stated = question.stated_answer();
                    let right = question.grade(&stated, &env, self.registry).verdict;
                    (right == Verdict::Right).then_some(false)
                }
            },
            wrong: match foreseen {
                Some((answer, say)) => (answer, Some(say)),
                None => (spelled(given), None),
            },
        };
        self.known.insert(key, graded.clone());
        graded
    }
}

/// The wrong answers that a question foresees, with what it says to each.
fn stated_wrong(kind: &QuestionKind) -> Vec<(String, String)> {
    fn all<T>(wrong: &[Wrong<T>], text: impl Fn(&T) -> String) -> Vec<(String, String)> {
        let pair = |wrong: &Wrong<T>| (text(&wrong.value), wrong.say.clone());
        wrong.iter().map(pair).collect()
    }
    let formula = |formula: &Formula| formula.source.clone();
    match kind {
        QuestionKind::Numeric { wrong, .. } => all(wrong, formula),
        QuestionKind::List { wrong, .. } => all(wrong, |formulas| {
            let texts: Vec<String> = formulas.iter().map(formula).collect();
            texts.join(", ")
        }),
        QuestionKind::Order { wrong, .. } => all(wrong, |texts| texts.join(", ")),
        QuestionKind::Choice { wrong, .. }
        | QuestionKind::Multiple { wrong, .. }
        | QuestionKind::Expression { wrong, .. }
        | QuestionKind::Text { wrong, .. } => all(wrong, Clone::clone),
        QuestionKind::Kernel(task) => all(&task.wrong, Clone::clone),
        QuestionKind::Match { .. } | QuestionKind::Withheld(_) => Vec::new(),
    }
}

/// An answer on one line, so that answers which differ by white space alone are one.
pub(super) fn spelled(given: &Answer) -> String {
    const MOST: usize = 80;
    let text = match given {
        Answer::One(text) => text.clone(),
        Answer::Many(texts) => texts.join(", "),
        Answer::Pairs(pairs) => {
            let pairs: Vec<String> = pairs.iter().map(|(l, r)| format!("{l}: {r}")).collect();
            pairs.join("; ")
        }
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(MOST).collect()
}
