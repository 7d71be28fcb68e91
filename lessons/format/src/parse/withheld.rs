//! Questions whose answers are kept elsewhere: `withheld = true`, as `mlsys course pack --without-answers` writes them.

use super::fields::Fields;
use super::parts::distinct;
use crate::model::Asked;

/// Reads what is asked; such a question has no key that says what is right.
pub(super) fn read(ty: &str, fields: &mut Fields<'_, '_>) -> Option<Asked> {
    fields.rename(&format!("a question of type {ty} without its answer"));
    Some(match ty {
        "numeric" => Asked::Numeric { unit: fields.line("unit").map(|unit| unit.value) },
        "choice" => Asked::Choice { choices: choices(2, fields)? },
        "multiple" => Asked::Multiple { choices: choices(2, fields)? },
        "order" => Asked::Order { choices: choices(2, fields)? },
        "match" => {
            fields.require(&[("left", "left = [\"...\", \"...\"]")]);
            let left = fields.texts("left");
            let left = distinct(left, 2, fields);
            let choices = choices(1, fields);
            Asked::Match { left: left?, choices: choices? }
        }
        "list" => Asked::List,
        "expression" => Asked::Expression,
        "kernel" => Asked::Kernel { starter: fields.text("starter").map(|text| text.value) },
        _ => Asked::Text,
    })
}

fn choices(least: usize, fields: &mut Fields<'_, '_>) -> Option<Vec<String>> {
    fields.require(&[("choices", "choices = [\"...\", \"...\"]")]);
    let choices = fields.texts("choices");
    distinct(choices, least, fields)
}
