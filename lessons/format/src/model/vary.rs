//! Numbers that a question, or a lab's settings, draw by learner.
//!
//! A lesson is read with the printed numbers, the first of each name; [`Lesson::drawn`](crate::Lesson::drawn) puts in those of a learner. Both
//! are instances of the question as it is written, which is kept for checks, translations and answer keys.

use std::collections::BTreeSet;

use mlsys_lab::random::SplitMix64;
use mlsys_lab::value::Value;
use serde::{Deserialize, Serialize};

use crate::model::drawn::{DrawnNumber, Varied, drawn_value, literal};
use crate::model::id::{LearnerId, LessonId};
use crate::model::lab::LabDirective;
use crate::model::question::{Question, Variants};
use crate::model::{Block, Lesson};

/// The learner that a lesson's numbers are drawn for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    /// The course's own, so that other years and other courses draw other numbers.
    pub salt: String,
    pub learner: LearnerId,
}

/// Most combinations of numbers for labs that answers name metrics of: each is a run.
pub(crate) const MOST_LAB_DRAWS: usize = 100;

/// Draws that are looked at where there are more.
const MOST_DRAWS: usize = 1000;

impl Sheet {
    /// One of the values: the hash of salt, learner, lesson, directive and name starts the stream that picks it,
    /// for a shared number those of the directive that draws it. It is the same on every machine and in every version; a test pins it.
    pub(super) fn draw(&self, lesson: &LessonId, directive: &str, varied: &Varied) -> f64 {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let learner = self.learner.as_str();
        let DrawnNumber { directive, name } = varied.origin(directive);
        let parts = [&self.salt, learner, lesson.as_str(), &directive, &name];
        // FNV-1a; none of the texts contains a zero byte.
        let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0]));
        let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        SplitMix64(hash).pick(&varied.values)
    }
}

impl Varied {
    /// What it takes where the question alone is drawn: of another directive's number the printed one.
    fn own_values(&self) -> &[f64] {
        if self.shared.is_some() { &self.values[..1] } else { &self.values }
    }

    /// The directive and the name that it is drawn for.
    fn origin(&self, directive: &str) -> DrawnNumber {
        let own = || DrawnNumber { directive: directive.to_owned(), name: self.name.value.clone() };
        self.shared.clone().unwrap_or_else(own)
    }
}

impl LabDirective {
    /// Puts a number in the place of each that it draws.
    pub(super) fn draw(&mut self, pick: impl Fn(&Varied, &str) -> f64) {
        for varied in &self.vary {
            let settings = self.set.iter_mut().filter(|setting| setting.name == varied.name.value);
            settings.for_each(|setting| setting.value = drawn_value(pick(varied, &self.id)));
        }
    }
}

impl Lesson {
    /// Whether anything in it differs between learners.
    pub fn varies(&self) -> bool {
        self.questions().any(|question| question.variants.is_some())
            || self.labs().any(|lab| !lab.vary.is_empty())
    }

    /// These labs, and those that they start from.
    fn with_sources<'a>(&'a self, named: &BTreeSet<&str>) -> Vec<&'a LabDirective> {
        let mut chosen: Vec<&LabDirective> = Vec::new();
        for lab in self.labs().collect::<Vec<_>>().into_iter().rev() {
            let starts_another = chosen
                .iter()
                .flat_map(|lab| &lab.set)
                .any(|setting| matches!(&setting.value, Value::Text(source) if *source == lab.id));
            if named.contains(lab.id.as_str()) || starts_another {
                chosen.push(lab);
            }
        }
        chosen.reverse();
        chosen
    }

    /// The numbers that these labs draw, and those that they start from, such as `run.bits = 4`.
    pub(crate) fn lab_numbers(&self, named: &BTreeSet<&str>) -> Vec<String> {
        let drawn = self.with_sources(named).into_iter().flat_map(|lab| {
            let settings = lab.set.iter();
            let drawn = settings.filter(|one| lab.vary.iter().any(|v| v.name.value == one.name));
            drawn.map(|one| format!("{}.{} = {}", lab.id, one.name, one.value))
        });
        drawn.collect()
    }

    /// The numbers that all its labs draw, such as `run.bits = 4, other.n = 5`.
    pub fn lab_numbers_in_words(&self) -> String {
        self.lab_numbers(&self.labs().map(|lab| lab.id.as_str()).collect()).join(", ")
    }

    /// The lesson with each combination of the numbers that these labs draw, and those that they start from, the printed
    /// one first; none if there are more than [`MOST_LAB_DRAWS`].
    pub fn lab_draws(&self, named: &BTreeSet<&str>) -> Option<Vec<Self>> {
        let labs = self.with_sources(named).into_iter();
        let mut drawn: Vec<(DrawnNumber, &[f64])> = Vec::new();
        for (lab, varied) in labs.flat_map(|lab| lab.vary.iter().map(move |varied| (lab, varied))) {
            let setting = varied.origin(&lab.id);
            if drawn.iter().all(|(known, _)| *known != setting) {
                drawn.push((setting, &varied.values));
            }
        }
        let counts = drawn.iter().map(|(_, values)| values.len());
        let count = counts.fold(1, usize::saturating_mul);
        let combination = |mut index: usize| {
            let picked = drawn.iter().map(|(setting, values)| {
                let value = values[index % values.len()];
                index /= values.len();
                (setting.clone(), value)
            });
            self.with_numbers(&picked.collect::<Vec<_>>())
        };
        (count <= MOST_LAB_DRAWS).then(|| (0..count).map(combination).collect())
    }

    /// Lessons in which each number of each lab occurs, without the printed one.
    pub fn covering_lab_draws(&self) -> Vec<Self> {
        let drawn = || {
            self.labs().flat_map(|lab| {
                lab.vary.iter().map(|varied| (varied.origin(&lab.id), varied.values.as_slice()))
            })
        };
        let most = drawn().map(|(_, values)| values.len()).max().unwrap_or(0);
        let each = |at: usize| {
            let picked = drawn().map(|(setting, values)| (setting, values[at % values.len()]));
            self.with_numbers(&picked.collect::<Vec<_>>())
        };
        (1..most).map(each).collect()
    }

    /// The lesson with these numbers in the settings of labs, and in the questions that follow them.
    fn with_numbers(&self, picked: &[(DrawnNumber, f64)]) -> Self {
        let mut lesson = self.clone();
        let number = |varied: &Varied, directive: &str| {
            let origin = varied.origin(directive);
            let found = picked.iter().find(|(setting, _)| *setting == origin);
            found.map_or(varied.values[0], |(_, value)| *value)
        };
        lesson.blocks.iter_mut().filter_map(Block::as_lab_mut).for_each(|lab| lab.draw(number));
        for question in lesson.blocks.iter_mut().filter_map(Block::as_question_mut) {
            let Some(variants) = &question.variants else { continue };
            let drawn = variants.names.iter().map(|varied| number(varied, &question.id)).collect();
            *question = variants.with(drawn);
        }
        lesson
    }
}

impl Variants {
    /// A question as it is written, with the printed numbers; the question itself where it draws none.
    pub(crate) fn printed(names: Vec<Varied>, written: Question) -> Question {
        if names.is_empty() {
            return written;
        }
        let drawn = names.iter().map(|varied| varied.values[0]).collect();
        Self { names, drawn, written }.into_question()
    }

    pub(crate) fn into_question(self) -> Question {
        let question = self.written.instance(&self.names, &self.drawn);
        Question { variants: Some(Box::new(self)), ..question }
    }

    pub(crate) fn with(&self, drawn: Vec<f64>) -> Question {
        Self { drawn, ..self.clone() }.into_question()
    }

    /// Every draw there is, the printed one first; of more than a thousand those of the learners 1 to 1000. Numbers of
    /// other directives stay the printed ones.
    pub(crate) fn draws(&self, lesson: &LessonId) -> Vec<Vec<f64>> {
        let own = self.names.iter().map(|varied| varied.own_values().len());
        let count = own.fold(1, usize::saturating_mul);
        if count <= MOST_DRAWS {
            return (0..count).map(|index| self.combination(index)).collect();
        }
        let mut draws = vec![self.combination(0)];
        for learner in 1..=MOST_DRAWS {
            let Ok(learner) = learner.to_string().parse() else { continue };
            let mut drawn = self.draw(&Sheet { salt: String::new(), learner }, lesson);
            for (value, varied) in drawn.iter_mut().zip(&self.names) {
                *value = if varied.shared.is_some() { varied.values[0] } else { *value };
            }
            if !draws.contains(&drawn) {
                draws.push(drawn);
            }
        }
        draws
    }

    /// The printed numbers, the smallest, the largest, and draws in which each value of each name occurs.
    pub(crate) fn covering(&self) -> Vec<Vec<f64>> {
        let end = |pick: fn(f64, f64) -> f64| {
            let values = self.names.iter().map(|varied| varied.own_values().iter().copied());
            values.map(|values| values.reduce(pick).unwrap_or_default()).collect()
        };
        let most = self.names.iter().map(|varied| varied.own_values().len()).max().unwrap_or(0);
        let each = |at: usize| {
            let own = self.names.iter().map(Varied::own_values);
            own.map(|values| values[at % values.len()]).collect()
        };
        let mut draws: Vec<Vec<f64>> = Vec::new();
        for drawn in [each(0), end(f64::min), end(f64::max)].into_iter().chain((1..most).map(each))
        {
            if !draws.contains(&drawn) {
                draws.push(drawn);
            }
        }
        draws
    }

    /// One of all combinations; the first name changes first.
    fn combination(&self, mut index: usize) -> Vec<f64> {
        let value = |varied: &Varied| {
            let values = varied.own_values();
            let value = values[index % values.len()];
            index /= values.len();
            value
        };
        self.names.iter().map(value).collect()
    }

    pub(super) fn draw(&self, sheet: &Sheet, lesson: &LessonId) -> Vec<f64> {
        let id = &self.written.id;
        self.names.iter().map(|varied| sheet.draw(lesson, id, varied)).collect()
    }

    /// Whether another directive draws one of its numbers.
    pub(crate) fn shares(&self) -> bool {
        self.names.iter().any(|varied| varied.shared.is_some())
    }

    /// A draw in words, such as `n = 5, k = 3`.
    pub(crate) fn label(&self, drawn: &[f64]) -> String {
        let named = self.names.iter().zip(drawn);
        let words =
            named.map(|(varied, value)| format!("{} = {}", varied.name.value, literal(*value)));
        words.collect::<Vec<_>>().join(", ")
    }
}
