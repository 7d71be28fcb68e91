//! Labs that draw settings: whether the lesson holds with the numbers of each learner.
//!
//! A thousand learners' numbers are looked at, equal ones once. With each, the settings must be good ones and tries must
//! turn something. Labs that answer at once are run: what the lesson asserts of them must hold, and the questions that
//! follow a lab, or name a metric of one, must be as good as the printed ones. A lab that takes a while is not run here.

use std::collections::BTreeMap;

use mlsys_expr::Env;
use mlsys_lab::Registry;
use mlsys_lab::params::Params;
use mlsys_lab::tables::Tables;

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::grade::{Answer, Verdict};
use crate::lint::labs::Labs;
use crate::lint::spoiler::{DrawnTexts, spoilers};
use crate::lint::variants::{failed, follows_a_lab, given};
use crate::model::{
    Block, Check as Asserted, Formula, LabDirective, Lesson, MOST_LAB_DRAWS, Question, Sheet,
    Variants,
};
use crate::selftest::{self_test_of, self_test_of_guess};
use crate::validate::validate_labs;

/// Learners that numbers are drawn for.
const LEARNERS: usize = 1000;

/// Pages that are searched for answers, each with other numbers.
const PAGES: usize = 24;

/// What is wrong with the first learner's numbers that make a worse lesson than the printed ones.
pub(super) fn drawn_labs(
    lesson: &Lesson,
    registry: &Registry,
    texts: &DrawnTexts<'_>,
) -> Vec<Diagnostic> {
    if lesson.labs().all(|lab| lab.vary.is_empty()) {
        return Vec::new();
    }
    let follows = |question: &Question| {
        question.variants.as_ref().is_some_and(|variants| variants.shares())
            || question.formulas().into_iter().any(|formula| names_a_drawing_lab(formula, lesson))
    };
    let following: Vec<&Question> = lesson.questions().filter(|one| follows(one)).collect();
    if let Some(many) = too_many(lesson, &following) {
        return vec![many];
    }
    let printed = Labs::run(lesson, registry);
    let taken = vec![(0, None); following.len()];
    let wrong = validate_labs(lesson, registry);
    let mut check = Check { lesson, registry, texts, printed: &printed, wrong, following, taken };
    let groups = check.groups();
    for (at, (label, lessons)) in groups.iter().enumerate() {
        let found = check.group(lessons, at < PAGES);
        if !found.is_empty() {
            let with = |problem: Diagnostic| Diagnostic {
                message: format!("with {label}, {}", problem.message),
                ..problem
            };
            return found.into_iter().map(with).collect();
        }
    }
    let others = groups.keys().filter(|label| **label != lesson.lab_numbers_in_words()).count();
    check.telling(others)
}

fn names_a_drawing_lab(formula: &Formula, lesson: &Lesson) -> bool {
    formula.expr.names().iter().any(|(name, _)| {
        let lab = name.parts().next().and_then(|id| lesson.lab(id));
        lab.is_some_and(|lab| !lab.vary.is_empty())
    })
}

/// Answers from more runs than a grader makes.
fn too_many(lesson: &Lesson, following: &[&Question]) -> Option<Diagnostic> {
    let formulas = || following.iter().flat_map(|question| question.formulas());
    let names = formulas().flat_map(|formula| formula.expr.names());
    let labs: Vec<String> =
        names.filter_map(|(name, _)| name.parts().next().map(str::to_owned)).collect();
    if lesson.lab_draws(&labs.iter().map(String::as_str).collect()).is_some() {
        return None;
    }
    let first = formulas().find(|formula| names_a_drawing_lab(formula, lesson))?;
    let message = format!(
        "answers name metrics of labs that learners draw in more than {MOST_LAB_DRAWS} ways, each of which is a run"
    );
    let help = "list fewer numbers in the lab's `vary`, or write the answer as a formula";
    Some(lesson.source.error(Code::TooLarge, first.place, message).help(help))
}

struct Check<'l> {
    lesson: &'l Lesson,
    registry: &'l Registry,
    texts: &'l DrawnTexts<'l>,
    printed: &'l Labs<'l>,
    /// What is wrong with the printed lesson.
    wrong: Vec<Diagnostic>,
    /// Questions that depend on what labs draw.
    following: Vec<&'l Question>,
    /// For each of them, how many other draws take the printed answer, and the first of them.
    taken: Vec<(usize, Option<String>)>,
}

impl Check<'_> {
    /// The lesson with each thing that learners draw, those with the same numbers of labs together under these.
    fn groups(&self) -> BTreeMap<String, Vec<Lesson>> {
        let mut groups: BTreeMap<String, Vec<Lesson>> = BTreeMap::new();
        for learner in 1..=LEARNERS {
            let Ok(learner) = learner.to_string().parse() else { continue };
            let drawn = self.lesson.drawn(&Sheet { salt: String::new(), learner });
            let group = groups.entry(drawn.lab_numbers_in_words()).or_default();
            let is_new = |known: &Lesson| {
                self.following.iter().any(|one| known.question(&one.id) != drawn.question(&one.id))
            };
            if group.iter().all(is_new) {
                group.push(drawn);
            }
        }
        groups
    }

    fn group(&mut self, lessons: &[Lesson], is_searched: bool) -> Vec<Diagnostic> {
        let Some(first) = lessons.first() else { return Vec::new() };
        let found = self.labs(first);
        if !found.is_empty() {
            return found;
        }
        let labs = self.printed.again(first, self.registry);
        let env = labs.env(first);
        let mut found = Vec::new();
        let follows = |check: &&Asserted| {
            let of_a_lab = |variants: &Variants<Asserted>| follows_a_lab(variants, self.lesson);
            names_a_drawing_lab(&check.assert, self.lesson)
                || check.variants.as_deref().is_some_and(of_a_lab)
        };
        for check in first.checks().filter(follows) {
            found.extend(failed(check, first, &env));
        }
        for predict in first.predictions() {
            let problems = self_test_of_guess(predict, first, &env, self.registry);
            // What is wrong with the printed numbers too is told without them.
            let printed = self.printed.env(self.lesson);
            let before = self.lesson.predictions().find(|one| one.id == predict.id);
            let before =
                before.map(|one| self_test_of_guess(one, self.lesson, &printed, self.registry));
            let is_new = |one: &Diagnostic| !before.iter().flatten().any(|known| known == one);
            found.extend(problems.into_iter().filter(is_new).take(1));
        }
        for (at, question) in self.following.iter().enumerate() {
            // Kernels and expressions are executed: once for each draw of the labs.
            let most = if question.is_executed() { 1 } else { lessons.len() };
            for drawn in lessons.iter().take(most) {
                let Some(own) = drawn.question(&question.id) else { continue };
                found.extend(self_test_of(own, drawn, &env, self.registry).into_iter().take(1));
            }
            if first.lab_numbers_in_words() != self.lesson.lab_numbers_in_words()
                && let Some(printed) = given(question, &self.printed.env(self.lesson))
                && let Some(own) = first.question(&question.id)
                && takes(own, &printed, &env, self.registry)
            {
                let (count, label) = &mut self.taken[at];
                *count += 1;
                label.get_or_insert_with(|| first.lab_numbers_in_words());
            }
        }
        if found.is_empty() && is_searched {
            found = spoilers(&plain(first), self.registry, self.texts);
        }
        found
    }

    /// What is wrong with the settings that were drawn.
    fn labs(&self, drawn: &Lesson) -> Vec<Diagnostic> {
        let mut found = validate_labs(drawn, self.registry);
        // What is wrong without a learner was told before.
        found.retain(|problem| !self.wrong.contains(problem));
        if !found.is_empty() {
            return found;
        }
        let problem = |lab: &LabDirective| {
            let varied = lab.vary.first()?;
            let kind = self.registry.find(&lab.kind.value).ok()?;
            let settings = lab.settings();
            let seed = Some(drawn.front.seed);
            let reason = match Params::resolve(kind.schema(), &settings, Tables::builtin(), seed) {
                Err(errors) => {
                    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
                }
                Ok(_) if kind.schema().is_live() => return None,
                Ok(_) => crate::grade::run_once(kind, &settings).err()?.to_string(),
            };
            let message = format!("lab `{}` does not run: {reason}", lab.id);
            let help = "list numbers that go together with the lab's other settings";
            Some(self.error(Code::BadParam, varied.name.place, message, help))
        };
        drawn.labs().filter_map(problem).collect()
    }

    /// Questions with a printed answer that most other draws take, so that it could be passed on.
    fn telling(&self, draws: usize) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (question, (taken, first)) in self.following.iter().zip(&self.taken) {
            let Some(first) = first.as_ref().filter(|_| 2 * taken > draws) else { continue };
            let message = format!(
                "the printed answer of `{}` is right for {taken} of {draws} other draws of the labs, such as with {first}",
                question.id
            );
            let help = "choose numbers further apart, or narrow the tolerance";
            found.push(self.error(Code::WrongAccepted, question.place, message, help));
        }
        found
    }

    fn error(&self, code: Code, place: Place, message: String, help: &str) -> Diagnostic {
        self.lesson.source.error(code, place, message).help(help)
    }
}

fn takes(question: &Question, printed: &Answer, env: &dyn Env, registry: &Registry) -> bool {
    question.grade(printed, env, registry).verdict == Verdict::Right
}

/// The lesson as one learner sees it, with questions that draw nothing more.
fn plain(drawn: &Lesson) -> Lesson {
    let mut lesson = drawn.clone();
    for question in lesson.blocks.iter_mut().filter_map(Block::as_question_mut) {
        question.variants = None;
    }
    lesson
}
