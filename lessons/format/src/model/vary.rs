//! Numbers that a question, or a lab's settings, draw by learner.
//!
//! A lesson is read with the printed numbers, the first of each name; [`Lesson::drawn`](crate::Lesson::drawn) puts in those of a learner. Both
//! are instances of the question as it is written, which is kept for checks, translations and answer keys.

use std::collections::BTreeSet;

use mlsys_lab::value::Value;

use crate::model::drawn::{DrawnNumber, Varied, drawn_value};
use crate::model::lab::LabDirective;
use crate::model::variants::Varying;
use crate::model::{Block, Lesson};

/// Most combinations of numbers for labs that answers name metrics of: each is a run.
pub(crate) const MOST_LAB_DRAWS: usize = 100;

impl Block {
    /// Puts the numbers that `pick` gives, by name and directive, in the place of those that it draws.
    pub(super) fn draw(&mut self, pick: impl Fn(&Varied, &str) -> f64) {
        match self {
            Self::Lab(lab) => lab.draw(pick),
            Self::Question(question) => question.draw(pick),
            Self::Predict(predict) => predict.draw(pick),
            Self::Check(check) => check.draw(pick),
            Self::Prose(_) | Self::Notes(_) => {}
        }
    }
}

impl LabDirective {
    /// Puts a number in the place of each that it draws.
    fn draw(&mut self, pick: impl Fn(&Varied, &str) -> f64) {
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

    /// The lesson with these numbers in the settings of labs, and in what follows them.
    fn with_numbers(&self, picked: &[(DrawnNumber, f64)]) -> Self {
        let mut lesson = self.clone();
        let number = |varied: &Varied, directive: &str| {
            let origin = varied.origin(directive);
            let found = picked.iter().find(|(setting, _)| *setting == origin);
            found.map_or(varied.values[0], |(_, value)| *value)
        };
        lesson.blocks.iter_mut().for_each(|block| block.draw(number));
        lesson
    }
}
