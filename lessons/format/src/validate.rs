//! A lesson against the labs there are: kinds, parameters, knobs, panels and every name in every expression.

mod kernel;
mod knob;
mod names;
mod start;
mod turn;

use mlsys_lab::Registry;
use mlsys_lab::frame::Better;
use mlsys_lab::nearest::nearest;
use mlsys_lab::params::{Given, Params, Problem};
use mlsys_lab::schema::{Attempts, Schema, Type};
use mlsys_lab::value::Value;

use crate::diagnostic::{Code, Diagnostic, Located, Place, Source, shortened};
use crate::model::{
    Block, LabDirective, Lesson, Question, QuestionKind, Setting, Varied, Varying, drawn_value,
};

pub(crate) use start::start_values;
pub(crate) use turn::validate_labs;

/// Everything in a lesson that does not fit the labs of a registry, in file order.
pub fn validate(lesson: &Lesson, registry: &Registry) -> Vec<Diagnostic> {
    let source = &lesson.source;
    let mut check = Validation { lesson, source, registry, drawn: &[], found: Vec::new() };
    for block in &lesson.blocks {
        match block {
            Block::Prose(_) | Block::Notes(_) => {}
            Block::Lab(lab) => check.lab(lab),
            Block::Predict(predict) => {
                let turned = check.turned(predict);
                check.drawn = drawn(predict);
                predict.written().formulas().iter().for_each(|one| check.names(one, turned));
                check.drawn = &[];
                predict.lab.iter().for_each(|lab| check.revealed_by(lab));
            }
            Block::Question(question) => {
                check.drawn = drawn(question);
                check.question(question);
                check.drawn = &[];
            }
            Block::Check(assertion) => {
                check.drawn = drawn(assertion);
                check.names(&assertion.written().assert, None);
                check.drawn = &[];
                check.class(assertion);
            }
        }
    }
    check.found
}

/// The numbers that a directive draws, or names.
fn drawn<T: Varying>(directive: &T) -> &[Varied] {
    directive.variants().map_or(&[], |variants| &variants.names)
}

/// One pass over a lesson.
struct Validation<'a> {
    lesson: &'a Lesson,
    source: &'a Source,
    registry: &'a Registry,
    /// The numbers that the directive at hand draws or names.
    drawn: &'a [Varied],
    found: Vec<Diagnostic>,
}

impl<'a> Validation<'a> {
    fn lab(&mut self, lab: &LabDirective) {
        let Some(schema) = self.schema(&lab.kind) else { return };
        self.settings(schema, &lab.set);
        self.drawn(schema, lab);
        self.sources(schema, lab);
        for knob in &lab.knobs {
            self.knob(schema, lab, knob);
        }
        for metric in &lab.metrics {
            if schema.metric(&metric.value).is_none() {
                let known = schema.metrics.iter().map(|metric| metric.name.as_str());
                let message =
                    format!("lab {} has no metric `{}`", schema.kind, shortened(&metric.value));
                let help = suggestion(&metric.value, known, "its metrics are");
                self.error_maybe(Code::UnknownName, metric.place, message, help);
            }
        }
        for panel in &lab.panels {
            if schema.panel(&panel.name).is_none() {
                let known = schema.panels.iter().map(|panel| panel.name.as_str());
                let message =
                    format!("lab {} has no panel `{}`", schema.kind, shortened(&panel.name));
                let help = suggestion(&panel.name, known, "its panels are");
                self.error_maybe(Code::UnknownPanel, panel.place, message, help);
            }
            panel.until.iter().for_each(|until| self.until(until));
            let counts = |attempts: &Attempts| {
                let [x, y] = attempts.axes.as_slice() else { return false };
                let ways = x.better != Better::Neither && y.better != Better::Neither;
                ways && attempts.reference.is_some()
            };
            if let Some(goal) = panel.goals.first()
                && schema.panel(&panel.name).is_some()
                && !schema.attempts(&panel.name).is_some_and(counts)
            {
                let message = format!(
                    "panel {} of lab {} has nothing that goals are counted from",
                    panel.name, schema.kind
                );
                let help = "goals belong to a panel that compares runs, such as ledger";
                self.error(Code::Contradiction, goal.place, message, help);
            }
        }
    }

    /// What a panel is held back by must be a task of the lesson.
    fn until(&mut self, until: &Located<String>) {
        let id = until.value.as_str();
        let tasks = || self.lesson.tasks().filter_map(Block::id);
        if tasks().any(|task| task == id) || self.lesson.unread.iter().any(|unread| unread == id) {
            return;
        }
        let message =
            format!("no question, prediction or try of this lesson is called `{}`", shortened(id));
        let help = suggestion(id, tasks(), "its questions, predictions and tries are");
        self.error_maybe(Code::UnknownName, until.place, message, help);
    }

    /// Expressions are read as they are written, so that errors have their columns; settings need the printed numbers.
    fn question(&mut self, question: &Question) {
        match (&question.written().kind, &question.kind) {
            (QuestionKind::Numeric { answer, wrong, .. }, _) => {
                self.names(answer, None);
                wrong.iter().for_each(|wrong| self.names(&wrong.value, None));
            }
            (QuestionKind::List { answer, wrong, .. }, _) => {
                let wrong = wrong.iter().flat_map(|wrong| &wrong.value);
                answer.iter().chain(wrong).for_each(|formula| self.names(formula, None));
            }
            (
                QuestionKind::Expression { lab, param, accept, .. },
                QuestionKind::Expression { set, .. },
            ) => {
                let Some(schema) = self.schema(lab) else { return };
                if schema.is_live() {
                    let message = format!(
                        "lab {} runs for a while, and an answer is graded at once",
                        schema.kind
                    );
                    let help = "name a lab that answers at once, such as graph";
                    self.error(Code::BadValue, lab.place, message, help);
                }
                self.settings(schema, set);
                self.answer_param(schema, param);
                self.names(accept, Some(("answer", schema)));
            }
            (_, QuestionKind::Kernel(task)) => self.kernel(task),
            _ => {}
        }
    }

    /// A prediction that names the lab whose run reveals it.
    fn revealed_by(&mut self, lab: &Located<String>) {
        let known: Vec<&str> = self.lesson.labs().map(|lab| lab.id.as_str()).collect();
        let is_there = known.contains(&lab.value.as_str());
        if !is_there && !self.lesson.unread.contains(&lab.value) {
            let message = format!("no lab of this lesson is called `{}`", shortened(&lab.value));
            let help = suggestion(&lab.value, known.into_iter(), "its labs are");
            self.error_maybe(Code::UnknownName, lab.place, message, help);
        }
    }

    fn answer_param(&mut self, schema: &Schema, param: &Located<String>) {
        let takes_text = |name: &str| schema.param(name).is_some_and(|p| p.ty == Type::String);
        if !takes_text(&param.value) {
            let names = schema.params.iter().map(|p| p.name.as_str());
            let texts: Vec<_> = names.filter(|name| takes_text(name)).collect();
            let message = format!(
                "lab {} has no parameter `{}` that takes a text",
                schema.kind,
                shortened(&param.value)
            );
            let help = if texts.is_empty() {
                "the answer to such a question goes into a text parameter of its lab; name another lab".to_owned()
            } else {
                format!("write param = \"{}\"", texts.join("\" or \""))
            };
            self.error(Code::UnknownParam, param.place, message, help);
        }
    }

    /// The schema of a kind, or an error and `None`.
    fn schema(&mut self, kind: &Located<String>) -> Option<&'a Schema> {
        match self.registry.find(&kind.value) {
            Ok(lab) => Some(lab.schema()),
            Err(unknown) => {
                let message = format!("there is no lab `{}`", shortened(&kind.value));
                let help = match unknown.nearest {
                    Some(nearest) => format!("did you mean \"{nearest}\"?"),
                    None => "`mlsys lab list` shows them all".to_owned(),
                };
                self.error(Code::UnknownKind, kind.place, message, help);
                None
            }
        }
    }

    fn settings(&mut self, schema: &Schema, set: &[Setting]) {
        for setting in set {
            if let Some(param) = schema.param(&setting.name)
                && param.command_line_only
            {
                let message =
                    format!("`{}` names something on the learner's machine", setting.name);
                let help = "only the command line may set it; leave it out here";
                self.error(Code::BadParam, setting.place, message, help);
                continue;
            }
            let places = (setting.place, setting.value_place);
            self.value(schema, &setting.name, &setting.value, places, Code::BadParam);
        }
    }

    /// The other numbers that a lab draws, where the printed one is good: the first that is not.
    fn drawn(&mut self, schema: &Schema, lab: &LabDirective) {
        for Varied { name, values, place, .. } in &lab.vary {
            let good =
                |x: &f64| Params::check(schema, &name.value, Given::Value(drawn_value(*x))).is_ok();
            if let Some(bad) = values.iter().find(|x| !good(x)).filter(|_| good(&values[0])) {
                let places = (name.place, *place);
                self.value(schema, &name.value, &drawn_value(*bad), places, Code::BadParam);
            }
        }
    }

    /// Whether a parameter takes a value; else an error at the first place for its name, at the second for the value.
    fn value(
        &mut self,
        schema: &Schema,
        name: &str,
        value: &Value,
        places: (Place, Place),
        code: Code,
    ) -> Option<Value> {
        let error = match Params::check(schema, name, Given::Value(value.clone())) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let name = shortened(name);
        match error.problem {
            Problem::Unknown { nearest, known } => {
                let message = format!("lab {} has no parameter `{name}`", schema.kind);
                let help = match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => format!("its parameters are: {}", known.join(", ")),
                };
                self.error(Code::UnknownParam, places.0, message, help);
            }
            Problem::NotOneOf { value, nearest, known } => {
                let message = format!("`{name}` cannot be \"{}\"", shortened(&value));
                let help = match nearest {
                    Some(nearest) => format!("did you mean \"{nearest}\"?"),
                    None => format!("it takes one of: {}", known.join(", ")),
                };
                self.error(code, places.1, message, help);
            }
            problem @ (Problem::WrongType { .. }
            | Problem::OutOfRange { .. }
            | Problem::Unset { .. }
            | Problem::Repeated
            | Problem::CommandLineOnly
            | Problem::NotLive) => {
                let message = format!("`{name}`: {problem}");
                let help = format!("`mlsys lab show {}` tells what it takes", schema.kind);
                self.error(code, places.1, message, help);
            }
        }
        None
    }

    fn error(&mut self, code: Code, place: Place, message: String, help: impl Into<String>) {
        self.error_maybe(code, place, message, Some(help.into()));
    }

    fn error_maybe(&mut self, code: Code, place: Place, message: String, help: Option<String>) {
        let error = self.source.error(code, place, message);
        self.found.push(error.maybe_help(help));
    }
}

/// The nearest of the known names, or all of them.
fn suggestion<'n>(name: &str, known: impl Iterator<Item = &'n str>, all: &str) -> Option<String> {
    let known: Vec<_> = known.collect();
    match nearest(name, known.iter().copied()) {
        Some(known) => Some(format!("did you mean `{known}`?")),
        None => (!known.is_empty()).then(|| format!("{all}: {}", known.join(", "))),
    }
}

impl Validation<'_> {
    /// Holds every name that a lab's settings and knobs give to such a parameter against the labs before it.
    fn sources(&mut self, schema: &Schema, lab: &LabDirective) {
        let artifact = |name: &str| schema.param(name).and_then(|param| param.artifact.clone());
        for setting in &lab.set {
            if let (Some(kind), Value::Text(name)) = (artifact(&setting.name), &setting.value) {
                self.source_of(lab, &kind, name, setting.value_place);
            }
        }
        for knob in &lab.knobs {
            let Some(kind) = artifact(&knob.param) else { continue };
            for value in knob.values.iter().flatten().chain(&knob.default) {
                if let Value::Text(name) = value {
                    self.source_of(lab, &kind, name, knob.place);
                }
            }
        }
    }

    fn source_of(&mut self, lab: &LabDirective, kind: &str, name: &str, place: Place) {
        let lesson = self.lesson;
        let labs: Vec<&LabDirective> = lesson.labs().collect();
        let own = labs.iter().position(|other| other.id == lab.id);
        let (earlier, rest) = labs.split_at(own.unwrap_or(labs.len()));
        let leaves = |other: &LabDirective| {
            let found = self.registry.find(&other.kind.value).ok();
            found.is_some_and(|lab| lab.schema().yields.as_deref() == Some(kind))
        };
        let usable = earlier.iter().filter(|other| leaves(other));
        let usable: Vec<&str> = usable.map(|other| other.id.as_str()).collect();
        let help = if usable.is_empty() {
            Some(format!("no lab before this one leaves a {kind}; put one there, such as train"))
        } else {
            suggestion(name, usable.iter().copied(), "labs before it that leave one are")
        };
        let shown = shortened(name);
        let message = match earlier.iter().find(|other| other.id == name) {
            Some(other) if leaves(other) => return,
            Some(other) => {
                format!("lab `{shown}` is a {}, which leaves no {kind}", other.kind.value)
            }
            None if name == lab.id => format!("lab `{shown}` cannot start from itself"),
            None if rest.iter().any(|other| other.id == name) => {
                format!("lab `{shown}` comes later, and only what comes before can be started from")
            }
            None if is_identifier(name) => format!("there is no lab `{shown}` before this one"),
            None if is_path(name) => format!("`{shown}` names something on the learner's machine"),
            None => {
                let message = format!(
                    "`{shown}` is no lab of this lesson, and a recorded run is on one machine alone"
                );
                let warning = self.source.warning(Code::BadParam, place, message);
                return self.found.push(warning.maybe_help(help));
            }
        };
        self.error_maybe(Code::BadParam, place, message, help);
    }
}

/// Whether a name could be that of a lab.
fn is_identifier(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a name is that of a file: a lesson from elsewhere could have any of them read, or a share of another machine.
fn is_path(name: &str) -> bool {
    name.contains(['/', '\\', ':']) || name.ends_with(".safetensors") || name.ends_with(".bpk")
}
