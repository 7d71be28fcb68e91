//! Numbers that a question draws by learner.
//!
//! A lesson is read with the printed numbers, the first of each name; [`Lesson::drawn`](crate::Lesson::drawn) puts in those of a learner. Both
//! are instances of the question as it is written, which is kept for checks, translations and answer keys.

use mlsys_lab::random::SplitMix64;
use serde::{Deserialize, Serialize};

use crate::model::id::{LearnerId, LessonId};
use crate::model::instance::literal;
use crate::model::kernel::Varied;
use crate::model::question::{Question, Variants};

/// The learner that a lesson's numbers are drawn for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    /// The course's own, so that other years and other courses draw other numbers.
    pub salt: String,
    pub learner: LearnerId,
}

/// Draws that are looked at where there are more.
const MOST_DRAWS: usize = 1000;

impl Sheet {
    /// One of the values: the hash of salt, learner, lesson, question and name starts the stream that picks it. It is
    /// the same on every machine and in every version; a test pins it.
    fn draw(&self, lesson: &LessonId, question: &str, varied: &Varied) -> f64 {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let learner = self.learner.as_str();
        let parts = [&self.salt, learner, lesson.as_str(), question, &varied.name.value];
        // FNV-1a; none of the texts contains a zero byte.
        let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0]));
        let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        SplitMix64(hash).pick(&varied.values)
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

    /// Every draw there is, the printed one first; of more than a thousand those of the learners 1 to 1000.
    pub(crate) fn draws(&self, lesson: &LessonId) -> Vec<Vec<f64>> {
        let count = self.names.iter().map(|one| one.values.len()).fold(1, usize::saturating_mul);
        if count <= MOST_DRAWS {
            return (0..count).map(|index| self.combination(index)).collect();
        }
        let mut draws = vec![self.combination(0)];
        for learner in 1..=MOST_DRAWS {
            let Ok(learner) = learner.to_string().parse() else { continue };
            let drawn = self.draw(&Sheet { salt: String::new(), learner }, lesson);
            if !draws.contains(&drawn) {
                draws.push(drawn);
            }
        }
        draws
    }

    /// The printed numbers, the smallest, the largest, and draws in which each value of each name occurs.
    pub(crate) fn covering(&self) -> Vec<Vec<f64>> {
        let end = |pick: fn(f64, f64) -> f64| {
            let values = self.names.iter().map(|varied| varied.values.iter().copied());
            values.map(|values| values.reduce(pick).unwrap_or_default()).collect()
        };
        let most = self.names.iter().map(|varied| varied.values.len()).max().unwrap_or(0);
        let each = |at: usize| {
            self.names.iter().map(|varied| varied.values[at % varied.values.len()]).collect()
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
        let value = |Varied { values, .. }: &Varied| {
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

    /// A draw in words, such as `n = 5, k = 3`.
    pub(crate) fn label(&self, drawn: &[f64]) -> String {
        let named = self.names.iter().zip(drawn);
        let words =
            named.map(|(varied, value)| format!("{} = {}", varied.name.value, literal(*value)));
        words.collect::<Vec<_>>().join(", ")
    }
}
