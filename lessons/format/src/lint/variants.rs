//! Questions that draw numbers: whether each draw is as good a question as the printed one.
//!
//! Every draw is looked at, of more than a thousand those of a thousand learners. Its stated answers are graded, its
//! choices must differ, its answer must be a finite number, and the printed answer must not be right for most others.
//! Answers that are executed are graded for the smallest and the largest numbers, and for each value of each name once.

use std::collections::BTreeSet;

use mlsys_expr::{Env, Value, evaluate};
use mlsys_lab::Registry;

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::grade::{Answer, Verdict};
use crate::lint::labs::Labs;
use crate::model::{Formula, Lesson, Question, QuestionKind, Variants};
use crate::selftest::self_test_of;

/// An error for the first draw of each question that is no good one.
pub(super) fn drawn_questions(lesson: &Lesson, registry: &Registry) -> Vec<Diagnostic> {
    let varying = || {
        let questions = lesson.questions();
        questions.filter_map(|question| Some((question, question.variants.as_deref()?)))
    };
    if varying().next().is_none() {
        return Vec::new();
    }
    let labs = Labs::run(lesson, registry);
    let env = labs.env(lesson);
    let check = Check { lesson, registry, env: &env };
    varying().filter_map(|(question, variants)| check.question(question, variants)).collect()
}

struct Check<'a> {
    lesson: &'a Lesson,
    registry: &'a Registry,
    env: &'a dyn Env,
}

impl Check<'_> {
    fn question(&self, question: &Question, variants: &Variants) -> Option<Diagnostic> {
        let draws = if question.is_executed() {
            variants.covering()
        } else {
            variants.draws(&self.lesson.front.id)
        };
        let all: Vec<(Vec<f64>, Question)> =
            draws.into_iter().map(|drawn| (drawn.clone(), variants.with(drawn))).collect();
        let failed = all.iter().find_map(|(drawn, one)| {
            let problem = self.draw(one)?;
            Some(Diagnostic {
                message: format!("with {}, {}", variants.label(drawn), problem.message),
                ..problem
            })
        });
        failed.or_else(|| self.telling(variants, &all))
    }

    /// What is wrong with one draw.
    fn draw(&self, question: &Question) -> Option<Diagnostic> {
        self.choices(question).or_else(|| {
            let problems = self_test_of(question, self.lesson, self.env, self.registry);
            problems.into_iter().next()
        })
    }

    /// Two choices that read the same.
    fn choices(&self, question: &Question) -> Option<Diagnostic> {
        let mut seen = BTreeSet::new();
        let choices = question.kind.choices();
        let is_match = matches!(question.kind, QuestionKind::Match { .. });
        let twice = choices.into_iter().find(|text| !seen.insert(text.to_lowercase()));
        let text = twice.filter(|_| !is_match)?;
        let message = format!("`{text}` can be chosen twice in `{}`", question.id);
        let help = "choose numbers that keep the choices apart";
        Some(self.error(Code::BadValue, question.place, message, help))
    }

    /// The printed answer where most other draws take it, so that it could be passed on.
    fn telling(&self, variants: &Variants, all: &[(Vec<f64>, Question)]) -> Option<Diagnostic> {
        let ((_, printed), others) = all.split_first()?;
        let given = given(printed, self.env)?;
        let takes = |(_, other): &&(Vec<f64>, Question)| {
            other.grade(&given, self.env, self.registry).verdict == Verdict::Right
        };
        let taken: Vec<_> = others.iter().filter(takes).collect();
        let (first, _) = taken.first().filter(|_| 2 * taken.len() > others.len())?;
        let message = format!(
            "the printed answer of `{}` is right for {} of {} other draws, such as with {}",
            printed.id,
            taken.len(),
            others.len(),
            variants.label(first)
        );
        let help = "choose numbers further apart, or narrow the tolerance";
        let place = variants.names.first().map_or(printed.place, |varied| varied.name.place);
        Some(self.error(Code::WrongAccepted, place, message, help))
    }

    fn error(&self, code: Code, place: Place, message: String, help: &str) -> Diagnostic {
        self.lesson.source.error(code, place, message).help(help)
    }
}

/// The right numbers as a learner gives them; none for other types, or where they come from a live run.
pub(super) fn given(question: &Question, env: &dyn Env) -> Option<Answer> {
    let text = |formula: &Formula| match evaluate(&formula.expr, env) {
        Ok(Value::Number(x)) => Some(format!("{x:?}")),
        Ok(Value::Text(_) | Value::Bool(_) | Value::Series(_)) | Err(_) => None,
    };
    if let QuestionKind::Numeric { answer, .. } = &question.kind {
        text(answer).map(Answer::One)
    } else if let QuestionKind::List { answer, .. } = &question.kind {
        answer.iter().map(text).collect::<Option<_>>().map(Answer::Many)
    } else {
        None
    }
}
