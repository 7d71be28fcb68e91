//! A guess before a run, and what it is held against.

use std::collections::BTreeMap;

use mlsys_lab::schema::Label;

use crate::diagnostic::{Located, Place};
use crate::model::answer::{Bounds, Formula};
use crate::model::drawn::Variants;
use crate::model::lab::Setting;

/// A value next to a prediction and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Theory {
    pub formula: Formula,
    /// Where the value comes from.
    pub label: Label,
}

/// A guess made before a run, compared with theory and measurement after it; it earns no points.
#[derive(Clone, Debug, PartialEq)]
pub struct Predict {
    /// Its name in this lesson.
    pub id: String,
    /// The question, in Markdown.
    pub prompt: String,
    pub kind: PredictKind,
    /// What it is held against.
    pub target: Target,
    /// What else it is held against.
    pub theory: Option<Theory>,
    /// The lab that reveals it by its run, where the target names none.
    pub lab: Option<Located<String>>,
    /// For a try: the settings of that lab that the learner makes. In its expressions the try's id names that run.
    pub turn: Option<Vec<Setting>>,
    /// What to say afterwards, by what came out: the first that holds.
    pub outcomes: Vec<Outcome>,
    /// What to say afterwards in any case.
    pub explain: Option<String>,
    /// In a translation, what is shown for a choice of the original.
    pub wording: BTreeMap<String, String>,
    /// The drawn numbers that it names, if any; everything else here has them.
    pub variants: Option<Box<Variants<Self>>>,
    /// Where it stands, fences included.
    pub place: Place,
}

/// What to say where a condition on the measured metrics holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub when: Formula,
    pub say: String,
}

/// How a prediction is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum PredictKind {
    Numeric {
        /// Its unit, as shown.
        unit: Option<String>,
        bounds: Bounds,
    },
    /// By one of these texts, in the order they are shown.
    Choice { choices: Vec<String> },
}

/// What a prediction is held against.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// What the run will show, such as `run.accuracy`; for a choice, a metric with one of the texts as its value.
    Metric(Formula),
    Answer(Formula),
    Choice(String),
}

impl Predict {
    /// What is shown for a choice.
    pub fn label<'t>(&'t self, choice: &'t str) -> &'t str {
        self.wording.get(choice).map_or(choice, String::as_str)
    }

    /// `predict`, or `try` where a knob is turned first.
    pub fn directive(&self) -> &'static str {
        if self.turn.is_some() { "try" } else { "predict" }
    }

    /// Whether it is held against the run with the knobs turned, as a try must be.
    pub fn names_its_run(&self) -> bool {
        let names = self.target.formula().map_or_else(Vec::new, |formula| formula.expr.names());
        names.iter().any(|(name, _)| name.parts().next() == Some(self.id.as_str()))
    }

    /// What is turned, such as `hot: learning_rate = 1`.
    pub fn turned_text(&self) -> Option<String> {
        let (turn, lab) = (self.turn.as_ref()?, self.lab.as_ref()?);
        let set: Vec<_> = turn.iter().map(|one| format!("{} = {}", one.name, one.value)).collect();
        Some(format!("{}: {}", lab.value, set.join(", ")))
    }
}

impl Target {
    /// The expression that it comes from, if it is no stated choice.
    pub fn formula(&self) -> Option<&Formula> {
        match self {
            Self::Metric(formula) | Self::Answer(formula) => Some(formula),
            Self::Choice(_) => None,
        }
    }
}
