//! An answer as a learner gives it and as files keep it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// An answer to a question or a prediction. In JSON: a text or number, a list of those, or an object of left sides
/// with their right sides.
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
