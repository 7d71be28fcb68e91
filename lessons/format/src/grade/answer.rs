//! An answer as a learner gives it and as files keep it.

use std::collections::BTreeMap;
use std::fmt;

use mlsys_lab::random::SplitMix64;
use serde::{Deserialize, Serialize};

use crate::model::{LessonId, Question, QuestionKind, QuestionType, Wrong};

/// An answer to a question or prediction. In JSON: a text, a number, a list, or an object of left to right sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, from = "Json")]
pub enum Answer {
    /// A number, an expression, a choice, a text.
    One(String),
    /// Choices, texts in order, or numbers.
    Many(Vec<String>),
    /// Right sides by left sides.
    Pairs(BTreeMap<String, String>),
}

/// What hands write into JSON: numbers and truth values too.
#[derive(Deserialize)]
#[serde(untagged)]
enum Json {
    One(Scalar),
    Many(Vec<Scalar>),
    Pairs(BTreeMap<String, Scalar>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(serde_json::Number),
    Bool(bool),
}

impl From<Scalar> for String {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Text(text) => text,
            Scalar::Number(number) => number.to_string(),
            Scalar::Bool(truth) => truth.to_string(),
        }
    }
}

impl From<Json> for Answer {
    fn from(json: Json) -> Self {
        match json {
            Json::One(scalar) => Self::One(scalar.into()),
            Json::Many(scalars) => Self::Many(scalars.into_iter().map(Into::into).collect()),
            Json::Pairs(pairs) => {
                Self::Pairs(pairs.into_iter().map(|(left, right)| (left, right.into())).collect())
            }
        }
    }
}

impl Answer {
    /// The text, if it is one; a list of one is that one.
    pub fn one(&self) -> Option<&str> {
        match self {
            Self::One(text) => Some(text),
            Self::Many(texts) => match texts.as_slice() {
                [text] => Some(text),
                _ => None,
            },
            Self::Pairs(_) => None,
        }
    }

    /// The texts; one text is divided at its commas, those inside parentheses excepted.
    pub fn many(&self) -> Option<Vec<&str>> {
        match self {
            Self::One(text) => Some(divided(text)),
            Self::Many(texts) => Some(texts.iter().map(String::as_str).collect()),
            Self::Pairs(_) => None,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(text) => f.write_str(text),
            Self::Many(texts) => f.write_str(&texts.join(", ")),
            Self::Pairs(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(l, r)| format!("{l}: {r}")).collect();
                f.write_str(&pairs.join(", "))
            }
        }
    }
}

fn divided(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

impl Question {
    /// The texts to choose from, or to put in order, in the order they are shown; empty for other types.
    ///
    /// The order depends on lesson and question alone, so that it is the same in every session and on paper.
    pub fn shown_choices(&self, lesson: &LessonId) -> Vec<&str> {
        let mut texts: Vec<&str> = Vec::new();
        for choice in self.kind.choices() {
            // Two left sides of a match may have the same right side.
            if !texts.contains(&choice.as_str()) {
                texts.push(choice);
            }
        }
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
    let mut random = SplitMix64(seed);
    for last in (1..texts.len()).rev() {
        let other = random.below(last + 1);
        texts.swap(last, other);
    }
}

/// What a verdict on one kind of question is before it has points.
pub(super) enum Judgement {
    Right,
    Wrong(Option<String>),
    Recorded,
    Malformed(String),
}

pub(super) fn malformed(ty: QuestionType) -> Judgement {
    Judgement::Malformed(format!("the answer to this question is {}", ty.wanted()))
}

/// Right, or wrong with what to say to this text if that is stated.
pub(super) fn verdict(right: bool, given: &str, wrong: &[Wrong<String>]) -> Judgement {
    if right { Judgement::Right } else { Judgement::Wrong(say(given, wrong)) }
}

pub(super) fn say(given: &str, wrong: &[Wrong<String>]) -> Option<String> {
    let stated = wrong.iter().find(|wrong| same(&wrong.value, given));
    stated.map(|wrong| wrong.say.clone())
}

/// The choice that a text names.
pub(super) fn chosen<'c>(
    text: &str,
    mut choices: impl Iterator<Item = &'c str>,
) -> Option<&'c str> {
    choices.find(|choice| same(choice, text))
}

/// Whether two texts are the same but for capitals and white space.
pub(super) fn same(a: &str, b: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(a) == plain(b)
}
