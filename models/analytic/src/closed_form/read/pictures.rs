//! The pictures of a panel.

use mlsys_expr::Node;
use mlsys_lab::frame::{Better, Dimension};
use mlsys_lab::schema::Scale;
use toml::Spanned;
use toml::de::DeValue;

use super::super::Mistake;
use super::super::model::{
    Axis, Bar, CellsOf, Drawing, Each, Form, Formula, Line, Picture, Piece, Places, Point, Row,
    Stack, Start, Step, Template,
};
use super::fields::Fields;
use super::formula::{self, Names};
use super::of_name;
use super::rows::{loop_over, optional_rows, over_what, row, rows};

/// Most panes in a row.
const MAX_PANES: usize = 16;

/// Most places of a line.
const MAX_PLACES: usize = 1024;

const KINDS: [&str; 7] = ["bars", "stacks", "table", "scatter", "cells", "panes", "steps"];

/// Takes what a panel draws out of its table.
pub(super) fn read(panel: &mut Fields<'_, '_, '_>, form: &Form) -> Option<Picture> {
    let mut instead = Vec::new();
    for table in panel.tables("text") {
        let mut entry = Fields::new(table, "`text`", panel.problems);
        let names = &mut Names::new(form);
        let only_if = entry.formula("if", names);
        let words = entry.required_template("words", "words = \"a sentence\"", names);
        entry.finish();
        instead.extend(words.map(|words| (only_if, words)));
    }
    let drawing = drawing(panel, form, &mut Names::new(form), 0);
    if drawing.is_none() && instead.is_empty() {
        if form.start == Start::Simulation {
            return None;
        }
        let kinds = "what it draws: bars, stacks, table, scatter, cells, panes, steps or text";
        panel.missing("bars", kinds);
    }
    Some(Picture { instead, drawing })
}

fn drawing(
    owner: &mut Fields<'_, '_, '_>,
    form: &Form,
    names: &mut Names<'_>,
    depth: usize,
) -> Option<Drawing> {
    let mut found = None;
    for kind in KINDS {
        let Some(value) = owner.take(kind) else { continue };
        let place = value.span();
        if found.is_some() {
            let message = "a panel draws one picture, and this is the second";
            let help = "make a panel of its own of it";
            owner.problems.add(Mistake::Contradiction, place, message, help);
            continue;
        }
        if kind == "panes" {
            found = panes(owner, value, form, names, depth);
            continue;
        }
        let Some(table) = owner.as_table(value, &format!("`{kind}`")) else { continue };
        let mut fields = Fields::new(table, &format!("`{kind}`"), owner.problems);
        found = match kind {
            "bars" => bars(&mut fields, names),
            "stacks" => stacks(&mut fields, names),
            "table" => table_of(&mut fields, names),
            "scatter" => scatter(&mut fields, names),
            "cells" => cells(&mut fields, names),
            _ => steps(&mut fields, form, names),
        };
        fields.finish();
    }
    found
}

fn panes<'i>(
    owner: &mut Fields<'_, '_, 'i>,
    value: Spanned<DeValue<'i>>,
    form: &Form,
    names: &mut Names<'_>,
    depth: usize,
) -> Option<Drawing> {
    let place = value.span();
    let DeValue::Array(items) = value.into_inner() else {
        owner.wrong_type(place, "`panes`", "a list", "table");
        return None;
    };
    if depth > 0 || items.len() > MAX_PANES {
        let message =
            format!("at most {MAX_PANES} panes stand next to each other, and none in another");
        owner.problems.add(Mistake::TooLarge, place, message, "draw fewer");
        return None;
    }
    let mut all = Vec::new();
    for item in items.into_iter() {
        let Some(table) = owner.as_table(item, "an entry of `panes`") else { continue };
        let mut entry = Fields::new(table, "`panes`", owner.problems);
        all.extend(row(&mut entry, names, |entry, names| {
            let title = entry.required_template("title", "title = \"a title\"", names);
            let drawing = drawing(entry, form, names, depth + 1);
            title.zip(drawing)
        }));
        entry.finish();
    }
    Some(Drawing::Panes(all))
}

fn scale(fields: &mut Fields<'_, '_, '_>) -> Scale {
    let read = fields.take("scale").and_then(|value| fields.deserialize(value, "`scale`"));
    read.unwrap_or(Scale::Linear)
}

fn bars(fields: &mut Fields<'_, '_, '_>, names: &mut Names<'_>) -> Option<Drawing> {
    let unit = fields.template("unit", names);
    let scale = scale(fields);
    let rows = rows(fields, "bar", names, |entry, names| {
        let label = entry.required_template("label", "label = \"{n} tokens\"", names);
        let value = entry.required_formula("value", "value = \"an expression\"", names);
        let remark = entry.template("remark", names);
        let (most, least) = (entry.string("most"), entry.string("least"));
        Some(Bar { label: label?, value: value?, remark, most, least })
    });
    Some(Drawing::Bars { unit, scale, rows })
}

fn stacks(fields: &mut Fields<'_, '_, '_>, names: &mut Names<'_>) -> Option<Drawing> {
    let unit = fields.string("unit");
    let parts = fields.texts("parts");
    let note = fields.template("note", names);
    let limit = fields.take("limit").and_then(|value| {
        let table = fields.as_table(value, "`limit`")?;
        let mut entry = Fields::new(table, "`limit`", fields.problems);
        let at = entry.required_formula("at", "at = \"capacity\"", names);
        let label = entry.required_template("label", "label = \"the memory\"", names);
        entry.finish();
        Some((at?, label?))
    });
    let rows = rows(fields, "stack", names, |entry, names| {
        let label = entry.required_template("label", "label = \"{n} ranks\"", names);
        let values = formulas(entry, "values", names);
        let remark = entry.template("remark", names);
        Some(Stack { label: label?, values: values?, remark })
    });
    Some(Drawing::Stacks { unit, parts, limit, note, rows })
}

fn formulas(
    fields: &mut Fields<'_, '_, '_>,
    key: &'static str,
    names: &mut Names<'_>,
) -> Option<Vec<Formula>> {
    let Some(items) = fields.list(key) else {
        fields.missing(key, &format!("{key} = [\"an expression\"]"));
        return None;
    };
    let what = format!("an entry of `{key}`");
    let read = items.into_iter().map(|item| {
        let text = fields.as_source(item, &what)?;
        formula::formula(&text, names, fields.problems)
    });
    read.collect::<Vec<_>>().into_iter().collect()
}

fn table_of(fields: &mut Fields<'_, '_, '_>, names: &mut Names<'_>) -> Option<Drawing> {
    let columns = fields.texts("columns");
    if columns.is_empty() {
        fields.missing("columns", "columns = [\"link\", \"seconds\"]");
    }
    let place = fields.place();
    let mut short = 0;
    let rows = rows(fields, "row", names, |entry, names| {
        let Some(items) = entry.list("cells") else {
            entry.missing("cells", "cells = [\"{name}\", \"{value}\"]");
            return None;
        };
        short += usize::from(items.len() != columns.len());
        let cells = items.into_iter().map(|item| {
            let text = entry.as_text(item, "an entry of `cells`")?;
            Some(formula::template(&text, names, entry.problems))
        });
        cells.collect::<Vec<_>>().into_iter().collect()
    });
    if short > 0 {
        let message =
            format!("a row has not as many cells as there are columns, {}", columns.len());
        fields.problems.add(Mistake::Contradiction, place, message, "give each column a cell");
    }
    Some(Drawing::Table { columns, rows })
}

fn scatter(fields: &mut Fields<'_, '_, '_>, names: &mut Names<'_>) -> Option<Drawing> {
    let mut axis = |key: &'static str| {
        if !fields.has(key) {
            fields.missing(key, &format!("{key} = {{ name = \"processors\", scale = \"log\" }}"));
        }
        let value = fields.take(key)?;
        let table = fields.as_table(value, "an axis")?;
        let mut entry = Fields::new(table, "an axis", fields.problems);
        let name = entry.required_template("name", "name = \"processors\"", names);
        let unit = entry.string("unit");
        let scale = scale(&mut entry);
        let better = entry.take("better").and_then(|value| entry.deserialize(value, "`better`"));
        let holds = entry.take("holds").and_then(|value| entry.deserialize(value, "`holds`"));
        entry.finish();
        let better = better.unwrap_or(Better::Neither);
        let dimension = Dimension { unit, scale, better, holds, ..Dimension::default() };
        Some(Axis { dimension, name: name? })
    };
    let (x, y) = (axis("x"), axis("y"));
    let mut series = Vec::new();
    for item in fields.list("series").into_iter().flatten() {
        let text = fields.as_text(item, "an entry of `series`");
        series.extend(text.map(|text| formula::template(&text, names, fields.problems)));
    }
    let points = optional_rows(fields, "point", names, |entry, names| {
        let x = entry.required_formula("x", "x = \"an expression\"", names);
        let y = entry.required_formula("y", "y = \"an expression\"", names);
        let label = entry.template("label", names);
        let series = entry.formula("series", names).or_else(|| formula::constant("0"));
        Some(Point { x: x?, y: y?, label, series: series? })
    });
    let lines = optional_rows(fields, "line", names, |entry, names| {
        let name = entry.template("name", names);
        let along = entry.required_text("along", "along = \"n\"");
        let along = along.map_or_else(String::new, |text| text.value);
        let places = if entry.has("at") {
            let over = over_what(entry, "at", names);
            over.map(|over| Places::List(Each { name: along.clone(), over }))
        } else {
            let from = entry.required_formula("from", "from = \"1\"", names);
            let to = entry.required_formula("to", "to = \"64\"", names);
            let count = entry.whole("points", MAX_PLACES).unwrap_or(49);
            from.zip(to).map(|(from, to)| Places::Spread(from, to, count.max(2)))
        };
        names.local.push(along.clone());
        let x = entry.formula("x", names).or_else(|| formula::constant(&along));
        let y = entry.required_formula("y", "y = \"an expression\"", names);
        names.local.pop();
        Some(Line { name, along, places: places?, x: x?, y: y? })
    });
    Some(Drawing::Scatter { x: x?, y: y?, series, points, lines })
}

fn cells(fields: &mut Fields<'_, '_, '_>, names: &mut Names<'_>) -> Option<Drawing> {
    let across = fields.template("across", names);
    let start = fields.formula("start", names);
    let group = fields.formula("group", names);
    let row = fields.formula("focus_row", names);
    let focus = row.zip(fields.formula("focus_column", names));
    let kinds = fields.take("kinds").and_then(|value| fields.deserialize(value, "`kinds`"));
    if kinds.is_none() {
        fields.missing("kinds", "kinds = [{ name = \"used\", tone = \"first\" }]");
    }
    let note = fields.template("note", names);
    let rows = rows(fields, "row", names, |entry, names| {
        let label = entry.template("label", names);
        let remark = entry.template("remark", names);
        let value = entry.take("cell");
        let Some(table) = value.and_then(|value| entry.as_table(value, "`cell`")) else {
            let example = "cell = { for = \"lane\", over = \"range(0, 31)\", kind = \"0\" }";
            entry.missing("cell", example);
            return None;
        };
        let mut cell = Fields::new(table, "`cell`", entry.problems);
        let each = loop_over(&mut cell, "for", "over", names);
        let kind = cell.required_formula("kind", "kind = \"0\"", names);
        let text = cell.has("text").then(|| cell.template("text", names));
        if each.is_some() {
            names.local.pop();
        }
        cell.finish();
        Some(CellsOf { label, remark, each: each?, kind: kind?, text })
    });
    Some(Drawing::Cells { across, start, group, focus, kinds: kinds?, note, rows })
}

fn steps(fields: &mut Fields<'_, '_, '_>, form: &Form, names: &mut Names<'_>) -> Option<Drawing> {
    let Some(items) = fields.list("of") else {
        return Some(Drawing::Steps(
            form.definitions
                .iter()
                .filter(|definition| definition.metric.is_some())
                .filter_map(|definition| of_definition(form, &definition.name))
                .collect(),
        ));
    };
    let mut all = Vec::new();
    for item in items {
        let place = item.span();
        if let DeValue::Table(_) = item.get_ref() {
            let Some(table) = fields.as_table(item, "an entry of `of`") else { continue };
            let mut entry = Fields::new(table, "an entry of `of`", fields.problems);
            all.extend(row(&mut entry, names, |entry, names| {
                let value = entry.required_formula("value", "value = \"a name\"", names);
                let label = entry.required_template("label", "label = \"a quantity\"", names);
                let formula = entry.has("formula").then(|| entry.template("formula", names));
                let numbers = entry.has("numbers").then(|| entry.template("numbers", names));
                let value = value?;
                let unit = unit(entry, form, &value);
                Some(Step { label: label?, value, formula, numbers, unit })
            }));
            entry.finish();
            continue;
        }
        let Some(text) = fields.as_text(item, "an entry of `of`") else { continue };
        match of_definition(form, &text.value).filter(|_| form.index.contains_key(&text.value)) {
            Some(step) => all.push(step),
            None => {
                let help = match super::nearest_key(&text.value, &form.index) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => "name a metric or a value of `[let]`".to_owned(),
                };
                let message = format!("nothing is defined as `{}`", text.value);
                fields.problems.add(Mistake::UnknownName, place, message, help);
            }
        }
    }
    Some(Drawing::Steps(all))
}

/// The unit of a value: that of the metric which it is, else the one that stands here.
fn unit(entry: &mut Fields<'_, '_, '_>, form: &Form, value: &Formula) -> Option<String> {
    let place = entry.place();
    let own = entry.text("unit").map(|text| text.value);
    let Some(unit) = metric_unit(form, value).filter(|unit| !unit.is_empty() || own.is_none())
    else {
        return own;
    };
    if own.is_some_and(|own| own != *unit) {
        let message = format!("`{}` is a metric with a unit of its own", value.source);
        let help = "leave out `unit`";
        entry.problems.add(Mistake::Contradiction, place, message, help);
    }
    Some(unit.clone())
}

fn metric_unit<'f>(form: &'f Form, value: &Formula) -> Option<&'f String> {
    let Node::Name(name) = &value.expr.node else { return None };
    form.units.get(name.as_str().trim_start_matches("run."))
}

/// The line of the calculation that shows a definition.
fn of_definition(form: &Form, name: &str) -> Option<Row<Step>> {
    let label = Template { pieces: vec![Piece::Words(name.to_owned())] };
    let value = of_name(form, name)?;
    let unit = metric_unit(form, &value).cloned();
    let what = Step { label, value, formula: None, numbers: None, unit };
    Some(Row { each: Vec::new(), set: Vec::new(), only_if: None, sort: None, first: None, what })
}
