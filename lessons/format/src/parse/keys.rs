//! Keys that several kinds of directives have.

use mlsys_lab::nearest::nearest;
use mlsys_lab::schema::Range;
use mlsys_lab::value::number;

use crate::diagnostic::{Code, Located, Place, shortened};
use crate::model::{Bounds, LessonId, Setting, Tolerance, Wrong};
use crate::parse::fields::Fields;

pub(super) fn wrong_texts(fields: &mut Fields<'_, '_>) -> Vec<Wrong<String>> {
    wrong(fields, |fields| {
        let text = fields.text("value")?;
        Some((text.value, text.place))
    })
}

/// The tables `[[wrong]]`: a value, read by the caller, and what to say to it.
pub(super) fn wrong<T>(
    fields: &mut Fields<'_, '_>,
    mut value: impl FnMut(&mut Fields<'_, '_>) -> Option<(T, Place)>,
) -> Vec<Wrong<T>> {
    fields.tables("wrong", |fields| {
        fields.require(&[("value", "value = \"...\""), ("say", "say = \"...\"")]);
        let value = value(fields);
        let say = fields.text("say");
        if value.is_none() {
            fields.ignore("value");
        }
        let (value, place) = value?;
        Some(Wrong { value, say: say?.value, place })
    })
}

/// What a number can be, as the keys `min` and `max` state it; its unit implies the rest.
pub(super) fn bounds(unit: Option<&str>, fields: &mut Fields<'_, '_>) -> Bounds {
    let (min, max) = (fields.number("min"), fields.number("max"));
    let value = |end: &Option<Located<f64>>| end.as_ref().map(|end| end.value);
    let implied = unit.map_or(Range::ALL, Range::of_unit);
    let bounds = Bounds { min: value(&min), max: value(&max), implied };
    let Range { min: least, max: most } = bounds.range();
    if let Some(end) = min.or(max).filter(|_| least > most) {
        let message = format!("`min` is {}, which is above `max`, {}", number(least), number(most));
        fields.error(Code::Contradiction, end.place, message, "swap the two");
    }
    bounds
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

pub(super) fn settings(fields: &mut Fields<'_, '_>) -> Vec<Setting> {
    let map = fields.map("set").into_iter();
    map.map(|(name, value)| Setting {
        name: name.value,
        place: name.place,
        value: value.value,
        value_place: value.place,
    })
    .collect()
}

/// The one of several things that a text names; else an error with the nearest.
pub(super) fn one_of<T: Copy, const N: usize>(
    text: &Located<String>,
    known: [T; N],
    name: impl Fn(T) -> &'static str,
    fields: &mut Fields<'_, '_>,
) -> Option<T> {
    let found = known.into_iter().find(|known| name(*known) == text.value);
    if found.is_none() {
        let names = known.map(name);
        let help = match nearest(&text.value, names) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("write one of \"{}\"", names.join("\", \"")),
        };
        let message = format!("\"{}\" is not known here", shortened(&text.value));
        fields.error(Code::BadValue, text.place, message, help);
    }
    found
}

pub(super) fn lesson_id(text: &Located<String>, fields: &mut Fields<'_, '_>) -> Option<LessonId> {
    let id: Option<LessonId> = text.value.parse().ok();
    if id.is_none() {
        let help = "write module/name in lower-case letters, digits and hyphens, such as \"systems/training-loop\"";
        fields.error(Code::BadId, text.place, "this is not a lesson id", help);
    }
    id
}
