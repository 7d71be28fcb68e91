//! What names drawn numbers: whether each draw is as good as the printed one.
//!
//! Every draw is looked at, of more than a thousand those of a thousand learners. Its stated answers are graded, its
//! choices must differ, its answer must be a finite number, and the printed answer must not be right for most others.
//! Answers that are executed are graded for the smallest and the largest numbers, and for each value of each name once.
//! A prediction must have a truth that can be guessed, and a check must hold. Those with numbers of labs are looked at
//! where the labs run with them. Every text must show its numbers.

use std::collections::BTreeSet;

use mlsys_expr::{Env, Value, evaluate};
use mlsys_lab::Registry;

use crate::check::CheckOutcome;
use crate::diagnostic::{Code, Diagnostic, Place};
use crate::env::LessonEnv;
use crate::grade::{Answer, Verdict};
use crate::lint::labs::Labs;
use crate::model::{
    Block, Check, Formula, Lesson, Predict, Question, QuestionKind, Variants, Varying,
};
use crate::selftest::{self_test_of, self_test_of_guess};

/// An error for the first draw of each directive that is no good one.
pub(super) fn drawn_directives(lesson: &Lesson, registry: &Registry) -> Vec<Diagnostic> {
    if !lesson.varies() {
        return Vec::new();
    }
    let labs = Labs::run(lesson, registry);
    let env = labs.env(lesson);
    let draws = Draws { lesson, registry, env: &env };
    let found = lesson.blocks.iter().filter_map(|block| match block {
        Block::Question(question) => draws.question(question, question.variants.as_deref()?),
        Block::Predict(predict) => draws.predict(predict.variants.as_deref()?),
        Block::Check(check) => draws.check(check.variants.as_deref()?),
        Block::Prose(_) | Block::Lab(_) | Block::Notes(_) => None,
    });
    found.collect()
}

struct Draws<'a> {
    lesson: &'a Lesson,
    registry: &'a Registry,
    env: &'a LessonEnv<'a>,
}

impl Draws<'_> {
    fn predict(&self, variants: &Variants<Predict>) -> Option<Diagnostic> {
        let of_labs = follows_a_lab(variants, self.lesson);
        self.first(variants, |predict| {
            let problems = self_test_of_guess(predict, self.lesson, self.env, self.registry);
            problems.into_iter().next().filter(|_| !of_labs)
        })
    }

    fn check(&self, variants: &Variants<Check>) -> Option<Diagnostic> {
        let of_labs = follows_a_lab(variants, self.lesson);
        self.first(variants, |check| {
            let failure = failed(check, self.lesson, self.env)?;
            (!of_labs).then_some(failure)
        })
    }

    /// The first draw that has a text without its numbers or that `problem` finds something wrong with.
    fn first<T: Varying>(
        &self,
        variants: &Variants<T>,
        problem: impl Fn(&T) -> Option<Diagnostic>,
    ) -> Option<Diagnostic> {
        variants.all().into_iter().find_map(|drawn| {
            let one = variants.with(drawn.clone());
            let problem = self.bad_text(variants, &drawn).or_else(|| problem(&one))?;
            let message = format!("with {}, {}", variants.label(&drawn), problem.message);
            Some(Diagnostic { message, ..problem })
        })
    }

    fn bad_text<T: Varying>(&self, variants: &Variants<T>, drawn: &[f64]) -> Option<Diagnostic> {
        let bad = variants.bad_text(drawn)?;
        let place = variants.names.first().map(|varied| varied.name.place)?;
        let help = "list numbers for which each expression between braces has a value";
        Some(self.error(Code::NoValue, place, bad.to_string(), help))
    }

    fn question(&self, question: &Question, variants: &Variants<Question>) -> Option<Diagnostic> {
        let draws = if question.is_executed() {
            variants.covering()
        } else {
            variants.draws(&self.lesson.front.id)
        };
        let all: Vec<(Vec<f64>, Question)> =
            draws.into_iter().map(|drawn| (drawn.clone(), variants.with(drawn))).collect();
        let failed = all.iter().find_map(|(drawn, one)| {
            let problem = self.bad_text(variants, drawn).or_else(|| self.draw(one))?;
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
    fn telling(
        &self,
        variants: &Variants<Question>,
        all: &[(Vec<f64>, Question)],
    ) -> Option<Diagnostic> {
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

/// Whether a lab has one of the numbers: they go with the runs of that lab.
pub(super) fn follows_a_lab<T>(variants: &Variants<T>, lesson: &Lesson) -> bool {
    let of_labs =
        || lesson.labs().flat_map(|lab| lab.vary.iter().map(|varied| varied.origin(&lab.id)));
    let mut shared = variants.names.iter().filter_map(|varied| varied.shared.as_ref());
    shared.any(|number| of_labs().any(|of_lab| of_lab == *number))
}

/// A check that does not hold.
pub(super) fn failed(check: &Check, lesson: &Lesson, env: &LessonEnv<'_>) -> Option<Diagnostic> {
    let CheckOutcome::Failed(reason) = check.evaluate(env) else { return None };
    let message = format!("the check `{}` fails: {reason}", check.id);
    let help = "assert what holds for each number, or leave the number out of `vary`";
    let error = lesson.source.error(Code::AnswerRejected, check.assert.place, message);
    Some(error.help(help))
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
