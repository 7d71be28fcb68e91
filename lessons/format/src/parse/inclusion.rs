//! The tables `[[lesson]]` of a course.

use crate::diagnostic::Located;
use crate::model::{LessonId, ListedInclusion, ListedStart};
use crate::parse::fields::Fields;
use crate::parse::keys::lesson_id;
use crate::parse::rules;

pub(super) fn read(fields: &mut Fields<'_, '_>) -> Option<ListedInclusion> {
    fields.require(&[("built_in", "built_in = \"systems/training-loop\"")]);
    let built_in = fields.line("built_in").and_then(|text| located_id(text, fields));
    let requires = fields.texts("requires").map(|texts| {
        texts.into_iter().filter_map(|text| located_id(text, fields)).collect::<Vec<_>>()
    });
    let due = fields.time("due").map(|due| due.value);
    let late = fields.table("late", rules::late);
    let attempts = rules::attempts(fields);
    let set = fields.named("set", |lab, fields| {
        let start = |(knob, value)| ListedStart { lab: lab.clone(), knob, value };
        Some(fields.rest().into_iter().map(start).collect::<Vec<_>>())
    });
    let set = set.into_iter().flatten().collect();
    Some(ListedInclusion { built_in: built_in?, requires, due, late, attempts, set })
}

fn located_id(text: Located<String>, fields: &mut Fields<'_, '_>) -> Option<Located<LessonId>> {
    let value = lesson_id(&text, fields)?;
    Some(Located { value, place: text.place })
}
