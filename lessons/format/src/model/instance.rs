//! Questions, predictions, tries and checks with numbers in place of the names that they draw.

use std::collections::BTreeMap;

use mlsys_expr::{Dialect, Env, LookupError, Value as Known, evaluate};
use mlsys_lab::nearest::nearest;
use mlsys_lab::value::{Value, number};

use crate::model::Check;
use crate::model::answer::{Formula, Wrong};
use crate::model::drawn::{Varied, drawn_value, is_count, literal};
use crate::model::kernel::{KernelTask, KernelTest};
use crate::model::lab::Setting;
use crate::model::predict::{Predict, PredictKind, Target};
use crate::model::question::{Asked, Question, QuestionKind};
use crate::model::variants::{Variants, Varying};

/// The drawn numbers by their names.
pub(crate) struct Drawn<'a> {
    pub(crate) names: &'a [Varied],
    pub(crate) values: &'a [f64],
}

/// Something between braces that is no number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{piece}`: {problem}")]
pub(crate) struct BadPiece {
    /// Where it begins in the text.
    pub(crate) at: usize,
    /// As it stands there, braces included.
    pub(crate) piece: String,
    problem: String,
}

impl Env for Drawn<'_> {
    fn lookup(&self, name: &str) -> Result<Known, LookupError> {
        let known = self.names.iter().map(|varied| varied.name.value.as_str());
        let value = known.clone().zip(self.values).find(|(own, _)| *own == name);
        let unknown = || LookupError::Unknown { nearest: nearest(name, known).map(str::to_owned) };
        value.map(|(_, value)| Known::Number(*value)).ok_or_else(unknown)
    }
}

impl Drawn<'_> {
    /// A text with the value of each expression between braces; `{{` and `}}` are braces.
    pub(crate) fn fill(&self, text: &str) -> Result<String, BadPiece> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            filled.push_str(&rest[..at]);
            let tail = &rest[at..];
            let at = text.len() - tail.len();
            if tail.starts_with("{{") || tail.starts_with("}}") {
                filled.push_str(&tail[..1]);
                rest = &tail[2..];
                continue;
            }
            let end = tail.starts_with('{').then(|| tail.find('}')).flatten();
            let Some(end) = end else {
                let piece = tail.lines().next().unwrap_or(tail).to_owned();
                let problem =
                    "a brace without its counterpart; `{{` and `}}` are braces".to_owned();
                return Err(BadPiece { at, piece, problem });
            };
            let bad = |problem| BadPiece { at, piece: tail[..=end].to_owned(), problem };
            filled.push_str(&shown(self.value(&tail[1..end]).map_err(bad)?));
            rest = &tail[end + 1..];
        }
        filled.push_str(rest);
        Ok(filled)
    }

    /// The number that an expression comes to, or why it comes to none.
    fn value(&self, source: &str) -> Result<f64, String> {
        let expr = mlsys_expr::parse(source, Dialect::Lesson).map_err(|error| error.to_string())?;
        match evaluate(&expr, self).map_err(|error| error.to_string())? {
            Known::Number(x) => Ok(x),
            other @ (Known::Text(_) | Known::Bool(_) | Known::Series(_)) => {
                Err(format!("it is {}, not a number", other.kind()))
            }
        }
    }

    /// The same text where it cannot be filled: a lesson with one is refused when it is read.
    pub(super) fn text(&self, text: &mut String) {
        if let Ok(filled) = self.fill(text) {
            *text = filled;
        }
    }

    fn formula(&self, formula: &mut Formula) {
        let mut source = formula.source.clone();
        for (name, span) in formula.expr.names().into_iter().rev() {
            if let Ok(Known::Number(value)) = self.lookup(name.as_str()) {
                source.replace_range(span.start..span.end, &literal(value));
            }
        }
        if let Ok(expr) = mlsys_expr::parse(&source, Dialect::Lesson) {
            *formula = Formula { expr, source, place: formula.place };
        }
    }

    /// A text that is one expression between braces becomes a number.
    fn value_of(&self, value: &mut Value) {
        match value {
            Value::Text(text) => {
                let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
                let whole = inner.filter(|inner| !inner.contains(['{', '}']));
                match whole.and_then(|source| self.value(source).ok()) {
                    Some(x) => *value = drawn_value(x),
                    None => self.text(text),
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value_of(item)),
            Value::Table(entries) => entries.values_mut().for_each(|entry| self.value_of(entry)),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
        }
    }

    fn settings(&self, set: &mut [Setting]) {
        set.iter_mut().for_each(|setting| self.value_of(&mut setting.value));
    }

    /// Tests vary the drawn numbers as well: each has one value.
    fn test(&self, test: &mut KernelTest) {
        let drawn = self.names.iter().zip(self.values);
        let drawn = drawn.map(|(varied, value)| Varied { values: vec![*value], ..varied.clone() });
        test.vary = drawn.chain(std::mem::take(&mut test.vary)).collect();
    }

    fn kernel(&self, task: &mut KernelTask) {
        task.tests.iter_mut().for_each(|test| self.test(test));
    }

    fn kind(&self, kind: &mut QuestionKind) {
        let formulas = |formulas: &mut Vec<Formula>| {
            formulas.iter_mut().for_each(|formula| self.formula(formula));
        };
        match kind {
            QuestionKind::Numeric { answer, wrong, .. } => {
                self.formula(answer);
                wrong.iter_mut().for_each(|wrong| self.formula(&mut wrong.value));
            }
            QuestionKind::List { answer, wrong, .. } => {
                formulas(answer);
                wrong.iter_mut().for_each(|wrong| formulas(&mut wrong.value));
            }
            QuestionKind::Expression { set, accept, .. } => {
                self.settings(set);
                self.formula(accept);
            }
            QuestionKind::Kernel(task) => self.kernel(task),
            QuestionKind::Withheld(Asked::Kernel { samples, .. }) => {
                samples.iter_mut().for_each(|test| self.test(test));
            }
            QuestionKind::Choice { .. }
            | QuestionKind::Multiple { .. }
            | QuestionKind::Match { .. }
            | QuestionKind::Order { .. }
            | QuestionKind::Text { .. }
            | QuestionKind::Withheld(_) => {}
        }
    }
}

impl Varying for Question {
    fn id(&self) -> &str {
        &self.id
    }

    fn variants(&self) -> Option<&Variants<Self>> {
        self.variants.as_deref()
    }

    fn keeping(self, variants: Variants<Self>) -> Self {
        Self { variants: Some(Box::new(variants)), ..self }
    }

    /// Kernels are left out: they are full of braces that are C's.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let Self { prompt, hints, explain, kind, .. } = self;
        let mut texts: Vec<&mut String> = vec![prompt];
        texts.extend(hints);
        texts.extend(explain);
        texts.extend(kind.texts_mut());
        texts
    }

    fn wording_mut(&mut self) -> Option<&mut BTreeMap<String, String>> {
        Some(&mut self.wording)
    }

    fn formulas(&self) -> Vec<&Formula> {
        Self::formulas(self)
    }

    fn put(&mut self, drawn: &Drawn<'_>) {
        drawn.kind(&mut self.kind);
    }
}

impl Varying for Predict {
    fn id(&self) -> &str {
        &self.id
    }

    fn variants(&self) -> Option<&Variants<Self>> {
        self.variants.as_deref()
    }

    fn keeping(self, variants: Variants<Self>) -> Self {
        Self { variants: Some(Box::new(variants)), ..self }
    }

    fn texts_mut(&mut self) -> Vec<&mut String> {
        let Self { prompt, kind, target, outcomes, explain, .. } = self;
        let mut texts: Vec<&mut String> = vec![prompt];
        if let PredictKind::Choice { choices } = kind {
            texts.extend(choices);
        }
        if let Target::Choice(answer) = target {
            texts.push(answer);
        }
        texts.extend(outcomes.iter_mut().map(|outcome| &mut outcome.say));
        texts.extend(explain);
        texts
    }

    fn wording_mut(&mut self) -> Option<&mut BTreeMap<String, String>> {
        Some(&mut self.wording)
    }

    fn formulas(&self) -> Vec<&Formula> {
        let theory = self.theory.iter().map(|theory| &theory.formula);
        let outcomes = self.outcomes.iter().map(|outcome| &outcome.when);
        self.target.formula().into_iter().chain(theory).chain(outcomes).collect()
    }

    fn put(&mut self, drawn: &Drawn<'_>) {
        if let Target::Metric(formula) | Target::Answer(formula) = &mut self.target {
            drawn.formula(formula);
        }
        self.theory.iter_mut().for_each(|theory| drawn.formula(&mut theory.formula));
        self.outcomes.iter_mut().for_each(|outcome| drawn.formula(&mut outcome.when));
    }
}

impl Varying for Check {
    fn id(&self) -> &str {
        &self.id
    }

    fn variants(&self) -> Option<&Variants<Self>> {
        self.variants.as_deref()
    }

    fn keeping(self, variants: Variants<Self>) -> Self {
        Self { variants: Some(Box::new(variants)), ..self }
    }

    fn texts_mut(&mut self) -> Vec<&mut String> {
        self.why.iter_mut().collect()
    }

    fn wording_mut(&mut self) -> Option<&mut BTreeMap<String, String>> {
        None
    }

    fn formulas(&self) -> Vec<&Formula> {
        vec![&self.assert]
    }

    fn put(&mut self, drawn: &Drawn<'_>) {
        drawn.formula(&mut self.assert);
    }
}

impl QuestionKind {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        fn both(wrong: &mut [Wrong<String>]) -> impl Iterator<Item = &mut String> {
            wrong.iter_mut().flat_map(|Wrong { value, say, .. }| [value, say])
        }
        match self {
            Self::Numeric { .. } | Self::List { .. } => self.says_mut(),
            Self::Choice { answer, wrong } => [answer].into_iter().chain(both(wrong)).collect(),
            Self::Multiple { answer, wrong } => answer.iter_mut().chain(both(wrong)).collect(),
            Self::Match { pairs, extra } => {
                let pairs = pairs.iter_mut().flat_map(|pair| [&mut pair.left, &mut pair.right]);
                pairs.chain(extra).collect()
            }
            Self::Order { answer, wrong } => {
                let wrong = wrong.iter_mut();
                let wrong =
                    wrong.flat_map(|Wrong { value, say, .. }| value.iter_mut().chain([say]));
                answer.iter_mut().chain(wrong).collect()
            }
            Self::Expression { answer, wrong, .. } => {
                [&mut answer.value].into_iter().chain(both(wrong)).collect()
            }
            Self::Text { answer, accept, wrong } => {
                [answer].into_iter().chain(accept).chain(both(wrong)).collect()
            }
            Self::Kernel(task) => {
                let KernelTask { tests, limits, wrong, .. } = task.as_mut();
                let names = tests.iter_mut().map(|test| &mut test.name);
                let limits = limits.iter_mut().map(|limit| &mut limit.say);
                names.chain(limits).chain(wrong.iter_mut().map(|wrong| &mut wrong.say)).collect()
            }
            Self::Withheld(asked) => match asked {
                Asked::Choice { choices }
                | Asked::Multiple { choices }
                | Asked::Order { choices } => choices.iter_mut().collect(),
                Asked::Match { left, choices } => left.iter_mut().chain(choices).collect(),
                Asked::Kernel { samples, .. } => {
                    samples.iter_mut().map(|test| &mut test.name).collect()
                }
                Asked::Numeric { .. } | Asked::List | Asked::Expression | Asked::Text => Vec::new(),
            },
        }
    }
}

/// A number as a text shows it: counts in full.
fn shown(x: f64) -> String {
    if is_count(x) { format!("{}", x as i64) } else { number(x) }
}
