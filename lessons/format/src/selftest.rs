//! Whether a lesson's own answers hold: right ones are accepted, wrong ones are not and are recognised.

use mlsys_expr::{Env, Value, evaluate};
use mlsys_lab::Registry;

use crate::check::error_text;
use crate::diagnostic::{Code, Diagnostic, Place, Source, shortened};
use crate::grade::{Answer, Verdict};
use crate::model::{Bounds, Formula, Lesson, Predict, PredictKind, Question, QuestionKind, Wrong};

/// Grades every stated answer of a lesson, right and wrong, and evaluates every prediction's truth and theory.
///
/// Without what refers to labs that have not run in `env` ([`LessonEnv::unrun`](crate::LessonEnv::unrun)).
pub fn self_test(lesson: &Lesson, env: &dyn Env, registry: &Registry) -> Vec<Diagnostic> {
    let mut test = SelfTest { source: &lesson.source, env, registry, found: Vec::new() };
    for question in lesson.questions() {
        test.question(question);
    }
    lesson.predictions().for_each(|predict| test.predict(predict));
    test.found
}

/// The same for one prediction, which may have other numbers than the lesson's.
pub(crate) fn self_test_of_guess(
    predict: &Predict,
    lesson: &Lesson,
    env: &dyn Env,
    registry: &Registry,
) -> Vec<Diagnostic> {
    let mut test = SelfTest { source: &lesson.source, env, registry, found: Vec::new() };
    test.predict(predict);
    test.found
}

/// The same for one question, which may have other numbers than the lesson's.
pub(crate) fn self_test_of(
    question: &Question,
    lesson: &Lesson,
    env: &dyn Env,
    registry: &Registry,
) -> Vec<Diagnostic> {
    let mut test = SelfTest { source: &lesson.source, env, registry, found: Vec::new() };
    test.question(question);
    test.found
}

struct SelfTest<'a> {
    source: &'a Source,
    env: &'a dyn Env,
    registry: &'a Registry,
    found: Vec<Diagnostic>,
}

impl SelfTest<'_> {
    fn predict(&mut self, predict: &Predict) {
        let theory = predict.theory.as_ref().map(|theory| &theory.formula);
        let PredictKind::Numeric { bounds, .. } = &predict.kind else {
            theory.map(|theory| self.number(theory));
            return;
        };
        let what = format!("what `{}` is held against", predict.id);
        for formula in predict.target.formula().into_iter().chain(theory) {
            self.number_within(formula, *bounds, &what);
        }
    }

    fn question(&mut self, question: &Question) {
        let one = |_: &mut Self, text: &String| Some(Answer::One(text.clone()));
        let place = question.place;
        let stated = || Some(question.stated_answer());
        match &question.kind {
            QuestionKind::Numeric { answer, bounds, wrong, .. } => {
                let what = format!("the answer of `{}`", question.id);
                let right = self.number_within(answer, *bounds, &what).map(written);
                let given = |test: &mut Self, formula: &_| test.number(formula).map(written);
                self.answers(question, right, answer.place, wrong, given);
            }
            QuestionKind::List { answer, bounds, wrong, .. } => {
                let what = format!("a number of the answer of `{}`", question.id);
                let pairs = answer.iter().zip(bounds);
                let values: Vec<_> =
                    pairs.map(|(one, bounds)| self.number_within(one, *bounds, &what)).collect();
                let right = values.into_iter().collect::<Option<_>>().map(written_all);
                let place = answer.first().map_or(place, |formula| formula.place);
                self.answers(question, right, place, wrong, |test, formulas| {
                    test.numbers(formulas)
                });
            }
            QuestionKind::Choice { wrong, .. } | QuestionKind::Text { wrong, .. } => {
                self.answers(question, stated(), place, wrong, one);
            }
            QuestionKind::Multiple { wrong, .. } => {
                let given = |_: &mut Self, text: &String| Some(Answer::Many(vec![text.clone()]));
                self.answers(question, stated(), place, wrong, given);
            }
            QuestionKind::Order { wrong, .. } => {
                let given = |_: &mut Self, texts: &Vec<_>| Some(Answer::Many(texts.clone()));
                self.answers(question, stated(), place, wrong, given);
            }
            QuestionKind::Kernel(task) => {
                self.answers(question, stated(), task.answer.place, &task.wrong, one);
            }
            QuestionKind::Expression { answer, wrong, .. } => {
                self.answers(question, stated(), answer.place, wrong, one);
            }
            QuestionKind::Match { .. } => self.right(question, &question.stated_answer(), place),
            QuestionKind::Withheld(_) => {}
        }
    }

    /// Tries the right answer, unless it needs a run, and each wrong one that `given` makes an answer of.
    fn answers<W>(
        &mut self,
        question: &Question,
        right: Option<Answer>,
        place: Place,
        wrong: &[Wrong<W>],
        given: impl Fn(&mut Self, &W) -> Option<Answer>,
    ) {
        let Some(right) = right else { return };
        self.right(question, &right, place);
        for wrong in wrong {
            if let Some(given) = given(self, &wrong.value) {
                self.wrong(question, &given, &wrong.say, wrong.place);
            }
        }
    }

    fn right(&mut self, question: &Question, given: &Answer, place: Place) {
        let grade = question.grade(given, self.env, self.registry);
        if grade.verdict != Verdict::Right {
            let why = because(grade.feedback);
            let message = format!("the stated answer of `{}` is not accepted{why}", question.id);
            let help = "a learner who gives it would be told that it is wrong; mend the answer or what accepts it";
            self.error(Code::AnswerRejected, place, message, help);
        }
    }

    fn wrong(&mut self, question: &Question, given: &Answer, say: &str, place: Place) {
        let grade = question.grade(given, self.env, self.registry);
        let problem = match grade.verdict {
            Verdict::Right => Some("is accepted as right".to_owned()),
            Verdict::Malformed => Some(format!("cannot be given{}", because(grade.feedback))),
            Verdict::Recorded => None,
            Verdict::Wrong if grade.feedback.as_deref() == Some(say) => None,
            Verdict::Wrong => Some("gets another answer's feedback".to_owned()),
        };
        if let Some(problem) = problem {
            let value = given.one().filter(|text| !text.contains('\n'));
            let value = value.map_or_else(String::new, |text| format!(", {},", shortened(text)));
            let message = format!("this wrong answer of `{}`{value} {problem}", question.id);
            let help = "change it, or narrow the tolerance so that it differs from the others";
            self.error(Code::WrongAccepted, place, message, help);
        }
    }

    fn numbers(&mut self, formulas: &[Formula]) -> Option<Answer> {
        let values: Option<Vec<f64>> = formulas.iter().map(|f| self.number(f)).collect();
        values.map(written_all)
    }

    /// The same, with an error where the number cannot be.
    fn number_within(&mut self, formula: &Formula, bounds: Bounds, what: &str) -> Option<f64> {
        let value = self.number(formula)?;
        let range = bounds.range();
        if !range.contains(value) {
            let message = format!(
                "{what} is {}, outside of what it can be: {range}",
                mlsys_lab::value::number(value)
            );
            let help = "a learner could not type it; mend the expression, or state what it can be with `min` and `max`";
            self.error(Code::OutOfRange, formula.place, message, help);
        }
        Some(value)
    }

    /// The value of an expression, unless it needs a run; an error if it has none or is no number.
    fn number(&mut self, formula: &Formula) -> Option<f64> {
        let reason = match evaluate(&formula.expr, self.env) {
            Ok(Value::Number(x)) => return Some(x),
            Ok(other @ (Value::Text(_) | Value::Bool(_) | Value::Series(_))) => {
                format!("it is {}, and a number is needed", other.kind())
            }
            Err(error) if error.missing().is_some() => return None,
            Err(error) => error_text(formula, &error),
        };
        let message = format!("`{}` has no value: {reason}", formula.source);
        let help = "write an expression that comes to a finite number";
        self.error(Code::NoValue, formula.place, message, help);
        None
    }

    fn error(&mut self, code: Code, place: Place, message: String, help: &str) {
        self.found.push(self.source.error(code, place, message).help(help));
    }
}

/// Feedback without the lines that show the place: they are in the lesson.
fn because(feedback: Option<String>) -> String {
    let first = feedback.as_deref().and_then(|feedback| feedback.lines().next());
    first.map_or_else(String::new, |why| format!(": {why}"))
}

/// A number so that it reads back as the same.
fn written(value: f64) -> Answer {
    Answer::One(format!("{value:?}"))
}

fn written_all(values: Vec<f64>) -> Answer {
    Answer::Many(values.into_iter().map(|value| format!("{value:?}")).collect())
}
