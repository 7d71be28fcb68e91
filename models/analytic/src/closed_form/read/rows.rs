//! The elements of a picture: a list of tables, or the picture's own keys, and what each of them repeats over.

use mlsys_lab::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::Mistake;
use super::super::model::{Each, Over, Row};
use super::fields::Fields;
use super::formula::{self, Names};
use super::is_name;

/// Most rows that one picture declares.
const MAX_ROWS: usize = 64;

/// The rows of a picture: a list of tables under `key`, or the picture's own keys where there is but one.
pub(super) fn rows<T>(
    fields: &mut Fields<'_, '_, '_>,
    key: &'static str,
    names: &mut Names<'_>,
    mut what: impl FnMut(&mut Fields<'_, '_, '_>, &mut Names<'_>) -> Option<T>,
) -> Vec<Row<T>> {
    if !fields.has(key) {
        return row(fields, names, what).into_iter().collect();
    }
    let tables: Vec<Spanned<DeTable<'_>>> = fields.tables(key);
    if tables.len() > MAX_ROWS {
        let message = format!("a picture declares at most {MAX_ROWS} entries `{key}`");
        fields.problems.add(Mistake::TooLarge, fields.place(), message, "use `for` and `over`");
        return Vec::new();
    }
    let mut all = Vec::new();
    for table in tables {
        let mut entry = Fields::new(table, &format!("`{key}`"), fields.problems);
        all.extend(row(&mut entry, names, &mut what));
        entry.finish();
    }
    all
}

pub(super) fn optional_rows<T>(
    fields: &mut Fields<'_, '_, '_>,
    key: &'static str,
    names: &mut Names<'_>,
    what: impl FnMut(&mut Fields<'_, '_, '_>, &mut Names<'_>) -> Option<T>,
) -> Vec<Row<T>> {
    if fields.has(key) { rows(fields, key, names, what) } else { Vec::new() }
}

pub(super) fn row<T>(
    fields: &mut Fields<'_, '_, '_>,
    names: &mut Names<'_>,
    what: impl FnOnce(&mut Fields<'_, '_, '_>, &mut Names<'_>) -> Option<T>,
) -> Option<Row<T>> {
    let before = names.local.len();
    let mut each = Vec::new();
    for (name, over) in [("for", "over"), ("and", "in")] {
        each.extend(loop_over(fields, name, over, names));
    }
    let mut set = Vec::new();
    for (name, place, value) in fields.table("set") {
        let text = fields.as_source(value, &format!("`{name}`"));
        let read = text.and_then(|text| formula::formula(&text, names, fields.problems));
        if !is_name(&name) {
            let message = format!("`{name}` cannot be a name");
            fields.problems.add(Mistake::BadValue, place, message, "use a-z, 0-9 and _");
        }
        names.local.push(name.clone());
        set.extend(read.map(|read| (name, read)));
    }
    let only_if = fields.formula("if", names);
    let sort = fields.formula("sort", names);
    let first = fields.whole("first", MAX_ROWS);
    let what = what(fields, names);
    names.local.truncate(before);
    Some(Row { each, set, only_if, sort, first, what: what? })
}

pub(super) fn loop_over(
    fields: &mut Fields<'_, '_, '_>,
    name: &'static str,
    over: &'static str,
    names: &mut Names<'_>,
) -> Option<Each> {
    let Some(text) = fields.text(name) else {
        if let Some(value) = fields.take(over) {
            let message = format!("`{over}` needs a name that takes its values");
            let help = format!("add {name} = \"n\"");
            fields.problems.add(Mistake::MissingKey, value.span(), message, help);
        }
        return None;
    };
    if !is_name(&text.value) {
        let message = "a name is of a-z, 0-9 and _, and begins with a letter";
        fields.problems.add(Mistake::BadValue, text.place.clone(), message, "");
    }
    let list = over_what(fields, over, names);
    names.local.push(text.value.clone());
    Some(Each { name: text.value, over: list? })
}

pub(super) fn over_what(
    fields: &mut Fields<'_, '_, '_>,
    key: &'static str,
    names: &mut Names<'_>,
) -> Option<Over> {
    let Some(value) = fields.take(key) else {
        fields.missing(key, &format!("{key} = [1, 2, 4], or an expression that gives a list"));
        return None;
    };
    if let DeValue::Array(_) = value.get_ref() {
        let values: Vec<Value> = fields.deserialize(value, "a list of values")?;
        return Some(Over::Values(values));
    }
    let text = fields.as_text(value, &format!("`{key}`"))?;
    formula::formula(&text, names, fields.problems).map(Over::Formula)
}
