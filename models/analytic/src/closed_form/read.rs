//! The file of a closed form: TOML to schema and computation, with all that is wrong at once.

mod fields;
mod formula;
mod pictures;
mod problems;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use mlsys_expr::nearest::nearest;
use mlsys_expr::{Dialect, Expr, parse};
use mlsys_lab::params::Given;
use mlsys_lab::schema::{Metric, Panel, Param, Preset, Type};
use mlsys_lab::{Params, Schema, Tables, Value};
use toml::de::DeTable;

use self::fields::Fields;
use self::formula::Names;
use self::problems::{MAX_PROBLEMS, Problems, Text, parsed};
use super::model::{Check, Declared, Definition, Form, Formula, Start};
use super::{Mistake, Problem};

/// Longest file, in bytes.
pub const MAX_BYTES: usize = 64 << 10;

/// Most parameters, metrics, intermediate values, checks, panels and presets, of each.
const MAX_ENTRIES: usize = 64;

/// Reads a file.
///
/// # Errors
/// All that is wrong with it, in the order of the file.
pub(super) fn read(source: &str, start: Start) -> Result<(Schema, Form), Vec<Problem>> {
    let mut problems = Problems { source, found: Vec::new() };
    let read = read_into(source, start, &mut problems);
    problems.found.sort_by_key(|problem| problem.place.start);
    match read {
        Some(read) if problems.found.is_empty() => Ok(read),
        _ => Err(problems.found),
    }
}

fn read_into(source: &str, start: Start, problems: &mut Problems<'_>) -> Option<(Schema, Form)> {
    if source.len() > MAX_BYTES {
        let message = format!("the file has {} bytes; a lab has at most {MAX_BYTES}", source.len());
        problems.add(Mistake::TooLarge, 0..0, message, "draw fewer panels, or make two labs of it");
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(source);
    for error in errors.iter().take(MAX_PROBLEMS) {
        let place = error.span().unwrap_or(0..0);
        let help = "TOML has lines of key = value, with texts in double quotes";
        problems.add(Mistake::Toml, place, error.message(), help);
    }
    if !errors.is_empty() {
        return None;
    }
    let mut top = Fields::new(table, "a lab", problems);
    // What is missing is told already, and hides nothing of what follows.
    let required = |text: Option<Text>| text.map_or_else(String::new, |text| text.value);
    let kind = top.required_text("kind", "kind = \"my-lab\"");
    if let Some(kind) = &kind
        && !is_kind(&kind.value)
    {
        let message = "a kind has lower-case letters, digits and hyphens, and begins with a letter";
        let help = "write it like kind = \"my-lab\"";
        top.problems.add(Mistake::BadValue, kind.place.clone(), message, help);
    }
    let title = required(top.required_text("title", "title = \"My lab\""));
    let about = required(top.required_text("about", "about = \"What it shows.\""));
    let written = required(top.required_text("source", "source = \"Who found the formula\""));
    let module = required(top.required_text("module", "module = \"scaling\""));
    let formula = top.text("formula").map(|text| text.value);
    let notes = top.take("note").map(|value| top.deserialize::<Vec<String>>(value, "`note`"));
    let prints = top.text("prints").map(|text| text.value);
    let headline = top.take("headline").map(|value| top.deserialize(value, "`headline`"));

    let mut form = Form { start, ..Form::default() };
    let params: Vec<(Param, Range<usize>)> = entries(&mut top, "param", |entry| {
        entry.refuse(
            &["live", "artifact", "command_line_only", "entries"],
            "a lab that is data answers at once from its parameters alone",
        );
        // Formulas may refer to it, also where the rest of it does not read.
        form.params.insert(entry.name(), Declared { ty: Type::Float, optional: false });
        entry.rest()
    });
    let all_params_read = params.len() >= form.params.len();
    if start == Start::Simulation {
        form.simulated.extend(top.texts("simulated"));
    }
    for (param, place) in &params {
        declare(param, place, &mut form, top.problems);
    }
    for (name, place, value) in top.table("data") {
        if known(&form, &name) || !is_name(&name) {
            let message = format!("`{name}` cannot be the name of a constant");
            let help = "give it a name of its own, of a-z, 0-9 and _";
            top.problems.add(Mistake::DuplicateId, place, message, help);
        } else if let Some(value) = top.deserialize::<Value>(value, "a constant") {
            form.data.insert(name, value);
        }
    }
    let mut drafts: Vec<Draft> = Vec::new();
    for (name, place, value) in top.table("let") {
        if let Some(text) = top.as_text(value, &format!("`{name}`")) {
            let expr = parsed(&text, top.problems);
            drafts.push(Draft { name, place, text, expr, metric: None });
        }
    }
    let mut reasons: Vec<(String, Text)> = Vec::new();
    let metrics: Vec<(Metric, Range<usize>)> = entries(&mut top, "metric", |entry| {
        entry.refuse(&["series", "class"], "a lab that is data answers once, and exactly");
        let text = match start {
            Start::Simulation => entry.text("value"),
            Start::Parameters => entry.required_text("value", "value = \"an expression\""),
        };
        let reason = entry.text("reason");
        let (name, place) = (entry.name(), entry.place());
        reasons.extend(reason.map(|reason| (name.clone(), reason)));
        let metric = entry.rest::<Metric>().map(|(metric, _)| metric);
        if let Some(problem) = metric.as_ref().and_then(Metric::range_problem) {
            let help = "leave out `min` or `max`, or change them";
            entry.problems.add(Mistake::Contradiction, place.clone(), problem, help);
        }
        let unit = metric.as_ref().and_then(|metric| metric.unit.clone());
        form.units.insert(name.clone(), unit.unwrap_or_else(String::new));
        if let Some(text) = text {
            let expr = parsed(&text, entry.problems);
            let metric = Some(metric.as_ref().map_or(Type::Float, |metric| metric.ty));
            drafts.push(Draft { name, place: place.clone(), text, expr, metric });
        } else {
            form.simulated.insert(name);
        }
        Some((metric?, place))
    });
    let reason = top.text("reason");
    define(drafts, &mut form, top.problems);
    let read =
        |text: &Text, problems: &mut _| formula::template(text, &mut Names::new(&form), problems);
    let general = reason.map(|text| read(&text, top.problems));
    let own = reasons.into_iter().map(|(name, text)| (name, read(&text, top.problems)));
    (form.reasons, form.reason) = (own.collect(), general);
    let mut notices = Vec::new();
    entries(&mut top, "notice", |entry| {
        let names = &mut Names::new(&form);
        let condition = entry.required_formula("if", "if = \"a > b\"", names);
        let words = entry.required_template("words", "words = \"a sentence\"", names);
        entry.finish();
        notices.push((condition?, words?));
        Some(())
    });
    let mut checks = Vec::new();
    entries(&mut top, "check", |entry| {
        let check = rows::row(entry, &mut Names::new(&form), |entry, names| {
            let holds = entry.required_formula("holds", "holds = \"a <= b\"", names);
            let message = entry.required_template("message", "message = \"what to change\"", names);
            let params = entry.texts("params");
            Some(Check { holds: holds?, params, message: message? })
        });
        entry.finish();
        checks.extend(check);
        Some(())
    });
    let panels: Vec<(Panel, Range<usize>)> = entries(&mut top, "panel", |entry| {
        entry.refuse(&["attempts", "draw", "metrics"], "say what the lab itself draws");
        let picture = pictures::read(entry, &form);
        let (panel, place): (Panel, _) = entry.rest()?;
        if let Some(picture) = picture {
            form.panels.push((panel.name.clone(), picture));
        }
        Some((panel, place))
    });
    form.checks = checks;
    form.notices = notices;
    let presets: Vec<(Preset, Range<usize>)> = entries(&mut top, "preset", |entry| entry.rest());
    top.finish();

    let schema = Schema {
        params: distinct(&params, "parameter", |param| &param.name, problems),
        metrics: distinct(&metrics, "metric", |metric| &metric.name, problems),
        panels: distinct(&panels, "panel", |panel| &panel.name, problems),
        presets: distinct(&presets, "preset", |preset| &preset.name, problems),
        kind: required(kind),
        title,
        module,
        about,
        formula: formula.or_else(|| Some(definitions(&form))),
        source: written,
        notes: notes.flatten().into_iter().flatten().collect(),
        budget: None,
        device: None,
        yields: None,
        steps: None,
        prints,
        headline: headline.flatten(),
    };
    let mut check = |of: &str, place: &Range<usize>, name: &str, value: &Value| {
        if let Err(error) = Params::check(&schema, name, Given::Value(value.clone())) {
            problems.add(Mistake::BadValue, place.clone(), format!("{of}{error}"), "");
        }
    };
    for (param, place) in &params {
        param.default.iter().for_each(|value| check("", place, &param.name, value));
    }
    // A preset may well set a parameter that does not read.
    for (preset, place) in presets.iter().filter(|_| all_params_read) {
        let of = format!("preset '{}': ", preset.name);
        preset.set.iter().for_each(|(name, value)| check(&of, place, name, value));
    }
    Some((schema, form))
}

fn definitions(form: &Form) -> String {
    let all = form.definitions.iter().map(|one| format!("{} = {}", one.name, one.formula.source));
    all.collect::<Vec<_>>().join("; ")
}

fn is_kind(name: &str) -> bool {
    name.len() <= 48
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// Whether expressions can use a name and it has no meaning of its own in them.
fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !matches!(name, "run" | "own" | "and" | "or" | "not" | "true" | "false")
}

fn known(form: &Form, name: &str) -> bool {
    form.params.contains_key(name)
        || form.data.contains_key(name)
        || form.index.contains_key(name)
        || form.simulated.contains(name)
}

/// Reads the entries of a list of tables, at most [`MAX_ENTRIES`].
fn entries<T>(
    top: &mut Fields<'_, '_, '_>,
    key: &'static str,
    mut each: impl FnMut(&mut Fields<'_, '_, '_>) -> Option<T>,
) -> Vec<T> {
    let mut all = Vec::new();
    for (count, table) in top.tables(key).into_iter().enumerate() {
        let place = table.span();
        if count == MAX_ENTRIES {
            let message = format!("a lab has at most {MAX_ENTRIES} entries `[[{key}]]`");
            top.problems.add(Mistake::TooLarge, place, message, "make two labs of it");
            break;
        }
        let mut entry = Fields::new(table, &format!("`[[{key}]]`"), top.problems);
        all.extend(each(&mut entry));
    }
    all
}

fn distinct<T: Clone>(
    all: &[(T, Range<usize>)],
    what: &str,
    name: impl Fn(&T) -> &String,
    problems: &mut Problems<'_>,
) -> Vec<T> {
    let mut names = BTreeSet::new();
    for (one, place) in all {
        if !names.insert(name(one).clone()) {
            let message = format!("another {what} is called `{}`", name(one));
            problems.add(Mistake::DuplicateId, place.clone(), message, "choose another name");
        }
    }
    all.iter().map(|(one, _)| one.clone()).collect()
}

/// Takes a parameter in and checks what its declaration promises.
fn declare(param: &Param, place: &Range<usize>, form: &mut Form, problems: &mut Problems<'_>) {
    let mut wrong = |message: String, help: String| {
        problems.add(Mistake::BadValue, place.clone(), message, help);
    };
    let name = &param.name;
    if !is_name(name) {
        let message = format!("`{name}` cannot be the name of a parameter");
        wrong(message, "names are of a-z, 0-9 and _, and begin with a letter".to_owned());
    }
    if param.ty == Type::Table {
        let help = "take several parameters, or an array".to_owned();
        wrong(format!("`{name}` is a table, which formulas cannot read"), help);
    }
    if let Some(table) = &param.values_from
        && Tables::builtin().names(table).is_empty()
    {
        let known = Tables::builtin().tables();
        let help = match nearest(table, known) {
            Some(table) => format!("did you mean `{table}`?"),
            None => "the tables are those of `assets/tables.toml`".to_owned(),
        };
        wrong(format!("there is no table `{table}`"), help);
    }
    if param.default.is_none() && param.from.is_none() && !param.optional {
        wrong(
            format!("`{name}` has no value"),
            "give it a `default`, a field of a table with `from`, or `optional = true`".to_owned(),
        );
    }
    form.params.insert(name.clone(), Declared { ty: param.ty, optional: param.optional });
}

/// A parsed definition, names not looked up yet.
struct Draft {
    name: String,
    place: Range<usize>,
    text: Text,
    expr: Option<Expr>,
    metric: Option<Type>,
}

/// Puts definitions into an order in which each refers only to earlier ones.
fn define(mut drafts: Vec<Draft>, form: &mut Form, problems: &mut Problems<'_>) {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for draft in &drafts {
        let taken = form.params.contains_key(&draft.name) || form.data.contains_key(&draft.name);
        // A metric may repeat a parameter's name where it reports that parameter.
        let reports = draft.metric.is_some() && taken;
        if !names.insert(draft.name.clone()) || !is_name(&draft.name) || (taken && !reports) {
            let message = format!("`{}` cannot be the name of another value", draft.name);
            let help = "each value has a name of its own, of a-z, 0-9 and _";
            problems.add(Mistake::DuplicateId, draft.place.clone(), message, help);
        }
    }
    loop {
        let before = drafts.len();
        let mut waiting = Vec::new();
        for draft in drafts {
            let ready = draft.expr.as_ref().is_none_or(|expr| {
                expr.names().iter().all(|(name, _)| {
                    let name = name.as_str();
                    !names.contains(name) || form.index.contains_key(name)
                })
            });
            if !ready {
                waiting.push(draft);
                continue;
            }
            let Draft { name, text, metric, expr, .. } = draft;
            if let Some(expr) = expr {
                let formula = Names::new(form).resolve(expr, &text, problems);
                form.index.insert(name.clone(), form.definitions.len());
                form.definitions.push(Definition { name, formula, metric });
            } else {
                // Told already; whatever refers to it is not told again.
                names.remove(&name);
                form.data.insert(name, Value::Int(0));
            }
        }
        drafts = waiting;
        if drafts.len() == before {
            break;
        }
    }
    for draft in drafts {
        let message = format!("`{}` depends on itself", draft.name);
        let help = if form.params.contains_key(&draft.name) {
            format!("the parameter of that name is `given.{}`", draft.name)
        } else {
            "break the circle: some value must come from parameters alone".to_owned()
        };
        problems.add(Mistake::Contradiction, draft.text.place, message, help);
    }
}

/// A formula that is but a name, for pictures of a definition.
pub(super) fn of_name(form: &Form, name: &str) -> Option<Formula> {
    let expr = parse(name, Dialect::ClosedForm).ok()?;
    let mut needs = Vec::new();
    if let Some(&index) = form.index.get(name) {
        needs.extend_from_slice(&form.definitions.get(index)?.formula.needs);
        needs.push(index);
    }
    Some(Formula { source: name.to_owned(), expr, needs })
}

/// Names that a map of tables holds, for suggestions.
fn nearest_key<'a, T>(name: &str, known: &'a BTreeMap<String, T>) -> Option<&'a str> {
    nearest(name, known.keys().map(String::as_str))
}
