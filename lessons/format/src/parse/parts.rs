//! What directives share: wrong answers, tolerances, and texts to choose from.

use super::fields::Fields;
use crate::diagnostic::Code;
use crate::model::{Tolerance, Wrong};
use crate::source::{Located, Place};

pub(super) fn wrong_texts(fields: &mut Fields<'_, '_>) -> Vec<Wrong<String>> {
    fields.tables("wrong", |fields| {
        wrong(fields, |fields| {
            let text = fields.text("value")?;
            Some((text.value, text.place))
        })
    })
}

/// One `[[wrong]]`: a value, read by the caller, and what to say to it.
pub(super) fn wrong<T>(
    fields: &mut Fields<'_, '_>,
    value: impl FnOnce(&mut Fields<'_, '_>) -> Option<(T, Place)>,
) -> Option<Wrong<T>> {
    fields.require(&[("value", "value = \"...\""), ("say", "say = \"...\"")]);
    let value = value(fields);
    let say = fields.text("say");
    if value.is_none() {
        fields.ignore("value");
    }
    let (value, place) = value?;
    Some(Wrong { value, say: say?.value, place })
}

pub(super) fn tolerance(fields: &mut Fields<'_, '_>) -> Tolerance {
    let tolerance = fields.table("tolerance", |fields| {
        let owner = fields.owner();
        let (relative, absolute) = (fields.number("rel"), fields.number("abs"));
        let tolerance = match (&relative, &absolute) {
            (Some(share), None) => Tolerance::Relative(share.value),
            (None, Some(most)) => Tolerance::Absolute(most.value),
            (Some(_), Some(most)) => {
                let message = "a tolerance is relative or absolute, not both";
                fields.error(Code::Contradiction, most.place, message, "keep one of them");
                Tolerance::Exact
            }
            (None, None) => {
                let help =
                    "write { rel = 0.01 } or { abs = 0.5 }, or leave the key out for exact answers";
                fields.error(Code::BadValue, owner, "the tolerance says nothing", help);
                Tolerance::Exact
            }
        };
        let number = relative.or(absolute)?;
        if number.value < 0.0 {
            let message = "a tolerance is not negative";
            fields.error(Code::BadValue, number.place, message, "drop the minus sign");
        }
        Some(tolerance)
    });
    tolerance.unwrap_or(Tolerance::Exact)
}

/// The texts without their places, if there are enough of them and no two are the same.
pub(super) fn distinct(
    texts: Option<Vec<Located<String>>>,
    least: usize,
    fields: &mut Fields<'_, '_>,
) -> Option<Vec<String>> {
    let texts = texts?;
    let mut seen: Vec<String> = Vec::new();
    for text in &texts {
        if seen.contains(&text.value) {
            let help = "change one of the two, or remove it";
            fields.error(Code::BadValue, text.place, "this text is there twice", help);
        } else {
            seen.push(text.value.clone());
        }
    }
    if seen.len() < least {
        let place = texts.first().map_or(fields.owner(), |text| text.place);
        let message = format!("there is nothing to choose: {least} texts are needed at least");
        fields.error(Code::BadValue, place, message, "add one");
    }
    Some(seen)
}

pub(super) fn located(wrong: &[Wrong<String>]) -> impl Iterator<Item = Located<String>> {
    wrong.iter().map(|wrong| Located { value: wrong.value.clone(), place: wrong.place })
}
