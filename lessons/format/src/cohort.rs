//! What many learners' exported progress comes to, lesson by lesson.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::course::Course;
use crate::env::LessonEnv;
use crate::grade::{Answer, Grade, Grader, Verdict, quantity};
use crate::model::{
    Formula, Lesson, Predict, PredictKind, Question, QuestionKind, Sheet, Varying, Wrong,
};
use crate::progress::Attempt;
use crate::progress::answers::{Answers, Details};
use crate::progress::submission::Submission;

/// What a cohort did in a course.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cohort {
    pub course: String,
    pub learners: usize,
    /// The lessons of the course, in order.
    pub lessons: Vec<LessonReport>,
    /// Each learner's points, where names are asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<Learner>,
}

/// One learner.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Learner {
    /// The id of a submission, else what the file is called.
    pub name: String,
    pub completed: usize,
    /// Points in all lessons.
    pub points: u32,
}

/// What a cohort did in a lesson.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LessonReport {
    pub id: String,
    pub title: String,
    /// Learners who opened it.
    pub opened: usize,
    /// Learners who completed it.
    pub completed: usize,
    /// Points there are.
    pub of: u32,
    /// Points of those who opened it.
    pub points: Option<Spread>,
    pub questions: Vec<QuestionReport>,
    pub predictions: Vec<PredictionReport>,
    pub checks: Vec<CheckReport>,
}

/// What a cohort answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QuestionReport {
    pub id: String,
    /// Learners who answered.
    pub answered: usize,
    /// Learners who were right at once.
    pub right_first: usize,
    /// Learners who were right in the end.
    pub right: usize,
    /// Learners with an answer that cannot be graded here: its key, or the device of a run, is elsewhere.
    pub recorded: usize,
    /// Learners who took a hint.
    pub hinted: usize,
    pub hints: usize,
    /// Wrong answers, the most frequent first.
    pub wrong: Vec<WrongReport>,
}

/// A wrong answer and how often it was given.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrongReport {
    /// The answer: as the lesson states it if it foresees it, else as it was given; of a kernel what failed first.
    pub answer: String,
    /// What the lesson says to it.
    pub say: Option<String>,
    /// How often it was given.
    pub count: usize,
}

/// What a cohort predicted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PredictionReport {
    pub id: String,
    /// Learners who predicted.
    pub made: usize,
    /// Distances from what came out, as shares of it, for numbers.
    pub relative_error: Option<Spread>,
    /// How often each choice was made.
    pub choices: BTreeMap<String, usize>,
    /// Learners with the right choice.
    pub came_out: usize,
}

/// What became of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    pub id: String,
    /// Learners for whom it held.
    pub held: usize,
    /// Learners with a machine that could not run it.
    pub skipped: usize,
}

/// How values are spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    pub count: usize,
    pub min: f64,
    /// A quarter is below.
    pub quarter: f64,
    /// Half is below.
    pub median: f64,
    /// Three quarters are below.
    pub three_quarters: f64,
    pub max: f64,
}

impl Spread {
    /// The spread of these values, where a quarter falls between two their weighted mean; nothing if there are none.
    pub fn new(mut values: Vec<f64>) -> Option<Self> {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let at = |quarters: usize| {
            let (place, share) = (last * quarters, (last * quarters % 4) as f64 / 4.0);
            Some(values.get(place / 4)? * (1.0 - share) + values.get(place.div_ceil(4))? * share)
        };
        Some(Self {
            count: values.len(),
            min: at(0)?,
            quarter: at(1)?,
            median: at(2)?,
            three_quarters: at(3)?,
            max: at(4)?,
        })
    }
}

/// What these learners did in a course. Every answer is graded again; what a file says of its answers counts nothing.
pub fn cohort(course: &Course, learners: &[(String, Answers)], grader: &dyn Grader) -> Cohort {
    let mut names: Vec<Learner> = learners
        .iter()
        .map(|(name, _)| Learner { name: name.clone(), completed: 0, points: 0 })
        .collect();
    let mut lessons = Vec::new();
    for lesson in course.lessons() {
        let mut grading = Grading { grader, known: BTreeMap::new() };
        let id = &lesson.front.id;
        let mut points = Vec::new();
        let mut completed = 0;
        let blank = |question: &Question| QuestionReport {
            id: question.id.clone(),
            ..QuestionReport::default()
        };
        let mut questions: Vec<QuestionReport> = lesson.questions().map(blank).collect();
        for ((_, answers), learner) in learners.iter().zip(&mut names) {
            let details = answers.details.get(id);
            if details.is_none() && !answers.lessons.contains_key(id) {
                continue;
            }
            let own = own(lesson, course, answers);
            let mut earned = 0;
            for (question, report) in own.questions().zip(&mut questions) {
                let hints = details.and_then(|details| details.hints.get(&question.id));
                let hints = hints.copied().unwrap_or(0);
                report.hints = report.hints.saturating_add(hints);
                report.hinted += usize::from(hints > 0);
                earned += grading.attempts(&own, question, answers, report);
            }
            if details.is_some_and(|details| details.completed) {
                completed += 1;
                learner.completed += 1;
            }
            learner.points += earned;
            points.push(f64::from(earned));
        }
        for report in &mut questions {
            report
                .wrong
                .sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.answer.cmp(&b.answer)));
        }
        let checks = lesson.checks().map(|check| {
            let count = |of: fn(&Details) -> &BTreeSet<String>| {
                let all = learners.iter().filter_map(|(_, answers)| answers.details.get(id));
                all.filter(|details| of(details).contains(&check.id)).count()
            };
            let held = count(|details| &details.checks);
            CheckReport { id: check.id.clone(), held, skipped: count(|details| &details.skipped) }
        });
        lessons.push(LessonReport {
            id: id.to_string(),
            title: lesson.front.title.clone(),
            opened: points.len(),
            completed,
            of: lesson.points(),
            points: Spread::new(points),
            questions,
            predictions: lesson
                .predictions()
                .map(|predict| prediction(lesson, predict, learners))
                .collect(),
            checks: checks.collect(),
        });
    }
    Cohort { course: course.id.to_string(), learners: learners.len(), lessons, names }
}

/// The lesson with the learner's numbers; a file that is no submission was answered with the printed ones.
fn own<'l>(lesson: &'l Lesson, course: &Course, answers: &Answers) -> Cow<'l, Lesson> {
    match answers.submission.as_ref().filter(|_| lesson.varies()) {
        Some(Submission { learner, .. }) => {
            let (salt, learner) = (course.salt.clone(), learner.clone());
            Cow::Owned(lesson.drawn(&Sheet { salt, learner }))
        }
        None => Cow::Borrowed(lesson),
    }
}

fn prediction(
    lesson: &Lesson,
    predict: &Predict,
    learners: &[(String, Answers)],
) -> PredictionReport {
    let env = LessonEnv::unrun(lesson);
    let known = predict.truth(&env);
    let made = learners.iter().filter_map(|(_, answers)| {
        let details = answers.details.get(&lesson.front.id)?;
        details.predictions.get(&predict.id)
    });
    let mut report = PredictionReport { id: predict.id.clone(), ..PredictionReport::default() };
    let mut errors = Vec::new();
    for made in made {
        report.made += 1;
        let actual = made.actual.as_ref().or(known.as_ref()).and_then(Answer::one);
        let Some(given) = made.given.one() else { continue };
        match &predict.kind {
            PredictKind::Numeric { unit, bounds } => {
                let given = quantity::read_share(given, unit.as_deref(), bounds.range());
                if let (Ok(given), Some(Ok(actual))) = (given, actual.map(str::parse::<f64>))
                    && actual != 0.0
                {
                    errors.push((given.value - actual).abs() / actual.abs());
                }
            }
            PredictKind::Choice { .. } => {
                *report.choices.entry(spelled(&made.given)).or_default() += 1;
                report.came_out += usize::from(actual == Some(given));
            }
        }
    }
    report.relative_error = Spread::new(errors);
    report
}

/// Grades each different answer once.
struct Grading<'a> {
    grader: &'a dyn Grader,
    known: BTreeMap<String, Graded>,
}

#[derive(Clone)]
struct Graded {
    /// Unknown where it takes a run, or the answer is kept elsewhere.
    right: Option<bool>,
    wrong: (String, Option<String>),
}

impl Grading<'_> {
    /// Takes one learner's answers to a question into its report; the points they earned.
    fn attempts(
        &mut self,
        lesson: &Lesson,
        question: &Question,
        answers: &Answers,
        report: &mut QuestionReport,
    ) -> u32 {
        let id = &lesson.front.id;
        let made = answers
            .details
            .get(id)
            .and_then(|details| details.attempts.get(&question.id))
            .filter(|attempts| !attempts.is_empty());
        let attempts: Vec<Attempt> = match (made, answers.get(id, &question.id)) {
            (Some(attempts), _) => attempts.clone(),
            (None, Some(given)) => {
                vec![Attempt { given: given.clone(), right: None, points: 0, at: None }]
            }
            (None, None) => return 0,
        };
        report.answered += 1;
        let (mut is_right, mut is_recorded) = (false, false);
        for (index, attempt) in attempts.iter().enumerate() {
            let graded = self.grade(lesson, question, &attempt.given);
            if graded.right == Some(true) {
                report.right_first += usize::from(index == 0);
                is_right = true;
                continue;
            }
            if graded.right.is_none() {
                is_recorded = true;
                continue;
            }
            let (answer, say) = graded.wrong;
            match report.wrong.iter_mut().find(|wrong| wrong.answer == answer) {
                Some(wrong) => wrong.count += 1,
                None => report.wrong.push(WrongReport { answer, say, count: 1 }),
            }
        }
        report.right += usize::from(is_right);
        report.recorded += usize::from(is_recorded && !is_right);
        if is_right { question.points } else { 0 }
    }

    fn grade(&mut self, lesson: &Lesson, question: &Question, given: &Answer) -> Graded {
        let drawn = question.variants.as_ref().map(|variants| &variants.drawn);
        let labs = lesson.lab_numbers_in_words();
        let key = format!("{} {drawn:?} {labs} {given:?}", question.id);
        if let Some(graded) = self.known.get(&key) {
            return graded.clone();
        }
        let env = LessonEnv::unrun(lesson);
        let grade = self.grader.grade(lesson, question, given, &env);
        let foreseen = grade.feedback.as_ref().and_then(|feedback| {
            let mut stated = stated_wrong(&question.kind).into_iter();
            let at = stated.position(|(_, say)| say == *feedback)?;
            // As it is written, it is one mistake with all numbers.
            stated_wrong(&question.written().kind).into_iter().nth(at)
        });
        let graded = Graded {
            right: match grade.verdict {
                Verdict::Right => Some(true),
                Verdict::Wrong => Some(false),
                Verdict::Recorded => None,
                // Where the right answer is known without a run, what is no answer is a wrong one.
                Verdict::Malformed => {
                    let stated = question.stated_answer();
                    let right = self.grader.grade(lesson, question, &stated, &env).verdict;
                    (right == Verdict::Right).then_some(false)
                }
            },
            wrong: match (failure(question, &grade), foreseen) {
                (Some(failure), foreseen) => (failure, foreseen.map(|(_, say)| say)),
                (None, Some((answer, say))) => (answer, Some(say)),
                (None, None) => (spelled(given), None),
            },
        };
        self.known.insert(key, graded.clone());
        graded
    }
}

/// The first test that a kernel fails, or why none was run.
fn failure(question: &Question, grade: &Grade) -> Option<String> {
    let mut tests = question.kind.kernel()?.tests().iter();
    let failed = grade.failed.first().or(grade.feedback.as_ref())?;
    let test = tests.find(|test| failed.starts_with(&format!("{}: ", test.name)));
    Some(match test {
        Some(test) => format!("fails {}", test.name),
        None => failed.lines().next().unwrap_or_default().to_owned(),
    })
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

/// The first 80 characters of an answer on one line, so that answers which differ by white space alone are one.
fn spelled(given: &Answer) -> String {
    let text = given.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(80).collect()
}
