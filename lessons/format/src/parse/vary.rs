//! The numbers that a question, a lab or a kernel's test varies, and the texts of directives that show them.

use mlsys_expr::{Dialect, Expr, Node};
use mlsys_lab::nearest::nearest;
use mlsys_lab::value::Value;

use crate::diagnostic::{Code, Located, Place, shortened};
use crate::model::{
    Asked, AskedKernel, Drawn, DrawnNumber, Knob, Question, QuestionType, Setting, Variants,
    Varied, Varying, drawn_value,
};
use crate::parse::fields::Fields;

/// Names that mean something else in the expressions of a test.
const RESERVED: [&str; 4] = ["i", "answer", "reference", "device"];

/// The labs and questions above a directive, with what they draw.
#[derive(Clone, Copy)]
pub(super) struct Above<'a> {
    pub(super) drawn: &'a [(String, Vec<Varied>)],
    /// Ids of directives that could not be read.
    pub(super) unread: &'a [String],
}

impl Above<'_> {
    /// A number that one of them draws, under another name; an error where none does.
    fn shared(
        &self,
        name: Located<String>,
        text: &str,
        place: Place,
        fields: &mut Fields<'_, '_>,
    ) -> Option<Varied> {
        let (directive, own) = text.split_once('.').unwrap_or((text, &name.value));
        let Some((_, drawn)) = self.drawn.iter().find(|(id, _)| id == directive) else {
            if !self.unread.iter().any(|unread| unread == directive) {
                let message =
                    format!("no lab or question above is called `{}`", shortened(directive));
                let help = match nearest(directive, self.drawn.iter().map(|(id, _)| id.as_str())) {
                    Some(known) => format!("did you mean \"{known}.{own}\"?"),
                    None => format!("list the numbers: {} = [16, 64]", name.value),
                };
                fields.error(Code::UnknownName, place, message, help);
            }
            return None;
        };
        let found = drawn.iter().find(|varied| varied.name.value == own);
        let Some(found) = found.filter(|_| text.contains('.')) else {
            let message = format!("`{directive}` draws no `{}`", shortened(own));
            let known: Vec<&str> = drawn.iter().map(|varied| varied.name.value.as_str()).collect();
            let help = match known.as_slice() {
                [] => format!("give `{directive}` numbers: vary = {{ {own} = [16, 64] }}"),
                known => {
                    format!(
                        "write \"{directive}.{}\"",
                        known.join(&format!("\" or \"{directive}."))
                    )
                }
            };
            fields.error(Code::UnknownName, place, message, help);
            return None;
        };
        let own = || DrawnNumber { directive: directive.to_owned(), name: own.to_owned() };
        let shared = Some(found.shared.clone().unwrap_or_else(own));
        Some(Varied { name, values: found.values.clone(), shared, place })
    }
}

/// The table `vary` of a kernel's test: names, each with the values it takes; nothing where one of them is wrong, since
/// the expressions that have its name cannot be judged then.
pub(super) fn names(fields: &mut Fields<'_, '_>) -> Option<Vec<Varied>> {
    named(fields, None, is_number_name)
}

/// Each name of the table `vary` with its values.
fn named(
    fields: &mut Fields<'_, '_>,
    above: Option<Above<'_>>,
    is_name: impl Fn(&Located<String>, &mut Fields<'_, '_>) -> bool,
) -> Option<Vec<Varied>> {
    let mut vary = Vec::new();
    let before = fields.problem_count();
    let table = fields.map("vary");
    let count = table.len();
    for (name, values) in table {
        if !is_name(&name, fields) {
            continue;
        }
        let Located { value, place } = values;
        if let (Value::Text(text), Some(above)) = (&value, above) {
            vary.extend(above.shared(name, text, place, fields));
            continue;
        }
        let listed: &[Value] = if let Value::Array(values) = &value { values } else { &[] };
        match listed.iter().map(Value::as_f64).collect() {
            Some(values) if !listed.is_empty() => {
                vary.push(Varied { name, values, shared: None, place });
            }
            Some(_) | None => {
                let message = format!("`{}` takes no values here", name.value);
                let help = format!("list its numbers: vary = {{ {} = [1, 33, 1000] }}", name.value);
                fields.error(Code::WrongType, place, message, help);
            }
        }
    }
    // A number of a directive that could not be read was told there.
    (vary.len() == count && fields.problem_count() == before).then_some(vary)
}

/// Whether a number can be called so; else an error.
fn is_number_name(name: &Located<String>, fields: &mut Fields<'_, '_>) -> bool {
    let parsed = mlsys_expr::parse(&name.value, Dialect::Lesson);
    let is_word = parsed.is_ok_and(|expr| matches!(expr.node, Node::Name(_)));
    if is_word && !name.value.contains('.') && !RESERVED.contains(&name.value.as_str()) {
        return true;
    }
    let message = format!("`{}` cannot be the name of a number", shortened(&name.value));
    let help = "write a word such as n, rows or block, other than i, answer, reference and device";
    fields.error(Code::BadValue, name.place, message, help);
    false
}

/// Most names that one question or one lab draws.
const MOST_NAMES: usize = 8;

/// The names that a question draws by learner.
pub(super) fn drawn(fields: &mut Fields<'_, '_>, above: Above<'_>) -> Option<Vec<Varied>> {
    let names = named(fields, Some(above), is_number_name)?;
    check_values(&names, "question", fields);
    Some(names)
}

/// The parameters that a lab draws by learner. They join `set` with their printed numbers.
pub(super) fn parameters(
    set: &mut Vec<Setting>,
    knobs: &[Knob],
    fields: &mut Fields<'_, '_>,
    above: Above<'_>,
) -> Option<Vec<Varied>> {
    let names = named(fields, Some(above), |_, _| true)?;
    check_values(&names, "lab", fields);
    for Varied { name, values, place, .. } in &names {
        let param = &name.value;
        if let Some(fixed) = set.iter().find(|setting| setting.name == *param) {
            let message = format!("`{param}` is drawn by learner and set to {}", fixed.value);
            let help = "keep one: the first number of `vary` is the one without a learner";
            fields.error(Code::Contradiction, name.place, message, help);
        }
        let fixed = knobs.iter().find(|knob| knob.param == *param);
        if let Some(default) = fixed.and_then(|knob| knob.default.as_ref()) {
            let message =
                format!("`{param}` is drawn by learner, and its knob starts at {default}");
            let help = "remove the knob's `default`: it starts at the learner's number";
            fields.error(Code::Contradiction, name.place, message, help);
        }
        set.push(Setting {
            name: param.clone(),
            value: drawn_value(values[0]),
            place: name.place,
            value_place: *place,
        });
    }
    Some(names)
}

/// Two numbers or more for each name, each once, and not too many names.
fn check_values(names: &[Varied], directive: &str, fields: &mut Fields<'_, '_>) {
    for Varied { name, values, .. } in names.iter().filter(|varied| varied.shared.is_none()) {
        let twice = (1..values.len()).find(|&at| values[..at].contains(&values[at]));
        if let (Some(at), _) | (None, Some(at)) = (twice, (values.len() == 1).then_some(0)) {
            let message = match twice {
                Some(_) => format!("`{}` takes {} twice", name.value, values[at]),
                None => format!("`{}` takes one value alone", name.value),
            };
            let help = "list two numbers or more, each once; the first is the printed one";
            fields.error(Code::BadValue, name.place, message, help);
        }
    }
    if let Some(extra) = names.get(MOST_NAMES) {
        let message = format!("a {directive} draws {MOST_NAMES} numbers at most");
        fields.error(Code::TooLarge, extra.name.place, message, "write the others as they are");
    }
}

/// The numbers of labs and questions above that a directive names which draws none itself.
pub(super) fn named_above(fields: &mut Fields<'_, '_>, above: Above<'_>) -> Option<Vec<Varied>> {
    let names = named(fields, Some(above), is_number_name)?;
    for own in names.iter().filter(|varied| varied.shared.is_none()) {
        let message =
            format!("`{}` has numbers of its own: only labs and questions draw", own.name.value);
        let help = format!("name the number of one above, such as {} = \"size.n\"", own.name.value);
        fields.error(Code::BadValue, own.place, message, help);
    }
    check_values(&names, "prediction, try or check", fields);
    Some(names)
}

/// A prediction, try or check with the printed numbers; an error for each text that cannot show them.
pub(super) fn following<T: Varying>(
    names: Vec<Varied>,
    mut written: T,
    place: Place,
    fields: &mut Fields<'_, '_>,
    above: Above<'_>,
) -> T {
    if names.is_empty() {
        check_unvaried(&mut written, place, fields, above);
        return written;
    }
    check_texts(&names, &mut written, place, fields);
    for Varied { name, .. } in &names {
        let in_formula = written.formulas().iter().any(|formula| formula.refers_to(&name.value));
        if !in_formula && !written.texts_mut().iter().any(|text| names_it(text, &name.value)) {
            let message =
                format!("`{}` is named, and no text and no expression has it", name.value);
            let help = format!("write {{{}}} in a text, or remove it", name.value);
            fields.error(Code::BadValue, name.place, message, help);
        }
    }
    Variants::printed(names, written)
}

/// The question with its printed numbers; an error for each text that cannot show them.
pub(super) fn printed(
    names: Vec<Varied>,
    mut written: Question,
    fields: &mut Fields<'_, '_>,
    above: Above<'_>,
) -> Question {
    let place = written.place;
    if names.is_empty() {
        check_unvaried(&mut written, place, fields, above);
        return written;
    }
    check_texts(&names, &mut written, place, fields);
    for Varied { name, .. } in &names {
        let (is_used, help) = match (written.kind.ty(), written.kind.kernel()) {
            // Hidden tests may use it.
            (QuestionType::Expression, _) | (_, Some(AskedKernel::Withheld { .. })) => continue,
            (_, Some(AskedKernel::Whole(task))) => {
                let help = format!("write \"{}\" for a number in the `set` of a test", name.value);
                (task.refers_to(&name.value) || shows(&written, &name.value), help)
            }
            (_, None) => {
                let help = format!("write {{{}}} where the prompt has the number", name.value);
                (shows(&written, &name.value), help)
            }
        };
        if !is_used {
            let message = format!("`{}` is drawn, and what is asked does not show it", name.value);
            fields.error(Code::BadValue, name.place, message, help);
        }
    }
    for test in written.kind.kernel().map_or(&[][..], AskedKernel::tests) {
        let own = test
            .vary
            .iter()
            .find(|own| names.iter().any(|varied| varied.name.value == own.name.value));
        if let Some(own) = own {
            let message = format!("the question draws `{}` already", own.name.value);
            let help = "give the test's number another name";
            fields.error(Code::DuplicateId, own.name.place, message, help);
        }
    }
    Variants::printed(names, written)
}

/// Whether a name stands between braces in the prompt or in one of the choices.
fn shows(written: &Question, name: &str) -> bool {
    let choices = written.kind.asked();
    let texts: Vec<&String> = match &choices {
        Asked::Choice { choices } | Asked::Multiple { choices } | Asked::Order { choices } => {
            choices.iter().collect()
        }
        Asked::Match { left, choices } => left.iter().chain(choices).collect(),
        Asked::Numeric { .. }
        | Asked::List
        | Asked::Expression
        | Asked::Text
        | Asked::Kernel { .. } => Vec::new(),
    };
    [&written.prompt].into_iter().chain(texts).any(|text| names_it(text, name))
}

/// The expressions between braces of a text, with the braces.
fn pieces(text: &str) -> impl Iterator<Item = (&str, Expr)> {
    text.match_indices('{').filter_map(|(at, _)| {
        let end = at + text[at..].find('}')?;
        let expr = mlsys_expr::parse(&text[at + 1..end], Dialect::Lesson).ok()?;
        Some((&text[at..=end], expr))
    })
}

fn names_it(text: &str, name: &str) -> bool {
    pieces(text).any(|(_, expr)| expr.names().iter().any(|(known, _)| known.as_str() == name))
}

/// An error for the first text that has a number of a directive above between braces and would show them.
fn check_unvaried<T: Varying>(
    written: &mut T,
    place: Place,
    fields: &mut Fields<'_, '_>,
    above: Above<'_>,
) {
    let drawn_by = |name: &str| {
        let draws =
            |(_, drawn): &&(String, Vec<Varied>)| drawn.iter().any(|one| one.name.value == name);
        above.drawn.iter().find(draws).map(|(directive, _)| directive)
    };
    let origins = |expr: &Expr| -> Option<Vec<String>> {
        let names = expr.names().into_iter().map(|(name, _)| name.as_str());
        names.map(|name| Some(format!("{name} = \"{}.{name}\"", drawn_by(name)?))).collect()
    };
    let texts = written.texts_mut();
    let found = texts.iter().flat_map(|text| pieces(text)).find_map(|(piece, expr)| {
        Some((piece.to_owned(), origins(&expr).filter(|origins| !origins.is_empty())?))
    });
    if let Some((piece, origins)) = found {
        let at = fields.find(&piece, place).unwrap_or(place);
        let message = format!("`{piece}` is shown as it stands: nothing is drawn here");
        let help = format!("add vary = {{ {} }}", origins.join(", "));
        fields.error(Code::UnknownName, at, message, help);
    }
}

/// An error for each text in which something between braces is no number; `place` is its directive's.
pub(super) fn check_texts<T: Varying>(
    names: &[Varied],
    written: &mut T,
    place: Place,
    fields: &mut Fields<'_, '_>,
) {
    let values: Vec<f64> = names.iter().map(|varied| varied.values[0]).collect();
    let drawn = Drawn { names, values: &values };
    let mut texts: Vec<String> = written.texts_mut().iter().map(|text| (**text).clone()).collect();
    texts.extend(written.wording_mut().iter().flat_map(|wording| wording.values()).cloned());
    for text in &texts {
        let Err(bad) = drawn.fill(text) else { continue };
        // With what stands before it on its line, since other texts may have the same.
        let line = text[..bad.at].rfind('\n').map_or(0, |at| at + 1);
        let piece = &text[line..bad.at + bad.piece.len()];
        let quoted = if line == 0 { fields.find(&format!("\"{piece}"), place) } else { None };
        let found = quoted.or_else(|| fields.find(piece, place));
        let at = found.map_or(place, |at| Place::new(at.end - bad.piece.len(), at.end));
        let known: Vec<&str> = names.iter().map(|varied| varied.name.value.as_str()).collect();
        let help = format!("between braces stands an expression in {}", known.join(", "));
        fields.error(Code::Expression, at, bad.to_string(), help);
    }
}
