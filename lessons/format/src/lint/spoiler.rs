//! Answers of questions for a number or a list of numbers that are shown before they are asked for.
//!
//! The answer is looked for, at the precision in which it is shown, in the text above the question and in all that
//! directives above it show as text, in the values of settings and knobs of the labs above it, and in the panels, the
//! metrics and the headline that the lesson shows of those labs that answer at once, run as the lesson sets them. What a
//! panel shows is what its drawing writes, so that no kind of picture can be forgotten. Two kinds of labs count as above
//! wherever they stand: the first one, which is on the screen when the lesson opens, and those that a prediction above
//! runs. So that numbers which are there for another reason do not drown authors,
//!
//! - a number counts alone if the answer has three significant digits or more, zeros at the end left out; with fewer, only
//!   if the answer's unit stands behind it;
//! - of a list each number counts in this way, and all of them next to each other, unless they merely count up;
//! - a number that the question itself gives is an input;
//! - a panel that is held back until the question, or a task below it, is done shows nothing before.

mod panels;
mod secret;

use mlsys_expr::{Env, Value as Known, evaluate};
use mlsys_lab::Registry;
use mlsys_lab::params::Params;
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;

use crate::diagnostic::Diagnostic;
use crate::lint::labs::Labs;
use crate::lint::numbers::{Reading, numbers};
use crate::lint::spoiler::panels::{LabShown, PanelReadings};
use crate::lint::spoiler::secret::{Secret, Sought, Told};
use crate::model::{
    Block, Formula, Knob, LabDirective, Lesson, PredictKind, Question, QuestionKind,
};

pub use panels::{DrawnTexts, PanelTexts};

/// An error for each block that shows the answer of a question below it, in one of the question's draws and, where the
/// block is a question, in one of its own. `drawn` gives what a panel writes.
pub fn spoilers(lesson: &Lesson, registry: &Registry, drawn: &DrawnTexts<'_>) -> Vec<Diagnostic> {
    let labs = Labs::run(lesson, registry);
    let env = labs.env(lesson);
    let page: Vec<Shown<'_>> = lesson
        .blocks
        .iter()
        .map(|block| Shown::new(block, lesson, &labs, registry, drawn))
        .collect();
    let mut found = Vec::new();
    for (at, block) in lesson.blocks.iter().enumerate() {
        let Block::Question(question) = block else { continue };
        let Some(unit) = asked_in(&question.kind) else { continue };
        let later = lesson
            .tasks()
            .filter(|task| task.place().is_some_and(|place| place.start >= question.place.start));
        let later: Vec<&str> = later.filter_map(Block::id).collect();
        let early = early_labs(lesson, at).into_iter().map(|lab| &page[lab]);
        let before: Vec<Before<'_>> =
            page[..at].iter().chain(early).map(|shown| Before::new(shown, unit)).collect();
        let mut told = vec![false; before.len()];
        for (label, draw) in draws(question, lesson) {
            for sought in answers(&draw.kind, &env) {
                let secret = Secret { sought, unit, later: &later };
                if secret.find(&draw.prompt).is_some() {
                    continue;
                }
                for (before, told) in before.iter().zip(&mut told) {
                    let place = if *told { None } else { before.place_of(&secret, lesson) };
                    *told |= place.is_some();
                    found.extend(place.map(|place| place.error(lesson, question, &label)));
                }
            }
        }
    }
    found
}

/// The labs below a block that are on the screen above it: the first one from the beginning, and those that a prediction
/// above runs.
fn early_labs(lesson: &Lesson, at: usize) -> Vec<usize> {
    let (above, below) = lesson.blocks.split_at(at);
    let predictions = || above.iter().filter_map(Block::as_predict);
    let is_first = |lab: &LabDirective| lesson.labs().next().is_some_and(|one| one.id == lab.id);
    let is_run = |lab: &LabDirective| {
        predictions().any(|predict| lesson.labs_of(predict).contains(&lab.id.as_str()))
    };
    let labs = below.iter().zip(at..).filter_map(|(block, place)| Some((block.as_lab()?, place)));
    labs.filter(|(lab, _)| is_first(lab) || is_run(lab)).map(|(_, place)| place).collect()
}

/// The unit of a question for numbers, if its answer may not be shown; none for any other question.
fn asked_in(kind: &QuestionKind) -> Option<Option<&str>> {
    if let QuestionKind::Numeric { unit, shown: None, .. } = kind {
        Some(unit.as_deref())
    } else if let QuestionKind::List { shown: None, .. } = kind {
        Some(None)
    } else {
        None
    }
}

/// What must not be shown of an answer: a number; of a list each of its numbers, and all in a row.
fn answers(kind: &QuestionKind, env: &dyn Env) -> Vec<Sought> {
    let value = |formula: &Formula| match evaluate(&formula.expr, env) {
        Ok(Known::Number(x)) => Some(x),
        Ok(Known::Text(_) | Known::Bool(_) | Known::Series(_)) | Err(_) => None,
    };
    if let QuestionKind::Numeric { answer, .. } = kind {
        value(answer).map(Sought::One).into_iter().collect()
    } else if let QuestionKind::List { answer, .. } = kind {
        let values: Vec<f64> = answer.iter().filter_map(value).collect();
        let row = (values.len() == answer.len()).then(|| Sought::row(&values)).flatten();
        values.into_iter().map(Sought::One).chain(row).collect()
    } else {
        Vec::new()
    }
}

/// A question with each of its draws, and what tells them apart; the question as it is where it draws nothing.
fn draws(question: &Question, lesson: &Lesson) -> Vec<(String, Question)> {
    let Some(variants) = &question.variants else {
        return vec![(String::new(), question.clone())];
    };
    let draws = variants.draws(&lesson.front.id).into_iter();
    let labelled =
        |drawn: Vec<f64>| (format!(" with {}", variants.label(&drawn)), variants.with(drawn));
    draws.map(labelled).collect()
}

/// A block as it is shown to all learners: once, or a question with each of its draws.
struct Shown<'l> {
    block: &'l Block,
    draws: Vec<Block>,
    lab: Option<LabShown<'l>>,
    /// The knobs of a lab and where they stand before it runs.
    knobs: Vec<(&'l Knob, Value)>,
}

impl<'l> Shown<'l> {
    fn new(
        block: &'l Block,
        lesson: &Lesson,
        labs: &'l Labs<'_>,
        registry: &Registry,
        drawn: &DrawnTexts<'_>,
    ) -> Self {
        let draws = match block {
            Block::Question(question) if question.variants.is_some() => {
                let draws = draws(question, lesson).into_iter();
                draws.map(|(_, question)| Block::Question(question)).collect()
            }
            Block::Prose(_)
            | Block::Lab(_)
            | Block::Predict(_)
            | Block::Question(_)
            | Block::Check(_)
            | Block::Notes(_) => Vec::new(),
        };
        let lab = block.as_lab().and_then(|lab| {
            let (schema, data) = labs.of(lab)?;
            Some(LabShown::new(lab, schema, data, drawn))
        });
        let knobs = block.as_lab().map_or_else(Vec::new, |lab| knobs(lab, lesson, registry));
        Self { block, draws, lab, knobs }
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        let own = self.draws.is_empty().then_some(self.block);
        own.into_iter().chain(&self.draws)
    }
}

/// The knobs of a lab with their values at first, some of which neither the lesson nor the knob states.
fn knobs<'l>(
    lab: &'l LabDirective,
    lesson: &Lesson,
    registry: &Registry,
) -> Vec<(&'l Knob, Value)> {
    let seed = Some(lesson.front.seed);
    let Ok(kind) = registry.find(&lab.kind.value) else { return Vec::new() };
    let params = Params::resolve(kind.schema(), &lab.settings(), Tables::builtin(), seed);
    let Ok(params) = params else { return Vec::new() };
    let value = |knob: &'l Knob| Some((knob, params.get(&knob.param)?.clone()));
    lab.knobs.iter().filter_map(value).collect()
}

/// A block above a question, with its numbers as they read where the question's unit is asked for.
struct Before<'s> {
    shown: &'s Shown<'s>,
    /// For each block that it stands for the numbers of each text.
    texts: Vec<Vec<Vec<Reading>>>,
    panels: Vec<PanelReadings<'s>>,
}

impl<'s> Before<'s> {
    fn new(shown: &'s Shown<'s>, unit: Option<&str>) -> Self {
        let read = |text: &String| numbers(text).map(|token| Reading::new(&token, unit)).collect();
        let texts = shown.blocks().map(|block| texts(block).into_iter().map(read).collect());
        let panels = shown.lab.as_ref().map_or_else(Vec::new, |lab| lab.readings(unit));
        Self { shown, texts: texts.collect(), panels }
    }

    /// The first place that shows an answer.
    fn place_of(&self, secret: &Secret<'_>, lesson: &Lesson) -> Option<Told> {
        let texts = self.shown.blocks().zip(&self.texts);
        let mut told = texts.filter(|(_, texts)| texts.iter().any(|text| secret.is_read_in(text)));
        let in_text = told.find_map(|(block, _)| secret.told_in(block, lesson));
        let in_lab = || secret.shown_by(self.shown.block.as_lab()?, self.shown.lab.as_ref());
        let in_knob = || secret.turned_to(&self.shown.knobs);
        let in_panel = || secret.drawn_in(&self.panels, self.shown.block.as_lab()?);
        in_text.or_else(in_lab).or_else(in_knob).or_else(in_panel)
    }
}

/// The texts of a block that are read before what follows it.
pub(super) fn texts(block: &Block) -> Vec<&String> {
    match block {
        Block::Prose(prose) => vec![&prose.markdown],
        Block::Predict(predict) => {
            let choices = match &predict.kind {
                PredictKind::Choice { choices } => choices.as_slice(),
                PredictKind::Numeric { .. } => &[],
            };
            let said = predict.outcomes.iter().map(|outcome| &outcome.say);
            [&predict.prompt]
                .into_iter()
                .chain(&predict.explain)
                .chain(said)
                .chain(choices)
                .collect()
        }
        Block::Question(question) => {
            let choices = question.kind.choices();
            [&question.prompt].into_iter().chain(&question.explain).chain(choices).collect()
        }
        Block::Lab(lab) => {
            let panels = lab.panels.iter().filter_map(|panel| panel.title.as_ref());
            lab.title.iter().chain(panels).collect()
        }
        Block::Check(check) => vec![&check.assert.source],
        Block::Notes(_) => Vec::new(),
    }
}
