//! Answers to questions whose right answer is kept elsewhere: whether they are answers at all.

use super::number::read_number;
use super::{Answer, Judgement, chosen, malformed};
use crate::model::Asked;

pub(super) fn judge(given: &Answer, asked: &Asked) -> Judgement {
    let among =
        |text: &str, choices: &[String]| chosen(text, choices.iter().map(String::as_str)).is_some();
    match asked {
        Asked::Numeric { .. } => match given.one().map(read_number) {
            Some(Ok(_)) => Judgement::Recorded,
            Some(Err(error)) => Judgement::Malformed(error.to_string()),
            None => malformed("a number"),
        },
        Asked::List => {
            let Some(texts) = given.many().filter(|texts| !texts.is_empty()) else {
                return malformed("numbers with commas between them");
            };
            match texts.into_iter().find_map(|text| read_number(text).err()) {
                Some(error) => Judgement::Malformed(error.to_string()),
                None => Judgement::Recorded,
            }
        }
        Asked::Choice { choices } => match given.one() {
            Some(text) if among(text, choices) => Judgement::Recorded,
            Some(_) | None => malformed("one of the choices"),
        },
        Asked::Multiple { choices } => match given.many() {
            Some(texts) if !texts.is_empty() && texts.iter().all(|text| among(text, choices)) => {
                Judgement::Recorded
            }
            Some(_) | None => malformed("all choices that are right"),
        },
        Asked::Order { choices } => {
            let order = given.many().unwrap_or_default();
            let is_there = |choice: &String| order.iter().any(|text| super::same(text, choice));
            if order.len() == choices.len() && choices.iter().all(is_there) {
                Judgement::Recorded
            } else {
                malformed("all the texts, each once, in order")
            }
        }
        Asked::Match { left, choices } => {
            let Answer::Pairs(pairs) = given else {
                return malformed("a right side for each left side");
            };
            let has_side = |left: &String| {
                let mut pairs = pairs.iter();
                pairs.any(|(own, right)| super::same(own, left) && among(right, choices))
            };
            if left.iter().all(has_side) {
                Judgement::Recorded
            } else {
                malformed("a right side for each left side")
            }
        }
        Asked::Expression => match given.one() {
            Some(text) if !text.trim().is_empty() => Judgement::Recorded,
            Some(_) | None => malformed("an expression"),
        },
        Asked::Kernel { .. } => match given.one() {
            Some(text) if !text.trim().is_empty() => Judgement::Recorded,
            Some(_) | None => malformed("a kernel"),
        },
        Asked::Text => match given.one() {
            Some(text) if !text.trim().is_empty() => Judgement::Recorded,
            Some(_) | None => malformed("a word or a short text"),
        },
    }
}
