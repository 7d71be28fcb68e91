//! The order in which choices are shown: mixed, and the same each time.

use crate::model::{Asked, LessonId, Question, QuestionKind};

impl Question {
    /// The texts to choose from, or to put in order, in the order they are shown; empty for other types.
    ///
    /// The order depends on lesson and question alone, so that it is the same in every session and on paper.
    pub fn shown_choices(&self, lesson: &LessonId) -> Vec<&str> {
        let mut texts: Vec<&str> = match &self.kind {
            QuestionKind::Choice { answer, wrong } => [answer]
                .into_iter()
                .chain(wrong.iter().map(|w| &w.value))
                .map(String::as_str)
                .collect(),
            QuestionKind::Multiple { answer, wrong } => {
                answer.iter().chain(wrong.iter().map(|w| &w.value)).map(String::as_str).collect()
            }
            QuestionKind::Match { pairs, extra } => {
                let mut rights: Vec<&str> = Vec::new();
                for right in pairs.iter().map(|pair| &pair.right).chain(extra) {
                    if !rights.contains(&right.as_str()) {
                        rights.push(right);
                    }
                }
                rights
            }
            QuestionKind::Order { answer, .. } => answer.iter().map(String::as_str).collect(),
            QuestionKind::Numeric { .. }
            | QuestionKind::List { .. }
            | QuestionKind::Expression { .. }
            | QuestionKind::Text { .. }
            | QuestionKind::Kernel(_) => Vec::new(),
            QuestionKind::Withheld(asked) => match asked {
                Asked::Choice { choices }
                | Asked::Multiple { choices }
                | Asked::Match { choices, .. }
                | Asked::Order { choices } => choices.iter().map(String::as_str).collect(),
                Asked::Numeric { .. }
                | Asked::List
                | Asked::Expression
                | Asked::Text
                | Asked::Kernel { .. } => Vec::new(),
            },
        };
        let unmixed = texts.clone();
        shuffle(&mut texts, seed(lesson.as_str(), &self.id));
        // What is to be put in order must not already be.
        if matches!(self.kind, QuestionKind::Order { .. }) && texts == unmixed {
            texts.rotate_left(1);
        }
        texts
    }
}

/// FNV-1a over both names.
fn seed(lesson: &str, question: &str) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let bytes = lesson.bytes().chain([b'/']).chain(question.bytes());
    bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// Fisher-Yates with SplitMix64.
fn shuffle(texts: &mut [&str], seed: u64) {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    for last in (1..texts.len()).rev() {
        let other = (next() % (last as u64 + 1)) as usize;
        texts.swap(last, other);
    }
}
