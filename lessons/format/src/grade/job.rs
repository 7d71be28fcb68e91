//! Grading away from the lesson: an answer with all that its grade depends on, for another thread or another process.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_expr::{Env, LookupError, Point, Value};
use mlsys_lab::Registry;
use serde::{Deserialize, Serialize};

use crate::grade::{Answer, Grade};
use crate::model::{Formula, Lesson, Question, QuestionKind, Sheet};

/// Where answers are graded.
pub trait Grader {
    /// `env` has the values of the lesson's labs.
    fn grade(&self, lesson: &Lesson, question: &Question, given: &Answer, env: &dyn Env) -> Grade;
}

/// In this thread, by these labs.
impl Grader for Registry {
    fn grade(&self, _: &Lesson, question: &Question, given: &Answer, env: &dyn Env) -> Grade {
        question.grade(given, env, self)
    }
}

/// The values of the lesson's names that a question's conditions refer to.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KnownNames {
    values: BTreeMap<String, Known>,
    /// The numbers that their labs drew.
    drawn: Vec<String>,
}

/// A value, or why there is none. JSON has no number for infinity or NaN, so that numbers are texts there.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Known {
    Number(String),
    Text(String),
    Bool(bool),
    Series(Vec<(u64, String)>),
    Missing(String),
    Unknown(Option<String>),
}

impl KnownNames {
    /// Those of all questions of a lesson.
    pub fn for_lesson(lesson: &Lesson, env: &dyn Env) -> Self {
        let questions = lesson.questions();
        let values = questions.flat_map(|question| Self::for_question(question, env).values);
        let known = Self { values: values.collect(), drawn: Vec::new() };
        let drawn = lesson.lab_numbers(&known.labs());
        Self { drawn, ..known }
    }

    /// Whether the lesson's labs have the numbers that these values come from.
    pub fn fits(&self, lesson: &Lesson) -> bool {
        lesson.lab_numbers(&self.labs()) == self.drawn
    }

    /// The first part of each name: labs of the lesson, and `device`.
    pub fn labs(&self) -> BTreeSet<&str> {
        self.values.keys().filter_map(|name| name.split('.').next()).collect()
    }

    pub fn for_question(question: &Question, env: &dyn Env) -> Self {
        let names = question.formulas().into_iter().flat_map(|formula| formula.expr.names());
        let names = names.map(|(name, _)| name.as_str());
        // Those of the answer's own run are known where it is graded.
        let names = names.filter(|name| !name.starts_with("answer."));
        let values = names.map(|name| (name.to_owned(), Known::from(env.lookup(name))));
        Self { values: values.collect(), drawn: Vec::new() }
    }
}

impl From<Result<Value, LookupError>> for Known {
    fn from(found: Result<Value, LookupError>) -> Self {
        let number = |x: f64| format!("{x:?}");
        match found {
            Ok(Value::Number(x)) => Self::Number(number(x)),
            Ok(Value::Text(text)) => Self::Text(text),
            Ok(Value::Bool(truth)) => Self::Bool(truth),
            Ok(Value::Series(points)) => {
                Self::Series(points.iter().map(|(step, x)| (*step, number(*x))).collect())
            }
            Err(LookupError::Missing { reason }) => Self::Missing(reason),
            Err(LookupError::Unknown { nearest }) => Self::Unknown(nearest),
        }
    }
}

impl Env for KnownNames {
    fn lookup(&self, name: &str) -> Result<Value, LookupError> {
        let unknown = LookupError::Unknown { nearest: None };
        let number = |text: &String| text.parse::<f64>().map_err(|_| unknown.clone());
        Ok(match self.values.get(name) {
            Some(Known::Number(x)) => Value::Number(number(x)?),
            Some(Known::Text(text)) => Value::Text(text.clone()),
            Some(Known::Bool(truth)) => Value::Bool(*truth),
            Some(Known::Series(points)) => {
                let points = points.iter().map(|(step, x)| Ok((*step, number(x)?)));
                Value::Series(points.collect::<Result<Vec<Point>, LookupError>>()?.into())
            }
            Some(Known::Missing(reason)) => {
                return Err(LookupError::Missing { reason: reason.clone() });
            }
            Some(Known::Unknown(nearest)) => {
                return Err(LookupError::Unknown { nearest: nearest.clone() });
            }
            None => return Err(unknown),
        })
    }
}

/// An answer to be graded by another process.
#[derive(Debug, Serialize, Deserialize)]
pub struct GradingJob {
    /// The whole text of the lesson.
    lesson: String,
    /// The learner that its numbers are drawn for.
    sheet: Option<Sheet>,
    question: String,
    given: Answer,
    known: KnownNames,
}

impl GradingJob {
    pub fn new(lesson: &Lesson, question: &Question, given: &Answer, env: &dyn Env) -> Self {
        Self {
            lesson: lesson.source.text.clone(),
            sheet: lesson.sheet.clone(),
            question: question.id.clone(),
            given: given.clone(),
            known: KnownNames::for_question(question, env),
        }
    }

    /// The grade; none where the text is no lesson with such a question.
    pub fn run(&self, registry: &Registry) -> Option<Grade> {
        let lesson = crate::parse("lesson.md", &self.lesson).lesson?;
        let drawn = self.sheet.as_ref().map(|sheet| lesson.drawn(sheet));
        let lesson = drawn.unwrap_or(lesson);
        let question = lesson.question(&self.question)?;
        Some(question.grade(&self.given, &self.known, registry))
    }
}

impl Question {
    /// The expressions that an answer is held against.
    pub(crate) fn formulas(&self) -> Vec<&Formula> {
        match &self.kind {
            QuestionKind::Kernel(task) => task.cost_formulas().collect(),
            QuestionKind::Expression { accept, .. } => vec![accept],
            QuestionKind::Numeric { answer, wrong, .. } => {
                [answer].into_iter().chain(wrong.iter().map(|wrong| &wrong.value)).collect()
            }
            QuestionKind::List { answer, wrong, .. } => {
                answer.iter().chain(wrong.iter().flat_map(|wrong| &wrong.value)).collect()
            }
            QuestionKind::Choice { .. }
            | QuestionKind::Multiple { .. }
            | QuestionKind::Match { .. }
            | QuestionKind::Order { .. }
            | QuestionKind::Text { .. }
            | QuestionKind::Withheld(_) => Vec::new(),
        }
    }

    /// Whether an answer is executed to be graded, so that a bad one may take time and memory.
    pub fn is_executed(&self) -> bool {
        matches!(self.kind, QuestionKind::Expression { .. })
            || self.kind.kernel().is_some_and(|kernel| !kernel.tests().is_empty())
    }
}
