//! The fields of a configuration by name, and the problems of those that cannot be used.

use std::collections::BTreeSet;
use std::ops::Range;

use mlsys_expr::nearest::nearest;
use mlsys_expr::{ExprError, Span};
use serde_json::{Map, Value as Json};

use super::Family;

/// The largest number of a field, so that products of several of them fit in 128 bits.
const MAX_NUMBER: u64 = 1 << 30;

/// Most problems that are reported of one file.
const MAX_PROBLEMS: usize = 40;

/// Most layers of a model.
const MAX_LAYERS: u64 = 1 << 16;

/// What is wrong with a configuration, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    pub message: String,
    /// Bytes of the file; none where no single place is wrong.
    pub place: Option<Range<usize>>,
    pub help: String,
}

impl ConfigProblem {
    pub(super) fn too_many_parameters() -> Self {
        Self {
            message: "the model has more than 2^63 parameters".to_owned(),
            place: None,
            help: "one of its sizes is wrong".to_owned(),
        }
    }

    /// Message and way out, then line, column and the source line with carets.
    pub fn shown(&self, source: &[u8]) -> String {
        let source = String::from_utf8_lossy(source);
        let Some(Range { start, end }) = self.place else {
            return format!("{} ({})", self.message, self.help);
        };
        let error = ExprError {
            message: self.message.clone(),
            span: Span { start, end },
            help: Some(self.help.clone()),
        };
        error.shown(&source)
    }
}

/// The fields of one object. A field that cannot be used is noted and 1 stands for it; the configuration is then not
/// used.
pub(super) struct Fields<'a> {
    object: &'a Map<String, Json>,
    start: usize,
    places: Vec<(&'a str, Range<usize>)>,
    /// Fields that are read and not used, so that they contradict nothing.
    unusable: Vec<String>,
    /// Whether it lies in a file of several models, from which transformers leaves out what equals a default.
    pub(super) is_inner: bool,
    problems: Vec<ConfigProblem>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(
        object: &'a Map<String, Json>,
        start: usize,
        places: Vec<(&'a str, Range<usize>)>,
        is_inner: bool,
    ) -> Self {
        Self { object, start, places, unusable: Vec::new(), is_inner, problems: Vec::new() }
    }

    pub(super) fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }

    fn add(&mut self, problem: ConfigProblem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    pub(super) fn problem(
        &mut self,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let place = self.places.iter().rev().find(|(name, _)| *name == key);
        let place = place.map_or(self.start..self.start + 1, |(_, place)| place.clone());
        let (message, help) = (message.into(), help.into());
        self.add(ConfigProblem { message, place: Some(place), help });
    }

    /// Notes that a field contradicts another, unless one of the two cannot be used anyway.
    pub(super) fn contradiction(
        &mut self,
        [key, other]: [&str; 2],
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        if !self.unusable.iter().any(|name| name == key || name == other) {
            self.problem(key, message, help);
        }
    }

    /// Notes that a field cannot be used.
    fn unusable(&mut self, key: &str, message: String, help: String) {
        self.problem(key, message, help);
        self.unusable.push(key.to_owned());
    }

    /// A field that is there and not null.
    pub(super) fn get(&self, key: &str) -> Option<&Json> {
        self.object.get(key).filter(|value| !value.is_null())
    }

    pub(super) fn family(&mut self) -> Option<Family> {
        let mut seen = BTreeSet::new();
        let repeated = self.places.iter().filter(|(key, _)| !seen.insert(*key));
        for (key, place) in repeated.cloned().collect::<Vec<_>>() {
            let message = format!("'{}' stands here for the second time", short(key));
            let help = "remove one of the two".to_owned();
            self.add(ConfigProblem { message, place: Some(place), help });
        }
        let known = Family::ALL.map(Family::name);
        let all = format!("there are: {}", known.join(", "));
        let Some(name) = self.get("model_type").and_then(Json::as_str).map(str::to_owned) else {
            self.problem("model_type", "model_type is missing or not a text", all);
            return None;
        };
        let family = name.parse().ok();
        if family.is_none() {
            let near = nearest(&name, known);
            let help = near.map_or(all, |near| format!("did you mean '{near}'?"));
            let message = format!("model_type '{}' is not supported", short(&name));
            self.problem("model_type", message, help);
        }
        family
    }

    /// A whole number from `least`; without one, null or absent, the default.
    pub(super) fn number_from(&mut self, key: &str, least: u64, default: Option<u64>) -> u64 {
        let most = if is_layers(key) { MAX_LAYERS } else { MAX_NUMBER };
        match (self.get(key).map(|value| (value.as_u64(), value.to_string())), default) {
            (Some((Some(number), _)), _) if (least..=most).contains(&number) => number,
            (Some((_, text)), _) => {
                let help = format!("it is a whole number from {least} to {most}");
                self.unusable(key, format!("{key} is {}", short(&text)), help);
                1
            }
            (None, Some(default)) => default,
            (None, None) => {
                let help = "add it to the file; transformers leaves out what equals the default of its class";
                self.unusable(key, format!("{key} is missing"), help.to_owned());
                1
            }
        }
    }

    pub(super) fn number(&mut self, key: &str) -> u64 {
        self.number_from(key, 1, None)
    }

    pub(super) fn optional(&mut self, key: &str) -> Option<u64> {
        self.get(key).is_some().then(|| self.number_from(key, 1, None))
    }

    /// A number above 0; without one, null or absent, the default.
    pub(super) fn positive(&mut self, key: &str, default: f64) -> f64 {
        match self.get(key).cloned() {
            Some(value) => self.positive_of(key, key, &value),
            None => default,
        }
    }

    /// The number `name`, which stands at `key` or in the object there.
    pub(super) fn positive_of(&mut self, key: &str, name: &str, value: &Json) -> f64 {
        match value.as_f64().filter(|number| *number > 0.0 && number.is_finite()) {
            Some(number) => number,
            None => {
                let message = format!("{name} is {}", short(&value.to_string()));
                self.unusable(key, message, "it is a number above 0".to_owned());
                1.0
            }
        }
    }

    pub(super) fn text(&mut self, key: &str, default: &str) -> String {
        match self.get(key).map(|value| (value.as_str().map(str::to_owned), value.to_string())) {
            None => default.to_owned(),
            Some((Some(text), _)) => text,
            Some((None, value)) => {
                let message = format!("{key} is {}", short(&value));
                self.unusable(key, message, "it is a text".to_owned());
                default.to_owned()
            }
        }
    }

    pub(super) fn flag(&mut self, key: &str, default: bool) -> bool {
        match self.get(key).map(Json::as_bool) {
            None => default,
            Some(Some(flag)) => flag,
            Some(None) => {
                self.problem(key, format!("{key} is not a boolean"), "write true or false");
                default
            }
        }
    }
}

/// The beginning of a text, harmless to print.
fn short(text: &str) -> String {
    text.chars()
        .take(40)
        .map(|c| if mlsys_expr::steers_terminal(c) { '\u{fffd}' } else { c })
        .collect()
}

fn is_layers(key: &str) -> bool {
    matches!(key, "num_hidden_layers" | "n_layer")
}
